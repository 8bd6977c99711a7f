//! Ptrace loop: every stop of a program and its descendants.

use super::{Entries, Uncounted};
use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::Pid;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::size_of;

/// An invalid `getrusage` argument used as a marker by the runtime.
const MARK: u64 = 19_840_801;
/// Threads and processes traced by this thread.
pub(super) const MINE: WaitPidFlag = WaitPidFlag::__WALL.union(WaitPidFlag::__WNOTHREAD);

/// A traced process or thread.
#[derive(Clone, Copy, Debug, Default)]
struct Tracee {
    /// The program or one of its threads.
    is_main: bool,
    /// Its initial stop is still to come.
    newborn: bool,
    /// The instruction at which its last call is restarted.
    restarts: Option<u64>,
}

/// Tracer of one program.
pub(super) struct Tracer {
    pub main: Pid,
    tracees: BTreeMap<Pid, Tracee>,
    /// Stopped before their parent's event.
    early: BTreeSet<Pid>,
    /// Marks so far: the work is between the first and second.
    pub marks: u32,
    pub entries: Entries,
}

impl Tracer {
    /// For a process after PTRACE_TRACEME.
    pub fn new(main: Pid) -> Self {
        let main_tracee = Tracee { is_main: true, newborn: true, restarts: None };
        Self {
            main,
            tracees: BTreeMap::from([(main, main_tracee)]),
            early: BTreeSet::new(),
            marks: 0,
            entries: Entries::default(),
        }
    }

    /// Traces until the program has ended; does not reap it.
    pub fn trace(&mut self) -> Result<(), Uncounted> {
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
                // it was killed between the two calls
                Err(Errno::ECHILD | Errno::EINTR) => {}
                Err(errno) => return Err(Uncounted::system("waitpid")(errno)),
                Ok(status) => match self.stopped(pid, status) {
                    // killed while stopped: the next event is its end
                    Err(Uncounted::System { errno: Errno::ESRCH, .. }) => {}
                    other => other?,
                },
            }
        }
    }

    /// Handles one stop, and continues the tracee.
    fn stopped(&mut self, pid: Pid, status: WaitStatus) -> Result<(), Uncounted> {
        let mut pass_on = None;
        match status {
            WaitStatus::Exited(..) | WaitStatus::Signaled(..) => {
                self.tracees.remove(&pid);
                self.early.remove(&pid);
                return Ok(());
            }
            WaitStatus::PtraceSyscall(_) => self.system_call(pid)?,
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

    /// A tracee was born, or called exec.
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
        let tracee =
            Tracee { is_main: parent.is_main && thread, newborn: !was_early, restarts: None };
        self.tracees.insert(born, tracee);
        if was_early {
            ptrace::syscall(born, None).map_err(Uncounted::system("ptrace(PTRACE_SYSCALL)"))?;
        }
        Ok(())
    }

    /// At a system call entry or exit.
    fn system_call(&mut self, pid: Pid) -> Result<(), Uncounted> {
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
                match tracee.is_main {
                    true if info.is_mark() => self.marks += 1,
                    _ if again || self.marks != 1 => {}
                    true => self.entries.program += 1,
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

    /// Kills all tracees but the program. They are not reaped, so their pids are valid.
    pub fn kill_rest(&mut self) {
        for pid in self.tracees.keys().chain(&self.early).copied() {
            let _ = kill(pid, Signal::SIGKILL);
            // the caller waits for the program itself
            if pid != self.main {
                wait_until_exit(pid);
            }
        }
    }
}

pub(super) fn wait_until_exit(pid: Pid) {
    loop {
        match waitpid(pid, Some(MINE)) {
            Err(Errno::EINTR) => {}
            Err(_) | Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) => return,
            Ok(_) => {}
        }
    }
}

/// Prefix of `struct ptrace_syscall_info` of linux/ptrace.h, which only glibc declares.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct SyscallInfo {
    op: u8,
    padding: [u8; 3],
    arch: u32,
    instruction_pointer: u64,
    stack_pointer: u64,
    /// Number of the call at entry, result at exit.
    value: i64,
    /// Valid at entry.
    arguments: [u64; 6],
    rest: [u64; 2],
}

impl SyscallInfo {
    const ENTRY: u8 = 1;
    const EXIT: u8 = 2;

    fn is_mark(&self) -> bool {
        self.value == nix::libc::SYS_getrusage && self.arguments[0] == MARK
    }

    /// True if the call was interrupted, and will be restarted unless a handler intervenes: ERESTARTSYS,
    /// ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK, which only tracers see.
    fn restarts(&self) -> bool {
        matches!(-self.value, 512..=514 | 516)
    }
}

#[allow(unsafe_code)]
fn syscall_info(pid: Pid) -> Result<SyscallInfo, Errno> {
    const PTRACE_GET_SYSCALL_INFO: i32 = 0x420e;
    let mut info = SyscallInfo::default();
    // SAFETY: the kernel writes at most the given number of bytes, and any bytes are a valid SyscallInfo
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
