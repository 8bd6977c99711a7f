//! The two directories of a run: one to execute programs from, one to measure files in.
//!
//! Their names carry the process that made them, `gritstone.<pid namespace>.<pid>.<start>`, so that the next start
//! can tell those of the dead and remove them, whatever killed them.
//! Must not know: what is put there.

use crate::ExecError;
use crate::process::spawn;
use gritstone_kernels::{Embedded, KEEPER};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PREFIX: &str = "gritstone.";

/// The directories; both go when this is dropped.
#[derive(Debug)]
pub struct Places {
    programs: PathBuf,
    work: PathBuf,
    next: u64,
}

impl Places {
    /// Makes both directories: the first of `candidates` from which a program can be executed, and one below `dir`.
    /// First removes what dead processes of this user left there.
    ///
    /// # Errors
    /// When no candidate will do, or `dir` cannot be written.
    pub fn make(candidates: &[PathBuf], dir: &Path) -> Result<Self, ExecError> {
        for place in candidates.iter().map(PathBuf::as_path).chain([dir]) {
            remove_dead(place);
        }
        let work = make_in(dir, "work").map_err(|why| ExecError::NowhereToMeasure {
            dir: dir.to_path_buf(),
            why,
        })?;
        let mut tried = vec![];
        for candidate in candidates {
            match usable(candidate) {
                Ok(programs) => {
                    return Ok(Self {
                        programs,
                        work,
                        next: 0,
                    });
                }
                Err(why) => tried.push(format!("{} ({why})", candidate.display())),
            }
        }
        let _ = fs::remove_dir_all(&work);
        Err(ExecError::NowhereToExecute {
            tried: tried.join(", "),
        })
    }

    /// Where a program of ours is, unpacked if it was not yet.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn program(&self, program: &Embedded) -> Result<PathBuf, ExecError> {
        let path = self.programs.join(program.name.replace('/', "_"));
        if !path.exists() {
            unpack(program, &path).map_err(ExecError::system(format!(
                "cannot unpack {} to {}",
                program.name,
                path.display()
            )))?;
        }
        Ok(path)
    }

    /// A fresh, empty directory for one launch: where files are measured if it measures files, otherwise where programs
    /// can be executed, since a compiler's output may be.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn fresh(&mut self, measures_files: bool) -> Result<PathBuf, ExecError> {
        self.next += 1;
        let parent = if measures_files {
            &self.work
        } else {
            &self.programs
        };
        let path = parent.join(self.next.to_string());
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(ExecError::system(format!("cannot make {}", path.display())))?;
        Ok(path)
    }
}

#[cfg(test)]
impl Places {
    /// Where files are measured, and where programs are executed from.
    pub(crate) fn directories(&self) -> (&Path, &Path) {
        (&self.work, &self.programs)
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.work);
        let _ = fs::remove_dir_all(&self.programs);
    }
}

fn unpack(program: &Embedded, path: &Path) -> std::io::Result<()> {
    let bytes = program.bytes()?;
    let part = path.with_extension("part");
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o700)
        .open(&part)?;
    file.write_all(&bytes)?;
    drop(file);
    fs::rename(part, path)
}

/// Makes our directory below `candidate` and shows that a program can be executed there: `noexec` mounts and
/// security modules are found by trying, not by reading mount options.
fn usable(candidate: &Path) -> Result<PathBuf, String> {
    let dir = make_in(candidate, "programs").map_err(|why| why.to_string())?;
    let keeper = gritstone_kernels::find(KEEPER).ok_or("the keeper is not in this binary")?;
    let path = dir.join(KEEPER.replace('/', "_"));
    let tried = unpack(keeper, &path).and_then(|()| {
        let mut command = Command::new(&path);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        spawn(&mut command)?.wait()
    });
    match tried {
        // without arguments the keeper says how it is used, and ends with 2
        Ok(status) if status.code() == Some(2) => Ok(dir),
        Ok(status) => {
            let _ = fs::remove_dir_all(&dir);
            Err(format!("a program there ends with {status}"))
        }
        Err(why) => {
            let _ = fs::remove_dir_all(&dir);
            Err(format!("cannot execute there: {why}"))
        }
    }
}

fn make_in(parent: &Path, purpose: &str) -> std::io::Result<PathBuf> {
    let name = format!(
        "{PREFIX}{}.{}.{}.{purpose}",
        pid_namespace(),
        std::process::id(),
        start_of(std::process::id()).unwrap_or(0)
    );
    for attempt in 0..100 {
        let path = parent.join(format!("{name}{attempt}"));
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(std::io::Error::other(
        "a hundred directories of ours are there already",
    ))
}

/// Removes directories of ours whose process is no more.
fn remove_dead(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    let me = nix::unistd::geteuid().as_raw();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some((namespace, pid, start)) = name.to_str().and_then(owner) else {
            continue;
        };
        let ours = entry
            .metadata()
            .is_ok_and(|meta| meta.is_dir() && meta.uid() == me);
        if ours && namespace == pid_namespace() && start_of(pid) != Some(start) {
            make_removable(&entry.path());
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A kernel may have been killed while its directory was not writable.
fn make_removable(dir: &Path) {
    let _ = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
}

/// Namespace, process and its start, from the name of a directory.
fn owner(name: &str) -> Option<(u64, u32, u64)> {
    let mut parts = name.strip_prefix(PREFIX)?.split('.');
    let mut number = || parts.next()?.parse::<u64>().ok();
    let (namespace, pid, start) = (number()?, number()?, number()?);
    Some((namespace, u32::try_from(pid).ok()?, start))
}

/// Process numbers mean something only within their namespace: two containers may share a directory.
fn pid_namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(0, |meta| meta.ino())
}

/// When a process started, in ticks since boot; `None` when there is no such process.
fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let after = stat.rsplit_once(')')?.1;
    after.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_dead_left_is_removed_and_what_the_living_use_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let pid = std::process::id();
        let start = start_of(pid).unwrap();
        let namespace = pid_namespace();
        let dead = parent
            .path()
            .join(format!("gritstone.{namespace}.{pid}.{}.work0", start + 1));
        let alive = parent
            .path()
            .join(format!("gritstone.{namespace}.{pid}.{start}.work0"));
        let elsewhere = parent
            .path()
            .join(format!("gritstone.{}.1.1.work0", namespace + 1));
        let other = parent.path().join("gritstone.db");
        for dir in [&dead, &alive, &elsewhere, &other] {
            fs::create_dir_all(dir.join("below")).unwrap();
        }
        remove_dead(parent.path());
        assert!(!dead.exists());
        assert!(alive.exists() && elsewhere.exists() && other.exists());
    }

    #[test]
    fn both_directories_go_at_the_end() {
        let parent = tempfile::tempdir().unwrap();
        let mut places = Places::make(&[parent.path().to_path_buf()], parent.path()).unwrap();
        let keeper = places
            .program(gritstone_kernels::find(KEEPER).unwrap())
            .unwrap();
        let (one, two) = (places.fresh(true).unwrap(), places.fresh(false).unwrap());
        assert!(keeper.exists() && one != two);
        drop(places);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_place_that_cannot_be_used_is_passed_over_and_named_when_there_is_no_other() {
        let good = tempfile::tempdir().unwrap();
        let bad = PathBuf::from("/nonexistent/place");
        let places = Places::make(&[bad.clone(), good.path().into()], good.path()).unwrap();
        assert!(places.programs.starts_with(good.path()));
        drop(places);
        let error = Places::make(&[bad], good.path()).unwrap_err().to_string();
        assert!(
            error.contains("/nonexistent/place") && error.contains("TMPDIR"),
            "{error}"
        );
        assert_eq!(fs::read_dir(good.path()).unwrap().count(), 0);
    }
}
