//! A file that the system is to use as a disk or as swap: whether there is room for it, its zeros, and the tools that set it up.

use crate::owned_files;
use crate::resource::Unavailable;
use nix::fcntl::OFlag;
use nix::sys::statvfs::statvfs;
use nix::unistd::geteuid;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where root looks for tools first: a user may have put others into PATH, or lack these directories there.
const TOOLS: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/// Bytes of zeros that are written at once.
const CHUNK: usize = 1 << 20;
/// Where what is written past the cache has to begin, whatever the device.
const ALIGNED: usize = 4096;

/// Why a file of so many bytes that the system is to use cannot be made below `dir`: it takes root, and as much room again for
/// others.
pub(crate) fn may_fill(dir: &Path, size: u64) -> Result<(), Unavailable> {
    if !geteuid().is_root() {
        return Err(Unavailable::NeedsRoot);
    }
    let space = statvfs(dir).map_err(io::Error::from)?;
    let free = (space.blocks_available()).checked_mul(space.fragment_size());
    if free.is_some_and(|free| free < 2 * size) {
        return Err(Unavailable::NoRoom {
            megabytes: size >> 20,
            dir: dir.to_owned(),
        });
    }
    Ok(())
}

/// A file of zeros, a multiple of a mebibyte, all of which is there: a hole would be filled while something is timed. To set blocks
/// aside (fallocate) costs nothing, and is not enough: below a virtual machine's device there may be holes too, until they are written.
pub(crate) fn fill(image: &Path, size: u64) -> io::Result<()> {
    drop(owned_files::new_file(image)?);
    overwrite(image, size)
}

/// Zeros over the first bytes of a file that is there, on the disk when this returns.
pub(crate) fn overwrite(image: &Path, size: u64) -> io::Result<()> {
    let mut write = File::options();
    write.write(true);
    // past the cache, where the file system can: to fill that with zeros took half of all CPU time that a short run had for itself
    let past = write
        .clone()
        .custom_flags(OFlag::O_DIRECT.bits())
        .open(image);
    let mut file = past.or_else(|_| write.open(image))?;
    let room = vec![0; CHUNK + ALIGNED];
    let from = room.as_ptr().align_offset(ALIGNED);
    for _ in 0..size.div_ceil(CHUNK as u64) {
        file.write_all(&room[from..][..CHUNK])?;
    }
    file.sync_all()
}

/// What a tool says, or what it complains about. It has nothing of our environment.
pub(crate) fn tool(name: &'static str, arguments: &[&str]) -> Result<String, Unavailable> {
    let failed = |why: String| Unavailable::Tool { tool: name, why };
    let theirs = std::env::var_os("PATH").unwrap_or_default();
    let path = found(name, &theirs)
        .ok_or_else(|| failed(format!("it is not in {} or on PATH", TOOLS.join(", "))))?;
    let output = Command::new(path)
        .args(arguments)
        .env_clear()
        .env("PATH", TOOLS.join(":"))
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|why| failed(why.to_string()))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(failed(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        )),
    }
}

/// Where a tool is: in the directories of root, else on `path`.
fn found(name: &str, path: &std::ffi::OsStr) -> Option<PathBuf> {
    let first = TOOLS.iter().map(PathBuf::from);
    let all = first.chain(std::env::split_paths(path).filter(|dir| dir.is_absolute()));
    all.map(|dir| dir.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_tool_of_root_is_not_looked_for_on_path_first() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["mkswap", "gritstone-tool"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let found = |name| found(name, dir.path().as_os_str());
        assert_ne!(found("mkswap"), Some(dir.path().join("mkswap")));
        // where root has none, that of the user is used
        let theirs = dir.path().join("gritstone-tool");
        assert_eq!(found("gritstone-tool"), Some(theirs));
    }

    #[test]
    fn what_was_swapped_does_not_survive_in_the_file() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let file = dir.path().join("area");
        let marker = b"memory of another process";
        fill(&file, 2 << 20).unwrap();
        let mut bytes = fs::read(&file).unwrap();
        assert!(bytes.iter().all(|byte| *byte == 0) && bytes.len() == 2 << 20);
        bytes[3 << 19..][..marker.len()].copy_from_slice(marker);
        fs::write(&file, &bytes).unwrap();
        let before = extents(&file);
        overwrite(&file, 2 << 20).unwrap();
        assert!(fs::read(&file).unwrap().iter().all(|byte| *byte == 0));
        // the same blocks: what was written went over what was there
        assert_eq!(extents(&file), before);
    }

    /// Where the blocks of a file are, as filefrag(8) says, or nothing where it does not know.
    fn extents(file: &Path) -> String {
        // blocks are allocated when they are written back
        fs::File::open(file).unwrap().sync_all().unwrap();
        let path = file.display().to_string();
        let told = tool("filefrag", &["-v", &path]).unwrap_or_default();
        // that they were never read tells nothing of where they are
        told.replace(",unwritten", "")
    }
}
