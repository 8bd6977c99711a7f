//! What a run makes or changes outside its store: written down in its journal, made, and undone.

use crate::cgroup::Group;
use crate::load::Mark;
use crate::owned_files::{self, Dir, Identity};
use crate::recover::Command;
use crate::scratch_fs::Volume;
use crate::settings::Setting;
use crate::swap::Swap;
use crate::tracefs::Trace;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use thiserror::Error;

/// How long the killed may take to leave what is removed.
pub(crate) const GRACE: Duration = Duration::from_secs(5);
/// How often it is tried until then.
pub(crate) const AGAIN: Duration = Duration::from_millis(10);

/// Something that is acquired through the journal, and undone at the end of the run, by its watchdog, or by the next start.
pub(crate) trait Resource {
    /// Makes it, under a name that is in the journal by now. What it is from then on, whatever its name.
    fn make(&self) -> io::Result<Option<Identity>>;

    /// Makes what is in it; its identity is in the journal by now.
    fn set_up(&self) -> Result<(), Unavailable> {
        Ok(())
    }

    /// Undoes it as far as it is there; only what has this identity, where that is known.
    fn undo(&self, made: Option<Identity>) -> io::Result<Back>;

    /// What cannot be undone, and what to do then, with the reason behind the first part.
    fn remedy(&self) -> (String, &'static str);
}

/// What came of undoing something.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Back {
    /// It is gone.
    Gone,
    /// The machine is as it was before.
    Restored,
    /// It was not needed.
    Unchanged,
    /// It is not what the run made of it: it was left, as this sentence says.
    Left(String),
}

/// Why something cannot be had.
#[derive(Debug, Error)]
pub enum Unavailable {
    /// Nothing needs it.
    #[error("none was asked for")]
    NotAsked,
    /// What is not written down is not made.
    #[error("no journal to record it in")]
    NoJournal,
    /// Only root may.
    #[error("it takes root")]
    NeedsRoot,
    /// The directory is too full.
    #[error("no room for twice {megabytes} MB in {dir}; choose another directory with --dir")]
    NoRoom {
        /// What is needed once.
        megabytes: u64,
        /// Where.
        dir: PathBuf,
    },
    /// A program of the machine is missing, or has failed.
    #[error("{tool}: {why}")]
    Tool {
        /// Its name.
        tool: &'static str,
        /// What it says.
        why: String,
    },
    /// The device would be cached twice.
    #[error("{0} cannot go past the cache of the directory")]
    Cached(String),
    /// What this machine swaps to is encrypted.
    #[error(
        "this system encrypts its swap ({0}), and a swap file would hold memory of other processes unencrypted"
    )]
    EncryptedSwap(String),
    /// Others' memory would go to our file first.
    #[error(
        "the kernel would use the file before the system's own swap (priority {ours}; the lowest of the system is {lowest})"
    )]
    SwapComesFirst {
        /// The priority of our file.
        ours: i32,
        /// The lowest of the machine's.
        lowest: i32,
    },
    /// No parent was found.
    #[error("no control group here hands down the control of memory")]
    NoGroup,
    /// The nearest parent refuses.
    #[error("{parent}: {why}; it takes root, or a delegated control group")]
    Group {
        /// Below which it was tried.
        parent: PathBuf,
        /// The reason.
        why: String,
    },
    /// The system refused.
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

/// All there is, as it stands in a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Thing {
    Directory(Directory),
    Group(Group),
    Load(Mark),
    Trace(Trace),
    Volume(Volume),
    Swap(Swap),
    Setting(Setting),
    Command(Command),
}

impl Thing {
    pub(crate) fn resource(&self) -> &dyn Resource {
        match self {
            Self::Directory(it) => it,
            Self::Group(it) => it,
            Self::Load(it) => it,
            Self::Trace(it) => it,
            Self::Volume(it) => it,
            Self::Swap(it) => it,
            Self::Setting(it) => it,
            Self::Command(it) => it,
        }
    }
}

/// A directory with whatever is put there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Directory(pub(crate) PathBuf);

impl Resource for Directory {
    fn make(&self) -> io::Result<Option<Identity>> {
        make_directory(&self.0)
    }

    fn undo(&self, made: Option<Identity>) -> io::Result<Back> {
        patiently(io::ErrorKind::DirectoryNotEmpty, || {
            owned_files::remove(&self.0, made)
        })?;
        Ok(Back::Gone)
    }

    fn remedy(&self) -> (String, &'static str) {
        (format!("cannot remove {}", self.0.display()), "")
    }
}

/// Makes a directory of ours. Its identity.
pub(crate) fn make_directory(path: &Path) -> io::Result<Option<Identity>> {
    Identity::of(Dir::make(path)?).map(Some)
}

/// Tries again for a while: who is being killed may be at work there still.
pub(crate) fn patiently<T>(
    refusal: io::ErrorKind,
    mut attempt: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    let end = Instant::now() + GRACE;
    loop {
        match attempt() {
            Err(why) if why.kind() == refusal && Instant::now() < end => {
                std::thread::sleep(AGAIN);
            }
            done => return done,
        }
    }
}

/// A resource that this run has; it is undone when this is dropped. What cannot be undone then stays in the journal, which
/// tries again.
#[derive(Debug)]
pub(crate) struct Held<R: Resource> {
    pub(crate) resource: R,
    pub(crate) made: Option<Identity>,
}

impl<R: Resource> std::ops::Deref for Held<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.resource
    }
}

impl<R: Resource> Drop for Held<R> {
    fn drop(&mut self) {
        let _ = self.resource.undo(self.made);
    }
}
