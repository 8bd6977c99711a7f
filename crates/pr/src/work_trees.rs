//! Checks out revisions in private work trees, and builds them.

use crate::git::{Repository, Revision, environment};
use crate::{NotComparable, build_logs};
use anyhow::{Context as _, Result, bail, ensure};
use gritstone_exec::{HeldWorkTree, Journal, UserEnd, UserTask, WorkDirs};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Time for a checkout or a build.
const DEADLINE: Duration = Duration::from_secs(3600);
/// Last lines of a failed command's output in a message.
const SHOWN_LINES: usize = 20;
/// Most bytes of them.
const MAX_SHOWN: u64 = 16 << 10;

/// Directories in which work trees and logs are created.
#[derive(Debug)]
pub struct Workshop<'a> {
    pub repository: &'a Repository,
    pub journal: &'a Journal,
    pub work_dirs: &'a WorkDirs,
    /// Parent of work trees.
    pub directory: &'a Path,
    pub stop: &'a AtomicBool,
}

/// A command of the user that builds a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// Shell command.
    pub command: String,
    /// Below the root of the repository.
    pub directory: PathBuf,
}

/// A checked out revision; removed on drop.
#[derive(Debug)]
pub struct WorkTree {
    /// `base` or `head`.
    pub name: &'static str,
    commit: String,
    held: HeldWorkTree,
}

impl WorkTree {
    pub fn root(&self) -> &Path {
        self.held.path()
    }

    /// A directory below the root, where a command is executed.
    ///
    /// # Errors
    /// [`NotComparable`] where the revision has none.
    pub fn directory(&self, below: &Path) -> Result<PathBuf> {
        let directory = self.root().join(below);
        if !directory.is_dir() {
            let why = format!("{} has no directory '{}'", self.name, below.display());
            bail!(NotComparable(why));
        }
        Ok(directory)
    }
}

impl Workshop<'_> {
    /// Checks out a commit without the user's hooks, with its submodules. The paths of all work trees are of one length, since a longer
    /// one in the environment would move the stack.
    ///
    /// # Errors
    /// When git fails, or nothing can be recorded.
    pub fn check_out(&self, name: &'static str, revision: &Revision) -> Result<WorkTree> {
        let held =
            HeldWorkTree::acquire(self.directory, &self.repository.common, name, self.journal)
                .with_context(|| {
                    format!(
                        "no work tree below {}; choose another directory with --dir",
                        self.directory.display()
                    )
                })?;
        let add = [
            "-c",
            "core.hooksPath=/dev/null",
            "worktree",
            "add",
            "--detach",
            "--force",
            "--quiet",
            "--",
        ];
        let add = add.map(OsString::from).into_iter();
        let rest = [held.path().as_os_str().to_owned(), revision.commit.clone().into()];
        self.git(&self.repository.root, add.chain(rest))?;
        let tree = WorkTree { name, commit: revision.commit.clone(), held };
        let submodules = self.clone_submodules(self.repository, tree.root())?;
        // these may lack their own submodules
        if !submodules.is_empty() {
            let update = [
                "-c",
                "core.hooksPath=/dev/null",
                // in place of --init, which writes to the configuration of the user's repository
                "-c",
                "submodule.active=.",
                "submodule",
                "--quiet",
                "update",
                "--recursive",
                "--",
            ];
            let paths = submodules.into_iter().map(PathBuf::into_os_string);
            self.git(tree.root(), update.map(OsString::from).into_iter().chain(paths))?;
        }
        Ok(tree)
    }

    pub(crate) fn git(
        &self,
        directory: &Path,
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<()> {
        let argv: Vec<OsString> = ["git".into()].into_iter().chain(arguments).collect();
        let logs = self.work_dirs.fresh(false)?;
        let end = self.execute(directory, argv, BTreeMap::new(), &logs)?;
        let text = last_lines(&logs.join("errors"))? + &last_lines(&logs.join("output"))?;
        fs::remove_dir_all(&logs).context("cannot remove a log")?;
        ensure!(
            end == UserEnd::Success,
            "git cannot check out a revision ({}): {text}",
            describe(&end)
        );
        Ok(())
    }

    /// Output goes to files in `logs`.
    fn execute(
        &self,
        directory: &Path,
        argv: Vec<OsString>,
        variables: BTreeMap<String, OsString>,
        logs: &Path,
    ) -> Result<UserEnd> {
        let mut all = environment();
        all.extend(variables);
        Ok(self.work_dirs.execute(UserTask {
            argv,
            directory,
            environment: &all,
            stdout: &logs.join("output"),
            stderr: &logs.join("errors"),
            deadline: DEADLINE,
            stop: self.stop,
        })?)
    }

    /// Runs the user's build command in a work tree, with more variables in its environment. Its output is stored.
    ///
    /// # Errors
    /// [`NotComparable`] when it fails.
    pub fn build(
        &self,
        tree: &WorkTree,
        build: &Build,
        variables: BTreeMap<String, OsString>,
    ) -> Result<()> {
        // one file for both streams, in their order
        let argv = ["/bin/sh", "-c", "exec /bin/sh -c \"$1\" 2>&1", "sh", &build.command];
        let directory = tree.directory(&build.directory)?;
        let logs = self.work_dirs.fresh(false)?;
        let end = self.execute(&directory, argv.map(OsString::from).into(), variables, &logs)?;
        let output = logs.join("output");
        let stored = build_logs::store(tree.name, &tree.commit, &output);
        let text = last_lines(&output)?;
        fs::remove_dir_all(&logs).context("cannot remove a log")?;
        let log = match &stored {
            Ok(path) => format!(" ({})", path.display()),
            Err(why) => {
                log::warn!("the output of the build of {} is not stored: {why:#}", tree.name);
                String::new()
            }
        };
        if end != UserEnd::Success {
            let why = format!(
                "{} does not build: '{}' {}{log}\n{text}",
                tree.name,
                build.command,
                describe(&end)
            );
            bail!(NotComparable(why));
        }
        Ok(())
    }

    /// Applies the user's uncommitted changes to a work tree.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn apply_changes(&self, tree: &WorkTree, modified: &[PathBuf]) -> Result<()> {
        let is_removed =
            |path: &&PathBuf| fs::symlink_metadata(self.repository.root.join(path)).is_err();
        let (removed, present): (Vec<_>, Vec<_>) = modified.iter().partition(is_removed);
        for path in removed {
            remove(tree.root(), path)?;
        }
        for path in present {
            let root = &self.repository.root;
            if !root.join(path).join(".git").exists() {
                replace(root, tree.root(), path)?;
                continue;
            }
            remove(tree.root(), path)?;
            for file in self.repository.nested_files(path)? {
                replace(root, tree.root(), &path.join(file))?;
            }
        }
        Ok(())
    }
}

/// Copies a file or folder, such as the benchmarks, from one work tree to the same path in another.
///
/// # Errors
/// [`NotComparable`] when it is not there; when it is outside, or everything.
pub fn carry(from: &WorkTree, to: &WorkTree, path: &Path) -> Result<()> {
    let inside =
        path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    ensure!(inside, "--carry '{}' leaves the repository", path.display());
    // a dot is no name that could be removed
    let parts = path.components();
    let path: PathBuf = parts.filter(|part| *part != Component::CurDir).collect();
    ensure!(
        !path.as_os_str().is_empty(),
        "--carry takes the whole repository, after which both sides are the same: name the benchmarks"
    );
    if fs::symlink_metadata(from.root().join(&path)).is_err() {
        bail!(NotComparable(format!("--carry '{}' is not in {}", path.display(), from.name)));
    }
    remove(to.root(), &path)?;
    replace(from.root(), to.root(), &path)
}

fn remove(root: &Path, path: &Path) -> Result<()> {
    let file = inside(root, path)?;
    let removed = match fs::symlink_metadata(&file) {
        Err(_) => return Ok(()),
        Ok(found) if found.is_dir() => fs::remove_dir_all(&file),
        Ok(_) => fs::remove_file(&file),
    };
    removed.with_context(|| format!("cannot remove {}", file.display()))
}

/// Copies a file, link or folder; links are not followed.
fn replace(from: &Path, to: &Path, path: &Path) -> Result<()> {
    let (source, target) = (from.join(path), inside(to, path)?);
    let what = || format!("cannot copy {}", source.display());
    let found = fs::symlink_metadata(&source).with_context(what)?;
    if found.is_dir() {
        if fs::symlink_metadata(&target).is_ok_and(|old| !old.is_dir()) {
            remove(to, path)?;
        }
        for entry in fs::read_dir(&source).with_context(what)? {
            let name = entry.with_context(what)?.file_name();
            if name != ".git" {
                replace(from, to, &path.join(name))?;
            }
        }
        return Ok(());
    }
    remove(to, path)?;
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent).with_context(what)?;
    }
    if found.is_symlink() {
        let link = fs::read_link(&source).with_context(what)?;
        return symlink(link, &target).with_context(what);
    }
    ensure!(found.is_file(), "{} is neither a file nor a link", source.display());
    fs::copy(&source, &target).with_context(what)?;
    Ok(())
}

/// A path below a work tree, none of whose folders is a link that would lead out of it.
fn inside(root: &Path, path: &Path) -> Result<PathBuf> {
    let mut folder = root.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        folder.push(part);
        let is_link = fs::symlink_metadata(&folder).is_ok_and(|found| found.is_symlink());
        ensure!(!is_link, "{} is a symbolic link, which is not followed", folder.display());
    }
    Ok(root.join(path))
}

/// How a command ended, after its name.
pub fn describe(end: &UserEnd) -> String {
    match end {
        UserEnd::Success => "succeeded".to_owned(),
        UserEnd::Status(status) => format!("ended with status {status}"),
        UserEnd::Signal(signal) => format!("was ended by signal {signal}"),
        UserEnd::TimedOut => format!("took longer than {} s", DEADLINE.as_secs()),
        UserEnd::NotStarted(why) => format!("could not be started: {why}"),
    }
}

/// The end of a program's output. A prefix keeps CI runners from executing lines that begin with `::`.
///
/// # Errors
/// When the file cannot be read.
pub fn last_lines(file: &Path) -> Result<String> {
    let read = || -> io::Result<Vec<u8>> {
        let mut opened = File::open(file)?;
        let length = opened.metadata()?.len();
        opened.seek(SeekFrom::Start(length.saturating_sub(MAX_SHOWN)))?;
        let mut bytes = vec![];
        opened.take(MAX_SHOWN).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().with_context(|| format!("cannot read {}", file.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let shown = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
    Ok(shown.iter().map(|line| format!("  | {line}\n")).collect())
}
