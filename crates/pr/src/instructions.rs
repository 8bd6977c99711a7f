//! Counts instructions of a command by the processor's counter if the kernel permits that, else by valgrind.

use crate::git::environment;
use anyhow::{Context as _, Result, bail, ensure};
use gritstone_exec::{UserEnd, UserTask, WorkDirs};
use gritstone_host::programs;
use gritstone_model::PrCounter;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Time limit for counting the instructions of `true`.
const DEADLINE: Duration = Duration::from_secs(10);
const VALGRIND: &str = "valgrind";

#[derive(Debug)]
pub struct Counter {
    pub kind: PrCounter,
    program: PathBuf,
}

impl Counter {
    /// Returns the first counter that works here.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(work_dirs: &WorkDirs, stop: &AtomicBool) -> Result<Self> {
        let kernel = Self { kind: PrCounter::PerfEvent, program: work_dirs.counter()? };
        let directory = work_dirs.fresh(false)?;
        let (stdout, stderr) = (directory.join("stdout"), directory.join("stderr"));
        let end = work_dirs.execute(UserTask {
            argv: kernel.argv(&["true".to_owned()], &directory),
            directory: &directory,
            environment: &environment(),
            stdout: &stdout,
            stderr: &stderr,
            deadline: DEADLINE,
            stop,
        })?;
        let why = fs::read_to_string(&stderr).unwrap_or_default();
        fs::remove_dir_all(&directory).context("cannot remove a directory")?;
        if end == UserEnd::Success {
            return Ok(kernel);
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let Some(program) = programs::find(&[VALGRIND], &path) else {
            bail!(
                "instructions cannot be counted here: the kernel has no counter for this user ({}), and there is no valgrind, which `gritstone doctor --install` installs",
                why.trim()
            );
        };
        Ok(Self { kind: PrCounter::Valgrind, program })
    }

    /// A command that leaves its count in an empty directory.
    pub fn argv(&self, command: &[String], directory: &Path) -> Vec<OsString> {
        let mut argv = vec![self.program.clone().into_os_string()];
        match self.kind {
            PrCounter::PerfEvent => argv.push(directory.join("count").into()),
            PrCounter::Valgrind => {
                let files = |option: &str| {
                    let mut word = OsString::from(option);
                    // a process each
                    word.push(directory.join("%p"));
                    word
                };
                let options = ["--tool=cachegrind", "--cache-sim=no", "--trace-children=yes"];
                argv.extend(options.map(OsString::from));
                argv.push("--log-file=/dev/null".into());
                argv.push(files("--cachegrind-out-file="));
            }
        }
        argv.extend(command.iter().map(OsString::from));
        argv
    }

    /// # Errors
    /// When there is no count.
    pub fn read(&self, directory: &Path) -> Result<u64> {
        let mut sum = 0;
        for entry in fs::read_dir(directory).context("instructions were not counted")? {
            let path = entry.context("instructions were not counted")?.path();
            let what = || format!("no count of instructions in {}", path.display());
            let text = fs::read_to_string(&path).with_context(what)?;
            let count = match self.kind {
                PrCounter::PerfEvent => Some(text.as_str()),
                PrCounter::Valgrind => text.lines().find_map(|line| line.strip_prefix("summary:")),
            };
            let count: u64 = count.with_context(what)?.trim().parse().with_context(what)?;
            sum += count;
        }
        ensure!(sum > 0, "instructions were not counted");
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_added() {
        let directory = tempfile::tempdir().unwrap();
        let counter = |kind| Counter { kind, program: "x".into() };
        let valgrind = counter(PrCounter::Valgrind);
        assert!(valgrind.read(directory.path()).is_err());
        for (name, count) in [("1", 20), ("2", 22)] {
            let text = format!("desc: x\nfl=a.c\n3 20\nsummary: {count}\n");
            fs::write(directory.path().join(name), text).unwrap();
        }
        assert_eq!(valgrind.read(directory.path()).unwrap(), 42);
        assert!(counter(PrCounter::PerfEvent).read(directory.path()).is_err());
        fs::write(directory.path().join("3"), "no end").unwrap();
        assert!(valgrind.read(directory.path()).is_err());
    }
}
