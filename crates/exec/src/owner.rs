//! Who made something: a process, told from all others, of this boot and others, of this container and others.

use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// The process namespace of this boot of this machine, as a number: process numbers mean something only within it, and
/// containers and machines may share a directory.
pub(crate) fn namespace() -> u32 {
    let inode = fs::metadata("/proc/self/ns/pid").map_or(0, |meta| meta.ino());
    let digest = Sha256::digest(format!("{} {} {inode}", host(), boot()));
    digest
        .iter()
        .take(4)
        .fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// When a process started, in ticks since boot: it tells it from a later one of its number. `None` when there is no
/// such process, or it has ended and only waits to be reaped.
pub(crate) fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut words = stat.rsplit_once(')')?.1.split_whitespace();
    let state = words.next()?;
    let start = words.nth(18)?.parse().ok();
    start.filter(|_| !matches!(state, "Z" | "X"))
}

/// Which boot this is: settings of the kernel do not outlive it.
pub(crate) fn boot() -> String {
    line("/proc/sys/kernel/random/boot_id")
}

/// The name of this machine.
pub(crate) fn host() -> String {
    line("/proc/sys/kernel/hostname")
}

fn line(path: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.trim().to_owned()
}
