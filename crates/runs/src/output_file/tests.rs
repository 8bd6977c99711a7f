use super::*;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn links_stay_and_lead_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("real"), "old").unwrap();
    for (link, to, written) in
        [("one", "real", "real"), ("two", "one", "real"), ("dangling", "new", "new")]
    {
        symlink(to, path(link)).unwrap();
        write(&path(link), link.as_bytes()).unwrap();
        assert_eq!(fs::read_link(path(link)).unwrap(), Path::new(to));
        assert_eq!(fs::read_to_string(path(written)).unwrap(), link);
    }
    symlink("circle", path("circle")).unwrap();
    assert!(write(&path("circle"), b"x").is_err());
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
    let status = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(status.unwrap().success());
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
    let path = |name: &str| dir.path().join(name);
    let head = b"SQLite format 3\0and its pages";
    fs::write(path("s.db"), head).unwrap();
    symlink("s.db", path("link")).unwrap();
    for name in ["s.db", "link", "s.db-wal", "s.db-shm"] {
        let why = write(&path(name), b"x").unwrap_err().to_string();
        assert!(why.contains("belongs to a database"), "{why}");
    }
    assert_eq!(fs::read(path("s.db")).unwrap(), head);
    assert!(!path("s.db-wal").exists());
}

#[test]
fn closed_targets_are_known_before() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("there"), "x").unwrap();
    fs::write(path("store.db"), "SQLite format 3\0").unwrap();
    symlink(path("new"), path("dangling")).unwrap();
    for good in ["there", "new", "dangling"] {
        check(&path(good)).unwrap();
    }
    check(Path::new("/dev/stdout")).unwrap();
    assert!(!path("new").exists() && fs::read(path("there")).unwrap() == b"x");
    for bad in ["missing/file", "there/file", "store.db", "."] {
        assert!(check(&path(bad)).is_err(), "{bad}");
        assert!(write(&path(bad), b"x").is_err(), "{bad}");
    }
}
