//! Paging by the binary: what the document was about, within one run, and pages that go to swap.

use crate::common::{DISC, Home, PATIENT, alone, entries, flagged, list, needs_root, result};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

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

#[test]
#[ignore = "measures: make test-full"]
fn pages_of_no_file_go_to_a_swap_file_that_goes_with_the_run_as_root() {
    needs_root();
    let _turn = alone();
    let home = Home::new();
    let below = tempfile::tempdir_in(DISC).unwrap();
    let row = "vm/paging/random@anonymous";
    let dir = below.path().display().to_string();
    let run = home.json(&format!("run {row} --allow swap --dir {dir} {PATIENT}"));
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    assert!(!swaps.contains(&dir), "{swaps}");
    assert_eq!(entries(below.path()), Vec::<PathBuf>::new());
    assert!(!flagged(result(&run, row), "invalid"), "{run}");
}
