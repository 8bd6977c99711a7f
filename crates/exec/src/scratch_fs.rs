//! Scratch file system: ext4 on a loop device over a private file, for benchmarks that need a new one.
//!
//! One per run, made if a benchmark needs it. It is one directory, recorded in the journal before it is made, with
//! the file and the mount point. The loop device detaches itself after its last use (autoclear).

use crate::asks;
use crate::disk::{check_room, fill, tool};
use crate::loops;
use crate::owned_files::{self, Dir, Identity, NotOurs, fresh_name};
use crate::resource::{GRACE_PERIOD, Held, Recorder, Resource, Unavailable, Undo, make_directory};
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

/// Parameter of catalog entries.
const PARAM: &str = "new_file_system";
/// Size of the file, bytes: one and a half times the largest benchmark's data.
const SIZE: u64 = 192 << 20;
const IMAGE: &str = "image";
const MOUNTED: &str = "mounted";

/// Identified by its directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Volume(pub(crate) PathBuf);

impl Volume {
    pub(crate) fn acquire(
        dir: &Path,
        journal: &impl Recorder<Self>,
    ) -> Result<Held<Self>, Unavailable> {
        check_room(dir, SIZE)?;
        owned_files::safe_parent(dir)?;
        journal.acquire(|| Ok(Self(dir.join(fresh_name("volume")?))))
    }

    /// Mount point.
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
        let found = tool("losetup", &["--find", "--show", "--direct-io=on", "--", &image])?;
        let device = found.trim();
        if !is_direct(device) {
            return Err(Unavailable::Cached(device.to_owned()));
        }
        // no background work remains after mounting
        let now = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";
        // a file system this small would get blocks of 1 KB, unlike any other: half of the writes of 512 bytes would
        // read first
        let blocks = "4096";
        tool("mkfs.ext4", &["-q", "-F", "-b", blocks, "-E", now, "--", device])?;
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some(device), &self.directory(), Some("ext4"), flags, None::<&str>)
            .map_err(|why| Unavailable::Tool { tool: "mount", why: why.to_string() })?;
        // while in use, this only marks it autoclear
        tool("losetup", &["--detach", device]).map(|_| ())
    }

    fn undo(&self, identity: Option<Identity>) -> io::Result<Undo> {
        if let Some(home) = owned_files::open_existing(&self.0, identity)? {
            release(&home)?;
            owned_files::remove(&self.0, identity)?;
        }
        Ok(Undo::Gone)
    }

    fn remedy(&self) -> (String, &'static str) {
        let what = format!("cannot remove the file system in {}", self.0.display());
        (what, "; umount it, then remove the directory")
    }
}

/// True if a loop device bypasses the cache of the file system below.
fn is_direct(device: &str) -> bool {
    let name = device.strip_prefix("/dev/").unwrap_or(device);
    fs::read_to_string(format!("/sys/block/{name}/loop/dio")).is_ok_and(|dio| dio.trim() == "1")
}

/// Unmounts and detaches as far as needed: only a mount from a loop device over our file.
pub(crate) fn release(home: &Dir) -> io::Result<()> {
    let image = match Identity::of_entry(home, OsStr::new(IMAGE)) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(()),
        image => image?,
    };
    let devices = loops::attached_to(image);
    let devices: Vec<u64> = devices.iter().filter_map(|on| on.device().ok()).collect();
    // by descriptor and one component, which may not be a link
    let point = home.by_descriptor().join(MOUNTED);
    let end = Instant::now() + GRACE_PERIOD;
    while let Some(device) = mounted(home)? {
        if !devices.contains(&device) {
            return Err(NotOurs::Replaced(home.path().join(MOUNTED)).into());
        }
        // processes that still use it are being killed; others keep it until they leave
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
    loops::attached_to(image).iter().try_for_each(loops::Loop::detach)
}

#[allow(clippy::useless_conversion, reason = "its type differs by processor")]
fn mounted(home: &Dir) -> io::Result<Option<u64>> {
    let there = match statat(home, MOUNTED, AtFlags::SYMLINK_NOFOLLOW) {
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        there => u64::from(there?.st_dev),
    };
    Ok(Some(there).filter(|dev| Some(*dev) != Identity::of_file(home).ok().map(|home| home.dev)))
}

pub(crate) fn needs_scratch_fs(benchmark: &Benchmark) -> bool {
    asks(benchmark, PARAM)
}
