//! The connection: finds a binary that starts on the peer, copies it, and reads its hello.

use crate::FAR_END;
use crate::Options;
use crate::frame::{Frame, Hello};
use anyhow::{Context as _, Result, bail, ensure};
use gritstone_exec::ExecError;
use gritstone_session::signals;
use gritstone_session::ssh::{self, Host};
use nix::sys::signal::{Signal, killpg};
use nix::sys::utsname::uname;
use nix::unistd::Pid;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::IpAddr;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Longest line.
const LINE: u64 = 4096;
/// Bytes of ssh's error output that are kept.
const LAST_WORDS: usize = 2000;
/// Time without progress before the hello.
const SILENCE: Duration = Duration::from_secs(30);
/// Bytes sent at once.
const PIECE: usize = 1 << 16;
/// Time for the other host to remove the copied files.
const GRACE: Duration = Duration::from_secs(10);

/// An open connection whose remote program has sent its hello.
pub struct Session {
    child: Child,
    pub input: Option<ChildStdin>,
    pub output: Option<BufReader<ChildStdout>>,
    errors: Arc<Mutex<Vec<u8>>>,
    progress: Arc<Progress>,
}

/// Time of the last progress before the hello.
struct Progress {
    last: Mutex<Instant>,
    done: AtomicBool,
    /// There was no progress for too long.
    silent: AtomicBool,
}

impl Progress {
    fn now(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Ends ssh and its children when the user interrupts or progress stops: the reader then sees the end.
    fn watch(&self, ssh: Pid, stop: &AtomicBool) {
        while !self.done.load(Ordering::Relaxed) {
            let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
            let is_silent = last.elapsed() > SILENCE;
            if is_silent || stop.load(Ordering::Relaxed) {
                self.silent.store(is_silent, Ordering::Relaxed);
                // it is reaped only after `done`
                let _ = killpg(ssh, Signal::SIGKILL);
                return;
            }
            thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Session {
    /// Opens a connection; the inner error is the reason for which no binary can be started there.
    ///
    /// # Errors
    /// When the connection fails or ends.
    pub fn open(host: &Host, args: &Options) -> Result<Result<(Self, Hello), String>> {
        let stop = signals::process_stop_flag().context("cannot catch signals")?;
        let mut session = Self::start(host, args, Arc::clone(&stop))?;
        let opened = session.negotiate(args);
        session.progress.done.store(true, Ordering::Relaxed);
        if stop.load(Ordering::Relaxed) {
            return Err(ExecError::Interrupted.into());
        }
        let opened = opened.with_context(|| format!("peer {host}"))?;
        Ok(opened.map(|hello| (session, hello)))
    }

    fn negotiate(&mut self, args: &Options) -> Result<Result<Hello, String>> {
        let (machine, address) = self.greeted()?;
        let address: IpAddr = address
            .parse()
            .ok()
            .context("it does not say by which address ssh has reached it: give --peer-address")?;
        if let Err(why) = self.bring(&machine, args.binary.as_deref())? {
            return Ok(Err(why));
        }
        let hello = self.hello()?;
        ensure!(hello.address == address, "it names another address than {address}");
        Ok(Ok(hello))
    }

    fn start(host: &Host, args: &Options, stop: Arc<AtomicBool>) -> Result<Self> {
        let mut command = ssh::command(&args.ssh, host, &script(args.address))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().display().to_string();
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot start {program}: apt-get install openssh-client"))?;
        let errors = Arc::default();
        if let Some(stderr) = child.stderr.take() {
            let tail = Arc::clone(&errors);
            thread::spawn(move || collect_tail(stderr, &tail));
        }
        let progress = Arc::new(Progress {
            last: Mutex::new(Instant::now()),
            done: AtomicBool::new(false),
            silent: AtomicBool::new(false),
        });
        let (watched, ssh) = (Arc::clone(&progress), Pid::from_raw(child.id().cast_signed()));
        thread::spawn(move || watched.watch(ssh, &stop));
        Ok(Self {
            progress,
            input: child.stdin.take(),
            output: child.stdout.take().map(BufReader::new),
            child,
            errors,
        })
    }

    /// The architecture of the host, and the address by which it was reached.
    fn greeted(&mut self) -> Result<(String, String)> {
        let output = self.output.as_mut().context("its output is closed")?;
        match ssh::skip_banner(output) {
            Err(why) if why.kind() == ErrorKind::UnexpectedEof => return Err(self.ended()),
            skipped => skipped?,
        }
        let line = self.line()?;
        let mut words = line.split_whitespace().map(str::to_owned);
        let words = words.next().zip(words.next());
        words.context("it did not identify itself as gritstone")
    }

    /// Sends a binary; the inner error is the reason for which it cannot be used there.
    fn bring(&mut self, machine: &str, binary: Option<&Path>) -> Result<Result<(), String>> {
        let refused = |why: String| {
            Ok(Err(format!(
                "No Gritstone binary for the peer, which is {machine}: {why}. Name one with --binary FILE; `make dist` builds a static one."
            )))
        };
        let executable = Path::new("/proc/self/exe");
        let here = uname()?.machine().to_string_lossy().into_owned();
        let (file, name) = match binary {
            Some(file) => (file, file.display().to_string()),
            None if machine == here => (executable, "this program".to_owned()),
            None => return refused(format!("this program is for {here}")),
        };
        let bytes = std::fs::read(file).with_context(|| format!("cannot read {name}"))?;
        self.send(&bytes)?;
        let line = self.line()?;
        let wanted = format!("gritstone {}", env!("CARGO_PKG_VERSION"));
        match line.split_once(' ') {
            Some(("version", version)) if version == wanted => {
                self.send(&[])?;
                Ok(Ok(()))
            }
            Some(("version", version)) => {
                refused(format!("{name} is {version}, and this is {wanted}"))
            }
            Some(("fails", error)) => refused(format!("{name} does not start there ({error})")),
            _ => bail!("it answers '{line}'"),
        }
    }

    /// Sends a line with the size, and the bytes.
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let input = self.input.as_mut().context("its input is closed")?;
        let mut sent = writeln!(input, "{}", bytes.len());
        for piece in bytes.chunks(PIECE) {
            sent = sent.and_then(|()| input.write_all(piece));
            self.progress.now();
        }
        sent.map_err(|_| self.ended())
    }

    fn line(&mut self) -> Result<String> {
        let output = self.output.as_mut().context("its output is closed")?;
        let mut line = vec![];
        let read = output.by_ref().take(LINE).read_until(b'\n', &mut line);
        self.progress.now();
        match read {
            Ok(1..) => Ok(String::from_utf8_lossy(&line).trim_end().to_owned()),
            _ => Err(self.ended()),
        }
    }

    fn hello(&mut self) -> Result<Hello> {
        let output = self.output.as_mut().context("its output is closed")?;
        match Frame::read(output) {
            Ok(Some(Frame::Hello(hello))) => Ok(*hello),
            Ok(None) => Err(self.ended()),
            Ok(Some(_)) => bail!("it did not identify itself as gritstone"),
            Err(why) => bail!("it did not identify itself as gritstone: {why}"),
        }
    }

    /// Error for an ended connection, with its last output.
    pub fn ended(&mut self) -> anyhow::Error {
        self.input = None;
        self.progress.done.store(true, Ordering::Relaxed);
        // the last output comes before the end
        let end = self.waited(GRACE);
        anyhow::anyhow!(end)
    }

    /// Waits for the end of ssh, and kills it after a time limit; describes the end.
    fn waited(&mut self, limit: Duration) -> String {
        let begun = Instant::now();
        let mut status = self.child.try_wait().ok().flatten();
        while status.is_none() && begun.elapsed() < limit {
            thread::sleep(Duration::from_millis(20));
            status = self.child.try_wait().ok().flatten();
        }
        if status.is_none() {
            // not reaped yet, so the group id is still its own
            ssh::end_group(&self.child, Signal::SIGKILL);
            status = self.child.wait().ok();
        }
        // its reader may be a moment behind
        thread::sleep(Duration::from_millis(50));
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&errors).into_owned();
        let last = text.lines().rfind(|line| !line.trim().is_empty());
        match (last, status) {
            (Some(last), _) => last.trim().trim_start_matches("gritstone: ").to_owned(),
            (None, _) if self.progress.silent.load(Ordering::Relaxed) => {
                format!("it did nothing for {} s", SILENCE.as_secs())
            }
            (None, Some(status)) => format!("ssh has ended: {status}"),
            (None, None) => "ssh has ended".to_owned(),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.input = None;
        self.waited(GRACE);
    }
}

fn collect_tail(mut from: ChildStderr, tail: &Mutex<Vec<u8>>) {
    let mut bytes = [0; 512];
    while let Ok(n @ 1..) = from.read(&mut bytes) {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(&bytes[..n]);
        let more = tail.len().saturating_sub(LAST_WORDS);
        tail.drain(..more);
    }
}

/// Script of the remote shell. It reads a line with the size of a binary, then the binary; size 0 starts it. The near end waits for an
/// answer before it sends, so that `head` reads only the binary.
fn script(address: Option<IpAddr>) -> String {
    let address = match address {
        Some(address) => format!("a={address}"),
        None => "set -- $SSH_CONNECTION; a=${3:--}".to_owned(),
    };
    let body = format!(
        "{address}; echo \"$(uname -m) $a\"; \
         read -r n || exit 0; head -c \"$n\" >\"$d/gritstone\"; chmod 700 \"$d/gritstone\"; \
         if v=$(\"$d/gritstone\" --version </dev/null 2>&1); then echo \"version $v\"; else echo \"fails $(echo \"$v\" | head -n 1)\"; fi; \
         read -r n; if [ \"$n\" = 0 ]; then \"$d/gritstone\" {FAR_END} \"$d\" \"$a\"; fi"
    );
    ssh::in_directory("peer", &body)
}
