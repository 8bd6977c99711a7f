//! Where and with what a run is measured: CPUs, directories, environment, programs; asked of the host once.

use crate::rlimits;
use anyhow::{Context, Result};
use gritstone_catalogue::Own;
use gritstone_exec::privileged::Permits;
use gritstone_exec::{Journal, Setup, Storage, WorkDirs};
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

/// The machine, as far as a run needs it.
pub struct HostContext {
    root: Root,
    facts: OnceCell<Host>,
    /// Its processors.
    pub cpu: Cpu,
    /// The CPU that is measured, its peer, and where the watcher goes.
    pub chosen: Chosen,
    /// Directory in whose file system files are measured; absolute.
    pub dir: PathBuf,
    path: String,
}

impl HostContext {
    /// Asks the host.
    ///
    /// # Errors
    /// When no CPU is allowed to us, or there is no directory for files.
    pub fn probe(dir: Option<&Path>) -> Result<Self> {
        Self::from_root(Root::live(), dir)
    }

    /// A machine that is recorded, perhaps.
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
            // processes stand elsewhere, and so may whoever goes on with the run
            dir: std::path::absolute(&dir).unwrap_or(dir),
            path: searched(&path),
        })
    }

    /// What this machine is, read when it is first asked for: to list what would run takes little of it.
    pub fn facts(&self) -> &Host {
        self.facts
            .get_or_init(|| Host::with_cpu(self.cpu.clone(), &self.root))
    }

    /// The machine as it is stored with a run.
    pub fn machine(&self) -> Machine {
        self.facts().machine(&self.dir)
    }

    /// Who begins a run here.
    pub fn owner(&self) -> Owner {
        Owner {
            uid: nix::unistd::geteuid().as_raw(),
            machine: self.facts().private_id(),
        }
    }

    /// The programs that entries need and that are here, by the need's name.
    pub fn programs<'a>(
        &self,
        benchmarks: impl IntoIterator<Item = &'a Benchmark>,
    ) -> BTreeMap<String, PathBuf> {
        let needs = benchmarks.into_iter().flat_map(|b| &b.needs);
        // many rows need the same, and PATH is long
        let needs: BTreeMap<(&String, &Vec<String>), &Need> =
            needs.map(|need| ((&need.name, &need.any), need)).collect();
        let found = needs.into_values().filter_map(|need| {
            let path = programs::meeting(need, OsStr::new(&self.path))?;
            Some((need.name.clone(), path))
        });
        found.collect()
    }

    /// A program by its name.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        programs::find(&[name], OsStr::new(&self.path))
    }

    /// What this host offers to a plan: the programs in this binary, those of a catalog of the user's own, and where programs are
    /// compiled again all that can be.
    pub fn offer<'a>(
        &self,
        benchmarks: impl IntoIterator<Item = &'a Benchmark> + Clone,
        permits: Permits,
        own: Option<&Own>,
        again: bool,
    ) -> Offer {
        let shipped = gritstone_kernels::all().iter();
        let shipped = shipped.map(|program| program.name.to_owned());
        let again = again.then(compilable_programs).into_iter().flatten();
        let refused = |row: &Benchmark| Some((row.id.clone(), permits.refusal(row)?));
        Offer {
            refused: benchmarks.clone().into_iter().filter_map(refused).collect(),
            cpu: self.chosen.measured,
            peer: self.chosen.peer,
            cpus: self.chosen.in_turn(&self.cpu),
            programs: self.programs(benchmarks).into_keys().collect(),
            kernels: shipped
                .chain(again)
                .chain(custom_catalog::programs(own))
                .collect(),
        }
    }

    /// The environment of every child: the user's PATH, so that the user's programs are found (its absolute directories),
    /// and nothing else of the user's. HOME and TMPDIR are the directory of the launch.
    pub fn environment(&self) -> BTreeMap<String, String> {
        let path = self.path.as_str();
        let variables = [
            ("PATH", path),
            ("LC_ALL", "C"),
            ("LANG", "C"),
            ("TZ", "UTC"),
        ];
        variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    }

    /// Moves this process to the CPU that is kept for watching, where there is one, until the result is dropped.
    pub fn pin_harness(&self) -> AffinityGuard {
        // where the old set cannot be read back it is not left either
        let Ok(before) = sched_getaffinity(Pid::from_raw(0)) else {
            return AffinityGuard(None);
        };
        let moved = self.chosen.watcher.is_some_and(|cpu| {
            let mut set = CpuSet::new();
            set.set(cpu as usize).is_ok() && sched_setaffinity(Pid::from_raw(0), &set).is_ok()
        });
        AffinityGuard(Some(before).filter(|_| moved))
    }

    /// What the programs of a plan are started with.
    ///
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
        // what this machine is does not have in it what is made for a run, such as a swap file
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

/// The programs that can be compiled here: all, those too that this binary lacks for want of a compiler where it was built.
fn compilable_programs() -> impl Iterator<Item = String> {
    let sources = gritstone_kernels::sources().iter();
    sources.filter_map(|source| Some(source.path.strip_suffix(".c")?.to_owned()))
}

/// The directories of a `PATH` in which every process finds the same: those that do not depend on where it stands, and
/// whose names can be written down with the run.
fn searched(path: &OsStr) -> String {
    let directories = std::env::split_paths(path).filter(|directory| directory.is_absolute());
    let names = directories.filter_map(|directory| Some(directory.to_str()?.to_owned()));
    names.collect::<Vec<_>>().join(":")
}

/// Gives the CPUs back on drop.
pub struct AffinityGuard(Option<CpuSet>);

impl Drop for AffinityGuard {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = sched_setaffinity(Pid::from_raw(0), before);
        }
    }
}

/// A directory on a file system that is in use, as the document asks: /tmp is memory on many machines of today.
fn default_dir() -> PathBuf {
    let candidates = [
        Some(PathBuf::from("/var/tmp")),
        std::env::var_os("TMPDIR").map(PathBuf::from),
        Some(PathBuf::from("/tmp")),
        std::env::var_os("HOME").map(PathBuf::from),
        // a root with nothing in it
        std::env::current_dir().ok(),
    ];
    candidates
        .into_iter()
        .flatten()
        .find(|dir| writable(dir))
        .unwrap_or_else(std::env::temp_dir)
}

fn writable(dir: &Path) -> bool {
    access(dir, AccessFlags::W_OK | AccessFlags::X_OK).is_ok()
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
