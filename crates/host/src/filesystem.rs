//! File systems and their devices.

use crate::mounts::{self, Mount};
use crate::{Root, text};
use nix::sys::statvfs::statvfs;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSystem {
    /// Device, server or label, as given to mount.
    pub device: String,
    pub mount_point: PathBuf,
    /// `ext4`, `tmpfs`, `overlay`, ...
    pub fs_type: String,
    /// Options of the mount and of the file system.
    pub options: Vec<String>,
    /// The kernel takes the device for a turning disk; `None` without a block device. Virtual disks often claim to
    /// turn.
    pub rotational: Option<bool>,
    pub noexec: bool,
    pub read_only: bool,
    /// Bytes available to this user.
    pub free: Option<u64>,
    /// For an overlay: the file system of its upper layer, if visible.
    pub below: Option<Box<FileSystem>>,
}

/// The file system that contains `dir`. Fails if `dir` cannot be opened, or its mount is not listed.
pub fn containing(dir: &Path) -> io::Result<FileSystem> {
    let context = |error: io::Error| {
        let message = format!(
            "cannot open the directory '{}': {error}: create it, or choose another one",
            dir.display()
        );
        io::Error::new(error.kind(), message)
    };
    let opened = File::open(dir).map_err(context)?;
    let path = dir.canonicalize().map_err(context)?;
    let root = Root::live();
    let table = root.text("/proc/self/mountinfo").unwrap_or_default();
    let mounts = mounts::parse(&table);
    // the mount id is exact where mounts hide each other; in a chroot it may not be listed
    let number: Option<u64> = root
        .text(&format!("/proc/self/fdinfo/{}", opened.as_raw_fd()))
        .and_then(|info| text::field(&info, "mnt_id", ':')?.parse().ok());
    let mount = mounts
        .iter()
        .find(|mount| Some(mount.id) == number)
        .or_else(|| mounts::holding(&mounts, &path))
        .ok_or_else(|| {
            io::Error::other(format!(
                "/proc/self/mountinfo lists no mount that holds '{}': is /proc mounted?",
                path.display()
            ))
        })?;
    let mut found = describe_mount(&root, &mounts, mount);
    found.free = statvfs(&path)
        .ok()
        .and_then(|space| (space.blocks_available()).checked_mul(space.fragment_size()));
    Ok(found)
}

fn describe_mount(root: &Root, mounts: &[Mount], mount: &Mount) -> FileSystem {
    let has = |name: &str| {
        let mut all = mount.options.iter().chain(&mount.super_options);
        all.any(|option| option == name)
    };
    let mut options = mount.options.clone();
    for option in &mount.super_options {
        if !options.contains(option) {
            options.push(option.clone());
        }
    }
    FileSystem {
        device: text::clean(&mount.source).unwrap_or_default(),
        mount_point: mount.point.clone(),
        fs_type: text::clean(&mount.fs_type).unwrap_or_default(),
        rotational: rotational(root, mount),
        noexec: has("noexec"),
        read_only: has("ro"),
        free: None,
        below: upper_layer(root, mounts, mount).map(Box::new),
        options,
    }
}

/// By the device number of the source (btrfs reports a number without a device), else of the mount.
fn rotational(root: &Root, mount: &Mount) -> Option<bool> {
    let source = Some(&mount.source)
        .filter(|source| source.starts_with('/'))
        .and_then(|source| root.join(source).metadata().ok())
        .filter(|source| source.file_type().is_block_device());
    let (major, minor) = match source.map(|source| source.rdev()) {
        Some(device) => (nix::sys::stat::major(device), nix::sys::stat::minor(device)),
        None => mount.number,
    };
    // a partition has the queue of its disk
    [
        format!("/sys/dev/block/{major}:{minor}/queue/rotational"),
        format!("/sys/dev/block/{major}:{minor}/../queue/rotational"),
    ]
    .iter()
    .find_map(|file| root.number::<u8>(file))
    .map(|turns| turns != 0)
}

/// In a container, the upper layer's path belongs to the host, and says nothing here.
fn upper_layer(root: &Root, mounts: &[Mount], mount: &Mount) -> Option<FileSystem> {
    if mount.fs_type != "overlay" {
        return None;
    }
    let upper = mount.super_options.iter().find_map(|option| option.strip_prefix("upperdir="))?;
    if !upper.starts_with('/') || !root.exists(upper) {
        return None;
    }
    let holding = mounts::holding(mounts, Path::new(upper))?;
    // an overlay on itself says nothing
    (holding.fs_type != "overlay").then(|| describe_mount(root, mounts, holding))
}

impl FileSystem {
    /// For tables: `ext4 on /dev/vda`, `tmpfs (memory)`, `overlay over ext4 on /dev/vda`, `nfs4 from server:/export`.
    pub fn describe(&self) -> String {
        let (kind, device) = (&self.fs_type, &self.device);
        match &self.below {
            Some(below) => format!("{kind} over {}", below.describe()),
            None if self.in_memory() => format!("{kind} (memory)"),
            None if self.remote() => format!("{kind} from {device}"),
            None if kind == "overlay" => "overlay (lower file system not visible)".to_owned(),
            None if device.is_empty() || device == "none" || device == kind => kind.clone(),
            None => format!("{kind} on {device}"),
        }
    }

    pub fn in_memory(&self) -> bool {
        ["tmpfs", "ramfs", "devtmpfs", "rootfs"].contains(&&*self.fs_type)
    }

    /// True if its files are on another machine, or with the host of this virtual one.
    pub(crate) fn remote(&self) -> bool {
        const REMOTE: &str = "9p afs beegfs ceph cifs fuse.glusterfs fuse.rclone fuse.s3fs fuse.sshfs \
            gpfs lustre nfs nfs4 smb3 vboxsf virtiofs";
        REMOTE.split(' ').any(|known| known == self.fs_type)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
1 0 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
2 1 0:20 / /tmp rw,noexec - tmpfs tmpfs rw,size=4k
3 1 254:0 /srv/data /data ro - ext4 /dev/vda rw
4 1 0:30 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir=/var/up,workdir=/w
5 1 0:31 / /lost rw - overlay overlay rw,lowerdir=/l,upperdir=/not/here,workdir=/w
6 1 0:32 / /net rw - nfs4 server:/export rw
7 1 0:33 /@home /home rw - btrfs /dev/none rw
8 1 0:34 / /live rw - overlay overlay ro,lowerdir=/l
9 1 0:35 / /zfs rw - zfs tank/home rw
10 1 0:36 / /odd rw - odd none rw
";

    #[test]
    fn each_kind_is_described() {
        let turns = ("/sys/dev/block/254:0/queue/rotational", "1\n");
        let (_kept, root) = crate::sysroot::recorded_files(&[turns, ("/var/up/x", "")]);
        let mounts = mounts::parse(TABLE);
        let seen = mounts.iter().map(|mount| describe_mount(&root, &mounts, mount));
        let seen: Vec<FileSystem> = seen.collect();
        let description: Vec<String> = seen.iter().map(FileSystem::describe).collect();
        let expected = [
            "ext4 on /dev/vda",
            "tmpfs (memory)",
            "ext4 on /dev/vda",
            "overlay over ext4 on /dev/vda",
            "overlay (lower file system not visible)",
            "nfs4 from server:/export",
            "btrfs on /dev/none",
            "overlay (lower file system not visible)",
            "zfs on tank/home",
            "odd",
        ];
        assert_eq!(description, expected);
        let [disk, memory, bound, merged, ..] = &seen[..] else {
            panic!("{seen:?}");
        };
        assert_eq!(disk.rotational, Some(true));
        assert_eq!(disk.options, ["rw", "relatime", "discard"]);
        assert!(!disk.noexec && !disk.read_only);
        assert!(memory.noexec && memory.rotational.is_none());
        assert!(bound.read_only && seen[7].read_only);
        assert_eq!(merged.below.as_ref().unwrap().rotational, Some(true));
    }

    #[test]
    fn a_directory_of_this_machine() {
        let directory = tempfile::tempdir().unwrap();
        let found = containing(directory.path()).unwrap();
        let path = directory.path().canonicalize().unwrap();
        assert!(path.starts_with(&found.mount_point));
        assert!(found.free.is_some());
        let proc = containing(Path::new("/proc")).unwrap();
        assert_eq!((proc.fs_type.as_str(), proc.rotational), ("proc", None));
        assert_eq!(proc.mount_point, Path::new("/proc"));
        let error = containing(Path::new("/no/such/directory")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let description = error.to_string();
        assert!(description.contains("'/no/such/directory'") && description.contains("create it"));
    }
}
