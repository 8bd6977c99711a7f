//! A file that the system is to use as a disc or as swap: whether there is room for it, its zeros, and the tools that set it up.
//!
//! Must not know: what is made of the file.

use nix::sys::statvfs::statvfs;
use nix::unistd::geteuid;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Where the tools for file systems are, which the PATH of a user may lack.
const TOOLS: &str = "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin";

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

/// A file of zeros, all of which is there: a hole would be filled while something is timed.
pub(crate) fn fill(image: &Path, size: u64) -> io::Result<()> {
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(image)?;
    let zeros = vec![0; 1 << 20];
    for _ in 0..size >> 20 {
        file.write_all(&zeros)?;
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
