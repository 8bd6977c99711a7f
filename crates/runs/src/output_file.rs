//! Output files named by the user.

use anyhow::{Context, Result, ensure};
use rustix::fs::Access;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// As many links as the kernel follows.
const MAX_LINKS: usize = 40;

enum Target {
    /// A descriptor of this process.
    Descriptor(PathBuf),
    Path(PathBuf),
}

/// Fails where [`write`] would, as far as that can be known before writing.
///
/// # Errors
/// When it has no directory, or is a directory, a database, or not writable by this user.
pub fn check(path: &Path) -> Result<()> {
    let failed = || format!("cannot write {}", path.display());
    let Target::Path(target) = writable_target(path)? else {
        return Ok(());
    };
    let (existing, access) = match target.exists() {
        true => (target.as_path(), Access::WRITE_OK),
        false => (directory(&target), Access::WRITE_OK | Access::EXEC_OK),
    };
    let closed = rustix::fs::access(existing, access).map_err(io::Error::from);
    closed.with_context(failed)?;
    match target.is_dir() {
        true => Err(io::Error::from(ErrorKind::IsADirectory)).with_context(failed),
        false => Ok(()),
    }
}

/// Writes through links, devices, pipes and descriptors. A regular file is replaced atomically and keeps its mode; it is written in place
/// if it has other names, another owner, or a directory without write permission.
///
/// # Errors
/// When it cannot be written, or is a database.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = match writable_target(path)? {
        Target::Descriptor(path) => to_descriptor(&path, bytes),
        Target::Path(target) => to_path(&target, bytes),
    };
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn writable_target(path: &Path) -> Result<Target> {
    let target = follow(path).with_context(|| format!("cannot write {}", path.display()))?;
    if let Target::Path(target) = &target {
        ensure!(
            !is_database(target),
            "cannot write {}: it belongs to a database, such as the store; name another file",
            path.display()
        );
    }
    Ok(target)
}

fn follow(path: &Path) -> io::Result<Target> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let parent = fs::canonicalize(directory(&path))?;
        if parent.starts_with("/proc") && parent.ends_with("fd") {
            return Ok(Target::Descriptor(path));
        }
        match fs::read_link(&path) {
            Ok(next) => path = parent.join(next),
            // not a link, or missing
            Err(_) => return Ok(Target::Path(path)),
        }
    }
    Err(io::Error::other("too many links"))
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

fn to_descriptor(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // these two share their offset with standard output and error
    match path.file_name().and_then(|name| name.to_str()) {
        Some("1") => {
            let mut out = io::stdout().lock();
            out.write_all(bytes)?;
            out.flush()
        }
        Some("2") => io::stderr().write_all(bytes),
        _ => OpenOptions::new().append(true).open(path)?.write_all(bytes),
    }
}

fn to_path(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut there = match OpenOptions::new().write(true).open(path) {
        Ok(file) => file,
        Err(why) if why.kind() == ErrorKind::NotFound => return replace(path, bytes, None),
        Err(why) => return Err(why),
    };
    let facts = there.metadata()?;
    if !facts.is_file() {
        return there.write_all(bytes);
    }
    let ours = facts.nlink() == 1 && facts.uid() == rustix::process::geteuid().as_raw();
    if ours {
        match replace(path, bytes, Some(facts.permissions())) {
            Err(why) if is_closed(&why) => {}
            done => return done,
        }
    }
    there.set_len(0)?;
    there.write_all(bytes)?;
    there.sync_all()
}

fn is_closed(why: &io::Error) -> bool {
    use ErrorKind::{PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    matches!(why.kind(), PermissionDenied | ReadOnlyFilesystem | ResourceBusy)
}

fn replace(path: &Path, bytes: &[u8], mode: Option<fs::Permissions>) -> io::Result<()> {
    let by_umask = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    let mut file = tempfile::Builder::new().permissions(by_umask).tempfile_in(directory(path))?;
    file.write_all(bytes)?;
    if let Some(mode) = mode {
        file.as_file().set_permissions(mode)?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// A database of `SQLite`, or a file that it creates beside one.
fn is_database(path: &Path) -> bool {
    let name = path.as_os_str().to_str().unwrap_or_default();
    let beside = ["-wal", "-shm", "-journal"];
    let main = beside.iter().find_map(|end| name.strip_suffix(end));
    [Some(name), main].into_iter().flatten().any(|name| is_sqlite(Path::new(name)))
}

fn is_sqlite(path: &Path) -> bool {
    const MAGIC: &[u8; 16] = b"SQLite format 3\0";
    let mut head = [0; MAGIC.len()];
    fs::metadata(path).is_ok_and(|facts| facts.is_file())
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut head).is_ok())
        && head == *MAGIC
}

/// Whether standard output goes to a file, which a shell has made before.
pub fn is_standard_output(path: &Path) -> bool {
    let place = |path: &Path| fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    place(path).is_some_and(|file| place(Path::new("/proc/self/fd/1")) == Some(file))
}

#[cfg(test)]
mod tests;
