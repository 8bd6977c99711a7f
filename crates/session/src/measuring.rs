//! Prepares this host for a plan, and measures it; changes are undone on drop.

use crate::bounds::Bounds;
use crate::compiler::{self, FLAGS, Toolchain};
use crate::host_context::HostContext;
use crate::local_backend::{End, LocalBackend, Side, plans};
use crate::measuring_slot::Slot;
use crate::observer::Observer;
use crate::privileges;
use crate::resumption;
use crate::signals;
use crate::undo;
use anyhow::{Context, Result, anyhow};
use gritstone_catalogue::CustomBenchmarks;
use gritstone_exec::rebuild::{Builds, Compiler, RebuildError, Rebuilt};
use gritstone_exec::{Config, Custom, Executor, Journal, Setup, Tuning, UndoBy};
use gritstone_host::{Root, groups_for};
use gritstone_measure::Scheduler;
use gritstone_model::{Benchmark, Compilers, Launch, Plan};
use gritstone_runs::custom_catalog;
use gritstone_runs::result_cache::MachineProbes;
use gritstone_store::Store;
use std::collections::{BTreeMap, BTreeSet};

pub struct Session<'a> {
    pub host: &'a HostContext,
    pub catalog: Option<&'a CustomBenchmarks>,
    bounds: Bounds,
    pub setup: Setup,
    pub custom: Custom,
    pub tuning: Tuning,
    /// The slot of this machine, if it was waited for.
    pub slot: Option<Slot>,
    /// Undoes the settings of sides.
    pub undo: Option<UndoBy>,
    /// Extremes of this machine's probes in earlier runs.
    pub probes: MachineProbes,
    /// Dropped last: undoes what is left.
    pub journal: Option<Journal>,
}

impl<'a> Session<'a> {
    /// Announces privileged actions, and compiles custom programs. Custom benchmarks that do not compile leave the plan, with the reason.
    ///
    /// # Errors
    /// When there is no directory for programs or files, or the user interrupts.
    pub fn new(
        host: &'a HostContext,
        plan: &mut Plan,
        custom: Option<&'a CustomBenchmarks>,
        bounds: Bounds,
    ) -> Result<Self> {
        let stop = signals::process_stop_flag().context("cannot catch signals")?;
        let slot = bounds.wait.then(|| Slot::wait(&stop)).transpose()?;
        let journal = undo::begin();
        privileges::announce(plan, custom, bounds);
        let setup = host.setup(plan, bounds.deadline, stop, journal.as_ref())?;
        let mut session = Self {
            host,
            catalog: custom,
            bounds,
            setup,
            custom: Custom::default(),
            tuning: Tuning::default(),
            slot,
            undo: None,
            probes: MachineProbes::default(),
            journal,
        };
        if let Some(custom) = custom_catalog::catalog_in_plan(custom, plan) {
            session.custom = Custom {
                families: custom.stored.families.clone(),
                programs: session.programs(custom, plan)?,
                bare: custom.executables.clone(),
            };
        }
        Ok(session)
    }

    /// # Errors
    /// When nothing can be written, or the user interrupts.
    pub fn programs(
        &self,
        custom: &CustomBenchmarks,
        plan: &mut Plan,
    ) -> Result<BTreeMap<String, Rebuilt>> {
        let mut programs = self.compiled(custom, plan)?;
        if !custom.executables.is_empty() {
            programs.extend(self.setup.executables(&custom.stored.files, &custom.executables)?);
        }
        Ok(programs)
    }

    fn compiled(
        &self,
        custom: &CustomBenchmarks,
        plan: &mut Plan,
    ) -> Result<BTreeMap<String, Rebuilt>> {
        let benchmarks = plan.benchmarks.iter();
        let benchmarks = benchmarks.filter(|benchmark| {
            custom_catalog::programs_of(benchmark).any(|name| custom.compiled.contains(name))
        });
        let benchmarks: Vec<Benchmark> = benchmarks.cloned().collect();
        if benchmarks.is_empty() {
            return Ok(BTreeMap::new());
        }
        let Some(cc) = compiler::default_cc(self.host) else {
            let why =
                "Its program is compiled here, and PATH has no C compiler: apt-get install gcc.";
            for benchmark in benchmarks {
                compiler::skip(plan, benchmark.id, why);
            }
            return Ok(BTreeMap::new());
        };
        let tools = Toolchain::find(self.host, cc, None)?.with(FLAGS)?;
        let mut builds = self.build(Some(custom), &benchmarks, tools)?;
        // programs of Gritstone are those in this binary
        builds.retain(|name, _| custom.compiled.contains(name));
        Ok(compiler::accept(plan, builds))
    }

    /// Compiles the programs of benchmarks; a refused one has the message of the compiler.
    ///
    /// # Errors
    /// When the compiler refuses every program with these flags, or the user interrupts.
    pub fn build(
        &self,
        custom: Option<&CustomBenchmarks>,
        benchmarks: &[Benchmark],
        (c, fortran): (Compiler, Option<Compiler>),
    ) -> Result<Builds> {
        let sources = custom_catalog::sources(custom);
        let names: BTreeSet<&String> =
            benchmarks.iter().flat_map(custom_catalog::programs_of).collect();
        let names = names.into_iter().map(String::as_str);
        let names: Vec<&str> = names.filter(|name| compiler::is_compiled(&sources, name)).collect();
        let workshop = self.setup.workshop(c, fortran)?;
        workshop.build(&sources, &names).map_err(|why| match why {
            RebuildError::Refused(why) => {
                anyhow!("nothing can be compiled with these flags: {why}")
            }
            RebuildError::Exec(why) => why.into(),
        })
    }

    /// Compiles the workloads of a plan again; benchmarks whose programs do not compile leave the plan.
    ///
    /// # Errors
    /// When a compiler is missing, or compiles nothing.
    pub fn rebuild(
        &self,
        compilers: &Compilers,
        plan: &mut Plan,
    ) -> Result<BTreeMap<String, Rebuilt>> {
        let cc = compilers.cc.as_deref().or_else(|| compiler::default_cc(self.host));
        let cc = cc.unwrap_or(compiler::DEFAULT[0]);
        let toolchain = Toolchain::find(self.host, cc, compilers.fc.as_deref())?;
        let (c, mut fortran) = toolchain.with(compilers.cflags.as_deref().unwrap_or(FLAGS))?;
        if let (Some(fortran), Some(flags)) = (&mut fortran, &compilers.fflags) {
            fortran.flags = compiler::words(flags)?;
        }
        let builds = self.build(self.catalog, &plan.benchmarks, (c, fortran))?;
        Ok(compiler::accept(plan, builds))
    }

    /// The caller drops the journal after the executor.
    pub fn executor(self, plans: &[&Plan]) -> (Option<Journal>, Executor) {
        let groups = |controller| match self.bounds.permits.nothing {
            true => vec![],
            false => groups_for(&Root::live(), controller),
        };
        let config = Config {
            benchmarks: (plans.iter().copied()).flat_map(privileges::measured).collect(),
            dir: Some(&self.host.dir),
            memory: groups("memory"),
            cpu: groups("cpu"),
            processes: groups("pids"),
            custom: self.custom,
            tuning: self.tuning,
            reference: self.bounds.reference,
        };
        let executor = Executor::new(self.setup, config, self.journal.as_ref());
        (self.journal, executor)
    }

    /// Measures all sides, each a new run; or resumes the one with `earlier` launches.
    ///
    /// # Errors
    /// When launches cannot be made or stored.
    pub fn measure(
        mut self,
        store: &mut Store,
        sides: &[Side],
        earlier: Option<&[Launch]>,
        scheduler: &mut dyn Scheduler,
        observer: &mut dyn Observer,
    ) -> Result<End> {
        let host = self.host;
        let (undo, slot) = (self.undo.take(), self.slot.take());
        let probes = std::mem::take(&mut self.probes);
        let (journal, executor) = self.executor(&plans(sides));
        let launches = earlier.unwrap_or_default();
        let mut sides = sides.to_vec();
        if earlier.is_none() {
            // before the first launch: one floor for all launches
            for side in &mut sides {
                side.info.settings.smt_floors.clone_from(&probes.smt_floors);
                side.info.settings.reference_ghz = probes.reference_ghz;
            }
        }
        let mut backend =
            LocalBackend::new(&sides, executor, store, resumption::spent(launches), observer);
        backend.undo = undo;
        backend.slot = slot;
        match earlier {
            None => backend.begin(host, journal.as_ref())?,
            Some(_) => resumption::begin(&mut backend, launches, journal.as_ref())?,
        }
        backend.measure(host, launches, scheduler)
    }
}
