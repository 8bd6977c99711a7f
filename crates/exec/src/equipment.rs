//! What is made once for the rows of a run that ask for it: a control group, a trace, a file system, swap, the mark of a load.

use crate::group::{Confinement, Group, is_confined};
use crate::journal::{Journal, written_down};
use crate::launch::Setup;
use crate::load::{Load, Mark};
use crate::own::Own;
use crate::resource::{Held, Unavailable};
use crate::swap::{Swap, wants_swap};
use crate::trace::{Instance, is_traced};
use crate::volume::{Volume, wants_file_system};
use gritstone_model::Benchmark;
use std::path::{Path, PathBuf};

/// What an executor is to carry out, and where it may make what that asks for.
#[derive(Clone, Debug, Default)]
pub struct Wanted<'a> {
    /// The rows.
    pub rows: Vec<&'a Benchmark>,
    /// Below which file systems and swap files are made.
    pub dir: Option<&'a Path>,
    /// Control groups that hand down the control of memory, the nearest first.
    pub memory: Vec<PathBuf>,
    /// First parts of the identifiers of rows that are the user's own.
    pub families: Vec<String>,
    /// Control groups that hand down the control of the number of processes.
    pub processes: Vec<PathBuf>,
}

impl Wanted<'_> {
    fn any(&self, asks: impl Fn(&Benchmark) -> bool) -> bool {
        self.rows.iter().any(|row| asks(row))
    }

    pub(crate) fn own_rows(&self, setup: &Setup, journal: Option<&mut Journal>) -> Own {
        match self.families.is_empty() {
            true => Own::default(),
            false => Own::bound(&self.families, &self.processes, setup, journal),
        }
    }
}

/// Each, or why there is none.
#[derive(Debug)]
pub(crate) struct Equipment {
    pub confinement: Confinement,
    pub tracing: Result<Instance, Unavailable>,
    pub volume: Result<Held<Volume>, Unavailable>,
    pub swap: Result<Held<Swap>, Unavailable>,
}

/// Makes what is wanted.
pub(crate) fn make(
    setup: &Setup,
    wanted: &Wanted<'_>,
    mut journal: Option<&mut Journal>,
) -> (Equipment, Load) {
    let journal = &mut journal;
    let equipment = Equipment {
        confinement: of(wanted.any(is_confined), journal, |journal| {
            Group::below(&wanted.memory, setup, journal)
        }),
        tracing: of(wanted.any(is_traced), journal, Instance::acquire),
        volume: of(wanted.any(wants_file_system), journal, |journal| {
            Volume::acquire(wanted.dir.ok_or(Unavailable::NotAsked)?, journal)
        }),
        swap: of(wanted.any(wants_swap), journal, |journal| {
            Swap::acquire(wanted.dir.ok_or(Unavailable::NotAsked)?, journal)
        }),
    };
    let loaded = wanted.any(|row| !row.load().is_empty());
    (equipment, Load::with(of(loaded, journal, Mark::acquire)))
}

fn of<T>(
    asked: bool,
    journal: &mut Option<&mut Journal>,
    make: impl FnOnce(&mut Journal) -> Result<T, Unavailable>,
) -> Result<T, Unavailable> {
    match asked {
        true => written_down(journal.as_deref_mut(), make),
        false => Err(Unavailable::NotAsked),
    }
}
