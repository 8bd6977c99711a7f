//! What programs are started with: directories, CPUs, environment, a deadline; and what is made or tried before an executor is.

use crate::process::{Task, carry_out};
use crate::{ExecError, Places};
use gritstone_kernels::SUPERVISOR;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
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
    /// How long a launch may take.
    pub deadline: Duration,
    /// Becomes true when the user asks to stop.
    pub stop: Arc<AtomicBool>,
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
