//! Work directories in a fake place.

use super::*;
use crate::owner::our_start;
use gritstone_kernels::SUPERVISOR;
use std::os::unix::fs::MetadataExt;

/// A name of a dead process, or of this one.
fn name_of(namespace: u32, dead: u64) -> String {
    let pid = std::process::id();
    let start = our_start() + dead;
    format!("gritstone.{namespace:08x}.{pid:07}.{start:012}.{:032x}.work", 7)
}

#[test]
fn only_dead_leftovers_are_removed() {
    let parent = tempfile::tempdir().unwrap();
    let here = namespace();
    let make = |name: &str, mode| {
        let path = parent.path().join(name);
        fs::create_dir_all(path.join("below")).unwrap();
        crate::tests::mode(&path, mode);
        path
    };
    let dead = make(&name_of(here, 1), 0o700);
    let alive = make(&name_of(here, 0), 0o700);
    let elsewhere = make(&name_of(here ^ 1, 1), 0o700);
    let other = make("gritstone.db", 0o700);
    // a name is no proof
    let open_to_others = make(&name_of(here, 2), 0o755);
    let linked = parent.path().join(name_of(here, 3));
    std::os::unix::fs::symlink(&other, &linked).unwrap();
    let theirs = make(&name_of(here, 4), 0o700);
    let root = nix::unistd::geteuid().is_root();
    if root {
        std::os::unix::fs::chown(&theirs, Some(65534), None).unwrap();
    }
    remove_dead(parent.path());
    assert!(!dead.exists());
    assert!(alive.exists() && elsewhere.exists() && other.join("below").exists());
    assert!(open_to_others.exists() && linked.is_symlink());
    assert_eq!(theirs.exists(), root);
}

#[test]
fn directories_are_removed_on_drop() {
    let parent = tempfile::tempdir().unwrap();
    let work_dirs = WorkDirs::make(&[parent.path().to_path_buf()], parent.path(), None).unwrap();
    let supervisor = work_dirs.embedded_program(SUPERVISOR).unwrap();
    let (one, two) = (work_dirs.fresh(true).unwrap(), work_dirs.fresh(false).unwrap());
    assert!(supervisor.exists() && one != two);
    drop(work_dirs);
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
}

#[test]
fn programs_are_unpacked_once() {
    let parent = tempfile::tempdir().unwrap();
    let work_dirs = WorkDirs::make(&[parent.path().to_path_buf()], parent.path(), None).unwrap();
    let program = |name| work_dirs.embedded_program(name);
    let in_the_way = work_dirs.programs.join("byte_loop");
    fs::create_dir(&in_the_way).unwrap();
    assert!(program("byte/loop").is_err());
    fs::remove_dir(&in_the_way).unwrap();
    program("byte/loop").unwrap();
    // executing the supervisor there has succeeded
    for name in ["byte/loop", SUPERVISOR] {
        let path = work_dirs.programs.join(name.replace('/', "_"));
        let created = fs::metadata(&path).unwrap().ino();
        assert_eq!(program(name).unwrap(), path);
        assert_eq!(fs::metadata(&path).unwrap().ino(), created, "{name}");
    }
}

#[test]
fn unusable_directories_are_named() {
    let good = tempfile::tempdir().unwrap();
    let bad = PathBuf::from("/nonexistent/place");
    let work_dirs = WorkDirs::make(&[bad.clone(), good.path().into()], good.path(), None).unwrap();
    assert!(work_dirs.programs.starts_with(good.path()));
    drop(work_dirs);
    let error = WorkDirs::make(&[bad], good.path(), None).unwrap_err();
    for word in ["/nonexistent/place", "TMPDIR"] {
        assert!(error.to_string().contains(word), "{error}");
    }
    assert_eq!(fs::read_dir(good.path()).unwrap().count(), 0);
}
