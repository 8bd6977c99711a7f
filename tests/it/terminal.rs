//! What a terminal gets: the same bytes whatever the locale, and a run that goes on after the terminal was stopped.

use crate::common::{self, Home, result};
use nix::pty::{OpenptyResult, openpty};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

/// Ctrl-S, and what undoes it.
const STOP: &[u8] = b"\x13";
const GO_ON: &[u8] = b"\x11";

#[test]
fn the_locale_changes_nothing() {
    let home = Home::new();
    let locales: [&[(&str, &str)]; 5] = [
        &[],
        &[("LANG", "C"), ("LC_ALL", "C")],
        &[("LC_ALL", "POSIX")],
        &[("LANG", "de_DE.ISO-8859-1"), ("LC_CTYPE", "nowhere")],
        &[("LANG", "en_US.UTF-8")],
    ];
    for arguments in [
        &["list"][..],
        &["show", "ref:vax-11-780-4.1bsd"],
        &["compare", "ref:vax-11-780-4.1bsd", "ref:vax-11-750-4.1bsd"],
        &["machines"],
        &["run", "--help"],
    ] {
        let said = locales.map(|locale| {
            let mut command = home.gritstone(arguments);
            command.envs(locale.iter().copied());
            let output = command.assert().success().get_output().clone();
            assert!(output.stderr.is_empty(), "{arguments:?} {locale:?}");
            String::from_utf8(output.stdout).unwrap()
        });
        assert!(said.iter().all(|text| *text == said[0]), "{arguments:?}");
        let more_than_ascii = arguments[0] == "compare";
        assert!(!more_than_ascii || !said[0].is_ascii(), "{arguments:?}");
    }
}

#[test]
fn what_is_measured_runs_under_a_locale_of_ours() {
    const ENTRY: &str = r#"
[family]
name = "place"
title = "Place"
why = "To see in which it runs."
[[benchmark]]
id = "place/locale"
kind = "command"
title = "Locale"
version = 1
operation = "One shell that says its locale."
why = "What is printed is compared."
sources = [{ document = "place", place = "here" }]
unit = "ms"
argv = ["/bin/sh", "-c", "echo $LANG $LC_ALL $LC_CTYPE"]
stdout = "C C"
"#;
    let home = Home::new();
    let folder = home.path().join("place");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("place.toml"), ENTRY).unwrap();
    let words = ["run", "--catalog", "place", "--trust", "--format", "json"];
    let words = [&words[..], &common::SHORT].concat();
    let mut command = home.gritstone(&words);
    command.env("LANG", "de_DE.UTF-8").env("LC_CTYPE", "tr_TR");
    let output = command.assert().success().get_output().clone();
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    // what it printed was right, or it would have no figure
    let row = result(&run, "place/locale");
    assert!(row["estimate"].is_number(), "{row}");
    assert_eq!(run["settings"]["environment"]["LC_ALL"], "C");
}

/// What a command prints in so many columns.
fn printed(home: &Home, width: usize, arguments: &[&str]) -> String {
    let mut command = home.gritstone(arguments);
    command.env("COLUMNS", width.to_string());
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    // a machine that is not ready, and a gate without a history
    let fine = [Some(0), Some(1), Some(4)].contains(&output.status.code());
    assert!(fine, "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_command_has_a_line_for_each_thing_and_few_others() {
    let home = Home::with(&["run"]);
    let run = home.json(&["show", "run", "--format", "json"]);
    let results = run["results"].as_array().unwrap();
    let of_byte = results
        .iter()
        .filter(|r| r["id"].as_str().unwrap().starts_with("byte/"));
    assert!(of_byte.count() > 15);
    let bounds: [(&[&str], usize); 12] = [
        (&["show", "run"], results.len() + 25),
        (&["show", "run", "byte"], 45),
        (&["show", "run", "byte/pipe"], 45),
        (&["compare", "ref:vax-11-780-4.1bsd", "run"], 19 + 25),
        (&["check", "run"], 12),
        (&["doctor"], 25),
        (&["list"], 25),
        (&["list", "byte"], 20),
        (&["systems"], 20),
        (&["runs"], 5),
        (&["info", "byte/pipe"], 40),
        (&[], 12),
    ];
    for width in [60, 80, 120] {
        for (arguments, most) in bounds {
            let text = printed(&home, width, arguments);
            let lines = text.lines().count();
            // prose wraps
            let most = if width < 80 { most + most / 2 } else { most };
            assert!(
                lines <= most,
                "{arguments:?} at {width}: {lines} lines\n{text}"
            );
            let wide = |line: &&str| line.chars().count() > width && !arguments.is_empty();
            assert_eq!(text.lines().find(wide), None, "{arguments:?} at {width}");
        }
    }
}

#[test]
fn a_result_is_one_line_with_its_whole_identifier() {
    let home = Home::with(&["run"]);
    let run = home.json(&["show", "run", "--format", "json"]);
    for width in [60, 80, 120] {
        let text = printed(&home, width, &["show", "run"]);
        for result in run["results"].as_array().unwrap() {
            let id = result["id"].as_str().unwrap();
            let lines = text
                .lines()
                .filter(|l| l.split_whitespace().next() == Some(id));
            assert_eq!(lines.count(), 1, "{id} at {width}: {text}");
        }
    }
    // more columns with -v, and everything with -vv
    let lines = |of: &[&str]| printed(&home, 200, of).lines().count();
    assert!(printed(&home, 200, &["show", "run", "-v"]).contains("launches"));
    assert!(lines(&["show", "run", "-vv"]) > lines(&["show", "run"]) + 20);
}

#[test]
fn selectors_work_as_typed() {
    let home = Home::with(&["run"]);
    for (arguments, has, has_not) in [
        (&["show", "run", "byte"][..], "byte/sieve", "iocall"),
        (&["show", "run", "byte/s*", "iocall"], "iocall", "byte/pipe"),
        (&["show", "run", "byte/pipe"], "distribution", "byte/sieve"),
        (&["list", "byte"], "byte/multi/6", "byte/multi/6@"),
        (
            &["compare", "run", "run", "byte/sieve"],
            "byte/sieve",
            "byte/pipe",
        ),
        (&["systems", "vax"], "ref:vax-11-780-4.1bsd", "sun"),
    ] {
        let text = printed(&home, 100, arguments);
        assert!(
            text.contains(has) && !text.contains(has_not),
            "{arguments:?}: {text}"
        );
    }
    let (code, _, error) = home.run(&["show", "run", "aim/float"]);
    assert!(code == 2 && !error.is_empty(), "{error}");
    // a name by any part of it, and never an import by `last`
    let id = home.json(&["show", "run", "--format", "json"])["id"].clone();
    let id = id.as_str().unwrap();
    let (_, hash) = id.rsplit_once('-').unwrap();
    assert_eq!(home.json(&["show", hash, "--format", "json"])["id"], id);
    let (code, _, error) = home.run(&["show"]);
    assert!(code == 2 && error.contains(id), "{error}");
}

#[test]
fn runs_are_labeled_and_removed() {
    let home = Home::with(&["run", "copies"]);
    let ids = || {
        let listed = home.json(&["runs", "--format", "json"]);
        let runs = listed["runs"].as_array().unwrap().clone();
        let id = |run: &Value| run["id"].as_str().unwrap().to_owned();
        runs.iter().map(id).collect::<Vec<_>>()
    };
    let run = ids()[0].clone();
    assert_eq!(home.run(&["runs", "label", &run, "baseline"]).0, 0);
    assert_eq!(
        home.json(&["show", "baseline", "--format", "json"])["id"],
        run
    );
    assert_eq!(
        home.json(&["show", "baseline", "--format", "json"])["label"],
        "baseline"
    );
    assert_eq!(
        home.run(&["runs", "label", &run, "last"]).0,
        2,
        "it means something else"
    );
    assert_eq!(home.run(&["runs", "remove", "baseline"]).0, 0);
    assert!(!ids().contains(&run) && ids().len() == 1);
    assert_eq!(home.run(&["show", &run]).0, 2);
    let (_, _, error) = home.run(&["doctor", "--format", "json"]);
    assert!(!error.contains("damaged"), "{error}");
}

#[test]
fn color_is_asked_for_or_refused() {
    let home = Home::with(&["run"]);
    let colored = |variables: &[(&str, &str)], more: &[&str]| {
        let mut command = home.gritstone(&[&["show", "run"], more].concat());
        command.envs(variables.iter().copied());
        let output = command.assert().success().get_output().clone();
        output.stdout.contains(&0x1b)
    };
    for (variables, more, expected) in [
        (&[][..], &[][..], false),
        (&[], &["--color", "always"], true),
        (&[("CLICOLOR_FORCE", "1")], &[], true),
        (&[("CLICOLOR_FORCE", "0")], &[], false),
        (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &[], false),
        (&[("NO_COLOR", "1")], &["--color=always"], true),
        (&[("CLICOLOR_FORCE", "1")], &["--color=never"], false),
    ] {
        assert_eq!(colored(variables, more), expected, "{variables:?} {more:?}");
    }
    let ascii = printed(&home, 80, &["show", "run", "--ascii", "-vv"]);
    assert!(ascii.is_ascii(), "{ascii}");
    // a variable that is empty is not set
    let mut command = home.gritstone(&["systems"]);
    command.env("GRITSTONE_STORE", "").assert().success();
}

/// A run whose standard error is a terminal; killed if the test fails.
struct OnTerminal(Child);

impl OnTerminal {
    /// Of a row that is measured and one that says why it is not: its remark must not be lost.
    fn start(home: &Home, terminal: OwnedFd) -> Self {
        let words = ["run", "byte/loop", "byte/cc", "--budget", "8s"];
        let child = home
            .command(common::binary())
            .args(words)
            .args(["--precision", "50%", "--format", "json"])
            .env("PATH", home.path())
            .env("TERM", "xterm")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::from(terminal))
            .spawn();
        Self(child.unwrap())
    }

    /// All is read from now on: what it said on the terminal, and that it ended well with a figure.
    fn ended(mut self, mut terminal: File) -> String {
        let rest = thread::spawn(move || {
            let mut said = vec![];
            // the end of a terminal is an error
            let _ = terminal.read_to_end(&mut said);
            String::from_utf8_lossy(&said).into_owned()
        });
        let mut out = String::new();
        let mut pipe = self.0.stdout.take().unwrap();
        pipe.read_to_string(&mut out).unwrap();
        assert!(self.0.wait().unwrap().success());
        let run: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(result(&run, "byte/loop")["outcome"], "measured");
        rest.join().unwrap()
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Every sequence for the terminal is whole.
fn assert_whole_sequences(said: &str) {
    for rest in said.split('\x1b').skip(1) {
        assert!(rest.starts_with("[2K"), "{rest:?} in {said:?}");
    }
}

/// A terminal that is stopped may hold up the run between two launches; nothing is lost by it.
#[test]
fn a_terminal_that_was_stopped_gets_every_remark() {
    let home = Home::new();
    let OpenptyResult { master, slave } = openpty(None, None).unwrap();
    let mut terminal = File::from(master);
    let run = OnTerminal::start(&home, slave);
    let mut said = String::new();
    let mut bytes = [0; 4096];
    while !said.contains("round 1 of") {
        let count = terminal.read(&mut bytes).unwrap();
        said += &String::from_utf8_lossy(&bytes[..count]);
    }
    terminal.write_all(STOP).unwrap();
    thread::sleep(Duration::from_secs(1));
    terminal.write_all(GO_ON).unwrap();
    said += &run.ended(terminal);
    assert!(said.contains("skipped: byte/cc: "), "{said:?}");
    assert_whole_sequences(&said);
}
