//! A process that outlives a run which was killed, and undoes at once what the run had made or changed.
//!
//! It is this binary again, in a session of its own, asleep at the end of a socket that only the run holds: when the run
//! dies, however, the socket ends. It has the run's journal as an open file and not by name: nobody can give it another.

use crate::owned_files::State;
use crate::recover::outlive;
use nix::sys::signal::{SigSet, Signal};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

/// What it says when it is ready.
const READY: &str = "ready";

/// The watchdog of this process. It ends with it, or when this is dropped.
#[derive(Debug)]
pub(crate) struct Watchdog {
    line: Option<UnixStream>,
    child: Child,
}

impl Watchdog {
    /// Starts `command` with where the journal is, the journal as its standard output, and returns when it watches.
    pub(crate) fn start(
        command: &[OsString],
        state: &State,
        name: &OsStr,
        journal: &File,
    ) -> io::Result<Self> {
        let (program, arguments) = command
            .split_first()
            .ok_or_else(|| io::Error::other("no program for it"))?;
        let (ours, its) = UnixStream::pair()?;
        let child = Command::new(program)
            .args(arguments)
            .args([state.base.as_os_str(), state.below.as_os_str(), name])
            .current_dir("/")
            .stdin(OwnedFd::from(its))
            .stdout(Stdio::from(journal.try_clone()?))
            .spawn()?;
        let mut watchdog = Self {
            line: Some(ours),
            child,
        };
        watchdog.await_ready()?;
        Ok(watchdog)
    }

    fn await_ready(&mut self) -> io::Result<()> {
        let mut said = String::new();
        if let Some(line) = &self.line {
            BufReader::new(line).read_line(&mut said)?;
        }
        match said.trim() == READY {
            true => Ok(()),
            false => Err(io::Error::other("it ended at once")),
        }
    }

    /// The run has done what could be done, and the watchdog need not try it again.
    pub(crate) fn dismiss(&mut self) {
        if let Some(line) = &mut self.line {
            // one that is gone needs no word
            let _ = line.write_all(b"done\n");
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.line.take());
        let _ = self.child.wait();
    }
}

/// The life of a watchdog: sleeps until the socket on standard input ends, and then, if nothing was said there, undoes what the
/// journal on standard output speaks of. What is to be said of it.
///
/// # Errors
/// When it cannot watch, or cannot read the journal.
pub fn watch(state: &State, name: &OsStr) -> io::Result<Vec<String>> {
    // what ends the run must not end us first
    let mut signals = SigSet::empty();
    for signal in [
        Signal::SIGHUP,
        Signal::SIGINT,
        Signal::SIGPIPE,
        Signal::SIGQUIT,
        Signal::SIGTERM,
    ] {
        signals.add(signal);
    }
    signals.thread_block()?;
    nix::unistd::setsid()?;
    let journal = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    writeln!(line, "{READY}")?;
    let mut word = vec![];
    line.read_to_end(&mut word)?;
    if word.is_empty() {
        outlive(state, name, &journal)
    } else {
        Ok(vec![])
    }
}
