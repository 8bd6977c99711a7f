//! Runs that go out and come back, as a person sends them.

use crate::common::{Home, SHORT};
use std::fs;

/// Standard output of a command that ends well.
fn ok(home: &Home, arguments: &[&str]) -> String {
    let (code, out, error) = home.run(arguments);
    assert_eq!(code, 0, "{error}");
    out
}

#[test]
fn a_run_goes_to_another_store_and_is_the_same_there() {
    let (here, there) = (Home::new(), Home::new());
    let run = [
        "run",
        "byte/syscall",
        "byte/object-size",
        "--format",
        "json",
    ];
    here.json(&[&run[..], &SHORT].concat());
    let bundle = here.path().join("run.jsonl");
    let path = bundle.to_str().unwrap();
    ok(&here, &["export", "last", "--out", path]);
    let id = ok(&there, &["import", path]);
    let (mine, yours) = (
        ["show", "last", "--format", "json"],
        ["show", id.trim(), "--format", "json"],
    );
    assert_eq!(here.json(&mine), there.json(&yours));
    assert_eq!(
        here.json(&mine),
        there.json(&["show", path, "--format", "json"])
    );
    assert_eq!(ok(&here, &["export"]), ok(&there, &["export"]));
    let (code, _, error) = there.run(&["import", path]);
    assert!(code == 2 && error.contains("already"), "{error}");

    // a cut one is refused whole, with its line
    let text = fs::read_to_string(&bundle).unwrap();
    let lines = text.lines().count();
    let cut = here.path().join("cut.jsonl");
    fs::write(&cut, text.rsplit_once("{\"end\"").unwrap().0).unwrap();
    let (code, _, error) = Home::new().run(&["import", cut.to_str().unwrap()]);
    assert_eq!(code, 2);
    let line = format!("line {}", lines - 1);
    assert!(
        error.contains(&line) && error.contains("cut off"),
        "{error}"
    );
    for format in ["csv", "markdown", "gbench", "bmf", "gha", "openmetrics"] {
        assert!(
            ok(&here, &["export", "--format", format]).contains("byte/syscall"),
            "{format}"
        );
    }
}

#[test]
fn what_other_programs_measured_can_be_looked_at() {
    let home = Home::new();
    let file = home.path().join("h.json");
    fs::write(
        &file,
        r#"{"results":[{"command":"sleep <1>","times":[1.01,1.0,1.02,1.0,1.03,1.01,1.0]}]}"#,
    )
    .unwrap();
    let path = file.to_str().unwrap();
    let shown = ok(&home, &["show", path]);
    assert!(
        shown.contains("hyperfine/sleep-1") && shown.contains("Measured by hyperfine"),
        "{shown}"
    );
    ok(&home, &["import", path, "--label", "theirs"]);
    assert!(ok(&home, &["show", "theirs"]).contains("by hyperfine"));
    assert_eq!(home.run(&["show", "none.json"]).0, 2);
}
