//! What stands beside an estimate of work that waits for pages: faults, CPU and real time.

use super::reading::Reading;
use gritstone_model::{Benchmark, Finding, Sample};

/// Major page faults for each page that was touched, over all samples together; of work on pages alone.
pub(super) fn faults_per_page(benchmark: &Benchmark, launches: &[&Reading]) -> Option<f64> {
    benchmark.claims.major_faults_per_op?;
    let samples = || launches.iter().flat_map(|launch| &launch.samples);
    let sum = |of: fn(&Sample) -> u64| samples().map(|sample| of(sample) as f64).sum::<f64>();
    let pages = sum(|sample| sample.n) * benchmark.amount_per_op;
    let paging = benchmark.unit.as_str() == "pages/s" && pages > 0.0;
    paging.then(|| sum(|sample| sample.usage.majflt) / pages)
}

/// What an operation that waits for pages took: times alone do not tell whether the processor or the device was slow.
/// All samples together, since that is what the exact counts and clocks are of.
pub(super) fn paged(benchmark: &Benchmark, launches: &[&Reading]) -> Option<Finding> {
    benchmark.claims.major_faults_per_op?;
    let samples = || launches.iter().flat_map(|launch| &launch.samples);
    let n: f64 = samples().map(|sample| sample.n as f64).sum();
    let each =
        |of: &dyn Fn(&Sample) -> u64| samples().map(|sample| of(sample) as f64).sum::<f64>() / n;
    let major = each(&|sample| sample.usage.majflt);
    let (cpu, real) = (
        each(&|sample| sample.usage.cpu),
        each(&|sample| sample.wall),
    );
    let unit = benchmark.unit.as_str().strip_suffix("s/s");
    let each = unit.map(|thing| (major / benchmark.amount_per_op, thing.to_owned()));
    (n > 0.0).then(|| Finding::Paging {
        cpu_s: cpu / 1e9,
        real_s: real / 1e9,
        major_faults: major,
        each,
    })
}
