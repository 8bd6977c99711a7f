//! Runs in unusual environments: ignored signals, a standard error that cannot be written, a vanishing terminal, folders with odd names.

use crate::common::{
    Home, binary, end, end_at_once, ended, eventually, make_script, output_texts, result,
    stored_launches, succeeds, traces,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// The binary behind a shell that does something first; `"$@"` is the binary with its arguments.
fn behind(home: &Home, script: &str, line: &str) -> Command {
    let mut command = home.command("/bin/sh");
    command
        .args(["-c", script, "sh"])
        .arg(binary())
        .args(line.split(' '))
        .args(["--dir", home.path().to_str().unwrap()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn started(home: &Home, script: &str, line: &str) -> Child {
    behind(home, script, line).spawn().unwrap()
}

/// Sends a signal during a launch, and waits for the end of the run.
fn at_work(home: &Home, mut child: Child, signal: Signal) -> Output {
    let mut ended = false;
    eventually("a launch is kept", || {
        ended = child.try_wait().unwrap().is_some();
        ended || stored_launches(home) > 0
    });
    // the output of one that has ended says why
    if !ended {
        end(&child, signal);
    }
    child.wait_with_output().unwrap()
}

/// Ten launches, or the fewer that a busy machine has done by then.
const LOOP: &str = "run byte/loop --quick --precision 50%";
/// A run that only its budget ends.
const LONG_LOOP: &str = "run byte/loop --budget 20s --precision 0.01%";

#[test]
#[ignore = "measures: make test-full"]
fn ignored_signals_stay_ignored() {
    for (name, signal) in [("HUP", Signal::SIGHUP), ("INT", Signal::SIGINT)] {
        let home = Home::new();
        let script = format!("trap '' {name}; exec \"$@\"");
        let output = at_work(&home, started(&home, &script, LOOP), signal);
        assert_eq!(output.status.code(), Some(0), "{name}: {output:?}");
        // and are heard when they are not
        let home = Home::new();
        let child = started(&home, "exec \"$@\"", LONG_LOOP);
        let output = at_work(&home, child, signal);
        assert_eq!(output.status.code(), Some(130), "{name}: {output:?}");
        assert!(traces(&home).is_empty());
    }
}

/// A Ctrl-Z for longer than the budget, as a shell sends it: the budget goes on, and no measurement is lost.
#[test]
#[ignore = "measures: make test-full"]
fn stopped_runs_end_in_order() {
    let home = Home::new();
    let line = "run byte/loop --precision 0.01% --budget 2s --format json";
    let mut command = behind(&home, "exec \"$@\"", line);
    // a group of its own, whose parent could let it go on: others are not stopped
    let child = command.process_group(0).spawn().unwrap();
    let pid = Pid::from_raw(child.id().cast_signed());
    eventually("a launch is kept", || stored_launches(&home) > 0);
    kill(pid, Signal::SIGTSTP).unwrap();
    let stat = format!("/proc/{pid}/stat");
    eventually("it is stopped", || fs::read_to_string(&stat).unwrap().contains(") T "));
    let launches = stored_launches(&home);
    std::thread::sleep(Duration::from_secs(7));
    assert_eq!(stored_launches(&home), launches);
    kill(pid, Signal::SIGCONT).unwrap();
    let (code, out, error) = output_texts(child.wait_with_output().unwrap());
    assert_eq!(code, 0, "{error}");
    let run: Value = serde_json::from_str(&out).unwrap();
    assert!(run["elapsed_s"].as_f64().unwrap() > 7.0, "{out}");
    let row = result(&run, "byte/loop");
    assert_eq!(row["outcome"], "measured", "{row}");
    // one may have been in progress
    let after = row["launches"].as_u64().unwrap() as usize - launches;
    assert!(after <= 1, "{row}");
}

#[test]
fn ignored_sigchld_is_reset() {
    let home = Home::new();
    let mut command = behind(&home, "trap '' CHLD; exec \"$@\"", LOOP);
    let (code, _, error) = output_texts(command.output().unwrap());
    assert_eq!(code, 0, "{error}");
}

#[test]
fn unwritable_warnings_lose_no_result() {
    let home = Home::new();
    let json = format!("{LOOP} --format json");
    let mut command = behind(&home, "exec \"$@\" 2>/dev/full", &json);
    let (code, out, _) = output_texts(command.output().unwrap());
    assert_eq!(code, 0);
    let run: Value = serde_json::from_str(&out).unwrap();
    assert!(result(&run, "byte/loop")["estimate"].is_number());
}

#[test]
fn unwritable_help_is_an_error() {
    let home = Home::new();
    for line in ["--version", "help", "help run", "man -h"] {
        let mut command = home.command(binary());
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command.args(line.split(' ')).stdout(full).output().unwrap();
        let (code, _, error) = output_texts(output);
        let is_named = error.contains("cannot write to standard output");
        assert!(code != 0 && is_named, "{line}: {code}: {error}");
    }
}

#[test]
fn closed_stderr_loses_no_result() {
    let home = Home::new();
    let mut child = started(&home, "exec \"$@\"", LOOP);
    // the head of the run is read, and then no more
    let mut head = [0];
    std::io::Read::read_exact(child.stderr.as_mut().unwrap(), &mut head).unwrap();
    drop(child.stderr.take());
    let (code, out, _) = output_texts(child.wait_with_output().unwrap());
    assert!(code == 0 && out.contains("byte/loop"), "{code}: {out}");
    assert!(traces(&home).is_empty());
}

#[test]
fn directories_may_have_any_name() {
    let home = Home::new();
    let odd = home.path().join("two words, ä '\"$x");
    fs::create_dir(&odd).unwrap();
    // one that is no text cannot be kept in the journal: another is taken
    let unwritable = home.path().join(OsStr::from_bytes(b"\xff"));
    fs::create_dir(&unwritable).unwrap();
    let line = "run byte/syscall byte/disk-read --quick --reference --format json --dir .";
    let mut command = home.gritstone(line);
    command.current_dir(&odd).env("TMPDIR", &odd);
    let (code, out, error) = ended(command.env("XDG_RUNTIME_DIR", &unwritable));
    assert_eq!(code, 0, "{error}");
    let run: Value = serde_json::from_str(&out).unwrap();
    for id in ["byte/syscall", "byte/disk-read"] {
        let process = &result(&run, id)["published"]["process_s"];
        assert!(process.is_number(), "{out}");
    }
    let dir = run["settings"]["dir"].as_str().unwrap();
    assert!(dir.starts_with('/'), "{dir}");
    for folder in [odd, unwritable] {
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
    }
}

#[test]
fn runs_without_launches_resume() {
    let home = Home::new();
    let (bin, go) = (home.path().join("bin"), home.path().join("go"));
    fs::create_dir(&bin).unwrap();
    let script = format!(
        "[ $1 = --version ] || [ -e '{}' ] || exec sleep 60\nPATH=${{PATH#*:}} exec cc \"$@\"",
        go.display()
    );
    make_script(bin.join("cc"), &script);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut run = behind(&home, "exec \"$@\"", "run byte/cc --budget 3s");
    let mut child = run.env("PATH", &path).spawn().unwrap();
    eventually("it begins", || home.json("runs")["runs"][0].is_object());
    end_at_once(&mut child);

    fs::write(&go, "").unwrap();
    let mut resume = home.gritstone("run --resume --format json");
    let (code, out, error) = ended(resume.env("PATH", &path));
    assert_eq!(code, 0, "{error}");
    let run: Value = serde_json::from_str(&out).unwrap();
    assert!(result(&run, "byte/cc")["estimate"].is_number(), "{out}");
}

/// In terminals of their own, as script(1) makes them.
#[test]
fn dumb_terminals_get_no_bold() {
    let home = Home::new();
    let shown = |variable: &str, value: &str| {
        let command = format!("{} show ref:vax-11-780-4.1bsd", binary().display());
        let mut script = home.command("script");
        script.args(["-qec", &command, "/dev/null"]).env("TERM", "xterm").env(variable, value);
        succeeds(script.stdin(Stdio::null()))
    };
    assert!(shown("TERM", "xterm").contains('\u{1b}'));
    for (variable, value) in [("TERM", "dumb"), ("NO_COLOR", "1")] {
        assert!(!shown(variable, value).contains('\u{1b}'), "{variable}");
    }
}
