//! Benchmarks of one's own, used as a person uses them.

mod fortran;
mod hostile;
mod versions;

use crate::common::{self, Home, SHORT, flagged, result, traces};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// An entry of kind command that does nothing.
const TRUE: &str = r#"
[[benchmark]]
id = "evil/true"
kind = "command"
title = "Nothing"
version = 1
operation = "Nothing."
why = "It is short."
sources = [{ document = "evil", place = "here" }]
unit = "ms"
argv = ["/bin/true"]
"#;
const FAMILY: &str =
    "[family]\nname = \"evil\"\ntitle = \"Evil\"\nwhy = \"To see what happens.\"\n";

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mine")
}

/// The example, in a folder of the home that may be changed.
fn copied(home: &Home) -> PathBuf {
    let to = home.path().join("mine");
    copied_to(&to);
    to
}

fn copied_to(to: &Path) {
    fs::create_dir_all(to.join("mine")).unwrap();
    for file in [
        "mine.toml",
        "mine/checksum.c",
        "mine/checksum.h",
        "mine/words.py",
    ] {
        fs::copy(example().join(file), to.join(file)).unwrap();
    }
}

/// A catalog of the family `evil`, with files beside its entries.
fn evil(home: &Home, entries: &str, files: &[(&str, &str)]) -> String {
    let folder = home.path().join("evil");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("evil")).unwrap();
    fs::write(folder.join("evil.toml"), format!("{FAMILY}{entries}")).unwrap();
    for (path, text) in files {
        fs::write(folder.join(path), text).unwrap();
        fs::set_permissions(folder.join(path), fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder.to_str().unwrap().to_owned()
}

#[test]
fn the_example_goes_from_the_folder_to_the_brief() {
    let home = Home::new();
    let folder = copied(&home);
    let folder = folder.to_str().unwrap();
    let listed = home.json(&["list", "--catalog", folder, "--format", "json"]);
    assert_eq!(listed["benchmarks"].as_array().unwrap().len(), 5);
    assert!(
        listed["benchmarks"][0]["catalogue"]
            .as_str()
            .unwrap()
            .starts_with("mine (")
    );
    let words = [
        "run",
        "--catalog",
        folder,
        "--trust",
        "--label",
        "mine",
        "--format",
        "json",
    ];
    let run = home.json(&[&words[..], &["--quick"]].concat());
    for row in run["results"].as_array().unwrap() {
        assert!(row["estimate"].is_number(), "{row}");
        assert!(flagged(row, "custom"), "{row}");
        assert!(!flagged(row, "invalid"), "{row}");
    }
    assert_eq!(run["results"].as_array().unwrap().len(), 5);
    let start_up = |id: &str| result(&run, id)["estimate"].as_f64().unwrap();
    assert!(start_up("mine/python") > start_up("mine/sh"), "{run}");
    assert_eq!(
        result(&run, "mine/checksum")["program"]["flags"],
        "-std=gnu11 -O2 -static"
    );
    assert!(traces(&home).is_empty());

    // from here on the folder is gone
    fs::remove_dir_all(folder).unwrap();
    let (code, shown, _) = home.run(&["show", "mine", "-vv"]);
    assert_eq!(code, 0);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("Custom benchmark, of the catalog mine ("),
        "{shown}"
    );
    let (code, compared, _) = home.run(&["compare", "mine", "mine", "-v"]);
    let custom = |line: &str| line.starts_with("mine/") && line.ends_with('c');
    assert!(code == 0 && compared.lines().any(custom), "{compared}");
    // what a row is made of stands in the run
    let over = "mine/python-over-sh";
    let history = home.json(&["history", over, "--format", "json"]);
    let points = history["series"][0]["points"].as_array().unwrap();
    assert_eq!(points.len(), 1, "{history}");
    assert_eq!(points[0]["estimate"], result(&run, over)["estimate"]);
    let (code, _, error) = home.run(&["brief", "mine", "--out", "b.html", "--out", "b.pdf"]);
    assert_eq!(code, 0, "{error}");
    let page = fs::read_to_string(home.path().join("b.html")).unwrap();
    for said in [
        "Custom benchmark, of the catalog mine (",
        "Other benchmarks",
        "Our archive does it for every block that it reads.",
        ">c</abbr>",
    ] {
        assert!(page.contains(said), "{said}");
    }
    assert!(
        fs::read(home.path().join("b.pdf"))
            .unwrap()
            .starts_with(b"%PDF")
    );
    for format in [
        "jsonl",
        "csv",
        "markdown",
        "gbench",
        "bmf",
        "gha",
        "openmetrics",
    ] {
        let (_, text, _) = home.run(&["export", "mine", "--format", format]);
        let marked = [
            "◊",
            "not ours",
            "ot of Gritstone",
            "not a benchmark of Gritstone",
            "Not a benchmark",
            "kind=\"foreign\"",
            "\"catalogue\":",
            "custom",
            "Custom",
        ];
        assert!(
            marked.iter().any(|mark| text.contains(mark)),
            "{format}: {text}"
        );
    }
    let (_, history, _) = home.run(&["history", "mine/checksum"]);
    let custom = |line: &str| line.contains("MB/s") && line.ends_with('c');
    assert!(history.lines().any(custom), "{history}");
}

#[test]
fn trust_is_asked_for_once_and_again_after_a_change() {
    let home = Home::new();
    let folder = evil(&home, TRUE, &[]);
    let measure = [&["run", "--catalog", &folder], &SHORT[..]].concat();
    let (code, _, error) = home.run(&measure);
    assert_eq!(code, 2);
    for said in [
        "is not Gritstone's",
        "evil/true  runs /bin/true",
        "evil.toml (",
        "--trust",
        "no terminal",
    ] {
        assert!(error.contains(said), "{said}: {error}");
    }
    let trusting = [&measure[..], &["--trust"]].concat();
    assert_eq!(home.run(&trusting).0, 0);
    assert_eq!(home.run(&measure).0, 0, "it is remembered");
    fs::write(Path::new(&folder).join("evil/notes"), "x").unwrap();
    let (code, _, error) = home.run(&measure);
    assert!(code == 2 && error.contains("has changed"), "{error}");
    // a file that tools leave is none of the catalog
    fs::remove_file(Path::new(&folder).join("evil/notes")).unwrap();
    fs::write(Path::new(&folder).join("evil/.notes"), "x").unwrap();
    assert_eq!(home.run(&measure).0, 0);
    // what is only looked at is not asked for
    fs::write(
        Path::new(&folder).join("evil.toml"),
        format!("{FAMILY}{}", TRUE.replace("short", "long")),
    )
    .unwrap();
    assert_eq!(home.run(&["list", "--catalog", &folder]).0, 0);
}

#[test]
fn on_a_terminal_it_asks() {
    for (answer, expected) in [("y\n", 0), ("n\n", 2)] {
        let home = Home::new();
        let folder = evil(&home, TRUE, &[]);
        let pty = nix::pty::openpty(None, None).unwrap();
        let mut command = home.command(common::binary());
        command
            .args(["run", "--catalog", &folder])
            .args(SHORT)
            .stdin(Stdio::from(pty.slave.try_clone().unwrap()))
            .stdout(Stdio::null())
            .stderr(Stdio::from(pty.slave));
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut terminal = fs::File::from(pty.master);
        let mut said = String::new();
        let mut bytes = [0; 4096];
        while !said.contains("[y/N]") {
            let count = terminal.read(&mut bytes).unwrap();
            said += &String::from_utf8_lossy(&bytes[..count]);
        }
        assert!(said.contains("evil/true  runs /bin/true"), "{said}");
        terminal.write_all(answer.as_bytes()).unwrap();
        // read on, or it would wait for us; the end of a terminal is an error
        while terminal.read(&mut bytes).is_ok_and(|count| count > 0) {}
        assert_eq!(child.wait().unwrap().code(), Some(expected));
    }
}

#[test]
fn a_run_goes_on_without_the_folder() {
    let home = Home::new();
    let folder = copied(&home);
    let folder = folder.to_str().unwrap();
    let words = [
        "run",
        "mine/checksum",
        "mine/words",
        "--catalog",
        folder,
        "--trust",
    ];
    // longer than any machine needs for what is waited for
    let arguments = [&words[..], &["--budget", "1h", "--precision", "0.01%"]].concat();
    let mut child = common::start(&home, &arguments, &[]);
    // killed in the middle, as if the power had gone
    common::eventually("launches are kept", || common::kept(&home) > 3);
    child.kill().unwrap();
    child.wait().unwrap();
    let before = common::kept(&home);
    fs::remove_dir_all(folder).unwrap();
    let mut resumed = common::start(&home, &["run", "--resume"], &[]);
    common::eventually("launches are added", || {
        common::kept(&home) > before || resumed.try_wait().unwrap().is_some()
    });
    let pid = nix::unistd::Pid::from_raw(resumed.id().try_into().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let output = resumed.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert!(common::kept(&home) > before, "{error}");
}

#[test]
fn a_skeleton_runs_as_it_is() {
    let home = Home::new();
    let (code, next, error) = home.run(&["new", "mine/sum"]);
    assert!(
        code == 0 && next.contains("gritstone run mine/sum --catalog mine"),
        "{next}{error}"
    );
    assert_eq!(home.run(&["new", "mine/other", "--catalog", "mine"]).0, 0);
    let words = [
        "run",
        "mine/*",
        "--catalog",
        "mine",
        "--trust",
        "--format",
        "json",
    ];
    let run = home.json(&[&words[..], &SHORT].concat());
    for id in ["mine/sum", "mine/other"] {
        let row = result(&run, id);
        assert!(row["estimate"].is_number(), "{row}");
        assert!(!flagged(row, "invalid"), "{row}");
    }
    for (name, said) in [
        ("mine/sum", "already"),
        ("byte/mine", "Gritstone's own"),
        ("mine", "FAMILY/NAME"),
        ("mine/a/b", "FAMILY/NAME"),
        ("Mine/x", "a-z"),
        ("../x", "a-z"),
    ] {
        let (code, _, error) = home.run(&["new", name]);
        assert!(code == 2 && error.contains(said), "{name}: {error}");
    }
    assert!(!home.path().join("byte").join("byte.toml").exists());
    let (code, audited, error) = home.run(&["audit", "mine/sum", "--catalog", "mine"]);
    assert!(code == 0, "{audited}{error}");
    assert!(
        audited.contains("◊ Not benchmarks of Gritstone"),
        "{audited}"
    );
}

#[test]
#[ignore = "measures: make test-full"]
fn compilers_and_trials_take_them_too() {
    let home = Home::new();
    let folder = copied(&home);
    let folder = folder.to_str().unwrap();
    let words = [
        "compilers",
        "gcc:-O0",
        "gcc:-O2",
        "--catalog",
        folder,
        "--trust",
        "--format",
        "json",
    ];
    let output = home.gritstone(&[&words[..], &["--budget", "30s"]].concat());
    let output = { output }.output().unwrap();
    let view: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = view["rows"].as_array().unwrap();
    assert!(
        rows.iter().any(|row| row["id"] == "mine/checksum"),
        "{rows:?}"
    );
    assert_eq!(view["sides"][0]["compiled"]["programs"], 1, "{view}");
    let words = [
        "ab",
        "--self",
        "mine/words",
        "--catalog",
        folder,
        "--budget",
        "3s",
        "--format",
        "json",
    ];
    let output = home.gritstone(&words).output().unwrap();
    let view: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(flagged(&view["rows"][0]["figures"][0], "custom"), "{view}");
}

#[test]
fn a_command_of_the_users_becomes_a_benchmark() {
    let home = Home::new();
    let command = "echo \"it's $((6 * 7))\" # NAME of a FAMILY, no COMMAND";
    let (code, out, err) = home.run(&["init", "mine/answer", "--command", command]);
    assert!(code == 0 && !out.contains(".c "), "{out}{err}");
    let (code, out, err) = home.run(&["init", "mine/second", "--command", "true"]);
    assert!(
        code == 0 && !home.path().join("mine/mine").exists(),
        "{out}{err}"
    );
    let measure = [
        "run",
        "--catalog",
        "mine",
        "--trust",
        "--budget",
        "3s",
        "--precision",
        "50%",
        "--format",
        "json",
    ];
    let run = home.json(&measure);
    let row = common::result(&run, "mine/answer");
    assert_eq!(row["title"], command);
    assert!(row["estimate"].is_number(), "{row}");
}
