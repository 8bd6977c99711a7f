//! The connection: a binary that starts there is found and brought, and says what it is.

use super::FAR_END;
use super::frame::{Frame, Hello};
use crate::session::ssh;
use crate::ui::args::PeerArgs;
use anyhow::{Context as _, Result, bail, ensure};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::IpAddr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Begins what the script says; a shell may have said something before.
const SIGN: &str = "gritstone-peer ";
/// Lines that a shell may say before.
const LINES_BEFORE: usize = 200;
/// Longest line.
const LINE: u64 = 4096;
/// What is kept of what ssh says.
const LAST_WORDS: usize = 2000;
/// How long the other host may do nothing before it has said hello.
const SILENCE: Duration = Duration::from_secs(30);
/// What is sent at a time.
const PIECE: usize = 1 << 16;
/// How long the other host may take to remove what was brought there.
const GRACE: Duration = Duration::from_secs(10);

/// An open connection, whose program there has said hello.
pub struct Session {
    pub host: String,
    child: Child,
    pub input: Option<ChildStdin>,
    pub output: Option<BufReader<ChildStdout>>,
    errors: Arc<Mutex<Vec<u8>>>,
    progress: Arc<Progress>,
}

/// When the other host last did something, until it has said hello.
struct Progress {
    at: Mutex<Instant>,
    done: AtomicBool,
    /// It did nothing for too long.
    silent: AtomicBool,
}

impl Progress {
    fn now(&self) {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Ends ssh, with what it has started, when nothing is done for too long: its reader then sees the end.
    fn watch(&self, ssh: Pid) {
        while !self.done.load(Ordering::Relaxed) {
            let at = *self.at.lock().unwrap_or_else(PoisonError::into_inner);
            if at.elapsed() > SILENCE {
                self.silent.store(true, Ordering::Relaxed);
                // it is reaped after `done` alone
                let _ = killpg(ssh, Signal::SIGKILL);
                return;
            }
            thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Session {
    /// Opens it; the inner error is a reason why no binary can be started there.
    ///
    /// # Errors
    /// When there is no connection, or it ends.
    pub fn open(host: &str, args: &PeerArgs) -> Result<Result<(Self, Hello), String>> {
        let mut session = Self::start(host, args)?;
        let opened = session.negotiate(args);
        session.progress.done.store(true, Ordering::Relaxed);
        let opened = opened.with_context(|| format!("peer {host}"))?;
        Ok(opened.map(|hello| (session, hello)))
    }

    fn negotiate(&mut self, args: &PeerArgs) -> Result<Result<Hello, String>> {
        let (machine, address) = self.greeted()?;
        let address: IpAddr = address
            .parse()
            .ok()
            .context("it does not say by which address ssh has reached it: give --peer-address")?;
        if let Err(why) = self.bring(&machine, args.binaries.as_deref())? {
            return Ok(Err(why));
        }
        let hello = self.hello()?;
        ensure!(
            hello.address == address,
            "it speaks of another address than {address}"
        );
        Ok(Ok(hello))
    }

    fn start(host: &str, args: &PeerArgs) -> Result<Self> {
        let mut command = ssh::command(&args.ssh, host, &script(args.address));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // a Ctrl-C of the terminal goes to us alone, and the far ends are ended in order
            .process_group(0);
        let program = command.get_program().display().to_string();
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot start {program}: apt-get install openssh-client"))?;
        let errors = Arc::default();
        if let Some(stderr) = child.stderr.take() {
            let kept = Arc::clone(&errors);
            thread::spawn(move || keep(stderr, &kept));
        }
        let progress = Arc::new(Progress {
            at: Mutex::new(Instant::now()),
            done: AtomicBool::new(false),
            silent: AtomicBool::new(false),
        });
        let (watched, ssh) = (
            Arc::clone(&progress),
            Pid::from_raw(child.id().cast_signed()),
        );
        thread::spawn(move || watched.watch(ssh));
        Ok(Self {
            progress,
            host: host.to_owned(),
            input: child.stdin.take(),
            output: child.stdout.take().map(BufReader::new),
            child,
            errors,
        })
    }

    /// The architecture of the host, and the address by which it was reached.
    fn greeted(&mut self) -> Result<(String, String)> {
        for _ in 0..LINES_BEFORE {
            let line = self.line()?;
            if let Some(said) = line.strip_prefix(SIGN) {
                let mut words = said.split_whitespace().map(str::to_owned);
                let words = words.next().zip(words.next());
                return words.context("it does not say what it is");
            }
        }
        bail!("its shell says more than {LINES_BEFORE} lines, and no word of Gritstone's")
    }

    /// Sends binaries until one starts there and is of this version; else why none does.
    fn bring(&mut self, machine: &str, folder: Option<&Path>) -> Result<Result<(), String>> {
        let wanted = format!("gritstone {}", env!("CARGO_PKG_VERSION"));
        let mut why = vec![];
        for file in binaries(machine, folder) {
            let Ok(bytes) = std::fs::read(&file) else {
                continue;
            };
            self.send(&bytes)?;
            let line = self.line()?;
            match line.split_once(' ') {
                Some(("version", version)) if version == wanted => {
                    self.send(&[])?;
                    return Ok(Ok(()));
                }
                Some(("version", version)) => {
                    why.push(format!(
                        "{} is {version}, and this is {wanted}",
                        name(&file)
                    ));
                }
                Some(("fails", said)) => {
                    why.push(format!("{} does not start there ({said})", name(&file)));
                }
                _ => bail!("it answers '{line}'"),
            }
        }
        let tried = match why.as_slice() {
            [] => "there is no other binary for it".to_owned(),
            why => why.join("; "),
        };
        Ok(Err(format!(
            "No Gritstone for the peer {}, which is {machine}: {tried}. A static one is made with `make dist`, and found with --binaries DIR.",
            self.host
        )))
    }

    /// A number of bytes on a line, and the bytes; none end the list of binaries.
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
            Ok(Some(_)) => bail!("it does not say what it is"),
            Err(why) => bail!("it does not say what it is: {why}"),
        }
    }

    /// That the connection has ended, with the last that was said.
    pub fn ended(&mut self) -> anyhow::Error {
        self.input = None;
        self.progress.done.store(true, Ordering::Relaxed);
        // what it says last comes before its end
        let end = self.waited(GRACE);
        anyhow::anyhow!(end)
    }

    /// Waits for the end of ssh, and ends it when that takes too long; what is known of the end.
    fn waited(&mut self, limit: Duration) -> String {
        let begun = Instant::now();
        let mut status = self.child.try_wait().ok().flatten();
        while status.is_none() && begun.elapsed() < limit {
            thread::sleep(Duration::from_millis(20));
            status = self.child.try_wait().ok().flatten();
        }
        if status.is_none() {
            // not reaped yet, so the group is its own
            let _ = killpg(
                Pid::from_raw(self.child.id().cast_signed()),
                Signal::SIGKILL,
            );
            status = self.child.wait().ok();
        }
        // its reader may be a moment behind
        thread::sleep(Duration::from_millis(50));
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let said = String::from_utf8_lossy(&errors).into_owned();
        let last = said.lines().rfind(|line| !line.trim().is_empty());
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

fn keep(mut from: ChildStderr, kept: &Mutex<Vec<u8>>) {
    let mut bytes = [0; 512];
    while let Ok(n @ 1..) = from.read(&mut bytes) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&bytes[..n]);
        let more = kept.len().saturating_sub(LAST_WORDS);
        kept.drain(..more);
    }
}

/// The binaries for an architecture, as uname(1) has it: this one, then those of a folder.
fn binaries(machine: &str, folder: Option<&Path>) -> Vec<PathBuf> {
    let own = (machine == std::env::consts::ARCH).then(|| PathBuf::from("/proc/self/exe"));
    let named = |folder: &Path| {
        let plain = machine
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || c == b'_');
        let of_machine = plain.then(|| folder.join(format!("gritstone-{machine}")));
        of_machine.into_iter().chain([folder.join("gritstone")])
    };
    own.into_iter()
        .chain(folder.into_iter().flat_map(named))
        .collect()
}

fn name(file: &Path) -> String {
    match file.starts_with("/proc") {
        true => "this program".to_owned(),
        false => file.display().to_string(),
    }
}

/// Takes binaries until one starts, and executes it: a number of bytes on a line, then the bytes; 0 for the last one that came. Nothing is
/// sent before what came was answered, so that nothing is read that is for another.
fn script(address: Option<IpAddr>) -> String {
    let address = match address {
        Some(address) => format!("a={address}"),
        None => "set -- $SSH_CONNECTION; a=${3:--}".to_owned(),
    };
    let body = format!(
        "{address}; echo \"{SIGN}$(uname -m) $a\"; \
         while read -r n && [ \"$n\" -gt 0 ]; do head -c \"$n\" >\"$d/gritstone\"; chmod 700 \"$d/gritstone\"; \
         if v=$(\"$d/gritstone\" --version </dev/null 2>&1); then echo \"version $v\"; else echo \"fails $(echo \"$v\" | head -n 1)\"; fi; done; \
         if [ \"$n\" = 0 ]; then \"$d/gritstone\" {FAR_END} \"$d\" \"$a\"; fi"
    );
    // whatever the login shell is
    let script = ssh::in_directory("peer", &body);
    format!("exec sh -c {}", ssh::quoted(&script))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_comes_first_where_it_can_be_executed() {
        let own = std::env::consts::ARCH;
        let here = binaries(own, Some(Path::new("/b")));
        let named = PathBuf::from(format!("/b/gritstone-{own}"));
        assert_eq!(
            here,
            [
                Path::new("/proc/self/exe"),
                &named,
                Path::new("/b/gritstone")
            ]
        );
        assert_eq!(binaries("m68k", None), [] as [&Path; 0]);
        assert_eq!(
            binaries("../x", Some(Path::new("/b"))),
            [Path::new("/b/gritstone")]
        );
    }
}
