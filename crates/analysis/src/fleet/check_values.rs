//! Wrong check values: refuted by the workload itself, or by all other nodes, which agree on another.

use super::{Node, NodeResult, NodeRun};
use gritstone_model::{FleetProof, FleetWrong, Id};
use gritstone_stats::fleet::MIN_NODES;
use std::collections::{BTreeMap, BTreeSet};

/// Fewest nodes per node with a different value; with fewer, the value is not a constant of the workload.
const MIN_NODES_PER_ODD_VALUE: usize = 20;

/// By benchmark, work and input: the value of each node that has one value.
type Values<'a> = BTreeMap<(&'a Id, (u32, &'a str), u64), Vec<Seen<'a>>>;

#[derive(Clone, Copy)]
struct Seen<'a> {
    node: &'a str,
    run: &'a NodeRun,
    got: u64,
    cpu: Option<u32>,
}

/// All wrong values: first those refuted by the workload itself.
pub(super) fn wrong(nodes: &[Node]) -> Vec<FleetWrong> {
    let mut found = vec![];
    let mut values: Values = BTreeMap::new();
    for node in nodes {
        for run in &node.runs {
            for (id, result) in &run.results {
                let denied = denied(node.name, run, id, result);
                if denied.is_empty() {
                    constant(node.name, run, id, result, &mut values);
                }
                found.extend(denied);
            }
        }
    }
    found.extend(values.iter().flat_map(|((id, _, n), seen)| unique_values(id, *n, seen)));
    found
}

fn denied(node: &str, run: &NodeRun, id: &Id, result: &NodeResult) -> Vec<FleetWrong> {
    let checks = result.checks.iter().filter(|check| check.got != check.expected);
    let wrong = checks.map(|check| FleetWrong {
        node: node.to_owned(),
        run: run.run.clone(),
        id: id.clone(),
        n: check.n,
        cpu: check.cpu,
        got: check.got,
        right: check.expected,
        by: FleetProof::Workload,
    });
    wrong.collect()
}

/// Values that all launches of the run agree on; others are not constants of the workload.
fn constant<'a>(
    node: &'a str,
    run: &'a NodeRun,
    id: &'a Id,
    result: &'a NodeResult,
    values: &mut Values<'a>,
) {
    for check in &result.checks {
        let of_input = result.checks.iter().filter(|other| other.n == check.n);
        if of_input.count() == 1 {
            let seen = Seen { node, run, got: check.got, cpu: check.cpu };
            values.entry((id, result.work(), check.n)).or_default().push(seen);
        }
    }
}

/// Nodes with a unique value, if all others agree.
fn unique_values<'a>(
    id: &'a Id,
    n: u64,
    seen: &'a [Seen],
) -> impl Iterator<Item = FleetWrong> + 'a {
    let nodes_of = |got: u64| -> BTreeSet<&str> {
        seen.iter().filter(|value| value.got == got).map(|value| value.node).collect()
    };
    let each: BTreeSet<u64> = seen.iter().map(|value| value.got).collect();
    let most = each.iter().map(|got| (nodes_of(*got).len(), *got)).max();
    let all: BTreeSet<&str> = seen.iter().map(|value| value.node).collect();
    let agreed = most.filter(|(agree, _)| {
        let others = all.len() - agree;
        *agree >= MIN_NODES - 1
            && others * MIN_NODES_PER_ODD_VALUE <= all.len().max(MIN_NODES_PER_ODD_VALUE)
    });
    let off = move |value: &&Seen| agreed.is_some_and(|(_, right)| value.got != right);
    seen.iter().filter(off).map(move |value| FleetWrong {
        node: value.node.to_owned(),
        run: value.run.run.clone(),
        id: id.clone(),
        n,
        cpu: value.cpu,
        got: value.got,
        right: agreed.map_or(0, |(_, right)| right),
        by: FleetProof::Nodes(agreed.map_or(0, |(agree, _)| agree)),
    })
}
