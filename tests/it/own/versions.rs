//! Two versions of programs of one's own, in turns. The slower one does several times the work; nothing is asked of how long that takes.

use super::copied_to;
use crate::common::{self, Home, flagged, result, traces};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const ENTRIES: &str = "mine.toml";
const CHECKSUM: &str = "mine/checksum.h";
const WORDS: &str = "mine/words.py";

/// The example in a folder of this name, in which the files that are named have one text in another's place.
fn version(home: &Home, name: &str, changes: &[(&str, &str, &str)]) -> String {
    let folder: PathBuf = home.path().join(name);
    let _ = fs::remove_dir_all(&folder);
    copied_to(&folder);
    for (file, old, new) in changes {
        change(&folder.join(file), old, new);
    }
    folder.to_str().unwrap().to_owned()
}

fn change(file: &Path, old: &str, new: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(old), "{text}");
    fs::write(file, text.replace(old, new)).unwrap();
}

/// A trial of two folders: exit code, standard output, standard error.
fn trial(home: &Home, [old, new]: [&str; 2], more: &[&str]) -> (i32, String, String) {
    let folders = ["ab", "--catalog", old, "--catalog-b", new];
    home.run(&[&folders, more].concat())
}

#[test]
#[ignore = "measures: make test-full"]
fn the_slower_of_two_versions_is_slower() {
    let home = Home::new();
    let old = version(&home, "old", &[]);
    let idle = "for (volatile size_t i = 0; i < 4 * count; i++)\n\t\t;\n\tuint32_t low";
    let slow = [
        (CHECKSUM, "uint32_t low", idle),
        (WORDS, "words[key]", "sum([words[key]] * 8) // 8"),
        // words, and what is claimed of how it is done, are no other work
        (ENTRIES, "Checksum of 4 KB", "Checksum of 4 KB, slowly"),
        (ENTRIES, "min_ns_per_op = 20", "min_ns_per_op = 30"),
    ];
    let new = version(&home, "new", &slow);
    let how = [
        "--trust", "--budget", "240s", "--label", "two", "--format", "json",
    ];
    let (code, out, error) = trial(&home, [&old, &new], &how);
    assert_eq!(code, 0, "{error}");
    let said: Value = serde_json::from_str(&out).unwrap();
    let sides = ["a", "b"].map(|side| {
        said["sides"]
            .as_array()
            .unwrap()
            .iter()
            .find(|s| s["side"] == side)
            .unwrap()
    });
    assert_eq!(
        sides.map(|side| side["what"].as_str().unwrap()),
        [&old, &new]
    );
    assert_eq!(said["same"], false);
    let rows: Vec<(&str, &str)> = said["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["id"].as_str().unwrap(),
                row["comparisons"][0]["verdict"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [("mine/checksum", "slower"), ("mine/words", "slower")],
        "{said}"
    );
    let left_out = "mine/sh, mine/python: It has no program of the catalog";
    assert!(error.contains(left_out), "{error}");
    let runs = ["two-a", "two-b"].map(|run| home.json(&["show", run, "--format", "json"]));
    let [a, b] = &runs;
    for id in ["mine/checksum", "mine/words"] {
        let [a, b] = [a, b].map(|run| result(run, id));
        assert_ne!(a["program"]["hash"], b["program"]["hash"]);
        for row in [a, b] {
            assert!(flagged(row, "custom") && !flagged(row, "invalid"), "{row}");
        }
    }
    assert_eq!(
        result(b, "mine/checksum")["title"],
        "Checksum of 4 KB, slowly"
    );
    let [a, b] = [a, b].map(|run| &run["settings"]["catalogue"]);
    assert_eq!([&a["name"], &b["name"]], ["old", "new"]);
    assert_ne!(a["hash"], b["hash"]);
    assert!(traces(&home).is_empty());
    // all of it is kept with the runs
    let (code, again, error) = home.run(&["ab", "--of", "two", "--format", "json"]);
    assert_eq!(
        (code, serde_json::from_str(&again).ok()),
        (0, Some(said)),
        "{error}"
    );
}

#[test]
fn what_has_no_ratio_is_refused_with_words() {
    let home = Home::new();
    let old = version(&home, "old", &[]);
    let refused = |code: i32, changes: &[(&str, &str, &str)], words: &str| {
        let new = version(&home, "new", changes);
        let said = trial(&home, [&old, &new], &["mine/checksum", "--trust"]);
        assert_eq!((said.0, said.1.as_str()), (code, ""), "{}", said.2);
        assert!(said.2.contains(words), "{words}: {}", said.2);
    };
    refused(2, &[], "the files of both catalogs are the same");
    let other_name = "id = \"mine/sum\"\nprogram = \"mine/checksum\"\n";
    let renamed = [(ENTRIES, "id = \"mine/checksum\"\n", other_name)];
    refused(3, &renamed, "has no such benchmark");
    let remarked = [(
        CHECKSUM,
        "static uint32_t",
        "/* The same. */\nstatic uint32_t",
    )];
    refused(
        3,
        &remarked,
        "mine/checksum: Its program is the same in both catalogs",
    );
    let broken = [(CHECKSUM, "return", "retrun")];
    refused(3, &broken, "The program mine/checksum does not compile");
    assert!(!home.store().exists(), "nothing was measured");
}

#[test]
fn both_versions_are_trusted_or_nothing_runs() {
    let home = Home::new();
    let old = version(&home, "old", &[]);
    let (code, _, error) = home.run(&["audit", "mine/sh", "--catalog", &old, "--trust"]);
    assert_eq!(code, 0, "{error}");
    let new = version(&home, "new", &[(WORDS, "Speaks", "It speaks")]);
    let (code, out, error) = trial(&home, [&old, &new], &["mine/words", "--budget", "9s"]);
    assert_eq!((code, out.as_str()), (2, ""), "{error}");
    for said in [
        "The catalog new (",
        "is not Gritstone's",
        "runs the file mine/words.py",
        "--trust",
    ] {
        assert!(error.contains(said), "{said}: {error}");
    }
    assert!(
        !error.contains("The catalog old ("),
        "it is trusted: {error}"
    );
    assert_eq!(common::kept(&home), 0);
}
