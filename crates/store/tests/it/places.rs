//! Places where a store cannot be written, and disks that are full.

use crate::common;
use gritstone_store::Store;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::stat::Mode;
use nix::unistd::{Uid, geteuid, setfsuid};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Does `act` while nothing in `folder` can be written by this thread; root gives up its rights for as long.
fn without_writing(folder: &Path, act: impl FnOnce()) {
    let set = |mode: u32| {
        let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
        for path in files.chain([folder.to_owned()]) {
            let x = if path.is_dir() { 0o111 } else { 0 };
            fs::set_permissions(path, Permissions::from_mode(mode | x)).unwrap();
        }
    };
    set(0o444);
    let me = geteuid();
    if me.is_root() {
        // of this thread alone
        setfsuid(Uid::from_raw(65534));
    }
    let restricted = File::create(folder.join("probe")).is_err();
    assert!(restricted, "this user can write to read-only places");
    act();
    setfsuid(me);
    set(0o644);
}

/// Changes the mode as who owns it, in a thread that has given up its rights.
fn set_mode(path: &Path, mode: u32) {
    let me = setfsuid(geteuid());
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    setfsuid(me);
}

fn read_only(path: &Path) {
    common::fails(Store::open(path), "ReadOnly");
}

/// A file system of its own, which only this thread sees, on a folder `disk`.
struct Disk(PathBuf);

impl Disk {
    fn mount(folder: &Path, kind: &str, options: &str) -> Self {
        let disk = folder.join("disk");
        fs::create_dir(&disk).unwrap();
        let none: Option<&str> = None;
        let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
        unshare(CloneFlags::CLONE_NEWNS)
            .and_then(|()| mount(none, "/", none, private, none))
            .and_then(|()| mount(none, &disk, Some(kind), MsFlags::empty(), Some(options)))
            .unwrap_or_else(|error| panic!("no {kind} can be mounted, which takes root: {error}"));
        Self(disk)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // were it left, the folder that it is mounted on could not be removed
        if let Err(error) = umount2(&self.0, MntFlags::MNT_DETACH) {
            eprintln!("{} stays mounted in this thread: {error}", self.0.display());
        }
    }
}

#[test]
fn read_only_stores_are_readable() {
    let run = common::run(1, 3);
    let (folder, path, store) = common::with(std::slice::from_ref(&run));
    drop(store);
    let (elsewhere, _) = common::place();
    without_writing(folder.path(), || {
        read_only(&path);
        let mut store = Store::open_read_only(&path).unwrap();
        assert_eq!(store.load(&store.resolve("last", common::here).unwrap().id).unwrap(), run);
        common::fails(
            store.begin(&common::owner(), &common::info(2), &[], &[].into(), &[]),
            "ReadOnly",
        );
        drop(store);
        let files = folder.path().read_dir().unwrap().count();
        assert_eq!(files, 1, "nothing is left behind");
        // the folder belongs to everyone, the file does not
        set_mode(folder.path(), 0o777);
        read_only(&path);
        let store = Store::open_read_only(&path).unwrap();
        assert_eq!(store.load(&run.info.id).unwrap(), run);
        drop(store);
        set_mode(&path, 0o000);
        for closed in [0o777, 0o700] {
            set_mode(folder.path(), closed);
            common::fails(Store::open_read_only(&path), "NotReadable");
        }
    });
    for path in ["gritstone.db", "share/gritstone/gritstone.db"] {
        let path = elsewhere.path().join(path);
        without_writing(elsewhere.path(), || {
            read_only(&path);
            common::fails(Store::open_read_only(&path), "Missing");
        });
    }
}

#[test]
fn unrecovered_logs_are_reported() {
    let mut run = common::cut_off(1, 3);
    let (folder, path, mut store) = common::with(std::slice::from_ref(&run));
    // as a kill leaves it: the log is there, and the memory that its users share is not
    let (copies, copy) = common::place();
    for suffix in ["", "-wal"] {
        let name = format!("gritstone.db{suffix}");
        fs::copy(folder.path().join(&name), copies.path().join(&name)).unwrap();
    }
    without_writing(copies.path(), || {
        common::fails(Store::open_read_only(&copy), "CutOff");
    });
    let read = Store::open_read_only(&copy).unwrap();
    assert_eq!(read.load(&run.info.id).unwrap(), run);
    // the store of someone else is read while they write
    without_writing(folder.path(), || {
        let ours = Store::open_read_only(&path).unwrap();
        assert_eq!(ours.load(&run.info.id).unwrap(), run);
        common::append(&mut store, &run.info.id, &common::launch(3));
        run.launches.push(common::launch(3));
        assert_eq!(ours.load(&run.info.id).unwrap(), run);
    });
}

#[test]
fn unusable_paths_are_refused() {
    let (folder, path) = common::place();
    fs::create_dir(&path).unwrap();
    let file = folder.path().join("file");
    File::create(&file).unwrap();
    common::fails(Store::open(&file.join("gritstone.db")), "Unusable");
    let pipe = folder.path().join("pipe");
    nix::unistd::mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    let named = ["/dev/null", "/proc/self/mem", "http://localhost/runs"].map(Path::new);
    for path in named.into_iter().chain([path.as_path(), pipe.as_path()]) {
        common::fails(Store::open(path), "Unusable");
        common::fails(Store::open_read_only(path), "Unusable");
    }
    assert!(!Path::new("http:").exists());
}

#[test]
fn a_read_only_file_system_as_root() {
    let (folder, _) = common::place();
    let disk = Disk::mount(folder.path(), "tmpfs", "size=1m");
    let path = disk.0.join("gritstone.db");
    let run = common::run(1, 2);
    common::store(&mut Store::open(&path).unwrap(), &run);
    let none: Option<&str> = None;
    let flags = MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    mount(none, &disk.0, none, flags, none).unwrap();
    read_only(&path);
    read_only(&disk.0.join("new/gritstone.db"));
    let store = Store::open_read_only(&path).unwrap();
    assert_eq!(store.load(&run.info.id).unwrap(), run);
}

#[test]
fn remote_disks_get_no_log_as_root() {
    let (folder, _) = common::place();
    let disk = Disk::mount(folder.path(), "ramfs", "");
    let path = disk.0.join("gritstone.db");
    let run = common::run(1, 2);
    let mut store = Store::open(&path).unwrap();
    common::store(&mut store, &run);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let mode = connection.pragma_query_value(None, "journal_mode", |row| row.get(0));
    assert_eq!(mode, Ok("delete".to_owned()));
    assert_eq!(store.load(&run.info.id).unwrap(), run);
}
