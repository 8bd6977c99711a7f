//! Commands of the user's: started where the user stands and in the user's environment, which may differ from side to side.

use crate::launch::Told;
use crate::launch::programs::{cpus_argument, hexadecimal};
use crate::{ExecError, Executor};
use gritstone_kernels::USER;
use gritstone_model::{CommandWork, Outcome, Program, UserCommand};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Short commands are timed so often in one launch at most,
const SAMPLES: &str = "samples=20";
/// and so long; long ones once.
const SAMPLE_NS: &str = "sample_ns=100000000";

impl Executor {
    /// From now on, every child has this environment, and HOME and TMPDIR of its own unless it is a command of the user's.
    pub fn use_environment(&mut self, environment: BTreeMap<String, String>) {
        self.setup.environment = environment;
    }

    /// Launches a command of the user's. Its first launch begins with an untimed execution.
    pub(crate) fn user_command(
        &mut self,
        work: &CommandWork,
        user: &UserCommand,
        cpus: &[u32],
    ) -> Result<Told, ExecError> {
        let mut arguments = vec![cpus_argument(cpus), SAMPLES.into(), SAMPLE_NS.into()];
        let started = (work.argv.clone(), self.setup.environment.clone());
        let first = !self.warm.contains(&started);
        arguments.push(format!("warm={}", u8::from(first)).into());
        for (key, text) in [("prepare", &user.prepare), ("cleanup", &user.cleanup)] {
            if let Some(text) = text {
                arguments.push(format!("{key}={text}").into());
            }
        }
        if user.ignore_failure {
            arguments.push("ignore_failure=1".into());
        }
        arguments.push("--".into());
        arguments.extend(work.argv.iter().map(OsString::from));
        let environment: BTreeMap<String, OsString> = self
            .setup
            .environment
            .iter()
            .map(|(key, value)| (key.clone(), value.into()))
            .collect();
        let directory = PathBuf::from(&user.directory);
        let told = self.start_in(&environment, USER, None, None, arguments, &directory)?;
        if told.outcome == Outcome::Measured {
            self.warm.insert(started);
        }
        Ok(told)
    }

    /// The program behind a command of the user's; without a hash where it cannot be read, as a word of the shell.
    pub(crate) fn user_program(&self, argv: &[String]) -> Option<Program> {
        let name = argv.first()?;
        let path = match name.contains('/') {
            true => Some(PathBuf::from(name)),
            false => self.searched(name),
        };
        let bytes = path.and_then(|path| std::fs::read(path).ok());
        Some(Program {
            hash: bytes.map_or_else(String::new, |bytes| hexadecimal(&Sha256::digest(bytes))),
            compiler: String::new(),
            flags: argv.join(" "),
        })
    }

    fn searched(&self, name: &str) -> Option<PathBuf> {
        let path = self.setup.environment.get("PATH")?;
        let mut found = std::env::split_paths(path).map(|directory| directory.join(name));
        found.find(|file| Path::is_file(file))
    }
}

#[cfg(test)]
mod tests;
