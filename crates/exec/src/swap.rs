//! A swap file of our own, for rows whose memory is nobody's file: only with swap can the system take such pages away.
//!
//! One a run, made when a row of the run asks for it. It is a directory with one file in it, which stands in the journal before it
//! is made; the system stops using the file before it is removed. While it is there other processes may use it too.
//!
//! Must not know: which rows there are, how much memory they may have.

use crate::disc::{fill, may_fill, tool};
use crate::journal::written_down;
use crate::places::{self, fresh_name};
use crate::{Executor, Journal, asks};
use gritstone_model::{Benchmark, KernelWork};
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The parameter of an entry that is carried out here.
const WANTED: &str = "swap";
/// Bytes of the file: four times what the largest row puts there. When more than half is used, the system gives up the place of a page
/// that it has read back, and would have to write it once more.
const SIZE: u64 = 256 << 20;
/// The file in its directory.
const AREA: &str = "area";

/// The swap file; it goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Swap(PathBuf);

impl Swap {
    /// Makes one below `dir`.
    fn make(dir: &Path, journal: &mut Journal) -> Result<Self, String> {
        may_fill(dir, SIZE)?;
        let home = dir.join(fresh_name("swap"));
        journal.swaps(&home).map_err(|why| why.to_string())?;
        let swap = Self(home);
        swap.set_up()?;
        Ok(swap)
    }

    fn set_up(&self) -> Result<(), String> {
        let made = DirBuilder::new().mode(0o700).create(&self.0);
        made.map_err(|why| why.to_string())?;
        let area = self.0.join(AREA);
        fill(&area, SIZE).map_err(|why| why.to_string())?;
        let area = area.display().to_string();
        tool("mkswap", &["--quiet", "--", &area])?;
        // before any other that the machine may have
        tool("swapon", &["--priority", "32767", "--", &area]).map(|_| ())
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        // what cannot be removed now stays in the journal, which tries again
        let _ = remove(&self.0);
    }
}

/// Whether the system swaps to a file, as it says itself: a path is the first word of a line, its blanks as \040.
fn is_used(swaps: &str, area: &Path) -> bool {
    let area = area.display().to_string().replace(' ', "\\040");
    let mut lines = swaps.lines().skip(1);
    lines.any(|line| line.split_whitespace().next() == Some(&area))
}

/// Stops the use of a swap file of ours, and removes it, as far as it is there.
pub(crate) fn remove(home: &Path) -> io::Result<()> {
    places::must_be_ours(home)?;
    release(home)?;
    places::remove(home)
}

/// Stops the use of the swap file in a directory, if there is one that is used.
pub(crate) fn release(home: &Path) -> io::Result<()> {
    // the system names it by its real path
    let area = home
        .canonicalize()
        .unwrap_or_else(|_| home.to_owned())
        .join(AREA);
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    if is_used(&swaps, &area) {
        tool("swapoff", &["--", &area.display().to_string()]).map_err(io::Error::other)?;
    }
    Ok(())
}

/// Whether a row asks for swap.
#[must_use]
pub fn wants_swap(benchmark: &Benchmark) -> bool {
    asks(benchmark, WANTED)
}

impl Executor {
    /// From now on there is swap below `dir` for rows that ask for it. Where none can be made, their programs are told why.
    pub fn swap(&mut self, dir: &Path, journal: Option<&mut Journal>) {
        self.swap = written_down(journal, |journal| Swap::make(dir, journal));
    }

    /// What a program is told that asks for swap and cannot have it.
    pub(crate) fn unswapped(&self, work: &KernelWork) -> Option<OsString> {
        let why = self.swap.as_ref().err().filter(|_| work.asks(WANTED))?;
        Some(format!("unswapped={why}").into())
    }

    /// Whether what a row has in memory may go to swap.
    pub(crate) fn may_swap(&self, work: &KernelWork) -> bool {
        work.asks(WANTED) && self.swap.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_swaps_to_is_read_from_its_own_words() {
        let swaps = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/var/my\\040files/area                   file\t\t131068\t\t0\t\t-2\n";
        assert!(is_used(swaps, Path::new("/var/my files/area")));
        assert!(!is_used(swaps, Path::new("/var/my")));
        assert!(!is_used("", Path::new("/var/my files/area")));
    }

    #[test]
    fn nothing_is_removed_that_has_another_name() {
        remove(Path::new("/var/tmp")).unwrap_err();
    }
}
