//! Programs that did not travel in this binary: those of a catalogue of the user's own, and what all of its rows are held to.
//!
//! The keeper ends whatever they start. So that it has a chance against a program that starts others without end, there is a
//! bound on how many there may be: of a control group where one can be made, else of the user.

use crate::group::Group;
use crate::launch::Setup;
use crate::launch::programs::{cpu_list, hexadecimal};
use crate::rebuild::Rebuilt;
use crate::resource::Held;
use crate::{ExecError, Executor, Journal};
use gritstone_model::{Benchmark, OwnFile, Program, Work};
use nix::unistd::{Uid, getuid};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Processes that a launch may have at once: more than any benchmark has a use for, few enough to be killed.
const MOST_PROCESSES: u64 = 1024;
/// The keeper's word for a bound on the processes of the user.
const PROCESSES: &str = "processes=";
/// The file of a control group that bounds its processes.
const BOUND: &str = "pids.max";

/// What an executor knows of a catalogue of the user's own.
#[derive(Debug, Default)]
pub(crate) struct Own {
    /// Its programs, by name.
    programs: BTreeMap<String, Rebuilt>,
    /// Those without our runtime, which cannot place themselves.
    bare: BTreeSet<String>,
    /// First parts of the identifiers of its rows.
    families: Vec<String>,
    _group: Option<Held<Group>>,
    /// The keeper's word for the bound.
    word: Option<String>,
}

impl Own {
    /// Rows of these families are of the user's own: each of their launches is bound in how many processes it has at once, by a
    /// control group below the first of `parents` where one can be made, else by a limit of the user's.
    pub(crate) fn bound(
        families: &[String],
        parents: &[PathBuf],
        setup: &Setup,
        journal: Option<&mut Journal>,
    ) -> Self {
        let bound = (BOUND, MOST_PROCESSES);
        let group = journal.and_then(|journal| Group::with(parents, setup, journal, bound));
        let word = match &group {
            Some(group) => group.word(),
            None => format!("{PROCESSES}{}", MOST_PROCESSES + tasks_of(getuid())),
        };
        Self {
            families: families.to_vec(),
            word: Some(word),
            _group: group,
            ..Self::default()
        }
    }

    pub(crate) fn program(&self, name: &str) -> Option<&Rebuilt> {
        self.programs.get(name)
    }

    /// Whether a program is without our runtime.
    pub(crate) fn is_bare(&self, name: &str) -> bool {
        self.bare.contains(name)
    }

    /// The keeper's word for a launch of this row.
    pub(crate) fn word(&self, benchmark: &Benchmark) -> Option<&str> {
        let own = self.families.iter().any(|f| f == benchmark.id.family());
        self.word.as_deref().filter(|_| own)
    }

    /// The CPUs to which the keeper holds the program of a row that cannot do so itself.
    pub(crate) fn cpus(&self, benchmark: &Benchmark, cpus: &[u32]) -> Option<String> {
        match &benchmark.work {
            Work::Kernel(work) if self.is_bare(&work.program) && !cpus.is_empty() => {
                Some(cpu_list(cpus))
            }
            _ => None,
        }
    }
}

impl Executor {
    /// From now on these programs are known beside those in this binary.
    pub fn add_programs(&mut self, programs: BTreeMap<String, Rebuilt>) {
        self.own.programs.extend(programs);
    }

    /// From now on these executables among `files` are known as programs too, with all the files beside them.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn add_executables(
        &mut self,
        files: &BTreeMap<String, OwnFile>,
        executables: &BTreeSet<String>,
    ) -> Result<(), ExecError> {
        let programs = self.executables(files, executables)?;
        self.own.bare.extend(executables.iter().cloned());
        self.own.programs.extend(programs);
        Ok(())
    }

    /// Writes these executables among `files`, with all the files beside them, to where they can be started. Of names that are known
    /// already they can take the place, as programs that were compiled here can.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn executables(
        &mut self,
        files: &BTreeMap<String, OwnFile>,
        executables: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, Rebuilt>, ExecError> {
        let directory = self.setup.places.fresh(false)?;
        for (path, file) in files {
            let to = directory.join(path);
            write(&to, file)
                .map_err(ExecError::system(format!("cannot write {}", to.display())))?;
        }
        let rebuilt = |name: &String| {
            let bytes = files.get(name).and_then(|file| file.contents.bytes());
            let program = Program {
                hash: hexadecimal(&Sha256::digest(bytes.unwrap_or_default())),
                ..Program::default()
            };
            let rebuilt = Rebuilt {
                path: directory.join(name),
                program,
                took: Duration::ZERO,
                size: 0,
            };
            (name.clone(), rebuilt)
        };
        Ok(executables.iter().map(rebuilt).collect())
    }
}

fn write(to: &Path, file: &OwnFile) -> std::io::Result<()> {
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    let bytes = file.contents.bytes();
    fs::write(
        to,
        bytes.ok_or_else(|| std::io::Error::other("it is damaged"))?,
    )?;
    let mode = if file.executable { 0o700 } else { 0o600 };
    fs::set_permissions(to, fs::Permissions::from_mode(mode))
}

/// Processes and threads of a user that are seen here: the limit counts them all.
fn tasks_of(user: Uid) -> u64 {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let own = processes.filter(|process| {
        let number = process
            .file_name()
            .as_encoded_bytes()
            .first()
            .is_some_and(u8::is_ascii_digit);
        number
            && process
                .metadata()
                .is_ok_and(|data| data.uid() == user.as_raw())
    });
    let threads = own.map(|process| {
        let tasks = fs::read_dir(process.path().join("task"));
        tasks.map_or(1, |tasks| tasks.count() as u64)
    });
    threads.sum()
}
