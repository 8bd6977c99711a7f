//! Foreign text on the way to a terminal: from bundles, files of other programs, names of files, hosts and stores.

use crate::common::{Arguments, Home, binary, ended, needs_root, succeeds};
use gritstone_catalogue::folder;
use gritstone_model::{Contents, CustomFile, hexadecimal};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Sets the title, clears the screen, goes to its corner; as C0 and as C1; turns what follows around; begins lines that the runner of
/// GitHub obeys.
const HOSTILE: &str = "\x1b]0;owned\x07\x1b[2J\x1b[1;1H\u{9b}31m\u{90}q\u{85}\u{202e}drow\u{2066}\x7f\r\x08\x0c end\n::error::x\n  ::add-mask::y\n##[error]z\n.";

/// The bundle of a real run of one benchmark, made once: its head and its launches.
static LINES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let home = Home::new();
    home.ok("run byte/loop --quick");
    // a few launches have every kind of event
    let bundle = home.ok("export");
    let lines = bundle.lines().take(4);
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
});

/// With an end that fits.
fn sealed(lines: &[Value]) -> String {
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let hash = hexadecimal(Sha256::digest(&body));
    let end = json!({"end": {"launches": lines.len() - 1, "sha256": hash}});
    format!("{body}{end}\n")
}

/// The places of all texts in a value, as JSON pointers.
fn texts(value: &Value, pointer: &str, found: &mut Vec<String>) {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::String(_) => found.push(pointer.to_owned()),
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(i, item)| texts(item, &format!("{pointer}/{i}"), found));
        }
        Value::Object(items) => {
            let items = items.iter();
            items
                .for_each(|(key, item)| texts(item, &format!("{pointer}/{}", escaped(key)), found));
        }
        _ => {}
    }
}

/// A control character in printed text.
fn obeyed(text: &str) -> Option<char> {
    text.chars().find(|c| match c {
        '\n' | '\t' => false,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' => true,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        _ => false,
    })
}

/// A workflow command in printed text.
fn workflow_command(text: &str) -> Option<&str> {
    text.lines().find(|line| line.trim_start().starts_with("::") || line.contains("##["))
}

/// Checks both streams for control characters; returns the exit code.
fn harmless<A: Arguments + ?Sized>(home: &Home, arguments: &A) -> i32 {
    harmless_as(&mut home.gritstone(arguments), &arguments.words())
}

fn harmless_as(command: &mut assert_cmd::Command, what: &[&str]) -> i32 {
    let (code, out, error) = ended(command);
    assert!(code >= 0, "{what:?} died: {error}");
    for stream in [&out, &error] {
        let c = obeyed(stream);
        assert!(c.is_none(), "{c:?} by {what:?} in {stream:?}");
        assert_eq!(workflow_command(stream), None, "{what:?}");
    }
    code
}

fn file(home: &Home, name: &[u8], text: &str) -> PathBuf {
    let path = home.path().join(OsStr::from_bytes(name));
    fs::write(&path, text).unwrap();
    path
}

/// Every command that reads a file of a run and prints it.
fn all_that_print(home: &Home, path: &str) {
    for command in [
        "show PATH",
        "show PATH --format json",
        "compare PATH ref:vax-11-780-4.1bsd",
        "compare PATH ref:vax-11-780-4.1bsd --format json",
        "report PATH --output b.html --output b.pdf",
        "import PATH",
        "systems",
        "systems --format json",
        "history byte/loop",
        "history byte/loop --format json",
        "check",
        "show no-such-run",
        "run --resume no-such-run",
    ] {
        let words = command.words().into_iter();
        let words = words.map(|word| if word == "PATH" { path } else { word });
        harmless(home, &words.collect::<Vec<_>>());
    }
    for format in gritstone_exchange::EXPORT_FORMATS {
        harmless(home, &["export", path, "--format", format.name]);
    }
    if let Ok(page) = fs::read_to_string(home.path().join("b.html")) {
        assert_eq!(obeyed(&page), None, "a page, with its drawings");
    }
}

#[test]
fn hostile_bundles_are_harmless() {
    let home = Home::new();
    let mut shown = LINES.clone();
    let mut good = 0;
    for (number, line) in LINES.iter().enumerate().take(2) {
        let mut places = vec![];
        texts(line, "", &mut places);
        assert!(!places.is_empty());
        for place in places {
            let mut lines = LINES.clone();
            let text = lines[number].pointer_mut(&place).unwrap();
            *text = format!("{}{HOSTILE}", text.as_str().unwrap()).into();
            let path = file(&home, b"hostile.jsonl", &sealed(&lines));
            if harmless(&home, &["show", path.to_str().unwrap()]) == 0 {
                *shown[number].pointer_mut(&place).unwrap() = HOSTILE.into();
                good += 1;
            }
        }
    }
    assert!(good > 5, "texts that a bundle may say freely: {good}");
    // no label of a store
    shown[0]["info"]["label"] = "theirs".into();
    let path = file(&home, b"hostile.jsonl", &sealed(&shown));
    all_that_print(&home, path.to_str().unwrap());
}

#[test]
fn hostile_labels_are_refused() {
    let home = Home::new();
    let long = "a".repeat(201);
    let import = |key: &str, text: &str| {
        let mut lines = LINES.clone();
        lines[0]["info"][key] = text.into();
        let path = file(&home, b"named.jsonl", &sealed(&lines));
        harmless(&home, &["import", path.to_str().unwrap()])
    };
    for id in [HOSTILE, "-x", "x\n::error::y", &long, "last", "../x"] {
        assert_eq!(import("id", id), 2, "{id}");
    }
    for label in [HOSTILE, "-x", "20260901-09", &long, "last", "a\nb"] {
        assert_eq!(import("label", label), 2, "{label}");
        assert_eq!(import("label", "fine"), 0);
        assert_eq!(harmless(&home, &["runs", "label", "fine", "--", label]), 2);
    }
}

#[test]
fn exports_compute_and_command_nothing() {
    let home = Home::new();
    let formula = format!("=cmd|' /C calc'!A0{HOSTILE}");
    let mut lines = LINES.clone();
    lines[0]["benchmarks"][0]["title"] = formula.clone().into();
    lines[0]["benchmarks"][0]["remark"] = formula.clone().into();
    lines[0]["info"]["machine"]["name"] = formula.into();
    lines[0]["info"]["label"] = "theirs".into();
    let path = file(&home, b"formula.jsonl", &sealed(&lines));
    let path = path.to_str().unwrap();
    lines[0]["info"]["id"] = "20260101-000000-00000001".into();
    let base = file(&home, b"base.jsonl", &sealed(&lines));
    let base = base.to_str().unwrap();
    let table = home.ok(&["export", path, "--format", "csv"]);
    for cell in csv_cells(&table) {
        let computes = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
        assert!(!computes || cell.parse::<f64>().is_ok(), "{cell}");
    }
    assert!(table.contains("'=cmd|"), "{table}");
    let summary = home.path().join("summary.md");
    for format in ["github", "junit"] {
        let mut check = home.gritstone(&["check", path, "--against", base, "--format", format]);
        check.env("GITHUB_STEP_SUMMARY", &summary);
        let (code, out, error) = ended(&mut check);
        assert!(code >= 0 && !out.is_empty(), "{code}: {error}");
        let ours = |line: &&str| format == "github" && line.starts_with("::notice title=");
        let foreign: Vec<&str> = out.lines().filter(|line| !ours(line)).collect();
        let foreign = foreign.join("\n");
        assert_eq!(obeyed(&(out.clone() + &error)), None);
        if format == "junit" {
            assert_eq!(workflow_command(&foreign), None);
        }
    }
    let summary = fs::read_to_string(summary).unwrap();
    assert_eq!(obeyed(&summary), None, "{summary}");
}

/// The cells of a table whose quotes are doubled.
fn csv_cells(table: &str) -> Vec<String> {
    let quoted: Vec<&str> = table.split('"').collect();
    let mut cells = vec![];
    for (index, part) in quoted.iter().enumerate() {
        match index % 2 {
            0 => cells.extend(part.split([',', '\n']).map(str::to_owned)),
            _ => cells.push((*part).to_owned()),
        }
    }
    cells
}

#[test]
fn hostile_keys_are_escaped() {
    let home = Home::new();
    let mut lines = LINES.clone();
    let launch = lines[1]["launch"].take();
    lines[1] = json!({ HOSTILE: launch });
    let mut unknown = LINES.clone();
    unknown[0]["info"]["settings"][HOSTILE] = 1.into();
    for text in [sealed(&lines), sealed(&unknown), format!("{{\"schema\":\"{HOSTILE}\"}}\n")] {
        let path = file(&home, b"keys.jsonl", &text);
        all_that_print(&home, path.to_str().unwrap());
    }
}

#[test]
fn foreign_files_are_escaped() {
    let home = Home::new();
    let hyperfine = json!({"results": [
        {"command": HOSTILE, "times": [1.0, 1.1, 1.0, 1.2, 1.0, 1.1, 1.0], "parameters": {HOSTILE: HOSTILE}},
        {"command": HOSTILE, "times": "x\x1b[2J"},
    ]});
    let mut good = hyperfine.clone();
    good["results"].as_array_mut().unwrap().pop();
    let google = |unit: &str| {
        json!({
            "context": {"date": HOSTILE, "host_name": HOSTILE, "executable": HOSTILE, "num_cpus": 2, "mhz_per_cpu": 3000},
            "benchmarks": [{"name": HOSTILE, "run_name": HOSTILE, "run_type": "iteration", "repetitions": 1,
                "repetition_index": 0, "iterations": 1000, "real_time": 12.5, "cpu_time": 12.4, "time_unit": unit,
                "label": HOSTILE, "error_message": HOSTILE}]
        })
    };
    let unixbench = format!(
        "   BYTE UNIX Benchmarks (Version 5.1.3)\n\n   System: {HOSTILE}: GNU/Linux\n\n{HOSTILE}       35000000.0 {HOSTILE}   (10.0 s, 7 samples)\nDhrystone 2 using register variables       35000000.0 lps   (10.0 s, 7 samples)\n"
    );
    for text in [
        hyperfine.to_string(),
        good.to_string(),
        google("ns").to_string(),
        google(HOSTILE).to_string(),
        unixbench,
    ] {
        let path = file(&home, b"foreign", &text);
        let path = path.to_str().unwrap();
        all_that_print(&home, path);
        harmless(&home, &["import", path, "--label", HOSTILE]);
        harmless(&home, &["show", "\x1b[2"]);
    }
}

#[test]
fn hostile_paths_are_escaped() {
    let home = Home::new();
    let name = format!("{}\n.jsonl", HOSTILE.replace('/', "-"));
    let text = sealed(&LINES);
    let broken = text.rsplit_once("{\"end\"").unwrap().0;
    for text in ["", "rubbish", &text, broken] {
        let path = file(&home, name.as_bytes(), text);
        all_that_print(&home, path.to_str().unwrap());
        harmless(&home, &["export", path.to_str().unwrap(), "--output", HOSTILE]);
        let raw = file(&home, b"\x1b[2J\xff\x9b.jsonl", text);
        let mut command = home.gritstone("show");
        harmless_as(command.arg(&raw), &["show", "a name that is no text"]);
    }
    // a store there, one that is damaged, one that cannot be
    for arguments in [&["show"][..], &["doctor"], &["systems"], &["run", "no/such"]] {
        for store in [name.as_str(), "no\x1b[2J/such/\u{9b}place", "/proc/\x1b[2J"] {
            let mut command = home.gritstone(arguments);
            harmless_as(command.env("GRITSTONE_STORE", store), arguments);
        }
    }
    fs::create_dir(home.path().join("\x1b[2J\u{9b}")).unwrap();
    // words of the command line, which a shell may have taken from names of files
    for arguments in [
        &[HOSTILE][..],
        &["show", HOSTILE, HOSTILE],
        &["run", HOSTILE],
        &["run", "--budget", HOSTILE],
        &["run", "--catalog", HOSTILE, "x/y"],
        &["run", "byte/loop", "--budget=1s", "--dir", "\x1b[2J\u{9b}"],
        &["list", HOSTILE],
        &["ab", "--", HOSTILE, HOSTILE],
        &["--help"],
        &["show", "--help"],
    ] {
        let mut command = home.gritstone(arguments);
        harmless_as(command.env("GRITSTONE_STORE", HOSTILE), arguments);
    }
}

#[test]
fn hostile_host_names_are_escaped_as_root() {
    needs_root();
    let home = Home::new();
    let commands = "printf '%s' \"$1\" >/proc/sys/kernel/hostname || exit 90
        \"$0\" doctor; \"$0\" run byte/loop --budget 1s; \"$0\" machines; \"$0\" export";
    let output = home
        .command("unshare")
        .args(["--uts", "sh", "-c", commands])
        .arg(binary())
        .arg("\x1b[2Jhost\u{9b}")
        .env("XDG_DATA_HOME", home.path().join("host"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let run = String::from_utf8_lossy(&output.stdout);
    assert!(run.contains("host"), "{run}");
    for stream in [output.stdout, output.stderr] {
        let stream = String::from_utf8(stream).unwrap();
        assert_eq!(obeyed(&stream), None, "{stream:?}");
    }
}

#[test]
fn terminals_get_our_styles_only() {
    let home = Home::new();
    let mut lines = LINES.clone();
    lines[0]["info"]["label"] = format!("{HOSTILE}\x1b[1m").into();
    let path = file(&home, b"hostile.jsonl", &sealed(&lines));
    let command = format!("{} show {}", binary().display(), path.display());
    let mut script = Command::new("script");
    let shown = succeeds(script.args(["-qec", &command, "/dev/null"]).env("TERM", "xterm"));
    let bold = shown.contains("\x1b[1m");
    assert!(bold && shown.contains("drow"), "{shown}");
    let mut rest = shown.replace('\r', "");
    for style in [0, 1, 2, 33, 36] {
        rest = rest.replace(&format!("\x1b[{style}m"), "");
    }
    assert_eq!(obeyed(&rest), None, "{rest:?}");
}

#[test]
fn bundled_catalogs_have_safe_names() {
    let entries = include_str!("../../../examples/mine/mine.toml");
    let planted = format!("gritstone-planted-{}", std::process::id());
    for name in [
        &format!("mine/../../{planted}"),
        &format!("../{planted}"),
        &format!("/tmp/{planted}"),
        "mine/\x1b[2J",
        "mine/a/b",
        "mine/.x",
        "mine/..",
    ] {
        let home = Home::new();
        let file_of = |text: &str| CustomFile {
            executable: true,
            contents: Contents::new(text.as_bytes().to_vec()),
        };
        let files: BTreeMap<String, CustomFile> =
            [("mine.toml".to_owned(), file_of(entries)), (name.to_owned(), file_of("#!/bin/sh\n"))]
                .into();
        let mut lines = LINES.clone();
        lines[0]["info"]["elapsed_s"] = Value::Null;
        lines[0]["info"]["settings"]["catalogue"] = json!({
            "name": "mine", "hash": folder::hash(&files), "families": ["mine"], "files": files,
        });
        let path = file(&home, b"catalog.jsonl", &sealed(&lines));
        let path = path.to_str().unwrap();
        let (_, _, error) = home.run(&["report", path, "--output", "b.html"]);
        let why = "cannot be a file of a catalog";
        assert!(error.contains(why), "{name:?}: {error}");
        harmless(&home, &["show", path]);
        harmless(&home, &["import", path]);
        assert_ne!(harmless(&home, &["run", "--resume", "--trust"]), 0);
        for folder in [home.path(), home.path().parent().unwrap(), Path::new("/tmp")] {
            assert!(!folder.join(&planted).exists(), "{name:?} in {folder:?}");
        }
    }
}
