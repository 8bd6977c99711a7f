//! What comes out of the pipes of launches in progress: events, the keeper's report, complaints.

use super::{End, Ended};
use crate::ExecError;
use gritstone_protocol::Parser;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{PipeReader, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// How much of standard error is kept.
const MAX_STDERR: usize = 4096;
/// How much is read at once.
const BUFFER: usize = 16384;
/// Reads that empty a pipe of the usual 64 KiB, and see its end.
const MOST_READS: usize = 8;
/// For how long from its start what a program says may lie in its pipe; one that runs for longer is listened to.
const MOMENT: Duration = Duration::from_secs(1);

/// What is at the other end of each pipe.
const PROGRAM: usize = 0;
const KEEPER: usize = 1;
const COMPLAINTS: usize = 2;

/// The three pipes of a task, and what has come out of them.
///
/// A kernel greets, and writes all else that it has to say when it is done, and ends at once. To read that as soon as it is there is to
/// wake up three times, and to wait for the pipe's lock in a loop, which whoever writes or ends has in hand. So in the first moment of a
/// launch the program is not listened to: most have ended by then, and are heard when the keeper has gone, after which nobody writes.
#[derive(Debug)]
pub(super) struct Ears {
    pipes: [Option<PipeReader>; 3],
    begin: Instant,
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
            begin: Instant::now(),
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
        self.pipes[KEEPER].is_none() && self.report.is_empty()
    }

    /// How long the program is not listened to yet, while its keeper is there.
    fn deaf_for(&self) -> Option<Duration> {
        self.pipes[KEEPER].as_ref()?;
        MOMENT.checked_sub(self.begin.elapsed())
    }

    /// What to wait for: of the keeper its end, of the others whatever comes.
    fn awaited(&self, deaf: bool) -> impl Iterator<Item = PollFd<'_>> {
        let pipes = self.pipes.iter().enumerate();
        pipes.filter_map(move |(which, pipe)| match which {
            PROGRAM if deaf => None,
            KEEPER => Some(PollFd::new(pipe.as_ref()?.as_fd(), PollFlags::empty())),
            _ => Some(PollFd::new(pipe.as_ref()?.as_fd(), PollFlags::POLLIN)),
        })
    }

    /// Takes what lies in the pipes by now; whether that was all there will be. The keeper's is the last: it has its lock when it goes.
    pub(super) fn catch_up(&mut self) -> bool {
        for which in [PROGRAM, COMPLAINTS, KEEPER] {
            let mut reads = 0;
            while reads < MOST_READS && self.hear(which, self.state(which)) {
                reads += 1;
            }
        }
        !self.open()
    }

    /// What the system says of a pipe now; nothing of one that is closed, or where it does not say.
    fn state(&self, which: usize) -> PollFlags {
        let Some(pipe) = &self.pipes[which] else {
            return PollFlags::empty();
        };
        let mut fds = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
        // a signal that comes just then is told even here: who read after it would sleep until the program speaks
        while poll(&mut fds, PollTimeout::ZERO) == Err(Errno::EINTR) {}
        fds[0].revents().unwrap_or(PollFlags::empty())
    }

    /// Reads what is there from one pipe, of which the system says this; whether there may be more. With no more writers a read does not
    /// wait, and one that fills less than its room has come to the end.
    fn hear(&mut self, which: usize, state: PollFlags) -> bool {
        let last = state.contains(PollFlags::POLLHUP);
        let Some(pipe) = &mut self.pipes[which] else {
            return false;
        };
        // the system looks for bytes first and for writers then: the last may have written and gone in between
        if !last && !state.contains(PollFlags::POLLIN) {
            return false;
        }
        let mut bytes = std::mem::take(&mut self.buffer);
        let end = match pipe.read(&mut bytes) {
            Ok(count) => {
                self.take(which, &bytes[..count]);
                count < bytes.len() && (last || count == 0)
            }
            Err(error) => error.kind() != std::io::ErrorKind::Interrupted,
        };
        self.buffer = bytes;
        if end {
            self.pipes[which] = None;
        }
        !end
    }

    fn take(&mut self, which: usize, bytes: &[u8]) {
        match which {
            PROGRAM if self.ended.protocol.is_none() => {
                if let Err(error) = self.parser.push(bytes, &mut self.ended.events) {
                    self.ended.protocol = Some(error.to_string());
                    self.ended.stopped = true;
                }
            }
            PROGRAM => {} // rubbish after rubbish
            KEEPER => self
                .report
                .extend_from_slice(&bytes[..bytes.len().min(200)]),
            _ => {
                let room = MAX_STDERR.saturating_sub(self.stderr.len());
                self.stderr
                    .extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
        }
    }

    /// What came of it.
    pub(super) fn finish(&mut self) -> Ended {
        if self.ended.protocol.is_none()
            && let Err(error) = self.parser.finish()
        {
            self.ended.protocol = Some(error.to_string());
        }
        let report = String::from_utf8_lossy(&self.report);
        self.ended.end = parse_report(&report);
        self.ended.not_started = parse_refusal(&report);
        self.ended.stderr = String::from_utf8_lossy(&self.stderr).trim().to_owned();
        std::mem::take(&mut self.ended)
    }
}

/// Sleeps until a keeper has gone, something comes that is listened for, a signal, or the end of the time or of somebody's first
/// moment; and takes what there is.
pub(super) fn wait(ears: &mut [&mut Ears], mut time: Duration) -> Result<(), ExecError> {
    let mut whose = vec![];
    let mut fds = vec![];
    for (index, ears) in ears.iter().enumerate() {
        let deaf = ears.deaf_for();
        time = deaf.map_or(time, |deaf| time.min(deaf));
        fds.extend(ears.awaited(deaf.is_some()));
        whose.resize(fds.len(), index);
    }
    let milliseconds = u16::try_from(time.as_millis() + 1).unwrap_or(u16::MAX);
    match poll(&mut fds, PollTimeout::from(milliseconds)) {
        Ok(_) => {}
        Err(Errno::EINTR) => return Ok(()),
        Err(errno) => return Err(ExecError::system("poll")(errno.into())),
    }
    let mut ready: Vec<usize> = (whose.into_iter().zip(&fds))
        .filter_map(|(index, fd)| (fd.any() != Some(false)).then_some(index))
        .collect();
    ready.dedup();
    for index in ready {
        ears[index].catch_up();
    }
    Ok(())
}

/// `fork=11`: the supervisor could start no process, with the number of the error.
fn parse_refusal(text: &str) -> Option<i32> {
    text.trim().strip_prefix("fork=")?.parse().ok()
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
        assert!(!ears.hear(PROGRAM, PollFlags::POLLHUP));
        assert!(ears.pipes[PROGRAM].is_none() && ears.catch_up());
        let ended = ears.finish();
        assert_eq!((ended.events.len(), ended.protocol), (2, None));
        assert_eq!(ended.end.map(|end| end.left), Some(0));
    }

    #[test]
    fn a_keeper_that_could_start_nothing_says_why() {
        assert_eq!(parse_refusal("fork=11\n"), Some(11));
        assert_eq!(parse_report("fork=11\n"), None);
        assert_eq!(parse_refusal("exit=0 left=0\n"), None);
    }

    #[test]
    fn a_program_is_heard_when_its_keeper_has_gone_or_when_it_runs_for_longer_than_a_moment() {
        let line = b"hello protocol=1 kernel=x\n";
        let (said, mut says) = std::io::pipe().unwrap();
        let (report, reports) = std::io::pipe().unwrap();
        let (complaint, complains) = std::io::pipe().unwrap();
        let mut talking = Ears::new([said, report, complaint]);
        says.write_all(line).unwrap();
        talking.begin = Instant::now() + 3600 * MOMENT; // however slow this machine is
        // another ends: this one is left alone
        let mut ended = ears("hello protocol=1 kernel=x\nbye\n");
        wait(&mut [&mut talking, &mut ended], 100 * MOMENT).unwrap();
        assert!(!ended.open() && talking.open());
        assert_eq!(talking.ended.events.len(), 0);
        // the end of its first moment comes long before that of the time
        talking.begin = Instant::now();
        let begin = Instant::now();
        for _ in 0..3 {
            if talking.ended.events.is_empty() {
                wait(&mut [&mut talking], 100 * MOMENT).unwrap();
            }
        }
        assert_eq!(talking.ended.events.len(), 1);
        assert!(begin.elapsed() < 50 * MOMENT);
        // and from then on as it comes: these are more than a pipe holds
        let more = std::thread::spawn(move || {
            let _kept = (reports, complains);
            (0..200).for_each(|_| {
                let text = "v".repeat(1000);
                writeln!(says, "param key=k value={text}").unwrap();
            });
            writeln!(says, "bye").unwrap();
        });
        while talking.open() {
            wait(&mut [&mut talking], 100 * MOMENT).unwrap();
        }
        more.join().unwrap();
        assert_eq!(talking.ended.events.len(), 202);
    }

    #[test]
    fn more_than_the_buffer_holds_is_heard_to_its_end() {
        // to the byte as much as is read at once, and around it
        for more in [0, 1, BUFFER - 1, BUFFER, 2 * BUFFER] {
            let head = "hello protocol=1 kernel=x\nparam key=k value=";
            let length = BUFFER + more - head.len() - "\nbye\n".len();
            let mut ears = ears(&format!("{head}{}\nbye\n", "v".repeat(length)));
            assert!(ears.catch_up());
            let ended = ears.finish();
            assert_eq!((ended.events.len(), ended.protocol), (3, None), "{more}");
        }
    }
}
