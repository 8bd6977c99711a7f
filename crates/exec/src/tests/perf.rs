//! Counters of the runtime against a fake kernel, and against the real one with its own events.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Reported counters.
fn reported(kinds: &[&str]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("perf");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/planted/perf.c");
    let mut compile = Command::new("cc");
    compile.args(["-std=gnu11", "-O1", "-o"]).arg(&program);
    assert!(compile.arg(source).status().unwrap().success());
    let counters = |kind: &&str| {
        let output = Command::new(&program).arg(kind).output().unwrap();
        assert!(output.status.success(), "{kind}");
        let counters = String::from_utf8(output.stdout).unwrap();
        counters.trim_end().to_owned()
    };
    kinds.iter().map(counters).collect()
}

#[test]
fn permitted_counters_are_scaled() {
    let counters = reported(&["all", "user", "shared", "few", "none", "software"]);
    let all = |user: &str, unit: u64| {
        let [i, c, b, l, t, walks] = [1, 2, 3, 4, 5, 6].map(|n| n * unit);
        let walks = match cfg!(target_arch = "aarch64") {
            true => format!(" page_walks={walks}"),
            false => String::new(),
        };
        format!(
            "counters n=10 {user}instructions={i} {user}cycles={c} branch_misses={b} cache_misses={l} tlb_misses={t}{walks}"
        )
    };
    let few = "counters n=10 instructions=100 cycles=200 branch_misses=300";
    let lines =
        [all("", 100), all("user_", 100), all("", 400), few.to_owned(), "nothing".to_owned()];
    assert_eq!(counters[..5], lines);
    real(&counters[5]);
}

/// Counters of the real kernel: `nothing` if it refuses even its own events.
fn real(counters: &str) {
    if counters == "nothing" {
        return;
    }
    let words = counters.split(' ').skip(1).map(|word| word.split_once('=').unwrap());
    let counts: BTreeMap<&str, u64> =
        words.map(|(name, count)| (name, count.parse().unwrap())).collect();
    let faults = counts.get("instructions");
    let faults = faults.or(counts.get("user_instructions")).unwrap();
    // 150 pages within the region, 250 outside
    assert!((150..250).contains(faults), "{counters}");
    if counts.contains_key("instructions") {
        assert!(counts["branch_misses"] >= 5, "five sleeps: {counters}");
    }
}
