//! This machine made ready for the launches of a plan, and measured: what is made or changed for it is undone on drop.

use crate::bounds::Bounds;
use crate::compiler::{self, FLAGS, Toolchain};
use crate::host_context::HostContext;
use crate::local_backend::{End, LocalBackend, Side, plans};
use crate::observer::Observer;
use crate::privileges;
use crate::resumption;
use crate::signals;
use crate::undo;
use anyhow::{Context, Result, anyhow};
use gritstone_catalogue::Own;
use gritstone_exec::rebuild::{Builds, Compiler, RebuildError, Rebuilt};
use gritstone_exec::{Config, Custom, Executor, Journal, Setup, Tuning};
use gritstone_host::{Root, groups_for};
use gritstone_measure::Scheduler;
use gritstone_model::{Benchmark, Compilers, Launch, Plan};
use gritstone_runs::custom_catalog;
use gritstone_runs::result_cache;
use gritstone_store::Store;
use std::collections::{BTreeMap, BTreeSet};

/// The machine, with all that an executor is made of.
pub struct Session<'a> {
    pub host: &'a HostContext,
    /// The catalog of the user's own that the plan may have rows of.
    pub own: Option<&'a Own>,
    bounds: Bounds,
    pub setup: Setup,
    pub custom: Custom,
    /// What every launch gets.
    pub tuning: Tuning,
    /// Dropped last: what is still made or changed then is undone.
    pub journal: Option<Journal>,
}

impl<'a> Session<'a> {
    /// Announces what takes privileges, and makes what the rows of a plan ask for. Rows of the user's own whose programs do not compile
    /// here are taken out, with the reason.
    ///
    /// # Errors
    /// When there is no place for programs or files, or the user asks to stop.
    pub fn new(
        host: &'a HostContext,
        plan: &mut Plan,
        own: Option<&'a Own>,
        bounds: Bounds,
    ) -> Result<Self> {
        let stop = signals::process_stop_flag().context("cannot catch signals")?;
        let journal = undo::begin();
        privileges::announce(plan, own, bounds);
        let setup = host.setup(plan, bounds.deadline, stop, journal.as_ref())?;
        let mut session = Self {
            host,
            own,
            bounds,
            setup,
            custom: Custom::default(),
            tuning: Tuning::default(),
            journal,
        };
        if let Some(own) = custom_catalog::in_plan(own, plan) {
            session.custom = Custom {
                families: own.kept.families.clone(),
                programs: session.programs(own, plan)?,
                bare: own.executables.clone(),
            };
        }
        Ok(session)
    }

    /// The programs of a catalog of the user's own, for the rows of a plan. Rows whose programs do not compile are taken out.
    ///
    /// # Errors
    /// When nothing can be written, or the user asks to stop.
    pub fn programs(&self, own: &Own, plan: &mut Plan) -> Result<BTreeMap<String, Rebuilt>> {
        let mut programs = self.compiled(own, plan)?;
        if !own.executables.is_empty() {
            programs.extend(self.setup.executables(&own.kept.files, &own.executables)?);
        }
        Ok(programs)
    }

    fn compiled(&self, own: &Own, plan: &mut Plan) -> Result<BTreeMap<String, Rebuilt>> {
        let rows = plan.benchmarks.iter();
        let rows = rows
            .filter(|row| custom_catalog::programs_of(row).any(|name| own.compiled.contains(name)));
        let rows: Vec<Benchmark> = rows.cloned().collect();
        if rows.is_empty() {
            return Ok(BTreeMap::new());
        }
        let Some(cc) = compiler::usual(self.host) else {
            let why =
                "Its program is compiled here, and PATH has no C compiler: apt-get install gcc.";
            for row in rows {
                compiler::leave_out(plan, row.id, why);
            }
            return Ok(BTreeMap::new());
        };
        let tools = Toolchain::find(self.host, cc, None)?.with(FLAGS);
        let mut builds = self.build(Some(own), &rows, tools)?;
        // a program of ours that one of theirs uses is as it travels in this binary
        builds.retain(|name, _| own.compiled.contains(name));
        Ok(compiler::accept(plan, builds))
    }

    /// The programs of rows, ours and those of a catalog, compiled again; those that the compiler refuses with what it said.
    ///
    /// # Errors
    /// When the compiler makes nothing at all with these flags, or the user asks to stop.
    pub fn build(
        &self,
        own: Option<&Own>,
        rows: &[Benchmark],
        (c, fortran): (Compiler, Option<Compiler>),
    ) -> Result<Builds> {
        let sources = custom_catalog::sources(own);
        let names: BTreeSet<&String> = rows.iter().flat_map(custom_catalog::programs_of).collect();
        let names = names.into_iter().map(String::as_str);
        let names: Vec<&str> = names
            .filter(|name| compiler::is_compiled(&sources, name))
            .collect();
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
    /// When a compiler is not there, or compiles nothing.
    pub fn rebuild(&self, asked: &Compilers, plan: &mut Plan) -> Result<BTreeMap<String, Rebuilt>> {
        let cc = asked.cc.as_deref().or_else(|| compiler::usual(self.host));
        let cc = cc.unwrap_or(compiler::DEFAULT[0]);
        let toolchain = Toolchain::find(self.host, cc, asked.fc.as_deref())?;
        let (c, mut fortran) = toolchain.with(asked.cflags.as_deref().unwrap_or(FLAGS));
        if let (Some(fortran), Some(flags)) = (&mut fortran, &asked.fflags) {
            fortran.flags = compiler::words(flags);
        }
        let builds = self.build(self.own, &plan.benchmarks, (c, fortran))?;
        Ok(compiler::accept(plan, builds))
    }

    /// An executor for the steps of these plans, with the journal, which is to be dropped after it.
    pub fn executor(self, plans: &[&Plan]) -> (Option<Journal>, Executor) {
        let groups = |controller| match self.bounds.permits.nothing {
            true => vec![],
            false => groups_for(&Root::live(), controller),
        };
        let config = Config {
            benchmarks: (plans.iter().copied())
                .flat_map(privileges::measured)
                .collect(),
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

    /// Measures all sides, each a new run, or the rest of the one with these launches. What was made is gone then.
    ///
    /// # Errors
    /// When launches cannot be made or kept any more.
    pub fn measure(
        self,
        store: &mut Store,
        sides: &[Side],
        earlier: Option<&[Launch]>,
        scheduler: &mut dyn Scheduler,
        observer: &mut dyn Observer,
    ) -> Result<End> {
        let host = self.host;
        let (journal, executor) = self.executor(&plans(sides));
        let launches = earlier.unwrap_or_default();
        let mut sides = sides.to_vec();
        if let (None, Some(first)) = (earlier, sides.first()) {
            // before the first launch, so that all are read by the same
            let floors = result_cache::smt_floors(store, &first.info.machine.id)?;
            for side in &mut sides {
                side.info.settings.smt_floors.clone_from(&floors);
            }
        }
        let mut local = LocalBackend::new(
            &sides,
            executor,
            store,
            resumption::spent(launches),
            observer,
        );
        match earlier {
            None => local.begin(host, journal.as_ref())?,
            Some(_) => resumption::begin(&mut local, launches, journal.as_ref())?,
        }
        local.measure(host, launches, scheduler)
    }
}
