//! Directories, file systems and groups: recorded before they are made, and removed by the next process.

use super::Machine;
use crate::any_resource::AnyResource;
use crate::cgroup::Group;
use crate::journal_file::Entry;
use crate::owned_files::{Identity, fresh_name};
use crate::resource::{Directory, Held, Recorder, Resource};
use crate::scratch_fs::Volume;
use crate::swap::Swap;
use crate::{WorkDirs, recover};
use std::cell::Cell;
use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};

#[test]
fn killed_file_systems_are_removed() {
    let machine = Machine::new();
    // killed before it was mounted; tests of the whole program cover unmounting
    let path = machine.0.path().join(fresh_name("volume").unwrap());
    let foreign = machine.0.path().join("foreign");
    for home in [&path, &foreign] {
        fs::create_dir_all(home.join("mounted")).unwrap();
        fs::write(home.join("image"), "zeros").unwrap();
    }
    let entries = |home: &Path| {
        let volume = Volume(home.to_owned());
        [Entry::Owner(machine.owner()), Entry::Makes(AnyResource::Volume(volume))]
    };
    machine.left_behind(&entries(&path), "");
    assert!(recover(&machine.state()).is_empty());
    assert!(!path.exists() && machine.journals().is_empty());
    machine.left_behind(&entries(&foreign), "");
    let messages = recover(&machine.state());
    assert_eq!(messages.len(), 1, "{messages:?}");
    let reported = ["foreign", "has a name that Gritstone never gives"];
    assert!(reported.iter().all(|text| messages[0].contains(text)), "{messages:?}");
    assert!(foreign.join("image").exists() && machine.journals().is_empty());
}

#[test]
fn directories_are_recorded_before_creation() {
    let machine = Machine::new();
    let journal = machine.journal();
    let here = machine.0.path().to_path_buf();
    let work_dirs = WorkDirs::make(std::slice::from_ref(&here), &here, Some(&journal)).unwrap();
    let written = machine.written();
    let all = fs::read_dir(&here).unwrap().flatten();
    let all = all.map(|entry| entry.path());
    let ours = |path: &PathBuf| path.to_string_lossy().contains("/gritstone.");
    let created: Vec<PathBuf> = all.filter(ours).collect();
    assert_eq!(created.len(), 2);
    for path in &created {
        assert!(written.contains(path.to_str().unwrap()), "{written}");
    }
    // the journal removes directories that are never dropped
    std::mem::forget(work_dirs);
    drop(journal);
    assert!(created.iter().all(|path| !path.exists()));
}

#[test]
fn only_our_groups_are_removed() {
    let machine = Machine::new();
    let ours = machine.0.path().join(fresh_name("group").unwrap());
    let foreign = machine.0.path().join("system.slice");
    fs::create_dir(&ours).unwrap();
    fs::create_dir(&foreign).unwrap();
    let group = |path: &Path| Entry::Makes(AnyResource::Group(Group(path.to_owned())));
    let mut entries = vec![
        Entry::Owner(machine.owner()),
        group(&machine.0.path().join(fresh_name("group").unwrap())),
        group(&ours),
    ];
    machine.left_behind(&entries, "");
    assert!(recover(&machine.state()).is_empty());
    assert!(!ours.exists() && machine.journals().is_empty());
    entries.push(group(&foreign));
    machine.left_behind(&entries, "");
    let messages = machine.recovered();
    assert!(messages.contains("system.slice") && foreign.exists(), "{messages}");
}

/// An attacker replaces what a run made, or takes the name of what it is about to make.
#[test]
fn replaced_objects_are_left_alone() {
    let machine = Machine::new();
    let path = machine.0.path().join(fresh_name("volume").unwrap());
    let moved = machine.0.path().join("moved");
    let identity = Directory(path.clone()).make().unwrap().unwrap();
    fs::rename(&path, &moved).unwrap();
    fs::create_dir(&path).unwrap();
    fs::write(path.join("image"), "another's").unwrap();
    for resource in [
        AnyResource::Directory(Directory(path.clone())),
        AnyResource::Volume(Volume(path.clone())),
        AnyResource::Group(Group(path.clone())),
        AnyResource::Swap(Swap(path.clone())),
    ] {
        let [owner, makes] = [Entry::Owner(machine.owner()), Entry::Makes(resource)];
        machine.left_behind(&[owner, makes, Entry::Made(identity)], "");
        let messages = machine.recovered();
        assert!(messages.contains("was replaced after this run had created it"), "{messages}");
        assert!(path.join("image").exists() && moved.exists());
    }
    // links are not followed, and files of other users are not ours
    fs::remove_dir_all(&path).unwrap();
    symlink(&moved, &path).unwrap();
    fs::write(moved.join("area"), "another's").unwrap();
    let swap = || Entry::Makes(AnyResource::Swap(Swap(path.clone())));
    let refused = |what: &str| {
        machine.left_behind(&[Entry::Owner(machine.owner()), swap()], "");
        let messages = machine.recovered();
        assert!(messages.contains(what), "{messages}");
        assert_eq!(fs::read_to_string(moved.join("area")).unwrap(), "another's");
    };
    refused("symbolic link");
    fs::remove_file(&path).unwrap();
    fs::rename(&moved, &path).unwrap();
    if nix::unistd::geteuid().is_root() {
        chown(&path, Some(65534), None).unwrap();
        machine.left_behind(&[Entry::Owner(machine.owner()), swap()], "");
        assert!(machine.recovered().contains("belongs to user 65534"));
        assert!(path.join("area").exists());
    }
}

#[test]
fn taken_names_are_left_alone() {
    let machine = Machine::new();
    let journal = machine.journal();
    let taken = machine.0.path().join(fresh_name("work").unwrap());
    fs::create_dir(&taken).unwrap();
    let free = machine.0.path().join(fresh_name("work").unwrap());
    let is_first = Cell::new(true);
    let held: Held<Directory> = journal
        .acquire(|| {
            let path = if is_first.replace(false) { &taken } else { &free };
            Ok(Directory(path.clone()))
        })
        .unwrap();
    assert_eq!(held.0, free);
    let identity = Identity::of_file(fs::File::open(&free).unwrap()).unwrap();
    let (written, inode) = (machine.written(), format!("\"ino\":{}", identity.ino));
    assert!(written.contains(&inode), "{written}");
    std::mem::forget(held);
    drop(journal);
    assert!(taken.exists() && !free.exists());
}
