//! Two versions of programs of one's own, in turns. The slower one does several times the work; nothing is asked of how long that takes.

use super::copied_to;
use crate::common::{self, Home, flagged, list, result, traces};
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
fn trial(home: &Home, [old, new]: [&str; 2], more: &str) -> (i32, String, String) {
    home.run(&format!("ab --catalog {old} --catalog-b {new} {more}"))
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
    let how = "--trust --budget 240s --label two --format json";
    let (code, out, error) = trial(&home, [&old, &new], how);
    assert_eq!(code, 0, "{error}");
    let said: Value = serde_json::from_str(&out).unwrap();
    for (side, folder) in [("a", &old), ("b", &new)] {
        let mut sides = list(&said["sides"]).iter();
        let side = sides.find(|known| known["side"] == side).unwrap();
        assert_eq!(side["what"], **folder);
    }
    assert_eq!(said["same"], false);
    let rows = list(&said["rows"]).iter();
    let rows = rows.map(|row| [&row["id"], &row["comparisons"][0]["verdict"]]);
    let slower = ["mine/checksum", "mine/words"].map(|id| [id, "slower"]);
    assert!(rows.eq(slower), "{said}");
    let left_out = "mine/sh, mine/python: It has no program of the catalog";
    assert!(error.contains(left_out), "{error}");
    let runs = ["two-a", "two-b"].map(|run| home.json(&["show", run]));
    let [a, b] = &runs;
    for id in ["mine/checksum", "mine/words"] {
        let [a, b] = [a, b].map(|run| result(run, id));
        assert_ne!(a["program"]["hash"], b["program"]["hash"]);
        for row in [a, b] {
            assert!(flagged(row, "custom") && !flagged(row, "invalid"), "{row}");
        }
    }
    let title = &result(b, "mine/checksum")["title"];
    assert_eq!(title, "Checksum of 4 KB, slowly");
    let [a, b] = [a, b].map(|run| &run["settings"]["catalogue"]);
    assert_eq!([&a["name"], &b["name"]], ["old", "new"]);
    assert_ne!(a["hash"], b["hash"]);
    assert!(traces(&home).is_empty());
    // all of it is kept with the runs
    assert_eq!(home.json("ab --of two"), said);
}

#[test]
#[ignore = "measures: make test-full"]
fn what_has_no_ratio_is_refused_with_words() {
    let home = Home::new();
    let old = version(&home, "old", &[]);
    let refused = |code: i32, changes: &[(&str, &str, &str)], words: &str| {
        let new = version(&home, "new", changes);
        let said = trial(&home, [&old, &new], "mine/checksum --trust");
        assert_eq!((said.0, said.1.as_str()), (code, ""), "{}", said.2);
        assert!(said.2.contains(words), "{words}: {}", said.2);
    };
    refused(2, &[], "the files of both catalogs are the same");
    let other_name = "id = \"mine/sum\"\nprogram = \"mine/checksum\"\n";
    let renamed = [(ENTRIES, "id = \"mine/checksum\"\n", other_name)];
    let none = "has no such benchmark";
    refused(3, &renamed, none);
    let remark = "/* The same. */\nstatic uint32_t";
    let same = "mine/checksum: Its program is the same in both catalogs";
    refused(3, &[(CHECKSUM, "static uint32_t", remark)], same);
    let broken = [(CHECKSUM, "return", "retrun")];
    refused(3, &broken, "The program mine/checksum does not compile");
    assert!(!home.store().exists(), "nothing was measured");
}

#[test]
fn both_versions_are_trusted_or_nothing_runs() {
    let home = Home::new();
    let old = version(&home, "old", &[]);
    home.ok(&["audit", "mine/sh", "--catalog", &old, "--trust"]);
    let new = version(&home, "new", &[(WORDS, "Speaks", "It speaks")]);
    let (code, out, error) = trial(&home, [&old, &new], "mine/words --budget 9s");
    assert_eq!((code, out.as_str()), (2, ""), "{error}");
    for said in [
        "The catalog new (",
        "is not Gritstone's",
        "runs the file mine/words.py",
        "--trust",
    ] {
        assert!(error.contains(said), "{said}: {error}");
    }
    // the other is trusted
    assert!(!error.contains("The catalog old ("), "{error}");
    assert_eq!(common::kept(&home), 0);
}
