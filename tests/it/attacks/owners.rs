//! Stores, fleets and output of nodes where another user owns what is above them, or has planted something.

use crate::common::{Home, UNPRIVILEGED, entries, fixture, make_script, mode, needs_root};
use std::fs;
use std::os::unix::fs::{MetadataExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};

fn import(home: &Home, store: &Path) -> (i32, String, String) {
    let bundle = fixture("copies");
    let words = ["import", bundle.to_str().unwrap(), "--store"];
    home.run(&[&words[..], &[store.to_str().unwrap()]].concat())
}

fn folder(home: &Home, name: &str) -> PathBuf {
    let path = home.path().join(name);
    fs::create_dir(&path).unwrap();
    path
}

#[test]
fn stores_are_private() {
    let home = Home::new();
    let folder = folder(&home, "shared");
    mode(&folder, 0o755);
    let store = folder.join("g.db");
    let (code, _, error) = import(&home, &store);
    assert_eq!(code, 0, "{error}");
    assert_eq!(fs::metadata(&store).unwrap().mode() & 0o7777, 0o600);
    // one that others can write, or could replace
    mode(&store, 0o666);
    let (code, _, error) = import(&home, &store);
    assert!(code == 2 && error.contains("g.db can be written by other users"), "{error}");
    mode(&store, 0o600);
    mode(&folder, 0o777);
    let (code, _, error) = import(&home, &store);
    assert!(code == 2 && error.contains("shared can be written by other users"), "{error}");
    // what is there can be read
    home.ok(&["runs", "--store", store.to_str().unwrap()]);
    let (code, _, _) = import(&home, &folder.join("new/g.db"));
    assert!(code == 2 && !folder.join("new").exists());
    mode(&folder, 0o755);
    // a link of this user's
    let link = home.path().join("link.db");
    symlink(&store, &link).unwrap();
    let (code, _, error) = import(&home, &link);
    assert_eq!(code, 0, "{error}");
}

#[test]
fn planted_stores_are_not_followed_as_root() {
    needs_root();
    let home = Home::new();
    let target = home.path().join("planted.db");
    let sticky = folder(&home, "sticky");
    mode(&sticky, 0o1777);
    let link = sticky.join("g.db");
    symlink(&target, &link).unwrap();
    lchown(&link, Some(UNPRIVILEGED), None).unwrap();
    let (code, _, error) = import(&home, &link);
    assert!(code == 2 && !target.exists(), "{code}: {error}");
    // nothing is made in another user's directory
    let theirs = folder(&home, "theirs");
    chown(&theirs, Some(UNPRIVILEGED), None).unwrap();
    let (code, _, error) = import(&home, &theirs.join("data/g.db"));
    let named = format!("theirs belongs to user {UNPRIVILEGED}");
    assert!(code == 2 && error.contains(&named), "{code}: {error}");
    assert!(entries(&theirs).is_empty());
}

#[test]
fn fleets_follow_no_links() {
    let home = Home::with(&["copies"]);
    let elsewhere = folder(&home, "elsewhere");
    symlink(&elsewhere, home.path().join("data/gritstone/fleets")).unwrap();
    let (code, _, error) = home.run("fleet run byte/loop --on local --nodes 1 --quick");
    assert!(code != 0 && error.contains("symbolic link"), "{code}: {error}");
    assert!(entries(&elsewhere).is_empty());
}

#[test]
fn nodes_cannot_fill_the_disk() {
    let home = Home::new();
    make_script(home.path().join("flood"), "echo gritstone begins; exec cat /dev/zero");
    make_script(home.path().join("shout"), "exec tr '\\0' 'a' </dev/zero >&2");
    make_script(home.path().join("babble"), "exec cat /dev/zero");
    let sent = "it sent more than";
    for (program, why) in [("flood", sent), ("shout", sent), ("babble", "more than 1000 lines")] {
        let ssh = home.path().join(program).display().to_string();
        let line = format!("fleet run byte/loop --quick --on ssh --nodes n1 --ssh {ssh}");
        let (code, _, error) = home.run(&line);
        assert!(code != 0 && error.contains(why), "{program}: {error}");
        let fleets = entries(&home.path().join("data/gritstone/fleets"));
        let files = fleets.iter().flat_map(|fleet| entries(fleet));
        let bytes: u64 = files.map(|file| fs::metadata(file).unwrap().len()).sum();
        assert!(bytes < 70 << 20, "{program}: {bytes}");
    }
}
