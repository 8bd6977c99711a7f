//! Commands that undo other commands.

use super::{Machine, REPORTED};
use crate::any_resource::AnyResource;
use crate::journal_file::{Entry, Owner};
use crate::recover;
use crate::recover::undo_dead_run;
use crate::undo_command::{Command, ShellError, shell};
use nix::sys::signal::{SigSet, Signal};
use std::fs;
use std::process::Stdio;

#[test]
fn undo_commands_run_last() {
    let machine = Machine::new();
    let here = machine.0.path();
    let journal = machine.journal();
    let settings = journal.lock_settings().unwrap();
    let undo = settings.undo_by("echo undone > setting", here).unwrap();
    assert!(!machine.written().contains("undone"), "nothing is changed");
    undo.change(|_| {
        let written = machine.written();
        assert!(written.contains("echo undone > setting"), "{written}");
        Ok(fs::write(here.join("setting"), "changed")?)
    })
    .unwrap();
    drop(journal);
    let now = fs::read_to_string(here.join("setting")).unwrap();
    assert_eq!(now, "undone\n");
    assert!(machine.journals().is_empty() && REPORTED.take().is_empty());
}

/// As in the watchdog, which blocks what would end it.
#[test]
fn undo_commands_get_signals() {
    let mut blocked = SigSet::empty();
    for signal in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM] {
        blocked.add(signal);
    }
    blocked.thread_block().unwrap();
    let machine = Machine::new();
    // some shells clear the mask of what they fork
    let report = "exec grep SigBlk: /proc/self/status > mask";
    let ended = shell(report, machine.0.path(), Stdio::null());
    blocked.thread_unblock().unwrap();
    ended.unwrap();
    let mask = fs::read_to_string(machine.0.path().join("mask")).unwrap();
    let mask = mask.split_whitespace().nth(1).unwrap();
    assert_eq!(u64::from_str_radix(mask, 16), Ok(0));
}

#[test]
fn failed_changes_are_not_undone() {
    let machine = Machine::new();
    let (here, journal) = (machine.0.path(), machine.journal());
    let settings = journal.lock_settings().unwrap();
    let undo = settings.undo_by("echo >> undone", here).unwrap();
    let fails = |_| Err(ShellError::from(std::io::Error::other("it failed")));
    for _ in 0..2 {
        assert!(undo.change(fails).is_err());
    }
    drop(journal);
    assert!(!here.join("undone").exists() && machine.journals().is_empty());
    // one that was made before is
    let journal = machine.journal();
    let undo = journal.lock_settings().unwrap().undo_by("echo >> undone", here).unwrap();
    undo.change(|_| Ok(())).unwrap();
    assert!(undo.change(fails).is_err());
    drop(journal);
    assert_eq!(fs::read_to_string(here.join("undone")).unwrap(), "\n");
    assert!(machine.journals().is_empty());
}

#[test]
fn killed_changes_are_undone() {
    for (command, undone) in [("kill -INT $$", 1), ("exit 130", 1), ("exit 3", 0)] {
        let machine = Machine::new();
        let (here, journal) = (machine.0.path(), machine.journal());
        let undo = journal.lock_settings().unwrap().undo_by("echo >> undone", here).unwrap();
        assert!(undo.change(|stdin| shell(command, here, stdin)).is_err());
        drop(journal);
        let lines = fs::read_to_string(here.join("undone")).unwrap_or_default().len();
        assert_eq!(lines, undone, "{command}");
    }
}

const FAILING: &str = "echo why >&2; echo >> tried; exit 3";

fn failing(machine: &Machine) -> Entry {
    Entry::Makes(AnyResource::Command(Command {
        command: FAILING.to_owned(),
        directory: machine.0.path().to_owned(),
    }))
}

/// How often [`FAILING`] was executed.
fn tried(machine: &Machine) -> usize {
    fs::read_to_string(machine.0.path().join("tried")).map_or(0, |text| text.len())
}

#[test]
fn failed_undo_commands_run_once() {
    let machine = Machine::new();
    let journal = machine.journal();
    let settings = journal.lock_settings().unwrap();
    let undo = settings.undo_by(FAILING, machine.0.path()).unwrap();
    undo.change(|_| Ok(())).unwrap();
    drop(journal);
    let output = REPORTED.take().join("\n");
    assert!(output.contains("do it by hand") && output.contains("why"));
    assert!(recover(&machine.state()).is_empty());
    assert_eq!((tried(&machine), machine.journals().len()), (1, 0));

    let path = machine.left_behind(&[Entry::Owner(machine.owner()), failing(&machine)], "");
    let messages = machine.recovered();
    assert!(messages.contains("do it by hand"), "{messages}");
    assert!(recover(&machine.state()).is_empty());
    assert_eq!((tried(&machine), path.exists()), (2, false));
}

#[test]
fn watchdog_failures_repeat_once() {
    let machine = Machine::new();
    let path = machine.left_behind(&[Entry::Owner(machine.owner()), failing(&machine)], "");
    let file = fs::OpenOptions::new().read(true).append(true).open(&path);
    let name = path.file_name().unwrap();
    let messages = undo_dead_run(&machine.state(), name, &file.unwrap()).unwrap();
    assert!(messages.join("").contains("why") && path.exists());
    let messages = machine.recovered();
    assert!(messages.contains("do it by hand"), "{messages}");
    assert!(recover(&machine.state()).is_empty());
    assert_eq!((tried(&machine), path.exists()), (1, false));
}

#[test]
fn restarts_execute_no_undo_command() {
    let machine = Machine::new();
    let owner = Owner { boot: "another".to_owned(), ..machine.owner() };
    let path = machine.left_behind(&[Entry::Owner(owner), failing(&machine)], "");
    let messages = machine.recovered();
    assert!(messages.contains("was restarted") && !path.exists(), "{messages}");
    assert_eq!(tried(&machine), 0);
}
