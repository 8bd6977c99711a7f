//! A process that outlives a killed run, and undoes its changes at once.
//!
//! It is this binary again, in its own session, blocked on a socket that is held by the run and, as standard input, by the commands of
//! settings: the socket closes however the run dies, and only after the last setting has been made. It holds the run's journal as an open
//! file, not by name, so that no other user can replace it.

use crate::owned_files::StateDir;
use crate::recover::undo_dead_run;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use rustix::process::{PidfdFlags, pidfd_open};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const READY: &str = "ready";
/// Time that a setting has to end after its run was killed.
const MAX_SETTING_TIME: Duration = Duration::from_secs(60);

/// Ends with this process, or on drop.
#[derive(Debug)]
pub(crate) struct Watchdog {
    line: Option<UnixStream>,
    child: Child,
}

impl Watchdog {
    /// Starts `command` with the path of the journal as arguments and the journal as standard output; returns once it is watching.
    pub(crate) fn start(
        command: &[OsString],
        state: &StateDir,
        name: &OsStr,
        journal: &File,
    ) -> io::Result<Self> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| io::Error::other("no program for it"))?;
        let (ours, its) = UnixStream::pair()?;
        let child = Command::new(program)
            .args(arguments)
            .args([state.base.as_os_str(), state.below.as_os_str(), name])
            .current_dir("/")
            .stdin(OwnedFd::from(its))
            .stdout(Stdio::from(journal.try_clone()?))
            .spawn()?;
        let mut watchdog = Self { line: Some(ours), child };
        watchdog.await_ready()?;
        Ok(watchdog)
    }

    fn await_ready(&mut self) -> io::Result<()> {
        let mut answer = String::new();
        if let Some(line) = &self.line {
            BufReader::new(line).read_line(&mut answer)?;
        }
        match answer.trim() == READY {
            true => Ok(()),
            false => Err(io::Error::other("it ended at once")),
        }
    }

    /// Standard input for the commands of settings: an empty stream. Nothing is undone while it is open.
    pub(crate) fn hold(&self) -> io::Result<OwnedFd> {
        let line = self.line.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        Ok(line.try_clone()?.into())
    }

    /// Ends the watchdog without undoing: the run has undone what it could.
    pub(crate) fn dismiss(&mut self) {
        if let Some(line) = &mut self.line {
            // one that has exited needs no message
            let _ = line.write_all(b"done\n");
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(line) = self.line.take() {
            // also for descriptors that other processes inherited
            let _ = line.shutdown(Shutdown::Both);
        }
        let _ = self.child.wait();
    }
}

/// Whether the run dismisses the watchdog before it and its settings have ended.
fn is_dismissed(line: &mut UnixStream) -> io::Result<bool> {
    let parent = rustix::process::getppid();
    // without a pidfd (Linux before 5.3), there is no time limit for a setting in progress
    if let Some(run) = parent.and_then(|run| pidfd_open(run, PidfdFlags::empty()).ok()) {
        let mut ends = [line.as_fd(), run.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        while let Err(Errno::EINTR) = poll(&mut ends, PollTimeout::NONE) {}
        if ends[1].any().unwrap_or(false) {
            line.set_read_timeout(Some(MAX_SETTING_TIME))?;
        }
    }
    loop {
        match line.read(&mut [0]) {
            Ok(bytes) => return Ok(bytes > 0),
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(why) => return Err(why),
        }
    }
}

/// Body of the watchdog: waits for the end of standard input and then, unless it received a message, undoes the
/// journal on standard output. Returns messages for the user.
pub fn watch(state: &StateDir, name: &OsStr) -> io::Result<Vec<String>> {
    // signals that end the run must not end the watchdog first
    let mut signals = SigSet::empty();
    for signal in
        [Signal::SIGHUP, Signal::SIGINT, Signal::SIGPIPE, Signal::SIGQUIT, Signal::SIGTERM]
    {
        signals.add(signal);
    }
    signals.thread_block()?;
    nix::unistd::setsid()?;
    let journal = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    writeln!(line, "{READY}")?;
    line.shutdown(Shutdown::Write)?;
    match is_dismissed(&mut line)? {
        true => Ok(vec![]),
        false => undo_dead_run(state, name, &journal),
    }
}
