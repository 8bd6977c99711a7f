//! Runs that go out and come back, as a person sends them.

use crate::common::{Home, fixture};
use std::fs;

/// Standard output of a command that ends well.
fn ok(home: &Home, arguments: &[&str]) -> String {
    let (code, out, error) = home.run(arguments);
    assert_eq!(code, 0, "{error}");
    out
}

#[test]
fn a_run_goes_to_another_store_and_is_the_same_there() {
    let home = Home::with(&["run"]);
    let bundle = fixture("run");
    let path = bundle.to_str().unwrap();
    let text = fs::read_to_string(&bundle).unwrap();
    assert!(ok(&home, &["export", "run"]) == text, "byte for byte");
    assert_eq!(
        home.json(&["show", "run", "--format", "json"]),
        home.json(&["show", path, "--format", "json"])
    );
    let (code, _, error) = home.run(&["import", path]);
    assert!(code == 2 && error.contains("already"), "{error}");

    // a cut one is refused whole, with its line
    let lines = text.lines().count();
    let cut = home.path().join("cut.jsonl");
    fs::write(&cut, text.rsplit_once("{\"end\"").unwrap().0).unwrap();
    let (code, _, error) = Home::new().run(&["import", cut.to_str().unwrap()]);
    assert_eq!(code, 2);
    let line = format!("line {}", lines - 1);
    assert!(
        error.contains(&line) && error.contains("cut off"),
        "{error}"
    );
    for format in ["csv", "markdown", "gbench", "bmf", "gha", "openmetrics"] {
        let out = home.path().join(format);
        ok(
            &home,
            &[
                "export",
                "run",
                "--format",
                format,
                "--out",
                out.to_str().unwrap(),
            ],
        );
        let text = fs::read_to_string(out).unwrap();
        assert!(text.contains("byte/syscall"), "{format}");
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
    assert!(ok(&home, &["show", path]).contains("hyperfine/sleep-1"));
    ok(&home, &["import", path, "--label", "theirs"]);
    assert!(ok(&home, &["show", "theirs"]).contains("hyperfine/sleep-1"));
    assert_eq!(home.run(&["show", "none.json"]).0, 2);
}
