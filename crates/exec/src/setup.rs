//! What programs are started with: directories, CPUs, environment, a deadline; and what is made or tried before an executor is.

use crate::launch::programs::assigned;
use crate::process::{Task, carry_out};
use crate::{ExecError, Places};
use gritstone_kernels::SUPERVISOR;
use gritstone_model::KernelWork;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What an [`crate::Executor`] starts programs with.
#[derive(Debug)]
pub struct Setup {
    /// Its directories.
    pub places: Places,
    /// CPUs that launches may use, as a list such as `0-3,7`: this process may keep to fewer, out of their way.
    pub cpus: String,
    /// Environment of what is no launch: compilers, the load.
    pub environment: BTreeMap<String, String>,
    /// Path of each program that entries need, by the need's name.
    pub programs: BTreeMap<String, PathBuf>,
    /// Where files are measured.
    pub storage: Storage,
    /// Where far ends of network benchmarks are, if not on this machine.
    pub far_end: Option<FarEnd>,
    /// How long a launch may take.
    pub deadline: Duration,
    /// Becomes true when the user asks to stop.
    pub stop: Arc<AtomicBool>,
}

/// The host on which workloads have their far ends, as those of [`gritstone_model::Settings::peer`] do.
#[derive(Clone, Debug, Default)]
pub struct FarEnd {
    /// Address of that host.
    pub address: String,
    /// Name of the abstract socket at which a workload asks for its far end.
    pub channel: String,
    /// The program that is launched, with its parameters: what whoever listens there starts on the host.
    pub wanted: Arc<Mutex<Option<KernelWork>>>,
}

impl FarEnd {
    /// What the near end of a workload is told; from now on its program is wanted.
    pub(crate) fn arguments(&self, work: &KernelWork) -> [OsString; 2] {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        *wanted = Some(work.clone());
        [
            assigned("address", &self.address),
            assigned("channel", &self.channel),
        ]
    }
}

/// What file rows really measure.
#[derive(Debug)]
pub struct Storage {
    /// Whether the page cache is between them and the file system.
    pub cached: bool,
    /// The file system: "ext4 on /dev/vda1".
    pub name: String,
}

impl Setup {
    /// Where the supervisor is.
    pub(crate) fn supervisor(&self) -> Result<PathBuf, ExecError> {
        self.places.program_called(SUPERVISOR)
    }

    /// Whether the supervisor can do what a word says, by trying: containers refuse it in ways that no file tells. The program that
    /// it starts is itself, which without arguments ends with status 2. Else why not.
    pub(crate) fn attempt(&self, word: &str) -> Result<(), String> {
        let told = |why: ExecError| why.to_string();
        let supervisor = self.supervisor().map_err(told)?;
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
        .map_err(told)?;
        match ended.end.is_some_and(|end| end.exit == 2) {
            true => Ok(()),
            false => Err(ended.stderr),
        }
    }
}

/// An environment for whatever is started in `directory`.
pub(crate) fn environment_in(
    environment: &BTreeMap<String, String>,
    directory: &Path,
) -> BTreeMap<String, OsString> {
    environment
        .iter()
        .map(|(key, value)| (key.clone(), OsString::from(value)))
        .chain(["HOME", "TMPDIR"].map(|key| (key.to_owned(), directory.into())))
        .collect()
}
