//! Kills processes without races against pid reuse.

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

/// Kills a process if `is_meant` holds once the pid cannot be reused.
pub(crate) fn kill_if(pid: i32, is_meant: impl Fn() -> bool) {
    let Some(pid) = Pid::from_raw(pid) else {
        return;
    };
    let done = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(fd) if is_meant() => pidfd_send_signal(fd, Signal::KILL),
        // Linux before 5.3 has no pidfd, and seccomp filters refuse what they do not know
        Err(Errno::NOSYS | Errno::PERM) if is_meant() => kill_process(pid, Signal::KILL),
        _ => Ok(()),
    };
    // a process that is gone need not be killed, and callers look again
    let _ = done;
}
