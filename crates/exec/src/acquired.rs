//! Resources that a run acquires once if its benchmarks need them: control groups, a trace, a file system, swap, a
//! background load.

use crate::cgroup::{Confinement, Group, is_confined, is_throttled};
use crate::custom::{Bound, Custom};
use crate::journal::Journal;
use crate::load::{Load, Mark};
use crate::resource::{Held, Unavailable};
use crate::scratch_fs::{Volume, wants_file_system};
use crate::setup::Setup;
use crate::swap::{Swap, wants_swap};
use crate::tracefs::{Instance, is_traced};
use crate::tune::Tuning;
use gritstone_model::Benchmark;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default)]
pub struct Config<'a> {
    pub rows: Vec<&'a Benchmark>,
    /// Parent of file systems and swap files.
    pub dir: Option<&'a Path>,
    /// Control groups that delegate the memory controller, nearest first.
    pub memory: Vec<PathBuf>,
    /// Control groups that delegate the cpu controller.
    pub cpu: Vec<PathBuf>,
    /// Control groups that delegate the pids controller.
    pub processes: Vec<PathBuf>,
    pub custom: Custom,
    pub tuning: Tuning,
    /// Measure reference workloads too.
    pub reference: bool,
}

/// Each resource, or the reason for its absence.
#[derive(Debug)]
pub(crate) struct Equipment {
    pub confinement: Confinement,
    pub throttle: Confinement,
    pub tracing: Result<Instance, Unavailable>,
    pub volume: Result<Held<Volume>, Unavailable>,
    pub swap: Result<Held<Swap>, Unavailable>,
    /// Limits the processes of custom benchmarks, if there are any.
    pub bound: Option<Bound>,
}

pub(crate) fn make(
    setup: &Setup,
    config: &Config<'_>,
    journal: Option<&Journal>,
) -> (Equipment, Load) {
    let wants = |asks: fn(&Benchmark) -> bool| config.rows.iter().any(|row| asks(row));
    let equipment = Equipment {
        confinement: of(wants(is_confined), journal, |journal| {
            Group::below(&config.memory, setup, journal)
        }),
        throttle: of(wants(is_throttled), journal, |journal| {
            Group::below(&config.cpu, setup, journal)
        }),
        tracing: of(wants(is_traced), journal, Instance::acquire),
        volume: of(wants(wants_file_system), journal, |journal| {
            Volume::acquire(config.dir.ok_or(Unavailable::NotAsked)?, journal)
        }),
        swap: of(wants(wants_swap), journal, |journal| {
            Swap::acquire(config.dir.ok_or(Unavailable::NotAsked)?, journal)
        }),
        bound: (!config.custom.families.is_empty()).then(|| Bound::new(setup, config, journal)),
    };
    let loaded = wants(|row| !row.load().is_empty());
    (equipment, Load::with(of(loaded, journal, Mark::acquire)))
}

fn of<T>(
    asked: bool,
    journal: Option<&Journal>,
    make: impl FnOnce(&Journal) -> Result<T, Unavailable>,
) -> Result<T, Unavailable> {
    match asked {
        true => make(journal.ok_or(Unavailable::NoJournal)?),
        false => Err(Unavailable::NotAsked),
    }
}
