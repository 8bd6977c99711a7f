//! The counters of the runtime before a made-up kernel, and the way through the real one with its own events.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// What a workload would say of its counters.
fn said(kinds: &[&str]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("perf");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/planted/perf.c");
    let mut compile = Command::new("cc");
    compile
        .args(["-std=gnu11", "-O1", "-o"])
        .arg(&program)
        .arg(source);
    assert!(compile.status().unwrap().success());
    let said = |kind: &&str| {
        let output = Command::new(&program).arg(kind).output().unwrap();
        assert!(output.status.success(), "{kind}");
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    };
    kinds.iter().map(said).collect()
}

#[test]
fn what_the_kernel_permits_is_counted_and_scaled() {
    let said = said(&["all", "user", "shared", "few", "none", "software"]);
    let walks = |count: u64| match cfg!(target_arch = "aarch64") {
        true => format!(" page_walks={count}"),
        false => String::new(),
    };
    let lines = [
        format!(
            "counters n=10 instructions=100 cycles=200 branch_misses=300 cache_misses=400 tlb_misses=500{}",
            walks(600)
        ),
        format!(
            "counters n=10 user_instructions=100 user_cycles=200 branch_misses=300 cache_misses=400 tlb_misses=500{}",
            walks(600)
        ),
        format!(
            "counters n=10 instructions=400 cycles=800 branch_misses=1200 cache_misses=1600 tlb_misses=2000{}",
            walks(2400)
        ),
        "counters n=10 instructions=100 cycles=200 branch_misses=300".to_owned(),
        "nothing".to_owned(),
    ];
    assert_eq!(said[..5], lines);
    real(&said[5]);
}

/// What the real kernel counted: `nothing` where it refuses even its own events.
fn real(said: &str) {
    if said == "nothing" {
        return;
    }
    let words = said
        .split(' ')
        .skip(1)
        .map(|word| word.split_once('=').unwrap());
    let counts: BTreeMap<&str, u64> = words
        .map(|(name, count)| (name, count.parse().unwrap()))
        .collect();
    let faults = counts
        .get("instructions")
        .or(counts.get("user_instructions"));
    assert!(
        (150..250).contains(faults.unwrap()),
        "150 pages within, 250 outside: {said}"
    );
    if counts.contains_key("instructions") {
        assert!(counts["branch_misses"] >= 5, "five sleeps: {said}");
    }
}
