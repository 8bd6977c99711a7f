//! Output on a terminal: the same bytes in any locale, and a run that continues after the terminal was stopped.

use crate::common::{self, Home, Killed, ended, list, result};
use nix::pty::{OpenptyResult, openpty};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Ctrl-S, and Ctrl-Q.
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
    let compare = "compare ref:vax-11-780-4.1bsd ref:vax-11-750-4.1bsd";
    for arguments in ["list", "show ref:vax-11-780-4.1bsd", compare, "systems", "run --help"] {
        let output = locales.map(|locale| {
            let mut command = home.gritstone(arguments);
            command.envs(locale.iter().copied());
            let (code, out, error) = ended(&mut command);
            assert_eq!((code, &*error), (0, ""), "{arguments} {locale:?}");
            out
        });
        assert!(output.iter().all(|text| *text == output[0]), "{arguments}");
        assert!(arguments != compare || !output[0].is_ascii(), "{arguments}");
    }
}

#[test]
fn programs_run_under_locale_c() {
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
    let line = format!("run --catalog place --trust --format json {}", common::SHORT);
    let mut command = home.gritstone(&line);
    command.env("LANG", "de_DE.UTF-8").env("LC_CTYPE", "tr_TR");
    let (_, out, error) = ended(&mut command);
    let run: Value = serde_json::from_str(&out).expect(&error);
    // what it printed was right, or it would have no figure
    let row = result(&run, "place/locale");
    assert!(row["estimate"].is_number(), "{row}");
    assert_eq!(run["settings"]["environment"]["LC_ALL"], "C");
}

/// Output of a command at a terminal width.
fn printed(home: &Home, width: usize, line: &str) -> String {
    let mut command = home.gritstone(line);
    let (code, out, error) = ended(command.env("COLUMNS", width.to_string()));
    // a machine that is not ready, and a gate without a history
    assert!([0, 1, 4].contains(&code), "{line}: {error}");
    out
}

#[test]
fn commands_print_one_line_each() {
    let home = Home::with(&["run"]);
    let run = home.json("show run");
    let results = list(&run["results"]);
    let is_of_byte = |r: &&Value| r["id"].as_str().unwrap().starts_with("byte/");
    assert!(results.iter().filter(is_of_byte).count() > 15);
    let bounds = [
        ("show run", results.len() + 25),
        ("show run byte", 45),
        ("show run byte/pipe", 45),
        ("compare ref:vax-11-780-4.1bsd run", 19 + 25),
        ("check run", 12),
        ("doctor", 25),
        ("list", 35),
        ("list byte", 20),
        ("systems", 20),
        ("runs", 5),
        ("info byte/pipe", 40),
        ("", 12),
    ];
    for width in [60, 80, 120] {
        for (arguments, max) in bounds {
            let text = printed(&home, width, arguments);
            let lines = text.lines().count();
            // prose wraps
            let max = if width < 80 { max + max / 2 } else { max };
            assert!(lines <= max, "{arguments:?} at {width}: {lines}\n{text}");
            let wide = |line: &&str| line.chars().count() > width && !arguments.is_empty();
            assert_eq!(text.lines().find(wide), None, "{arguments:?} at {width}");
        }
    }
}

#[test]
fn results_are_one_line() {
    let home = Home::with(&["run"]);
    let run = home.json("show run");
    for width in [80, 120] {
        let text = printed(&home, width, "show run");
        let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
        let firsts: Vec<String> = text.lines().filter_map(first).collect();
        for result in list(&run["results"]) {
            let id = &result["id"];
            let lines = firsts.iter().filter(|first| *id == ***first);
            assert_eq!(lines.count(), 1, "{id} at {width}: {text}");
        }
    }
    // where there is no room for both, a unit stays and an identifier is shortened
    let narrow = printed(&home, 60, "show run");
    assert!(narrow.contains("cpu/share-of-pea…100-dp-reference      6.3  %"), "{narrow}");
    // more columns with -v, and everything with -vv
    let lines = |arguments: &str| printed(&home, 200, arguments).lines().count();
    assert!(printed(&home, 200, "show run -v").contains("launches"));
    assert!(lines("show run -vv") > lines("show run") + 20);
}

#[test]
fn selectors_work_as_typed() {
    let home = Home::with(&["run"]);
    for (arguments, has, has_not) in [
        ("show run byte", "byte/sieve", "iocall"),
        ("show run byte/s* iocall", "iocall", "byte/pipe"),
        ("show run byte/pipe", "distribution", "byte/sieve"),
        ("list byte", "byte/multi/6", "byte/multi/6@"),
        ("compare ref:amd-epyc-kvm-2026 run byte/sieve", "byte/sieve", "byte/pipe"),
        ("systems vax", "ref:vax-11-780-4.1bsd", "sun"),
    ] {
        let text = printed(&home, 100, arguments);
        assert!(text.contains(has), "{arguments}: {text}");
        assert!(!text.contains(has_not), "{arguments}: {text}");
    }
    home.refuses("show run aim/float", "aim/float");
    // a name by any part of it, and never an import by `last`
    let id = home.json("show run")["id"].clone();
    let id = id.as_str().unwrap();
    let (_, hash) = id.rsplit_once('-').unwrap();
    assert_eq!(home.json(&["show", hash])["id"], id);
    home.refuses("show", id);
}

#[test]
fn runs_are_labeled_and_removed() {
    let home = Home::with(&["run", "copies"]);
    let ids = || {
        let listed = home.json("runs");
        let id = |run: &Value| run["id"].as_str().unwrap().to_owned();
        list(&listed["runs"]).iter().map(id).collect::<Vec<_>>()
    };
    let run = ids()[0].clone();
    home.ok(&["runs", "label", &run, "baseline"]);
    let labeled = home.json("show baseline");
    assert_eq!([&labeled["id"], &labeled["label"]], [&*run, "baseline"]);
    // it means something else
    home.refuses(&["runs", "label", &run, "last"], "last");
    home.ok("runs remove baseline");
    assert!(!ids().contains(&run) && ids().len() == 1);
    home.refuses(&["show", &run], &run);
    let (_, _, error) = home.run("doctor --format json");
    assert!(!error.contains("damaged"), "{error}");
}

#[test]
fn color_follows_option_and_environment() {
    let home = Home::with(&["run"]);
    for (variables, more, expected) in [
        (&[][..], "", false),
        (&[], "--color always", true),
        (&[("CLICOLOR_FORCE", "1")], "", true),
        (&[("CLICOLOR_FORCE", "0")], "", false),
        (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], "", false),
        (&[("NO_COLOR", "1")], "--color=always", true),
        (&[("CLICOLOR_FORCE", "1")], "--color=never", false),
    ] {
        let mut command = home.gritstone(&format!("show run {more}"));
        let (_, out, _) = ended(command.envs(variables.iter().copied()));
        let colored = out.contains('\x1b');
        assert_eq!(colored, expected, "{variables:?} {more}");
    }
    let ascii = printed(&home, 80, "show run --ascii -vv");
    assert!(ascii.is_ascii(), "{ascii}");
    // a variable that is empty is not set
    let mut command = home.gritstone("systems");
    command.env("GRITSTONE_STORE", "").assert().success();
}

/// A run whose standard error is a terminal.
struct OnTerminal(Killed);

impl OnTerminal {
    /// A run with one measured and one skipped benchmark, whose remark must not be lost.
    fn start(home: &Home, terminal: OwnedFd) -> Self {
        let line = "run byte/loop byte/cc --budget 8s --precision 50% --format json";
        let mut command = home.command(common::binary());
        command.args(line.split(' ')).env("PATH", home.path());
        Self::spawn(command, terminal)
    }

    fn spawn(mut command: Command, terminal: OwnedFd) -> Self {
        let child = command
            .env("TERM", "xterm")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::from(terminal))
            .spawn();
        Self(Killed(child.unwrap()))
    }

    /// Reads everything from now on; returns the text on the terminal, and checks that the run succeeded with a result.
    fn ended(self, terminal: File) -> String {
        let (out, text) = self.output(terminal);
        let run: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(result(&run, "byte/loop")["outcome"], "measured");
        text
    }

    /// Standard output, and the text on the terminal.
    fn output(mut self, mut terminal: File) -> (String, String) {
        let rest = thread::spawn(move || {
            let mut output = vec![];
            // the end of a terminal is an error
            let _ = terminal.read_to_end(&mut output);
            String::from_utf8_lossy(&output).into_owned()
        });
        let mut out = String::new();
        let mut pipe = self.0.0.stdout.take().unwrap();
        pipe.read_to_string(&mut out).unwrap();
        assert!(self.0.0.wait().unwrap().success());
        (out, rest.join().unwrap())
    }
}

/// Every escape sequence is complete.
fn assert_whole_sequences(output: &str) {
    for rest in output.split('\x1b').skip(1) {
        assert!(rest.starts_with("[2K"), "{rest:?} in {output:?}");
    }
}

/// A stopped terminal may block the run between two launches; no launch is lost.
#[test]
fn stopped_terminals_get_every_warning() {
    let home = Home::new();
    let OpenptyResult { master, slave } = openpty(None, None).unwrap();
    let mut terminal = File::from(master);
    let run = OnTerminal::start(&home, slave);
    let mut output = String::new();
    let mut bytes = [0; 4096];
    while !output.contains("round 1 of") {
        let count = terminal.read(&mut bytes).unwrap();
        output += &String::from_utf8_lossy(&bytes[..count]);
    }
    terminal.write_all(STOP).unwrap();
    thread::sleep(Duration::from_secs(1));
    terminal.write_all(GO_ON).unwrap();
    output += &run.ended(terminal);
    assert!(output.contains("skipped: byte/cc: "), "{output:?}");
    // the table of a short run is soon there
    assert!(!output.contains(" ns/"), "{output:?}");
    assert_whole_sequences(&output);
}

#[test]
fn bench_erases_its_progress() {
    let home = Home::new();
    let OpenptyResult { master, slave } = openpty(None, None).unwrap();
    let mut command = home.command(common::binary());
    command.args(["bench", "-w2", "-r60", "sleep 0.01"]);
    let (out, text) = OnTerminal::spawn(command, slave).output(master.into());
    assert_eq!(out.matches("sleep 0.01").count(), 1, "{out}");
    let lines: Vec<&str> = text.split("\r\u{1b}[2K").collect();
    let (left, drawn) = lines.split_last().unwrap();
    assert_eq!(*left, "", "{text:?}");
    // other lines warn of what else is measuring
    let progress = drawn.iter().filter(|line| !line.contains('\n'));
    let named = progress.filter(|line| line.contains(": sleep 0.01"));
    assert!(named.count() > 2, "{text:?}");
    assert!(!text.contains("95% CI") && !text.contains(" ms"), "{text:?}");
}
