//! Disks that must not be damaged: a full or read-only one, a device in use, and files that are not devices.

use crate::common::{
    DISC, Home, SHORT, alone, entries, eventually, needs_root, program, result, succeeds,
};
use nix::libc;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mount that only this thread and its children can see.
pub struct Private(PathBuf);

impl Private {
    pub fn mount(
        from: Option<&Path>,
        target: &Path,
        kind: &str,
        flags: MsFlags,
        options: &str,
    ) -> Self {
        needs_root();
        let none: Option<&str> = None;
        unshare(CloneFlags::CLONE_NEWNS)
            .and_then(|()| mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none))
            .and_then(|()| mount(from, target, Some(kind), flags, Some(options)))
            .unwrap_or_else(|error| panic!("{kind} cannot be mounted: {error}"));
        Self(target.to_owned())
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        if let Err(error) = umount2(&self.0, MntFlags::MNT_DETACH) {
            eprintln!("{} stays mounted in this thread: {error}", self.0.display());
        }
    }
}

/// Runs of each of these benchmarks on a disk with too little room; an existing file is left alone.
fn says_full(home: &Home, disk: &Path, ids: &[&str]) {
    let mine = disk.join("mine");
    fs::write(&mine, "kept").unwrap();
    let before = entries(disk).len();
    let path = disk.to_str().unwrap();
    for id in ids {
        let line = format!("run {id} --quick --dir {path}");
        let error = home.fails(3, &line, "No space left on device in ");
        let advice = "free space there, or choose another directory with --dir";
        assert!(error.contains(path) && error.contains(advice), "{id}: {error}");
        assert_eq!(fs::read_to_string(&mine).unwrap(), "kept");
        assert_eq!(entries(disk).len(), before, "{id}: {:?}", entries(disk));
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn full_disks_have_advice_as_root() {
    let _turn = alone();
    let home = Home::new();
    let (image, disk) = (home.path().join("image"), home.path().join("disk"));
    fs::create_dir(&disk).unwrap();
    let whole = MsFlags::empty();
    {
        let _memory = Private::mount(None, &disk, "tmpfs", whole, "size=1m");
        says_full(&home, &disk, &["fs/seq-write/32k", "fs/fsync/rand-32k"]);
    }
    let device = file_system(&image, 3 << 20);
    let _disk = Private::mount(Some(device.path()), &disk, "ext4", whole, "");
    let ids = ["disk/write-nofsync", "disk/raw-write", "disk/read-seq"];
    says_full(&home, &disk, &ids);
}

#[test]
fn unwritable_directories_are_named_as_root() {
    let home = Home::new();
    let disk = home.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let _disk = Private::mount(None, &disk, "tmpfs", MsFlags::MS_RDONLY, "size=1m");
    for id in ["fs/seq-write/512", "disk/write-fsync"] {
        let line = format!("run {id} --dir {}", disk.display());
        let error = home.refuses(&line, &format!("cannot measure files in {}", disk.display()));
        for words in ["Read-only file system", "choose another directory with --dir"] {
            assert!(error.contains(words), "{error}");
        }
    }
    assert_eq!(entries(&disk).len(), 0);
}

/// A loop device over a file; it goes when this is dropped.
pub struct Loop(String);

impl Loop {
    pub fn over(image: &Path) -> Self {
        needs_root();
        let mut losetup = Command::new(program(&["losetup"]));
        let device = succeeds(losetup.args(["--find", "--show"]).arg(image));
        Self(device.trim().to_owned())
    }

    pub fn path(&self) -> &Path {
        Path::new(&self.0)
    }
}

/// A loop device over a new file with an empty ext4.
fn file_system(image: &Path, bytes: u64) -> Loop {
    File::create(image).unwrap().set_len(bytes).unwrap();
    succeeds(Command::new("mkfs.ext4").arg("-q").arg(image));
    Loop::over(image)
}

impl Drop for Loop {
    fn drop(&mut self) {
        succeeds(Command::new("losetup").args(["-d", &self.0]));
    }
}

/// Benchmarks that can be measured on a device, and how much of it they write.
const RAW: [(&str, usize); 2] = [("disk/raw-write", 4 << 20), ("rt/raw-disk/8k", 2 << 20)];

/// Output of a run of raw writes on a device.
fn on_device(home: &Home, device: &str, overwrite: Option<&str>) -> (i32, String, String) {
    raw(home, RAW[0].0, device, overwrite)
}

/// The same of one of these benchmarks.
fn raw(home: &Home, id: &str, device: &str, overwrite: Option<&str>) -> (i32, String, String) {
    let overwrite = overwrite.map_or(String::new(), |name| format!("--param overwrite={name}"));
    home.run(&format!(
        "run {id} --dir {DISC} {SHORT} --format json --param device={device} {overwrite}"
    ))
}

#[test]
fn invalid_devices_are_refused() {
    let _turn = alone();
    let home = Home::new();
    let file = home.path().join("file");
    fs::write(&file, "mine").unwrap();
    let file = file.to_str().unwrap();
    for (device, why) in [
        ("/dev/there-is-none", "No such file or directory; `lsblk`"),
        ("/dev/null", "is not a block device"),
        (file, "is not a block device"),
    ] {
        let (code, _, error) = on_device(&home, device, Some(device));
        assert_eq!(code, 3, "{error}");
        assert!(error.contains(device) && error.contains(why), "{error}");
    }
    assert_eq!(fs::read_to_string(file).unwrap(), "mine");
}

#[test]
#[ignore = "measures: make test-full"]
fn device_writes_need_confirmation_as_root() {
    let _turn = alone();
    let home = Home::new();
    let image = home.path().join("image");
    let before = vec![b'm'; 16 << 20];
    fs::write(&image, &before).unwrap();
    let device = Loop::over(&image);
    let name = device.0.as_str();
    let intact = |what: &str| assert!(fs::read(&image).unwrap() == before, "{what}");

    for (id, _) in RAW {
        for overwrite in [None, Some("yes"), Some("/dev/null")] {
            let (code, _, error) = raw(&home, id, name, overwrite);
            assert_eq!(code, 3, "{error}");
            let advice = format!("add --param overwrite={name}");
            assert!(error.contains(&advice), "{error}");
        }
    }
    intact("not confirmed");

    // as a file system, swap or a mapper holds it
    let holder = File::options().read(true).custom_flags(libc::O_EXCL).open(name).unwrap();
    let (code, _, error) = on_device(&home, name, Some(name));
    assert_eq!(code, 3, "{error}");
    assert!(error.contains("nothing was written"), "{error}");
    drop(holder);
    intact("in use");

    for (id, bytes) in RAW {
        fs::write(&image, &before).unwrap();
        let (code, out, error) = raw(&home, id, name, Some(name));
        assert_eq!(code, 0, "{error}");
        let run: Value = serde_json::from_str(&out).unwrap();
        let measured = &result(&run, id)["measured"];
        assert_eq!(*measured, format!("past the cache of {name}"));
        let after = fs::read(&image).unwrap();
        assert!(after[..bytes] != before[..bytes], "{id}: it was written");
        assert!(after[bytes..] == before[bytes..], "{id}: and no more");
    }
}

#[test]
fn mounted_devices_are_refused_as_root() {
    let _turn = alone();
    let home = Home::new();
    let (image, point) = (home.path().join("image"), home.path().join("point"));
    fs::create_dir(&point).unwrap();
    let device = file_system(&image, 16 << 20);
    let mounted = Private::mount(Some(device.path()), &point, "ext4", MsFlags::empty(), "");
    fs::write(point.join("mine"), "kept").unwrap();
    // the run sees the mount; one that does not would be refused by the system
    let (code, _, error) = on_device(&home, &device.0, Some(&device.0));
    assert_eq!(code, 3, "{error}");
    let reason = format!("mounted on {}", point.display());
    assert!(error.contains(&reason), "{error}");
    assert_eq!(fs::read_to_string(point.join("mine")).unwrap(), "kept");
    drop(mounted);
    eventually("it is checked and found whole", || {
        let checked = Command::new("e2fsck").args(["-fn", &device.0]).output();
        checked.unwrap().status.success()
    });
}
