//! The systems of a store compared as the nodes of a fleet, each with its newest results.

use gritstone_analysis::fleet::{self, NodeRun};
use gritstone_model::{FleetView, RunView};
use gritstone_runs::context::Context;
use gritstone_store::{RunHead, Store};
use std::collections::BTreeMap;

/// Newest runs of a system among which its results are looked for.
const RUNS: usize = 5;

/// The comparison, and the newest run of each system. Of each benchmark the newest result of a system counts, in its newest runs; sides of A/B
/// tests and runs of A/A tests are of another state, or of one benchmark many times.
pub(super) fn compare(
    context: &Context,
    store: &Store,
    heads: &[RunHead],
) -> (FleetView, Vec<RunView>) {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for head in heads {
        names.insert(&head.machine_id, &head.machine);
    }
    let mut nodes: BTreeMap<&str, (usize, NodeRun)> = BTreeMap::new();
    let mut newest: BTreeMap<&str, RunView> = BTreeMap::new();
    for head in heads.iter().rev().filter(|head| head.elapsed_s.is_some()) {
        let id = head.machine_id.as_str();
        if nodes.get(id).is_some_and(|(runs, _)| *runs == RUNS) {
            continue;
        }
        let view = match context.stored(store, &head.id) {
            Ok(view) => view,
            Err(why) => {
                log::warn!("gritstone: run {} is left out: {why:#}", head.id);
                continue;
            }
        };
        let settings = view.settings.as_ref();
        let ordinary = settings.is_none_or(|of| of.trial.is_none() && !of.noise);
        if ordinary {
            let of = NodeRun {
                node: name(id, &names),
                ..NodeRun::of_view(&view)
            };
            let (runs, node) = nodes.entry(id).or_insert((
                0,
                NodeRun {
                    results: BTreeMap::new(),
                    ..of.clone()
                },
            ));
            *runs += 1;
            for (benchmark, result) in of.results {
                node.results.entry(benchmark).or_insert(result);
            }
        }
        newest.entry(id).or_insert(view);
    }
    let nodes: Vec<NodeRun> = nodes.into_values().map(|(_, node)| node).collect();
    let view = fleet::report("newest results of each system", &nodes, fleet::MARGIN);
    (view, newest.into_values().collect())
}

/// The name of a system, with its identifier where others have the same.
fn name(id: &str, names: &BTreeMap<&str, &str>) -> String {
    let name = names[id].trim();
    let same = names.values().filter(|other| other.trim() == name).count();
    match (name, same) {
        ("", _) => id.to_owned(),
        (name, 1) => name.to_owned(),
        (name, _) => format!("{name} ({id})"),
    }
}
