//! Identity of a process across pid reuse, boots and containers.

use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// Hash of this pid namespace, boot and host: pids mean something only within it, and containers and machines may
/// share a directory.
pub(crate) fn namespace() -> u32 {
    let inode = fs::metadata("/proc/self/ns/pid").map_or(0, |meta| meta.ino());
    let digest = Sha256::digest(format!("{} {} {inode}", host(), boot()));
    digest
        .iter()
        .take(4)
        .fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// Start time of a process, ticks since boot, to detect pid reuse. `None` if it does not exist or is a zombie.
pub(crate) fn start_of(pid: u32) -> Option<u64> {
    // the name of a program may be any bytes
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
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
