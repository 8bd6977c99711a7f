use super::*;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn links_stay_and_lead_on() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("real"), "old").unwrap();
    for (link, to, written) in [
        ("one", "real", "real"),
        ("two", "one", "real"),
        ("dangling", "new", "new"),
    ] {
        symlink(to, at(link)).unwrap();
        write(&at(link), link.as_bytes()).unwrap();
        assert_eq!(fs::read_link(at(link)).unwrap(), Path::new(to));
        assert_eq!(fs::read_to_string(at(written)).unwrap(), link);
    }
    symlink("circle", at("circle")).unwrap();
    assert!(write(&at("circle"), b"x").is_err());
}

#[test]
fn hard_links_see_writes() {
    let dir = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| dir.path().join(name));
    fs::write(&a, "a longer old text").unwrap();
    fs::hard_link(&a, &b).unwrap();
    write(&a, b"new").unwrap();
    assert_eq!(fs::read_to_string(&b).unwrap(), "new");
}

#[test]
fn pipes_are_written_through() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    write(&pipe, b"through").unwrap();
    assert_eq!(reader.join().unwrap(), "through");
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    write(Path::new("/dev/null"), b"x").unwrap();
    let null = fs::metadata("/dev/null").unwrap();
    assert!(null.file_type().is_char_device());
}

#[test]
fn descriptors_keep_what_they_have() {
    use std::os::fd::AsRawFd;
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "first ").unwrap();
    let path = format!("/dev/fd/{}", file.as_file().as_raw_fd());
    write(Path::new(&path), b"second").unwrap();
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "first second");
}

#[test]
fn modes_stay_and_obey_umask() {
    let dir = tempfile::tempdir().unwrap();
    let [old, new, plain] = ["old", "new", "plain"].map(|name| dir.path().join(name));
    fs::write(&old, "").unwrap();
    fs::set_permissions(&old, PermissionsExt::from_mode(0o640)).unwrap();
    write(&old, b"x").unwrap();
    assert_eq!(mode(&old), 0o640);
    fs::write(&plain, "").unwrap();
    write(&new, b"x").unwrap();
    assert_eq!(mode(&new), mode(&plain));
}

#[test]
fn databases_are_refused_and_unharmed() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let head = b"SQLite format 3\0and its pages";
    fs::write(at("s.db"), head).unwrap();
    symlink("s.db", at("link")).unwrap();
    for name in ["s.db", "link", "s.db-wal", "s.db-shm"] {
        let why = write(&at(name), b"x").unwrap_err().to_string();
        assert!(why.contains("belongs to a database"), "{why}");
    }
    assert_eq!(fs::read(at("s.db")).unwrap(), head);
    assert!(!at("s.db-wal").exists());
}

#[test]
fn closed_targets_are_known_before() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("there"), "x").unwrap();
    fs::write(at("store.db"), "SQLite format 3\0").unwrap();
    symlink(at("new"), at("dangling")).unwrap();
    for good in ["there", "new", "dangling"] {
        check(&at(good)).unwrap();
    }
    check(Path::new("/dev/stdout")).unwrap();
    assert!(!at("new").exists() && fs::read(at("there")).unwrap() == b"x");
    for bad in ["missing/file", "there/file", "store.db", "."] {
        assert!(check(&at(bad)).is_err(), "{bad}");
        assert!(write(&at(bad), b"x").is_err(), "{bad}");
    }
}
