//! Ownership checks on fake trees.

use super::below::part_by_part;
use super::*;
use std::os::unix::fs::{PermissionsExt, chown, symlink};

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn state(base: &Path) -> StateDir {
    StateDir { base: base.to_owned(), below: "state/gritstone".into() }
}

fn refused(state: &StateDir) -> String {
    let why = state.open().unwrap_err();
    assert!(is_not_ours(&why), "{why}");
    assert_eq!(state.make().unwrap_err().to_string(), why.to_string());
    why.to_string()
}

#[test]
fn state_directory_ignores_umask() {
    let dir = tempfile::tempdir().unwrap();
    let state = state(dir.path());
    assert_eq!(state.open().unwrap_err().kind(), io::ErrorKind::NotFound);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // a umask of its own: other tests create directories meanwhile
            nix::sched::unshare(nix::sched::CloneFlags::CLONE_FS).unwrap();
            rustix::process::umask(Mode::empty());
            state.make().unwrap();
        });
    });
    for part in ["state", "state/gritstone"] {
        let stat = fs::metadata(dir.path().join(part)).unwrap();
        assert_eq!(stat.permissions().mode() & 0o7777, 0o700, "{part}");
    }
    state.open().unwrap();
}

#[test]
fn writable_parents_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let state = state(dir.path());
    state.make().unwrap();
    let path = state.path();
    mode(&path, 0o777);
    assert!(refused(&state).contains(&format!("{} can be written", path.display())));
    // sticky suffices for a parent, not for our own
    mode(&path, 0o1777);
    refused(&state);
    mode(&path, 0o700);
    let above = dir.path().join("state");
    mode(&above, 0o777);
    assert!(refused(&state).contains(&format!("{} can be written", above.display())));
    mode(&above, 0o1777);
    state.open().unwrap();
    mode(dir.path(), 0o707);
    assert!(refused(&state).contains(&dir.path().display().to_string()));
    mode(dir.path(), 0o700);
    if nix::unistd::geteuid().is_root() {
        for path in [&path, &above, &dir.path().to_owned()] {
            chown(path, Some(65534), None).unwrap();
            let belongs = format!("{} belongs to user 65534", path.display());
            assert!(refused(&state).contains(&belongs));
            chown(path, Some(0), None).unwrap();
        }
    }
}

#[test]
fn links_are_refused_below_base() {
    let dir = tempfile::tempdir().unwrap();
    let (real, link) = (dir.path().join("real"), dir.path().join("link"));
    fs::create_dir(&real).unwrap();
    symlink(&real, &link).unwrap();
    state(&link).make().unwrap();
    assert!(real.join("state/gritstone").is_dir());
    let elsewhere = dir.path().join("elsewhere");
    fs::rename(real.join("state"), &elsewhere).unwrap();
    symlink(&elsewhere, real.join("state")).unwrap();
    assert!(refused(&state(&link)).contains("symbolic link"));
}

#[test]
fn only_our_files_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let open = state(dir.path()).make().unwrap();
    let file = |name: &str| open.file(OsStr::new(name), OFlags::RDONLY);
    fs::write(open.path().join("plain"), "").unwrap();
    file("plain").unwrap();
    symlink("plain", open.path().join("link")).unwrap();
    fs::create_dir(open.path().join("directory")).unwrap();
    fs::write(open.path().join("shared"), "").unwrap();
    mode(&open.path().join("shared"), 0o666);
    for name in ["link", "directory", "shared"] {
        let why = file(name).unwrap_err();
        assert!(is_not_ours(&why), "{name}: {why}");
    }
}

#[test]
fn fallback_equals_openat2() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("a/b")).unwrap();
    fs::write(dir.path().join("a/b/file"), "").unwrap();
    symlink("a", dir.path().join("link")).unwrap();
    symlink("file", dir.path().join("a/b/end")).unwrap();
    let here = File::open(dir.path()).unwrap();
    let both = |path: &str| {
        let path = Path::new(path);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let one = open_below(&here, path, flags, Mode::empty());
        let other = part_by_part(&here, path, flags, Mode::empty());
        [one, other].map(|opened| opened.is_ok())
    };
    assert_eq!(both("a/b/file"), [true; 2]);
    let within = ["link/b/file", "a/b/end", "a/c", ""];
    for refused in within.into_iter().chain(["../x", "a/../../x", "/etc/passwd"]) {
        assert_eq!(both(refused), [false; 2], "{refused}");
    }
}

#[test]
fn user_private_groups_are_safe() {
    let users = "root:x:0:0::/:/bin/sh\nann:x:1000:1000::/:/bin/sh\nbob:x:1001:1001::/:/bin/sh\n";
    let groups = "root:x:0:\nann:x:1000:\nbob:x:1001:ann\nstaff:x:50:ann\n";
    let private = |us, gid| is_private_in(users, groups, us, gid);
    assert!(private(1000, 1000));
    assert!(!private(1001, 1001), "ann is in bob's group");
    assert!(!private(1000, 50) && !private(1000, 1001) && !private(4711, 4711));
    let shared = format!("{users}eve:x:1002:1000::/:/bin/sh\n");
    // eve's primary group
    assert!(!is_private_in(&shared, groups, 1000, 1000));
}

#[test]
fn own_files_open_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let file = own_file(&path("made")).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
    assert_eq!(own_file(&path("made")).unwrap(), file);
    symlink("made", path("link")).unwrap();
    assert_eq!(own_file(&path("link")).unwrap(), file);
    symlink("missing", path("dangling")).unwrap();
    own_file(&path("dangling")).unwrap_err();
    assert!(!path("missing").exists());
    fs::create_dir(path("directory")).unwrap();
    for name in [path("directory"), "/dev/null".into()] {
        let why = own_file(&name).unwrap_err();
        assert!(is_not_ours(&why) && why.to_string().contains("not a regular file"), "{why}");
    }
    mode(&file, 0o666);
    assert!(is_not_ours(&own_file(&file).unwrap_err()));
    mode(&file, 0o600);
    mode(dir.path(), 0o777);
    assert!(is_not_ours(&own_file(&file).unwrap_err()));
    mode(dir.path(), 0o700);
    let sticky = path("sticky");
    fs::create_dir(&sticky).unwrap();
    mode(&sticky, 0o1777);
    own_file(&sticky.join("file")).unwrap();
    if nix::unistd::geteuid().is_root() {
        symlink(&file, sticky.join("planted")).unwrap();
        std::os::unix::fs::lchown(sticky.join("planted"), Some(65534), None).unwrap();
        assert!(is_not_ours(&own_file(&sticky.join("planted")).unwrap_err()));
        chown(&file, Some(65534), None).unwrap();
        assert!(is_not_ours(&own_file(&file).unwrap_err()));
    }
}

#[test]
fn unsafe_parents_get_no_directory() {
    let dir = tempfile::tempdir().unwrap();
    let open = dir.path().join("open");
    fs::create_dir(&open).unwrap();
    mode(&open, 0o777);
    assert!(is_not_ours(&create_directory(&open.join("a/b")).unwrap_err()));
    assert!(!open.join("a").exists());
    mode(&open, 0o700);
    create_directory(&open.join("a/b")).unwrap();
    for part in ["a", "a/b"] {
        let stat = fs::metadata(open.join(part)).unwrap();
        assert_eq!(stat.permissions().mode() & 0o7777, 0o700, "{part}");
    }
}
