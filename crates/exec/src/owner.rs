//! Identity of a process across pid reuse, boots and containers.

use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// Hash of this pid namespace, boot and host: pids mean something only within it, and containers and machines may
/// share a directory.
pub(crate) fn namespace() -> u32 {
    let inode = fs::metadata("/proc/self/ns/pid").map_or(0, |meta| meta.ino());
    let digest = Sha256::digest(format!("{} {} {inode}", host(), boot()));
    digest.iter().take(4).fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// Whether /proc shows this pid namespace. One of another (after `unshare --pid` without `--mount-proc`) has other processes under our
/// pids.
pub(crate) fn sees_processes() -> bool {
    let pid = std::process::id().to_string();
    fs::read_link("/proc/self").is_ok_and(|link| link.as_os_str() == pid.as_str())
}

/// Whether a process that began at `start` (0: unknown) may be running; true where processes cannot be seen.
pub(crate) fn may_run(pid: u32, start: u64) -> bool {
    !sees_processes() || start_of(pid).is_some_and(|now| start == 0 || now == start)
}

/// Start time of this process; 0 if unknown. Any /proc shows it.
pub(crate) fn our_start() -> u64 {
    start_in("/proc/self/stat").unwrap_or(0)
}

/// Start time of a process, ticks since boot, to detect pid reuse. `None` if it does not exist, is a zombie or cannot be seen.
pub(crate) fn start_of(pid: u32) -> Option<u64> {
    start_in(&format!("/proc/{pid}/stat")).filter(|_| sees_processes())
}

fn start_in(stat: &str) -> Option<u64> {
    // the name of a program may be any bytes
    let stat = fs::read(stat).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let mut words = stat.rsplit_once(')')?.1.split_whitespace();
    let state = words.next()?;
    let start = words.nth(18)?.parse().ok();
    start.filter(|_| !matches!(state, "Z" | "X"))
}

/// Kernel settings do not outlive a boot.
pub(crate) fn boot() -> String {
    line("/proc/sys/kernel/random/boot_id")
}

pub(crate) fn host() -> String {
    line("/proc/sys/kernel/hostname")
}

fn line(path: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a pid namespace with the /proc of another.
    #[test]
    #[ignore = "started by the other test"]
    fn foreign_proc() {
        assert!(!sees_processes() && start_of(1).is_none());
        assert!(may_run(1, our_start() + 1) && our_start() > 0);
    }

    #[test]
    fn foreign_proc_hides_processes_as_root() {
        let test = std::env::current_exe().unwrap();
        let output = std::process::Command::new("unshare")
            .args(["--pid", "--fork"])
            .arg(test)
            .args(["--exact", "owner::tests::foreign_proc", "--ignored"])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }

    #[test]
    fn own_process_may_run() {
        let pid = std::process::id();
        let start = our_start();
        assert!(sees_processes() && start_of(pid) == Some(start));
        assert!(may_run(pid, start) && may_run(pid, 0));
        assert!(!may_run(pid, start + 1) && !may_run(0, 0));
    }
}
