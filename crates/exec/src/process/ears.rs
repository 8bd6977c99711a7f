//! What comes out of the pipes of launches in progress: events, the keeper's report, complaints.
//!
//! Must not know: how a process is started or ended.

use super::{End, Ended};
use crate::ExecError;
use gritstone_protocol::Parser;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{PipeReader, Read};
use std::os::fd::AsFd;
use std::time::Duration;

/// How much of standard error is kept.
const MAX_STDERR: usize = 4096;
/// How much is read at once.
const BUFFER: usize = 16384;
/// Reads that empty a pipe of the usual 64 KiB, and see its end.
const MOST_READS: usize = 8;

/// The three pipes of a task, and what has come out of them.
#[derive(Debug)]
pub(super) struct Ears {
    pipes: [Option<PipeReader>; 3],
    /// Those of them from which nothing more will come. Whoever closed the other end wakes us with the pipe's lock in hand: to read the
    /// end of it at once, or to close it, is to wait for that lock, in a loop on our CPU.
    heard: Vec<PipeReader>,
    parser: Parser,
    buffer: Vec<u8>,
    report: Vec<u8>,
    stderr: Vec<u8>,
    pub(super) ended: Ended,
}

impl Ears {
    pub(super) fn new(pipes: [PipeReader; 3]) -> Self {
        Self {
            pipes: pipes.map(Some),
            heard: vec![],
            parser: Parser::new(),
            buffer: vec![0; BUFFER],
            report: vec![],
            stderr: vec![],
            ended: Ended::default(),
        }
    }

    pub(super) fn open(&self) -> bool {
        self.pipes.iter().any(Option::is_some)
    }

    /// Whether it ended without an account: only the keeper holds the pipe for that.
    pub(super) fn keeper_is_gone(&self) -> bool {
        self.pipes[1].is_none() && self.report.is_empty()
    }

    /// Takes what lies in the pipes by now; whether that was all there will be.
    pub(super) fn catch_up(&mut self) -> Result<bool, ExecError> {
        for _ in 0..MOST_READS {
            if self.open() {
                wait(&mut [self], Duration::ZERO)?;
            }
        }
        Ok(!self.open())
    }

    /// Reads what is there from one pipe, of which the system says this. With no more writers, a read that fills less than its room
    /// has come to the end.
    fn hear(&mut self, which: usize, state: PollFlags) {
        let Some(pipe) = &mut self.pipes[which] else {
            return;
        };
        // the system looks for bytes first and for writers then: the last may have written and gone in between
        let state = match state.contains(PollFlags::POLLIN) {
            true => state,
            false => state_of(pipe),
        };
        let last = state.contains(PollFlags::POLLHUP);
        let mut bytes = std::mem::take(&mut self.buffer);
        let more = match state
            .contains(PollFlags::POLLIN)
            .then(|| pipe.read(&mut bytes))
        {
            Some(Ok(count)) => {
                self.take(which, &bytes[..count]);
                count == bytes.len() || (count > 0 && !last)
            }
            Some(Err(error)) => error.kind() == std::io::ErrorKind::Interrupted,
            None => false,
        };
        self.buffer = bytes;
        if !more {
            self.heard.extend(self.pipes[which].take());
        }
    }

    fn take(&mut self, which: usize, bytes: &[u8]) {
        match which {
            0 if self.ended.protocol.is_none() => {
                if let Err(error) = self.parser.push(bytes, &mut self.ended.events) {
                    self.ended.protocol = Some(error.to_string());
                    self.ended.stopped = true;
                }
            }
            0 => {} // rubbish after rubbish
            1 => self
                .report
                .extend_from_slice(&bytes[..bytes.len().min(200)]),
            _ => {
                let room = MAX_STDERR.saturating_sub(self.stderr.len());
                self.stderr
                    .extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
        }
    }

    /// What came of it; the pipes stay as they are until this is dropped.
    pub(super) fn finish(&mut self) -> Ended {
        if self.ended.protocol.is_none()
            && let Err(error) = self.parser.finish()
        {
            self.ended.protocol = Some(error.to_string());
        }
        self.ended.end = parse_report(&String::from_utf8_lossy(&self.report));
        self.ended.stderr = String::from_utf8_lossy(&self.stderr).trim().to_owned();
        std::mem::take(&mut self.ended)
    }
}

/// What the system says of a pipe now; that there is something to read where it does not say.
fn state_of(pipe: &PipeReader) -> PollFlags {
    let mut fds = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
    let asked = poll(&mut fds, PollTimeout::ZERO).ok();
    let state = asked.and_then(|_| fds[0].revents());
    state.unwrap_or(PollFlags::POLLIN)
}

/// Sleeps until one of the pipes has something, a signal comes, or the time is over.
pub(super) fn wait(ears: &mut [&mut Ears], time: Duration) -> Result<(), ExecError> {
    let mut open = vec![];
    let mut fds = vec![];
    for (whose, ears) in ears.iter().enumerate() {
        for (which, pipe) in ears.pipes.iter().enumerate() {
            if let Some(pipe) = pipe {
                open.push((whose, which));
                fds.push(PollFd::new(pipe.as_fd(), PollFlags::POLLIN));
            }
        }
    }
    let milliseconds = u16::try_from(time.as_millis() + 1).unwrap_or(u16::MAX);
    match poll(&mut fds, PollTimeout::from(milliseconds)) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(errno) => return Err(ExecError::system("poll")(errno.into())),
    }
    let states: Vec<PollFlags> = fds
        .iter()
        .map(|fd| fd.revents().unwrap_or(PollFlags::POLLIN))
        .collect();
    drop(fds);
    for ((whose, which), state) in open.into_iter().zip(states) {
        if !state.is_empty() {
            ears[whose].hear(which, state);
        }
    }
    Ok(())
}

/// `exit=0 left=0` or `signal=9 left=2`.
fn parse_report(text: &str) -> Option<End> {
    let (how, left) = text.trim().split_once(' ')?;
    let left = left.strip_prefix("left=")?.parse().ok()?;
    match how.split_once('=')? {
        ("exit", code) => Some(End {
            signal: None,
            exit: code.parse().ok()?,
            left,
        }),
        ("signal", number) => Some(End {
            signal: Some(number.parse().ok()?),
            exit: 0,
            left,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Three pipes in which this lies, and whose writers have gone.
    fn ears(said: &str) -> Ears {
        Ears::new([said, "exit=0 left=0\n", ""].map(|text| {
            let (reader, mut writer) = std::io::pipe().unwrap();
            writer.write_all(text.as_bytes()).unwrap();
            reader
        }))
    }

    #[test]
    fn what_was_written_while_the_system_looked_is_heard() {
        let mut ears = ears("hello protocol=1 kernel=x\nbye\n");
        // as it answers when the writer goes between its two looks
        (0..3).for_each(|which| ears.hear(which, PollFlags::POLLHUP));
        assert!(!ears.open());
        let ended = ears.finish();
        assert_eq!((ended.events.len(), ended.protocol), (2, None));
        assert_eq!(ended.end.map(|end| end.left), Some(0));
    }

    #[test]
    fn more_than_the_buffer_holds_is_heard_to_its_end() {
        // to the byte as much as is read at once, and around it
        for more in [0, 1, BUFFER - 1, BUFFER, 2 * BUFFER] {
            let head = "hello protocol=1 kernel=x\nparam key=k value=";
            let length = BUFFER + more - head.len() - "\nbye\n".len();
            let mut ears = ears(&format!("{head}{}\nbye\n", "v".repeat(length)));
            assert!(ears.catch_up().unwrap());
            let ended = ears.finish();
            assert_eq!((ended.events.len(), ended.protocol), (3, None), "{more}");
        }
    }
}
