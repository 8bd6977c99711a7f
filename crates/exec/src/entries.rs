//! How often a program enters the kernel of the system, counted from outside under ptrace(2).
//!
//! The program is stopped at every entry and every exit, so nothing about its time can be learned here. It says itself
//! where its work begins and ends, by a call that has no other effect; only what is between is counted. Threads count
//! with the program, its child processes apart from it. A call that is entered anew only because the tracer looked at a
//! signal that the program ignores is one entry: without us it would not have been interrupted.
//! Must not know: benchmarks, what an operation is, how many entries there should be.

use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::Pid;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::mem::size_of;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use thiserror::Error;

/// How often the watchdog looks whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(100);
/// How much of standard error is kept; less than a pipe holds, so that the program is never blocked by it.
const MAX_STDERR: u64 = 4096;

/// The resource use that nobody has, for which the runtime of the kernels asks before and after the work.
const MARK: u64 = 19_840_801;
/// Threads and processes alike, but only those that this very thread traces.
const MINE: WaitPidFlag = WaitPidFlag::__WALL.union(WaitPidFlag::__WNOTHREAD);

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
        "kernel entries cannot be counted: the system does not let a process trace its children ({0}); in a container start it with --cap-add=SYS_PTRACE, elsewhere look at the sysctl kernel.yama.ptrace_scope"
    )]
    Forbidden(Errno),
    /// The system cannot say what a stop is.
    #[error("kernel entries cannot be counted: that takes Linux 5.3 or newer")]
    TooOld,
    /// Something else in the way of tracing.
    #[error("kernel entries cannot be counted: {call}: {errno}")]
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
    #[error("it ended well, but does not say where its work begins and ends")]
    Unmarked,
    /// It did not end in time, and was killed.
    #[error("it did not end within {} s under the eyes of a tracer and was killed", .0.as_secs_f64())]
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
    mut command: Command,
    deadline: Duration,
    stop: &AtomicBool,
) -> Result<Entries, Uncounted> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let program = command.get_program().to_owned();
    // a tracer is a thread, not a process: everything from the fork to the last wait happens in this one
    let mut child = spawn(command).map_err(|errno| refusal(errno, Path::new(&program)))?;
    let mut tracer = Tracer::new(Pid::from_raw(child.id().cast_signed()));
    let (traced, late) = watched(tracer.main, deadline, stop, || tracer.trace());
    tracer.kill_rest();
    // only now may the number of the process be given to another one: the watchdog is gone
    let status = child.wait();
    traced?;
    if stop.load(Ordering::Relaxed) {
        return Err(Uncounted::Interrupted);
    }
    if late {
        return Err(Uncounted::TimedOut(deadline));
    }
    match status {
        Ok(status) if status.success() && tracer.marks == 2 => Ok(tracer.entries),
        Ok(status) if status.success() => Err(Uncounted::Unmarked),
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

/// A process or thread that is traced.
#[derive(Clone, Copy, Debug, Default)]
struct Tracee {
    /// The program or a thread of it, not a child.
    own: bool,
    /// The stop with which its life begins is still to come.
    newborn: bool,
    /// Its last call is to be entered again, from this instruction.
    restarts: Option<u64>,
}

struct Tracer {
    main: Pid,
    tracees: BTreeMap<Pid, Tracee>,
    /// Stopped at birth before their parent told us of them.
    early: BTreeSet<Pid>,
    /// How often the program itself has marked a place: it works between the first and the second.
    marks: u32,
    entries: Entries,
}

impl Tracer {
    fn new(main: Pid) -> Self {
        let main_tracee = Tracee {
            own: true,
            newborn: true,
            restarts: None,
        };
        Self {
            main,
            tracees: BTreeMap::from([(main, main_tracee)]),
            early: BTreeSet::new(),
            marks: 0,
            entries: Entries::default(),
        }
    }

    /// Until the program has ended, which is seen but not yet reaped.
    fn trace(&mut self) -> Result<(), Uncounted> {
        let look = MINE | WaitPidFlag::WEXITED | WaitPidFlag::WSTOPPED | WaitPidFlag::WNOWAIT;
        loop {
            let next = match waitid(Id::All, look) {
                Err(Errno::EINTR) => continue,
                Err(errno) => return Err(Uncounted::system("waitid")(errno)),
                Ok(status) => status,
            };
            let ended = matches!(next, WaitStatus::Exited(..) | WaitStatus::Signaled(..));
            let Some(pid) = next.pid() else { continue };
            if ended && pid == self.main {
                self.tracees.remove(&pid);
                return Ok(());
            }
            match waitpid(pid, Some(MINE)) {
                // it was killed between the two looks
                Err(Errno::ECHILD | Errno::EINTR) => {}
                Err(errno) => return Err(Uncounted::system("waitpid")(errno)),
                Ok(status) => match self.stopped(pid, status) {
                    // killed while it was stopped: its end is the next that we hear of it
                    Err(Uncounted::System {
                        errno: Errno::ESRCH,
                        ..
                    }) => {}
                    other => other?,
                },
            }
        }
    }

    /// Deals with one stop, and lets the tracee go on.
    fn stopped(&mut self, pid: Pid, status: WaitStatus) -> Result<(), Uncounted> {
        let mut pass_on = None;
        match status {
            WaitStatus::Exited(..) | WaitStatus::Signaled(..) => {
                self.tracees.remove(&pid);
                self.early.remove(&pid);
                return Ok(());
            }
            WaitStatus::PtraceSyscall(_) => self.at_the_border(pid)?,
            WaitStatus::PtraceEvent(_, _, event) => self.event(pid, event)?,
            WaitStatus::Stopped(_, signal) => match self.tracees.get_mut(&pid) {
                None => {
                    self.early.insert(pid);
                    return Ok(());
                }
                Some(tracee) if tracee.newborn => {
                    tracee.newborn = false;
                    if pid == self.main {
                        let options = Options::PTRACE_O_TRACESYSGOOD
                            | Options::PTRACE_O_EXITKILL
                            | Options::PTRACE_O_TRACEFORK
                            | Options::PTRACE_O_TRACEVFORK
                            | Options::PTRACE_O_TRACECLONE
                            | Options::PTRACE_O_TRACEEXEC;
                        ptrace::setoptions(pid, options)
                            .map_err(Uncounted::system("ptrace(PTRACE_SETOPTIONS)"))?;
                    }
                }
                Some(_) => pass_on = Some(signal),
            },
            _ => {}
        }
        ptrace::syscall(pid, pass_on).map_err(Uncounted::system("ptrace(PTRACE_SYSCALL)"))
    }

    /// A tracee was born, or became another program.
    fn event(&mut self, pid: Pid, event: i32) -> Result<(), Uncounted> {
        let thread = event == nix::libc::PTRACE_EVENT_CLONE;
        if event == nix::libc::PTRACE_EVENT_EXEC {
            return Ok(());
        }
        let born =
            ptrace::getevent(pid).map_err(Uncounted::system("ptrace(PTRACE_GETEVENTMSG)"))?;
        let born = Pid::from_raw(born as i32);
        let parent = self.tracees.get(&pid).copied().unwrap_or_default();
        let was_early = self.early.remove(&born);
        let tracee = Tracee {
            own: parent.own && thread,
            newborn: !was_early,
            restarts: None,
        };
        self.tracees.insert(born, tracee);
        if was_early {
            ptrace::syscall(born, None).map_err(Uncounted::system("ptrace(PTRACE_SYSCALL)"))?;
        }
        Ok(())
    }

    /// At an entry or an exit.
    fn at_the_border(&mut self, pid: Pid) -> Result<(), Uncounted> {
        let info = syscall_info(pid).map_err(|errno| match errno {
            Errno::EIO | Errno::EINVAL => Uncounted::TooOld,
            _ => Uncounted::system("ptrace(PTRACE_GET_SYSCALL_INFO)")(errno),
        })?;
        let Some(tracee) = self.tracees.get_mut(&pid) else {
            return Ok(());
        };
        match info.op {
            SyscallInfo::ENTRY => {
                let again = tracee.restarts.take() == Some(info.instruction_pointer);
                match tracee.own {
                    true if info.is_mark() => self.marks += 1,
                    _ if again || self.marks != 1 => {}
                    true => self.entries.own += 1,
                    false => self.entries.children += 1,
                }
            }
            SyscallInfo::EXIT => {
                tracee.restarts = info.restarts().then_some(info.instruction_pointer);
            }
            _ => {}
        }
        Ok(())
    }

    /// Kills what is left. Their numbers are theirs: we have not waited for their ends.
    fn kill_rest(&mut self) {
        for pid in self.tracees.keys().chain(&self.early).copied() {
            let _ = kill(pid, Signal::SIGKILL);
            // the program itself is waited for by who started it
            if pid != self.main {
                wait_for_the_end_of(pid);
            }
        }
    }
}

fn wait_for_the_end_of(pid: Pid) {
    loop {
        match waitpid(pid, Some(MINE)) {
            Err(Errno::EINTR) => {}
            Err(_) | Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) => return,
            Ok(_) => {}
        }
    }
}

/// The beginning of `struct ptrace_syscall_info` of linux/ptrace.h; C libraries other than glibc do not have it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct SyscallInfo {
    op: u8,
    padding: [u8; 3],
    arch: u32,
    instruction_pointer: u64,
    stack_pointer: u64,
    /// At an entry the number of the call, at an exit what it returns.
    value: i64,
    /// At an entry.
    arguments: [u64; 6],
    rest: [u64; 2],
}

impl SyscallInfo {
    const ENTRY: u8 = 1;
    const EXIT: u8 = 2;

    fn is_mark(&self) -> bool {
        self.value == nix::libc::SYS_getrusage && self.arguments[0] == MARK
    }

    /// Whether the call was interrupted, and will be entered again unless a handler thinks otherwise: ERESTARTSYS,
    /// ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK, which only tracers see.
    fn restarts(&self) -> bool {
        matches!(-self.value, 512..=514 | 516)
    }
}

#[allow(unsafe_code)]
fn syscall_info(pid: Pid) -> Result<SyscallInfo, Errno> {
    const PTRACE_GET_SYSCALL_INFO: i32 = 0x420e;
    let mut info = SyscallInfo::default();
    // SAFETY: the system writes at most as many bytes as it is told that there are, and any bytes are a SyscallInfo
    let result = unsafe {
        nix::libc::ptrace(
            PTRACE_GET_SYSCALL_INFO as _,
            pid.as_raw(),
            size_of::<SyscallInfo>(),
            &raw mut info,
        )
    };
    Errno::result(result).map(|_| info)
}
