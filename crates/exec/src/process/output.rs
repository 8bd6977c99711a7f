//! Output of launches in progress: events, supervisor report, standard error.

use super::{End, Ended};
use crate::ExecError;
use gritstone_protocol::Parser;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{PipeReader, Read};
use std::os::fd::AsFd;
use std::time::Duration;

/// Bytes of standard error that are kept.
const MAX_STDERR: usize = 4096;
/// Bytes of the report that are kept.
const MAX_REPORT: usize = 200;
const BUFFER: usize = 16384;
/// Reads that empty a pipe of 64 KiB and see its end.
const MAX_READS: usize = 8;

/// Sources of the pipes.
const PROGRAM: usize = 0;
const SUPERVISOR: usize = 1;
const COMPLAINTS: usize = 2;

/// Reads the three pipes of a task.
#[derive(Debug)]
pub(super) struct OutputReader {
    pipes: [Option<PipeReader>; 3],
    parser: Parser,
    report: Vec<u8>,
    stderr: Vec<u8>,
    pub(super) ended: Ended,
}

impl OutputReader {
    pub(super) fn new(pipes: [PipeReader; 3]) -> Self {
        Self {
            pipes: pipes.map(Some),
            parser: Parser::new(),
            report: vec![],
            stderr: vec![],
            ended: Ended::default(),
        }
    }

    pub(super) fn open(&self) -> bool {
        self.pipes.iter().any(Option::is_some)
    }

    /// True if the supervisor ended without a report: only it holds that pipe.
    pub(super) fn supervisor_is_gone(&self) -> bool {
        self.pipes[SUPERVISOR].is_none() && self.report.is_empty()
    }

    /// Reads available data; true at the end of all pipes.
    pub(super) fn drain(&mut self) -> Result<bool, ExecError> {
        let mut reads = 0;
        while reads < MAX_READS && wait(&mut [self], Duration::ZERO)? {
            reads += 1;
        }
        Ok(!self.open())
    }

    /// Reads once from a pipe that is ready.
    fn read(&mut self, which: usize) {
        let Some(pipe) = &mut self.pipes[which] else {
            return;
        };
        let mut bytes = [0; BUFFER];
        match pipe.read(&mut bytes) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => self.pipes[which] = None,
            Ok(count) => self.take(which, &bytes[..count]),
        }
    }

    fn take(&mut self, which: usize, bytes: &[u8]) {
        let keep = |text: &mut Vec<u8>, max: usize| {
            let room = max.saturating_sub(text.len());
            text.extend_from_slice(&bytes[..bytes.len().min(room)]);
        };
        match which {
            PROGRAM if self.ended.protocol.is_none() => {
                if let Err(error) = self.parser.push(bytes, &mut self.ended.events) {
                    self.ended.protocol = Some(error.to_string());
                    self.ended.stopped = true;
                }
            }
            SUPERVISOR => keep(&mut self.report, MAX_REPORT),
            COMPLAINTS => keep(&mut self.stderr, MAX_STDERR),
            _ => {} // what follows a violation of the protocol
        }
    }

    pub(super) fn finish(&mut self) -> Ended {
        if self.ended.protocol.is_none()
            && let Err(error) = self.parser.finish()
        {
            self.ended.protocol = Some(error.to_string());
        }
        let report = String::from_utf8_lossy(&self.report);
        self.ended.end = parse_report(&report);
        // `fork=11`: no process could be started
        let refusal = report.trim().strip_prefix("fork=");
        self.ended.not_started = refusal.and_then(|errno| errno.parse().ok());
        self.ended.stderr = String::from_utf8_lossy(&self.stderr).trim().to_owned();
        std::mem::take(&mut self.ended)
    }
}

/// Waits until a pipe is ready, and reads once from each that is. False if the time has passed; a signal counts as
/// ready.
pub(super) fn wait(readers: &mut [&mut OutputReader], time: Duration) -> Result<bool, ExecError> {
    let mut sources = vec![];
    let mut fds = vec![];
    for (index, reader) in readers.iter().enumerate() {
        for (which, pipe) in reader.pipes.iter().enumerate() {
            if let Some(pipe) = pipe {
                sources.push((index, which));
                fds.push(PollFd::new(pipe.as_fd(), PollFlags::POLLIN));
            }
        }
    }
    let milliseconds = u16::try_from(time.as_micros().div_ceil(1000)).unwrap_or(u16::MAX);
    match poll(&mut fds, PollTimeout::from(milliseconds)) {
        Ok(_) => {}
        Err(Errno::EINTR) => return Ok(true),
        Err(errno) => return Err(ExecError::system("poll")(errno.into())),
    }
    let ready: Vec<bool> = fds.iter().map(|fd| fd.any() != Some(false)).collect();
    for ((index, which), _) in sources.into_iter().zip(&ready).filter(|(_, ready)| **ready) {
        readers[index].read(which);
    }
    Ok(ready.contains(&true))
}

/// Such as `exit=0 left=0` or `signal=9 left=2`.
fn parse_report(text: &str) -> Option<End> {
    let (how, left) = text.trim().split_once(' ')?;
    let left = left.strip_prefix("left=")?.parse().ok()?;
    let (how, number) = how.split_once('=')?;
    let number = number.parse().ok()?;
    let (signal, exit) = match how {
        "exit" => (None, number),
        "signal" => (Some(number), 0),
        _ => return None,
    };
    Some(End { signal, exit, left })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Pipes with this content, whose writers are closed.
    fn reader(output: &str, report: &str) -> OutputReader {
        OutputReader::new([output, report, ""].map(|text| {
            let (reader, mut writer) = std::io::pipe().unwrap();
            writer.write_all(text.as_bytes()).unwrap();
            reader
        }))
    }

    #[test]
    fn reports_are_parsed() {
        let end = |signal, exit, left| Some(End { signal, exit, left });
        for (report, expected, not_started) in [
            ("exit=3 left=0\n", end(None, 3, 0), None),
            ("signal=9 left=2\n", end(Some(9), 0, 2), None),
            ("fork=11\n", None, Some(11)),
            ("", None, None),
        ] {
            let mut reader = reader("hello protocol=1 kernel=x\nbye\n", report);
            assert!(reader.drain().unwrap(), "{report}");
            assert_eq!(reader.supervisor_is_gone(), report.is_empty());
            let ended = reader.finish();
            assert_eq!((ended.end, ended.not_started), (expected, not_started));
            let refused = ended.refusal().is_some_and(|why| why.contains("ulimit -u"));
            assert_eq!(refused, not_started.is_some());
            assert_eq!((ended.events.len(), ended.protocol), (2, None));
        }
    }

    #[test]
    fn endless_output_is_bounded() {
        let (output, mut says) = std::io::pipe().unwrap();
        let (report, _reports) = std::io::pipe().unwrap();
        let (complaint, _complains) = std::io::pipe().unwrap();
        let mut reader = OutputReader::new([output, report, complaint]);
        let talk = std::thread::spawn(move || while says.write_all(b"# rubbish\n").is_ok() {});
        assert!(!reader.drain().unwrap());
        drop(reader);
        talk.join().unwrap();
    }
}
