//! Swap file, for benchmarks with anonymous memory: only with swap can the kernel evict it.
//!
//! One per run, made if the user permits it and a benchmark needs it. It is a directory with one file, recorded in
//! the journal before it is made. Other processes may use it too, though never before the system's own swap; so it is
//! not made where that is encrypted, and is overwritten before removal.

use crate::disk::{check_room, fill, overwrite, tool};
use crate::owned_files::{self, Dir, Identity, by_descriptor, fresh_name, open_below};
use crate::resource::{Held, Recorder, Resource, Unavailable, Undo, make_directory, retry};
use crate::{asks, page_size};
use gritstone_model::Benchmark;
use machine::{areas, comes_last, encrypted};
use nix::errno::Errno;
use nix::libc;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

mod machine;

/// Parameter of catalog entries.
pub(crate) const PARAM: &str = "swap";
/// Least size of the file, bytes.
const MIN_SIZE: u64 = 256 << 20;
/// Twice the largest benchmark's data. When more than half is used, the kernel frees the slot of a page that it reads back, and would have
/// to write it again.
const MIN_PAGES: u64 = 16384;
const AREA: &str = "area";

/// Identified by its directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Swap(pub(crate) PathBuf);

impl Swap {
    pub(crate) fn acquire(
        dir: &Path,
        journal: &impl Recorder<Self>,
    ) -> Result<Held<Self>, Unavailable> {
        check_room(dir, size(page_size()))?;
        if let Some(device) = encrypted(Path::new("/sys"), &areas(&swaps()?)) {
            return Err(Unavailable::EncryptedSwap(device));
        }
        owned_files::safe_parent(dir)?;
        journal.acquire(|| Ok(Self(dir.join(fresh_name("swap")?))))
    }
}

impl Resource for Swap {
    fn make(&self) -> io::Result<Option<Identity>> {
        make_directory(&self.0)
    }

    fn set_up(&self) -> Result<(), Unavailable> {
        let area = self.0.join(AREA);
        fill(&area, size(page_size()))?;
        tool("mkswap", &["--quiet", "--", &area.display().to_string()])?;
        use_for_swap(&area)?;
        comes_last(&areas(&swaps()?), &area)
    }

    fn undo(&self, identity: Option<Identity>) -> io::Result<Undo> {
        // pages of killed processes cannot return while their group is at its limit
        retry(io::ErrorKind::OutOfMemory, || {
            if let Some(home) = owned_files::open_existing(&self.0, identity)? {
                release(&home)?;
                owned_files::remove(&self.0, identity)?;
            }
            Ok(Undo::Gone)
        })
    }

    fn remedy(&self) -> (String, &'static str) {
        let what = format!("cannot remove the swap file in {}", self.0.display());
        (what, "; swapoff it, then remove the directory")
    }
}

/// Bytes of the file.
fn size(page: u64) -> u64 {
    MIN_SIZE.max(page.saturating_mul(MIN_PAGES))
}

fn swaps() -> io::Result<String> {
    fs::read_to_string("/proc/swaps")
}

fn terminated(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

/// Enables swapping without an explicit priority, so that all other areas are used first.
#[allow(unsafe_code)]
fn use_for_swap(area: &Path) -> Result<(), Unavailable> {
    let path = terminated(area)?;
    // SAFETY: the path is terminated and lives until the call returns
    let done = unsafe { libc::swapon(path.as_ptr(), 0) };
    Errno::result(done)
        .map(drop)
        .map_err(|why| Unavailable::Tool { tool: "swapon", why: why.to_string() })
}

/// Stops swapping to the file, and overwrites it, as far as it exists.
#[allow(unsafe_code)]
pub(crate) fn release(home: &Dir) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW;
    let area = match open_below(home, Path::new(AREA), flags, Mode::empty()) {
        Err(rustix::io::Errno::NOENT) => return Ok(()),
        area => area?,
    };
    let size = rustix::fs::fstat(&area)?.st_size;
    // this very file, even if it was renamed
    let path = by_descriptor(&area);
    let name = terminated(&path)?;
    // SAFETY: as for swapon
    match Errno::result(unsafe { libc::swapoff(name.as_ptr()) }) {
        // without permission to stop its use, we had none to begin it
        Ok(_) | Err(Errno::EINVAL | Errno::EPERM) => {}
        Err(why) => return Err(why.into()),
    }
    overwrite(&path, u64::try_from(size).map_err(io::Error::other)?)
}

pub(crate) fn needs_swap(benchmark: &Benchmark) -> bool {
    asks(benchmark, PARAM)
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn swap_grows_with_page_size() {
        let sizes = [4096, 16384, 65536].map(size);
        assert_eq!(sizes, [256 << 20, 256 << 20, 1 << 30]);
    }
}
