//! Directories, journals and names that another user can change or predict.

use crate::common::{
    DISC, Home, STATE, UNPRIVILEGED, alone, binary, end_at_once, entries, eventually, has_loops,
    mode, needs_root, ours, output_texts, processes, start, stored_launches, succeeds,
};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SHORT: &str = "run byte/loop --quick";
const LONG: &str = "run byte/loop --budget 60s --precision 0.01%";

fn line(path: &str) -> String {
    fs::read_to_string(path).unwrap().trim().to_owned()
}

/// A journal of a dead run that has this command executed.
fn journal(command: &str) -> String {
    let by = json!({"by": {
        "host": line("/proc/sys/kernel/hostname"),
        "boot": line("/proc/sys/kernel/random/boot_id"),
        "root": "/",
        "namespace": 0,
        "process": 1,
        "start": 1,
    }});
    let undo = json!({"makes": {"command": {"command": command, "directory": "/"}}});
    // as it was written before a run made things by their inode
    let before = json!({"undo": {"command": command, "directory": "/"}});
    format!("{by}\n{undo}\n{before}\n")
}

#[test]
fn other_users_journals_are_refused_as_root() {
    needs_root();
    let home = Home::new();
    let marker = home.path().join("executed");
    let state = home.path().join(STATE);
    fs::create_dir_all(&state).unwrap();
    let planted = state.join("0.1.2.0.journal");
    fs::write(&planted, journal(&format!("id > {}", marker.display()))).unwrap();
    mode(&planted, 0o600);
    // of the directory, of what it is in, or of the journal alone
    for theirs in [&state, &home.path().join(".local"), &planted] {
        chown(theirs, Some(UNPRIVILEGED), None).unwrap();
        for arguments in [SHORT, "doctor"] {
            let (_, _, error) = home.run(arguments);
            let named = format!("{} belongs to user {UNPRIVILEGED}", theirs.display());
            assert!(error.contains(&named), "{error}");
            assert!(!marker.exists() && planted.exists(), "{error}");
        }
        chown(theirs, Some(0), None).unwrap();
    }
    // as its own, it would have been followed
    mode(&state, 0o700);
    mode(&home.path().join(".local"), 0o700);
    home.run("doctor");
    assert!(marker.exists());
}

#[test]
fn watchdog_ignores_swapped_journals() {
    let home = Home::new();
    let marker = home.path().join("executed");
    let state = home.path().join(STATE);
    let mut child = start(&home, LONG, &[]);
    eventually("the run is at work", || stored_launches(&home) > 0);
    let moved = home.path().join("moved");
    fs::rename(&state, &moved).unwrap();
    fs::create_dir(&state).unwrap();
    mode(&state, 0o700);
    let command = format!("id > {}", marker.display());
    for real in entries(&moved) {
        let planted = state.join(real.file_name().unwrap());
        fs::write(&planted, journal(&command)).unwrap();
        mode(&planted, 0o600);
    }
    let planted = entries(&state);
    assert_eq!(planted.len(), 1);
    end_at_once(&mut child);
    eventually("no process is left", || processes(&home) == 0);
    assert!(!marker.exists() && planted[0].exists());
    // what the run itself had written was followed
    assert_eq!(ours(home.path()), Vec::<PathBuf>::new());
}

#[test]
fn state_directory_ignores_the_umask() {
    let home = Home::new();
    let script = format!("umask 0; exec {} run byte/loop --budget 2s", binary().display());
    succeeds(home.command("/bin/sh").args(["-c", &script]));
    let mut directory = home.path().to_owned();
    for part in Path::new(STATE) {
        directory.push(part);
        let mode = fs::metadata(&directory).unwrap().mode() & 0o7777;
        assert_eq!(mode, 0o700, "{}", directory.display());
    }
}

#[test]
fn writable_directories_are_refused() {
    let home = Home::new();
    let open = home.path().join("open");
    fs::create_dir(&open).unwrap();
    mode(&open, 0o777);
    let run = format!("{SHORT} --dir {}", open.display());
    let (code, _, error) = home.run(&run);
    assert_ne!(code, 0);
    let named = format!("{} can be written by other users (mode 0777)", open.display());
    assert!(error.contains(&named), "{error}");
    mode(&open, 0o1777);
    home.ok(&run);
}

/// A user's mounts, and the system's use of his files.
struct Victim(PathBuf);

impl Victim {
    fn new(folder: &Path) -> Self {
        let victim = Self(folder.join("victim"));
        fs::create_dir_all(victim.0.join("mounted")).unwrap();
        let area = victim.0.join("area");
        let zeros = vec![0_u8; 1 << 20];
        for file in [&area, &victim.0.join("image")] {
            fs::write(file, &zeros).unwrap();
            mode(file, 0o600);
        }
        tool("mount", &["-t", "tmpfs", "none", &victim.path("mounted")]);
        tool("losetup", &["--find", &victim.path("image")]);
        tool("mkswap", &["--quiet", &victim.path("area")]);
        tool("swapon", &["--priority", "0", &victim.path("area")]);
        victim
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// What of it is still there: what is mounted, the loop device, the swap file.
    fn intact(&self) -> [bool; 3] {
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        let swaps = fs::read_to_string("/proc/swaps").unwrap();
        [
            mounts.contains(&self.path("mounted")),
            !tool("losetup", &["-j", &self.path("image")]).is_empty(),
            swaps.contains(&self.path("area")),
        ]
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let detach =
            format!("losetup -j '{}' | cut -d: -f1 | xargs -r losetup -d", self.path("image"));
        for command in [
            format!("umount '{}'", self.path("mounted")),
            format!("swapoff '{}'", self.path("area")),
            detach,
        ] {
            let _ = Command::new("/bin/sh").args(["-c", &command]).status();
        }
    }
}

fn tool(name: &str, arguments: &[&str]) -> String {
    succeeds(Command::new(name).args(arguments))
}

/// Predictable names of a run of this process.
fn foreseen(pid: u32) -> Vec<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let after = stat.rsplit_once(')').unwrap().1;
    let start: u64 = after.split_whitespace().nth(19).unwrap().parse().unwrap();
    let inode = fs::metadata("/proc/self/ns/pid").unwrap().ino();
    let host = line("/proc/sys/kernel/hostname");
    let boot = line("/proc/sys/kernel/random/boot_id");
    let digest = Sha256::digest(format!("{host} {boot} {inode}"));
    let namespace = u64::from_be_bytes(digest[..8].try_into().unwrap());
    let name = |purpose: &str, number: u32| {
        format!("gritstone.{namespace:020}.{pid:08}.{start:014}.{purpose}{number:04}")
    };
    let purposes = ["volume", "swap", "work", "programs", "group", "trace"];
    let names = purposes.iter().flat_map(|purpose| (0..8).map(|number| name(purpose, number)));
    names.collect()
}

#[test]
fn planted_names_are_left_as_root() {
    needs_root();
    let _turn = alone();
    let home = Home::new();
    // on a disk: swap and file systems need one
    let below = tempfile::tempdir_in(DISC).unwrap();
    let victim = Victim::new(below.path());
    let dir = below.path().join("shared");
    fs::create_dir(&dir).unwrap();
    mode(&dir, 0o1777);
    let script = format!(
        "read go; exec {} run disk/write-nofsync vm/paging/random --allow swap --budget 6s --precision 50% --dir {}",
        binary().display(),
        dir.display()
    );
    let mut child = home
        .command("/bin/sh")
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // the process keeps its number and its start when it becomes Gritstone
    let names = foreseen(child.id());
    for name in &names {
        symlink(&victim.0, dir.join(name)).unwrap();
        std::os::unix::fs::lchown(dir.join(name), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
    }
    // and what a run that died would have left, were it ours
    let dead = format!("gritstone.{:08x}.0000001.000000000001.{:032x}.swap", 0, 0);
    let theirs = dir.join(&dead);
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("area"), "theirs").unwrap();
    chown(&theirs, Some(UNPRIVILEGED), None).unwrap();
    mode(&theirs, 0o700);
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let (code, _, error) = output_texts(child.wait_with_output().unwrap());
    assert_eq!(code, 0, "{error}");
    assert_eq!(victim.intact(), [true; 3], "{error}");
    let is_left = |name: &String| dir.join(name).is_symlink();
    assert!(names.iter().all(is_left), "{error}");
    assert!(theirs.join("area").exists());
    // and what the run had made itself is gone
    assert_eq!(entries(&dir).len(), names.len() + 1);
    assert!(has_loops());
}
