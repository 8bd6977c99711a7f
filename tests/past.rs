//! Runs of one machine over time, as a person looks back on them.

mod common;

use common::Home;

#[test]
fn a_history_grows_with_the_runs_and_a_gate_needs_five() {
    let home = Home::new();
    let measure = [
        "run",
        "byte/syscall",
        "byte/fcall-*",
        "--quick",
        "--budget",
        "8s",
        "--format",
        "json",
    ];
    let (code, _, error) = home.run(&["history", "byte/syscall"]);
    assert!(
        code == 2 && error.contains("no run in the store has byte/syscall"),
        "{error}"
    );
    home.json(&measure);
    home.json(&measure);
    for id in ["byte/syscall", "byte/fcall-overhead"] {
        let history = home.json(&["history", id, "--format", "json"]);
        assert_eq!(history["schema"], "gritstone/history/1");
        let points = history["series"][0]["points"].as_array().unwrap();
        assert_eq!(points.len(), 2, "{history}");
        assert!(
            points.iter().all(|point| point["estimate"].is_number()),
            "{history}"
        );
    }
    let drawing = home.path().join("history.svg");
    let (code, text, _) = home.run(&[
        "history",
        "byte/syscall",
        "--svg",
        drawing.to_str().unwrap(),
    ]);
    assert!(code == 0 && text.contains("No change is seen."), "{text}");
    assert!(
        std::fs::read_to_string(drawing)
            .unwrap()
            .starts_with("<svg")
    );

    let (code, text, error) = home.run(&["check"]);
    assert!(code == 4 && text.contains("5 are needed"), "{text}{error}");
    let (code, text, _) = home.run(&[
        "check",
        "last",
        "--against",
        "last~1",
        "--max-slowdown",
        "90%",
    ]);
    assert!([0, 4].contains(&code), "{text}");
    assert_eq!(
        home.run(&["check", "--against", "ref:vax-11-780-4.1bsd"]).0,
        2
    );
    assert_eq!(home.run(&["check", "--max-slowdown", "slow"]).0, 2);

    // a run that is not like them neither has them for a history nor stands in theirs; nor need a run be in the store
    let elsewhere = home.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    home.json(&[&measure[..], &["--dir", elsewhere.to_str().unwrap()]].concat());
    let (code, text, _) = home.run(&["check", "last"]);
    assert!(
        code == 4 && text.contains("0 earlier runs like it"),
        "{text}"
    );
    let (_, view, _) = home.run(&["show", "last~1", "--format", "json"]);
    let file = home.path().join("run.json");
    std::fs::write(&file, view).unwrap();
    for run in ["last~1", file.to_str().unwrap()] {
        let (code, text, _) = home.run(&["check", run]);
        assert!(
            code == 4 && text.contains("1 earlier run like it"),
            "{text}"
        );
    }
}
