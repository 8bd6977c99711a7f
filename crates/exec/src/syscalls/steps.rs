//! Counts user-mode instructions of a program's work by single-stepping.
//!
//! A repetition of an x86 string instruction counts, as the processor traps each; so does a handled signal. An
//! aarch64 loop that waits for an exclusive store never ends under a tracer, and meets the limit.

use super::tracer::{MINE, wait_until_exit};
use super::{Uncounted, traced};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::Pid;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Signal that a workload in mode `step` sends itself before and after its work.
const MARK: Signal = Signal::SIGURG;

/// Limits between the marks, beyond which stepping is abandoned.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    pub instructions: u64,
    pub time: Duration,
}

/// Counts between the marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// In user mode.
    pub instructions: u64,
    pub took: Duration,
}

/// Steps one execution of `command`, a workload in mode `step`, from a thread on `cpu`: on the same CPU, a step is
/// several times as fast. Fails if the work has several threads, or exceeds `limit`.
pub fn step(
    command: Command,
    cpu: Option<u32>,
    limit: Limit,
    deadline: Duration,
    stop: &AtomicBool,
) -> Result<Steps, Uncounted> {
    traced(command, deadline, stop, |pid| {
        let mut set = CpuSet::new();
        if cpu.is_some_and(|cpu| set.set(cpu as usize).is_ok()) {
            let _ = sched_setaffinity(Pid::from_raw(0), &set);
        }
        let stepped = from_mark_to_mark(pid, limit);
        if stepped.is_err() {
            let _ = kill(pid, Signal::SIGKILL);
        }
        stepped
    })
}

fn from_mark_to_mark(pid: Pid, limit: Limit) -> Result<Option<Steps>, Uncounted> {
    if !matches!(wait(pid)?, WaitStatus::Stopped(..)) {
        return Ok(None);
    }
    let options = Options::PTRACE_O_EXITKILL
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACECLONE;
    ptrace::setoptions(pid, options).map_err(Uncounted::system("ptrace(PTRACE_SETOPTIONS)"))?;
    let mut pass_on = None;
    loop {
        ptrace::cont(pid, pass_on).map_err(Uncounted::system("ptrace(PTRACE_CONT)"))?;
        match wait(pid)? {
            WaitStatus::Stopped(_, MARK) => break,
            WaitStatus::Stopped(_, signal) => pass_on = Some(signal),
            WaitStatus::PtraceEvent(..) => return Err(kill_multi_threaded(pid)),
            _ => return Ok(None),
        }
    }
    let (start, mut steps) = (Instant::now(), Steps::default());
    pass_on = None;
    loop {
        ptrace::step(pid, pass_on).map_err(Uncounted::system("ptrace(PTRACE_SINGLESTEP)"))?;
        pass_on = match wait(pid)? {
            WaitStatus::Stopped(_, Signal::SIGTRAP) => None,
            WaitStatus::Stopped(_, MARK) => break,
            WaitStatus::Stopped(_, signal) => Some(signal),
            WaitStatus::PtraceEvent(..) => return Err(kill_multi_threaded(pid)),
            _ => return Ok(None),
        };
        steps.instructions += u64::from(pass_on.is_none());
        steps.took = start.elapsed();
        if steps.instructions > limit.instructions || steps.took > limit.time {
            return Err(Uncounted::TooLong);
        }
    }
    // the rest shows whether the work was done; it need not stop any more
    ptrace::detach(pid, None).map_err(Uncounted::system("ptrace(PTRACE_DETACH)"))?;
    wait(pid)?;
    Ok(Some(steps))
}

/// Kills the program and its new thread or process.
fn kill_multi_threaded(pid: Pid) -> Uncounted {
    let child = ptrace::getevent(pid);
    let _ = kill(pid, Signal::SIGKILL);
    if let Ok(child) = child {
        let child = Pid::from_raw(child as i32);
        let _ = kill(child, Signal::SIGKILL);
        wait_until_exit(child);
    }
    Uncounted::MultiThreaded
}

/// The next stop of the program, or its end, not reaped.
fn wait(pid: Pid) -> Result<WaitStatus, Uncounted> {
    let flags = MINE | WaitPidFlag::WEXITED | WaitPidFlag::WSTOPPED | WaitPidFlag::WNOWAIT;
    let status = waitid(Id::Pid(pid), flags);
    if matches!(status, Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) | Err(_)) {
        return status.map_err(Uncounted::system("waitid"));
    }
    waitpid(pid, Some(MINE)).map_err(Uncounted::system("waitpid"))
}
