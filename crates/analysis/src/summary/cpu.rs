//! CPU time per operation of client and server: the mean over operations, as the workload reports it, ns.

use super::reading::{Reading, mean};
use gritstone_model::{Benchmark, Metric, Part, PartValue};

const PARTS: [(Metric, Part); 2] =
    [(Metric::ClientCpu, Part::ClientCpu), (Metric::ServerCpu, Part::ServerCpu)];

/// The mean over launches, in the unit of the benchmark.
pub(super) fn parts(benchmark: &Benchmark, launches: &[&Reading]) -> Vec<PartValue> {
    let part = |(metric, part): (Metric, Part)| {
        let ns = mean(launches, metric).filter(|ns| *ns > 0.0)?;
        let value = benchmark.unit.convert(ns, benchmark.amount_per_op)?;
        Some(PartValue { part, value })
    };
    PARTS.into_iter().filter_map(part).collect()
}
