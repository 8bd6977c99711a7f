//! Output in the JSON format of Google Benchmark: one entry per launch, like a repetition, so that its compare.py can test them.

use crate::exportable::{Exported, ExportedResult, messages, valid_results};
use gritstone_model::{Event, Launch, Outcome, RunData, RunView};
use serde_json::{Value, json};

/// For each result, the launches behind its estimate. Derived results and sizes are left out, since they have no repetitions.
pub(super) fn write(data: &RunData, view: &RunView) -> Exported {
    let (results, mut left_out) = valid_results(view);
    let mut entries: Vec<Value> = vec![];
    for (family, exported) in results.iter().enumerate() {
        let id = &exported.result.id;
        let launches = repetitions(data, exported);
        if launches.is_empty() {
            let why = "It has no timed launches.";
            left_out.push((id.clone(), why.to_owned()));
        }
        let whys = messages(exported.result);
        entries.extend(launches.iter().enumerate().map(|(index, (real, done))| {
            json!({
                "name": id,
                "family_index": family,
                "per_family_instance_index": 0,
                "run_name": id,
                "run_type": "iteration",
                "repetitions": launches.len(),
                "repetition_index": index,
                "threads": 1,
                "iterations": done.operations,
                "real_time": real,
                "cpu_time": done.cpu,
                "time_unit": "ns",
                "label": whys.join(" "),
            })
        }));
    }
    let fact = |key: &str| view.machine.facts.get(key).cloned();
    let whole = json!({
        "context": {
            "date": view.started,
            "host_name": view.machine.name,
            "executable": "gritstone",
            "num_cpus": fact("cpu.threads").and_then(|n| n.parse::<u64>().ok()).unwrap_or(0),
            "mhz_per_cpu": 0,
            "cpu_scaling_enabled": false,
            "caches": [],
            "load_avg": [],
            "library_version": format!("gritstone {}", data.info.gritstone),
            "library_build_type": "release",
            "json_schema_version": 1,
        },
        "benchmarks": entries,
    });
    Exported::json(&whole, left_out)
}

/// Work and CPU time of a launch.
#[derive(Clone, Copy)]
struct Done {
    operations: u64,
    /// CPU time, ns per operation.
    cpu: f64,
}

/// The launches behind a result, each with its ns per operation; none if the result has no launches of its own, or is neither time nor
/// rate.
fn repetitions(data: &RunData, exported: &ExportedResult) -> Vec<(f64, Done)> {
    let result = exported.result;
    let launches = data.launches.iter().filter(|launch| {
        launch.id == result.id && launch.copies == 1 && launch.outcome == Outcome::Measured
    });
    let done: Vec<Done> = launches.filter_map(work_done).collect();
    let entry = data.benchmarks.iter().find(|entry| entry.id == result.id);
    let amount = entry.map_or(1.0, |entry| entry.amount_per_op);
    let real = result.values().iter();
    let real = real.filter_map(|&value| exported.ns_per_operation(value, amount));
    let real: Vec<f64> = real.collect();
    let Some(typical) = typical(&done) else {
        return vec![];
    };
    // if launches were dropped, the values do not name theirs: each gets the mean of all
    let whole = real.len() == done.len();
    let work = |launch: usize| if whole { done[launch] } else { typical };
    let timed = real.into_iter().enumerate();
    timed.map(|(launch, real)| (real, work(launch))).collect()
}

fn work_done(launch: &Launch) -> Option<Done> {
    let (mut operations, mut cpu) = (0_u64, 0.0);
    for event in &launch.events {
        if let Event::Sample(sample) = event {
            operations = operations.saturating_add(sample.n);
            cpu += sample.usage.cpu as f64;
        }
    }
    (operations > 0).then(|| Done { operations, cpu: cpu / operations as f64 })
}

/// The mean of several.
fn typical(done: &[Done]) -> Option<Done> {
    let operations: f64 = done.iter().map(|d| d.operations as f64).sum();
    let cpu: f64 = done.iter().map(|d| d.cpu * d.operations as f64).sum();
    (!done.is_empty()).then(|| Done {
        operations: (operations / done.len() as f64).round() as u64,
        cpu: cpu / operations,
    })
}
