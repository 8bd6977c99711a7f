//! Commands that undo other commands.

use super::{Machine, REPORTED};
use crate::journal_file::{By, Entry};
use crate::thing::Thing;
use crate::undo_command::Command;
use std::fs;

#[test]
fn undo_commands_run_at_the_end() {
    let machine = Machine::new();
    let here = machine.0.path();
    let journal = machine.journal();
    let settings = journal.steadies().unwrap();
    settings.undo_by("echo undone > setting", here).unwrap();
    let written = machine.written();
    assert!(written.contains("echo undone > setting"), "{written}");
    assert!(!here.join("setting").exists(), "not before the end");
    drop(journal);
    let now = fs::read_to_string(here.join("setting")).unwrap();
    assert_eq!(now, "undone\n");
    assert!(machine.journals().is_empty() && REPORTED.take().is_empty());
}

#[test]
fn failed_undo_commands_are_retried() {
    let machine = Machine::new();
    let entry = Entry::Makes(Thing::Command(Command {
        command: "echo why >&2; test -e mended".to_owned(),
        directory: machine.0.path().to_owned(),
    }));
    let path = machine.left_behind(&[Entry::By(machine.by()), entry.clone()], "");
    let messages = machine.recovered();
    assert!(
        messages.contains("do it by hand") && path.exists(),
        "{messages}"
    );
    assert!(messages.contains("why"), "{messages}");
    fs::write(machine.0.path().join("mended"), "").unwrap();
    let messages = machine.recovered();
    assert!(messages.contains("restored: 1"), "{messages}");
    assert!(!path.exists());
    // after a restart it may do harm, so it is only reported
    let by = By {
        boot: "another".to_owned(),
        ..machine.by()
    };
    fs::remove_file(machine.0.path().join("mended")).unwrap();
    let path = machine.left_behind(&[Entry::By(by), entry], "");
    let messages = machine.recovered();
    assert!(
        messages.contains("was restarted") && !path.exists(),
        "{messages}"
    );
}
