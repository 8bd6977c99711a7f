//! The reference workload: real, user and system time of one batch, and the time of a whole process. Measured, never extrapolated from
//! samples.

use super::reading::Reading;
use super::{Launched, estimate, limits, rules};
use gritstone_model::{
    Benchmark, Count, Estimate, Finding, Note, PublishedView, PublishedWork, RunData, Subject,
    Usage, Work,
};
use gritstone_stats::{quantile, undisturbed};

/// Workloads measure it only on request.
pub(super) fn is_measured(launched: &Launched, run: &RunData) -> bool {
    let kernel = matches!(launched.benchmark.work, Work::Kernel(_));
    let done = |launch: &Reading| !launch.batches.is_empty();
    !kernel || run.info.settings.reference || launched.launches.iter().any(done)
}

/// For a workload: batches in a running process, and whole processes.
pub(super) fn batches(
    work: &PublishedWork,
    benchmark: &Benchmark,
    launches: &[&Reading],
    confidence: f64,
) -> (PublishedView, Vec<Note>) {
    let mut view = untimed(work);
    let contention = rules::smt_contention(launches, |l| l.contended_batches);
    view.values = positive_values(launches, |launch| launch.batch_s(work.operations));
    let real = undisturbed_estimate(&view.values, confidence);
    view.real = real.map(|real| no_narrower(real, launches));

    let mut cpu_times = CpuTimes::default();
    for launch in launches {
        let batches = launch.batches_of(work.operations);
        cpu_times.launch(batches.map(|batch| (&batch.usage, batch.walls.len() as u64)));
    }
    cpu_times.fill(&mut view, launches, confidence);
    if benchmark.claims.syscalls_per_op == Some(0.0) {
        // the system time is that of the measurement itself
        view.system = None;
        // without system calls the CPU clock is the exact user time
        let cpu = positive_values(launches, |launch| launch.batch_cpu_s(work.operations));
        view.user = undisturbed_estimate(&cpu, confidence);
    }

    let contention_of_whole = rules::smt_contention(launches, |l| l.contended_processes);
    view.process =
        undisturbed_estimate(&positive_values(launches, |launch| launch.process_s()), confidence);
    let both = view.real.zip(view.process);
    view.start_share = both.map(|(real, process)| 1.0 - real.value / process.value);
    let user = view.user.and_then(|_| contention.clone());
    let found = [
        (Subject::Real, contention),
        (Subject::User, user),
        (Subject::Process, contention_of_whole),
        (Subject::Real, missing_batches(work, launches, &view)),
        (Subject::Process, start_up(&view)),
    ];
    let note = |(about, found): (Subject, Option<Finding>)| Some(Note::new(found?).about(about));
    (view, found.into_iter().filter_map(note).collect())
}

/// For a command or scenario: the time of its process.
pub(super) fn processes(
    work: &PublishedWork,
    launches: &[&Reading],
    confidence: f64,
) -> (PublishedView, Vec<Note>) {
    let mut view = untimed(work);
    view.values = positive_values(launches, |launch| Some(launch.ns_per_op(false)? / 1e9));
    view.real = undisturbed_estimate(&view.values, confidence);
    view.process = view.real;

    let mut cpu_times = CpuTimes::default();
    for launch in launches {
        let samples = launch.samples.iter();
        cpu_times.launch(samples.map(|sample| (&sample.usage, sample.n)));
    }
    cpu_times.fill(&mut view, launches, confidence);
    (view, Vec::new())
}

/// The precision of one batch is a clock step, even if medians agree to the last digit.
fn no_narrower(estimate: Estimate, launches: &[&Reading]) -> Estimate {
    let step = launches.iter().filter_map(|launch| launch.clock_step_ns());
    let step = step.max().unwrap_or(0) as f64 / 1e9;
    let widen =
        |[low, high]: [f64; 2]| [low.min(estimate.value - step), high.max(estimate.value + step)];
    Estimate { interval: estimate.interval.map(widen), ..estimate }
}

pub(super) fn untimed(work: &PublishedWork) -> PublishedView {
    PublishedView {
        work: work.work.clone(),
        operations: Some(work.operations),
        figure: work.figure,
        ..PublishedView::default()
    }
}

fn undisturbed_estimate(values: &[f64], confidence: f64) -> Option<Estimate> {
    undisturbed::estimate(values, &vec![1.0; values.len()], confidence).map(estimate)
}

fn positive_values(launches: &[&Reading], value: impl Fn(&Reading) -> Option<f64>) -> Vec<f64> {
    launches.iter().filter_map(|launch| value(launch)).filter(|&s| s > 0.0).collect()
}

/// By launch: user ns and system ns, which the kernel accounts in ticks, and repetitions of the work.
#[derive(Default)]
struct CpuTimes(Vec<[f64; 3]>);

impl CpuTimes {
    fn launch<'a>(&mut self, parts: impl Iterator<Item = (&'a Usage, u64)>) {
        let add = |[user, system, n]: [f64; 3], (usage, repetitions): (&Usage, u64)| {
            [user + usage.user as f64, system + usage.system as f64, n + repetitions as f64]
        };
        let sums = parts.fold([0.0; 3], add);
        if sums[2] > 0.0 {
            self.0.push(sums);
        }
    }

    /// User and system seconds per repetition, from enough ticks: by the longest tick of any launch; none without a
    /// known tick.
    fn fill(&self, view: &mut PublishedView, launches: &[&Reading], confidence: f64) {
        let Some(tick) = launches.iter().filter_map(|l| l.tick_ns()).max() else {
            return;
        };
        let charged: f64 = self.0.iter().map(|[user, system, _]| user + system).sum();
        if self.0.is_empty() || charged < limits::TICKS as f64 * tick as f64 {
            return;
        }
        view.user = Some(self.ratio(0, confidence));
        view.system = Some(self.ratio(1, confidence));
    }

    /// Ratio of sums, s: a single launch has too few ticks. The interval is that of a ratio of sums: t times the
    /// deviation of the launches from it (Cochran, Sampling Techniques, 1977, section 6.4), from as many launches as
    /// every other interval.
    fn ratio(&self, which: usize, confidence: f64) -> Estimate {
        let n = self.0.len();
        let charged: f64 = self.0.iter().map(|launch| launch[which]).sum();
        let repetitions: f64 = self.0.iter().map(|launch| launch[2]).sum();
        let ratio = charged / repetitions;
        let squares = self.0.iter().map(|launch| (launch[which] - ratio * launch[2]).powi(2));
        let deviation = (squares.sum::<f64>() * n as f64 / (n as f64 - 1.0)).sqrt() / repetitions;
        let half = quantile::student(confidence, n as f64 - 1.0) * deviation;
        let enough = n >= rules::fewest(confidence);
        Estimate {
            value: ratio / 1e9,
            interval: enough.then(|| [(ratio - half).max(0.0), ratio + half].map(|ns| ns / 1e9)),
        }
    }
}

fn missing_batches(
    work: &PublishedWork,
    launches: &[&Reading],
    view: &PublishedView,
) -> Option<Finding> {
    let without = launches.len() - view.values.len();
    let mut batches = launches.iter().flat_map(|launch| &launch.batches);
    let other = batches.find(|batch| batch.n != work.operations);
    (without > 0).then(|| Finding::NoBatch {
        count: Count::launches(without, launches.len()),
        did: other.map(|batch| batch.n),
        operations: work.operations,
        timed: view.real.is_some(),
    })
}

/// Start-up that is too large a part of the process for its time to count as the work's, or too short to be measured.
fn start_up(view: &PublishedView) -> Option<Finding> {
    let (real_s, process_s) = (view.real?.value, view.process?.value);
    let share = view.start_share?;
    if share > limits::START_SHARE {
        let limit = limits::START_SHARE;
        return Some(Finding::StartUp { limit });
    }
    (share <= 0.0).then_some(Finding::StartUpUnseen { process_s, real_s })
}
