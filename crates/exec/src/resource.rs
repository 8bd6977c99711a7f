//! Resources that a run makes or changes outside its store: recorded in its journal, made, and undone.

use crate::owned_files::{self, Dir, Identity};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Time for killed processes to leave what is removed.
pub(crate) const GRACE_PERIOD: Duration = Duration::from_secs(5);
pub(crate) const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// Acquired through the journal; undone at the end of the run, by its watchdog, or by the next start.
pub(crate) trait Resource {
    /// Makes it under a recorded name. Returns its identity, if it has one.
    fn make(&self) -> io::Result<Option<Identity>>;

    /// Makes its contents, after its identity is recorded.
    fn set_up(&self) -> Result<(), Unavailable> {
        Ok(())
    }

    /// Undoes it as far as it exists, and only if it has this identity, if known.
    fn undo(&self, identity: Option<Identity>) -> io::Result<Undo>;

    /// For messages: what cannot be undone, and, after the reason, what to do.
    fn remedy(&self) -> (String, &'static str);
}

/// Records resources in a journal, then makes them.
pub(crate) trait Recorder<R: Resource> {
    /// Makes something with its contents; undone when the result is dropped.
    fn acquire(&self, named: impl Fn() -> io::Result<R>) -> Result<Held<R>, Unavailable>;
}

/// Result of undoing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Undo {
    Gone,
    /// The previous state is restored.
    Restored,
    /// Nothing had to be undone.
    Unchanged,
    /// Changed by another process: left as it is, for this reason.
    Left(String),
}

#[derive(Debug, Error)]
pub enum Unavailable {
    /// No benchmark needs it.
    #[error("none was asked for")]
    NotAsked,
    /// There is no journal to record it in.
    #[error("no journal to record it in")]
    NoJournal,
    #[error("it takes root")]
    NeedsRoot,
    #[error("no room for twice {megabytes} MB in {dir}; choose another directory with --dir")]
    NoRoom {
        /// Space needed in one directory.
        megabytes: u64,
        dir: PathBuf,
    },
    /// A tool is missing, or has failed.
    #[error("{tool}: {why}")]
    Tool { tool: &'static str, why: String },
    /// The loop device cannot bypass the page cache below it.
    #[error("{0} cannot go past the cache of the directory")]
    Cached(String),
    #[error(
        "this system encrypts its swap ({0}), and a swap file would hold memory of other processes unencrypted"
    )]
    EncryptedSwap(String),
    #[error(
        "the kernel would use the file before the system's own swap (priority {ours}; the lowest of the system is {lowest})"
    )]
    SwapComesFirst {
        /// Priority of our file.
        ours: i32,
        /// Lowest priority of the system's areas.
        lowest: i32,
    },
    /// No parent group was found.
    #[error("no control group here delegates the needed controller")]
    NoGroup,
    /// The nearest parent refuses a new group.
    #[error("{parent}: {why}; it takes root, or a delegated control group")]
    Group { parent: PathBuf, why: String },
    #[error("{0}")]
    System(#[from] io::Error),
}

impl From<Unavailable> for io::Error {
    fn from(why: Unavailable) -> Self {
        match why {
            Unavailable::System(why) => why,
            why => Self::other(why),
        }
    }
}

/// A directory with any contents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Directory(pub(crate) PathBuf);

impl Resource for Directory {
    fn make(&self) -> io::Result<Option<Identity>> {
        make_directory(&self.0)
    }

    fn undo(&self, identity: Option<Identity>) -> io::Result<Undo> {
        retry(io::ErrorKind::DirectoryNotEmpty, || owned_files::remove(&self.0, identity))?;
        Ok(Undo::Gone)
    }

    fn remedy(&self) -> (String, &'static str) {
        (format!("cannot remove {}", self.0.display()), "")
    }
}

pub(crate) fn make_directory(path: &Path) -> io::Result<Option<Identity>> {
    Identity::of_file(Dir::make(path)?).map(Some)
}

/// Retries while processes that are being killed still use it.
pub(crate) fn retry<T>(
    refusal: io::ErrorKind,
    mut attempt: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    let end = Instant::now() + GRACE_PERIOD;
    loop {
        match attempt() {
            Err(why) if why.kind() == refusal && Instant::now() < end => {
                std::thread::sleep(RETRY_INTERVAL);
            }
            done => return done,
        }
    }
}

/// A resource of this run, undone on drop. If that fails, the journal retries.
#[derive(Debug)]
pub(crate) struct Held<R: Resource> {
    pub(crate) resource: R,
    pub(crate) identity: Option<Identity>,
}

impl<R: Resource> std::ops::Deref for Held<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.resource
    }
}

impl<R: Resource> Drop for Held<R> {
    fn drop(&mut self) {
        let _ = self.resource.undo(self.identity);
    }
}
