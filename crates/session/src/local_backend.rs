//! The backend of the measuring loop on this host: applies the settings of sides, launches, watches conditions, stores each launch.

use crate::NothingMeasured;
use crate::host_context::{AffinityGuard, HostContext};
use crate::instructions::{self, Instructions};
use crate::measuring_slot::{self, Slot};
use crate::observer::Observer;
use crate::signals;
use crate::undo;
use anyhow::{Context, Result};
use gritstone_analysis::summary::{self, Reader};
use gritstone_exec::{ExecError, Executor, Journal, Subject, UndoBy, Variant};
use gritstone_host::{Root, Watch};
use gritstone_measure::{Backend, CONFIDENCE, Finished, PILOT, Progress, Scheduler, drive};
use gritstone_model::{
    Benchmark, Calibration, Cause, CommandWork, Event, Id, Launch, Outcome, Param, Plan, Program,
    RunData, RunInfo, Settings, Step, UserCommand, Work,
};
use gritstone_runs::clock;
use gritstone_store::{Appended, Store, StoreError};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::process::Stdio;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// One side of a trial, stored as a run of its own; a plain run has one side.
#[derive(Clone, Debug)]
pub struct Side {
    /// Empty for a plain run.
    pub name: String,
    pub plan: Plan,
    pub variant: Variant,
    /// Shell command before its launches.
    pub setting: Option<String>,
    pub info: RunInfo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Whole,
    Interrupted,
}

pub struct LocalBackend<'a> {
    pub sides: &'a [Side],
    executor: Executor,
    pub store: &'a mut Store,
    observer: &'a mut dyn Observer,
    watch: Watch,
    start: Instant,
    /// Time that interrupted processes spent on this run.
    spent: Duration,
    /// Undoes the settings of all sides.
    pub undo: Option<UndoBy>,
    /// The side whose setting is applied.
    set_for: Option<usize>,
    /// All sides whose settings were applied, for a caller whose backend is gone.
    pub applied: Rc<RefCell<BTreeSet<usize>>>,
    /// Pins the harness while it measures.
    affinity: AffinityGuard,
    reported: BTreeSet<(usize, Id)>,
    /// Instruction counts of sides with different programs, attached to the next launch.
    instructions: BTreeMap<(usize, Id), Option<Instructions>>,
    /// Launches of benchmarks without an interval yet; the first interval of each is shown.
    pilot: BTreeMap<Id, Vec<Launch>>,
    /// Prefix of the execution number in HYPERFINE_ITERATION, for commands of `bench`.
    pub numbered: Option<&'static str>,
    executed: BTreeMap<(usize, &'static str), usize>,
    /// Most numbered executions of a command.
    pub max_executions: Option<u32>,
    /// The lock of the store was reported to the user.
    lock_reported: bool,
    /// Claimed at the first launch.
    pub slot: Option<Slot>,
    /// Another run was reported to the user.
    other_run_reported: bool,
}

/// A random number for names and seeds, from the kernel by way of the standard library.
pub fn random() -> u32 {
    RandomState::new().hash_one(0) as u32
}

pub fn info(host: &HostContext, label: Option<String>, settings: Settings) -> RunInfo {
    let now = jiff::Timestamp::now();
    RunInfo {
        id: gritstone_store::new_id(now, random()),
        label,
        started: clock::rfc3339(now),
        elapsed_s: None,
        gritstone: env!("CARGO_PKG_VERSION").to_owned(),
        machine: host.machine(),
        settings,
    }
}

pub fn plans(sides: &[Side]) -> Vec<&Plan> {
    sides.iter().map(|side| &side.plan).collect()
}

impl<'a> LocalBackend<'a> {
    pub fn new(
        sides: &'a [Side],
        executor: Executor,
        store: &'a mut Store,
        spent: Duration,
        observer: &'a mut dyn Observer,
    ) -> Self {
        Self {
            sides,
            executor,
            store,
            observer,
            watch: Watch::open(&Root::live()),
            start: Instant::now(),
            spent,
            undo: None,
            set_for: None,
            applied: Rc::default(),
            affinity: AffinityGuard::default(),
            reported: BTreeSet::new(),
            instructions: BTreeMap::new(),
            pilot: BTreeMap::new(),
            numbered: None,
            executed: BTreeMap::new(),
            max_executions: None,
            lock_reported: false,
            slot: None,
            other_run_reported: false,
        }
    }

    pub fn programs(&self, side: usize) -> BTreeMap<Id, Program> {
        let Side { variant, plan, .. } = &self.sides[side];
        self.executor.programs(variant, &plan.benchmarks)
    }

    /// Stores the run of each side, without launches.
    ///
    /// # Errors
    /// When one cannot be stored.
    pub fn begin(&mut self, host: &HostContext, journal: Option<&Journal>) -> Result<()> {
        let owner = host.owner();
        for (index, side) in self.sides.iter().enumerate() {
            let programs = self.programs(index);
            undo::measures(journal, &side.info.id);
            let (benchmarks, skips) = (&side.plan.benchmarks, &side.plan.skips);
            let store = &mut self.store;
            store.begin(&owner, &side.info, benchmarks, &programs, skips)?;
        }
        Ok(())
    }

    /// Measures until the scheduler or the user stops; an interrupted run stays open.
    ///
    /// # Errors
    /// When launches cannot be made or stored.
    pub fn measure(
        mut self,
        host: &HostContext,
        earlier: &[Launch],
        scheduler: &mut dyn Scheduler,
    ) -> Result<End> {
        self.affinity = host.pin_harness();
        let first = self.sides.first();
        let reader = first.map_or_else(Reader::default, |side| Reader::new(&side.info));
        let measured = drive(&plans(self.sides), earlier, reader, scheduler, &mut self);
        self.observer.finish();
        let elapsed = self.now().as_secs_f64();
        drop(self.executor);
        let stored = when_unlocked(self.store, Store::flush);
        let ids = || self.sides.iter().map(|side| side.info.id.as_str());
        match measured {
            Ok(()) => stored?,
            Err(error) if is_interruption(&error) => return stored.map(|()| End::Interrupted),
            Err(error) => {
                let stored = stored.map(|()| !self.store.is_in_memory());
                return Err(with_launches(error, stored, &ids().collect::<Vec<_>>().join(" and ")));
            }
        }
        for id in ids() {
            when_unlocked(self.store, |store| store.finish(id, elapsed))?;
        }
        Ok(End::Whole)
    }

    fn set(&mut self, side: usize) -> Result<()> {
        if self.set_for == Some(side) {
            return Ok(());
        }
        self.set_for = None;
        let Side { name, setting, .. } = &self.sides[side];
        if let Some(command) = setting {
            let apply = |stdin| gritstone_exec::shell(command, Path::new("."), stdin);
            let applied = self.affinity.lifted(|| match &self.undo {
                Some(undo) => undo.change(apply),
                None => apply(Stdio::null()),
            });
            applied.map_err(|why| match self.executor.setup().stop.load(Ordering::Relaxed) {
                true => anyhow::Error::from(ExecError::Interrupted),
                false => NothingMeasured(format!(
                    "the setting of side {name} failed: '{command}': {why}"
                ))
                .into(),
            })?;
        }
        self.set_for = Some(side);
        self.applied.borrow_mut().insert(side);
        Ok(())
    }

    /// Counts instructions per operation once, if the programs of the sides differ.
    fn count(&mut self, side: usize, benchmark: &Benchmark) -> Result<()> {
        let Work::Kernel(work) = &benchmark.work else {
            return Ok(());
        };
        let built = |side: &Side| side.variant.builds.contains_key(&work.program);
        let key = (side, benchmark.id.clone());
        let compared = self.sides.len() > 1 && self.sides.iter().any(built);
        if !compared || self.instructions.contains_key(&key) {
            return Ok(());
        }
        let Side { variant, plan, .. } = &self.sides[side];
        let step = plan.steps.iter().find(|step| step.id == benchmark.id);
        let counted = instructions::count(
            &self.executor,
            Subject { variant, benchmark, work, cpus: step.map_or(&[], |step| &step.cpus) },
        )?;
        self.instructions.insert(key, counted.ok());
        Ok(())
    }

    /// Shows the first result of a benchmark that has an interval, in plain runs.
    fn show_result(&mut self, launch: &Launch) {
        let [side] = self.sides else { return };
        // results of a trial are shown at its end
        if !side.name.is_empty() {
            return;
        }
        if !self.observer.shows_results() || launch.copies > 1 {
            return;
        }
        let launches = self.pilot.entry(launch.id.clone()).or_default();
        // shown already, or by an earlier process
        if launches.len() == PILOT {
            return;
        }
        launches.push(launch.clone());
        if launches.len() < PILOT {
            return;
        }
        let entry = side.plan.benchmarks.iter().filter(|b| b.id == launch.id);
        let run = RunData {
            info: side.info.clone(),
            benchmarks: entry.cloned().collect(),
            programs: BTreeMap::new(),
            skips: vec![],
            launches: launches.clone(),
        };
        // only their number is needed from now on
        launches.iter_mut().for_each(|launch| launch.events = vec![]);
        let options = summary::Options { confidence: CONFIDENCE, ..summary::Options::default() };
        let view = summary::summarize(&run, &options);
        if let Some(result) = view.results.first() {
            self.observer.result(result);
        }
    }

    /// The process of another run; the first is reported.
    fn other_run(&mut self) -> Option<Param> {
        let process = self.slot.get_or_insert_with(Slot::claim).other()?;
        if !std::mem::replace(&mut self.other_run_reported, true) {
            self.observer.message(&measuring_slot::warning(process));
        }
        Some(Param::OtherRun(process))
    }

    /// Reports a failed benchmark once; a failed user command ends the trial, since a failure is not a fast execution.
    fn report_failure(&mut self, side: usize, launch: &Launch) -> Result<()> {
        let Side { name, plan, .. } = &self.sides[side];
        let suffix = match name.is_empty() {
            true => String::new(),
            false => format!(" of side {name}"),
        };
        let outcome = &launch.outcome;
        let mut entries = plan.benchmarks.iter();
        let entry = entries.find(|entry| entry.id == launch.id);
        if let Some((entry, user)) = entry.and_then(|entry| Some((entry, user_command(entry)?))) {
            let why = failure(outcome, &launch.events);
            let why = with_hook_named(why, user);
            return Err(NothingMeasured(command_failure(&entry.title, &why, launch)).into());
        }
        let how = outcome.name().replace('_', " ");
        let what = format!("{}{suffix}: {how}: {}", launch.id, outcome.why());
        if self.reported.insert((side, launch.id.clone())) {
            self.observer.message(&what);
        }
        Ok(())
    }
}

impl Backend for LocalBackend<'_> {
    type Error = anyhow::Error;

    fn now(&self) -> Duration {
        self.spent + self.start.elapsed()
    }

    fn prepare(&mut self, side: usize, benchmark: &Benchmark) -> Result<()> {
        self.set(side)?;
        self.count(side, benchmark)?;
        Ok(self.executor.start_load(&self.sides[side].variant, benchmark)?)
    }

    fn show(&mut self, progress: &Progress<'_>) {
        self.observer.progress(progress);
    }

    fn launch(
        &mut self,
        side: usize,
        benchmark: &Benchmark,
        step: &Step,
        known: Calibration,
    ) -> Result<Finished> {
        let other_run = self.other_run();
        let before = (self.watch).begin(benchmark, &step.cpus, std::process::id());
        let mut variant = Cow::Borrowed(&self.sides[side].variant);
        let mut benchmark = Cow::Borrowed(benchmark);
        if let Some(prefix) = self.numbered {
            let done = *self.executed.get(&(side, prefix)).unwrap_or(&0);
            if let Some(max) = self.max_executions {
                let left = max.saturating_sub(u32::try_from(done).unwrap_or(u32::MAX));
                limit_batch(benchmark.to_mut(), left.max(1));
            }
            let number = format!("{prefix}{done}");
            let environment = &mut variant.to_mut().environment;
            environment.insert("HYPERFINE_ITERATION".to_owned(), number);
        }
        let mut launched =
            (self.executor).launch(&variant, &benchmark, &step.cpus, step.copies, known)?;
        if let Some(prefix) = self.numbered {
            let executed = launched.events.iter().filter(|event| is_execution(event));
            *self.executed.entry((side, prefix)).or_default() += executed.count();
        }
        let counted = self.instructions.get_mut(&(side, benchmark.id.clone()));
        if launched.outcome == Outcome::Measured && step.copies == 1 {
            let event = counted.and_then(Option::take).map(Instructions::event);
            launched.events.extend(event);
        }
        if let Some(other) = other_run {
            measuring_slot::record(&mut launched.events, other);
        }
        Ok(Finished {
            conditions: self.watch.end(&before, launched.cpu),
            outcome: launched.outcome,
            events: launched.events,
        })
    }

    fn store(&mut self, side: usize, launch: &Launch) -> Result<()> {
        let appended = self.store.append(&self.sides[side].info.id, launch)?;
        if appended != Appended::Stored && !std::mem::replace(&mut self.lock_reported, true) {
            let store = self.store.path().display();
            self.observer.message(&format!(
                "{store} is locked by another process, a backup perhaps: launches are kept in memory until it is free"
            ));
        }
        match launch.outcome {
            Outcome::Measured => {
                self.show_result(launch);
                Ok(())
            }
            _ => self.report_failure(side, launch),
        }
    }
}

fn is_interruption(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(ExecError::Interrupted))
}

fn user_command(benchmark: &Benchmark) -> Option<&UserCommand> {
    match &benchmark.work {
        Work::Command(CommandWork { user, .. }) => user.as_ref(),
        _ => None,
    }
}

/// Why a command has no time, without the name of its benchmark.
pub fn failure<'a>(outcome: &'a Outcome, events: &'a [Event]) -> &'a str {
    match events.last() {
        Some(Event::Fail { errno: 0, why, .. }) => why,
        _ => outcome.why(),
    }
}

/// A failed hook is named by its option and its text: `--prepare 'false' failed: exit status 1`.
fn with_hook_named(why: &str, user: &UserCommand) -> String {
    let (before, after) = (&user.prepare, &user.cleanup);
    let hooks = [
        ("the command before each execution", "--prepare", before),
        ("the command after each execution", "--conclude", after),
    ];
    let named = hooks.into_iter().find_map(|(what, option, command)| {
        let rest = why.strip_prefix(what)?;
        let failed = if rest.starts_with(':') { " failed" } else { "" };
        Some(format!("{option} '{}'{failed}{rest}", command.as_deref()?))
    });
    named.unwrap_or_else(|| why.to_owned())
}

/// Why a user command has no time, and what to do.
fn command_failure(command: &str, why: &str, launch: &Launch) -> String {
    let remedy = match launch.events.last().and_then(Event::cause) {
        Some(Cause::Status) => ". Use -i to time it anyway",
        Some(Cause::Background) => ". Use --allow-background to time it anyway",
        Some(Cause::Output) => {
            ". Send it elsewhere: '> FILE' in the command, or `gritstone bench --output null`"
        }
        _ => "",
    };
    // a command that cannot be started is named by the error
    let named = why.strip_prefix(command).filter(|rest| rest.starts_with(' '));
    format!("{command}{}{remedy}", named.map_or_else(|| format!(": {why}"), str::to_owned))
}

fn limit_batch(benchmark: &mut Benchmark, max: u32) {
    if let Work::Command(work) = &mut benchmark.work
        && let Some(user) = &mut work.user
    {
        user.batch = Some(user.batch.map_or(max, |batch| batch.min(max)));
    }
}

/// A user command reports its memory after each execution.
fn is_execution(event: &Event) -> bool {
    matches!(event, Event::Param(Param::PeakMemory(_)))
}

/// The error that ended the measuring of `runs`, and whether their finished launches are stored; false for those in memory.
fn with_launches(error: anyhow::Error, stored: Result<bool>, runs: &str) -> anyhow::Error {
    let what = match stored {
        // such an error says itself what is lost
        Err(_) if error.is::<StoreError>() => format!("run {runs} was interrupted"),
        Err(lost) => format!("run {runs} was interrupted, and not stored as a whole: {lost:#}"),
        Ok(on_disk) if error.is::<NothingMeasured>() || !on_disk => return error,
        Ok(_) => format!("run {runs} was interrupted; finished launches are stored"),
    };
    error.context(what)
}

const MAX_LOCK_WAIT: Duration = Duration::from_secs(600);

/// Retries while another process locks the store; a new signal ends the wait.
///
/// # Errors
/// Error of the store, with the number of lost launches.
pub fn when_unlocked(
    store: &mut Store,
    mut act: impl FnMut(&mut Store) -> Result<(), StoreError>,
) -> Result<()> {
    let start = Instant::now();
    let mut done = act(store);
    if let Err(StoreError::Locked(path)) = &done {
        log::warn!(
            "{path} is locked by another process ('fuser {path}' says which): waiting until it is free; {} launches are in memory, and lost if you stop this now",
            store.waiting(),
            path = path.display()
        );
        // the signal that ended the run does not end the wait: a new one does
        let stop = signals::stop_flag().context("cannot catch signals")?;
        while matches!(done, Err(StoreError::Locked(_)))
            && start.elapsed() < MAX_LOCK_WAIT
            && !stop.load(Ordering::Relaxed)
        {
            done = act(store);
        }
    }
    match (done, store.waiting()) {
        (Err(error), lost @ 1..) => Err(error).with_context(|| format!("{lost} launches are lost")),
        (done, _) => Ok(done?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_launches_are_named() {
        let failed = || anyhow::Error::from(NothingMeasured("a failed".to_owned()));
        let text = |error, stored| format!("{:#}", with_launches(error, stored, "r"));
        let full = || StoreError::Full("s.db".into());
        assert_eq!(text(failed(), Ok(true)), "a failed");
        let lost = with_launches(failed(), Err(full().into()), "r");
        assert!(lost.is::<NothingMeasured>() && format!("{lost:#}").contains("s.db"));
        let stored = text(ExecError::NoLoad("x".to_owned()).into(), Ok(true));
        assert!(stored.contains("finished launches are stored: The background"), "{stored}");
        let lost = text(full().into(), Err(full().into()));
        assert!(!lost.contains("are stored") && lost.matches("s.db").count() == 1, "{lost}");
    }
}
