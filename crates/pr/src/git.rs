//! Queries a repository of the user by git, without changing it.

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use gritstone_runs::output_file::is_standard_output;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

/// Excluded variables: they name another repository or its configuration, or one directory for the builds of both sides.
const EXCLUDED_VARIABLES: [&str; 10] = [
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
];

/// The environment of git, builds and harnesses.
pub fn environment() -> BTreeMap<String, OsString> {
    let mut all: BTreeMap<String, OsString> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .collect();
    all.retain(|name, _| !EXCLUDED_VARIABLES.contains(&name.as_str()));
    // git must neither refresh the index nor prompt for a password
    for (name, value) in [("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0")] {
        all.insert(name.to_owned(), value.into());
    }
    all
}

/// A repository with a work tree of the user.
#[derive(Clone, Debug)]
pub struct Repository {
    pub root: PathBuf,
    /// Directory that all work trees share: `.git`.
    pub common: PathBuf,
    /// The user's directory below the root.
    pub prefix: PathBuf,
}

/// A commit, with the name by which the user or git referred to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    pub name: String,
    pub commit: String,
}

fn git(directory: &Path, arguments: &[&OsStr]) -> Result<Vec<u8>> {
    let mut command = Command::new("git");
    command.current_dir(directory).args(arguments);
    command.env_clear().envs(environment()).stdin(Stdio::null());
    let done = command.output().context("cannot execute git; is it installed?")?;
    if !done.status.success() {
        let error = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
        bail!("git {}: {error}", words.join(" "));
    }
    Ok(done.stdout)
}

/// Paths in output of `-z`, each terminated by a zero byte.
fn paths(output: &[u8]) -> impl Iterator<Item = PathBuf> {
    let each = output.split(|b| *b == 0).filter(|path| !path.is_empty());
    each.map(|path| PathBuf::from(OsStr::from_bytes(path)))
}

fn line(bytes: Vec<u8>) -> PathBuf {
    let mut bytes = bytes;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    PathBuf::from(OsString::from_vec(bytes))
}

impl Repository {
    /// The repository around a directory.
    ///
    /// # Errors
    /// When there is none, or it has no work tree.
    pub fn around(directory: &Path) -> Result<Self> {
        let query = |what: &str| {
            git(directory, &["rev-parse", "--path-format=absolute", what].map(OsStr::new))
        };
        let root = line(query("--show-toplevel")?);
        let prefix = line(git(directory, &["rev-parse", "--show-prefix"].map(OsStr::new))?);
        Ok(Self { common: line(query("--git-common-dir")?), root, prefix })
    }

    /// A work tree whose root is known.
    pub(crate) fn at(root: &Path) -> Self {
        Self { root: root.to_owned(), common: root.join(".git"), prefix: PathBuf::new() }
    }

    /// The commit of a submodule in the current one.
    pub(crate) fn submodule_commit(&self, path: &Path) -> Option<String> {
        let object = [OsStr::new("HEAD:"), path.as_os_str()].into_iter().collect::<OsString>();
        let found =
            git(&self.root, &[OsStr::new("rev-parse"), OsStr::new("--verify"), &object]).ok()?;
        Some(String::from_utf8_lossy(&found).trim().to_owned())
    }

    pub(crate) fn has_commit(&self, commit: &str) -> bool {
        self.query(&["cat-file", "-e", &format!("{commit}^{{commit}}")]).is_ok()
    }

    /// The URL of the remote `origin`.
    pub(crate) fn origin(&self) -> Option<String> {
        self.text(&["config", "remote.origin.url"]).ok().filter(|address| !address.is_empty())
    }

    /// # Errors
    /// When git fails.
    pub fn query(&self, arguments: &[&str]) -> Result<Vec<u8>> {
        let words: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        git(&self.root, &words)
    }

    fn text(&self, arguments: &[&str]) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.query(arguments)?).trim().to_owned())
    }

    /// Resolves a name to a commit; the name cannot be an option.
    ///
    /// # Errors
    /// When there is no such commit.
    pub fn revision(&self, name: &str) -> Result<Revision> {
        ensure!(!name.starts_with('-'), "'{name}' is an option, not a revision");
        let commit = self.text(&[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &format!("{name}^{{commit}}"),
        ]);
        let commit = commit.ok().filter(|commit| !commit.is_empty());
        let shallow = self.shallow_hint();
        let commit = commit
            .with_context(|| format!("no commit '{name}' in {}{shallow}", self.root.display()))?;
        Ok(Revision { name: name.to_owned(), commit })
    }

    fn shallow_hint(&self) -> &'static str {
        match self.is_shallow() {
            true => {
                "; this clone is shallow: fetch its history (fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 of GitLab, git fetch --unshallow)"
            }
            false => "",
        }
    }

    fn is_shallow(&self) -> bool {
        self.text(&["rev-parse", "--is-shallow-repository"]).is_ok_and(|answer| answer == "true")
    }

    /// The merge base of a commit and the branch that it will be merged into: the target of a GitHub or GitLab job, else the default
    /// branch of `origin`, else `main` or `master`.
    ///
    /// # Errors
    /// When no such branch is known, or a shallow clone lacks the history.
    pub fn merge_base(&self, head: &Revision) -> Result<Revision> {
        let target = match self.target_branch() {
            Ok(target) => target,
            // a job of GitLab fetches the merge request alone
            Err(why) => {
                let base = std::env::var("CI_MERGE_REQUEST_DIFF_BASE_SHA").unwrap_or_default();
                return self.revision(&base).map_err(|_| why);
            }
        };
        match self.text(&["merge-base", &target.commit, &head.commit]) {
            Ok(commit) => Ok(Revision { name: format!("merge base with {}", target.name), commit }),
            Err(_) if self.is_shallow() => bail!(
                "the commit at which {} branched off {} is missing{}",
                head.name,
                target.name,
                self.shallow_hint()
            ),
            Err(_) => bail!("{} and {} have no common commit; give --base", head.name, target.name),
        }
    }

    fn target_branch(&self) -> Result<Revision> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let of_job =
            ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CI_DEFAULT_BRANCH"];
        if let Some(branch) = of_job.into_iter().find_map(variable) {
            let branch = format!("refs/remotes/origin/{branch}");
            return self.revision(&branch).map_err(|why| {
                anyhow!("{why}; `git fetch origin +refs/heads/*:refs/remotes/origin/*` brings it, or give --base")
            });
        }
        let usual = ["HEAD", "main", "master"].map(|name| format!("refs/remotes/origin/{name}"));
        let local = ["main", "master"].map(|name| format!("refs/heads/{name}"));
        let mut names = usual.iter().chain(&local);
        names
            .find_map(|name| self.revision(name).ok())
            .context("no default branch is known (origin/HEAD, main, master): give --base")
    }

    /// Paths below the root of files with changes that are not committed, untracked ones included, ignored ones not.
    ///
    /// # Errors
    /// When git fails.
    pub fn modified(&self) -> Result<Vec<PathBuf>> {
        let changed = |ignored: &str| {
            self.query(&[
                "diff",
                "--name-only",
                "--no-renames",
                "--no-ext-diff",
                &format!("--ignore-submodules={ignored}"),
                "-z",
                "HEAD",
                "--",
            ])
        };
        // untracked files of a submodule are products of its build
        let (changed, with_dirty) = (changed("dirty")?, changed("untracked")?);
        let clean: BTreeSet<PathBuf> = paths(&changed).collect();
        if let Some(dirty) = paths(&with_dirty).find(|path| !clean.contains(path)) {
            bail!(
                "the submodule '{}' has changes that are not committed, and would not be measured: commit them, or name a commit with --head",
                dirty.display()
            );
        }
        let untracked = self.query(&["ls-files", "--others", "--exclude-standard", "-z"])?;
        let untracked = paths(&untracked).filter(|path| !is_standard_output(&self.root.join(path)));
        Ok(paths(&changed).chain(untracked).collect())
    }

    /// Converts a path that the user typed to one below the root; begins with `..` if it leads out of the repository.
    pub fn below_root(&self, typed: &Path) -> PathBuf {
        let below = typed.strip_prefix(&self.root).map(Path::to_owned);
        let below = below.unwrap_or_else(|_| self.prefix.join(typed));
        let mut plain = PathBuf::new();
        for part in below.components() {
            let is_up = part == Component::ParentDir && plain.file_name().is_some();
            match part {
                _ if is_up => drop(plain.pop()),
                Component::CurDir => {}
                part => plain.push(part),
            }
        }
        plain
    }

    /// Paths below the root of files in which two commits differ.
    ///
    /// # Errors
    /// When git fails.
    pub fn changed(&self, one: &Revision, other: &Revision) -> Result<Vec<PathBuf>> {
        let changed = self.query(&[
            "diff",
            "--name-only",
            "--no-renames",
            "--no-ext-diff",
            "-z",
            &one.commit,
            &other.commit,
            "--",
        ])?;
        Ok(paths(&changed).collect())
    }

    /// Submodules that the user has checked out.
    ///
    /// # Errors
    /// When git fails.
    pub fn submodules(&self) -> Result<Vec<PathBuf>> {
        if !self.root.join(".gitmodules").exists() {
            return Ok(vec![]);
        }
        let words =
            "config --file .gitmodules --null --name-only --get-regexp ^submodule\\..*\\.path$";
        let keys = self.query(&words.split(' ').collect::<Vec<_>>()).unwrap_or_default();
        let mut submodules = vec![];
        for key in keys.split(|b| *b == 0).filter(|key| !key.is_empty()) {
            let key = String::from_utf8_lossy(key);
            let path = line(self.query(&["config", "--file", ".gitmodules", &key])?);
            if self.root.join(&path).join(".git").exists() {
                submodules.push(path);
            }
        }
        Ok(submodules)
    }

    /// Files of a submodule, or of another repository below this one, without ignored ones.
    ///
    /// # Errors
    /// When git fails.
    pub fn nested_files(&self, below: &Path) -> Result<Vec<PathBuf>> {
        let words = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
        let listed = git(&self.root.join(below), &words.map(OsStr::new))?;
        let mut files: Vec<PathBuf> = paths(&listed).collect();
        // one that was deleted and not staged
        files.retain(|file| fs::symlink_metadata(self.root.join(below).join(file)).is_ok());
        Ok(files)
    }

    /// Commits after `good` up to `bad`, by first parents, oldest first.
    ///
    /// # Errors
    /// When `good` is not among the first parents of `bad`.
    pub fn first_parents(&self, good: &Revision, bad: &Revision) -> Result<Vec<String>> {
        let all = self.text(&["rev-list", "--first-parent", "--reverse", &bad.commit])?;
        let mut commits =
            all.lines().map(str::to_owned).skip_while(|commit| *commit != good.commit);
        ensure!(
            commits.next().is_some(),
            "'{}' is not a first-parent ancestor of '{}': name a commit of the same branch{}",
            good.name,
            bad.name,
            self.shallow_hint()
        );
        Ok(commits.collect())
    }

    /// The first line of a commit's message.
    ///
    /// # Errors
    /// When git fails.
    pub fn subject(&self, commit: &str) -> Result<String> {
        self.text(&["log", "-1", "--no-show-signature", "--format=%s", commit])
    }
}
