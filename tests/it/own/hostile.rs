//! Hostile catalogs: refused before anything runs, or contained.

use super::{FAMILY, TRUE, evil};
use crate::attacks::kills::kill_watchdogs;
use crate::common::{self, Home, messages, processes, traces};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// The reason for which `list` refuses a catalog.
fn refusal(home: &Home, folder: &str) -> String {
    let error = home.refuses(&["list", "--catalog", folder], "");
    let controls = error.chars().any(|c| c.is_control() && c != '\n');
    assert!(!controls, "{error:?}");
    error
}

/// An entry of kind kernel whose program is an executable of that name.
fn speaks(name: &str) -> String {
    let entry = TRUE.replace("evil/true", &format!("evil/{name}"));
    entry.replace("\"command\"", "\"kernel\"").replace("argv = [\"/bin/true\"]\n", "")
}

/// An entry of kind command for the shell.
fn shell(script: &str) -> String {
    TRUE.replace("[\"/bin/true\"]", &format!("[\"/bin/sh\", \"-c\", {script:?}]"))
}

#[test]
fn escaping_paths_are_refused() {
    let home = Home::new();
    let folder = evil(&home, TRUE, &[]);
    let inside = Path::new(&folder).join("evil/x");
    let is_refused = |kind: &str| {
        let error = refusal(&home, &folder);
        assert!(error.contains(&format!("evil/x is {kind}")), "{error}");
        fs::remove_file(&inside).unwrap();
    };
    symlink("/etc/passwd", &inside).unwrap();
    is_refused("a symbolic link");
    nix::unistd::mkfifo(&inside, nix::sys::stat::Mode::S_IRWXU).unwrap();
    is_refused("a FIFO");
    let socket = std::os::unix::net::UnixListener::bind(&inside).unwrap();
    is_refused("a socket");
    drop(socket);
    if nix::unistd::geteuid().is_root() {
        let (kind, mode) = (nix::sys::stat::SFlag::S_IFCHR, nix::sys::stat::Mode::S_IRWXU);
        let null = nix::sys::stat::makedev(1, 3);
        if nix::sys::stat::mknod(&inside, kind, mode, null).is_ok() {
            is_refused("a device");
        }
    }
    // a gigabyte that takes no room: reading it would be seen
    fs::File::create(&inside).unwrap().set_len(1 << 30).unwrap();
    is_refused("too large");
    let large = Path::new(&folder).join("large.toml");
    fs::File::create(&large).unwrap().set_len(1 << 30).unwrap();
    assert!(refusal(&home, &folder).contains("large.toml is too large"));
    fs::remove_file(&large).unwrap();
    for number in 0..=500 {
        fs::write(Path::new(&folder).join(format!("evil/{number}")), "").unwrap();
    }
    assert!(refusal(&home, &folder).contains("more than 500 files"));
    fs::remove_dir_all(Path::new(&folder).join("evil")).unwrap();
    fs::create_dir_all(Path::new(&folder).join("evil/deep")).unwrap();
    assert!(refusal(&home, &folder).contains("a folder in a folder"));
    assert!(refusal(&home, "no-such-folder").contains("there is no folder no-such-folder"));
    let empty = home.path().join("empty");
    fs::create_dir(&empty).unwrap();
    assert!(refusal(&home, empty.to_str().unwrap()).contains("gritstone init"));
}

/// The entry to begin with, a text, its replacement (`+` adds a line), empty files beside it, and a part of the error.
const REFUSED: &str = r#"
true | evil/true | byte/pipe | | is not of family 'evil'
true | evil/true | evil/../x | | must begin with a-z
true | evil/true | evil/\u001b[31m | | for terminals and not for readers
true | Nothing. | \u001b]0;owned\u0007 | | U+001B
true | "Nothing" | "\u202egnihton" | | U+202E
true | /bin/true | /bin/tr\u0000ue | | U+0000
true | "Nothing" | "␛[2J" | | evil.toml
true | /bin/true | true | | is not looked up on PATH
true | + | leaves = ["../x"] | | is not a file name
true | + | input = "/etc/passwd" | | is not a file name
true | + | | evil/y.c | no entry uses evil/y.c
kernel | + | | | no program evil/x
kernel | + | program = "../x" | | is not a program
kernel | + | program = "/bin/sh" | | is not a program
kernel | + | uses = ["no/such"] | evil/x | no program no/such
kernel | + | params = { a = "\u001b" } | evil/x | for terminals and not for readers
kernel | + | | evil/x evil/x.c | there twice
kernel | + | published = { work = "w", operations = 1, figure = "real_s" } | evil/x | fixed amount of work
"#;

#[test]
fn hostile_names_are_refused() {
    let home = Home::new();
    let mut wrong = vec![];
    for case in REFUSED.lines().skip(1) {
        let part = |index: usize| case.split('|').nth(index).expect(case).trim();
        let entry = match part(0) {
            "kernel" => speaks("x"),
            _ => TRUE.to_owned(),
        };
        let instead = part(2).replace('␛', "\u{1b}");
        let entry = match part(1) {
            "+" => format!("{entry}{instead}\n"),
            there => entry.replace(there, &instead),
        };
        let files: Vec<(&str, &str)> = part(3).split_whitespace().map(|file| (file, "")).collect();
        let error = refusal(&home, &evil(&home, &entry, &files));
        if !error.contains(part(4)) {
            wrong.push(format!("{case}: {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let included = [
        ("#include \"/etc/passwd\"\n", "evil/x.c:1:1: what is included"),
        ("\n#include \"../../../etc/passwd\"\n", "evil/x.c:2:1"),
    ];
    for (text, printed) in included {
        let folder = evil(&home, &speaks("x"), &[("evil/x.c", text)]);
        assert!(refusal(&home, &folder).contains(printed), "{text}");
    }
    let score = TRUE
        .replace("\"command\"", "\"rating\"")
        .replace("unit = \"ms\"", "unit = \"ratio\"\nbetter = \"higher\"")
        .replace("argv = [\"/bin/true\"]", "over = [\"byte/*\"]\nbaseline = \"ref:x\"");
    let error = refusal(&home, &evil(&home, &score, &[]));
    assert!(error.contains("a score is relative"), "{error}");
    let folder = evil(&home, TRUE, &[]);
    for (name, printed) in [
        ("byte", "is a family of Gritstone"),
        ("command", "is a family of Gritstone"),
        ("a_b", "cannot be the name of a family"),
    ] {
        let toml = Path::new(&folder).join(format!("{name}.toml"));
        fs::write(&toml, format!("{FAMILY}{TRUE}").replace("evil", name)).unwrap();
        let error = refusal(&home, &folder);
        assert!(error.contains(printed), "{error}");
        fs::remove_file(&toml).unwrap();
    }
    for name in ["evil/\u{1b}[31m", "evil/a b", "evil/-o"] {
        fs::write(Path::new(&folder).join(name), "").unwrap();
        let error = refusal(&home, &folder);
        assert!(error.contains("cannot be a name in a catalog"), "{error}");
        fs::remove_file(Path::new(&folder).join(name)).unwrap();
    }
}

/// Measures harmful catalogs within a budget of seconds; their benchmarks have no result, and nothing of them is left.
fn contained(entries: &str, files: &[(&str, &str)], seconds: u32, outcome: &str, printed: &str) {
    let home = Home::new();
    let folder = evil(&home, entries, files);
    let how = format!("--trust --budget {seconds}s --precision 50% --format json");
    // one at a time: a thousand processes of one leave no time for what another says
    let _turn = common::alone();
    let (code, out, error) = home.run(&format!("run --catalog {folder} {how}"));
    assert_eq!(code, 3, "{out}{error}");
    let run: serde_json::Value = serde_json::from_str(&out).unwrap();
    let row = &run["results"][0];
    assert_eq!(row["outcome"], outcome, "{row}");
    let whys: String = messages(row);
    assert!(whys.to_lowercase().contains(&printed.to_lowercase()), "{whys}");
    common::eventually("all processes are gone", || processes(&home) == 0);
    assert!(traces(&home).is_empty(), "{:?}", traces(&home));
}

/// The same for programs that do not end by themselves.
fn ended_after(entries: &str, files: &[(&str, &str)], seconds: u32) {
    let printed = format!("it did not end within {seconds} s");
    contained(entries, files, seconds, "timed_out", &printed);
}

#[test]
#[ignore = "measures: make test-full"]
fn endless_forks_are_ended() {
    // the shell itself would end with 2 when it can have no process more
    let bomb = "b() { b & b & }; b & exec sleep 100";
    ended_after(&shell(bomb), &[], 3);
    // and one whose processes do not stay where they were started
    let apart = "b() { setsid sh -c 'sleep 50' & }; (while :; do b; done) & exec sleep 100";
    ended_after(&shell(apart), &[], 3);
}

/// Killed by the watchdog, which has the control group; without one, by the supervisor, whose session differs from that of the adopting
/// process.
#[test]
#[ignore = "measures: make test-full"]
fn killed_runs_end_endless_forks() {
    let bomb = "b() { b & b & wait; }; b & exec sleep 100";
    let _turn = common::alone();
    for watchdog_too in [false, true] {
        let home = Home::new();
        let folder = evil(&home, &shell(bomb), &[]);
        let line = format!("run --catalog {folder} --trust --budget 60s");
        let mut child = common::start(&home, &line, &[]);
        common::eventually("it forks", || processes(&home) > 200);
        if watchdog_too {
            kill_watchdogs(&home);
        }
        common::end_at_once(&mut child);
        // a supervisor competes with a thousand processes
        let limit = std::time::Duration::from_secs(600);
        common::eventually_within(limit, "all processes are gone", || processes(&home) == 0);
    }
}

#[test]
fn ignored_signals_do_not_help() {
    let deaf = "trap '' TERM INT HUP; while :; do sleep 1; done";
    ended_after(&shell(deaf), &[], 1);
    let script = "#!/bin/sh\ntrap '' TERM\necho 'hello protocol=1 kernel=evil/x' >&3\nwhile :; do sleep 1; done\n";
    ended_after(&speaks("x"), &[("evil/x", script)], 1);
}

#[test]
#[ignore = "measures: make test-full"]
fn protocol_violations_give_no_result() {
    let hello = "#!/bin/sh\necho 'hello protocol=1 kernel=evil/x' >&3\n";
    let sh = "#!/bin/sh\n";
    let other = hello.replace("evil/x", "byte/pipe");
    for (begin, script, printed) in [
        (sh, "head -c 100000 /dev/urandom >&3", "line 1 of the workload's output"),
        (sh, "exec cat /dev/zero >&3", "longer than 131072 bytes"),
        (hello, "yes 'param key=a value=b' >&3", "more than 20000 lines"),
        (hello, "echo 'sample n=1 wall=0' >&3", "line 2"),
        (hello, "echo bye >&3; exit 3", "ended with status 3"),
        (hello, "exit 0", "ended before its bye"),
        (&other, "echo bye >&3", "its name is byte/pipe"),
        (hello, "sleep 100 & echo bye >&3", "left 1 process running"),
        ("#!/no/such/interpreter", "", "cannot execute"),
    ] {
        let script = format!("{begin}{script}\n");
        contained(&speaks("x"), &[("evil/x", &script)], 3, "failed", printed);
    }
}
