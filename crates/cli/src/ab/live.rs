//! What a trial does to the world when it is real: sets the machine, the environment and the programs of a side, launches, looks at
//! the conditions, keeps.
//!
//! Must not know: when it is enough, what the times say.

use super::sides::{COMMAND, Side};
use super::trial::Ways;
use super::words;
use crate::clock::Clock;
use crate::failure::{Exit, Failure};
use crate::keep::keep;
use crate::progress::Display;
use crate::surroundings;
use anyhow::{Context, Result, anyhow};
use gritstone_exec::rebuild::Rebuilt;
use gritstone_exec::{ExecError, Execute, Executor};
use gritstone_host::Watch;
use gritstone_model::{Benchmark, Launch, Outcome, RunData, Step};
use gritstone_stats::ab::Reader;
use gritstone_stats::looks;
use gritstone_stats::times::{Timed, Times};
use gritstone_store::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How often the program is launched that does nothing.
const START_UPS: u32 = 10;

/// A side, ready to be launched.
pub struct Ready {
    pub side: Side,
    /// The whole environment of its children.
    pub environment: BTreeMap<String, String>,
    /// What is used instead of the programs in this binary.
    pub builds: BTreeMap<String, Rebuilt>,
    /// Its run so far.
    pub run: RunData,
}

/// The real world.
pub struct Live<'a> {
    pub start: Clock,
    pub budget: Duration,
    pub margin: f64,
    pub watch: Watch,
    pub display: Display,
    pub store: &'a mut Store,
    pub executor: Executor,
    pub sides: Vec<Ready>,
    /// One for each row, of all sides.
    pub steps: Vec<Step>,
    /// The program that does nothing, where commands are timed.
    pub start_up: Option<Benchmark>,
    /// The side that the machine is set for.
    pub set_for: Option<usize>,
    pub complained: BTreeSet<String>,
    /// Whether the user knows that the store is locked.
    pub told: bool,
    /// What was seen of the cores so far.
    pub reader: Reader,
}

impl Live<'_> {
    /// Sets everything for a side.
    pub fn set(&mut self, side: usize) -> Result<()> {
        if self.set_for == Some(side) {
            return Ok(());
        }
        self.set_for = None;
        let ready = &mut self.sides[side];
        if let Some(command) = &ready.side.setting {
            shell(command)
                .with_context(|| format!("the setting of side {} was not made", ready.side.name))?;
        }
        self.executor.use_environment(ready.environment.clone());
        self.executor.use_builds(ready.builds.clone());
        self.set_for = Some(side);
        Ok(())
    }

    /// One launch of a row on the side that is set, kept.
    fn one(
        &mut self,
        benchmark: &Benchmark,
        cpus: &[u32],
        side: usize,
        round: u32,
    ) -> Result<Option<Timed>> {
        let start = self.start.elapsed();
        self.executor.settle(benchmark)?;
        let before = surroundings::begin(&mut self.watch, benchmark, cpus);
        let launched = self.executor.launch(benchmark, cpus)?;
        let conditions = surroundings::conditions(&mut self.watch, &before, benchmark, &launched);
        let launch = Launch {
            id: benchmark.id.clone(),
            round,
            start: u64::try_from(start.as_nanos()).unwrap_or(u64::MAX),
            cpus: cpus.to_vec(),
            copies: 1,
            outcome: launched.outcome,
            events: launched.events,
            conditions,
        };
        let run = &mut self.sides[side].run;
        keep(
            self.store,
            &run.info.id,
            &launch,
            &mut self.display,
            &mut self.told,
        )?;
        let timed = self.reader.timed(benchmark, &launch);
        if launch.outcome != Outcome::Measured {
            self.complain(benchmark, side, &launch.outcome)?;
        }
        self.sides[side].run.launches.push(launch);
        Ok(timed)
    }

    /// A row that fails is told once; a command that fails ends the trial, for it is no fast one.
    fn complain(&mut self, benchmark: &Benchmark, side: usize, outcome: &Outcome) -> Result<()> {
        let name = &self.sides[side].side.name;
        let what = format!(
            "{} of side {name}: {}: {}",
            benchmark.id,
            outcome.name().replace('_', " "),
            outcome.why()
        );
        if benchmark.id.family() == COMMAND {
            let mends = match outcome.why().contains("ended with status") {
                true => "; --ignore-failure times it all the same",
                false => "",
            };
            return Err(Failure {
                exit: Exit::NothingMeasured,
                what: format!("{what}{mends}"),
            }
            .into());
        }
        if self.complained.insert(format!("{} {name}", benchmark.id)) {
            self.display.remark(&what);
        }
        Ok(())
    }

    fn benchmark(&self, row: usize, side: usize) -> Option<Benchmark> {
        let id = &self.steps[row].id;
        let benchmarks = &self.sides[side].run.benchmarks;
        benchmarks
            .iter()
            .find(|benchmark| benchmark.id == *id)
            .cloned()
    }
}

impl Ways for Live<'_> {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn launch(&mut self, row: usize, side: usize, round: u32) -> Result<Option<Timed>> {
        self.set(side)?;
        let benchmark = self
            .benchmark(row, side)
            .context("a row is not in the run of its side")?;
        let cpus = self.steps[row].cpus.clone();
        let timed = self.one(&benchmark, &cpus, side, round)?;
        if (row, side) == (0, 0)
            && round < START_UPS
            && let Some(nothing) = self.start_up.clone()
        {
            self.one(&nothing, &[], side, round)?;
        }
        Ok(timed)
    }

    fn standing(&mut self, row: usize, times: &Times) {
        let judged = looks::judge(std::slice::from_ref(times), self.margin, false);
        let text = words::standing(times, &judged[0], self.margin);
        let row = match self.steps.len() {
            1 => String::new(),
            _ => format!(", {}", self.steps[row].id),
        };
        self.display
            .standing(self.start.elapsed(), self.budget, &text, &row);
    }
}

/// Gives a command that sets the machine to the shell.
fn shell(command: &str) -> Result<()> {
    let here = std::env::current_dir().context("cannot tell the directory")?;
    gritstone_exec::shell(command, &here).map_err(|why| anyhow!("'{command}' failed: {why}"))
}

/// Whether the user asked to stop.
pub fn interrupted(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(ExecError::Interrupted))
}
