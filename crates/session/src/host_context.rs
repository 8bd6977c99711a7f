//! This host as a run uses it: CPUs, directories, environment, programs; probed once.

use crate::rlimits;
use anyhow::{Context, Result};
use gritstone_catalogue::CustomBenchmarks;
use gritstone_exec::privileged::Permits;
use gritstone_exec::{Journal, Setup, Storage, WorkDirs, safe_parent};
use gritstone_host::{Chosen, Cpu, Host, Root, choose_cpus, filesystem, programs};
use gritstone_model::{Benchmark, Machine, Need, Owner, Plan};
use gritstone_plan::Offer;
use gritstone_runs::custom_catalog;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::{AccessFlags, Pid, access};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub struct HostContext {
    root: Root,
    facts: OnceCell<Host>,
    pub cpu: Cpu,
    /// The measured CPU, its peer, and the CPU of the harness.
    pub chosen: Chosen,
    /// Directory whose file system is measured; absolute.
    pub dir: PathBuf,
    path: String,
}

impl HostContext {
    /// # Errors
    /// When no CPU is allowed to this process.
    pub fn probe(dir: Option<&Path>) -> Result<Self> {
        Self::from_root(Root::live(), dir)
    }

    fn from_root(root: Root, dir: Option<&Path>) -> Result<Self> {
        let cpu = Cpu::read(&root);
        let chosen = choose_cpus(&cpu)
            .context("no CPU is known to be allowed to this process, so nothing can be placed; is /proc mounted?")?;
        let dir = dir.map_or_else(default_dir, Path::to_path_buf);
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        Ok(Self {
            root,
            facts: OnceCell::new(),
            cpu,
            chosen,
            // launches have other working directories, and so may a resumed run
            dir: std::path::absolute(&dir).unwrap_or(dir),
            path: searched(&path),
        })
    }

    /// Read lazily: `list` needs little of it.
    pub fn facts(&self) -> &Host {
        self.facts.get_or_init(|| Host::with_cpu(self.cpu.clone(), &self.root))
    }

    pub fn machine(&self) -> Machine {
        self.facts().machine(&self.dir)
    }

    pub fn owner(&self) -> Owner {
        Owner { uid: nix::unistd::geteuid().as_raw(), machine: self.facts().private_id() }
    }

    /// Installed programs that entries need, by the name of the need.
    fn programs<'a>(
        &self,
        benchmarks: impl IntoIterator<Item = &'a Benchmark>,
    ) -> BTreeMap<String, PathBuf> {
        let needs = benchmarks.into_iter().flat_map(|b| &b.needs);
        // many benchmarks share a need, and PATH is long
        let needs: BTreeMap<(&String, &Vec<String>), &Need> =
            needs.map(|need| ((&need.name, &need.any), need)).collect();
        let found = needs.into_values().filter_map(|need| {
            let path = programs::meeting(need, OsStr::new(&self.path))?;
            Some((need.name.clone(), path))
        });
        found.collect()
    }

    pub fn program(&self, name: &str) -> Option<PathBuf> {
        programs::find(&[name], OsStr::new(&self.path))
    }

    /// What this host offers to a plan. With `again`, programs are compiled here.
    pub fn offer<'a>(
        &self,
        benchmarks: impl IntoIterator<Item = &'a Benchmark> + Clone,
        permits: Permits,
        custom: Option<&CustomBenchmarks>,
        again: bool,
    ) -> Offer {
        let shipped = gritstone_kernels::all().iter();
        let shipped = shipped.map(|program| program.name.to_owned());
        let again = again.then(compilable_programs).into_iter().flatten();
        let refused =
            |benchmark: &Benchmark| Some((benchmark.id.clone(), permits.refusal(benchmark)?));
        Offer {
            refused: benchmarks.clone().into_iter().filter_map(refused).collect(),
            cpu: self.chosen.measured,
            peer: self.chosen.peer,
            cpus: self.chosen.in_turn(&self.cpu),
            programs: self.programs(benchmarks).into_keys().collect(),
            kernels: shipped.chain(again).chain(custom_catalog::programs(custom)).collect(),
        }
    }

    /// The environment of every child: the absolute directories of the user's PATH, and nothing else of the user's. HOME and TMPDIR are the
    /// directory of the launch.
    pub fn environment(&self) -> BTreeMap<String, String> {
        let path = self.path.as_str();
        let variables = [("PATH", path), ("LC_ALL", "C"), ("LANG", "C"), ("TZ", "UTC")];
        variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    /// Pins this process to the CPU of the harness, if there is one, until the guard is dropped.
    pub(crate) fn pin_harness(&self) -> AffinityGuard {
        // an affinity that cannot be restored is not changed
        let Ok(before) = sched_getaffinity(Pid::from_raw(0)) else {
            return AffinityGuard(None);
        };
        let moved = self.chosen.watcher.is_some_and(|cpu| {
            let mut set = CpuSet::new();
            set.set(cpu as usize).is_ok() && sched_setaffinity(Pid::from_raw(0), &set).is_ok()
        });
        AffinityGuard(Some(before).filter(|_| moved))
    }

    /// # Errors
    /// When there is no directory to execute programs from, or to measure files in.
    pub fn setup(
        &self,
        plan: &Plan,
        deadline: Duration,
        stop: Arc<AtomicBool>,
        journal: Option<&Journal>,
    ) -> Result<Setup> {
        rlimits::check_measuring_limits()?;
        // before a run makes a swap file and the like, which are not facts of the machine
        self.facts();
        let work_dirs = WorkDirs::make(&program_dirs(), &self.dir, journal)?;
        let fs = filesystem::containing(&self.dir).ok();
        let unnamed = || "a file system that could not be named".to_owned();
        let storage = Storage {
            cached: !fs.as_ref().is_some_and(|fs| fs.in_memory()),
            name: fs.map_or_else(unnamed, |fs| fs.describe()),
        };
        Ok(Setup {
            work_dirs,
            cpus: self.cpu.allowed.to_string(),
            environment: self.environment(),
            programs: self.programs(&plan.benchmarks),
            storage,
            far_end: None,
            deadline,
            stop,
        })
    }
}

/// All programs, also those that the build of this binary had no compiler for.
fn compilable_programs() -> impl Iterator<Item = String> {
    let sources = gritstone_kernels::sources().iter();
    sources.filter_map(|source| Some(source.path.strip_suffix(".c")?.to_owned()))
}

/// The absolute directories of a `PATH` with names in UTF-8, which are stored with the run.
fn searched(path: &OsStr) -> String {
    let directories = std::env::split_paths(path).filter(|directory| directory.is_absolute());
    let names = directories.filter_map(|directory| Some(directory.to_str()?.to_owned()));
    names.collect::<Vec<_>>().join(":")
}

/// Restores the affinity on drop.
#[derive(Default)]
pub struct AffinityGuard(Option<CpuSet>);

impl AffinityGuard {
    /// Acts with the affinity from before, which child processes inherit.
    pub(crate) fn lifted<T>(&self, act: impl FnOnce() -> T) -> T {
        let pinned = sched_getaffinity(Pid::from_raw(0));
        self.restore();
        let done = act();
        if let (Some(_), Ok(pinned)) = (&self.0, pinned) {
            let _ = sched_setaffinity(Pid::from_raw(0), &pinned);
        }
        done
    }

    fn restore(&self) {
        if let Some(before) = &self.0 {
            let _ = sched_setaffinity(Pid::from_raw(0), before);
        }
    }
}

impl Drop for AffinityGuard {
    fn drop(&mut self) {
        self.restore();
    }
}

/// A directory on a disk: /tmp is in memory on many systems.
fn default_dir() -> PathBuf {
    let candidates = [
        Some(PathBuf::from("/var/tmp")),
        std::env::var_os("TMPDIR").map(PathBuf::from),
        Some(PathBuf::from("/tmp")),
        std::env::var_os("HOME").map(PathBuf::from),
        // an empty root file system
        std::env::current_dir().ok(),
    ];
    candidates.into_iter().flatten().find(|dir| is_usable(dir)).unwrap_or_else(std::env::temp_dir)
}

/// Whether work directories can be made there.
fn is_usable(dir: &Path) -> bool {
    access(dir, AccessFlags::W_OK | AccessFlags::X_OK).is_ok() && safe_parent(dir).is_ok()
}

/// Where programs may be executed from, best first: memory before disk, private before shared.
fn program_dirs() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let home = variable("HOME").map(|home| home.join(".cache"));
    let mut seen = BTreeSet::new();
    [
        variable("XDG_RUNTIME_DIR"),
        variable("TMPDIR"),
        Some(PathBuf::from("/tmp")),
        Some(PathBuf::from("/var/tmp")),
        Some(PathBuf::from("/dev/shm")),
        variable("XDG_CACHE_HOME").or(home),
        std::env::current_dir().ok(),
    ]
    .into_iter()
    .flatten()
    .filter(|dir| dir.is_absolute() && dir.is_dir() && seen.insert(dir.clone()))
    .collect()
}

#[cfg(test)]
mod tests;
