//! Paging: the effect described by the document, within one run, and pages written to swap.

use crate::common::{DISC, Home, SHORT, alone, entries, flagged, needs_root, note_data, result};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Costs per page in the remark on a result: major page faults, and pages in and out if they went to swap.
fn each_page(row: &Value) -> (f64, Option<[f64; 2]>) {
    let data = note_data(row, "paging");
    let swapped = data["swapped"].as_array().into_iter().flatten();
    let swapped: Vec<f64> = swapped.filter_map(Value::as_f64).collect();
    let faults = data["each"][0].as_f64().unwrap();
    (faults, swapped.try_into().ok())
}

#[test]
#[ignore = "measures: make test-full"]
fn announced_sequences_wait_less() {
    let home = Home::new();
    let rows = ["vm/paging/sequential-advised@file", "vm/paging/random@file"];
    let run = home.json(&format!("run {} {SHORT} --dir {DISC}", rows.join(" ")));
    let [advised, random] = rows.map(|id| result(&run, id));
    for row in [advised, random] {
        assert!(!flagged(row, "invalid"), "{row}");
    }
    // measured: 0.0001 and 0.7
    let [few, many] = [advised, random].map(|row| each_page(row).0);
    assert!(many > 10.0 * few, "{many} and {few}");
}

#[test]
#[ignore = "measures: make test-full"]
fn swap_file_ends_with_run_as_root() {
    needs_root();
    let _turn = alone();
    let home = Home::new();
    let below = tempfile::tempdir_in(DISC).unwrap();
    let rows = ["vm/paging/random", "vm/paging/gaussian-1"];
    let dir = below.path().display().to_string();
    let run = home.json(&format!("run {} --allow swap --dir {dir} {SHORT}", rows.join(" ")));
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    assert!(!swaps.contains(&dir), "{swaps}");
    assert_eq!(entries(below.path()), Vec::<PathBuf>::new());
    let [random, near] = rows.map(|id| result(&run, id));
    assert!(!flagged(random, "invalid"), "{run}");
    assert!(!flagged(near, "invalid"), "{run}");
    // two of three pages are not there, and one goes out for each that comes
    let (faults, swapped) = each_page(random);
    let [ins, outs] = swapped.unwrap();
    assert!(faults > 0.2 && ins >= 0.9 * faults && outs > 0.4, "{random}");
    // 144 pages fit
    let (faults, swapped) = each_page(near);
    assert!(faults < 0.05 && swapped.unwrap()[1] < 0.05, "{near}");
}
