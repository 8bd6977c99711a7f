//! Loop devices over a file, identified by its inode.
#![allow(unsafe_code)]

use crate::owned_files::Identity;
use nix::errno::Errno;
use rustix::fs::{Mode, OFlags, fstat, open};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

/// `struct loop_info64` of linux/loop.h.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rest: [u64; 27],
}

/// LOOP_GET_STATUS64 and LOOP_CLR_FD of linux/loop.h.
const GET_STATUS: u16 = 0x4C05;
const CLEAR: u16 = 0x4C01;

nix::ioctl_read_bad!(get_status, GET_STATUS, LoopInfo);
nix::ioctl_none_bad!(
    /// LOOP_CLR_FD: detaches the file, or marks the device autoclear while it is in use.
    clear,
    CLEAR
);

pub(crate) struct Loop(OwnedFd);

impl Loop {
    /// st_dev of files on the file system of this device.
    #[allow(clippy::useless_conversion, reason = "its type differs by processor")]
    pub(crate) fn device(&self) -> io::Result<u64> {
        Ok(fstat(&self.0)?.st_rdev.into())
    }

    /// Detaches the file at once, or when the last user closes the device.
    pub(crate) fn detach(&self) -> io::Result<()> {
        // SAFETY: takes no argument; the descriptor is open
        match unsafe { clear(self.0.as_raw_fd()) } {
            // it detached itself a moment ago
            Err(Errno::ENXIO) => Ok(()),
            done => Ok(done.map(drop)?),
        }
    }

    fn is_over(&self, file: Identity) -> bool {
        let mut info = LoopInfo { device: 0, inode: 0, rest: [0; 27] };
        // SAFETY: writes one struct loop_info64, which has room
        let got = unsafe { get_status(self.0.as_raw_fd(), &raw mut info) };
        got.is_ok() && (info.device, info.inode) == (file.dev, file.ino)
    }
}

pub(crate) fn attached_to(file: Identity) -> Vec<Loop> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    devices
        .filter(|device| device.path().join("loop/backing_file").exists())
        .filter_map(|device| {
            let path = PathBuf::from("/dev").join(device.file_name());
            let opened = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
            opened.ok().map(Loop).filter(|device| device.is_over(file))
        })
        .collect()
}
