//! `gritstone ab` as a person uses it. How often its verdicts are right is tried elsewhere, with made-up times: here sides differ
//! by factors, or nothing is said of the verdict.

use crate::common::{self, Home, entries, eventually, kept, processes, start, traces, words};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;

/// A trial as JSON, with its exit code.
fn trial(home: &Home, arguments: &[&str]) -> (i32, Value) {
    let all = [&["ab", "--format", "json"], arguments].concat();
    let (code, out, err) = home.run(&all);
    let value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{code} {out} {err}"));
    (code, value)
}

/// Exit code and standard error of what is no trial.
fn refused(home: &Home, arguments: &[&str]) -> (i32, String) {
    let (code, out, err) = home.run(&[&["ab"], arguments].concat());
    assert_eq!(out, "", "{err}");
    (code, err)
}

#[test]
fn a_slow_command_is_slower_and_its_launches_are_kept() {
    let home = Home::new();
    let (code, said) = trial(
        &home,
        &words("--budget 60s --label nap -- sleep 0.01 -- sleep 0.2"),
    );
    assert_eq!(code, 0, "{said}");
    assert_eq!(said["schema"], "gritstone/ab/3");
    let comparison = &said["rows"][0]["comparisons"][0];
    assert_eq!(comparison["verdict"], "slower", "{said}");
    assert_eq!(
        (&comparison["base"], &comparison["other"]),
        (&"a".into(), &"b".into())
    );
    assert!(comparison["interval"][1].as_f64().unwrap() < 0.7, "{said}");
    let made = ["pairs", "left_out"].map(|key| comparison[key].as_u64().unwrap());
    let made = Some(made[0] + made[1]);
    for figure in said["rows"][0]["figures"].as_array().unwrap() {
        assert!(figure["peak_kb"].as_u64().unwrap() > 100, "{figure}");
        assert!(figure["cpu_s"].as_f64().unwrap() > 0.0, "{figure}");
        // a launch beside which another thread of the core was busy is kept, and is not in the figure
        assert!(figure["launches"].as_u64() <= made, "{figure}");
    }
    for side in ["nap-a", "nap-b"] {
        let (code, bundle, error) = home.run(&["export", side, "--format", "jsonl"]);
        assert_eq!(code, 0, "{error}");
        let own = r#"{"launch":{"id":"command","#;
        let kept = bundle.lines().filter(|line| line.starts_with(own)).count() as u64;
        assert_eq!(Some(kept), made, "{side}");
    }
    assert!(said["start_up_ns"].as_f64().unwrap() > 10_000.0);
    // its sides are runs like others, and the trial can be shown again
    let run = home.json(&["show", "nap-b", "--format", "json"]);
    let row = common::result(&run, "command");
    assert_eq!(row["title"], "sleep 0.2");
    assert_eq!(run["settings"]["trial"]["what"], "sleep 0.2");
    assert!(
        run["settings"]["environment"]
            .as_object()
            .unwrap()
            .is_empty(),
        "it is the user's"
    );
    let (again_code, again) = trial(&home, &["--of", "nap"]);
    assert_eq!((again_code, &again), (code, &said));
    let (_, text, _) = home.run(&["ab", "--of", "nap"]);
    assert!(text.contains("b is slower than a: "), "{text}");
    let (_, text, _) = home.run(&["compare", "nap-a", "nap-b"]);
    assert!(text.contains("side of an A/B test"), "{text}");
    // what sets a side apart is in nothing that runs are told apart by
    let (code, _, error) = home.run(&["history", "command"]);
    assert!(code == 2 && error.contains("have no history"), "{error}");
    let (code, _, error) = home.run(&["check", "nap-b"]);
    assert!(
        code == 2 && error.contains("side b of an A/B test"),
        "{error}"
    );
    assert!(traces(&home).is_empty() && processes(&home) == 0);
}

#[test]
fn a_command_that_fails_is_a_failure() {
    let home = Home::new();
    let (code, err) = refused(
        &home,
        &["--", "true", "--", "sh", "-c", "echo because >&2; exit 3"],
    );
    assert_eq!(code, 3, "{err}");
    assert!(
        err.contains("side b") && err.contains("status 3; it said: because; --ignore-failure"),
        "{err}"
    );
    let (code, said) = trial(
        &home,
        &[
            "--budget",
            "1s",
            "--ignore-failure",
            "--",
            "sh",
            "-c",
            "exit 3",
        ],
    );
    assert_eq!(code, 0);
    assert_eq!(
        said["rows"][0]["figures"][0]["statuses"],
        serde_json::json!([3])
    );
    let (code, err) = refused(&home, &["--", "./missing", "--", "true"]);
    assert!(
        code == 3 && err.contains("./missing cannot be started"),
        "{code} {err}"
    );
    assert!(
        !home.run(&["run", "--resume"]).2.contains("command"),
        "a trial is not resumed"
    );
}

#[test]
fn it_stands_in_the_users_directory_and_environment() {
    let home = Home::new();
    let script = "echo $WHO-$GRITSTONE_TEST >> who";
    let all = [
        "ab",
        "--budget",
        "1s",
        "--env-a",
        "WHO=a",
        "--env-b",
        "WHO=b",
        "--prepare",
        "echo p >> order",
        "--",
        "sh",
        "-c",
        script,
    ];
    let output = home
        .gritstone(&all)
        .env("GRITSTONE_TEST", "x")
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(0 | 4)), "{err}");
    let who = fs::read_to_string(home.path().join("who")).unwrap();
    let count = |line| who.lines().filter(|l| *l == line).count();
    assert!(count("a-x") > 0 && count("b-x") > 0, "{who}");
    assert_eq!(count("a-x") + count("b-x"), who.lines().count());
    let prepared = fs::read_to_string(home.path().join("order")).unwrap();
    assert_eq!(prepared.lines().count(), who.lines().count());
}

#[test]
#[ignore = "measures: make test-full"]
fn rows_of_two_compilers() {
    let home = Home::new();
    let (code, said) = trial(
        &home,
        &[
            "--budget",
            "20s",
            "--cc",
            "cc -O0",
            "--cc",
            "cc -O2",
            "byte/loop",
        ],
    );
    assert!(code == 0 || code == 4, "{said}");
    assert_eq!(said["sides"][0]["what"], "cc -O0");
    let names = ["a", "b"].map(|side| {
        let label = format!("ab-{}-{side}", said["trial"].as_str().unwrap());
        let run = home.json(&["show", &label, "--format", "json"]);
        common::result(&run, "byte/loop")["program"]["flags"]
            .as_str()
            .unwrap()
            .to_owned()
    });
    assert!(
        names[0].contains("-O0") && names[1].contains("-O2"),
        "{names:?}"
    );
    let (code, err) = refused(
        &home,
        &["--cc", "cc -O0", "--cc", "no-such-cc", "byte/loop"],
    );
    assert!(code == 2 && err.contains("no-such-cc"), "{err}");
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_write() {
    let home = Home::new();
    for (arguments, word) in [
        (&[][..], "gritstone ab -- ./old -- ./new"),
        (&["byte/loop"], "--cc"),
        (&["byte/lopp", "--self"], "did you mean 'byte/loop'"),
        (
            &["byte/object-size", "--self"],
            "none of these benchmarks has a time",
        ),
        (&["--a", "true", "byte/loop"], "--b <COMMAND>"),
        (&["--b", "true", "byte/loop"], "--a <COMMAND>"),
        (
            &["--undo", "true", "--self", "byte/loop"],
            "cannot be used with",
        ),
        (&["--env-b", "novalue", "byte/loop"], "NAME=VALUE"),
        (
            &["--env-b", "A=1", "--self", "byte/loop"],
            "cannot be used with",
        ),
        (
            &["--env-b", "A=1", "--", "true", "--", "true", "--", "true"],
            "for two sides",
        ),
        (&["--parameter", "n=1", "--", "true"], "{n}"),
        (
            &["--cc", "cc -O2", "byte/loop"],
            "name two compilers at least",
        ),
        (&["--", "true", "--"], "a command is empty"),
        (&["byte/loop", "--", "true"], "cannot be used with"),
    ] {
        let (code, err) = refused(&home, arguments);
        assert!(code == 2 || code == 3, "{arguments:?}: {code} {err}");
        assert!(err.contains(word), "{arguments:?}: {err}");
    }
    assert!(!home.path().join("data").exists(), "nothing was measured");
}

/// The value of a setting that commands change.
fn setting(home: &Home) -> String {
    let text = fs::read_to_string(home.path().join("setting")).unwrap_or_default();
    text.trim().to_owned()
}

fn settings(home: &Home) -> [String; 6] {
    let file = home.path().join("setting");
    let set = |value: &str| format!("echo {value} > {}", file.display());
    [
        "--a".into(),
        set("a"),
        "--b".into(),
        set("b"),
        "--undo".into(),
        set("old"),
    ]
}

#[test]
fn settings_alternate_and_are_undone() {
    let home = Home::new();
    let [a, set_a, b, set_b, undo, back] = settings(&home);
    let (code, said) = trial(
        &home,
        &[
            &a,
            &set_a,
            &b,
            &set_b,
            &undo,
            &back,
            "--budget",
            "1s",
            "--",
            "sh",
            "-c",
            "cat setting >> seen",
        ],
    );
    assert!(code == 0 || code == 4, "{said}");
    assert_eq!(setting(&home), "old");
    let seen = fs::read_to_string(home.path().join("seen")).unwrap();
    assert!(seen.contains('a') && seen.contains('b'), "{seen}");
    let (code, err) = refused(
        &home,
        &["--a", "true", "--b", "echo no >&2; false", "--", "true"],
    );
    assert!(
        code == 2 && err.contains("side b") && err.contains("it said: no"),
        "{code} {err}"
    );
    // what --a sets is how it was, unless --undo says otherwise
    let (_, _) = trial(
        &home,
        &[&a, &set_a, &b, &set_b, "--budget", "1s", "--", "true"],
    );
    assert_eq!(setting(&home), "a");
    assert!(entries(&home.path().join(".local/state/gritstone")).is_empty());
}

#[test]
fn a_trial_that_is_ended_puts_everything_back() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM] {
        let home = Home::new();
        let settings = settings(&home);
        let arguments: Vec<&str> = ["ab", "--label", "cut", "--budget", "60s"]
            .into_iter()
            .chain(settings.iter().map(String::as_str))
            .chain(["--", "sleep", "0.05"])
            .collect();
        let mut child = start(&home, &arguments, &[]);
        eventually("a launch is kept", || kept(&home) > 0);
        eventually("the setting is made", || {
            ["a", "b"].contains(&setting(&home).as_str())
        });
        kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
        let status = child.wait().unwrap();
        eventually("it is put back", || setting(&home) == "old");
        eventually("no process is left", || processes(&home) == 0);
        assert_eq!(status.code(), (signal == Signal::SIGTERM).then_some(130));
        assert!(kept(&home) > 0);
        let (_, said) = trial(&home, &["--of", "cut"]);
        assert_eq!(said["sides"].as_array().unwrap().len(), 2);
        home.run(&["doctor"]);
        assert!(traces(&home).is_empty());
        assert!(entries(&home.path().join(".local/state/gritstone")).is_empty());
        let (code, _, err) = home.run(&["run", "--resume=cut-a"]);
        assert!(code == 2 && err.contains("a side of an A/B test"), "{err}");
    }
}
