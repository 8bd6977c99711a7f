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
        let more_than_ascii = matches!(arguments[0], "show" | "compare");
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
    assert!(said.contains("§ byte/cc"), "{said:?}");
    assert_whole_sequences(&said);
}
