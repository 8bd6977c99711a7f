//! What a session does to the world when it is real: looks at the machine around each launch, keeps it, tells the user.
//!
//! Must not know: which rows are measured when.

use crate::clock::Clock;
use crate::keep::keep;
use crate::progress::Display;
use crate::session::{Progress, Ways};
use crate::surroundings::{self, Begun};
use anyhow::Result;
use gritstone_exec::Launched;
use gritstone_host::{Root, Watch};
use gritstone_model::{Benchmark, Conditions, Id, Launch, Outcome};
use gritstone_store::Store;
use std::collections::BTreeSet;
use std::time::Duration;

/// The ways of a run that is kept in a store.
pub struct Recorder<'a> {
    start: Clock,
    /// Time that earlier processes spent on this run.
    spent: Duration,
    watch: Watch,
    before: Option<Begun>,
    /// Copies of the launch in progress.
    copies: u32,
    pub display: Display,
    store: &'a mut Store,
    id: &'a str,
    complained: BTreeSet<Id>,
    /// Whether the user knows that the store is locked.
    told: bool,
}

impl<'a> Recorder<'a> {
    /// Keeps launches of the run `id`, on which earlier processes have spent some time.
    pub fn new(store: &'a mut Store, id: &'a str, spent: Duration) -> Self {
        Self {
            start: Clock::start(),
            spent,
            watch: Watch::open(&Root::live()),
            before: None,
            copies: 1,
            display: Display::new(),
            store,
            id,
            complained: BTreeSet::new(),
            told: false,
        }
    }
}

impl Ways for Recorder<'_> {
    fn now(&self) -> Duration {
        self.spent + self.start.elapsed()
    }

    fn before(&mut self, progress: &Progress<'_>) {
        self.display.show(progress);
        self.before = Some(surroundings::begin(
            &mut self.watch,
            progress.benchmark,
            progress.cpus,
        ));
        self.copies = progress.copies;
    }

    fn after(&mut self, benchmark: &Benchmark, launched: &Launched) -> Conditions {
        let Some(before) = self.before.take() else {
            return Conditions::default();
        };
        let mut conditions =
            surroundings::conditions(&mut self.watch, &before, benchmark, launched);
        // copies may wait for each other
        conditions.gap = conditions.gap.filter(|_| self.copies == 1);
        conditions
    }

    fn keep(&mut self, launch: &Launch) -> Result<()> {
        keep(
            self.store,
            self.id,
            launch,
            &mut self.display,
            &mut self.told,
        )?;
        if launch.outcome != Outcome::Measured && self.complained.insert(launch.id.clone()) {
            self.display.remark(&format!(
                "{}: {}: {}",
                launch.id,
                launch.outcome.name().replace('_', " "),
                launch.outcome.why()
            ));
        }
        Ok(())
    }
}
