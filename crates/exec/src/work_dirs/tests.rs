//! Work directories in a fake place.

use super::*;
use gritstone_kernels::SUPERVISOR;
use std::os::unix::fs::MetadataExt;

/// A name of a dead process, or of this one.
fn name_of(namespace: u32, dead: u64) -> String {
    let pid = std::process::id();
    let start = start_of(pid).unwrap() + dead;
    format!(
        "gritstone.{namespace:08x}.{pid:07}.{start:012}.{:032x}.work",
        7
    )
}

#[test]
fn what_the_dead_left_is_removed_and_what_the_living_use_is_not() {
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
fn both_directories_go_at_the_end() {
    let parent = tempfile::tempdir().unwrap();
    let places = Places::make(&[parent.path().to_path_buf()], parent.path(), None).unwrap();
    let supervisor = places.program_called(SUPERVISOR).unwrap();
    let (one, two) = (places.fresh(true).unwrap(), places.fresh(false).unwrap());
    assert!(supervisor.exists() && one != two);
    drop(places);
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
}

#[test]
fn a_program_is_unpacked_once_and_again_only_where_that_failed() {
    let parent = tempfile::tempdir().unwrap();
    let places = Places::make(&[parent.path().to_path_buf()], parent.path(), None).unwrap();
    let program = |name| places.program_called(name);
    let in_the_way = places.programs.join("byte_loop");
    fs::create_dir(&in_the_way).unwrap();
    assert!(program("byte/loop").is_err());
    fs::remove_dir(&in_the_way).unwrap();
    program("byte/loop").unwrap();
    // executing the supervisor there has succeeded
    for name in ["byte/loop", SUPERVISOR] {
        let path = places.programs.join(name.replace('/', "_"));
        let made = fs::metadata(&path).unwrap().ino();
        assert_eq!(program(name).unwrap(), path);
        assert_eq!(fs::metadata(&path).unwrap().ino(), made, "{name}");
    }
}

#[test]
fn a_place_that_cannot_be_used_is_passed_over_and_named_when_there_is_no_other() {
    let good = tempfile::tempdir().unwrap();
    let bad = PathBuf::from("/nonexistent/place");
    let places = Places::make(&[bad.clone(), good.path().into()], good.path(), None).unwrap();
    assert!(places.programs.starts_with(good.path()));
    drop(places);
    let error = Places::make(&[bad], good.path(), None).unwrap_err();
    for word in ["/nonexistent/place", "TMPDIR"] {
        assert!(error.to_string().contains(word), "{error}");
    }
    assert_eq!(fs::read_dir(good.path()).unwrap().count(), 0);
}
