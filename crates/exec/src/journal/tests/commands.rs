//! Commands that undo other commands.

use super::{Machine, TOLD};
use crate::journal::{By, Entry};
use crate::recover::Command;
use crate::resource::Thing;
use std::fs;

#[test]
fn a_command_undoes_what_commands_have_changed() {
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
    assert!(machine.journals().is_empty() && TOLD.take().is_empty());
}

#[test]
fn a_command_that_cannot_undo_is_told_and_tried_again() {
    let machine = Machine::new();
    let entry = Entry::Makes(Thing::Command(Command {
        command: "echo why >&2; test -e mended".to_owned(),
        directory: machine.0.path().to_owned(),
    }));
    let path = machine.left_behind(&[Entry::By(machine.by()), entry.clone()], "");
    let said = machine.recovered();
    assert!(said.contains("do it by hand") && path.exists(), "{said}");
    assert!(said.contains("why"), "{said}");
    fs::write(machine.0.path().join("mended"), "").unwrap();
    let said = machine.recovered();
    assert!(said.contains("restored: 1"), "{said}");
    assert!(!path.exists());
    // after a restart it may do harm, so it is only reported
    let by = By {
        boot: "another".to_owned(),
        ..machine.by()
    };
    fs::remove_file(machine.0.path().join("mended")).unwrap();
    let path = machine.left_behind(&[Entry::By(by), entry], "");
    let said = machine.recovered();
    assert!(said.contains("was restarted") && !path.exists(), "{said}");
}
