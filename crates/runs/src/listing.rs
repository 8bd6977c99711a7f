//! Listings of stored runs.

use gritstone_model::ListedRun;
use gritstone_store::RunHead;

pub fn listed(head: RunHead) -> ListedRun {
    ListedRun {
        kind: head.kind.as_str().to_owned(),
        id: head.id,
        label: head.label,
        started: head.started,
        elapsed_s: head.elapsed_s,
        measuring: None,
        machine: head.machine,
        machine_id: head.machine_id,
        benchmarks: head.benchmarks,
        pruned: head.pruned,
    }
}
