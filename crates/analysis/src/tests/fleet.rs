//! Nodes of made-up fleets against each other.

use crate::fleet::{self, CheckValue, MARGIN, NodeResult, NodeRun, Verdict, verdict};
use crate::summary;
use crate::tests::made_up_runs::{claimed, launches, run, samples, set_cycle_probe};
use gritstone_model::{Better, FleetProof, FleetScope, FleetView, Id, Unit};
use gritstone_testkit::noise;
use std::collections::BTreeMap;

const FAMILIES: [&str; 4] = ["cpu", "disk", "memory", "net"];

/// A node with three benchmarks of each family, whose times scatter by 1% at most.
fn node(number: usize) -> NodeRun {
    let result = |benchmark: usize| {
        let id = Id::parse(&format!("{}/{}", FAMILIES[benchmark / 3], benchmark % 3)).unwrap();
        let time = 100.0 * (0.01 * noise(number, benchmark)).exp();
        let check = CheckValue { n: 4096, got: 17, expected: 17, cpu: Some(1) };
        let result = NodeResult {
            version: 1,
            program: "abc".to_owned(),
            unit: Unit::parse("ns").unwrap(),
            better: Better::Lower,
            estimate: time,
            speed: Some(-time.ln()),
            within: 1e-6,
            interference: false,
            checks: vec![check],
        };
        (id, result)
    };
    NodeRun {
        run: format!("run-{number:02}"),
        started: format!("2026-11-03T10:{number:02}:00Z"),
        node: format!("node-{number:02}"),
        machine: format!("machine-{number:02}"),
        place: BTreeMap::from([("rack".to_owned(), format!("{}", number / 8))]),
        facts: BTreeMap::from([("cpu.model".to_owned(), "A".to_owned())]),
        results: (0..12).map(result).collect(),
    }
}

fn sample_fleet(nodes: usize) -> Vec<NodeRun> {
    (0..nodes).map(node).collect()
}

fn report(name: &str, runs: &[NodeRun]) -> FleetView {
    fleet::report(name, runs, MARGIN)
}

fn slow(run: &mut NodeRun, family: &str, by: f64) {
    for (id, result) in &mut run.results {
        if id.family() == family {
            result.speed = result.speed.map(|speed| speed + (1.0 - by).ln());
        }
    }
}

fn called(view: &FleetView) -> Vec<(&str, &FleetScope)> {
    view.outliers.iter().map(|outlier| (outlier.node.as_str(), &outlier.about)).collect()
}

#[test]
fn slow_nodes_show_shared_facts() {
    let mut runs = sample_fleet(24);
    for index in [3, 17] {
        slow(&mut runs[index], "memory", 0.18);
        runs[index].facts.insert("kernel.release".to_owned(), "6.9".to_owned());
    }
    for run in &mut runs {
        run.facts.entry("kernel.release".to_owned()).or_insert_with(|| "6.1".to_owned());
    }
    let view = report("november", &runs);
    let memory = FleetScope::Family("memory".to_owned());
    let mut found = called(&view);
    found.sort_by_key(|(node, _)| *node);
    assert_eq!(found, [("node-03", &memory), ("node-17", &memory)]);
    for outlier in &view.outliers {
        assert!((outlier.effect.effect + 0.18).abs() < 0.02, "{outlier:?}");
        let [low, high] = outlier.effect.interval;
        assert!(
            low < outlier.effect.effect && outlier.effect.effect < high && high < -0.1,
            "{outlier:?}"
        );
        assert_eq!(outlier.results, 3);
    }
    let common = &view.common[0];
    assert_eq!((common.slow, common.others, common.of_others), (2, 0, 22));
    assert_eq!(common.facts[0].name, "kernel.release");
    assert_eq!(view.common.len(), 1, "their racks are others");
    assert_eq!((view.nodes.len(), view.benchmarks.len(), view.families.len()), (24, 12, 4));
    let memory = view.families.iter().find(|row| row.family == "memory").unwrap();
    assert_eq!(memory.spread.outliers, 2);
    assert!(memory.spread.smallest > 0.005 && memory.spread.smallest < 0.05, "{memory:?}");
}

#[test]
fn equal_nodes_give_no_outlier() {
    let view = report("quiet", &sample_fleet(24));
    assert_eq!((called(&view), view.wrong.len(), view.common.len()), (vec![], 0, 0));
}

#[test]
fn wrong_check_values_are_reported() {
    let mut runs = sample_fleet(12);
    let id = Id::parse("cpu/1").unwrap();
    // the core that computes wrong values also expects wrong ones
    let check = |run: &mut NodeRun, got, expected| {
        run.results.get_mut(&id).unwrap().checks[0] =
            CheckValue { n: 4096, got, expected, cpu: Some(5) };
    };
    check(&mut runs[2], 18, 17);
    check(&mut runs[7], 19, 19);
    let wrong = report("silent", &runs).wrong;
    let actual: Vec<_> = wrong
        .iter()
        .map(|value| (value.node.as_str(), value.by, value.got, value.right, value.cpu))
        .collect();
    assert_eq!(
        actual,
        [
            ("node-02", FleetProof::Workload, 18, 17, Some(5)),
            ("node-07", FleetProof::Nodes(10), 19, 17, Some(5)),
        ]
    );
    // a value that differs from node to node is no constant of the workload
    for (index, run) in runs.iter_mut().enumerate() {
        check(run, index as u64, index as u64);
    }
    assert_eq!(report("varied", &runs).wrong, []);
}

#[test]
fn incomparable_nodes_are_only_counted() {
    let mut runs = sample_fleet(12);
    slow(&mut runs[11], "disk", 0.5);
    runs[11].facts.insert("cpu.model".to_owned(), "B".to_owned());
    let id = Id::parse("net/0").unwrap();
    runs[0].results.get_mut(&id).unwrap().program = "other".to_owned();
    runs[1].results.get_mut(&id).unwrap().speed = None;
    runs[2].results.get_mut(&id).unwrap().interference = true;
    let view = report("mixed", &runs);
    assert_eq!(called(&view), [], "of a kind with one node nothing is said");
    let kinds: Vec<_> =
        view.kinds.iter().map(|kind| (kind.model.as_str(), kind.nodes, kind.compared)).collect();
    assert_eq!(kinds, [("A", 11, true), ("B", 1, false)]);
    let row = view.benchmarks.iter().find(|row| row.id == id).unwrap();
    assert_eq!((row.other_work, row.without_result, row.interference), (1, 1, 1));
}

#[test]
fn node_runs_are_pooled() {
    let mut runs = sample_fleet(12);
    runs.extend((0..12).map(|index| NodeRun {
        node: format!("node-{index:02}"),
        started: format!("2026-11-04T10:{index:02}:00Z"),
        ..node(100 + index)
    }));
    let view = report("twice", &runs);
    assert!(view.nodes.iter().all(|node| node.runs.len() == 2));
    let spread = view.benchmarks[0].spread.unwrap();
    assert!(spread.between_runs.unwrap() > 0.002, "{spread:?}");
    assert_eq!(view.last, "2026-11-04T10:11:00Z");
}

#[test]
fn health_checks_have_three_outcomes() {
    let check = |change: &dyn Fn(&mut NodeRun)| {
        let mut runs = sample_fleet(24);
        change(&mut runs[9]);
        verdict(&report("check", &runs), "node-09")
    };
    assert_eq!(check(&|_| ()), Verdict::Passed);
    assert_eq!(check(&|run| slow(run, "disk", 0.1)), Verdict::Failed);
    assert_eq!(check(&|run| slow(run, "disk", -0.1)), Verdict::Passed, "faster is no failure");
    let wrong =
        |run: &mut NodeRun| run.results.values_mut().for_each(|result| result.checks[0].got = 1);
    assert_eq!(check(&wrong), Verdict::Failed);
    let disturbed =
        |run: &mut NodeRun| run.results.values_mut().for_each(|result| result.interference = true);
    assert_eq!(check(&disturbed), Verdict::Inconclusive);
    let other = |run: &mut NodeRun| drop(run.facts.insert("cpu.model".to_owned(), "B".to_owned()));
    assert_eq!(check(&other), Verdict::Inconclusive);
    // most results are not compared
    let invalid = |run: &mut NodeRun| {
        run.results.values_mut().skip(5).for_each(|result| result.speed = None);
    };
    assert_eq!(check(&invalid), Verdict::Inconclusive);
    let alone = |run: &mut NodeRun| {
        let id = Id::parse("gpu/0").unwrap();
        let result = run.results.remove(&Id::parse("net/0").unwrap()).unwrap();
        run.results = BTreeMap::from([(id, result)]);
    };
    assert_eq!(check(&alone), Verdict::Inconclusive);
    assert_eq!(verdict(&report("check", &sample_fleet(24)), "nowhere"), Verdict::Inconclusive);
}

/// The same nodes a week later each, and what was changed on them.
fn week(number: usize, change: &dyn Fn(usize, &mut NodeRun)) -> Vec<NodeRun> {
    let mut runs = sample_fleet(24);
    for (index, run) in runs.iter_mut().enumerate() {
        run.started = format!("2026-1{}-{:02}T10:00:00Z", number / 4, 1 + 7 * (number % 4));
        for (benchmark, result) in run.results.values_mut().enumerate() {
            let shift = 0.002 * noise(index + 100 * number, benchmark);
            result.speed = result.speed.map(|speed| speed + shift);
        }
        change(index, run);
    }
    runs
}

fn over_weeks(weeks: usize, change: &dyn Fn(usize, usize, &mut NodeRun)) -> FleetView {
    let mut all: Vec<Vec<NodeRun>> =
        (0..weeks).map(|number| week(number, &|index, run| change(number, index, run))).collect();
    let now = all.pop().unwrap();
    let mut view = report("november", &now);
    let earlier =
        all.into_iter().map(|runs| fleet::Earlier { started: runs[0].started.clone(), runs });
    fleet::since(&mut view, &now, earlier.collect());
    view
}

#[test]
fn earlier_runs_date_the_onset() {
    let view = over_weeks(8, &|number, index, run| {
        if index == 5 && number >= 5 {
            slow(run, "memory", 0.18);
        }
        if index == 9 {
            slow(run, "disk", 0.3);
        }
        if index == 11 && number == 7 {
            slow(run, "net", 0.2);
        }
    });
    let since = |node: &str| {
        let found = view.outliers.iter().find(|outlier| outlier.node == node).unwrap();
        let since = found.since.clone().unwrap();
        (since.first[..10].to_owned(), since.before.map(|text| text[..10].to_owned()))
    };
    let text = |first: &str, before: Option<&str>| (first.to_owned(), before.map(str::to_owned));
    assert_eq!(since("node-05"), text("2026-11-08", Some("2026-11-01")));
    assert_eq!(since("node-09"), text("2026-10-01", None));
    assert_eq!(since("node-11"), text("2026-11-22", Some("2026-11-15")));
    assert_eq!((view.earlier, view.drifts.len()), (7, 0));
}

#[test]
fn renamed_machines_are_not_compared() {
    let replaced = |number: usize, index: usize, run: &mut NodeRun| {
        if number < 5 && [5, 9].contains(&index) {
            run.machine += "-old";
        }
        if index == 5 && number >= 3 {
            slow(run, "memory", 0.18);
        }
        if number >= 6 {
            slow(run, "net", 0.04);
        }
    };
    let view = over_weeks(8, &replaced);
    assert_eq!(called(&view), [("node-05", &FleetScope::Family("memory".to_owned()))]);
    let outlier = &view.outliers[0];
    let since = outlier.since.as_ref().unwrap();
    // the machine of the weeks 3 and 4 was slow too, and was another
    assert_eq!((&since.first[..10], &since.before), ("2026-11-08", &None));
    assert_eq!(outlier.replaced.as_deref(), Some("2026-11-01T10:00:00Z"));
    // where the oldest runs are of all nodes but two, those two are left out
    let [drift] = &view.drifts[..] else { panic!("{:?}", view.drifts) };
    assert_eq!((drift.nodes, &drift.since.first[..10]), (24, "2026-11-15"));
    let view = over_weeks(5, &|number, index, run| {
        if number < 4 && index % 2 == 0 {
            run.machine += "-old";
        }
        if number == 4 {
            slow(run, "net", 0.04);
        }
    });
    assert_eq!((view.drifts.len(), view.drifts[0].nodes), (1, 12));
}

/// Groups that differ, each by its facts and value.
fn groups(view: &FleetView) -> Vec<(String, &str, usize, &[gritstone_model::FleetGroupEffect])> {
    let of_divisions = view.groups.iter().flat_map(|division| {
        let differ = division.groups.iter().filter(|group| !group.differs.is_empty());
        differ.map(|group| {
            let facts = division.facts.join(" ");
            (facts, group.values[0].as_str(), group.nodes, group.differs.as_slice())
        })
    });
    of_divisions.collect()
}

#[test]
fn facts_name_differing_groups() {
    assert_eq!(report("alike", &sample_fleet(48)).groups, []);
    let mut runs = sample_fleet(48);
    for (index, run) in runs.iter_mut().enumerate() {
        let kernel = if index % 2 == 0 { "6.18" } else { "6.12" };
        for fact in ["kernel.release", "os.version"] {
            run.facts.insert(fact.to_owned(), kernel.to_owned());
        }
    }
    let mut racks = runs.clone();
    racks[8..16].iter_mut().for_each(|run| slow(run, "memory", 0.05));
    let view = report("a rack", &racks);
    let found = groups(&view);
    let [(facts, value, nodes, [differs])] = &found[..] else { panic!("{found:?}") };
    assert_eq!((facts.as_str(), *value, *nodes), ("rack", "1", 8));
    assert_eq!(differs.about, FleetScope::Family("memory".to_owned()));
    let [low, high] = differs.effect.interval;
    assert!(low < -0.045 && high > -0.055 && high < 0.0, "{differs:?}");
    assert_eq!(view.groups[0].groups.len(), 6);

    // facts of the same nodes are one; what all benchmarks share is said once
    for run in runs.iter_mut().skip(1).step_by(2) {
        FAMILIES.iter().for_each(|family| slow(run, family, 0.06));
    }
    let view = report("a kernel", &runs);
    let found = groups(&view);
    let named = found.iter().map(|(facts, value, nodes, differs)| {
        assert_eq!((facts.as_str(), *nodes), ("kernel.release os.version", 24));
        assert_eq!((differs.len(), &differs[0].about), (1, &FleetScope::All), "{differs:?}");
        (*value, differs[0].effect.effect > 0.0)
    });
    assert_eq!(named.collect::<Vec<_>>(), [("6.12", false), ("6.18", true)]);
}

#[test]
fn groups_are_compared_within_models() {
    let mut runs = sample_fleet(48);
    for (index, run) in runs.iter_mut().enumerate() {
        let other = index % 3 == 0;
        let model = if other { "B" } else { "A" };
        run.facts.insert("cpu.model".to_owned(), model.to_owned());
        // each microcode belongs to one model
        run.facts.insert("cpu.microcode".to_owned(), format!("{model}{}", index % 2));
        if other {
            slow(run, "cpu", 0.3);
        }
        if index % 2 == 1 && !other {
            slow(run, "disk", 0.05);
        }
    }
    let view = report("two models", &runs);
    let found = groups(&view);
    let outlying = |fact: &str| -> Vec<(&str, &FleetScope)> {
        let matching = found.iter().filter(|(facts, ..)| facts == fact);
        matching
            .flat_map(|(_, value, _, differs)| differs.iter().map(|effect| (*value, &effect.about)))
            .collect()
    };
    let [cpu, disk] = ["cpu", "disk"].map(|name| FleetScope::Family(name.to_owned()));
    assert!(outlying("cpu.model").contains(&("B", &cpu)), "{found:?}");
    assert_eq!(outlying("cpu.microcode"), [("A0", &disk), ("A1", &disk)]);
}

#[test]
fn fleets_without_groups_have_none() {
    let mut with = 0;
    for number in 0..200 {
        let mut runs: Vec<NodeRun> = (0..32).map(|index| node(number * 32 + index)).collect();
        for (index, run) in runs.iter_mut().enumerate() {
            run.node = format!("node-{index:02}");
            run.place = BTreeMap::from([("rack".to_owned(), (index / 8).to_string())]);
            for (fact, count) in [("kernel.release", 2), ("bios.version", 3), ("dimm", 5)] {
                run.facts.insert(fact.to_owned(), (index % count).to_string());
            }
        }
        with += usize::from(!fleet::report("alike", &runs, 0.0).groups.is_empty());
    }
    // one in twenty at most, of which 200 fleets have 19 with a chance of one in a hundred
    assert!(with < 19, "{with}");
}

#[test]
fn fleet_changes_are_no_outliers() {
    let view = over_weeks(6, &|number, _, run| {
        if number >= 4 {
            slow(run, "memory", 0.04);
        }
    });
    assert_eq!(view.outliers, []);
    let [drift] = &view.drifts[..] else { panic!("{:?}", view.drifts) };
    assert_eq!(drift.about, FleetScope::Family("memory".to_owned()));
    assert!((drift.effect + 0.04).abs() < 0.005, "{drift:?}");
    assert!(drift.since.first.starts_with("2026-11-01"), "{drift:?}");
    assert_eq!(drift.nodes, 24);
    // without a change, and with no earlier run, there is none
    assert_eq!(over_weeks(6, &|_, _, _| ()).drifts, []);
    assert_eq!(over_weeks(1, &|_, _, _| ()).earlier, 0);
    // earlier fleet runs of too few nodes, or of none of these, say nothing
    let now = sample_fleet(24);
    let mut view = report("november", &now);
    let mut others = sample_fleet(24);
    for run in &mut others {
        run.node += "-other";
    }
    let earlier = [sample_fleet(2), others]
        .map(|runs| fleet::Earlier { started: "2026-10-01T10:00:00Z".to_owned(), runs });
    fleet::since(&mut view, &now, earlier.into());
    assert_eq!((view.drifts.len(), view.earlier), (0, 2));
}

#[test]
fn lower_clocks_are_slow() {
    let speed = |ns: f64, cycle_probe: u64| {
        let mut data = run(vec![claimed("a/b")], launches("a/b", ns));
        let all = data.launches.iter_mut().flat_map(samples);
        all.for_each(|sample| set_cycle_probe(sample, cycle_probe));
        // the frequency of the machine's first run
        let options = summary::Options { reference_ghz: Some(4.0), ..summary::Options::default() };
        let node = NodeRun::new(&data, &summary::summarize(&data, &options));
        node.results.into_values().next().unwrap().speed.unwrap()
    };
    let by = speed(200.0, 500_000) - speed(100.0, 250_000);
    assert!((by + 2f64.ln()).abs() < 1e-6, "{by}");
}
