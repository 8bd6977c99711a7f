//! Runs of one machine over time, as a person looks back on them.

use crate::common::{Home, SHORT, result};
use gritstone_model::{Conditions, Event, RunData, TrialSide};
use gritstone_store::{Store, new_id};
use serde_json::{Value, json};

const MEASURE: [&str; 8] = [
    "run",
    "byte/syscall",
    "byte/fcall-*",
    "--quick",
    "--budget",
    "8s",
    "--format",
    "json",
];

#[test]
fn a_history_grows_with_the_runs() {
    let home = Home::new();
    let (code, _, error) = home.run(&["history", "byte/syscall"]);
    assert!(
        code == 2 && error.contains("no run in the store has byte/syscall"),
        "{error}"
    );
    home.json(&MEASURE);
    home.json(&MEASURE);
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
}

/// A run that was measured here as it would be with the machine to itself; `beside` is the row beside all launches of which another
/// thread of the core was busy, which only the other rows tell.
fn measured_alone(beside: &str) -> RunData {
    let home = Home::new();
    let run = ["run", "byte/syscall", "byte/fcall-*", "--format", "json"];
    home.json(&[&run[..], &SHORT].concat());
    let (_, bundle, _) = home.run(&["export"]);
    let mut run = gritstone_exchange::read_bundle(&bundle).unwrap();
    let count = run.launches.len() as u64;
    for (number, launch) in (0..).zip(&mut run.launches) {
        // the core is slower at the end by a tenth
        let pace = 300_000 + 30_000 * number / count;
        launch.conditions = Conditions {
            wall: launch.conditions.wall,
            ..Conditions::default()
        };
        let busy = launch.id.as_str() == beside;
        let wide = if busy { pace / 2 } else { pace / 3 };
        for (at, event) in (0..).zip(&mut launch.events) {
            match event {
                Event::Sample(sample) => {
                    (sample.pace, sample.wide) = (pace + at % 3, wide);
                }
                Event::Batch(batch) => (batch.pace, batch.wide) = (pace + at % 3, wide),
                _ => {}
            }
        }
    }
    run
}

/// The same run once more, so many hours later.
fn later(run: &RunData, hours: u32) -> RunData {
    let mut run = run.clone();
    let started = jiff::Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_hours(hours.into());
    run.info.started = started.to_string();
    run.info.id = new_id(started, hours);
    run
}

/// A home with these runs.
fn with(runs: &[RunData]) -> Home {
    let home = Home::new();
    let mut store = Store::open(&home.store()).unwrap();
    runs.iter().for_each(|run| store.import(run).unwrap());
    home
}

#[test]
fn a_gate_needs_five_runs_that_are_like_the_one_it_judges() {
    let run = measured_alone("");
    let mut elsewhere = later(&run, 3);
    elsewhere.info.settings.dir = "/elsewhere".into();
    let mut side = later(&run, 4);
    side.info.settings.trial = Some(TrialSide::default());
    let home = with(&[later(&run, 1), later(&run, 2), elsewhere, side]);
    let told = |of: &str, said: &str| {
        let (code, text, error) = home.run(&["check", of]);
        assert!(code == 4 && text.contains(said), "{text}{error}");
    };
    told("last~2", "5 are needed");
    told("last~2", "1 earlier run like it");
    told("last~1", "0 earlier runs like it");
    assert_eq!(home.run(&["check", "last"]).0, 2, "a side of a trial");
    // nor need a run be in the store
    let (_, view, _) = home.run(&["show", "last~2", "--format", "json"]);
    let file = home.path().join("run.json");
    std::fs::write(&file, view).unwrap();
    told(file.to_str().unwrap(), "1 earlier run like it");

    let against = ["check", "last~2", "--against", "last~3", "--max-slowdown"];
    let (code, text, error) = home.run(&[&against[..], &["90%"]].concat());
    assert!([0, 4].contains(&code), "{text}{error}");
    assert_eq!(
        home.run(&["check", "last~2", "--against", "ref:vax-11-780-4.1bsd"])
            .0,
        2
    );
    assert_eq!(home.run(&["check", "--max-slowdown", "slow"]).0, 2);
}

#[test]
fn a_history_says_of_a_run_what_the_run_says_itself() {
    let home = with(&[measured_alone("byte/syscall")]);
    let view = home.json(&["show", "last", "--format", "json"]);
    let notes = result(&view, "byte/syscall")["footnotes"].to_string();
    let why = "another thread of its core was busy";
    assert!(notes.contains(why), "{notes}");
    let text = view["results"].to_string();
    assert!(text.contains("The frequency of the core moved"), "{text}");
    for row in view["results"].as_array().unwrap() {
        let id = row["id"].as_str().unwrap();
        let history = home.json(&["history", id, "--format", "json"]);
        let point = &history["series"][0]["points"][0];
        for key in ["estimate", "interval"] {
            assert_eq!(point[key], row[key], "{id}: {key}");
        }
        let notes = row["footnotes"].as_array().unwrap();
        let of_the_figure = |note: &&Value| note["of"].is_null();
        let notes: Vec<&Value> = notes.iter().filter(of_the_figure).collect();
        assert_eq!(json!(point["footnotes"]), json!(notes), "{id}");
    }
}
