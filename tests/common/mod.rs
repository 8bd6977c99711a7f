//! The binary in a home of its own.
#![allow(dead_code, reason = "each test program uses a part of it")]

pub mod postgres;
mod runs;
pub mod server;
pub mod workload;

use assert_cmd::Command;
use gritstone_model::RunData;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub use runs::{at_hour, begin, calm, part, recorded, short_run};

/// A directory of the build: on a disk nearly everywhere, where temporary files may be in memory.
pub const DISC: &str = env!("CARGO_TARGET_TMPDIR");

/// Makes the system calls of a command slower: less of a CPU would not make samples longer that are shorter than a time slice.
pub const SLOWER: &str = "strace -f -qq -e trace=none -o /dev/null";

/// Retries a check that needs an otherwise idle machine: it must hold in one of four attempts.
pub fn in_one_of_four(mut attempt: impl FnMut() -> Result<(), String>) {
    let refuted: Vec<String> = (0..4).map_while(|_| attempt().err()).collect();
    assert!(refuted.len() < 4, "in none of four runs: {refuted:#?}");
}

/// The first of these programs that is on PATH. A test that needs one fails without it.
pub fn program(names: &[&str]) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let found = names.iter().find_map(|name| {
        let in_folders = std::env::split_paths(&path).map(|folder| folder.join(name));
        in_folders.into_iter().find(|path| path.is_file())
    });
    found.unwrap_or_else(|| panic!("no {} on PATH: scripts/setup test installs it", names[0]))
}

/// Tests whose names end in `as_root` need it; other users exclude them by name.
pub fn needs_root() {
    let root = nix::unistd::geteuid().is_root();
    assert!(root, "this test takes root; leave it out with --skip as_root");
}

/// Six launches of each, however long a busy machine takes for them.
pub const SHORT: &str = "--quick --precision 50%";

/// Arguments: a line of words, or one by one where there is a space in them.
pub trait Arguments {
    fn words(&self) -> Vec<&str>;
}

impl Arguments for str {
    fn words(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl Arguments for String {
    fn words(&self) -> Vec<&str> {
        self.as_str().words()
    }
}

impl Arguments for [&str] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> Arguments for [&str; N] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Arguments for Vec<&str> {
    fn words(&self) -> Vec<&str> {
        self.clone()
    }
}

/// One at a time of the tests that call this: they wait for one disk, share a control group, or need a budget to be enough.
pub fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A recorded run of tests/fixtures: `run` has benchmarks of all families, `copies` two copies at once.
pub fn fixture(name: &str) -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    fixtures.join(format!("{name}.jsonl"))
}

pub struct Home {
    pub folder: TempDir,
}

impl Home {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A home whose store has these recorded runs.
    pub fn with(recorded: &[&str]) -> Self {
        let home = Self::new();
        for name in recorded {
            home.ok(&format!("import {}", fixture(name).display()));
        }
        home
    }

    /// Stores runs, as bundles are imported.
    pub fn import(&self, runs: &[RunData]) {
        let file = self.path().join("bundle.jsonl");
        for run in runs {
            fs::write(&file, gritstone_exchange::write_bundle(run)).unwrap();
            self.ok(&["import", file.to_str().unwrap()]);
        }
        let _ = fs::remove_file(file);
    }

    /// An anonymous export of a run under the identifier of a later one.
    pub fn later_copy(&self, run: &str) -> String {
        let text = self.ok(&["export", run]);
        let mut later = gritstone_exchange::read_bundle(text.as_bytes()).unwrap();
        later.info.id = "20270101-000000-00000000".parse().unwrap();
        let path = self.path().join("later.jsonl");
        fs::write(&path, gritstone_exchange::write_bundle(&later)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn store(&self) -> PathBuf {
        self.path().join("data/gritstone/gritstone.db")
    }

    /// A program in this home, with nothing else of the user's.
    pub fn command(&self, program: impl AsRef<OsStr>) -> std::process::Command {
        let mut command = std::process::Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.path())
            .env("XDG_DATA_HOME", self.path().join("data"))
            .env("TMPDIR", self.path())
            .current_dir(self.path());
        command
    }

    /// `gritstone` with these arguments, likewise.
    pub fn gritstone<A: Arguments + ?Sized>(&self, arguments: &A) -> Command {
        let mut command = self.command(binary());
        command.args(arguments.words());
        Command::from_std(command)
    }

    /// What it prints as JSON, after it ended well.
    pub fn json<A: Arguments + ?Sized>(&self, arguments: &A) -> Value {
        let mut words = arguments.words();
        words.splice(1..1, ["--format", "json"]);
        let out = self.ok(&words);
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}"))
    }

    /// Exit code, standard output, standard error; without the warning of other tests that measure meanwhile.
    pub fn run<A: Arguments + ?Sized>(&self, arguments: &A) -> (i32, String, String) {
        let (code, out, error) = ended(&mut self.gritstone(arguments));
        let other = |line: &&str| line.starts_with("another run is measuring on this machine");
        let lines = error.split_inclusive('\n');
        let error = lines.filter(|line| !other(line)).collect();
        (code, out, error)
    }

    /// Standard output of a successful command.
    pub fn ok<A: Arguments + ?Sized>(&self, arguments: &A) -> String {
        let (code, out, error) = self.run(arguments);
        assert_eq!(code, 0, "{:?}: {error}{out}", arguments.words());
        out
    }

    /// A command that fails with this code and reason; returns its output.
    pub fn fails<A: Arguments + ?Sized>(&self, code: i32, arguments: &A, why: &str) -> String {
        let (ended, out, error) = self.run(arguments);
        let words = arguments.words();
        assert_eq!(ended, code, "{words:?}: {error}{out}");
        assert!(error.contains(why), "{words:?}: {why:?}: {error}");
        error
    }

    /// A command that is refused with exit code 2.
    pub fn refuses<A: Arguments + ?Sized>(&self, arguments: &A, why: &str) -> String {
        self.fails(2, arguments, why)
    }

    /// Journals of runs that are not undone yet.
    pub fn journals(&self) -> Vec<PathBuf> {
        let entries = entries(&self.path().join(STATE)).into_iter();
        entries.filter(|path| path.is_file()).collect()
    }
}

/// An unprivileged account.
pub const UNPRIVILEGED: u32 = 65_534;
/// Where journals lie in a home.
pub const STATE: &str = ".local/state/gritstone";

/// Exit code, standard output, standard error.
pub fn ended(command: &mut Command) -> (i32, String, String) {
    output_texts(command.output().unwrap())
}

/// The same for a command that has ended.
pub fn output_texts(output: Output) -> (i32, String, String) {
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

/// Standard output of a program that must succeed.
pub fn succeeds(command: &mut std::process::Command) -> String {
    let output = command.output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
    let texts = [output.stdout, output.stderr];
    let [out, error] = texts.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{command:?}: {out}{error}");
    out
}

/// The program of this build, or the one that `scripts/attack` names.
pub fn binary() -> &'static Path {
    static BINARY: LazyLock<PathBuf> = LazyLock::new(|| {
        let named = std::env::var_os("GRITSTONE_TESTED");
        named.map_or_else(|| env!("CARGO_BIN_EXE_gritstone").into(), PathBuf::from)
    });
    &BINARY
}

/// What is in a list.
pub fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("{value}"))
}

pub fn result<'a>(run: &'a Value, id: &str) -> &'a Value {
    with_id(&run["results"], id)
}

/// The result of a benchmark that was measured, and did its work.
pub fn measured<'a>(run: &'a Value, id: &str) -> &'a Value {
    let row = result(run, id);
    assert_eq!(row["outcome"], "measured", "{id}: {}", messages(row));
    assert!(!flagged(row, "invalid"), "{id}: {}", messages(row));
    row
}

/// The one of a list that has this identifier.
pub fn with_id<'a>(all: &'a Value, id: &str) -> &'a Value {
    let found = list(all).iter().find(|one| one["id"] == id);
    found.unwrap_or_else(|| panic!("no {id} in {all}"))
}

/// A note on a result: the only place that knows its JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The flag; nothing for a plain remark.
    pub flag: Option<String>,
    /// The part of the result that it is about; nothing for the whole result.
    pub about: Option<String>,
    pub code: String,
    pub message: String,
}

pub fn notes(result: &Value) -> Vec<Note> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let note = |note: &Value| Note {
        flag: note["flag"].as_str().map(str::to_owned),
        about: Some(text(&note["about"])).filter(|about| about != "result"),
        code: text(&note["code"]),
        message: text(&note["message"]),
    };
    list(&result["notes"]).iter().map(note).collect()
}

/// The data of a result's note with this code.
pub fn note_data<'a>(result: &'a Value, code: &str) -> &'a Value {
    let note = list(&result["notes"]).iter().find(|note| note["code"] == code);
    &note.unwrap_or_else(|| panic!("no note {code}: {result}"))["data"]
}

/// The flags of a result's estimate.
pub fn flags(result: &Value) -> Vec<String> {
    let of_the_estimate = notes(result).into_iter().filter(|note| note.about.is_none());
    of_the_estimate.filter_map(|note| note.flag).collect()
}

pub fn flagged(result: &Value, flag: &str) -> bool {
    flags(result).iter().any(|known| known == flag)
}

/// All notes on a result, a line each.
pub fn messages(result: &Value) -> String {
    let all: Vec<String> = notes(result).into_iter().map(|note| note.message).collect();
    all.join("\n")
}

/// Why there is no result; empty where there is one.
pub fn reason(result: &Value) -> String {
    let skipped = notes(result).into_iter().find(|note| note.flag.as_deref() == Some("skipped"));
    skipped.map_or(String::new(), |note| note.message)
}

pub fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Makes a program. A concurrent fork of another test would hold a descriptor open for writing, so the program is a copy that this process
/// never opened.
pub fn make_program(path: &Path, bytes: &[u8]) {
    let part = path.with_extension("part");
    fs::write(&part, bytes).unwrap();
    mode(&part, 0o755);
    succeeds(std::process::Command::new("cp").arg(&part).arg(path));
    fs::remove_file(part).unwrap();
}

/// Makes a shell script of these lines.
pub fn make_script(path: PathBuf, lines: &str) -> PathBuf {
    make_program(&path, format!("#!/bin/sh\n{lines}\n").as_bytes());
    path
}

/// What is in a folder; nothing where there is none.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return vec![];
    };
    entries.flatten().map(|entry| entry.path()).collect()
}

/// Directories of launches in the places that a run of this test uses.
pub fn traces(home: &Home) -> Vec<PathBuf> {
    ours(home.path())
}

/// The same in a working directory of runs.
pub fn ours(dir: &Path) -> Vec<PathBuf> {
    let mut found = entries(dir);
    found.retain(|path| path.to_string_lossy().contains("/gritstone."));
    found
}

pub fn has_loops() -> bool {
    Path::new("/dev/loop-control").exists()
}

/// Processes whose environment names this home: everything that a run of this test has started.
pub fn processes(home: &Home) -> usize {
    let mark = home.path().to_string_lossy().into_owned();
    entries(Path::new("/proc"))
        .iter()
        .filter_map(|process| fs::read(process.join("environ")).ok())
        .filter(|environ| String::from_utf8_lossy(environ).contains(&mark))
        .count()
}

/// Waits until it holds, with a time limit.
pub fn eventually(what: &str, holds: impl FnMut() -> bool) {
    eventually_within(Duration::from_secs(120), what, holds);
}

pub fn eventually_within(limit: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < limit, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A run in the background.
pub fn start<A: Arguments + ?Sized>(
    home: &Home,
    arguments: &A,
    environment: &[(&str, &Path)],
) -> Child {
    home.command(binary())
        .args(arguments.words())
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Sends a signal to a process that was started here.
pub fn end(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

/// The same with SIGKILL, and waits for it.
pub fn end_at_once(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A process that is killed at the end of its test.
pub struct Killed(pub Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Launches of the newest run in the store, as `show` counts them.
pub fn stored_launches(home: &Home) -> usize {
    let runs = home.json(&["runs", "--all"]);
    let Some(newest) = runs["runs"][0]["id"].as_str() else {
        return 0;
    };
    let run = home.json(&["show", newest]);
    let launches = list(&run["results"]).iter().map(|row| &row["launches"]);
    launches.map(|n| n.as_u64().unwrap() as usize).sum()
}
