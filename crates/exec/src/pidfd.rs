//! Kills processes that are sure to be those that were looked at.

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

/// Kills a process if `is_meant` still says so once its number can go to no other.
pub(crate) fn kill_if(pid: i32, is_meant: impl Fn() -> bool) {
    let Some(pid) = Pid::from_raw(pid) else {
        return;
    };
    let done = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(fd) if is_meant() => pidfd_send_signal(fd, Signal::KILL),
        // Linux before 5.3 has no descriptors of processes, and filters of system calls refuse what they do not know
        Err(Errno::NOSYS | Errno::PERM) if is_meant() => kill_process(pid, Signal::KILL),
        _ => Ok(()),
    };
    // who is gone need not be killed, and whoever calls this looks again
    let _ = done;
}
