//! The files for continuous integration: the shell in them is carried out, and ends a job as the gate says.
//!
//! That they are what the two services take is tried by `scripts/check-ci`, which needs schemas that are not here.

use crate::common::{self, Home, binary};
use std::path::Path;

const FILES: [(&str, &str); 2] = [
    (
        "github-actions.yml",
        include_str!("../../docs/ci/github-actions.yml"),
    ),
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

/// What a service says of a change: merged to the main branch, or not yet.
const MERGED: bool = true;

/// Carries the blocks out one after the other, as a runner does, in a folder of their own; the status of the first that fails.
fn carried_out(blocks: &[String], path: &Path, home: &Home, merged: bool) -> (i32, String) {
    let (event, branch) = match merged {
        true => ("push", "main"),
        false => ("pull_request", ""),
    };
    let runner = tempfile::tempdir().unwrap();
    let mut said = String::new();
    for block in blocks {
        let ended = home
            .command("bash")
            .args(["-eo", "pipefail", "-c", block])
            .env("PATH", format!("{}:/usr/bin:/bin", path.display()))
            .env("ROWS", "byte/loop byte/siev*")
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
        said = said + &out + &error;
        if code != 0 {
            return (code, said);
        }
    }
    (0, said)
}

/// A folder with a `gritstone` that does this.
fn folder_with(script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("gritstone");
    common::make_program(&program, format!("#!/bin/sh\n{script}\n").as_bytes());
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
        let (status, said) = carried_out(&blocks, path.path(), &home, MERGED);
        assert_eq!(status, 4, "{name}: {said}");
        assert!(said.contains("inconclusive"), "{name}: {said}");
        let kept = std::fs::read_to_string(home.path().join("gritstone.jsonl")).unwrap();
        assert!(kept.contains("byte/sieve") && kept.contains("byte/loop"));
        assert!(kept.contains("ci-0123abcd"));
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
        let (_, said) = carried_out(&blocks(text), path.path(), &home, !MERGED);
        assert!(said.contains("inconclusive"), "{name}: {said}");
        assert!(home.path().join("gritstone.jsonl").exists());
        assert_eq!(home.run("systems --format json"), before, "{name}");
        assert_eq!(std::fs::read(home.store()).unwrap(), bytes, "{name}");
    }
}

#[test]
fn jobs_exit_like_the_gate() {
    for (name, text) in FILES {
        for (command, status) in [
            ("check", 0),
            ("check", 1),
            ("check", 2),
            ("check", 4),
            ("run", 3),
        ] {
            let script = format!("[ \"$1\" != {command} ] || {{ echo table; exit {status}; }}");
            let folder = folder_with(&script);
            let (ended, said) = carried_out(&blocks(text), folder.path(), &Home::new(), MERGED);
            assert_eq!(ended, status, "{name}: {said}");
            let told = status != 0 || said.contains("table");
            assert!(told, "{name}: {said}");
        }
    }
}
