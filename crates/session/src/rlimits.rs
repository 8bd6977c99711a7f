//! Resource limits of this process (`ulimit`), checked before anything is made.

use crate::NothingMeasured;
use anyhow::Result;
use nix::sys::resource::{Resource, getrlimit};

/// Bytes of stack: a build without optimization takes half of it.
const STACK: u64 = 1 << 20;
/// Bytes of address space: twice what a run needs.
const ADDRESS_SPACE: u64 = 256 << 20;
/// Descriptors: a launch needs about thirty, more with control groups and copies.
const DESCRIPTORS: u64 = 64;

/// The limits that every command needs.
///
/// # Errors
/// When a limit is lower.
pub fn check_process_limits() -> Result<()> {
    check_limit(Resource::RLIMIT_STACK, STACK, "-s", "KB of stack", 1024)?;
    check_limit(Resource::RLIMIT_AS, ADDRESS_SPACE, "-v", "KB of virtual memory", 1024)
}

/// The limits that measuring needs.
///
/// # Errors
/// When a limit is lower.
pub(crate) fn check_measuring_limits() -> Result<()> {
    check_limit(Resource::RLIMIT_NOFILE, DESCRIPTORS, "-n", "open files", 1)
}

fn check_limit(resource: Resource, min: u64, option: &str, noun: &str, unit: u64) -> Result<()> {
    let (now, _) = getrlimit(resource)?;
    if now >= min {
        return Ok(());
    }
    let (now, min) = (now / unit, min / unit);
    Err(NothingMeasured(format!(
        "the limit is {now} {noun}, and {min} are needed: `ulimit {option} {min}`"
    ))
    .into())
}
