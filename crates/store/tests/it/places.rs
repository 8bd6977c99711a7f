//! Places where a store cannot be written, and disks that are full.

// mounts and the rights of one thread are Linux's own
#![cfg(target_os = "linux")]

use crate::common;
use gritstone_store::{Store, StoreError};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Uid, geteuid, setfsuid};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Does `act` while nothing in `folder` can be written by this thread; root gives up its rights for as long.
fn without_writing(folder: &Path, act: impl FnOnce()) {
    let set = |mode: u32| {
        let files = folder
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().path());
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
    assert!(restricted, "this user writes where nobody may");
    act();
    setfsuid(me);
    set(0o644);
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
fn where_nothing_can_be_written_a_store_is_still_read() {
    let (folder, path) = common::place();
    let run = common::run(1, 3);
    common::store(&mut Store::open(&path).unwrap(), &run);
    without_writing(folder.path(), || {
        let error = Store::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
        let told = error.to_string();
        assert!(told.starts_with(&path.display().to_string()), "{told}");
        assert!(
            told.contains("name a store of your own with --store"),
            "{told}"
        );

        let mut store = Store::open_read_only(&path).unwrap();
        assert_eq!(store.load(&store.resolve("last").unwrap()).unwrap(), run);
        let error = store
            .begin(&common::owner(), &common::info(2), &[], &[].into(), &[])
            .unwrap_err();
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    });
    assert_eq!(
        folder.path().read_dir().unwrap().count(),
        1,
        "nothing is left behind"
    );
}

#[test]
fn a_store_that_is_closed_to_others_cannot_be_read_and_says_so() {
    let (folder, path) = common::place();
    common::store(&mut Store::open(&path).unwrap(), &common::run(1, 1));
    without_writing(folder.path(), || {
        let me = setfsuid(geteuid());
        fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap();
        setfsuid(me);
        for opened in [Store::open(&path), Store::open_read_only(&path)] {
            let error = opened.unwrap_err();
            assert!(matches!(error, StoreError::NotReadable { .. }), "{error:?}");
        }
        let me = setfsuid(geteuid());
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        setfsuid(me);
        let error = Store::open_read_only(&path).unwrap_err();
        assert!(matches!(error, StoreError::NotReadable { .. }), "{error:?}");
    });
}

#[test]
fn where_nothing_can_be_written_no_store_begins() {
    let (folder, _) = common::place();
    for path in ["gritstone.db", "share/gritstone/gritstone.db"] {
        let path = folder.path().join(path);
        without_writing(folder.path(), || {
            let error = Store::open(&path).unwrap_err();
            assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
            let error = Store::open_read_only(&path).unwrap_err();
            assert!(matches!(error, StoreError::Missing { .. }), "{error:?}");
        });
    }
}

#[test]
fn a_file_that_cannot_be_written_in_a_folder_that_can() {
    let (folder, path) = common::place();
    let run = common::run(1, 1);
    common::store(&mut Store::open(&path).unwrap(), &run);
    without_writing(folder.path(), || {
        // the folder belongs to everyone, the file does not
        let me = setfsuid(geteuid());
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        setfsuid(me);
        let error = Store::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
        assert_eq!(
            Store::open_read_only(&path)
                .unwrap()
                .load(&run.info.id)
                .unwrap(),
            run
        );
    });
}

#[test]
fn the_end_of_a_cut_off_writer_is_not_left_out_in_silence() {
    let (folder, path) = common::place();
    let run = common::run(1, 3);
    let mut store = Store::open(&path).unwrap();
    common::store(&mut store, &run);
    // as a kill leaves it: the log is there, and the memory that its users share is not
    let (copies, copy) = common::place();
    for suffix in ["", "-wal"] {
        let name = format!("gritstone.db{suffix}");
        fs::copy(folder.path().join(&name), copies.path().join(&name)).unwrap();
    }
    drop(store);
    without_writing(copies.path(), || {
        let error = Store::open_read_only(&copy).unwrap_err();
        assert!(matches!(error, StoreError::CutOff { .. }), "{error:?}");
        assert!(
            error.to_string().contains("Copy both to a folder of yours"),
            "{error}"
        );
    });
    assert_eq!(
        Store::open_read_only(&copy)
            .unwrap()
            .load(&run.info.id)
            .unwrap(),
        run
    );
}

#[test]
fn the_store_of_someone_else_is_read_while_they_write() {
    let (folder, path) = common::place();
    let mut run = common::run(1, 2);
    let mut theirs = Store::open(&path).unwrap();
    run.info.elapsed_s = None;
    common::store(&mut theirs, &run);
    without_writing(folder.path(), || {
        let ours = Store::open_read_only(&path).unwrap();
        assert_eq!(ours.load(&run.info.id).unwrap(), run);
        common::append(&mut theirs, &run.info.id, &common::launch(2));
        assert_eq!(ours.load(&run.info.id).unwrap().launches.len(), 3);
    });
}

#[test]
fn a_place_that_is_no_place_for_a_file() {
    let (folder, path) = common::place();
    fs::create_dir(&path).unwrap();
    for opened in [Store::open(&path), Store::open_read_only(&path)] {
        let error = opened.unwrap_err();
        assert!(matches!(error, StoreError::Unusable { .. }), "{error:?}");
        assert!(error.to_string().contains("it is a folder"), "{error}");
    }
    let file = folder.path().join("file");
    File::create(&file).unwrap();
    let error = Store::open(&file.join("gritstone.db")).unwrap_err();
    assert!(matches!(error, StoreError::Unusable { .. }), "{error:?}");
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
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    let error = Store::open(&disk.0.join("new/gritstone.db")).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    assert_eq!(
        Store::open_read_only(&path)
            .unwrap()
            .load(&run.info.id)
            .unwrap(),
        run
    );
}

#[test]
fn a_file_system_that_is_not_known_to_be_local_gets_no_log_as_root() {
    let (folder, _) = common::place();
    let disk = Disk::mount(folder.path(), "ramfs", "");
    let path = disk.0.join("gritstone.db");
    let run = common::run(1, 2);
    let mut store = Store::open(&path).unwrap();
    common::store(&mut store, &run);
    let mode = |path: &Path| {
        let connection = rusqlite::Connection::open(path).unwrap();
        let mode = connection.pragma_query_value(None, "journal_mode", |row| row.get(0));
        mode.map(|mode: String| mode).unwrap()
    };
    assert_eq!(mode(&path), "delete");
    assert_eq!(store.load(&run.info.id).unwrap(), run);
    let (_folder, path) = common::place();
    Store::open(&path).unwrap();
    let local = ["wal", "delete"];
    assert!(local.contains(&&*mode(&path)), "{}", mode(&path));
}
