//! The systems of a store, compared like nodes of a fleet by their newest results.

use anyhow::Result;
use gritstone_analysis::fleet::{self, NodeRun};
use gritstone_model::{FleetView, RunView};
use gritstone_runs::context::Context;
use gritstone_runs::uncached::or_warning;
use gritstone_store::{RunHead, Store};
use std::collections::BTreeMap;

/// Newest runs of a system that are searched for its results.
const RUNS: usize = 5;

/// The comparison, and the newest run of each system. For each benchmark the newest result in the newest runs of a system counts. Sides of
/// trials and A/A tests are left out, since they differ in settings or repeat one benchmark.
pub(super) fn compare(
    context: &Context,
    store: &Store,
    heads: &[RunHead],
) -> Result<(FleetView, Vec<RunView>)> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for head in heads {
        names.insert(&head.machine_id, &head.machine);
    }
    let mut nodes: BTreeMap<&str, (usize, NodeRun)> = BTreeMap::new();
    let mut newest: BTreeMap<&str, RunView> = BTreeMap::new();
    for head in heads.iter().rev().filter(|head| head.is_whole()) {
        let id = head.machine_id.as_str();
        if nodes.get(id).is_some_and(|(runs, _)| *runs == RUNS) {
            continue;
        }
        let Some(view) = or_warning(&head.id, context.stored(store, &head.id))? else {
            continue;
        };
        let run = NodeRun { node: name(id, &names), ..NodeRun::without_checks(&view) };
        let (runs, node) =
            nodes.entry(id).or_insert((0, NodeRun { results: BTreeMap::new(), ..run.clone() }));
        *runs += 1;
        for (benchmark, result) in run.results {
            node.results.entry(benchmark).or_insert(result);
        }
        newest.entry(id).or_insert(view);
    }
    let nodes: Vec<NodeRun> = nodes.into_values().map(|(_, node)| node).collect();
    let view = fleet::report("newest results of each system", &nodes, fleet::MARGIN);
    Ok((view, newest.into_values().collect()))
}

/// The name of a system, with its identifier if the name is ambiguous.
fn name(id: &str, names: &BTreeMap<&str, &str>) -> String {
    let name = names[id].trim();
    let same = names.values().filter(|other| other.trim() == name).count();
    match (name, same) {
        ("", _) => id.to_owned(),
        (name, 1) => name.to_owned(),
        (name, _) => format!("{name} ({id})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{fuzz, sides};

    #[test]
    fn sides_are_no_results() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let mut store = Store::open(&path).unwrap();
        let run = &fuzz::runs()[0];
        store.import(run).unwrap();
        for side in sides(2) {
            store.import(&side).unwrap();
        }
        let (view, newest) =
            compare(&Context::new(Some(path)), &store, &store.runs().unwrap()).unwrap();
        assert_eq!(view.nodes.len(), 1);
        let ids: Vec<&str> = newest.iter().map(|run| run.id.as_str()).collect();
        assert_eq!(ids, [&run.info.id]);
    }
}
