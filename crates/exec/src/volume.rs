//! A file system of our own: ext4 on a loop device over a private file, for rows that want a new one.
//!
//! One a run, made when a row of the run asks for it. All of it is one directory, which stands in the journal before it is made: the
//! file, and where the file system is mounted. The loop device goes by itself when nobody uses it any more (autoclear).
//!
//! Must not know: which rows there are, what is measured on it.

use crate::disc::{fill, may_fill, tool};
use crate::journal::written_down;
use crate::places::{self, fresh_name};
use crate::{Executor, Journal, asks};
use gritstone_model::Benchmark;
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The parameter of an entry that is carried out here.
const WANTED: &str = "new_file_system";
/// Bytes of the file: half as much again as the largest row writes.
const SIZE: u64 = 192 << 20;
/// The file, and where it is mounted.
const IMAGE: &str = "image";
const MOUNTED: &str = "mounted";
/// How long the killed may take to leave.
const GRACE: Duration = Duration::from_secs(5);

/// The file system; it goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Volume(PathBuf);

impl Volume {
    /// Makes one below `dir`.
    fn make(dir: &Path, journal: &mut Journal) -> Result<Self, String> {
        may_fill(dir, SIZE)?;
        let home = dir.join(fresh_name("volume"));
        journal.mounts(&home).map_err(|why| why.to_string())?;
        let volume = Self(home);
        volume.set_up()?;
        Ok(volume)
    }

    fn set_up(&self) -> Result<(), String> {
        let reason = |why: io::Error| why.to_string();
        for directory in [self.0.clone(), self.0.join(MOUNTED)] {
            let made = DirBuilder::new().mode(0o700).create(&directory);
            made.map_err(reason)?;
        }
        let image = self.0.join(IMAGE);
        fill(&image, SIZE).map_err(reason)?;
        let image = image.display().to_string();
        let found = tool(
            "losetup",
            &["--find", "--show", "--direct-io=on", "--", &image],
        )?;
        let device = found.trim();
        if !is_direct(device) {
            return Err(format!(
                "{device} cannot go past the cache of the directory"
            ));
        }
        // nothing is left to be done in the background once it is mounted
        let now = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";
        tool("mkfs.ext4", &["-q", "-F", "-E", now, "--", device])?;
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(
            Some(device),
            &self.0.join(MOUNTED),
            Some("ext4"),
            flags,
            None::<&str>,
        )
        .map_err(|why| format!("mount: {why}"))?;
        // while it is in use this only says that it shall go with its last user
        tool("losetup", &["--detach", device]).map(|_| ())
    }

    /// Where files are made on it.
    pub(crate) fn directory(&self) -> PathBuf {
        self.0.join(MOUNTED)
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        // what cannot be removed now stays in the journal, which tries again
        let _ = remove(&self.0);
    }
}

/// Whether a loop device leaves out the cache of the file system below it.
fn is_direct(device: &str) -> bool {
    let name = device.strip_prefix("/dev/").unwrap_or(device);
    fs::read_to_string(format!("/sys/block/{name}/loop/dio")).is_ok_and(|dio| dio.trim() == "1")
}

/// The loop devices over a file.
fn loops_over(image: &Path) -> Vec<String> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    devices
        .filter(|device| {
            let over = fs::read_to_string(device.path().join("loop/backing_file"));
            over.is_ok_and(|over| Path::new(over.trim_end_matches('\n')) == image)
        })
        .map(|device| format!("/dev/{}", device.file_name().display()))
        .collect()
}

/// Takes down a file system of ours with all that it is made of, as far as it is there.
pub(crate) fn remove(home: &Path) -> io::Result<()> {
    places::must_be_ours(home)?;
    let point = home.join(MOUNTED);
    let end = Instant::now() + GRACE;
    while point.symlink_metadata().is_ok() {
        // those who are still at work in it are being killed; whoever else is there keeps it until it leaves
        let flags = match Instant::now() < end {
            true => MntFlags::empty(),
            false => MntFlags::MNT_DETACH,
        };
        match umount2(&point, flags | MntFlags::UMOUNT_NOFOLLOW) {
            Ok(()) => {}
            Err(Errno::EBUSY) => std::thread::sleep(Duration::from_millis(20)),
            // nothing is mounted there, and who may not take down has put nothing up
            Err(Errno::EINVAL | Errno::ENOENT | Errno::EPERM) => break,
            Err(why) => return Err(why.into()),
        }
    }
    // the system names it by its real path
    let real = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    for device in loops_over(&real.join(IMAGE)) {
        tool("losetup", &["--detach", &device]).map_err(io::Error::other)?;
    }
    places::remove(home)
}

/// Whether a row asks for a file system of its own.
#[must_use]
pub fn wants_file_system(benchmark: &Benchmark) -> bool {
    asks(benchmark, WANTED)
}

impl Executor {
    /// From now on, rows that ask for it work on a file system that is made for them below `dir`. Where none can be made, they
    /// work in their usual directory, and their launches say so and why.
    pub fn equip(&mut self, dir: &Path, journal: Option<&mut Journal>) {
        self.volume = written_down(journal, |journal| Volume::make(dir, journal));
    }

    /// The file system made for a row, or why there is none; `None` for a row that asks for none.
    pub(crate) fn volume_for(&self, benchmark: &Benchmark) -> Option<Result<&Volume, &str>> {
        wants_file_system(benchmark).then(|| self.volume.as_ref().map_err(String::as_str))
    }
}
