//! Traces: recorded before they are made, and removed after.

use super::{Machine, REPORTED};
use crate::any_resource::AnyResource;
use crate::journal_file::Entry;
use crate::resource::Unavailable;
use crate::tracefs::{Instance, Trace};
use std::mem::ManuallyDrop;

#[test]
fn traces_are_recorded_and_removed() {
    let machine = Machine::new();
    let journal = machine.journal();
    let instance = match Instance::acquire(&journal) {
        Ok(instance) => instance,
        // without root there is none
        Err(why) => {
            assert!(matches!(why, Unavailable::NeedsRoot), "{why}");
            return;
        }
    };
    let path = instance.path().to_owned();
    assert!(path.join("tracing_on").exists(), "{}", path.display());
    let written = machine.written();
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(written.contains(name), "{written}");
    // the journal removes a forgotten one; the descriptor stays open here
    let instance = ManuallyDrop::new(instance);
    drop(journal);
    assert!(!instance.path().exists());
    assert!(machine.journals().is_empty() && REPORTED.take().is_empty());
}

#[test]
fn foreign_traces_are_left_alone() {
    let machine = Machine::new();
    for name in ["osnoise", "../gritstone"] {
        let makes = Entry::Makes(AnyResource::Trace(Trace(name.to_owned())));
        let path = machine.left_behind(&[Entry::Owner(machine.owner()), makes], "");
        let messages = machine.recovered();
        assert!(messages.contains(name) && !path.exists(), "{messages}");
    }
}
