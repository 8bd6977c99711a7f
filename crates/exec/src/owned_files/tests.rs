use super::*;
use crate::owner::{namespace, start_of};
use crate::tests::mode;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

#[test]
fn random_names_identify_us() {
    let (one, two) = (fresh_name("work").unwrap(), fresh_name("work").unwrap());
    assert!(one != two && one.len() == two.len());
    let pid = std::process::id();
    let ours = Some((namespace(), pid, start_of(pid).unwrap()));
    assert_eq!((creator(&one), creator(&two)), (ours, ours));
    check_our_name(Path::new("/var/tmp")).unwrap_err();
}

#[test]
fn removal_unlocks_without_links() {
    let dir = tempfile::tempdir().unwrap();
    let ours = dir.path().join(fresh_name("work").unwrap());
    let foreign = dir.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("file"), "").unwrap();
    mode(&foreign, 0o750);
    fs::create_dir_all(ours.join("closed/below")).unwrap();
    mode(&ours, 0o700);
    fs::write(ours.join("closed/below/file"), "").unwrap();
    symlink(&foreign, ours.join("closed/below/link")).unwrap();
    symlink(&foreign, ours.join("link")).unwrap();
    for closed in ["closed/below", "closed"] {
        mode(&ours.join(closed), 0o000);
    }
    remove(&ours, None).unwrap();
    assert!(!ours.exists() && foreign.join("file").exists());
    let stat = fs::metadata(&foreign).unwrap();
    assert_eq!(stat.permissions().mode() & 0o7777, 0o750);
    remove(&ours, None).unwrap();
}
