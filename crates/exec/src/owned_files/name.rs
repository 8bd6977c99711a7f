//! Names of our files.

use super::NotOurs;
use crate::owner::{namespace, our_start};
use rustix::rand::{GetRandomFlags, getrandom};
use std::ffi::OsStr;
use std::io;
use std::path::Path;

const PREFIX: &str = "gritstone.";

/// A name with the process that creates the file, by which the next start finds leftovers of dead runs, and with a random part. Of constant
/// length: a longer path in the environment would move the stack.
pub(crate) fn fresh_name(purpose: &str) -> io::Result<String> {
    let pid = std::process::id();
    let (namespace, start) = (namespace(), our_start());
    let random = u128::from_ne_bytes(random()?);
    Ok(format!("{PREFIX}{namespace:08x}.{pid:07}.{start:012}.{random:032x}.{purpose}"))
}

fn random() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    let mut done = 0;
    while done < bytes.len() {
        done += getrandom(&mut bytes[done..], GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

/// Pid namespace, pid, and start time in ticks since boot.
pub(crate) fn creator(name: &str) -> Option<(u32, u32, u64)> {
    let mut parts = name.strip_prefix(PREFIX)?.split('.');
    let namespace = u32::from_str_radix(parts.next()?, 16).ok()?;
    let pid = parts.next()?.parse().ok()?;
    let start = parts.next()?.parse().ok()?;
    Some((namespace, pid, start))
}

/// Guards every removal.
pub(crate) fn check_our_name(path: &Path) -> Result<(), NotOurs> {
    let name = path.file_name().and_then(OsStr::to_str);
    match name.and_then(creator) {
        Some(_) => Ok(()),
        None => Err(NotOurs::Name(path.to_owned())),
    }
}
