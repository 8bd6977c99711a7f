//! Directories, file systems and groups of a run: written down before they are made, and removed by whoever finds them.
//!
//! Must not know: the machine on which it runs.

use super::Machine;
use crate::journal::Entry;
use crate::{Places, recover};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn what_a_killed_run_made_of_a_file_system_goes_and_nothing_that_is_not_ours() {
    let machine = Machine::new();
    // killed before it was mounted; that what is mounted is taken down, the tests of the whole program show
    let own = machine.0.path().join(crate::places::fresh_name("volume"));
    let foreign = machine.0.path().join("foreign");
    for home in [&own, &foreign] {
        fs::create_dir_all(home.join("mounted")).unwrap();
        fs::write(home.join("image"), "zeros").unwrap();
    }
    let entries = |home: &Path| [Entry::By(machine.by()), Entry::Mounts(home.to_owned())];
    machine.left_behind(&entries(&own), "");
    assert!(recover(&machine.state()).is_empty());
    assert!(!own.exists() && machine.journals().is_empty());
    machine.left_behind(&entries(&foreign), "");
    let said = recover(&machine.state());
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("foreign") && said[0].contains("none that Gritstone gives"));
    assert!(foreign.join("image").exists() && !machine.journals().is_empty());
}

#[test]
fn directories_are_written_down_before_they_are_made() {
    let machine = Machine::new();
    let mut journal = machine.journal();
    let here = machine.0.path().to_path_buf();
    let places = Places::make(std::slice::from_ref(&here), &here, Some(&mut journal)).unwrap();
    let written = fs::read_to_string(&machine.journals()[0]).unwrap();
    let ours = |path: &Path| {
        path.file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with("gritstone.")
    };
    let made: Vec<PathBuf> = fs::read_dir(&here)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| ours(path))
        .collect();
    assert_eq!(made.len(), 2);
    for path in &made {
        assert!(written.contains(path.to_str().unwrap()), "{written}");
    }
    // should they be forgotten, the journal removes them
    std::mem::forget(places);
    drop(journal);
    assert!(made.iter().all(|path| !path.exists()));
}

#[test]
fn a_group_of_ours_is_removed_and_no_other() {
    let machine = Machine::new();
    let ours = machine.0.path().join(crate::places::fresh_name("group"));
    let foreign = machine.0.path().join("system.slice");
    fs::create_dir(&ours).unwrap();
    fs::create_dir(&foreign).unwrap();
    let mut entries = vec![
        Entry::By(machine.by()),
        Entry::Confines(machine.0.path().join(crate::places::fresh_name("group"))),
        Entry::Confines(ours.clone()),
    ];
    machine.left_behind(&entries, "");
    assert!(recover(&machine.state()).is_empty());
    assert!(!ours.exists() && machine.journals().is_empty());
    entries.push(Entry::Confines(foreign.clone()));
    let path = machine.left_behind(&entries, "");
    let said = machine.recovered();
    assert!(said.contains("system.slice") && foreign.exists(), "{said}");
    assert!(path.exists());
}
