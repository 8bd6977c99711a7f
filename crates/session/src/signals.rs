//! Signals: those that end a run in order, and those whose usual effect is not what we find.

use nix::sys::signal::{SigHandler, Signal, raise, signal};
use signal_hook::flag;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// Ctrl-C, kill, the terminal that goes away.
const ENDING: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// Children can be waited for, whatever our parent thought of its own: to ignore this signal is inherited.
#[allow(unsafe_code)]
pub fn reset_sigchld() {
    // SAFETY: the default action is not a function of ours, so nothing can be unsound in it
    let _ = unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) };
}

/// `gritstone show | head` is no error: ends the process as the signal that Rust ignores ends cat(1).
#[allow(unsafe_code)]
pub fn exit_by_sigpipe() -> ! {
    // SAFETY: as above
    let _ = unsafe { signal(Signal::SIGPIPE, SigHandler::SigDfl) };
    let _ = raise(Signal::SIGPIPE);
    std::process::exit(128 + Signal::SIGPIPE as i32)
}

/// A file that would grow beyond the limit on its size (`ulimit -f`) is an error of write(2), and not the end of this process without a
/// word. With a handler, what we execute has the usual effect again; a signal that is ignored stays so.
pub fn catch_sigxfsz() {
    if !ignored(Signal::SIGXFSZ) {
        // it is refused for no signal of this kind
        let _ = flag::register(Signal::SIGXFSZ as i32, Arc::default());
    }
}

/// A flag that becomes true when this process is to end: one for all of its runs, so that a signal between two of them counts. A signal
/// that is ignored stays so: nohup(1) and shells that start us in the background mean it.
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

/// A flag that becomes true when a signal to end comes from now on.
///
/// # Errors
/// When a signal cannot be caught.
pub fn stop_flag() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for ending in ENDING {
        if !ignored(ending) {
            flag::register(ending as i32, Arc::clone(&stop))?;
        }
    }
    Ok(stop)
}

/// A stream that can be read when a signal to end has come.
///
/// # Errors
/// When a signal cannot be caught.
pub fn stop_stream() -> io::Result<UnixStream> {
    let (read, write) = UnixStream::pair()?;
    for ending in ENDING {
        if !ignored(ending) {
            signal_hook::low_level::pipe::register(ending as i32, write.try_clone()?)?;
        }
    }
    // or it would count as closed where all signals are ignored
    std::mem::forget(write);
    Ok(read)
}

/// Whether it is ignored.
#[allow(unsafe_code)]
pub fn ignored(which: Signal) -> bool {
    // SAFETY: a struct of numbers, for which zero is a value each
    let mut now: nix::libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: asks and sets nothing
    let asked = unsafe { nix::libc::sigaction(which as i32, std::ptr::null(), &raw mut now) };
    asked == 0 && now.sa_sigaction == nix::libc::SIG_IGN
}
