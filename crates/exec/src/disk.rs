//! Files that become a disk or swap: room, zeros, and the tools that set them up.

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

/// Searched before PATH, which a user may have changed and which may lack them.
const TOOLS: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/// Zeros written at once, bytes.
const CHUNK: usize = 1 << 20;
/// Alignment for O_DIRECT on any device, bytes.
const ALIGNMENT: usize = 4096;

/// Checks that the user is root and that `dir` has room for twice this size, so that others keep some.
pub(crate) fn check_room(dir: &Path, size: u64) -> Result<(), Unavailable> {
    if !geteuid().is_root() {
        return Err(Unavailable::NeedsRoot);
    }
    let space = statvfs(dir).map_err(io::Error::from)?;
    let free = (space.blocks_available()).checked_mul(space.fragment_size());
    if free.is_some_and(|free| free < 2 * size) {
        return Err(Unavailable::NoRoom { megabytes: size >> 20, dir: dir.to_owned() });
    }
    Ok(())
}

/// Makes a file of zeros, whose size is a multiple of a mebibyte, without holes: those would be filled during a timed
/// region. fallocate(2) is not enough, since the device of a virtual machine may have holes too until they are
/// written.
pub(crate) fn fill(image: &Path, size: u64) -> io::Result<()> {
    drop(owned_files::new_file(image)?);
    overwrite(image, size)
}

/// Overwrites the first `size` bytes with zeros, and syncs them.
pub(crate) fn overwrite(image: &Path, size: u64) -> io::Result<()> {
    let mut write = File::options();
    write.write(true);
    // with O_DIRECT where possible: filling the page cache with zeros took half of all CPU time of a short run
    let past = write.clone().custom_flags(OFlag::O_DIRECT.bits()).open(image);
    let mut file = past.or_else(|_| write.open(image))?;
    let room = vec![0; CHUNK + ALIGNMENT];
    let from = room.as_ptr().align_offset(ALIGNMENT);
    for _ in 0..size.div_ceil(CHUNK as u64) {
        file.write_all(&room[from..][..CHUNK])?;
    }
    file.sync_all()
}

/// Runs a tool in an empty environment; returns its output, or its error output.
pub(crate) fn tool(name: &'static str, arguments: &[&str]) -> Result<String, Unavailable> {
    let failed = |why: String| Unavailable::Tool { tool: name, why };
    let theirs = std::env::var_os("PATH").unwrap_or_default();
    let path = find_tool(name, &theirs)
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
        false => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
}

fn find_tool(name: &str, path: &std::ffi::OsStr) -> Option<PathBuf> {
    let first = TOOLS.iter().map(PathBuf::from);
    let all = first.chain(std::env::split_paths(path).filter(|dir| dir.is_absolute()));
    all.map(|dir| dir.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn root_directories_precede_path() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["mkswap", "gritstone-tool"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let found = |name| find_tool(name, dir.path().as_os_str());
        assert_ne!(found("mkswap"), Some(dir.path().join("mkswap")));
        // a tool that is missing in the system directories comes from PATH
        let theirs = dir.path().join("gritstone-tool");
        assert_eq!(found("gritstone-tool"), Some(theirs));
    }

    #[test]
    fn swapped_data_is_overwritten() {
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
        // same blocks: the data was overwritten in place
        assert_eq!(extents(&file), before);
    }

    /// Physical extents as filefrag(8) reports them; empty if it cannot.
    fn extents(file: &Path) -> String {
        // blocks are allocated at writeback
        fs::File::open(file).unwrap().sync_all().unwrap();
        let path = file.display().to_string();
        let extents = tool("filefrag", &["-v", &path]).unwrap_or_default();
        // an extent that was never read is at the same place
        extents.replace(",unwritten", "")
    }
}
