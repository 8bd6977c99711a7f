//! A process that outlives a run which was killed while it had changed settings, and puts them back at once.
//!
//! It is this binary again, in a session of its own, asleep at the end of a pipe that only the run holds: when the run
//! dies, however, the pipe ends.
//!
//! Must not know: what a journal says.

use crate::recover::outlive;
use nix::sys::signal::{SigSet, Signal};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// What it says when it is ready.
const READY: &str = "ready";

/// The watchdog of this process. It ends with it, or when this is dropped.
#[derive(Debug)]
pub(crate) struct Watchdog {
    pipe: Option<ChildStdin>,
    child: Child,
}

impl Watchdog {
    /// Starts `command` with the path of the journal, and returns when it watches.
    pub(crate) fn start(command: &[OsString], journal: &Path) -> io::Result<Self> {
        let (program, arguments) = command
            .split_first()
            .ok_or_else(|| io::Error::other("no program for it"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .arg(journal)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let watchdog = Self {
            pipe: child.stdin.take(),
            child,
        };
        watchdog.await_ready()
    }

    fn await_ready(mut self) -> io::Result<Self> {
        let mut line = String::new();
        if let Some(stdout) = self.child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        if line.trim() == READY {
            Ok(self)
        } else {
            Err(io::Error::other("it ended at once"))
        }
    }
}

impl Watchdog {
    /// The run has done what could be done, and the watchdog need not try it again.
    pub(crate) fn dismiss(&mut self) {
        if let Some(pipe) = &mut self.pipe {
            // one that is gone needs no word
            let _ = pipe.write_all(b"done\n");
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.pipe.take());
        let _ = self.child.wait();
    }
}

/// The life of a watchdog: sleeps until standard input ends, and then, if nothing was said there, undoes what the journal still
/// speaks of. What is to be said of it.
///
/// # Errors
/// When it cannot watch, or cannot read the journal.
pub fn watch(journal: &Path) -> io::Result<Vec<String>> {
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
    let mut out = io::stdout().lock();
    writeln!(out, "{READY}").and_then(|()| out.flush())?;
    drop(out);
    let mut word = vec![];
    io::stdin().lock().read_to_end(&mut word)?;
    if word.is_empty() {
        outlive(journal)
    } else {
        Ok(vec![])
    }
}
