//! CPU time of an operation by whose it is, as a workload with a server says it of each launch: mean over its operations, ns.

use super::reading::{Reading, mean};
use gritstone_model::{Benchmark, Metric, Part, PartValue};

const PARTS: [(Metric, Part); 2] = [
    (Metric::ClientCpu, Part::ClientCpu),
    (Metric::ServerCpu, Part::ServerCpu),
];

/// In the unit of the row: the mean over launches. Empty where none says it.
pub(super) fn parts(benchmark: &Benchmark, launches: &[&Reading]) -> Vec<PartValue> {
    let part = |(metric, part): (Metric, Part)| {
        let ns = mean(launches, metric).filter(|ns| *ns > 0.0)?;
        let value = benchmark.unit.figure(ns, benchmark.amount_per_op)?;
        Some(PartValue { part, value })
    };
    PARTS.into_iter().filter_map(part).collect()
}
