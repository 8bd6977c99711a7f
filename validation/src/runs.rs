//! Simulated runs as views, from given launches.

use gritstone_analysis::summary::{self, Options};
use gritstone_model::{
    Benchmark, Data, Estimate, Id, KernelWork, RunData, RunView, Sampled, Unit, Work,
};
use gritstone_stats::undisturbed;
use std::collections::BTreeMap;

/// Identifier of a made-up benchmark.
pub fn row_id(row: usize) -> Id {
    Id::parse(&format!("made/up/{row}")).expect("it is an identifier")
}

/// A run of `rows` benchmarks without launches; `cycles`: they are compared in core cycles.
pub fn empty(rows: usize, cycles: bool) -> RunView {
    let row = |row: usize| Benchmark {
        processor_bound: cycles,
        ..Benchmark::new(
            row_id(row),
            Unit::parse("ns").expect("ns is a unit"),
            Work::Kernel(KernelWork {
                program: "made/up".to_owned(),
                params: BTreeMap::new(),
                uses: vec![],
            }),
        )
    };
    let data = RunData { benchmarks: (0..rows).map(row).collect(), ..RunData::default() };
    let mut view = summary::summarize(&data, &Options::default());
    for result in &mut view.results {
        result.notes.clear();
        result.data = Data::Measured(Box::default());
    }
    view
}

/// The `number`-th run, with the launches of each benchmark; clock and cycle probe agree.
pub fn run(empty: &RunView, number: usize, rows: &[Vec<f64>]) -> RunView {
    let mut view = empty.clone();
    view.id = format!("run-{number}");
    view.started = format!("{number:04}");
    for (result, values) in view.results.iter_mut().zip(rows) {
        let weights = vec![1.0; values.len()];
        let center = undisturbed::estimate(values, &weights, 0.95).expect("all are above 0");
        let estimate = Some(Estimate { value: center.value, interval: center.interval });
        let paced = result.processor_bound;
        result.measured_mut().sampled = Sampled {
            estimate,
            values: values.clone(),
            weights,
            launches: values.len(),
            cycles: estimate.filter(|_| paced),
            cycle_values: if paced { values.clone() } else { vec![] },
            ..Sampled::default()
        };
    }
    view
}
