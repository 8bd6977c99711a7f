//! Counts the system calls of a program under ptrace(2), and in [`steps`] its instructions.
//!
//! The program stops at every entry and exit, so its time means nothing. It marks the begin and end of its work by a
//! call without effect; only calls between are counted. Threads count with the program, child processes separately. A
//! call that is restarted only because the tracer saw an ignored signal counts once: it would not have been
//! interrupted otherwise.

mod steps;
mod tracer;

use crate::process::nothing;
use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
pub use steps::{Limit, Steps, step};
use thiserror::Error;
use tracer::Tracer;

const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Bytes of standard error that are passed on. Read at the end: a program that writes more than a pipe holds meets
/// its deadline.
const MAX_STDERR: u64 = 4096;

/// System calls during the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    /// Calls by the program with all its threads.
    pub program: u64,
    /// Calls by its descendants.
    pub children: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Uncounted {
    #[error(
        "the program cannot be traced: the system does not let a process trace its children ({0}); in a container start it with --cap-add=SYS_PTRACE, elsewhere look at the sysctl kernel.yama.ptrace_scope"
    )]
    Forbidden(Errno),
    /// The kernel lacks PTRACE_GET_SYSCALL_INFO.
    #[error("the program cannot be traced: that takes Linux 5.3 or newer")]
    TooOld,
    #[error("the program cannot be traced: {call}: {errno}")]
    System { call: &'static str, errno: Errno },
    #[error("it cannot be started: {0}")]
    Start(String),
    #[error("{0}")]
    Ended(String),
    /// The program did not mark its work.
    #[error("it exited with 0, but did not report where its work begins and ends")]
    Unmarked,
    /// It has several threads or processes.
    #[error("its instructions cannot be counted: more than one thread or process does its work")]
    MultiThreaded,
    #[error("its instructions cannot be counted: too many for single steps")]
    TooLong,
    /// Twice the operations take no more instructions.
    #[error("its instructions cannot be counted: their number does not grow with n")]
    Constant,
    #[error("it did not end within {} s while being traced and was killed", .0.as_secs_f64())]
    TimedOut(Duration),
    #[error("stopped on request")]
    Interrupted,
}

impl Uncounted {
    fn system(call: &'static str) -> impl FnOnce(Errno) -> Self {
        move |errno| Self::System { call, errno }
    }
}

/// Counts the system calls of one execution of `command`, a workload in mode `count`, whose descriptors 0 and 1
/// become /dev/null. On return, it and its descendants are gone.
pub fn count(
    command: Command,
    deadline: Duration,
    stop: &AtomicBool,
) -> Result<Entries, Uncounted> {
    traced(command, deadline, stop, |pid| {
        let mut tracer = Tracer::new(pid);
        let traced = tracer.trace();
        tracer.kill_rest();
        traced.map(|()| (tracer.marks == 2).then_some(tracer.entries))
    })
}

/// Result of `trace` for `command`, which is stopped at its exec and followed to its end; `None` if it did not mark
/// its work.
fn traced<T: Send>(
    command: Command,
    deadline: Duration,
    stop: &AtomicBool,
    trace: impl FnOnce(Pid) -> Result<Option<T>, Uncounted> + Send,
) -> Result<T, Uncounted> {
    // a tracer is a thread: everything from fork to the last wait happens in this one, which has no other children
    // whose end it could confuse with a tracee's
    std::thread::scope(|scope| {
        let tracer = scope.spawn(|| traced_here(command, deadline, stop, trace));
        match tracer.join() {
            Ok(counted) => counted,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn traced_here<T>(
    mut command: Command,
    deadline: Duration,
    stop: &AtomicBool,
    trace: impl FnOnce(Pid) -> Result<Option<T>, Uncounted>,
) -> Result<T, Uncounted> {
    let not_opened = |why: std::io::Error| Uncounted::Start(why.to_string());
    let [input, output] = [nothing(), nothing()].map(|file| file.map_err(not_opened));
    command.stdin(input?).stdout(output?).stderr(Stdio::piped());
    let program = command.get_program().to_owned();
    let mut child = spawn(command).map_err(|errno| refusal(errno, Path::new(&program)))?;
    let pid = Pid::from_raw(child.id().cast_signed());
    let (traced, late) = watched(pid, deadline, stop, || trace(pid));
    // the pid may be reused from now on, so the killing thread has ended
    let status = child.wait();
    if stop.load(Ordering::Relaxed) {
        return Err(Uncounted::Interrupted);
    }
    if late {
        return Err(Uncounted::TimedOut(deadline));
    }
    let traced = traced?;
    match status {
        Ok(status) if status.success() => traced.ok_or(Uncounted::Unmarked),
        Ok(status) => Err(Uncounted::Ended(ending(status, &mut child))),
        Err(why) => Err(Uncounted::Ended(why.to_string())),
    }
}

#[allow(unsafe_code)]
fn spawn(mut command: Command) -> Result<Child, Errno> {
    // SAFETY: between fork and exec, the closure makes one system call only
    unsafe { command.pre_exec(|| Ok(ptrace::traceme()?)) };
    command.spawn().map_err(|why| Errno::from_raw(why.raw_os_error().unwrap_or(0)))
}

/// A missing program and a system that forbids tracing have the same errno.
fn refusal(errno: Errno, program: &Path) -> Uncounted {
    match errno {
        Errno::EPERM | Errno::EACCES | Errno::ENOSYS if program.exists() => {
            Uncounted::Forbidden(errno)
        }
        _ => Uncounted::Start(format!("{}: {errno}", program.display())),
    }
}

fn ending(status: std::process::ExitStatus, child: &mut Child) -> String {
    let mut output = vec![];
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(MAX_STDERR).read_to_end(&mut output);
    }
    let output = String::from_utf8_lossy(&output);
    let ending = match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with status {code}"),
        (None, signal) => format!("it was killed by signal {}", signal.unwrap_or(0)),
    };
    match output.trim() {
        "" => ending,
        text => format!("{ending}; it said: {text}"),
    }
}

/// Does `work` while another thread kills the process at the deadline or on request. Also returns true if the deadline passed.
fn watched<T>(
    pid: Pid,
    deadline: Duration,
    stop: &AtomicBool,
    work: impl FnOnce() -> T,
) -> (T, bool) {
    let (done, over) = channel::<()>();
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let watchdog = scope.spawn(move || {
            while over.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let late = begin.elapsed() >= deadline;
                if late || stop.load(Ordering::Relaxed) {
                    let _ = kill(pid, Signal::SIGKILL);
                    return late;
                }
            }
            false
        });
        let result = work();
        drop(done);
        (result, watchdog.join().unwrap_or(false))
    })
}
