//! A work tree of a user's git repository, as a resource: its directory and git's metadata in the repository.

use crate::Journal;
use crate::owned_files::{self, Identity, check_our_name, creator, fresh_name, safe_parent};
use crate::resource::{
    Directory, Held, RETRY_INTERVAL, Recorder, Resource, Unavailable, Undo, make_directory, retry,
};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time for the processes of a killed run to end.
const SETTLING_TIME: Duration = Duration::from_secs(1);
/// Folder of a repository with one folder per work tree.
const WORK_TREES: &str = "worktrees";

/// A private directory with work trees in it. Git names the metadata of a work tree by the last part of its path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WorkTree {
    pub path: PathBuf,
    /// The common directory of the repository: `.git`.
    pub repository: PathBuf,
}

impl Resource for WorkTree {
    /// Git adopts an empty directory.
    fn make(&self) -> io::Result<Option<Identity>> {
        make_directory(&self.path)
    }

    fn undo(&self, identity: Option<Identity>) -> io::Result<Undo> {
        Directory(self.path.clone()).undo(identity)?;
        self.forget()?;
        let name = self.path.file_name().and_then(OsStr::to_str);
        let ours = name.and_then(creator).is_some_and(|(_, pid, _)| pid == std::process::id());
        if !ours {
            // git may outlive its killed run for a moment, and recreate its metadata
            let end = Instant::now() + SETTLING_TIME;
            while Instant::now() < end {
                std::thread::sleep(RETRY_INTERVAL);
                Directory(self.path.clone()).undo(None)?;
                self.forget()?;
            }
        }
        Ok(Undo::Gone)
    }

    fn remedy(&self) -> (String, &'static str) {
        let what = format!(
            "cannot remove the work tree {} of {}",
            self.path.display(),
            self.repository.display()
        );
        (what, "; remove it by `git worktree remove --force`")
    }
}

impl WorkTree {
    /// Removes git's metadata of it.
    fn forget(&self) -> io::Result<()> {
        check_our_name(&self.path)?;
        let all = self.repository.join(WORK_TREES);
        let name = self.path.file_name().unwrap_or_default();
        retry(io::ErrorKind::DirectoryNotEmpty, || {
            match owned_files::remove_within(&all.join(name)) {
                Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(()),
                removed => removed,
            }
        })?;
        // as git does; not empty if there are other work trees
        let _ = fs::remove_dir(all);
        Ok(())
    }
}

/// An empty directory for a work tree; it and git's metadata are removed on drop, or by the journal.
#[derive(Debug)]
pub struct HeldWorkTree(Held<WorkTree>);

impl HeldWorkTree {
    /// `repository` is the common directory of the repository.
    ///
    /// # Errors
    /// When the directory cannot be made or recorded.
    pub fn acquire(
        parent: &Path,
        repository: &Path,
        purpose: &str,
        journal: &Journal,
    ) -> Result<Self, Unavailable> {
        safe_parent(parent)?;
        let held = journal.acquire(|| {
            Ok(WorkTree {
                path: parent.join(fresh_name(purpose)?),
                repository: repository.to_owned(),
            })
        });
        Ok(Self(held?))
    }

    pub fn path(&self) -> &Path {
        &self.0.path
    }
}
