//! A file system of our own: ext4 on a loop device over a private file, for rows that want a new one.
//!
//! One a run, made when a row of the run asks for it. All of it is one directory, which stands in the journal before it is made: the
//! file, and where the file system is mounted. The loop device goes by itself when nobody uses it any more (autoclear).

use crate::disk::{fill, may_fill, tool};
use crate::journal::Journal;
use crate::loops;
use crate::owned_files::{self, Dir, Identity, NotOurs, fresh_name};
use crate::resource::{Back, GRACE, Held, Resource, Thing, Unavailable, make_directory};
use crate::{Executor, asks};
use gritstone_model::Benchmark;
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use rustix::fs::{AtFlags, statat};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The parameter of an entry that is carried out here.
const WANTED: &str = "new_file_system";
/// Bytes of the file: half as much again as the largest row writes.
const SIZE: u64 = 192 << 20;
/// The file, and where it is mounted.
const IMAGE: &str = "image";
const MOUNTED: &str = "mounted";

/// The file system, by its directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Volume(pub(crate) PathBuf);

impl Volume {
    /// Makes one below `dir`.
    pub(crate) fn acquire(dir: &Path, journal: &Journal) -> Result<Held<Self>, Unavailable> {
        may_fill(dir, SIZE)?;
        owned_files::safe_parent(dir)?;
        journal.acquire(Thing::Volume, || Ok(Self(dir.join(fresh_name("volume")?))))
    }

    /// Where files are made on it.
    pub(crate) fn directory(&self) -> PathBuf {
        self.0.join(MOUNTED)
    }
}

impl Resource for Volume {
    fn make(&self) -> io::Result<Option<Identity>> {
        make_directory(&self.0)
    }

    fn set_up(&self) -> Result<(), Unavailable> {
        Dir::make(&self.directory())?;
        let image = self.0.join(IMAGE);
        fill(&image, SIZE)?;
        let image = image.display().to_string();
        let found = tool(
            "losetup",
            &["--find", "--show", "--direct-io=on", "--", &image],
        )?;
        let device = found.trim();
        if !is_direct(device) {
            return Err(Unavailable::Cached(device.to_owned()));
        }
        // nothing is left to be done in the background once it is mounted
        let now = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";
        // a file system as small as this one would get blocks of 1 KB, which no other has: half of the writes of 512 bytes would read first
        let blocks = "4096";
        tool(
            "mkfs.ext4",
            &["-q", "-F", "-b", blocks, "-E", now, "--", device],
        )?;
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(
            Some(device),
            &self.directory(),
            Some("ext4"),
            flags,
            None::<&str>,
        )
        .map_err(|why| Unavailable::Tool {
            tool: "mount",
            why: why.to_string(),
        })?;
        // while it is in use this only says that it shall go with its last user
        tool("losetup", &["--detach", device]).map(|_| ())
    }

    fn undo(&self, made: Option<Identity>) -> io::Result<Back> {
        if let Some(home) = owned_files::open_made(&self.0, made)? {
            release(&home)?;
            owned_files::remove(&self.0, made)?;
        }
        Ok(Back::Gone)
    }

    fn remedy(&self) -> (String, &'static str) {
        let what = format!("cannot remove the file system in {}", self.0.display());
        (what, "; umount it, then remove the directory")
    }
}

/// Whether a loop device leaves out the cache of the file system below it.
fn is_direct(device: &str) -> bool {
    let name = device.strip_prefix("/dev/").unwrap_or(device);
    fs::read_to_string(format!("/sys/block/{name}/loop/dio")).is_ok_and(|dio| dio.trim() == "1")
}

/// Takes down the file system in a directory of ours, as far as it is there: what is mounted from a loop device over the file, and
/// the device.
pub(crate) fn release(home: &Dir) -> io::Result<()> {
    let image = match Identity::at(home, OsStr::new(IMAGE)) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(()),
        image => image?,
    };
    let devices = loops::over(image);
    let devices: Vec<u64> = devices.iter().filter_map(|on| on.device().ok()).collect();
    // by descriptor and one name, which may not be a link
    let point = home.by_descriptor().join(MOUNTED);
    let end = Instant::now() + GRACE;
    while let Some(device) = mounted(home)? {
        if !devices.contains(&device) {
            return Err(NotOurs::Replaced(home.path().join(MOUNTED)).into());
        }
        // those who are still at work in it are being killed; whoever else is there keeps it until it leaves
        let flags = match Instant::now() < end {
            true => MntFlags::empty(),
            false => MntFlags::MNT_DETACH,
        };
        match umount2(&point, flags | MntFlags::UMOUNT_NOFOLLOW) {
            Ok(()) => {}
            Err(Errno::EBUSY) => std::thread::sleep(Duration::from_millis(20)),
            Err(why) => return Err(why.into()),
        }
    }
    loops::over(image).iter().try_for_each(loops::Loop::detach)
}

/// The device of what is mounted in a directory of ours, if anything is.
#[allow(clippy::useless_conversion, reason = "its type differs by processor")]
fn mounted(home: &Dir) -> io::Result<Option<u64>> {
    let there = match statat(home, MOUNTED, AtFlags::SYMLINK_NOFOLLOW) {
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        there => u64::from(there?.st_dev),
    };
    Ok(Some(there).filter(|dev| Some(*dev) != Identity::of(home).ok().map(|home| home.dev)))
}

/// Whether a row asks for a file system of its own.
#[must_use]
pub fn wants_file_system(benchmark: &Benchmark) -> bool {
    asks(benchmark, WANTED)
}

impl Executor {
    /// The file system made for a row, or why there is none; `None` for a row that asks for none.
    pub(crate) fn volume_for(
        &self,
        benchmark: &Benchmark,
    ) -> Option<Result<&Volume, &Unavailable>> {
        wants_file_system(benchmark).then_some(self.equipment.volume.as_deref())
    }
}
