//! Paging by the binary: what the document was about, within one run, and that no control group and no swap file outlives a run.

use crate::common::{
    DISC, Home, PATIENT, end_at_once, entries, eventually, flagged, kept, list, needs_root,
    processes, result, start,
};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Major page faults a page, as the remark on a figure has them.
fn faults(row: &Value) -> f64 {
    let mut notes = list(&row["notes"]).iter();
    let paging = notes.find(|note| note["code"] == "paging");
    let each = paging.map(|note| &note["data"]["each"][0]);
    each.and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("no remark on faults: {row}"))
}

#[test]
#[ignore = "measures: make test-full"]
fn a_sequence_that_is_announced_waits_far_less_often_than_random_access() {
    let home = Home::new();
    let rows = ["vm/paging/sequential-advised", "vm/paging/random"];
    let run = home.json(&format!("run {} --budget 20s --dir {DISC}", rows.join(" ")));
    let [advised, random] = rows.map(|id| result(&run, id));
    for row in [advised, random] {
        assert!(!flagged(row, "invalid"), "{row}");
    }
    // measured: 0.0001 and 0.9
    let [few, many] = [faults(advised), faults(random)];
    assert!(many > 10.0 * few, "{many} and {few}");
    // held by a group or by themselves, but alike
    let held = |row| !flagged(row, "not-comparable");
    assert_eq!(held(advised), held(random));
}

/// The control groups of which the journals of this home speak.
fn groups(home: &Home) -> Vec<PathBuf> {
    let journals = home.journals().into_iter();
    let text: String = journals
        .filter_map(|journal| fs::read_to_string(journal).ok())
        .collect();
    text.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|entry| Some(PathBuf::from(entry["makes"]["group"].as_str()?)))
        .collect()
}

#[test]
#[ignore = "measures: make test-full"]
fn a_run_that_is_killed_leaves_no_control_group_after_the_next_start_as_root() {
    needs_root();
    let home = Home::new();
    let line = format!("run vm/paging/random --budget 60s --dir {DISC}");
    let mut child = start(&home, &line, &[]);
    eventually("the row is at work", || {
        kept(&home) > 0 || child.try_wait().is_ok_and(|ended| ended.is_some())
    });
    let made = groups(&home);
    let there = made.iter().filter(|group| group.exists()).count();
    end_at_once(&mut child);
    eventually("no process is left", || processes(&home) == 0);
    let run = home.json("show");
    let (_, _, error) = home.run("doctor");
    assert!(made.iter().all(|group| !group.exists()), "{made:?} {error}");
    assert!(groups(&home).is_empty(), "the journal is left: {error}");
    // the figure says where control groups cannot limit memory
    let stood_in = flagged(result(&run, "vm/paging/random"), "not-comparable");
    assert_eq!((there, stood_in), (1, false), "{made:?}");
}

/// The swap files of the machine that are of a run in this directory.
fn swap_files(dir: &Path) -> usize {
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    let dir = dir.display().to_string();
    swaps.lines().filter(|line| line.contains(&dir)).count()
}

#[test]
#[ignore = "measures: make test-full"]
fn pages_of_no_file_go_to_a_swap_file_that_goes_with_the_run_however_it_ends_as_root() {
    needs_root();
    let home = Home::new();
    let below = tempfile::tempdir_in(DISC).unwrap();
    let row = "vm/paging/random@anonymous";
    let line = format!("run {row} --allow swap --dir {}", below.path().display());
    let (code, out, error) = home.run(&format!("{line} --format json {PATIENT}"));
    let run: Value = serde_json::from_str(&out).unwrap();
    let row_of_it = result(&run, row);
    assert_eq!(swap_files(below.path()), 0);
    assert_eq!(entries(below.path()), Vec::<PathBuf>::new());
    assert_eq!(code, 0, "{error}");
    assert!(!flagged(row_of_it, "invalid"), "{row_of_it}");

    let mut child = start(&home, &format!("{line} --budget 60s"), &[]);
    eventually("there is swap", || swap_files(below.path()) == 1);
    end_at_once(&mut child);
    eventually("the watchdog takes it away", || {
        swap_files(below.path()) == 0
    });
    home.run("doctor");
    eventually("nothing is left", || entries(below.path()).is_empty());
}
