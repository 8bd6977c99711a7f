//! Configuration of launches: directories, CPUs, environment, deadline; checks which requests the supervisor can fulfill here.

use crate::arguments::{assigned, environment_in};
use crate::cgroup::Group;
use crate::process::{Task, carry_out};
use crate::{ExecError, WorkDirs};
use gritstone_kernels::SUPERVISOR;
use gritstone_model::KernelWork;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

#[derive(Debug)]
pub struct Setup {
    pub work_dirs: WorkDirs,
    /// CPUs that launches may use, such as `0-3,7`. This process may be pinned to fewer.
    pub cpus: String,
    /// Environment of processes other than launches: compilers, the background load.
    pub environment: BTreeMap<String, String>,
    /// Paths of needed programs, by the need's name.
    pub programs: BTreeMap<String, PathBuf>,
    /// Storage below the directory for files.
    pub storage: Storage,
    /// Host of the far ends, unless that is this machine.
    pub far_end: Option<FarEnd>,
    /// Limit for one launch.
    pub deadline: Duration,
    /// Set when the user asks to stop.
    pub stop: Arc<AtomicBool>,
}

/// The host of the far ends of workloads; see [`gritstone_model::Settings::peer`].
#[derive(Clone, Debug, Default)]
pub struct FarEnd {
    pub address: String,
    /// Abstract socket at which a workload requests its far end.
    pub channel: String,
    /// The launched workload, which the listener starts on the host.
    pub wanted: Arc<Mutex<Option<KernelWork>>>,
}

impl FarEnd {
    /// Arguments of the near end. Registers its workload as wanted.
    pub(crate) fn arguments(&self, work: &KernelWork) -> [OsString; 2] {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        *wanted = Some(work.clone());
        [assigned("address", &self.address), assigned("channel", &self.channel)]
    }
}

#[derive(Debug)]
pub struct Storage {
    /// The page cache is used.
    pub cached: bool,
    /// Such as "ext4 on /dev/vda1".
    pub name: String,
}

impl Setup {
    pub(crate) fn supervisor(&self) -> Result<PathBuf, ExecError> {
        self.work_dirs.embedded_program(SUPERVISOR)
    }

    /// Checks whether the supervisor can fulfill a request: containers refuse in ways that no file shows. It starts itself, which without
    /// arguments exits with status 2. An error is the reason.
    pub(crate) fn attempt(&self, word: &str) -> Result<(), String> {
        let reason = |why: ExecError| why.to_string();
        let supervisor = self.supervisor().map_err(reason)?;
        let directory = Path::new("/");
        let ended = carry_out(&Task {
            supervisor: &supervisor,
            cpus: &self.cpus,
            words: word,
            program: &supervisor,
            arguments: vec![],
            directory,
            environment: &environment_in(&self.environment, directory),
            deadline: self.deadline,
            stop: &self.stop,
        })
        .map_err(reason)?;
        match ended.end.is_some_and(|end| end.exit == 2) {
            true => Ok(()),
            false => Err(ended.refusal().unwrap_or(ended.stderr)),
        }
    }
}

/// A check whether a program can join a group.
pub(crate) fn join(setup: &Setup) -> impl Fn(&Group) -> io::Result<()> {
    |group| setup.attempt(&group.word()).map_err(io::Error::other)
}
