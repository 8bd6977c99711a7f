//! Benchmarks beside a load: work of the users, a load that lives between launches and reports its rate, and the derived results.

use crate::common::workload::shipped;
use crate::common::{
    self, Home, SHORT, flagged, messages, needs_root, notes, processes, program, result, traces,
};
use gritstone_model::{Id, Work};
use gritstone_stats::score::{ScoredBenchmark, arithmetic};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Users without other load, for a number of seconds.
fn users(compiler: &Path, editor: &Path, seconds: u32) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(shipped("load/users", folder.path().join("users")))
        .arg(format!("cc={}", compiler.display()))
        .arg(format!("editor={}", editor.display()))
        .args(["users=2".to_owned(), format!("seconds={seconds}")])
        .current_dir(folder.path())
        .output()
        .unwrap()
}

#[test]
#[ignore = "measures: make test-full"]
fn development_works_with_any_editor() {
    let compiler = program(&["cc"]);
    for editor in ["vi", "ex", "ed"].map(|name| program(&[name])) {
        // beside another load they get nowhere for a while
        let developed = [3, 60].into_iter().any(|seconds| {
            let output = users(&compiler, &editor, seconds);
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {error}", editor.display());
            assert!(printed.contains("users=2 ") && printed.contains(" per_hour="), "{printed}");
            let transactions = printed
                .split(' ')
                .find_map(|word| word.strip_prefix("transactions=")?.parse::<u64>().ok());
            transactions.unwrap_or_else(|| panic!("{printed}")) > 0
        });
        assert!(developed, "{}", editor.display());
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn idle_compilers_fail_development() {
    let output = users(Path::new("/bin/true"), &program(&["ed"]), 10);
    assert_eq!(output.status.code(), Some(77));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("ended with status 0, but should have failed"), "{error}");
}

#[test]
fn missing_load_programs_name_packages() {
    let home = Home::new();
    let mut command = home.gritstone("run rt/user-latency@level-1 rt/user-latency@level-3");
    let (code, _, error) = common::ended(command.env("PATH", home.path()));
    assert_eq!(code, 3, "{error}");
    for text in ["one of cc, gcc", "apt-get install gcc nvi.", "apt-get install gcc nvi tar."] {
        assert!(error.contains(text), "{text}: {error}");
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn load_outlives_launches_as_root() {
    needs_root();
    let home = Home::new();
    let rows = ["rt/user-latency@level-1", "rt/user-latency@level-2", "rt/semaphore"];
    let run = home.json(&format!("run {} {SHORT}", rows.join(" ")));
    assert_eq!(processes(&home), 0);
    assert!(traces(&home).is_empty());
    let [one, two, none] = rows.map(|id| result(&run, id));
    let has_note = |row: &Value, text: &str| messages(row).contains(text);
    for row in [one, two] {
        assert!(has_note(row, "transactions of 16 users"), "{row}");
        assert!(!flagged(row, "invalid"), "{row}");
        let writes = has_note(row, "writes of 80 bytes");
        assert_eq!(writes, row["id"] == rows[1], "{row}");
    }
    let loaded = notes(none).iter().any(|note| note.code == "load");
    assert!(!loaded, "{none}");
}

fn summary() -> (Vec<Id>, Vec<f64>) {
    let all = gritstone_catalogue::all().unwrap().benchmarks;
    let entry = all.iter().find(|row| row.id.as_str() == "rt/summary").unwrap();
    let Work::Score { over, weights, .. } = entry.work.clone() else {
        panic!("{entry:?}");
    };
    assert_eq!(over.len(), 17);
    (over, weights)
}

#[test]
fn published_factors_give_published_summary() {
    let references = gritstone_references::all().unwrap();
    let (over, weights) = summary();
    for (machine, hundredths) in [("hp-9000-825s", 168.0), ("hp-9000-840s", 134.0)] {
        let rows: Vec<ScoredBenchmark> = over
            .iter()
            .zip(&weights)
            .map(|(id, &weight)| {
                let stem = id.as_str().split('@').next().unwrap();
                let name = format!("{stem}@to-a900");
                let wanted = |cell: &&gritstone_references::Cell| {
                    cell.machine == machine && cell.benchmark.as_str() == name
                };
                let cell = references.cells.iter().find(wanted).unwrap();
                ScoredBenchmark {
                    launches: vec![cell.value.as_ref().unwrap().value],
                    weights: vec![1.0],
                    reference: 1.0,
                    lower_is_better: true,
                    weight,
                    invalid: false,
                }
            })
            .collect();
        let mean = arithmetic(&rows, 0.95).unwrap().value;
        assert_eq!((mean * 100.0).round(), hundredths, "{machine}");
    }
}
