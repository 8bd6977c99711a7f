//! Files and discs by the binary: that the rows do what they say, that what cannot be done is refused with nothing harmed, and that no
//! file system outlives a run. What takes root says so and is left out without it.

mod common;

use common::{Home, ended, entries, eventually, kinds, processes, result, start, traces};
use nix::libc;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, chown, geteuid};
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard};

/// A directory of the build: on a disc nearly everywhere, where temporary files may be in memory.
const DIR: &str = env!("CARGO_TARGET_TMPDIR");

/// What rows say that the disc of this directory will not do for, and what a run says whose budget a busy machine has used up.
const NO_DISC: [&str; 3] = [
    "keeps its files in memory",
    "O_DIRECT",
    "ended before the first launch",
];

/// One at a time: the rows wait for one disc, and a budget must be enough for all of them.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn root(what: &str) -> bool {
    let root = geteuid().is_root();
    if !root {
        eprintln!("left out, since it takes root: {what}");
    }
    root
}

/// Why a result has no figure.
fn reason(result: &Value) -> String {
    let notes = result["footnotes"].as_array().unwrap();
    let why = notes.iter().find(|note| note["kind"] == "not run");
    why.map_or(String::new(), |note| note["why"].as_str().unwrap().into())
}

fn says(result: &Value, words: &str) -> bool {
    let notes = result["footnotes"].as_array().unwrap();
    notes
        .iter()
        .any(|note| note["why"].as_str().unwrap().contains(words))
}

/// A row was measured, and did its work; or this disc will not do or there was no time, which is said.
fn measured(run: &Value, id: &str) -> bool {
    let row = result(run, id);
    let why = reason(row);
    if row["outcome"] == "skipped" {
        assert!(NO_DISC.iter().any(|no| why.contains(no)), "{id}: {why}");
        return false;
    }
    assert_eq!(row["outcome"], "measured", "{id}: {row}");
    assert!(
        !kinds(row).contains(&"trivialised".to_owned()),
        "{id}: {row}"
    );
    true
}

/// The value of a parameter in the exported samples of the last run, for each launch of a row.
fn told(home: &Home, id: &str, key: &str) -> Vec<String> {
    let (code, bundle, error) = home.run(&["export", "last"]);
    assert_eq!(code, 0, "{error}");
    let lines = bundle
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let launches = lines.filter(|line| line.to_string().contains(&format!("\"{id}\"")));
    let mut found = vec![];
    for launch in launches {
        collect(&launch, key, &mut found);
    }
    found
}

/// All events below a value that are this parameter.
fn collect(value: &Value, key: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if fields.get("event").is_some_and(|event| event == "param")
                && fields.get("key").is_some_and(|name| name == key)
            {
                found.push(fields["value"].as_str().unwrap().to_owned());
            }
            fields.values().for_each(|field| collect(field, key, found));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, key, found)),
        _ => {}
    }
}

/// The generator of the rows, written again.
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
fn one_hundred_operations_of_each_kind_have_their_four_statistics() {
    let _turn = alone();
    let home = Home::new();
    let run = home.json(&[
        "run",
        "fs/*",
        "fs/*@cold",
        "--budget",
        "30s",
        "--dir",
        DIR,
        "--format",
        "json",
    ]);
    let rows = run["results"].as_array().unwrap();
    assert_eq!(rows.len(), 24);
    let mut statistics = 0;
    for row in rows {
        let id = row["id"].as_str().unwrap();
        if !measured(&run, id) {
            continue;
        }
        let of = |name: &str| row["statistics"][name].as_f64().unwrap();
        assert!(of("min") > 0.0 && of("min") <= of("median"), "{row}");
        assert!(
            of("median") <= of("max") && of("mean") <= of("max"),
            "{row}"
        );
        let cold = id.ends_with("@cold");
        assert_eq!(says(row, "mincore found none"), cold, "{row}");
        let past = row["measured"].as_str().unwrap().starts_with("past the ");
        assert_eq!(past, cold || id.starts_with("fs/fsync/"), "{row}");
        statistics += 1;
    }
    assert!(statistics >= 12, "what is in the cache runs anywhere");
    // the same places on every machine, whatever the size
    let mut state = 1987;
    let sum = (0..100).fold(0_u64, |sum, _| {
        sum.rotate_left(1).wrapping_add(draw(&mut state) % 100)
    });
    let random = ["fs/rand-write/512", "fs/rand-write/32k", "fs/rand-read/8k"];
    for id in random.into_iter().filter(|id| measured(&run, id)) {
        let told = told(&home, id, "order");
        assert!(!told.is_empty(), "{id}");
        for order in told {
            assert_eq!(order, format!("random, sum {sum:016x}"));
        }
    }
    assert!(traces(&home).is_empty());
}

#[test]
fn a_disc_is_written_and_read_in_each_of_its_ways() {
    let _turn = alone();
    let home = Home::new();
    let rows = [
        "disk/write-nofsync",
        "disk/write-nofsync@large",
        "disk/write-fsync",
        "disk/write-sync",
        "disk/write-sync@io-uring",
        "disk/raw-write",
        "disk/raw-write@io-uring",
        "disk/read-seq",
        "disk/read-seq@large",
        "disk/read-gauss",
        "disk/read-gauss@io-uring",
        "disk/read-gauss@large",
    ];
    let mut arguments = vec!["run"];
    arguments.extend(rows);
    arguments.extend(["--budget", "60s", "--dir", DIR, "--format", "json"]);
    let run = home.json(&arguments);
    let grouped = ["disk/write-nofsync@large", "disk/read-gauss@large"];
    for id in rows {
        let row = result(&run, id);
        let why = reason(row);
        if grouped.contains(&id) && why.contains("No control group") {
            continue; // and why is said
        }
        if id.ends_with("io-uring") && why.contains("refuses io_uring") {
            continue;
        }
        if !measured(&run, id) {
            continue;
        }
        assert_eq!(row["unit"], "KB/s");
        if id.starts_with("disk/write-") {
            let what = row["measured"].as_str().unwrap();
            let new = what.contains("new ext4 on a loop device over ");
            assert_ne!(new, says(row, "no new one was made for it"), "{row}");
            assert!(new || !geteuid().is_root() || !has_loops(), "{row}");
        }
    }
    if measured(&run, "disk/read-gauss") {
        // half a block before the centre, and 20 blocks about it
        let drawn = told(&home, "disk/read-gauss", "blocks_drawn");
        let numbers: Vec<f64> = drawn[0]
            .split([' ', ','])
            .filter_map(|word| word.parse().ok())
            .collect();
        let [mean, deviation, distinct, blocks] = numbers[..] else {
            panic!("{drawn:?}")
        };
        assert!((mean - 255.5).abs() < 4.5 && (deviation - 20.0).abs() < 3.2);
        assert!(distinct < 150.0 && blocks == 512.0, "{drawn:?}");
    }
    assert!(traces(&home).is_empty() && ours(Path::new(DIR)).is_empty());
}

/// Directories of ours in a directory that runs worked in.
fn ours(dir: &Path) -> Vec<PathBuf> {
    let mut found = entries(dir);
    found.retain(|path| path.to_string_lossy().contains("/gritstone."));
    found
}

fn has_loops() -> bool {
    Path::new("/dev/loop-control").exists()
}

/// A mount that only this thread and what it starts can see.
struct Private(PathBuf);

impl Private {
    /// `None`, with the reason printed, when that is not possible here.
    fn mount(
        from: Option<&Path>,
        at: &Path,
        kind: &str,
        flags: MsFlags,
        options: &str,
    ) -> Option<Self> {
        let none: Option<&str> = None;
        unshare(CloneFlags::CLONE_NEWNS)
            .and_then(|()| mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none))
            .and_then(|()| mount(from, at, Some(kind), flags, Some(options)))
            .inspect_err(|error| eprintln!("left out, since {kind} cannot be mounted: {error}"))
            .ok()
            .map(|()| Self(at.to_owned()))
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        if let Err(error) = umount2(&self.0, MntFlags::MNT_DETACH) {
            eprintln!("{} stays mounted in this thread: {error}", self.0.display());
        }
    }
}

/// What runs of each of these rows on a disc with too little room say; a file that lies there is left alone.
fn says_full(home: &Home, disc: &Path, rows: &[&str]) {
    let mine = disc.join("mine");
    fs::write(&mine, "kept").unwrap();
    let before = entries(disc).len();
    for row in rows {
        let (code, out, error) =
            home.run(&["run", row, "--quick", "--dir", disc.to_str().unwrap()]);
        assert_eq!(code, 3, "{row}: {out} {error}");
        let where_and_what = [
            "No space left on device in ",
            disc.to_str().unwrap(),
            "make room there, or choose another directory with --dir",
        ];
        for words in where_and_what {
            assert!(error.contains(words), "{row}: {error}");
        }
        assert_eq!(fs::read_to_string(&mine).unwrap(), "kept");
        assert_eq!(entries(disc).len(), before, "{row}: {:?}", entries(disc));
    }
}

#[test]
fn a_full_disc_says_where_and_what_to_do() {
    let _turn = alone();
    let home = Home::new();
    let (image, disc) = (home.path().join("image"), home.path().join("disc"));
    fs::create_dir(&disc).unwrap();
    let whole = MsFlags::empty();
    {
        let Some(_memory) = Private::mount(None, &disc, "tmpfs", whole, "size=1m") else {
            return;
        };
        says_full(&home, &disc, &["fs/seq-write/32k", "fs/fsync/rand-32k"]);
    }
    File::create(&image).unwrap().set_len(3 << 20).unwrap();
    let made = Command::new("mkfs.ext4").arg("-q").arg(&image).status();
    let Some(device) = Loop::over(&image).filter(|_| made.is_ok_and(|made| made.success())) else {
        eprintln!("left out, since there is no mkfs.ext4 or no loop device");
        return;
    };
    let name = Path::new(&device.0);
    let Some(_disc) = Private::mount(Some(name), &disc, "ext4", whole, "") else {
        return;
    };
    let rows = ["disk/write-nofsync", "disk/raw-write", "disk/read-seq"];
    says_full(&home, &disc, &rows);
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let home = Home::new();
    let disc = home.path().join("disc");
    fs::create_dir(&disc).unwrap();
    let fixed = MsFlags::MS_RDONLY;
    let Some(_disc) = Private::mount(None, &disc, "tmpfs", fixed, "size=1m") else {
        return;
    };
    for row in ["fs/seq-write/512", "disk/write-fsync"] {
        let (code, out, error) = home.run(&["run", row, "--dir", disc.to_str().unwrap()]);
        assert_eq!(code, 2, "{out} {error}");
        for words in [
            "cannot measure files in ",
            disc.to_str().unwrap(),
            "Read-only file system",
            "choose another directory with --dir",
        ] {
            assert!(error.contains(words), "{error}");
        }
    }
    assert_eq!(entries(&disc).len(), 0);
}

/// A loop device over a file; it goes when this is dropped.
struct Loop(String);

impl Loop {
    fn over(image: &Path) -> Option<Self> {
        let output = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(image)
            .output()
            .inspect_err(|error| eprintln!("left out, since there is no losetup: {error}"))
            .ok()?;
        let device = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        (!device.is_empty()).then_some(Self(device))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let detached = Command::new("losetup").args(["-d", &self.0]).status();
        assert!(detached.unwrap().success());
    }
}

/// What a run on a device says.
fn on_device(home: &Home, device: &str, overwrite: Option<&str>) -> (i32, String, String) {
    let device = format!("device={device}");
    let overwrite = overwrite.map(|name| format!("overwrite={name}"));
    let mut arguments = vec!["run", "disk/raw-write", "--budget", "5s", "--dir", DIR];
    arguments.extend(["--format", "json", "--param", &device]);
    if let Some(overwrite) = &overwrite {
        arguments.extend(["--param", overwrite]);
    }
    home.run(&arguments)
}

#[test]
fn what_is_no_device_is_refused_by_name() {
    let _turn = alone();
    let home = Home::new();
    let file = home.path().join("file");
    fs::write(&file, "mine").unwrap();
    let file = file.to_str().unwrap();
    for (device, why) in [
        ("/dev/there-is-none", "No such file or directory; `lsblk`"),
        ("/dev/null", "is no block device"),
        (file, "is no block device"),
    ] {
        let (code, _, error) = on_device(&home, device, Some(device));
        assert_eq!(code, 3, "{error}");
        assert!(error.contains(device) && error.contains(why), "{error}");
    }
    assert_eq!(fs::read_to_string(file).unwrap(), "mine");
}

#[test]
fn a_device_is_written_only_when_nobody_uses_it_and_it_was_named_twice() {
    let _turn = alone();
    if !root("loop devices") {
        return;
    }
    let home = Home::new();
    let image = home.path().join("image");
    let before = vec![b'm'; 16 << 20];
    fs::write(&image, &before).unwrap();
    let Some(device) = Loop::over(&image) else {
        return;
    };
    let name = device.0.as_str();
    let intact = |what: &str| assert!(fs::read(&image).unwrap() == before, "{what}");

    for overwrite in [None, Some("yes"), Some("/dev/null")] {
        let (code, _, error) = on_device(&home, name, overwrite);
        assert_eq!(code, 3, "{error}");
        let advice = format!("add --param overwrite={name}");
        assert!(error.contains(&advice), "{error}");
    }
    intact("not confirmed");

    // as a file system, swap or a mapper holds it
    let holder = File::options()
        .read(true)
        .custom_flags(libc::O_EXCL)
        .open(name)
        .unwrap();
    let (code, _, error) = on_device(&home, name, Some(name));
    assert_eq!(code, 3, "{error}");
    assert!(error.contains("nothing was written"), "{error}");
    drop(holder);
    intact("in use");

    let (code, out, error) = on_device(&home, name, Some(name));
    assert_eq!(code, 0, "{error}");
    let run: Value = serde_json::from_str(&out).unwrap();
    let row = result(&run, "disk/raw-write");
    assert_eq!(row["measured"], format!("past the cache of {name}"));
    let after = fs::read(&image).unwrap();
    assert!(after[..4 << 20] != before[..4 << 20], "4 MB were written");
    assert!(after[4 << 20..] == before[4 << 20..], "and no more");
}

#[test]
fn a_mounted_device_is_refused_and_keeps_its_files() {
    let _turn = alone();
    if !root("loop devices") {
        return;
    }
    let home = Home::new();
    let (image, point) = (home.path().join("image"), home.path().join("point"));
    File::create(&image).unwrap().set_len(16 << 20).unwrap();
    fs::create_dir(&point).unwrap();
    let made = Command::new("mkfs.ext4").arg("-q").arg(&image).status();
    let Some(device) = Loop::over(&image).filter(|_| made.is_ok_and(|made| made.success())) else {
        eprintln!("left out, since there is no mkfs.ext4 or no loop device");
        return;
    };
    let name = Path::new(&device.0);
    let options = MsFlags::empty();
    let Some(mounted) = Private::mount(Some(name), &point, "ext4", options, "") else {
        return;
    };
    fs::write(point.join("mine"), "kept").unwrap();
    // the run sees the mount; one that does not would be refused by the system
    let (code, _, error) = on_device(&home, &device.0, Some(&device.0));
    assert_eq!(code, 3, "{error}");
    let told = format!("mounted on {}", point.display());
    assert!(error.contains(&told), "{error}");
    assert_eq!(fs::read_to_string(point.join("mine")).unwrap(), "kept");
    drop(mounted);
    eventually("it is checked and found whole", || {
        let checked = Command::new("e2fsck").args(["-fn", &device.0]).output();
        checked.unwrap().status.success()
    });
}

/// Mounts below a directory, and loop devices over files below it.
fn mounts_and_loops(dir: &Path) -> usize {
    let dir = dir.to_string_lossy().into_owned();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let loops = entries(Path::new("/sys/block"))
        .iter()
        .filter_map(|device| fs::read_to_string(device.join("loop/backing_file")).ok())
        .filter(|over| over.contains(&dir))
        .count();
    mounts.lines().filter(|line| line.contains(&dir)).count() + loops
}

#[test]
fn a_run_that_is_killed_leaves_no_file_system() {
    let _turn = alone();
    if !root("making a file system") || !has_loops() {
        return;
    }
    let home = Home::new();
    let dir = tempfile::tempdir_in(DIR).unwrap();
    let arguments = ["run", "disk/write-fsync", "--budget", "60s", "--dir"];
    let arguments = [&arguments[..], &[dir.path().to_str().unwrap()]].concat();
    for signal in [Signal::SIGKILL, Signal::SIGTERM] {
        let mut child = start(&home, &arguments, &[]);
        // in steps, since the disc may be busy, and none of them may take for ever
        let written = |volume: &PathBuf| volume.join("mounted").exists();
        eventually("there is a place for it", || {
            ours(dir.path()).iter().any(written)
        });
        eventually("the file is there", || mounts_and_loops(dir.path()) > 0);
        eventually("it works on its file system", || {
            let ended = child.try_wait().is_ok_and(|ended| ended.is_some());
            assert!(!ended, "it ended before");
            let launch = |volume: &PathBuf| !entries(&volume.join("mounted")).is_empty();
            mounts_and_loops(dir.path()) == 2 && ours(dir.path()).iter().any(launch)
        });
        kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
        child.wait().unwrap();
        // by the run itself or its watchdog, not by the next start
        eventually("nothing is mounted", || mounts_and_loops(dir.path()) == 0);
        eventually("nothing is left", || ours(dir.path()).is_empty());
        eventually("no process is left", || processes(&home) == 0);
        let journals = home.path().join(".local/state/gritstone");
        assert!(entries(&journals).is_empty(), "{signal}");
    }
}

#[test]
fn without_root_the_rest_runs_and_says_what_is_missing() {
    let _turn = alone();
    let (code, out, error) = as_nobody(&[
        "disk/write-fsync",
        "disk/write-nofsync@large",
        "disk/read-seq",
        "fs/rand-read/8k",
    ]);
    assert_eq!(code, 0, "{error}");
    let run: Value = serde_json::from_str(&out).unwrap();
    assert!(measured(&run, "fs/rand-read/8k"));
    let large = result(&run, "disk/write-nofsync@large");
    assert!(reason(large).contains("as root this row runs"), "{large}");
    if measured(&run, "disk/write-fsync") {
        let row = result(&run, "disk/write-fsync");
        assert!(
            says(row, "no new one was made for it: it takes root"),
            "{row}"
        );
        assert!(measured(&run, "disk/read-seq"));
    }
}

/// A run of these rows by a user without privileges, in a directory of its own.
fn as_nobody(rows: &[&str]) -> (i32, String, String) {
    const NOBODY: u32 = 65_534;
    let home = Home::new();
    let mut arguments = vec!["run"];
    arguments.extend(rows);
    arguments.extend(["--budget", "20s", "--format", "json", "--dir"]);
    if !geteuid().is_root() {
        let dir = tempfile::tempdir_in(DIR).unwrap();
        arguments.push(dir.path().to_str().unwrap());
        return home.run(&arguments);
    }
    // where the build lies, a stranger may not look
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    let binary = place.path().join("gritstone");
    fs::copy(common::binary(), &binary).unwrap();
    for (path, mode) in [
        (place.path(), 0o755),
        (&binary, 0o755),
        (home.path(), 0o700),
    ] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    for path in [place.path(), home.path()] {
        chown(path, Some(NOBODY.into()), Some(NOBODY.into())).unwrap();
    }
    arguments.push(place.path().to_str().unwrap());
    let mut command = Command::new(&binary);
    command
        .args(&arguments)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home.path())
        .env("TMPDIR", home.path())
        .current_dir(home.path())
        .uid(NOBODY)
        .gid(NOBODY);
    ended(&mut assert_cmd::Command::from_std(command))
}

#[test]
fn where_the_system_refuses_io_uring_the_row_says_so() {
    let _turn = alone();
    let home = Home::new();
    let mut command = Command::new(common::binary());
    command
        .args(["run", "disk/raw-write@io-uring", "--budget", "5s"])
        .args(["--dir", DIR])
        .env("HOME", home.path())
        .env("XDG_DATA_HOME", home.path().join("data"))
        .env("TMPDIR", home.path());
    #[allow(
        unsafe_code,
        reason = "between fork and exec nothing but two system calls is made"
    )]
    // SAFETY: prctl takes a filter that outlives the call, and neither allocates nor locks.
    unsafe {
        command.pre_exec(refuse_io_uring);
    }
    let (code, _, error) = ended(&mut assert_cmd::Command::from_std(command));
    assert_eq!(code, 3, "{error}");
    assert!(
        error.contains("The kernel refuses io_uring (Operation not permitted)")
            && error.contains("sysctl kernel.io_uring_disabled=0"),
        "{error}"
    );
}

/// From here on io_uring_setup ends with EPERM, for this process and all that it starts.
#[allow(
    unsafe_code,
    reason = "there is no other way to install a filter of system calls"
)]
fn refuse_io_uring() -> std::io::Result<()> {
    const NUMBER: u32 = libc::SYS_io_uring_setup as u32;
    let code = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter {
        code: u16::try_from(code).unwrap_or(0),
        jt,
        jf,
        k,
    };
    let mut filter = [
        code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        code(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, NUMBER),
        code(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | libc::EPERM as u32,
        ),
        code(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: 4,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the program and its filter live until prctl returns.
    let failed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const program,
            ) != 0
    };
    if failed {
        return Err(std::io::Error::last_os_error());
    }
    Ok(())
}
