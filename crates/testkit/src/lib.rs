//! Made-up benchmarks, launches, runs and views for tests: plain structs, in which a test changes what matters to it.

use gritstone_model::*;
use serde_json::json;
use std::collections::BTreeMap;

/// Panics unless it is an identifier.
pub fn id(text: &str) -> Id {
    Id::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"))
}

/// Panics unless it is a unit.
pub fn unit(text: &str) -> Unit {
    Unit::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"))
}

/// A workload without parameters.
pub fn workload(program: &str) -> Work {
    Work::Kernel(workload_with(program, &[]))
}

/// A workload with these parameters.
pub fn workload_with(program: &str, params: &[(&str, &str)]) -> KernelWork {
    KernelWork { program: program.to_owned(), params: texts(params), uses: vec![] }
}

fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// A sum of results, each with its factor.
pub fn sum<T: AsRef<str>>(terms: impl IntoIterator<Item = (f64, T)>) -> Work {
    let terms = terms.into_iter().map(|(times, name)| Term { id: id(name.as_ref()), times });
    Work::Derived { terms: terms.collect(), share_of: None }
}

/// A workload that claims nothing; its program is named like the benchmark.
pub fn benchmark(name: &str, in_unit: &str) -> Benchmark {
    Benchmark::new(id(name), unit(in_unit), workload(name))
}

pub fn param(key: &str, value: &str) -> Event {
    Event::Param(Param::new(key, value))
}

/// A measured launch on CPU 1, a second after that of the round before.
pub fn launch(name: &str, round: u32, events: Vec<Event>) -> Launch {
    Launch {
        round,
        start: u64::from(round) * 1_000_000_000,
        cpus: vec![1],
        ..Launch::new(id(name), Outcome::Measured, events)
    }
}

/// Samples of a launch, to be changed.
pub fn samples(launch: &mut Launch) -> impl Iterator<Item = &mut Sample> {
    launch.events.iter_mut().filter_map(|event| match event {
        Event::Sample(sample) => Some(&mut **sample),
        _ => None,
    })
}

/// A finished run; all benchmarks have the same program.
pub fn run(benchmarks: Vec<Benchmark>, launches: Vec<Launch>) -> RunData {
    let program = Program {
        hash: "00ff".to_owned(),
        compiler: "cc 14.2".to_owned(),
        flags: "-O2".to_owned(),
    };
    let facts = [("cpu.model", "Abacus"), ("cpu.smt", "on"), ("load.1", "0.1")];
    RunData {
        info: RunInfo {
            id: "run-1".to_owned(),
            label: None,
            started: "2026-01-02T03:04:05Z".to_owned(),
            elapsed_s: Some(120.0),
            gritstone: "0.1.0".to_owned(),
            machine: Machine {
                id: "0123".to_owned(),
                name: "Made-up Computer".to_owned(),
                system: "Linux 6.1".to_owned(),
                configuration: "2 CPUs, 4 GB".to_owned(),
                facts: texts(&facts),
                ..Machine::default()
            },
            settings: Settings {
                seed: 7,
                budget_s: Some(600.0),
                precision: 0.01,
                dir: "/tmp".to_owned(),
                environment: texts(&[("LC_ALL", "C")]),
                ..Settings::default()
            },
        },
        programs: (benchmarks.iter())
            .map(|benchmark| (benchmark.id.clone(), program.clone()))
            .collect(),
        benchmarks,
        skips: vec![],
        launches,
    }
}

/// A run without results on a machine of 1984.
pub fn view(run: &str, machine: &str, system: &str) -> RunView {
    RunView {
        schema: SCHEMA_RUN.to_owned(),
        id: run.to_owned(),
        started: "1984-08".to_owned(),
        machine: Machine {
            id: run.to_owned(),
            name: machine.to_owned(),
            system: system.to_owned(),
            ..Machine::default()
        },
        ..RunView::default()
    }
}

/// A node that differs from the others by this share.
pub fn fleet_outlier(
    node: &str,
    about: FleetScope,
    effect: f64,
    interval: [f64; 2],
) -> FleetOutlier {
    let outlier = json!({
        "node": node, "about": about, "effect": effect, "interval": interval, "p": 1e-9,
        "p_adjusted": 1e-6, "results": 5, "interference": 0,
    });
    serde_json::from_value(outlier).unwrap_or_else(|why| panic!("{why}"))
}

/// The report of a fleet without nodes.
pub fn fleet_view(outliers: Vec<FleetOutlier>) -> FleetView {
    let view = json!({
        "schema": SCHEMA_FLEET, "fleet": "november", "started": "2026-11-03T10:00:00Z",
        "last": "2026-11-04T10:00:00Z", "level": 0.05, "margin": 0.01, "outliers": outliers,
        "wrong": [], "common": [], "groups": [], "drifts": [], "earlier": 0, "kinds": [],
        "families": [], "benchmarks": [], "nodes": [],
    });
    serde_json::from_value(view).unwrap_or_else(|why| panic!("{why}"))
}

/// A row of a comparison without values, in ns.
pub fn compare_row(name: &str) -> CompareRow {
    let row = json!({
        "id": name, "title": name, "compared": Subject::Estimate, "unit": "ns/call", "notes": [],
    });
    serde_json::from_value(row).unwrap_or_else(|why| panic!("{why}"))
}

/// A side of a trial, in ms.
pub fn ab_figure(side: &str, estimate: f64) -> AbFigure {
    let figure = json!({
        "side": side, "estimate": estimate, "launches": 12, "samples": 12, "statuses": [],
        "notes": [],
    });
    serde_json::from_value(figure).unwrap_or_else(|why| panic!("{why}"))
}

/// A comparison of two sides of a trial by 12 pairs.
pub fn ab_comparison(base: &str, other: &str, ratio: f64, verdict: Verdict) -> AbComparison {
    let comparison = json!({
        "base": base, "other": other, "pairs": 12, "crowded": [0, 0], "crowded_differ": false,
        "left_out": 0, "ratio": ratio, "interval": [0.95 * ratio, 1.05 * ratio], "p": 0.004,
        "p_adjusted": 0.004, "verdict": verdict, "smallest": 0.03,
    });
    serde_json::from_value(comparison).unwrap_or_else(|why| panic!("{why}"))
}

/// A trial of commands, by the results of its sides.
pub fn ab_view(
    commands: &[&str],
    figures: Vec<AbFigure>,
    comparisons: Vec<AbComparison>,
) -> AbView {
    let side = |(figure, command): (&AbFigure, &&str)| {
        let run = format!("20261121-093011-4f2a19c{}", figure.side);
        let label = format!("ab-x-{}", figure.side);
        json!({ "side": figure.side, "run": run, "label": label, "what": command })
    };
    let sides: Vec<_> = figures.iter().zip(commands).map(side).collect();
    let view = json!({
        "schema": SCHEMA_AB, "trial": "x", "machine": "node-17", "sides": sides, "same": false,
        "margin": 0.01, "level": 0.01, "start_up_ns": 700_000.0,
        "rows": [{
            "id": "command", "title": commands[0], "unit": "ms", "better": "lower",
            "figures": figures, "comparisons": comparisons,
        }],
    });
    serde_json::from_value(view).unwrap_or_else(|why| panic!("{why}"))
}

/// Benchmarks that take twice as long since a run of a machine with another microcode.
pub fn change_event(run: &str, benchmarks: &[&str]) -> ChangeEvent {
    let (machine, name) = ("0123456789ab", "node-17 (Intel Xeon Platinum)");
    let started = "2026-05-02T12:00:00Z";
    let change = |benchmark: &&str| {
        json!({
            "benchmark": benchmark, "title": "", "machine": machine, "name": name, "kernel": "6.1",
            "unit": "ns/call", "better": "lower", "value_before": 100.0, "value_since": 200.0,
            "run": run, "started": started, "at": 1, "ratio": 0.5, "between": [1, 1], "runs": 2,
        })
    };
    let event = json!({
        "id": format!("{run}-worse"), "run": run, "started": started, "machine": machine,
        "name": name, "worse": true, "triage": Triage::default(),
        "differ_in": [{ "what": "cpu.microcode", "base": "0x1", "other": "0x2" }],
        "changes": benchmarks.iter().map(change).collect::<Vec<_>>(),
    });
    serde_json::from_value(event).unwrap_or_else(|why| panic!("{why}"))
}

/// A note whose text is shown as it is.
pub fn stated(by: Author, flag: Option<Flag>, text: &str) -> Note {
    Note::new(Finding::Stated { by, flag, text: text.to_owned() })
}

/// A value between -1 and 1 that is as good as random: splitmix64.
pub fn noise(node: usize, benchmark: usize) -> f64 {
    let mut z = ((node * 1000 + benchmark + 1) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Rewrites what a launch recorded as if an operation took `ns`, without the conditions, which last as long as other samples.
pub fn set_time(launch: &mut Launch, ns: f64) {
    launch.conditions = Conditions::default();
    for event in &mut launch.events {
        match event {
            Event::Sample(sample) => {
                sample.wall = (sample.n as f64 * ns).ceil() as u64;
                (sample.cycle_probe, sample.smt_probe) = (250_000, 62_500);
            }
            Event::Warm { n, wall } => *wall = (*n as f64 * ns).ceil() as u64,
            _ => {}
        }
    }
}
