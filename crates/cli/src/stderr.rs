//! Standard error, which must not make a run wait: a terminal may be stopped (Ctrl-S) or be slower than we are. What it does not
//! take at once is kept until it does, and a line of progress of which it takes nothing is not said at all.
//!
//! Must not know: what is said.

use nix::libc::{O_NOCTTY, O_NONBLOCK};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// A pipe that is ready takes so many bytes without waiting (`PIPE_BUF`).
const PIECE: usize = 4096;

/// Takes a line of a terminal away.
const CLEAR: &str = "\r\x1b[2K";

static STDERR: LazyLock<Mutex<Queue>> = LazyLock::new(|| {
    Mutex::new(Queue {
        terminal: terminal(),
        waiting: vec![],
    })
});

/// What has been said and not been taken yet.
struct Queue {
    terminal: Option<File>,
    waiting: Vec<u8>,
}

/// Says something, and returns when all was taken.
pub fn say(text: &str) {
    let mut queue = queue();
    queue.add(text, &[]);
    queue.wait();
}

/// Says something: what is not taken at once is said as soon as one of these functions is called again and finds room.
pub fn say_without_waiting(text: &str) {
    let mut queue = queue();
    queue.add(text, &[]);
    queue.pass_on();
}

/// Takes the line of a terminal away.
pub fn clear_line() {
    let mut queue = queue();
    queue.add(CLEAR, &[CLEAR]);
    queue.pass_on();
}

/// Says something that is out of date soon: all of it or, where nothing is taken now, nothing.
pub fn mention(text: &str) {
    queue().mention(text, &[]);
}

/// Writes another line in place of the present one of a terminal, or nothing, as [`mention`] does.
pub fn redraw(line: &str) {
    let line = gritstone_report::clean(line);
    queue().mention(&format!("{CLEAR}{line}"), &[CLEAR]);
}

/// Returns when all that was said was taken.
pub fn wait() {
    queue().wait();
}

/// Whether people look at it.
pub fn is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Columns of the terminal, if it is one.
pub fn columns() -> Option<u16> {
    terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| width.0)
}

fn queue() -> MutexGuard<'static, Queue> {
    STDERR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The terminal, opened once more: not to wait is a property of what has been opened, and the one that we were given is the
/// shell's too. `None` where there is no terminal, or it may not be opened: after su(1) it is another user's.
fn terminal() -> Option<File> {
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(O_NONBLOCK | O_NOCTTY);
    let open = || options.open("/proc/self/fd/2").ok();
    io::stderr().is_terminal().then(open).flatten()
}

impl Queue {
    /// The one way in: nothing that a terminal would obey but these styles.
    fn add(&mut self, text: &str, styles: &[&str]) {
        let text = gritstone_report::printable(text, styles);
        self.waiting.extend_from_slice(text.as_bytes());
    }

    fn mention(&mut self, text: &str, styles: &[&str]) {
        self.pass_on();
        if self.waiting.is_empty() {
            self.add(text, styles);
            let all = self.waiting.len();
            self.pass_on();
            if self.waiting.len() == all {
                self.waiting.clear();
            }
        }
    }

    /// Writes what is taken at once. Where nothing can be written, a terminal or a reader gone, a disc full, there is nobody to tell,
    /// and no reason to lose what is being done.
    fn pass_on(&mut self) {
        while !self.waiting.is_empty() {
            let piece = &self.waiting[..self.waiting.len().min(PIECE)];
            let written = match &mut self.terminal {
                Some(terminal) => terminal.write(piece),
                None if !ready(io::stderr().as_fd(), PollTimeout::ZERO) => return,
                None => io::stderr().write(piece),
            };
            match written {
                Ok(bytes) if bytes > 0 => drop(self.waiting.drain(..bytes)),
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) if why.kind() == ErrorKind::WouldBlock => return,
                _ => self.waiting.clear(),
            }
        }
    }

    fn wait(&mut self) {
        self.pass_on();
        while !self.waiting.is_empty() {
            match &self.terminal {
                Some(terminal) => ready(terminal.as_fd(), PollTimeout::NONE),
                None => ready(io::stderr().as_fd(), PollTimeout::NONE),
            };
            self.pass_on();
        }
    }
}

/// Whether something can be written, or never again: to find that out is not to wait either.
fn ready(file: BorrowedFd<'_>, timeout: PollTimeout) -> bool {
    let mut files = [PollFd::new(file, PollFlags::POLLOUT)];
    match poll(&mut files, timeout) {
        Ok(found) => found > 0,
        // an interruption: whoever waits asks again
        Err(_) => false,
    }
}
