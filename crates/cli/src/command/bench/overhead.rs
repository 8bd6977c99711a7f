//! Time that is no command's: the start of its shell, and a baseline that the user names.

use super::expand::{Baseline, Commands, Timed};
use crate::ui::exit::Exit;
use anyhow::Result;
use gritstone_exec::{Executor, Variant};
use gritstone_model::{Benchmark, Calibration, Event, Id, Outcome, UserCommand, Work};
use gritstone_session::local_backend::Side;
use gritstone_session::trial::command_benchmark;
use gritstone_stats::descriptive;

/// Launches of an overhead; each times up to 20 executions.
const LAUNCHES: usize = 5;

/// Subtracted times, ns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overhead {
    pub shell: Option<u64>,
    pub baseline: Option<u64>,
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
            // where a relative path of the shell leads
            directory: commands.directory.clone(),
            ..UserCommand::default()
        };
        let words = words.map(str::to_owned).collect();
        let id = Id::parse(gritstone_analysis::ab::START_UP)?;
        let nothing = command_benchmark(id, "the shell", words, user);
        overhead.shell = Some(median_ns(executor, &variant, &nothing)?);
    }
    let shell = |by_shell: bool| overhead.shell.filter(|_| by_shell).unwrap_or(0);
    if let Some(Baseline {
        entry, by_shell, ..
    }) = baseline
    {
        let ns = median_ns(executor, &variant, entry)?;
        overhead.baseline = Some(ns.saturating_sub(shell(*by_shell)));
    }
    for (side, Timed { by_shell, .. }) in sides.iter_mut().zip(&commands.all) {
        let ns = shell(*by_shell) + overhead.baseline.unwrap_or(0);
        if let Work::Command(work) = &mut side.plan.benchmarks[0].work
            && let Some(user) = &mut work.user
        {
            user.start_up_ns = Some(ns).filter(|ns| *ns > 0);
        }
    }
    Ok(overhead)
}

fn median_ns(executor: &mut Executor, variant: &Variant, benchmark: &Benchmark) -> Result<u64> {
    let mut walls = vec![];
    for _ in 0..LAUNCHES {
        let launched = executor.launch(variant, benchmark, &[], 1, Calibration::default())?;
        if launched.outcome != Outcome::Measured {
            let (what, why) = (&benchmark.title, launched.outcome.why());
            return Err(Exit::NothingMeasured.because(format!("{what} cannot be timed: {why}")));
        }
        walls.extend(launched.events.iter().filter_map(|event| match event {
            Event::Sample(sample) => Some(sample.wall as f64),
            _ => None,
        }));
    }
    Ok(descriptive::median(&descriptive::sorted(&walls)) as u64)
}
