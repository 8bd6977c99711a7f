//! CPU time of an operation by whose it is, as a workload with a server says it of each launch: mean over its operations, ns.

use super::reading::Reading;
use gritstone_model::{Benchmark, Part, PartValue};

/// Parts by the parameter that has them.
const PARTS: [(&str, Part); 2] = [
    ("client_cpu_ns", Part::ClientCpu),
    ("server_cpu_ns", Part::ServerCpu),
];

/// In the unit of the row: the mean over launches. Empty where none says it.
pub(super) fn parts(benchmark: &Benchmark, launches: &[&Reading]) -> Vec<PartValue> {
    let part = |(key, part): (&str, Part)| {
        let said = launches.iter().flat_map(|launch| launch.params(key));
        let ns: Vec<f64> = said.filter_map(|ns| ns.parse().ok()).collect();
        let mean = ns.iter().sum::<f64>() / ns.len() as f64;
        let value =
            (mean > 0.0).then(|| benchmark.unit.figure(mean, benchmark.amount_per_op))??;
        Some(PartValue { part, value })
    };
    PARTS.into_iter().filter_map(part).collect()
}
