//! Outcome of a launch, from its events and the report of its supervisor.

use crate::limits::advice;
use crate::process::Ended;
use gritstone_model::{Event, Outcome, pluralize};
use nix::libc::{EAGAIN, EDQUOT, EFBIG, ENOSPC};
use nix::sys::signal::Signal;
use std::io;
use std::time::Duration;

/// Calls that start a process or thread: only for them EAGAIN means too many.
const STARTS: [&str; 4] = ["fork", "posix_spawn", "pthread_create", "clone"];

/// Classifies the exit: the first matching cause, root cause first.
pub(crate) fn classify(name: &str, ended: Ended, deadline: Duration) -> (Outcome, Vec<Event>) {
    let end = ended.end;
    let stderr = match ended.stderr.as_str() {
        "" => String::new(),
        text => format!("; it said: {text}"),
    };
    let last = ended.events.last();
    let other = ended.events.first().and_then(|first| match first {
        Event::Hello { kernel, .. } if kernel != name => Some(kernel),
        _ => None,
    });
    let outcome = if ended.timed_out {
        Outcome::TimedOut(format!(
            "it did not end within {} s and was stopped",
            deadline.as_secs_f64()
        ))
    } else if let Some(Event::Fail { errno, call, why }) = last {
        let why_short = || advice(&io::Error::from_raw_os_error(*errno));
        let number = match *errno {
            0 => String::new(),
            ENOSPC | EDQUOT | EFBIG => format!(" (errno {errno}{})", why_short()),
            EAGAIN if STARTS.contains(&call.as_str()) => {
                format!(" (errno {errno}{})", why_short())
            }
            errno => format!(" (errno {errno})"),
        };
        Outcome::Failed(format!("{call}: {why}{number}"))
    } else if let Some(Event::Skip { why }) = last {
        Outcome::Skipped(why.clone())
    } else if let Some(why) = ended.refusal() {
        Outcome::Failed(format!("the supervisor could not start a process: {why}"))
    } else if end.is_none() && !ended.stopped {
        Outcome::Failed(format!("its supervisor was killed{stderr}"))
    } else if let Some(signal) = end.and_then(|end| end.signal).filter(|_| !ended.stopped) {
        Outcome::Failed(format!("killed by {}{stderr}", signal_name(signal)))
    } else if let Some(why) = &ended.protocol {
        Outcome::Failed(format!("{why}{stderr}"))
    } else if let Some(kernel) = other {
        Outcome::Failed(format!("its name is {kernel}, not {name}"))
    } else if let Some(end) = end.filter(|end| end.exit != 0) {
        Outcome::Failed(format!("it ended with status {}{stderr}", end.exit))
    } else if let Some(end) = end.filter(|end| end.left > 0) {
        let processes = pluralize(end.left as usize, "process");
        Outcome::Failed(format!("it left {} {processes} running; killed", end.left))
    } else {
        Outcome::Measured
    };
    (outcome, ended.events)
}

fn signal_name(number: i32) -> String {
    match Signal::try_from(number) {
        Ok(Signal::SIGXFSZ) => {
            let shortage = advice(&io::ErrorKind::FileTooLarge.into());
            format!("signal {number} (SIGXFSZ{shortage})")
        }
        Ok(signal) => format!("signal {number} ({signal})"),
        Err(_) => format!("signal {number}"),
    }
}
