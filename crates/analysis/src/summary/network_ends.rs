//! CPU time of both ends of a network, and lost datagrams.

use super::reading::{Reading, mean};
use gritstone_model::{Benchmark, Finding, Metric, Number, Quantity};

/// Mean per operation over launches that report it.
pub(super) fn worked(benchmark: &Benchmark, launches: &[&Reading]) -> Option<Finding> {
    let both = |[near, far]: [Metric; 2]| Some([mean(launches, near)?, mean(launches, far)?]);
    let cpu_ns = both([Metric::NearCpu, Metric::FarCpu])?;
    let amount = benchmark.amount_per_op;
    Some(Finding::Ends {
        cpu_ns: cpu_ns.map(|ns| ns / amount),
        share: both([Metric::NearCpuShare, Metric::FarCpuShare])?,
        each: unit_noun(benchmark),
        seconds: seconds(launches),
        lost: mean(launches, Metric::LostShare),
    })
}

/// Seconds over all launches; 0 if unreported.
fn seconds(launches: &[&Reading]) -> f64 {
    let reported = launches.iter().flat_map(|launch| launch.numbers(Metric::EndsWall));
    let ns: f64 = reported.map(Number::get).sum();
    ns / 1e9
}

/// One of the counted units.
fn unit_noun(benchmark: &Benchmark) -> String {
    let unit = benchmark.unit.as_str();
    let named = match (benchmark.unit.quantity(), unit.split_once('/')) {
        (Quantity::Rate { .. }, Some((thing, _))) if thing.ends_with('B') => "byte",
        (Quantity::Rate { .. }, Some((thing, _))) => thing.strip_suffix('s').unwrap_or(thing),
        (Quantity::Time { .. }, Some((_, thing))) => thing,
        _ => "operation",
    };
    named.to_owned()
}
