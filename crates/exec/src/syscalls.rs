//! What a program does, counted from outside under ptrace(2): how often it enters the kernel of the system, and in [`steps`] its instructions.
//!
//! The program is stopped at every entry and every exit, so nothing about its time can be learned here. It says itself
//! where its work begins and ends, by a call that has no other effect; only what is between is counted. Threads count
//! with the program, its child processes apart from it. A call that is entered anew only because the tracer looked at a
//! signal that the program ignores is one entry: without us it would not have been interrupted.

mod steps;
mod tracer;

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

/// How often the watchdog looks whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(100);
/// How much of standard error is passed on. It is read at the end: a program that says more than a pipe holds runs into
/// its deadline.
const MAX_STDERR: u64 = 4096;

/// Entries into the kernel while the program did its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    /// Of the program itself, all of its threads together.
    pub own: u64,
    /// Of its child processes and theirs.
    pub children: u64,
}

/// Why entries could not be counted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Uncounted {
    /// The system does not let us trace.
    #[error(
        "the program cannot be traced: the system does not let a process trace its children ({0}); in a container start it with --cap-add=SYS_PTRACE, elsewhere look at the sysctl kernel.yama.ptrace_scope"
    )]
    Forbidden(Errno),
    /// The system cannot say what a stop is.
    #[error("the program cannot be traced: that takes Linux 5.3 or newer")]
    TooOld,
    /// Something else in the way of tracing.
    #[error("the program cannot be traced: {call}: {errno}")]
    System {
        /// The call.
        call: &'static str,
        /// Its error.
        errno: Errno,
    },
    /// The program cannot be started.
    #[error("it cannot be started: {0}")]
    Start(String),
    /// The program ended badly.
    #[error("{0}")]
    Ended(String),
    /// The program never said where its work begins and ends.
    #[error("it exited with 0, but did not report where its work begins and ends")]
    Unmarked,
    /// Its work is not that of one thread.
    #[error("its instructions cannot be counted: more than one thread or process does its work")]
    Several,
    /// There are too many instructions to stop after each.
    #[error("its instructions cannot be counted: too many for single steps")]
    TooLong,
    /// Twice the operations take no more instructions.
    #[error("its instructions cannot be counted: their number does not grow with n")]
    Constant,
    /// It did not end in time, and was killed.
    #[error("it did not end within {} s while being traced and was killed", .0.as_secs_f64())]
    TimedOut(Duration),
    /// The user asked to stop.
    #[error("stopped on request")]
    Interrupted,
}

impl Uncounted {
    fn system(call: &'static str) -> impl FnOnce(Errno) -> Self {
        move |errno| Self::System { call, errno }
    }
}

/// Counts the entries of one execution of `command`, a kernel in its mode `count`, whose descriptors 0 and 1 become /dev/null.
///
/// # Errors
/// When the system forbids it, or the program does not end well within `deadline`; it and all of its children are gone then.
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

/// What `trace` learns of `command`, which it sees stopped as its program begins, and follows to its end; `None` where that said not where
/// its work begins and ends.
fn traced<T: Send>(
    command: Command,
    deadline: Duration,
    stop: &AtomicBool,
    trace: impl FnOnce(Pid) -> Result<Option<T>, Uncounted> + Send,
) -> Result<T, Uncounted> {
    // a tracer is a thread, not a process: everything from the fork to the last wait happens in this one, which has
    // no other children whose end it could take for that of a traced one
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
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let program = command.get_program().to_owned();
    let mut child = spawn(command).map_err(|errno| refusal(errno, Path::new(&program)))?;
    let pid = Pid::from_raw(child.id().cast_signed());
    let (traced, late) = watched(pid, deadline, stop, || trace(pid));
    // only now may the number of the process be given to another one: the watchdog is gone
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
    // SAFETY: between fork and exec the closure makes one system call, and nothing else
    unsafe { command.pre_exec(|| Ok(ptrace::traceme()?)) };
    command
        .spawn()
        .map_err(|why| Errno::from_raw(why.raw_os_error().unwrap_or(0)))
}

/// The same numbers come from the exec of a program that is not there and from a system that forbids to trace.
fn refusal(errno: Errno, program: &Path) -> Uncounted {
    match errno {
        Errno::EPERM | Errno::EACCES | Errno::ENOSYS if program.exists() => {
            Uncounted::Forbidden(errno)
        }
        _ => Uncounted::Start(format!("{}: {errno}", program.display())),
    }
}

fn ending(status: std::process::ExitStatus, child: &mut Child) -> String {
    let mut said = vec![];
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(MAX_STDERR).read_to_end(&mut said);
    }
    let said = String::from_utf8_lossy(&said);
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with status {code}"),
        (None, signal) => format!("it was killed by signal {}", signal.unwrap_or(0)),
    };
    match said.trim() {
        "" => how,
        text => format!("{how}; it said: {text}"),
    }
}

/// Does `work` while another thread kills the process at the deadline or when the user wants to stop. Returns also
/// whether the deadline came.
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
            while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
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
