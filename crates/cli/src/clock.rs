//! The clock of a run. It stands still while a Ctrl-Z has us stopped: whoever asks for ten minutes does not mean those.
//!
//! What is measured is not stopped with us, and ends by itself; what the machine did until we went on counts as done beside it.
//!
//! Must not know: what the time is for.

use nix::errno::Errno;
use nix::sys::signal::{SigHandler, SigSet, Signal, raise, signal};
use nix::time::{ClockId, clock_gettime};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long we were stopped, ns.
static STOPPED: AtomicU64 = AtomicU64::new(0);

/// Time since its start, without that of stops.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    /// Of the time stopped, what came before the start.
    before: Duration,
}

impl Clock {
    /// Starts it.
    pub fn start() -> Self {
        static HANDLED: Once = Once::new();
        HANDLED.call_once(count_stops);
        Self {
            start: Instant::now(),
            before: stopped(),
        }
    }

    /// Time since its start.
    pub fn elapsed(&self) -> Duration {
        let stops = stopped().saturating_sub(self.before);
        self.start.elapsed().saturating_sub(stops)
    }
}

fn stopped() -> Duration {
    Duration::from_nanos(STOPPED.load(Ordering::Relaxed))
}

/// From now on the time of stops is counted. A signal that is ignored stays so.
#[allow(unsafe_code)]
fn count_stops() {
    if crate::signals::ignored(Signal::SIGTSTP) {
        return;
    }
    // SAFETY: the handler makes only calls that a handler may make, and leaves errno as it was
    let _ = unsafe { signal(Signal::SIGTSTP, SigHandler::Handler(stop)) };
}

/// Stops as if there were no handler, so that the system decides whether: a process that no shell could let go on again is not
/// stopped.
#[allow(unsafe_code)]
extern "C" fn stop(_: nix::libc::c_int) {
    let errno = Errno::last_raw();
    let begun = now();
    // SAFETY: the default action is not a function of ours
    let _ = unsafe { signal(Signal::SIGTSTP, SigHandler::SigDfl) };
    let _ = raise(Signal::SIGTSTP);
    // it was blocked since we are its handler; here we stand
    let _ = SigSet::from(Signal::SIGTSTP).thread_unblock();
    // SAFETY: as in `count_stops`
    let _ = unsafe { signal(Signal::SIGTSTP, SigHandler::Handler(stop)) };
    STOPPED.fetch_add(now().saturating_sub(begun), Ordering::Relaxed);
    Errno::set_raw(errno);
}

/// The clock of `Instant`, ns.
fn now() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC);
    time.map_or(0, |time| {
        time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
    })
}
