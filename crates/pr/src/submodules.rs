//! Submodules of a work tree, from the clones that the user has of them: a new work tree would fetch each from its server.

use crate::git::Repository;
use crate::work_trees::Workshop;
use anyhow::{Context as _, Result};
use gritstone_exec::ExecError;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

impl Workshop<'_> {
    /// Clones what the user has checked out below `from` into the same places below `tree`, with the objects of the user's clones.
    /// Returns the submodules that this revision has, among them those that are left to `git submodule update`: their commit is in no
    /// clone here.
    ///
    /// # Errors
    /// When the user interrupts, or a directory cannot be written.
    pub(crate) fn clone_submodules(&self, from: &Repository, tree: &Path) -> Result<Vec<PathBuf>> {
        // one that this revision lacks is no path of it
        let mut submodules = from.submodules()?;
        submodules.retain(|path| tree.join(path).exists());
        for path in &submodules {
            let (clone, target) = (Repository::at(&from.root.join(path)), tree.join(path));
            let Some(commit) = Repository::at(tree).submodule_commit(path) else { continue };
            if !clone.has_commit(&commit) {
                continue;
            }
            match self.clone_submodule(&clone, &target, &commit) {
                Ok(()) => {
                    self.clone_submodules(&clone, &target)?;
                }
                Err(why) if why.is::<ExecError>() => return Err(why),
                Err(_) => empty(&target)?,
            }
        }
        Ok(submodules)
    }

    fn clone_submodule(&self, clone: &Repository, target: &Path, commit: &str) -> Result<()> {
        let words = |all: &[&str]| all.iter().map(OsString::from).collect::<Vec<_>>();
        let mut copy =
            words(&["clone", "--quiet", "--shared", "--no-checkout", "--template=", "--"]);
        copy.extend([&clone.root, target].map(OsString::from));
        self.git(&clone.root, copy)?;
        // addresses of submodules in it may be relative to its own
        if let Some(address) = clone.origin() {
            self.git(target, words(&["config", "remote.origin.url", &address]))?;
        }
        let hooks = "core.hooksPath=/dev/null";
        self.git(target, words(&["-c", hooks, "checkout", "--quiet", "--detach", commit]))
    }
}

/// Leaves an empty directory, as git makes for a submodule.
fn empty(directory: &Path) -> Result<()> {
    let what = || format!("cannot empty {}", directory.display());
    fs::remove_dir_all(directory).or_else(ignore_missing).with_context(what)?;
    fs::create_dir(directory).with_context(what)
}

fn ignore_missing(why: std::io::Error) -> std::io::Result<()> {
    match why.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(why),
    }
}
