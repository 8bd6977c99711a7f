//! Signals that stop a run, and inherited dispositions that are reset.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigHandler, Signal, kill, raise, signal};
use nix::unistd::Pid;
use signal_hook::flag;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

const STOP_SIGNALS: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// A parent that ignores SIGCHLD would make waitpid fail here: the disposition is inherited.
#[allow(unsafe_code)]
pub fn reset_sigchld() {
    // SAFETY: the default action is not a function of ours, so nothing can be unsound in it
    let _ = unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) };
}

/// `gritstone show | head` ends as cat(1) does: Rust ignores SIGPIPE.
#[allow(unsafe_code)]
pub fn exit_by_sigpipe() -> ! {
    // SAFETY: as above
    let _ = unsafe { signal(Signal::SIGPIPE, SigHandler::SigDfl) };
    let _ = raise(Signal::SIGPIPE);
    std::process::exit(128 + Signal::SIGPIPE as i32)
}

/// Turns exceeding `ulimit -f` into an error of write(2) instead of killing this process. A handler, unlike SIG_IGN, is not inherited by
/// children; an ignored signal stays ignored.
pub fn catch_sigxfsz() {
    if !is_ignored(Signal::SIGXFSZ) {
        // registration cannot fail for this signal
        let _ = flag::register(Signal::SIGXFSZ as i32, Arc::default());
    }
}

/// The stop flag of the process, shared by all runs, so that a signal between two of them counts. Ignored signals stay ignored, for
/// nohup(1) and background jobs of shells.
///
/// # Errors
/// When a signal cannot be caught.
pub fn process_stop_flag() -> io::Result<Arc<AtomicBool>> {
    static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(stop) = STOP.get() {
        return Ok(Arc::clone(stop));
    }
    let stop = stop_flag()?;
    Ok(Arc::clone(STOP.get_or_init(|| stop)))
}

/// A new flag, set by signals from now on.
///
/// # Errors
/// When a signal cannot be caught.
pub fn stop_flag() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in STOP_SIGNALS {
        if !is_ignored(signal) {
            flag::register(signal as i32, Arc::clone(&stop))?;
        }
    }
    Ok(stop)
}

/// A stream that becomes readable at a signal.
///
/// # Errors
/// When a signal cannot be caught.
pub fn stop_stream() -> io::Result<UnixStream> {
    let (read, write) = UnixStream::pair()?;
    for signal in STOP_SIGNALS {
        if !is_ignored(signal) {
            signal_hook::low_level::pipe::register(signal as i32, write.try_clone()?)?;
        }
    }
    // with all signals ignored, dropping it would close the stream
    std::mem::forget(write);
    Ok(read)
}

#[allow(unsafe_code)]
fn is_ignored(which: Signal) -> bool {
    // SAFETY: a struct of numbers, for which zero is a valid value
    let mut now: nix::libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: only reads the disposition
    let result = unsafe { nix::libc::sigaction(which as i32, std::ptr::null(), &raw mut now) };
    result == 0 && now.sa_sigaction == nix::libc::SIG_IGN
}

/// Sends SIGTERM to this process when its standard output has no reader any more: ssh passes no signals on to a command without a
/// terminal, so that nothing else tells it of a lost connection.
pub fn end_with_reader() {
    std::thread::spawn(|| {
        let stdout = std::io::stdout();
        let mut ends = [PollFd::new(stdout.as_fd(), PollFlags::empty())];
        while let Err(Errno::EINTR) = poll(&mut ends, PollTimeout::NONE) {}
        if ends[0].any().unwrap_or(false) {
            let _ = kill(Pid::this(), Signal::SIGTERM);
        }
    });
}
