//! The binary as an unprivileged user in an otherwise empty root: no shell, no /proc, no /sys, no /dev, no /tmp, no list of users, no
//! variables. `make dist` tests the static binary so; the one of the tests has its shared libraries beside it.

use crate::common::{binary, entries, flagged, result};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The root, with the binary and its libraries.
fn root() -> TempDir {
    // of the build's file system, so that the binary need not be copied
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::hard_link(binary(), root.path().join("gritstone")).unwrap();
    let listed = Command::new("ldd").arg(binary()).output().unwrap();
    for word in String::from_utf8(listed.stdout).unwrap().split_whitespace() {
        if let Some(library) = word.strip_prefix('/') {
            let there = root.path().join(library);
            fs::create_dir_all(there.parent().unwrap()).unwrap();
            fs::copy(PathBuf::from("/").join(library), there).unwrap();
        }
    }
    root
}

/// A program as the only file of a root, in a user namespace, which needs no privilege.
fn inside(root: &Path, line: &str) -> Output {
    Command::new("/usr/bin/unshare")
        .args(["--user", "--map-root-user", "/usr/sbin/chroot"])
        .arg(root)
        .arg("/gritstone")
        .args(line.split(' '))
        .env_clear()
        .output()
        .unwrap()
}

#[test]
#[ignore = "measures: make test-full"]
fn empty_roots_suffice() {
    let root = root();
    let version = inside(root.path(), "--version");
    let refused = String::from_utf8_lossy(&version.stderr).into_owned();
    assert!(version.status.success(), "it takes user namespaces: {refused}");
    let rows = "byte/syscall byte/pipe byte/disk-write byte/shell cpu/whetstone/b1d iocall";
    let flags = "--store /runs.db --quick --reference --format json";
    let output = inside(root.path(), &format!("run {rows} {flags}"));
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    for id in rows.split(' ') {
        let row = result(&run, id);
        if id == "byte/shell" {
            assert!(flagged(row, "skipped"), "{row}");
            continue;
        }
        assert_eq!(row["outcome"], "measured", "{row}");
        assert!(row["estimate"].as_f64().unwrap() > 0.0, "{row}");
        let published = &row["published"];
        assert!(published.is_null() || published["process_s"].is_number(), "{row}");
    }
    let mut notes = result(&run, "byte/syscall")["notes"].as_array().unwrap().iter();
    assert!(notes.any(|note| note["code"] == "interference-unobserved"), "{run}");
    let both = "report --store /runs.db --output /brief.html --output /brief.pdf";
    let output = inside(root.path(), both);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let pdf = fs::read(root.path().join("brief.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF-"));
    // nothing stays but what was asked for
    let mut left = entries(root.path());
    left.retain(|path| !path.to_string_lossy().contains("/lib"));
    left.sort();
    let files = ["brief.html", "brief.pdf", "gritstone", "runs.db"];
    assert_eq!(left, files.map(|name| root.path().join(name)));

    // where nothing says where runs are kept, it is said what to do
    let output = inside(root.path(), "run byte/loop --budget 1s");
    assert_eq!(output.status.code(), Some(2));
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("XDG_DATA_HOME"), "{printed}");
}
