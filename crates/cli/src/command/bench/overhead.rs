//! Time that belongs to no command: start-up of the shell, and a baseline named by the user.

use super::expand::Commands;
use crate::ui::exit::Exit;
use anyhow::{Context as _, Result};
use gritstone_exec::{Executor, Variant};
use gritstone_model::{
    Benchmark, Calibration, Event, Id, Outcome, START_UP_ERROR, Sample, UserCommand, Work,
};
use gritstone_session::local_backend::{Side, failure};
use gritstone_session::trial::command_benchmark;
use gritstone_stats::{descriptive, undisturbed};

/// Launches of an overhead, each with as many executions as those of commands have, up to 20.
const LAUNCHES: usize = 12;
const MAX_BATCH: u32 = 20;
/// Confidence of the error.
const CONFIDENCE: f64 = 0.95;

/// Subtracted times.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overhead {
    pub shell: Option<Times>,
    pub baseline: Option<Times>,
}

/// Time with its error, and CPU time, ns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub wall: u64,
    pub error: u64,
    user: u64,
    system: u64,
}

impl Times {
    fn with(self, other: Self, add: fn(u64, u64) -> u64) -> Self {
        Self {
            wall: add(self.wall, other.wall),
            error: (self.error as f64).hypot(other.error as f64) as u64,
            user: add(self.user, other.user),
            system: add(self.system, other.system),
        }
    }

    /// By the estimator of command times.
    fn estimate(launches: &[Vec<Sample>]) -> Option<Self> {
        let launch = |samples: &Vec<Sample>| {
            let times: Vec<_> = samples.iter().map(|sample| (sample.wall as f64, 1.0)).collect();
            undisturbed::weighted_quantile(&times, undisturbed::SAMPLE_QUANTILE)
        };
        let times: Vec<f64> = launches.iter().filter_map(launch).collect();
        let found = undisturbed::estimate(&times, &vec![1.0; times.len()], CONFIDENCE)?;
        let half_width =
            found.interval.map_or(0.0, |[low, high]| (found.value - low).max(high - found.value));
        let median = |ns: fn(&Sample) -> u64| {
            descriptive::median_of(launches.iter().flatten().map(|sample| ns(sample) as f64)) as u64
        };
        Some(Self {
            wall: found.value.round() as u64,
            error: half_width.max(START_UP_ERROR * found.value).round() as u64,
            user: median(|sample| sample.usage.user),
            system: median(|sample| sample.usage.system),
        })
    }
}

/// Measures the overhead, and has it subtracted from each command.
///
/// # Errors
/// When it cannot be measured.
pub fn subtract(
    executor: &mut Executor,
    commands: &Commands,
    sides: &mut [Side],
) -> Result<Overhead> {
    let variant = sides[0].variant.clone();
    let batch = user(&mut sides[0]).and_then(|user| user.batch).map(|batch| batch.min(MAX_BATCH));
    let mut overhead = Overhead::default();
    if let Some(shell) = &commands.shell {
        let words = shell.iter().map(String::as_str).chain(["-c", ""]);
        let user = UserCommand {
            // base of relative paths in the shell
            directory: commands.directory.clone(),
            batch,
            ..UserCommand::default()
        };
        let words = words.map(str::to_owned).collect();
        let id = Id::parse(gritstone_analysis::ab::START_UP)?;
        let nothing = command_benchmark(id, "the shell", words, user);
        overhead.shell = Some(times(executor, &variant, &nothing)?);
    }
    let shell = overhead.shell.unwrap_or_default();
    if let Some(entry) = &commands.baseline {
        let whole = times(executor, &variant, entry)?;
        overhead.baseline = Some(whole.with(shell, u64::saturating_sub));
    }
    let all = shell.with(overhead.baseline.unwrap_or_default(), u64::saturating_add);
    for user in sides.iter_mut().filter_map(user).filter(|_| all.wall > 0) {
        user.start_up_ns = Some(all.wall);
        user.start_up_error_ns = Some(all.error);
        user.start_up_user_ns = Some(all.user);
        user.start_up_system_ns = Some(all.system);
    }
    Ok(overhead)
}

fn user(side: &mut Side) -> Option<&mut UserCommand> {
    match &mut side.plan.benchmarks[0].work {
        Work::Command(work) => work.user.as_mut(),
        _ => None,
    }
}

fn times(executor: &mut Executor, variant: &Variant, benchmark: &Benchmark) -> Result<Times> {
    let mut launches = vec![];
    for _ in 0..LAUNCHES {
        let launched = executor.launch(variant, benchmark, &[], 1, Calibration::default())?;
        if launched.outcome != Outcome::Measured {
            let (what, why) = (&benchmark.title, failure(&launched.outcome, &launched.events));
            return Err(Exit::NothingMeasured.because(format!("{what} cannot be timed: {why}")));
        }
        let samples = launched.events.into_iter().filter_map(|event| match event {
            Event::Sample(sample) => Some(*sample),
            _ => None,
        });
        launches.push(samples.collect());
    }
    Times::estimate(&launches).with_context(|| format!("{} took no time", benchmark.title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scatter_widens_the_error() {
        let launches = |scatter: u64| -> Vec<Vec<Sample>> {
            let wall = |launch| 1_000_000 + scatter * launch;
            let samples =
                |launch| vec![Sample { n: 1, wall: wall(launch), ..Sample::default() }; 8];
            (0..12).map(samples).collect()
        };
        let quiet = Times::estimate(&launches(0)).unwrap();
        assert_eq!((quiet.wall, quiet.error), (1_000_000, 50_000));
        let noisy = Times::estimate(&launches(100_000)).unwrap();
        assert!((1_100_000..1_400_000).contains(&noisy.wall), "{noisy:?}");
        assert!(noisy.error > 200_000, "{noisy:?}");
    }
}
