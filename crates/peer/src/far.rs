//! The program on the peer: starts far ends at the request of the near host on standard input, one at a time, and forwards their output. It
//! exits, with its children, when standard input ends or is silent for too long.

use crate::frame::{Frame, Hello, Start};
use anyhow::{Context as _, Result};
use gritstone_host::link;
use gritstone_session::host_context::HostContext;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::net::IpAddr;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The near host sends a message every ten seconds.
const SILENCE: Duration = Duration::from_secs(60);
/// The workloads that have far ends.
const FAMILY: &str = "net/";

/// Event of the main loop.
enum Event {
    Frame(Frame),
    /// The connection to the near host has ended.
    Disconnected(io::Result<()>),
    /// Output of the far end of this number; empty at its end.
    Output(u64, Vec<u8>),
}

/// Serves the near host, one far end at a time.
struct Server<'a> {
    /// Parent of the workloads and their directories.
    directory: &'a Path,
    address: IpAddr,
    write: WriteBytes,
    sender: Sender<Event>,
    running: Option<Running>,
}

/// A far end.
struct Running {
    number: u64,
    child: Child,
    directory: PathBuf,
    deadline: Instant,
}

/// Writes bytes to the near host.
pub type WriteBytes = fn(&[u8]) -> io::Result<()>;

/// Serves the near host until it disconnects.
///
/// # Errors
/// When it sends an invalid frame, or no answer can be sent.
pub fn far_end(directory: &Path, address: IpAddr, write: WriteBytes) -> Result<()> {
    let hello = Hello {
        address,
        machine: HostContext::probe(Some(directory))?.machine(),
        link: link::with_address(address),
        ..Hello::version()
    };
    let (sender, events) = channel();
    let frames = sender.clone();
    let mut server = Server { directory, address, write, sender, running: None };
    server.send(&Frame::Hello(Box::new(hello)))?;
    thread::spawn(move || listen(&frames));
    let served = server.serve(&events);
    server.running.map(Running::end);
    served
}

fn listen(sender: &Sender<Event>) {
    let mut input = io::stdin().lock();
    loop {
        let event = match Frame::read(&mut input) {
            Ok(Some(frame)) => Event::Frame(frame),
            Ok(None) => Event::Disconnected(Ok(())),
            Err(why) => Event::Disconnected(Err(why)),
        };
        let last = matches!(event, Event::Disconnected(_));
        if sender.send(event).is_err() || last {
            return;
        }
    }
}

impl Server<'_> {
    fn send(&self, frame: &Frame) -> io::Result<()> {
        let mut bytes = vec![];
        frame.write(&mut bytes)?;
        (self.write)(&bytes)
    }

    fn serve(&mut self, events: &Receiver<Event>) -> Result<()> {
        let (mut number, mut last_heard) = (0, Instant::now());
        loop {
            let until = self
                .running
                .as_ref()
                .map_or(last_heard + SILENCE, |current| current.deadline.min(last_heard + SILENCE));
            let left = until.saturating_duration_since(Instant::now());
            match events.recv_timeout(left) {
                Ok(Event::Disconnected(how)) => {
                    how.context("cannot parse the request of the near host")?;
                    return Ok(());
                }
                Ok(Event::Frame(frame)) => {
                    last_heard = Instant::now();
                    number += 1;
                    self.handle(frame, number)?;
                }
                Ok(Event::Output(source, bytes)) => {
                    let Some(current) = self.running.take_if(|current| current.number == source)
                    else {
                        continue;
                    };
                    if bytes.is_empty() {
                        self.send(&Frame::Ended(current.end()))?;
                    } else {
                        self.send(&Frame::Output(bytes))?;
                        self.running = Some(current);
                    }
                }
                Err(RecvTimeoutError::Timeout) if last_heard.elapsed() < SILENCE => {
                    if let Some(late) =
                        self.running.take_if(|current| current.deadline <= Instant::now())
                    {
                        late.end();
                        self.send(&Frame::Ended("its time limit was exceeded".to_owned()))?;
                    }
                }
                Err(_) => anyhow::bail!("the near host was silent for {} s", SILENCE.as_secs()),
            }
        }
    }

    fn handle(&mut self, frame: Frame, number: u64) -> Result<()> {
        match (frame, &mut self.running) {
            (Frame::Start(start), _) => {
                self.running.take().map(Running::end);
                match self.start(&start, number) {
                    Ok(started) => self.running = Some(started),
                    Err(why) => self.send(&Frame::Ended(format!("{why:#}")))?,
                }
            }
            (Frame::Input(bytes), Some(current)) => {
                let input = current.child.stdin.as_mut();
                // the end of a far end is reported elsewhere
                let _ = input.map(|input| input.write_all(&bytes));
            }
            (Frame::End, Some(_)) => {
                self.running.take().map(Running::end);
                self.send(&Frame::Ended(String::new()))?;
            }
            (Frame::Input(_) | Frame::End | Frame::Alive, _) => {}
            (Frame::Hello(_) | Frame::Output(_) | Frame::Ended(_), _) => {
                anyhow::bail!("the near host does not speak the protocol")
            }
        }
        Ok(())
    }

    fn start(&self, start: &Start, number: u64) -> Result<Running> {
        let program = gritstone_kernels::find(&start.program);
        let program = program.filter(|program| program.name.starts_with(FAMILY));
        let program = program.with_context(|| format!("it has no workload {}", start.program))?;
        let directory = self.directory.join(format!("{number}"));
        DirBuilder::new().mode(0o700).create(&directory)?;
        let path = self.directory.join(program.name.replace('/', "_"));
        if !path.exists() {
            // renamed once it is whole
            let part = path.with_extension("part");
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o700);
            options.open(&part)?.write_all(&program.bytes()?)?;
            fs::rename(&part, &path)?;
        }
        let assigned = |(key, value): (&String, &String)| format!("{key}={value}");
        let mut command = Command::new(&path);
        command
            .args(["mode=once", "end=far"])
            .arg(format!("address={}", self.address))
            .args(start.params.iter().map(assigned))
            .env_clear()
            .current_dir(&directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // so that it can be ended with its children
            .process_group(0);
        let mut child = command.spawn().context("it cannot be started")?;
        let mut output = child.stdout.take().context("it has no output")?;
        let sender = self.sender.clone();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            loop {
                let n = output.read(&mut bytes).unwrap_or(0);
                if sender.send(Event::Output(number, bytes[..n].to_vec())).is_err() || n == 0 {
                    return;
                }
            }
        });
        Ok(Running {
            number,
            child,
            directory,
            deadline: Instant::now() + Duration::from_secs(start.limit_s),
        })
    }
}

impl Running {
    /// Ends it and its children; returns its error output.
    fn end(mut self) -> String {
        let group = Pid::from_raw(self.child.id().cast_signed());
        // it is not reaped yet, so the group id is still its own
        let _ = killpg(group, Signal::SIGKILL);
        let mut errors = vec![];
        if let Some(error) = self.child.stderr.take() {
            // no process of the group writes any more
            let _ = error.take(1000).read_to_end(&mut errors);
        }
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.directory);
        String::from_utf8_lossy(&errors).trim().to_owned()
    }
}
