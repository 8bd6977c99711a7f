//! Interference on made-up machines.

use crate::tests::made_up_runs::*;
use gritstone_model::*;

const MS: u64 = 1_000_000;

/// Flags of a run with these conditions in all launches.
fn causes(cpus: &[u32], conditions: Conditions) -> Vec<&'static str> {
    causes_beside(cpus, conditions, None)
}

/// The same where another run measured.
fn causes_beside(cpus: &[u32], conditions: Conditions, other: Option<u32>) -> Vec<&'static str> {
    let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    for launch in &mut run.launches {
        (launch.cpus, launch.conditions) = (cpus.to_vec(), conditions);
        let other = other.map(|process| Event::Param(Param::OtherRun(process)));
        launch.events.extend(other);
    }
    let name = |cause: &Interference| match cause {
        Interference::Others(_) => "others",
        Interference::Steal(_) => "steal",
        Interference::Throttled(_) => "throttled",
        Interference::MemoryLimit(_) => "memory",
        Interference::Smt => "smt",
        Interference::OtherRun(_) => "other run",
    };
    let notes = only(&run).notes;
    let found = notes.iter().find_map(|note| match &note.finding {
        Finding::Interfered { causes, .. } => Some(causes.iter().map(name).collect()),
        _ => None,
    });
    found.unwrap_or_default()
}

#[test]
fn unobserved_interference_is_noted() {
    let observed = |conditions: Conditions, gritstone: &str| {
        let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
        run.info.gritstone = gritstone.to_owned();
        run.launches.iter_mut().for_each(|launch| launch.conditions = conditions);
        let is_unobserved = |note: &Note| note.finding == Finding::InterferenceUnobserved {};
        !only(&run).notes.iter().any(is_unobserved)
    };
    let unknown = Conditions { wall: 250 * MS, cpus: 1, ..Conditions::default() };
    assert!(!observed(unknown, "0.1.0"));
    assert!(observed(Conditions { others: Some(0), ..unknown }, "0.1.0"));
    assert!(!observed(Conditions { steal: Some(0), ..unknown }, "0.1.0"));
    assert!(observed(unknown, "hyperfine"));
}

#[test]
fn other_runs_explain_interference() {
    let quiet = Conditions { wall: 250 * MS, cpus: 1, ..Conditions::default() };
    let busy = Conditions { others: Some(125 * MS), ..quiet };
    assert_eq!(causes_beside(&[1], quiet, Some(7)), [""; 0]);
    for process in [7, 0] {
        let found = causes_beside(&[1], busy, Some(process));
        assert_eq!(found, ["others", "other run"]);
    }
}

#[test]
fn foreign_cpu_time_interferes() {
    let quiet = Conditions {
        wall: 250 * MS,
        cpus: 1,
        others: Some(0),
        steal: Some(0),
        throttled: Some(0),
        ..Conditions::default()
    };
    // all of 64 CPUs: 16 s of CPU time in a launch
    let large = Conditions { cpus: 64, ..quiet };
    let cases: [(&str, &[u32], Conditions, &[&str]); 11] = [
        ("a quiet machine", &[1], quiet, &[]),
        ("its housekeeping, 1.5%", &[], Conditions { others: Some(240 * MS), ..large }, &[]),
        (
            "64 ticks of which nothing is known",
            &[],
            Conditions { others: Some(900 * MS), grain: Some(256 * MS), ..large },
            &[],
        ),
        (
            "four of 64 CPUs at work for others",
            &[],
            Conditions { others: Some(1000 * MS), ..large },
            &["others"],
        ),
        ("a tenth of one CPU", &[1], Conditions { others: Some(25 * MS), ..quiet }, &["others"]),
        (
            "a quota of one CPU, of which Gritstone itself takes a little",
            &[1],
            Conditions { throttled: Some(2 * MS), ..quiet },
            &[],
        ),
        (
            "a quota that stops the work",
            &[1],
            Conditions { throttled: Some(50 * MS), ..quiet },
            &["throttled"],
        ),
        (
            "a memory limit that was met",
            &[1],
            Conditions { memory_limit: Some(1), ..quiet },
            &["memory"],
        ),
        (
            "a hypervisor that takes a tick of all CPUs together",
            &[],
            Conditions { steal: Some(10 * MS), ..large },
            &[],
        ),
        (
            "one that takes a twentieth",
            &[1],
            Conditions { steal: Some(13 * MS), ..quiet },
            &["steal"],
        ),
        (
            "a run from before CPUs were counted",
            &[1, 3],
            Conditions { cpus: 0, others: Some(24 * MS), ..quiet },
            &[],
        ),
    ];
    for (machine, cpus, conditions, expected) in cases {
        assert_eq!(causes(cpus, conditions), expected, "{machine}");
    }
}

#[test]
fn own_time_is_no_interference() {
    // a third of the launches in a second mode, with nothing else to see
    let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    for launch in run.launches.iter_mut().step_by(3) {
        samples(launch).for_each(|sample| sample.wall = sample.wall / 5 * 6);
    }
    assert!(!only(&run).is_flagged(Flag::Interference));
}
