//! Time that belongs to no command: start-up of the shell, and a baseline named by the user.

use super::expand::{Baseline, Commands, Timed};
use crate::ui::exit::Exit;
use anyhow::Result;
use gritstone_exec::{Executor, Variant};
use gritstone_model::{Benchmark, Calibration, Event, Id, Outcome, Sample, UserCommand, Work};
use gritstone_session::local_backend::{Side, failure};
use gritstone_session::trial::command_benchmark;
use gritstone_stats::descriptive;

/// Launches of an overhead; each times up to 20 executions.
const LAUNCHES: usize = 5;

/// Subtracted times.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overhead {
    pub shell: Option<Times>,
    pub baseline: Option<Times>,
}

/// Time and CPU time, ns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub wall: u64,
    user: u64,
    system: u64,
}

impl Times {
    fn with(self, other: Self, add: fn(u64, u64) -> u64) -> Self {
        Self {
            wall: add(self.wall, other.wall),
            user: add(self.user, other.user),
            system: add(self.system, other.system),
        }
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
    let baseline = commands.baseline.as_ref();
    let mut overhead = Overhead::default();
    if commands.all.iter().any(|timed| timed.by_shell) || baseline.is_some_and(|b| b.by_shell) {
        let words = commands.shell.iter().map(String::as_str).chain(["-c", ""]);
        let user = UserCommand {
            // base of relative paths in the shell
            directory: commands.directory.clone(),
            ..UserCommand::default()
        };
        let words = words.map(str::to_owned).collect();
        let id = Id::parse(gritstone_analysis::ab::START_UP)?;
        let nothing = command_benchmark(id, "the shell", words, user);
        overhead.shell = Some(median(executor, &variant, &nothing)?);
    }
    let shell = |by_shell: bool| overhead.shell.filter(|_| by_shell).unwrap_or_default();
    if let Some(Baseline { entry, by_shell, .. }) = baseline {
        let whole = median(executor, &variant, entry)?;
        overhead.baseline = Some(whole.with(shell(*by_shell), u64::saturating_sub));
    }
    for (side, Timed { by_shell, .. }) in sides.iter_mut().zip(&commands.all) {
        let baseline = overhead.baseline.unwrap_or_default();
        let all = shell(*by_shell).with(baseline, u64::saturating_add);
        if let Work::Command(work) = &mut side.plan.benchmarks[0].work
            && let Some(user) = &mut work.user
        {
            let known = |ns: u64| Some(ns).filter(|_| all.wall > 0);
            user.start_up_ns = known(all.wall);
            user.start_up_user_ns = known(all.user);
            user.start_up_system_ns = known(all.system);
        }
    }
    Ok(overhead)
}

fn median(executor: &mut Executor, variant: &Variant, benchmark: &Benchmark) -> Result<Times> {
    let mut samples = vec![];
    for _ in 0..LAUNCHES {
        let launched = executor.launch(variant, benchmark, &[], 1, Calibration::default())?;
        if launched.outcome != Outcome::Measured {
            let (what, why) = (&benchmark.title, failure(&launched.outcome, &launched.events));
            return Err(Exit::NothingMeasured.because(format!("{what} cannot be timed: {why}")));
        }
        samples.extend(launched.events.into_iter().filter_map(|event| match event {
            Event::Sample(sample) => Some(sample),
            _ => None,
        }));
    }
    let median = |ns: fn(&Sample) -> u64| {
        let all: Vec<f64> = samples.iter().map(|sample| ns(sample) as f64).collect();
        descriptive::median(&descriptive::sorted(&all)) as u64
    };
    Ok(Times {
        wall: median(|sample| sample.wall),
        user: median(|sample| sample.usage.user),
        system: median(|sample| sample.usage.system),
    })
}
