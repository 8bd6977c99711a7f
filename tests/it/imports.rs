//! `gritstone import` of other programs' output: each benchmark keeps its name, its values and its date.

use crate::common::server::Server;
use crate::common::{Home, flagged, list, messages, notes};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// An input of tests/fixtures/imports.
fn input(name: &str) -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/imports");
    fixtures.join(name)
}

/// A home with these imports, each labeled by its name without the extension.
fn home_with(names: &[&str]) -> Home {
    let home = Home::new();
    for name in names {
        let label = name.split('.').next().unwrap();
        home.ok(&["import", input(name).to_str().unwrap(), "--label", label]);
    }
    home
}

/// Title and estimate of each result.
fn estimates(run: &Value) -> Vec<(String, Option<f64>)> {
    let results = list(&run["results"]).iter();
    let pair = |result: &Value| {
        let title = result["title"].as_str().unwrap().to_owned();
        (title, result["estimate"].as_f64())
    };
    results.map(pair).collect()
}

fn near(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-5)
}

#[test]
fn labels_may_resemble_files() {
    let home = home_with(&["parameter-a.json", "long-a.json"]);
    home.ok(&["runs", "label", "parameter-a", "feature/x"]);
    home.ok(&["runs", "label", "long-a", "v1.json"]);
    for label in ["feature/x", "v1.json"] {
        assert_eq!(home.json(&["show", label])["label"], label);
    }
    home.refuses(&["show", "feature/y"], "feature/y");
}

#[test]
fn pages_have_imported_titles() {
    let home = home_with(&["parameter-a.json"]);
    let server = Server::start(&home);
    let title = "./a.out (cc=gcc)";
    let has_title = |path: &str| {
        let view = server.json(path);
        let benchmarks = list(&view["benchmarks"]).clone();
        benchmarks.iter().any(|one| one["title"] == title)
    };
    assert!(has_title("/benchmarks.json"));
    assert!(has_title("/search.json?q=cc%3Dgcc"));
}

#[test]
fn file_order_does_not_matter() {
    for (base, other) in [("long-a", "long-b"), ("parameter-a", "parameter-b")] {
        let home = home_with(&[&format!("{base}.json"), &format!("{other}.json")]);
        let comparison = home.json(&["compare", base, other]);
        let rows = list(&comparison["rows"]);
        assert_eq!(rows.len(), 2, "{comparison}");
        for row in rows {
            assert!(near(row["ratio"].as_f64(), 1.0), "{row}");
        }
    }
}

#[test]
fn titles_name_parameters() {
    let home = home_with(&["parameter-a.json"]);
    let titles: Vec<String> =
        estimates(&home.json("show parameter-a")).into_iter().map(|(title, _)| title).collect();
    assert_eq!(titles, ["./a.out (cc=gcc)", "./a.out (cc=clang)"]);
}

#[test]
fn different_names_are_never_compared() {
    let home = home_with(&["templates-a.json", "templates-b.json"]);
    let comparison = home.json("compare templates-a templates-b");
    for row in list(&comparison["rows"]) {
        match row["title"].as_str().unwrap() {
            "Sort<int*>" => {
                assert!(row["ratio"].is_null() && flagged(row, "not-comparable"), "{row}")
            }
            _ => assert!(near(row["ratio"].as_f64(), 1.0), "{row}"),
        }
    }
}

#[test]
fn rows_without_value_are_skipped() {
    for (name, with, value, without, why) in [
        ("zero-time.json", "sleep 0.1", 0.10035, ":", "0 s is not a positive number"),
        ("skipped.json", "Good", 100.35, "NeedsDevice", "no device"),
    ] {
        let home = Home::new();
        let label = ["--label", "it"];
        let path = input(name);
        let arguments = [&["import", path.to_str().unwrap()][..], &label].concat();
        let (code, _, error) = home.run(&arguments);
        assert_eq!(code, 0, "{error}");
        assert!(error.contains(without) && error.contains(why), "{error}");
        let run = home.json("show it");
        let found = estimates(&run);
        let estimate = |title: &str| found.iter().find(|(t, _)| t == title).unwrap().1;
        assert!(near(estimate(with), value), "{run}");
        assert_eq!(estimate(without), None);
        let result = list(&run["results"]).iter().find(|r| r["title"] == without);
        assert!(messages(result.unwrap()).contains(why), "{run}");
    }
}

#[test]
fn old_complexity_rows_are_skipped() {
    let home = home_with(&["old-complexity.json"]);
    let run = home.json("show old-complexity");
    let found = estimates(&run);
    assert_eq!(found.len(), 2, "{run}");
    for ((title, value), expected) in found.iter().zip([("Walk/8", 80.0), ("Walk/64", 640.0)]) {
        assert!(title == expected.0 && near(*value, expected.1), "{run}");
    }
    assert!(run["started"].as_str().unwrap().starts_with("2018-04-28T10:00:00"));
}

#[test]
fn unread_numbers_may_be_infinite() {
    let home = home_with(&["infinite-counter.json"]);
    let run = home.json("show infinite-counter");
    let results = list(&run["results"]);
    assert_eq!((results.len(), &results[0]["launches"]), (1, &Value::from(8)), "{run}");
    assert!(near(results[0]["estimate"].as_f64(), 100.35), "{run}");
}

#[test]
fn decimal_commas_are_read() {
    let home = home_with(&["unixbench-comma.txt"]);
    let run = home.json("show unixbench-comma");
    let values: Vec<Option<f64>> = estimates(&run).into_iter().map(|(_, value)| value).collect();
    assert_eq!(values.len(), 3);
    for (found, expected) in values.into_iter().zip([35_749_777.3, 2021.4, 5662.7]) {
        assert!(near(found, expected), "{run}");
    }
}

#[test]
fn damaged_lines_are_named() {
    let home = Home::new();
    let text = fs::read_to_string(input("unixbench.txt")).unwrap();
    for (from, to) in [("35749777.3", "35,749,777.3"), ("35749777.3", "x"), ("10.0 s,", "ten s,")] {
        fs::write(home.path().join("damaged.txt"), text.replace(from, to)).unwrap();
        home.refuses("import damaged.txt", "line 12: ");
    }
    let go = "BenchmarkA-2 100 12.5 ns/op\nBenchmarkB-2 100 12,5 ns/op\n";
    fs::write(home.path().join("go.txt"), go).unwrap();
    home.refuses("import go.txt", "line 2: ");
}

#[test]
fn ignored_failures_are_flagged() {
    let home = home_with(&["ignored-failure.json"]);
    let run = home.json("show ignored-failure");
    let result = &run["results"][0];
    assert!(near(result["estimate"].as_f64(), 0.10035), "{run}");
    assert!(flagged(result, "doubtful"), "{:?}", notes(result));
}

#[test]
fn dates_are_those_of_contents() {
    let home = home_with(&["unixbench.txt"]);
    let run = home.json("show unixbench");
    assert_eq!(run["started"], "2021-11-09T09:51:37Z");
}

#[test]
fn copies_are_imported_once() {
    for name in ["unixbench.txt", "long-a.json", "templates-a.json", "bom.json"] {
        let home = Home::new();
        let bytes = fs::read(input(name)).unwrap();
        let mut printed = vec![];
        for (copy, milliseconds) in [("one", 1), ("two", 2), ("three", 86_400_000)] {
            let path = home.path().join(copy);
            fs::write(&path, &bytes).unwrap();
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(milliseconds);
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(time).unwrap();
            printed.push(home.ok(&["import", copy]));
        }
        printed.dedup();
        assert_eq!(printed.len(), 1, "{name}");
        assert_eq!(list(&home.json("runs")["runs"]).len(), 1, "{name}");
    }
}

#[test]
fn known_files_stop_no_import() {
    let home = Home::new();
    let names = ["long-b.json", "long-a.json", "templates-a.json"];
    let paths = names.map(input);
    let paths = paths.each_ref().map(|path| path.to_str().unwrap());
    home.ok(&["import", paths[1]]);
    let words = [&["import"][..], &paths].concat();
    let (code, printed, error) = home.run(&words);
    assert_eq!((code, printed.lines().count()), (0, 3), "{error}");
    assert_eq!(error.matches("in the store already").count(), 1, "{error}");
    assert_eq!(list(&home.json("runs")["runs"]).len(), 3);
}

#[test]
fn dates_of_users_order_imports() {
    let home = Home::new();
    for (name, date) in
        [("long-a.json", "2024-03-02"), ("long-b.json", "2024-03-01T12:00:00+02:00")]
    {
        let path = input(name);
        home.ok(&["import", path.to_str().unwrap(), "--date", date, "--label", &name[..6]]);
    }
    assert_eq!(home.json("show long-a")["started"], "2024-03-02T00:00:00Z");
    let runs = home.json("runs");
    let labels: Vec<&str> =
        list(&runs["runs"]).iter().map(|run| run["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["long-a", "long-b"]);
    let bundle = crate::common::fixture("run");
    home.refuses(
        &["import", bundle.to_str().unwrap(), "--date", "2024-03-02"],
        "a bundle has its date",
    );
    home.refuses("import x --date tomorrow", "2026-11-20");
}

#[test]
fn encodings_of_text_are_read() {
    let plain = fs::read_to_string(input("long-a.json")).unwrap();
    let utf16 = |mark: &str, order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        let units = format!("{mark}{plain}");
        units.encode_utf16().flat_map(order).collect()
    };
    let inputs = [
        fs::read(input("bom.json")).unwrap(),
        utf16("\u{feff}", u16::to_le_bytes),
        utf16("\u{feff}", u16::to_be_bytes),
        utf16("", u16::to_le_bytes),
    ];
    for bytes in inputs {
        let home = Home::new();
        fs::write(home.path().join("it.json"), bytes).unwrap();
        home.ok("import it.json --label it");
        assert!(near(home.json("show it")["results"][0]["estimate"].as_f64(), 0.10035));
    }
    let bundle = fs::read_to_string(crate::common::fixture("run")).unwrap();
    let home = Home::new();
    fs::write(home.path().join("it.jsonl"), format!("\u{feff}{bundle}")).unwrap();
    home.ok("import it.jsonl");
}

#[test]
fn refusals_name_likely_formats() {
    let home = Home::new();
    let long = fs::read_to_string(input("long-a.json")).unwrap();
    for (text, why) in [
        ("", "an empty file"),
        ("hello\n", "text that begins with 'hello'"),
        ("command,mean,stddev,median\nx,1,2,3\n", "a table of 4 columns"),
        (r#"{"a": 1, "b": 2}"#, "JSON with a, b"),
        (r#"{"a": 1, "b": [2"#, "truncated"),
        (&long[..900], "truncated JSON of hyperfine"),
        ("<html></html>", "XML or HTML"),
        (r#"{"results": [{"command": "x", "mean": 1}]}"#, "x: results[0]: it has no single times"),
    ] {
        fs::write(home.path().join("it"), text).unwrap();
        let error = home.refuses("import it", why);
        assert!(!error.contains("not JSON of"), "{error}");
    }
    assert!(!home.store().exists());
    fs::write(home.path().join("it"), b"caf\xe9\x80").unwrap();
    home.refuses("import it", "byte 4 is not UTF-8");
    let path = input("aggregates-only.json");
    home.refuses(&["import", path.to_str().unwrap()], "--benchmark_report_aggregates_only");
    fs::create_dir(home.path().join("folder")).unwrap();
    home.refuses("import folder", "sample.json");
}

#[test]
fn imports_are_shown_without_advice() {
    let home = home_with(&["zero-time.json", "unixbench.txt"]);
    for name in ["zero-time", "unixbench"] {
        let text = home.ok(&["show", name]);
        assert!(text.contains("Warnings"), "{text}");
        assert!(!text.contains("doctor") && !text.contains("--budget"), "{text}");
    }
}

#[test]
fn similar_host_names_stay_apart() {
    let mut machines = vec![];
    for host in ["box A", "box-a"] {
        let path = input("long-a.json");
        let other = Home::new();
        other.ok(&["import", path.to_str().unwrap(), "--host", host, "--label", "it"]);
        machines.push(other.json("show it")["machine"]["id"].clone());
    }
    assert_ne!(machines[0], machines[1]);
}
