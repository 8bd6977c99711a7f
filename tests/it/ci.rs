//! The files for continuous integration: their shell code is executed, and the gate decides the status of a job.
//!
//! `scripts/check-ci` validates them for the two services, with schemas that are not here.

use crate::common::{self, Home, binary};
use std::path::Path;

const FILES: [(&str, &str); 2] = [
    ("github-actions.yml", include_str!("../../docs/ci/github-actions.yml")),
    ("gitlab-ci.yml", include_str!("../../docs/ci/gitlab-ci.yml")),
];

/// The blocks of shell in a file: what is indented below a line that ends in `|`.
fn blocks(text: &str) -> Vec<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.lines().peekable();
    let mut blocks = vec![];
    while let Some(head) = lines.next() {
        if !head.ends_with('|') {
            continue;
        }
        let mut block = String::new();
        while let Some(line) = lines.next_if(|line| indent(line) > indent(head)) {
            block += line;
            block.push('\n');
        }
        blocks.push(block);
    }
    blocks
}

/// State of a change: merged to the main branch, or not.
const MERGED: bool = true;

/// Executes the blocks in order, like a runner, in a private folder; returns the status of the first that fails.
fn carried_out(blocks: &[String], path: &Path, home: &Home, merged: bool) -> (i32, String) {
    let (event, branch) = match merged {
        true => ("push", "main"),
        false => ("pull_request", ""),
    };
    let runner = tempfile::tempdir().unwrap();
    let mut printed = String::new();
    for block in blocks {
        let ended = home
            .command("bash")
            .args(["-eo", "pipefail", "-c", block])
            .env("PATH", format!("{}:/usr/bin:/bin", path.display()))
            .env("BENCHMARKS", "byte/loop byte/siev*")
            .env("BUDGET", "2s")
            .env("SLOWDOWN", "2%")
            .env("INCONCLUSIVE", "fail")
            .env("GITHUB_SHA", "0123abcd")
            .env("CI_COMMIT_SHA", "0123abcd")
            .env("GITHUB_EVENT_NAME", event)
            .env("RUNNER_TEMP", runner.path())
            .env("CI_COMMIT_BRANCH", branch)
            .env("CI_DEFAULT_BRANCH", "main")
            .env("GITHUB_STEP_SUMMARY", home.path().join("summary"))
            .output()
            .unwrap();
        let (code, out, error) = common::output_texts(ended);
        printed = printed + &out + &error;
        if code != 0 {
            return (code, printed);
        }
    }
    (0, printed)
}

/// A folder with a `gritstone` that does this.
fn folder_with(script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    common::make_script(folder.path().join("gritstone"), script);
    folder
}

/// A folder with the real one.
fn folder() -> tempfile::TempDir {
    folder_with(&format!("exec {} \"$@\"", binary().display()))
}

#[test]
#[ignore = "measures: make test-full"]
fn ci_recipes_measure() {
    for (name, text) in FILES {
        let blocks = blocks(text);
        assert!(!blocks.is_empty(), "{name}");
        let path = folder();
        let home = Home::new();
        let (status, printed) = carried_out(&blocks, path.path(), &home, MERGED);
        assert_eq!(status, 4, "{name}: {printed}");
        assert!(printed.contains("inconclusive"), "{name}: {printed}");
        let bundle = std::fs::read_to_string(home.path().join("gritstone.jsonl")).unwrap();
        assert!(bundle.contains("byte/sieve") && bundle.contains("byte/loop"));
        assert!(bundle.contains("ci-0123abcd"));
        assert_eq!(home.run("show ci-0123abcd").0, 0, "it is in the history");
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn unmerged_changes_add_no_history() {
    for (name, text) in FILES {
        let path = folder();
        let home = Home::new();
        let recorded = common::fixture("run");
        assert_eq!(home.run(&["import", recorded.to_str().unwrap()]).0, 0);
        let before = home.run("systems --format json");
        let bytes = std::fs::read(home.store()).unwrap();
        let (_, printed) = carried_out(&blocks(text), path.path(), &home, !MERGED);
        assert!(printed.contains("inconclusive"), "{name}: {printed}");
        assert!(home.path().join("gritstone.jsonl").exists());
        assert_eq!(home.run("systems --format json"), before, "{name}");
        assert_eq!(std::fs::read(home.store()).unwrap(), bytes, "{name}");
    }
}

#[test]
fn jobs_exit_like_the_gate() {
    for (name, text) in FILES {
        for (command, status) in
            [("check", 0), ("check", 1), ("check", 2), ("check", 4), ("run", 3)]
        {
            let script = format!("[ \"$1\" != {command} ] || {{ echo table; exit {status}; }}");
            let folder = folder_with(&script);
            let (ended, printed) = carried_out(&blocks(text), folder.path(), &Home::new(), MERGED);
            assert_eq!(ended, status, "{name}: {printed}");
            let is_reported = status != 0 || printed.contains("table");
            assert!(is_reported, "{name}: {printed}");
        }
    }
}

#[test]
fn github_jobs_wait_and_annotate() {
    let (_, text) = FILES[0];
    // of a concurrency group GitHub cancels all waiting jobs but the newest
    let has_group = text.lines().any(|line| line.trim().starts_with("concurrency:"));
    assert!(!has_group && text.contains("run $BENCHMARKS --wait"));
    assert!(text.contains("check gritstone.jsonl --format github"));
}
