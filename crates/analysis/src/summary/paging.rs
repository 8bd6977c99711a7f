//! Paging per operation: faults, pages in and out, CPU and real time.

use super::reading::{Reading, mean};
use gritstone_model::{Benchmark, Finding, Metric, Sample};

/// Major page faults per touched page, over all samples; only for work on pages.
pub(super) fn faults_per_page(benchmark: &Benchmark, launches: &[&Reading]) -> Option<f64> {
    benchmark.claims.major_faults_per_op?;
    let samples = || launches.iter().flat_map(|launch| &launch.samples);
    let sum = |value: fn(&Sample) -> u64| samples().map(|sample| value(sample) as f64).sum::<f64>();
    let pages = sum(|sample| sample.n) * benchmark.amount_per_op;
    let paging = benchmark.unit.as_str() == "pages/s" && pages > 0.0;
    paging.then(|| sum(|sample| sample.usage.majflt) / pages)
}

/// Pages read from and written to swap per operation: the mean over launches that counted them.
pub(crate) fn swapped(launches: &[&Reading]) -> Option<[f64; 2]> {
    Some([mean(launches, Metric::PageIns)?, mean(launches, Metric::PageOuts)?])
}

/// Added because times alone do not distinguish a slow processor from a slow device.
pub(super) fn paged(benchmark: &Benchmark, launches: &[&Reading]) -> Option<Finding> {
    benchmark.claims.major_faults_per_op?;
    let samples = || launches.iter().flat_map(|launch| &launch.samples);
    let n: f64 = samples().map(|sample| sample.n as f64).sum();
    let each = |value: &dyn Fn(&Sample) -> u64| {
        samples().map(|sample| value(sample) as f64).sum::<f64>() / n
    };
    let major = each(&|sample| sample.usage.majflt);
    let (cpu, real) = (each(&|sample| sample.usage.cpu), each(&|sample| sample.wall));
    let unit = benchmark.unit.as_str().strip_suffix("s/s");
    let amount = unit.map_or(1.0, |_| benchmark.amount_per_op);
    let each = unit.map(|thing| (major / amount, thing.to_owned()));
    (n > 0.0).then(|| Finding::Paging {
        cpu_s: cpu / 1e9,
        real_s: real / 1e9,
        major_faults: major,
        each,
        swapped: swapped(launches).map(|pages| pages.map(|count| count / amount)),
    })
}
