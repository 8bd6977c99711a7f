//! The sentences of a fleet.

use gritstone_model::{FleetEffect, FleetOutlier, FleetScope, FleetView, Id, SCHEMA_FLEET};
use gritstone_report::{Detail, fleet, fleet_lines, html};

fn outlier(node: &str, about: FleetScope, effect: f64, interval: [f64; 2]) -> FleetOutlier {
    FleetOutlier {
        node: node.to_owned(),
        about,
        effect: FleetEffect {
            effect,
            interval,
            p: 1e-9,
            p_adjusted: 1e-6,
        },
        results: 5,
        interference: 0,
    }
}

fn view(outliers: Vec<FleetOutlier>) -> FleetView {
    FleetView {
        schema: SCHEMA_FLEET.to_owned(),
        fleet: "november".to_owned(),
        started: "2026-11-03T10:00:00Z".to_owned(),
        last: "2026-11-04T10:00:00Z".to_owned(),
        level: 0.05,
        margin: 0.01,
        wrong: vec![],
        outliers,
        common: vec![],
        kinds: vec![],
        overall: None,
        families: vec![],
        benchmarks: vec![],
        nodes: vec![],
    }
}

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
