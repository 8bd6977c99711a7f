//! Programs that are not part of this binary: those of custom catalogs, and a limit for their processes.
//!
//! The supervisor kills all descendants of a program. Since it cannot keep up with a fork bomb, their number is
//! limited: by a control group where one can be made, else by RLIMIT_NPROC.

use crate::arguments::cpu_list;
use crate::cgroup::Group;
use crate::rebuild::Rebuilt;
use crate::resource::Held;
use crate::setup::{Setup, join};
use crate::{ExecError, Journal};
use gritstone_model::{Benchmark, CustomFile, Program, Work, hexadecimal};
use nix::unistd::{Uid, getuid};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Processes of a launch: more than any benchmark needs, few enough to be killed.
const MAX_PROCESSES: u64 = 1024;
/// Supervisor's word for RLIMIT_NPROC.
const PROCESSES: &str = "processes=";

#[derive(Clone, Debug, Default)]
pub struct Custom {
    /// First components of the ids of its benchmarks.
    pub families: Vec<String>,
    pub programs: BTreeMap<String, Rebuilt>,
    /// Programs without our runtime, which cannot pin themselves.
    pub bare: BTreeSet<String>,
}

impl Custom {
    pub(crate) fn has(&self, benchmark: &Benchmark) -> bool {
        self.families.iter().any(|f| f == benchmark.id.family())
    }

    pub(crate) fn is_bare(&self, program: &str) -> bool {
        self.bare.contains(program)
    }

    /// CPUs to which the supervisor pins a program that cannot pin itself.
    pub(crate) fn cpus(&self, benchmark: &Benchmark, cpus: &[u32]) -> Option<String> {
        match &benchmark.work {
            Work::Kernel(work) if self.is_bare(&work.program) && !cpus.is_empty() => {
                Some(cpu_list(cpus))
            }
            _ => None,
        }
    }
}

/// Limit for the processes of a launch of a custom benchmark.
#[derive(Debug)]
pub(crate) struct Bound {
    /// For the supervisor.
    pub word: String,
    _group: Option<Held<Group>>,
}

impl Bound {
    pub(crate) fn new(parents: &[PathBuf], setup: &Setup, journal: Option<&Journal>) -> Self {
        let limited = |group: &Group| {
            join(setup)(group)?;
            group.limit_processes(MAX_PROCESSES)
        };
        let group = journal.and_then(|journal| Group::below(parents, limited, journal).ok());
        let word = match &group {
            Some(group) => group.word(),
            None => format!("{PROCESSES}{}", MAX_PROCESSES + tasks_of(getuid())),
        };
        Self { word, _group: group }
    }
}

impl Setup {
    /// Writes all `files` to a directory from which the executables among them can be started.
    pub fn executables(
        &self,
        files: &BTreeMap<String, CustomFile>,
        executables: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, Rebuilt>, ExecError> {
        let directory = self.work_dirs.fresh(false)?;
        for (path, file) in files {
            let to = directory.join(path);
            write(&to, file)
                .map_err(ExecError::system(format!("cannot write {}", to.display())))?;
        }
        let rebuilt = |name: &String| {
            let bytes = files.get(name).and_then(|file| file.contents.bytes());
            let program = Program {
                hash: hexadecimal(Sha256::digest(bytes.unwrap_or_default())),
                ..Program::default()
            };
            let rebuilt =
                Rebuilt { path: directory.join(name), program, took: Duration::ZERO, size: 0 };
            (name.clone(), rebuilt)
        };
        Ok(executables.iter().map(rebuilt).collect())
    }
}

fn write(to: &Path, file: &CustomFile) -> std::io::Result<()> {
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    let bytes = file.contents.bytes();
    fs::write(to, bytes.ok_or_else(|| std::io::Error::other("it is damaged"))?)?;
    let mode = if file.executable { 0o700 } else { 0o600 };
    fs::set_permissions(to, fs::Permissions::from_mode(mode))
}

/// Visible processes and threads of a user. RLIMIT_NPROC counts them all.
fn tasks_of(user: Uid) -> u64 {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let tasks = processes.filter(|process| {
        let name = process.file_name();
        let number = name.to_str().and_then(|name| name.parse::<u32>().ok());
        let owner = process.metadata().map(|data| data.uid());
        number.is_some() && owner.is_ok_and(|owner| owner == user.as_raw())
    });
    let threads = tasks.map(|process| {
        let tasks = fs::read_dir(process.path().join("task"));
        tasks.map_or(1, |tasks| tasks.count() as u64)
    });
    threads.sum()
}
