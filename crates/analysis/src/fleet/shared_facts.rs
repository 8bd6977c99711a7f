//! What slow nodes have in common: facts that they have more often than the others, by Fisher's exact test.

use super::Node;
use gritstone_model::{FleetCommon, FleetFact, FleetOutlier};
use gritstone_stats::multiple;
use statrs::distribution::{DiscreteCDF, Hypergeometric};
use std::collections::{BTreeMap, BTreeSet};

const LEVEL: f64 = 0.05;
/// Fewest slow nodes of which anything in common is said.
const FEWEST: usize = 2;

/// Facts that exactly the same nodes have, with these nodes and those that have another value.
struct Group {
    facts: Vec<FleetFact>,
    nodes: BTreeSet<usize>,
    told: BTreeSet<usize>,
}

/// Facts that slow nodes have more often than the others, the most certain first.
pub(super) fn common(nodes: &[Node], outliers: &[FleetOutlier]) -> Vec<FleetCommon> {
    let slow = outliers.iter().filter(|of| of.effect.effect < 0.0);
    let slow: BTreeSet<&str> = slow.map(|of| of.node.as_str()).collect();
    let is_slow = |at: &usize| slow.contains(nodes[*at].name);
    if slow.len() < FEWEST || slow.len() == nodes.len() {
        return vec![];
    }
    let groups = groups(nodes);
    let tested: Vec<(FleetCommon, f64)> = groups.into_iter().map(|of| test(of, &is_slow)).collect();
    let p: Vec<Option<f64>> = tested.iter().map(|(_, p)| Some(*p)).collect();
    let adjusted = multiple::benjamini_hochberg(&p);
    let tested = tested.into_iter().zip(adjusted.into_iter().flatten());
    let certain = tested.filter(|((of, _), p)| *p <= LEVEL && of.slow >= FEWEST);
    let mut found: Vec<FleetCommon> = certain
        .map(|((of, _), p_adjusted)| FleetCommon { p_adjusted, ..of })
        .collect();
    found.sort_by(|a, b| a.p_adjusted.total_cmp(&b.p_adjusted));
    found
}

/// The facts that some nodes have and others have not.
fn groups(nodes: &[Node]) -> Vec<Group> {
    let mut told: BTreeMap<&str, BTreeMap<&str, BTreeSet<usize>>> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        let Some(run) = node.runs.last() else {
            continue;
        };
        for (name, value) in run.facts.iter().chain(&run.place) {
            told.entry(name)
                .or_default()
                .entry(value)
                .or_default()
                .insert(at);
        }
    }
    let mut groups: BTreeMap<BTreeSet<usize>, Group> = BTreeMap::new();
    for (name, values) in told {
        let all: BTreeSet<usize> = values.values().flatten().copied().collect();
        for (value, own) in values {
            if own.len() < FEWEST || own.len() == all.len() {
                continue;
            }
            let group = groups.entry(own.clone()).or_insert_with(|| Group {
                facts: vec![],
                nodes: own,
                told: all.clone(),
            });
            group.facts.push(FleetFact {
                name: name.to_owned(),
                value: value.to_owned(),
            });
        }
    }
    groups.into_values().collect()
}

/// How often slow nodes and others have it, and how probable so many slow ones or more are by chance.
fn test(group: Group, is_slow: &impl Fn(&usize) -> bool) -> (FleetCommon, f64) {
    let slow = group.nodes.iter().filter(|at| is_slow(at)).count();
    let of_slow = group.told.iter().filter(|at| is_slow(at)).count();
    let (have, told) = (group.nodes.len(), group.told.len());
    let draws = Hypergeometric::new(told as u64, have as u64, of_slow as u64);
    let p = match (slow.checked_sub(1), draws) {
        (Some(fewer), Ok(draws)) => draws.sf(fewer as u64),
        _ => 1.0,
    };
    let found = FleetCommon {
        facts: group.facts,
        slow,
        of_slow,
        others: have - slow,
        of_others: told - of_slow,
        p_adjusted: p,
    };
    (found, p)
}
