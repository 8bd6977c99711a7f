//! The sentences of a fleet.

use gritstone_document::html;
use gritstone_model::{
    FleetDivision, FleetDrift, FleetGroup, FleetGroupEffect, FleetNodeProgress, FleetNodeState,
    FleetProgress, FleetScope, FleetSince, FleetView, Id,
};
use gritstone_report::{Detail, fleet, fleet_lines, fleet_progress};
use gritstone_testkit::{fleet_outlier as outlier, fleet_view as view};

#[test]
fn a_node_has_one_sentence() {
    let memory = FleetScope::Family("memory".to_owned());
    let read = FleetScope::Benchmark(Id::parse("disk/read").unwrap());
    let mut disturbed = outlier("node-7", read, -0.4, [-0.45, -0.35]);
    disturbed.interference = 5;
    let view = view(vec![
        disturbed,
        outlier("node-0217", memory.clone(), -0.18, [-0.2, -0.16]),
        outlier("node-3", memory, -0.1, [-0.12, -0.08]),
        outlier("node-3", FleetScope::All, -0.05, [-0.06, -0.04]),
    ]);
    assert_eq!(
        fleet_lines(&view),
        [
            "node-7: disk/read −40% [−45, −35], measured with interference; all else like the others",
            "node-0217: memory −18% [−20, −16]; all else like the others",
            "node-3: everything −5% [−6, −4] and memory −10% [−12, −8] beyond that",
        ]
    );
    let page = html::render(&fleet(&view, Detail::Results));
    assert!(page.contains("node-0217: memory −18% [−20, −16]; all else like the others"));
}

#[test]
fn a_sentence_says_since_when() {
    let memory = FleetScope::Family("memory".to_owned());
    let since = |before: Option<&str>| {
        Some(FleetSince {
            first: "2026-11-03T10:00:00Z".to_owned(),
            before: before.map(str::to_owned),
        })
    };
    let mut one = outlier("node-0217", memory.clone(), -0.18, [-0.2, -0.16]);
    one.since = since(Some("2026-10-27T10:00:00Z"));
    let mut other = outlier("node-3", FleetScope::All, -0.05, [-0.06, -0.04]);
    other.since = since(None);
    other.replaced = Some("2026-10-20T10:00:00Z".to_owned());
    let mut view = view(vec![one, other]);
    view.drifts = vec![FleetDrift {
        about: memory,
        effect: -0.04,
        interval: [-0.045, -0.035],
        since: since(Some("2026-10-27T10:00:00Z")).unwrap(),
        nodes: 64,
    }];
    assert_eq!(
        fleet_lines(&view),
        [
            "node-0217: memory −18% [−20, −16] since 3 November 2026; all else like the others",
            "node-3: everything −5% [−6, −4] since 3 November 2026 or before; until 20 October 2026 another machine had this name",
        ]
    );
    let page = html::render(&fleet(&view, Detail::Results));
    let drift = "The whole fleet: memory −4.0% [−4.5, −3.5] since 3 November 2026, by 64 nodes";
    assert!(page.contains(drift), "{page}");
}

#[test]
fn groups_have_a_table() {
    let group = |value: &str, nodes: usize, differs: Vec<FleetGroupEffect>| FleetGroup {
        values: ["kernel.release", "a", "b", "c"].map(|fact| format!("{value}-{fact}")).into(),
        nodes,
        differs,
    };
    let memory = outlier("", FleetScope::Family("memory".to_owned()), -0.04, [-0.045, -0.035]);
    let slow = FleetGroupEffect { about: memory.about, effect: memory.effect };
    let mut view = view(vec![]);
    let page = |view: &FleetView| html::render(&fleet(view, Detail::Results));
    let caption = "Groups of nodes with a fact in common";
    assert!(!page(&view).contains(caption));
    view.groups = vec![FleetDivision {
        facts: ["kernel.release", "a", "b", "c"].map(str::to_owned).into(),
        groups: vec![group("new", 24, vec![slow]), group("old", 376, vec![])],
    }];
    let page = page(&view);
    for part in [caption, "new-kernel.release", "1 more", "376", "memory −4.0% [−4.5, −3.5]"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn fleet_runs_show_progress() {
    let node = |node: &str, state| FleetNodeProgress {
        node: node.to_owned(),
        state,
        run: None,
        why: None,
    };
    let mut progress = FleetProgress {
        fleet: "november".to_owned(),
        of: 8,
        ended: false,
        nodes: vec![
            node("n1", FleetNodeState::Done),
            node("n2", FleetNodeState::Measuring),
            node("n3", FleetNodeState::Done),
            node("n4", FleetNodeState::Failed),
            node("n5", FleetNodeState::Missing),
        ],
    };
    let output = "Fleet november: 2 of 8 nodes done, 1 measuring, 1 failed.";
    assert_eq!(fleet_progress(&progress), output);
    progress.ended = true;
    assert!(fleet_progress(&progress).contains("`gritstone fleet resume`"));
}
