//! `gritstone ab` as used by a person. Error rates are tested elsewhere with simulated times: here sides differ by factors, or the verdict
//! is ignored.

use crate::common::{
    self, Home, end, ended, eventually, list, processes, result, start, stored_launches, succeeds,
    traces,
};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::fs;

/// A trial as JSON, with its exit code.
fn trial<A: common::Arguments + ?Sized>(home: &Home, arguments: &A) -> (i32, Value) {
    let all = [&["ab", "--format", "json"], &*arguments.words()].concat();
    let (code, out, err) = home.run(&all);
    let value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{code} {out} {err}"));
    (code, value)
}

#[test]
fn slow_commands_are_slower() {
    let home = Home::new();
    let two = "--budget 60s --label nap -- sleep 0.01 -- sleep 0.2";
    let (code, output) = trial(&home, two);
    assert_eq!(code, 0, "{output}");
    assert_eq!(output["schema"], "gritstone/ab/3");
    let comparison = &output["rows"][0]["comparisons"][0];
    assert_eq!(comparison["verdict"], "slower", "{output}");
    assert_eq!([&comparison["base"], &comparison["other"]], ["a", "b"]);
    assert!(comparison["interval"][1].as_f64().unwrap() < 0.7, "{output}");
    let counts = ["pairs", "left_out"].map(|key| comparison[key].as_u64().unwrap());
    let launches = Some(counts[0] + counts[1]);
    for figure in list(&output["rows"][0]["figures"]) {
        assert!(figure["peak_kb"].as_u64().unwrap() > 100, "{figure}");
        assert!(figure["cpu_s"].as_f64().unwrap() > 0.0, "{figure}");
        // a launch beside which another thread of the core was busy is kept, and is not in the figure
        assert!(figure["launches"].as_u64() <= launches, "{figure}");
    }
    for side in ["nap-a", "nap-b"] {
        let bundle = home.ok(&["export", side]);
        let prefix = r#"{"launch":{"id":"command","#;
        let stored = bundle.lines().filter(|line| line.starts_with(prefix)).count() as u64;
        assert_eq!(Some(stored), launches, "{side}");
    }
    assert!(output["start_up_ns"].as_f64().unwrap() > 10_000.0);
    // its sides are runs like others, and the trial can be shown again
    let run = home.json("show nap-b");
    assert_eq!(result(&run, "command")["title"], "sleep 0.2");
    assert_eq!(run["settings"]["trial"]["what"], "sleep 0.2");
    let environment = &run["settings"]["environment"];
    assert_eq!(*environment, serde_json::json!({}), "it is the user's");
    assert_eq!(trial(&home, "--of nap"), (code, output));
    let (_, text, _) = home.run("ab --of nap");
    assert!(text.contains("b is slower than a: "), "{text}");
    let (_, text, _) = home.run("compare nap-a nap-b");
    assert!(text.contains("side of an A/B test"), "{text}");
    // circumstances do not cover the settings of a side
    home.refuses("history command", "have no history");
    home.refuses("check nap-b", "side b of an A/B test");
    assert!(traces(&home).is_empty() && processes(&home) == 0);
}

#[test]
fn failing_commands_fail_the_trial() {
    let home = Home::new();
    let script = "echo because >&2; exit 3";
    let bad = ["ab", "--", "true", "--", "sh", "-c", script];
    let why = "exit status 3 (because). Use -i to time it anyway";
    home.fails(3, &bad, &format!("sh -c {script}: {why}"));
    let ignored = ["--self", "--budget", "1s", "--ignore-failure", "--", "sh", "-c"];
    let (code, output) = trial(&home, &[&ignored[..], &["exit 3"]].concat());
    // measured, with any verdict
    assert!([0, 1, 4].contains(&code), "{code}");
    assert_eq!(output["rows"][0]["figures"][0]["statuses"][0], 3);
    home.fails(3, "ab -- ./missing -- true", "./missing cannot be started");
    let (_, _, error) = home.run("run --resume");
    assert!(!error.contains("command"), "a trial is not resumed");
}

#[test]
fn commands_see_users_environment() {
    let home = Home::new();
    let mut all = "ab --budget 1s --env-a WHO=a --env-b WHO=b".split(' ').collect::<Vec<_>>();
    all.extend(["--prepare", "echo p >> order", "--", "sh", "-c"]);
    all.push("echo $WHO-$GRITSTONE_TEST >> who");
    let (code, _, err) = ended(home.gritstone(&all).env("GRITSTONE_TEST", "x"));
    assert!([0, 4].contains(&code), "{err}");
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
    let two = ["--cc", "cc -O0", "--cc", "cc -O2", "byte/loop"];
    let (code, output) = trial(&home, &[&["--budget", "20s"], &two[..]].concat());
    assert!(code == 0 || code == 4, "{output}");
    assert_eq!(output["sides"][0]["what"], "cc -O0");
    for (side, flag) in [("a", "-O0"), ("b", "-O2")] {
        let label = format!("ab-{}-{side}", output["trial"].as_str().unwrap());
        let run = home.json(&["show", &label]);
        let flags = &result(&run, "byte/loop")["program"]["flags"];
        assert!(flags.as_str().unwrap().contains(flag), "{flags}");
    }
    home.refuses("ab --cc cc --cc no-such-cc byte/loop", "no-such-cc");
}

#[test]
fn nonsensical_options_are_refused() {
    let home = Home::new();
    for (arguments, word) in [
        ("", "gritstone ab -- ./old -- ./new"),
        ("byte/loop", "--cc"),
        ("--self", "name the benchmarks to compare"),
        ("byte/lopp --self", "did you mean 'byte/loop'"),
        ("byte/object-size --self", "none of these benchmarks has a time"),
        ("--a true byte/loop", "--b <COMMAND>"),
        ("--b true byte/loop", "--a <COMMAND>"),
        ("--undo true --self byte/loop", "cannot be used with"),
        ("--env-b novalue byte/loop", "NAME=VALUE"),
        ("--env-b A=1 --self byte/loop", "cannot be used with"),
        ("--env-b A=1 -- true -- true -- true", "for two sides"),
        ("--parameter n=1 -- true", "{n}"),
        ("--cc cc byte/loop", "name two compilers at least"),
        ("-- true --", "a command is empty"),
        ("byte/loop -- true", "cannot be used with"),
    ] {
        let (code, out, err) = home.run(&format!("ab {arguments}"));
        assert!(code == 2 || code == 3, "{arguments:?}: {code} {err}");
        assert!(out.is_empty() && err.contains(word), "{arguments:?}: {err}");
    }
    assert!(!home.path().join("data").exists(), "nothing was measured");
}

/// The value of a setting that commands change.
fn setting(home: &Home) -> String {
    let text = fs::read_to_string(home.path().join("setting")).unwrap_or_default();
    text.trim().to_owned()
}

/// Options that change it for each side, and put it back.
fn settings(home: &Home) -> [String; 6] {
    let file = home.path().join("setting").display().to_string();
    let set = |value: &str| format!("echo {value} > {file}");
    let [a, b, undo] = ["--a", "--b", "--undo"].map(str::to_owned);
    [a, set("a"), b, set("b"), undo, set("old")]
}

#[test]
fn settings_alternate_and_are_undone() {
    let home = Home::new();
    let settings = settings(&home);
    let all = settings.each_ref().map(String::as_str);
    let reads = ["--budget", "1s", "--", "sh", "-c", "cat setting >> seen"];
    let (code, output) = trial(&home, &[&all[..], &reads].concat());
    assert!(code == 0 || code == 4, "{output}");
    assert_eq!(setting(&home), "old");
    let seen = fs::read_to_string(home.path().join("seen")).unwrap();
    assert!(seen.contains('a') && seen.contains('b'), "{seen}");
    let bad = ["ab", "--a", "true", "--b", "echo no >&2; false", "--", "true"];
    home.fails(3, &bad, "the setting of side b failed: 'echo no >&2; false': exit status 1 (no)");
    // what --a sets is how it was, unless --undo says otherwise
    trial(&home, &[&all[..4], &["--budget", "1s", "--", "true"]].concat());
    assert_eq!(setting(&home), "a");
    assert!(home.journals().is_empty());
}

#[test]
fn settings_run_on_all_cpus() {
    let home = Home::new();
    let allowed = "grep Cpus_allowed_list /proc/self/status";
    let set = format!("{allowed} > allowed");
    trial(&home, &["--a", &set, "--b", &set, "--undo=true", "--budget=1s", "--", "true"]);
    let ours = succeeds(home.command("sh").args(["-c", allowed]));
    assert_eq!(fs::read_to_string(home.path().join("allowed")).unwrap(), ours);
}

#[test]
fn interrupted_settings_are_undone() {
    let home = Home::new();
    let [_, _, _, _, undo, old] = settings(&home);
    let set = "echo a > setting; kill -INT $PPID; kill -INT $$";
    let ab = ["ab", "--budget=1s", "--a", set, "--b=true", &undo, &old, "--", "true"];
    let (code, _, error) = home.run(&ab);
    assert!(code == 130 && !error.contains("failed"), "{code}: {error}");
    assert_eq!(setting(&home), "old");
    assert!(home.journals().is_empty());
}

#[test]
fn ended_trials_restore_settings() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM] {
        let home = Home::new();
        let settings = settings(&home);
        let mut all = vec!["ab", "--label", "cut", "--budget", "60s"];
        all.extend(settings.iter().map(String::as_str));
        all.extend(["--", "sleep", "0.05"]);
        let mut child = start(&home, &all, &[]);
        eventually("a launch is kept", || stored_launches(&home) > 0);
        eventually("the setting is made", || ["a", "b"].contains(&setting(&home).as_str()));
        end(&child, signal);
        let status = child.wait().unwrap();
        eventually("it is put back", || setting(&home) == "old");
        eventually("no process is left", || processes(&home) == 0);
        assert_eq!(status.code(), (signal == Signal::SIGTERM).then_some(130));
        assert!(stored_launches(&home) > 0);
        let (_, output) = trial(&home, "--of cut");
        assert_eq!(list(&output["sides"]).len(), 2);
        home.run("doctor");
        assert!(traces(&home).is_empty() && home.journals().is_empty());
        home.refuses("run --resume=cut-a", "a side of an A/B test");
    }
}
