//! Resources that a run acquires once if its benchmarks need them: control groups, a trace, a file system, swap, a
//! background load.

use crate::cgroup::{Confinement, Group, is_confined, is_throttled};
use crate::custom::{Bound, Custom};
use crate::journal::Journal;
use crate::load::{Load, LoadTag};
use crate::resource::{Held, Unavailable};
use crate::scratch_fs::{Volume, needs_scratch_fs};
use crate::setup::{Setup, join};
use crate::swap::{Swap, needs_swap};
use crate::tracefs::{Instance, is_traced};
use crate::tune::Tuning;
use gritstone_model::Benchmark;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default)]
pub struct Config<'a> {
    pub benchmarks: Vec<&'a Benchmark>,
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
pub(crate) struct Acquired {
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
) -> (Acquired, Load) {
    let wants =
        |needs: fn(&Benchmark) -> bool| config.benchmarks.iter().any(|benchmark| needs(benchmark));
    let acquired = Acquired {
        confinement: acquire_if(wants(is_confined), journal, |journal| {
            Group::below(&config.memory, join(setup), journal)
        }),
        throttle: acquire_if(wants(is_throttled), journal, |journal| {
            Group::below(&config.cpu, join(setup), journal)
        }),
        tracing: acquire_if(wants(is_traced), journal, Instance::acquire),
        volume: acquire_if(wants(needs_scratch_fs), journal, |journal| {
            Volume::acquire(config.dir.ok_or(Unavailable::NotAsked)?, journal)
        }),
        swap: acquire_if(wants(needs_swap), journal, |journal| {
            Swap::acquire(config.dir.ok_or(Unavailable::NotAsked)?, journal)
        }),
        bound: (!config.custom.families.is_empty())
            .then(|| Bound::new(&config.processes, setup, journal)),
    };
    let loaded = wants(|benchmark| !benchmark.load().is_empty());
    (acquired, Load::new(acquire_if(loaded, journal, LoadTag::acquire)))
}

fn acquire_if<T>(
    asked: bool,
    journal: Option<&Journal>,
    make: impl FnOnce(&Journal) -> Result<T, Unavailable>,
) -> Result<T, Unavailable> {
    match asked {
        true => make(journal.ok_or(Unavailable::NoJournal)?),
        false => Err(Unavailable::NotAsked),
    }
}
