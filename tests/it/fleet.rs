//! `gritstone fleet`: nodes of made-up fleets, of which each run is the recorded one with times of its own.

use crate::common::{Home, list, recorded};
use gritstone_model::{Event, FleetMember, RunData};
use serde_json::Value;
use std::fs;

/// A few families that are made of samples.
const FAMILIES: [&str; 4] = ["byte", "event", "kernel", "memory"];
const NODES: usize = 14;

/// A value between -1 and 1 that is as good as random: splitmix64.
fn noise(node: usize, benchmark: usize) -> f64 {
    let mut z = ((node * 1000 + benchmark + 1) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// The run of a node whose operations take 100 ns each, within 0.5%, times `slower`, by family.
fn node(run: &RunData, number: usize, slower: &dyn Fn(&str) -> f64) -> RunData {
    let mut run = run.clone();
    run.info.id = format!("20261103-10{number:02}00-0000{number:04}");
    run.info.started = format!("2026-11-03T10:{number:02}:00Z");
    run.info.settings.fleet = Some(FleetMember {
        fleet: "fleet-of-november".to_owned(),
        node: format!("node-{number:02}"),
        ..FleetMember::default()
    });
    run.benchmarks
        .retain(|of| FAMILIES.contains(&of.id.family()));
    let ids: Vec<_> = run.benchmarks.iter().map(|of| of.id.clone()).collect();
    run.skips.retain(|of| ids.contains(&of.id));
    run.launches.retain(|of| ids.contains(&of.id));
    for launch in &mut run.launches {
        let place = ids.iter().position(|id| *id == launch.id).unwrap();
        let own = 1.0 + 0.005 * noise(number, place);
        let ns =
            100.0 * own * (1.0 + 0.001 * f64::from(launch.round % 3)) * slower(launch.id.family());
        for event in &mut launch.events {
            match event {
                Event::Sample(sample) => {
                    sample.wall = (sample.n as f64 * ns).ceil() as u64;
                    (sample.pace, sample.wide) = (250_000, 62_500);
                }
                Event::Warm { n, wall } => *wall = (*n as f64 * ns).ceil() as u64,
                _ => {}
            }
        }
    }
    run
}

/// Nodes 3 and 9 have another kernel and slow memory, node 5 computes a wrong value.
fn fleet() -> Vec<RunData> {
    let run = recorded("run");
    let slow = |number: usize| [3, 9].contains(&number);
    let mut fleet: Vec<RunData> = (0..NODES)
        .map(|number| {
            let slower = |family: &str| match family {
                "memory" if slow(number) => 1.25,
                _ => 1.0,
            };
            let mut node = node(&run, number, &slower);
            if slow(number) {
                let facts = &mut node.info.machine.facts;
                facts.insert("kernel.release".to_owned(), "6.9.0-slow".to_owned());
            }
            node
        })
        .collect();
    let mut checks = fleet[5].launches.iter_mut().flat_map(|of| &mut of.events);
    let check = checks.find_map(|event| match event {
        Event::Check(check) => Some(check),
        _ => None,
    });
    check.unwrap().got += 1;
    fleet
}

/// What differs: node, family, effect.
fn outliers(view: &Value) -> Vec<(String, String, f64)> {
    let outlier = |of: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (
            text(&of["node"]),
            text(&of["about"]["family"]),
            of["effect"].as_f64().unwrap(),
        )
    };
    let mut all: Vec<_> = list(&view["outliers"]).iter().map(outlier).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[test]
fn nodes_that_differ_are_named_with_what_they_have_in_common() {
    let home = Home::new();
    home.fails(2, "fleet report", "no run is stored yet");
    let fleet = fleet();
    home.import(&fleet);
    let read = |line: &str| -> Value { serde_json::from_str(&home.ok(line)).unwrap() };
    let view = read("fleet report --format json");
    assert_eq!(view["schema"], "gritstone/fleet/1");
    assert_eq!(view["fleet"], "fleet-of-november");
    assert_eq!(list(&view["nodes"]).len(), NODES);
    let found = outliers(&view);
    let named: Vec<_> = found
        .iter()
        .map(|(node, family, _)| (node.as_str(), family.as_str()))
        .collect();
    assert_eq!(named, [("node-03", "memory"), ("node-09", "memory")]);
    assert!(
        found
            .iter()
            .all(|(_, _, effect)| (effect + 0.2).abs() < 0.02),
        "{found:?}"
    );
    let wrong = list(&view["wrong"]);
    assert_eq!(
        (wrong.len(), &wrong[0]["node"], &wrong[0]["by"]),
        (1, &"node-05".into(), &"workload".into())
    );
    let common = list(&view["common"]);
    assert_eq!(common[0]["facts"][0]["name"], "kernel.release");
    assert_eq!([&common[0]["slow"], &common[0]["others"]], [2, 0]);

    // the same by its name and by its files, on paper and as lines
    assert_eq!(read("fleet report november --format json"), view);
    let files: Vec<String> = fleet
        .iter()
        .map(|run| {
            let path = home.path().join(format!("{}.jsonl", run.info.id));
            fs::write(&path, gritstone_exchange::write_bundle(run)).unwrap();
            path.display().to_string()
        })
        .collect();
    let of_files = read(&format!("fleet report --format json {}", files.join(" ")));
    assert_eq!(of_files["outliers"], view["outliers"]);
    home.ok("fleet report -o fleet.html -o fleet.pdf");
    let page = fs::read_to_string(home.path().join("fleet.html")).unwrap();
    assert!(
        page.contains("node-09: memory −20%") && page.contains("fleet-heat"),
        "{page}"
    );
    assert!(
        fs::read(home.path().join("fleet.pdf"))
            .unwrap()
            .starts_with(b"%PDF")
    );
    let lines = home.ok("fleet report --format csv");
    let count = |word: &str| lines.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!([count("wrong,"), count("differs,")], [1, 2]);
    home.refuses("fleet report -o fleet.txt", ".html or .pdf");
    home.refuses("fleet report other", "other");
}

#[test]
fn nodes_have_no_names_in_what_is_shared() {
    let home = Home::new();
    home.import(&fleet()[..2]);
    let shared =
        |number: usize| home.ok(&format!("export 20261103-10{number:02}00-0000{number:04}"));
    let [one, two] = [0, 1].map(shared);
    assert!(!one.contains("node-00\"") && one.contains("fleet-of-november"));
    let name = |text: &str| {
        gritstone_exchange::read_bundle(text)
            .unwrap()
            .info
            .settings
            .fleet
            .unwrap()
            .node
    };
    assert_ne!(name(&one), name(&two));
}
