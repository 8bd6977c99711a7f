//! A file that the system is to use as a disc or as swap: whether there is room for it, its zeros, and the tools that set it up.
//!
//! Must not know: what is made of the file.

use nix::fcntl::OFlag;
use nix::sys::statvfs::statvfs;
use nix::unistd::geteuid;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Where the tools for file systems are, which the PATH of a user may lack.
const TOOLS: &str = "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin";

/// Bytes of zeros that are written at once.
const CHUNK: usize = 1 << 20;
/// Where what is written past the cache has to begin, whatever the device.
const ALIGNED: usize = 4096;

/// Why a file of so many bytes that the system is to use cannot be made below `dir`: it takes root, and as much room again for
/// others.
pub(crate) fn may_fill(dir: &Path, size: u64) -> Result<(), String> {
    if !geteuid().is_root() {
        return Err("it takes root".to_owned());
    }
    let space = statvfs(dir).map_err(|why| why.to_string())?;
    let free = (space.blocks_available()).checked_mul(space.fragment_size());
    if free.is_some_and(|free| free < 2 * size) {
        let (size, dir) = (size >> 20, dir.display());
        return Err(format!(
            "there is no room for {size} MB twice over in {dir}"
        ));
    }
    Ok(())
}

/// A file of zeros, a multiple of a mebibyte, all of which is there: a hole would be filled while something is timed. To set blocks
/// aside (fallocate) costs nothing, and is not enough: below a virtual machine's device there may be holes too, until they are written.
pub(crate) fn fill(image: &Path, size: u64) -> io::Result<()> {
    let mut write = File::options();
    write.write(true);
    let plain = write.clone().create_new(true).mode(0o600).open(image)?;
    // past the cache, where the file system can: to fill that with zeros took half of all CPU time that a short run had for itself
    let past = write.custom_flags(OFlag::O_DIRECT.bits()).open(image);
    let mut file = past.unwrap_or(plain);
    let room = vec![0; CHUNK + ALIGNED];
    let from = room.as_ptr().align_offset(ALIGNED);
    for _ in 0..size / CHUNK as u64 {
        file.write_all(&room[from..][..CHUNK])?;
    }
    file.sync_all()
}

/// What a tool says, or what it complains about.
pub(crate) fn tool(name: &str, arguments: &[&str]) -> Result<String, String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new(name)
        .args(arguments)
        .env("PATH", format!("{path}:{TOOLS}"))
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|why| format!("{name}: {why}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}
