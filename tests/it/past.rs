//! Runs of one machine over time, as used by a person.

use crate::common::{Home, at_hour, calm, list, notes, part, recorded, result};
use gritstone_model::{Commit, RunData, TrialSide};

/// A recorded run of a few benchmarks.
fn calls() -> RunData {
    let names = ["byte/syscall", "byte/sieve", "byte/loop"];
    part(recorded("run"), |id| names.contains(&id) || id.starts_with("byte/fcall-"))
}

#[test]
fn histories_grow_with_runs() {
    let home = Home::new();
    home.refuses("history byte/syscall", "no run in the store has byte/syscall");
    home.import(&[at_hour(&calls(), 1, "a"), at_hour(&calls(), 2, "b")]);
    for id in ["byte/syscall", "byte/fcall-overhead"] {
        let history = home.json(&["history", id]);
        assert_eq!(history["schema"], "gritstone/history/3");
        let points = list(&history["series"][0]["points"]);
        assert_eq!(points.len(), 2, "{history}");
        assert!(points[0]["estimate"].is_number(), "{history}");
        assert_eq!(points[0]["estimate"], points[1]["estimate"], "{history}");
    }
    // a line for each benchmark of a family
    let text = home.ok("history byte");
    let first = |line: &str| line.split(' ').next().unwrap().to_owned();
    let ids: Vec<String> = text.lines().map(first).collect();
    let count = |wanted: &str| ids.iter().filter(|id| *id == wanted).count();
    assert_eq!([count("byte/syscall"), count("byte/pipe")], [1, 0], "{text}");
    let text = home.ok("history byte/syscall --svg history.svg");
    assert!(text.contains("Nothing could be compared."), "{text}");
    let drawn = std::fs::read_to_string(home.path().join("history.svg")).unwrap();
    assert!(drawn.starts_with("<svg"));
}

/// The run as it would have been without contention; `beside` is the benchmark with SMT contention in all launches, which only the other
/// benchmarks reveal.
fn measured_alone(beside: &str) -> RunData {
    let mut run = calls();
    let count = run.launches.len() as u64;
    for (number, launch) in (0..).zip(&mut run.launches) {
        // the core is faster at the end by a fifth
        let pace = 300_000 + 60_000 * number / count;
        let busy = launch.id.as_str() == beside;
        calm(launch, pace, if busy { pace / 2 } else { pace / 3 });
    }
    run
}

#[test]
fn gates_need_three_like_runs() {
    let run = measured_alone("");
    let mut elsewhere = at_hour(&run, 3, "c");
    elsewhere.info.settings.dir = "/elsewhere".into();
    let mut side = at_hour(&run, 4, "d");
    side.info.settings.trial = Some(TrialSide::default());
    let home = Home::new();
    home.import(&[at_hour(&run, 1, "a"), at_hour(&run, 2, "b"), elsewhere, side]);
    let check_output = |label: &str, output: &str| {
        let (code, text, error) = home.run(&["check", label]);
        assert!(code == 4 && text.contains(output), "{text}{error}");
    };
    check_output("b", "3 are needed");
    check_output("b", "1 earlier run of the same kind");
    check_output("c", "No history");
    assert_eq!(home.run("check d").0, 2, "a side of an A/B test");
    // nor need a run be in the store
    let (_, view, _) = home.run("show b --format json");
    let file = home.path().join("run.json");
    std::fs::write(&file, view).unwrap();
    check_output(file.to_str().unwrap(), "1 earlier run of the same kind");

    let (code, text, error) = home.run("check b --against a --max-slowdown 90%");
    assert!([0, 4].contains(&code), "{text}{error}");
    home.refuses("check b --against ref:vax-11-780-4.1bsd", "");
    home.refuses("check --max-slowdown slow", "");
}

#[test]
fn runs_are_of_one_branch() {
    let on = |hour: u32, branch: &str| {
        let mut run = at_hour(&measured_alone(""), hour, &format!("run-{hour}"));
        let commit = Commit::new("0123abc", Some(branch), None);
        run.info.settings.commit = Some(commit.unwrap());
        run
    };
    let home = Home::new();
    home.import(&[on(1, "main"), on(2, "main"), on(3, "main"), on(4, "topic")]);
    home.ok("check run-4 --base-branch main");
    let (code, text, _) = home.run("check run-4 --base-branch topic");
    assert!(code == 4 && text.contains("No history"), "{text}");
    let history = home.json("history byte/loop --branch origin/main");
    assert_eq!(list(&history["series"][0]["points"]).len(), 3);
    home.ok("changes --branch main");
    for command in ["changes", "history byte/loop", "history byte"] {
        home.refuses(&format!("{command} --branch mian"), "branch 'mian'");
    }
}

#[test]
fn gates_hold_facts_and_power() {
    let of_kernel = |hour: u32, kernel: &str| {
        let mut run = at_hour(&measured_alone(""), hour, &format!("run-{hour}"));
        run.info.machine.facts.insert("kernel.release".to_owned(), kernel.to_owned());
        run
    };
    let home = Home::new();
    home.import(&[1, 2, 3].map(|hour| of_kernel(hour, "6.1")));
    home.import(&[of_kernel(4, "6.2")]);
    home.ok("check run-4 --same libc,microcode");
    let (code, text, _) = home.run("check run-4 --same kernel");
    assert!(code == 4 && text.contains("No history"), "{text}");
    let points = |options: &str| {
        let history = home.json(&format!("history byte/loop {options}"));
        list(&history["series"][0]["points"]).len()
    };
    assert_eq!([points(""), points("--same kernel")], [4, 1]);
    home.refuses("history byte/loop --same weather", "mitigations");
    home.refuses("check run-4 --against run-1 --same kernel", "cannot be used with");

    home.ok("check run-4 --detect 99%");
    let (code, text, _) = home.run("check run-4 --max-slowdown 0.01% --detect 0.02%");
    assert!(code == 4 && text.contains("must be detectable"), "{text}");
    home.refuses("check run-4 --detect 2%", "name a larger one");
    home.refuses("check run-4 --detect 5% --inconclusive pass", "leave out one");
}

#[test]
fn histories_ignore_selection() {
    let home = Home::new();
    let runs = (0..16).map(|index| {
        let mut run = measured_alone("");
        let times = if index < 8 { 1.0 } else { 1.1 };
        let samples = run.launches.iter_mut().flat_map(gritstone_testkit::samples);
        samples.for_each(|sample| sample.wall = (sample.wall as f64 * times) as u64);
        let has = |id: &str| id != "byte/loop" || index % 4 != 0;
        part(at_hour(&run, index, &format!("run-{index}")), has)
    });
    home.import(&runs.collect::<Vec<_>>());
    let all = home.json("history byte");
    for history in list(&all) {
        let id = history["id"].as_str().unwrap();
        assert_eq!(home.json(&format!("history {id}")), *history);
    }
    let of_loop = list(&all).iter().find(|history| history["id"] == "byte/loop").unwrap().clone();
    assert_eq!(list(&of_loop["series"][0]["changes"]).len(), 1, "{of_loop}");
}

#[test]
fn missing_benchmarks_are_named() {
    let whole = measured_alone("");
    let part = part(at_hour(&whole, 4, "part"), |id| id != "byte/loop");
    let home = Home::new();
    let runs = [(1, "a"), (2, "b"), (3, "c")].map(|(hour, label)| at_hour(&whole, hour, label));
    home.import(&runs);
    home.import(&[part]);
    for format in ["text", "json", "markdown", "github", "gitlab", "junit"] {
        let (code, text, error) = home.run(&["check", "part", "--format", format]);
        assert_eq!(code, 4, "{format}: {error}");
        let named = text.lines().any(|line| line.contains("byte/loop"));
        assert!(named, "{format}: {text}");
    }
    let junit = |options: &str| home.run(&format!("check part --format junit{options}")).1;
    let [fails, passes] = ["", " --inconclusive pass"].map(junit);
    assert!(fails.contains("errors=\"2\""), "{fails}");
    assert!(passes.contains("errors=\"0\""), "{passes}");
    assert_eq!(home.run("check part --against c").0, 4);
    assert_eq!(home.run("check part byte/loop").0, 4);
    home.ok("check part byte/sieve");
    home.ok("check part --accept byte/loop");
    home.ok("check part");
}

#[test]
fn histories_agree_with_runs() {
    let home = Home::new();
    home.import(&[measured_alone("byte/syscall")]);
    let view = home.json("show run");
    let flags = notes(result(&view, "byte/syscall"));
    assert!(flags.iter().any(|note| note.code == "interfered"), "{flags:?}");
    for row in list(&view["results"]) {
        let id = row["id"].as_str().unwrap();
        let history = home.json(&["history", id]);
        let point = &history["series"][0]["points"][0];
        for key in ["estimate", "interval"] {
            assert_eq!(point[key], row[key], "{id}: {key}");
        }
        let mut of_the_estimate = notes(row);
        of_the_estimate.retain(|note| note.about.is_none());
        assert_eq!(notes(point), of_the_estimate, "{id}");
    }
}
