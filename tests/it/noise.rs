//! Recorded runs of one machine with intermittent neighbors and no change: eight of six benchmarks, seven of `--quick`.

use crate::common::{Home, fixture, list};
use gritstone_model::RunData;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Bundles whose names begin so, oldest first.
fn recorded(begin: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(fixture("noise").with_extension(""))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with(begin));
    paths.sort();
    paths
}

/// Imports them, and returns the views.
fn import(home: &Home, begin: &str) -> Vec<Value> {
    let view = |path: PathBuf| {
        let id = home.ok(&["import", path.to_str().unwrap()]);
        home.json(&["show", id.trim()])
    };
    recorded(begin).into_iter().map(view).collect()
}

/// Standard deviation over mean of each benchmark that at least four runs measured, in order.
fn variations(views: &[Value], key: &str) -> Vec<f64> {
    let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for result in views.iter().flat_map(|view| list(&view["results"])) {
        if result["cycles"].is_number() && result["kind"] != "derived" {
            let samples = values.entry(result["id"].as_str().unwrap()).or_default();
            samples.extend(result[key].as_f64());
        }
    }
    let variation = |samples: &Vec<f64>| {
        let mean = samples.iter().sum::<f64>() / samples.len() as f64;
        let squares = samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        (squares / (samples.len() - 1) as f64).sqrt() / mean
    };
    let mut all: Vec<f64> =
        values.values().filter(|samples| samples.len() >= 4).map(variation).collect();
    all.sort_by(f64::total_cmp);
    all
}

#[test]
fn neighbors_move_results_one_percent() {
    let home = Home::new();
    let views = import(&home, "e-");
    let (found, as_ran) = (variations(&views, "estimate"), variations(&views, "as_ran"));
    assert_eq!((views.len(), found.len()), (8, 6));
    assert!(found[3] < 0.006 && found[5] < 0.015, "{found:?}");
    assert!(as_ran[0] > 0.05, "{as_ran:?}");
    // one frequency for all, whichever was imported first
    assert!(views.iter().all(|view| view["reference_ghz"] == views[0]["reference_ghz"]));
    let newest = views[7]["id"].as_str().unwrap();
    home.ok(&["check", newest]);
}

#[test]
fn neighbors_change_no_quick_verdict() {
    let home = Home::new();
    let views = import(&home, "q-");
    let found = variations(&views, "estimate");
    assert!(views.len() == 7 && found.len() > 55, "{}", found.len());
    assert!(found[found.len() / 2] < 0.0115, "{found:?}");
    assert!(found[found.len() * 9 / 10] < 0.06, "{found:?}");
    let ids: Vec<&str> = views.iter().map(|view| view["id"].as_str().unwrap()).collect();
    for pair in ids.windows(2) {
        let compared = home.json(&["compare", pair[0], pair[1]]);
        for row in list(&compared["rows"]) {
            assert!(row["verdict"] != "faster" && row["verdict"] != "slower", "{row}");
        }
    }
    home.ok(&["check", ids[6]]);
}

#[test]
fn sides_of_runs_decide_more() {
    let home = Home::new();
    for (index, path) in recorded("e-").into_iter().enumerate() {
        let label = ["old", "new"][index % 2];
        home.ok(&["import", path.to_str().unwrap(), "--label", label]);
    }
    let width = |view: &Value| {
        let rows = list(&view["rows"]).iter();
        let ends = rows.map(|row| [0, 1].map(|end| row["interval"][end].as_f64().unwrap()));
        ends.map(|[low, high]| (high / low).ln()).sum::<f64>()
    };
    let one = home.json(&["compare", "old", "new"]);
    let four = home.json(&["compare", "--all-runs", "old", "new"]);
    assert!(width(&four) < width(&one));
    for row in list(&four["rows"]) {
        assert!(["same", "inconclusive"].contains(&row["verdict"].as_str().unwrap()), "{row}");
    }
    let base = four["base"].as_str().unwrap();
    assert_eq!(base.split(',').count(), 4, "{base}");
    assert_eq!(home.json(&["compare", base, four["other"].as_str().unwrap()]), four);
    let text = home.ok(&["compare", "--all-runs", "old", "new"]);
    assert!(text.contains("run old, median of 4 runs"), "{text}");
    home.fails(2, &["compare", "old,old", "new"], "is named twice");
    let newest = four["other"].as_str().unwrap().rsplit(',').next().unwrap();
    let both = format!("{base},{newest}");
    home.fails(2, &["compare", &both, newest], "is on both sides");
    home.ok(&["runs", "label", newest, "new, tuned"]);
    let comma = home.json(&["compare", base, "new, tuned"]);
    assert_eq!(comma["other"], newest);
}

/// The run of a bundle, with the samples of a benchmark multiplied by `times`.
fn planted(path: &Path, benchmark: &str, times: f64) -> RunData {
    let text = gritstone_exchange::unpack(BufReader::new(File::open(path).unwrap())).unwrap();
    let mut run = gritstone_exchange::read_bundle(text).unwrap();
    let launches = run.launches.iter_mut();
    for launch in launches.filter(|launch| launch.id.as_str() == benchmark) {
        let samples = gritstone_testkit::samples(launch);
        samples.for_each(|sample| sample.wall = (sample.wall as f64 * times) as u64);
    }
    run
}

#[test]
fn slow_kernels_fail_first_run() {
    let home = Home::new();
    let slow = "ipc/pipe/latency";
    let paths = recorded("e-");
    let (before, since) = paths.split_at(4);
    for path in before {
        home.ok(&["import", path.to_str().unwrap()]);
    }
    for path in since {
        let mut run = planted(path, slow, 1.09);
        let facts = &mut run.info.machine.facts;
        facts.insert("kernel.release".to_owned(), "6.19.2".to_owned());
        home.import(&[run.clone()]);
        let (code, out, _) = home.run(&["check", &run.info.id, "--format", "json"]);
        let view: Value = serde_json::from_str(&out).unwrap();
        let rows = list(&view["rows"]).iter();
        let regressed = rows.filter(|row| row["outcome"] == "regressed");
        let regressed: Vec<&Value> = regressed.map(|row| &row["id"]).collect();
        assert_eq!((code, regressed), (1, vec![&Value::from(slow)]), "{out}");
    }
    let changes = home.json("changes");
    let [event] = list(&changes["events"]).as_slice() else {
        panic!("{changes}");
    };
    let first = planted(&since[0], slow, 1.0).info.id;
    assert_eq!(event["run"], first);
    assert_eq!(event["changes"][0]["benchmark"], slow);
    assert_eq!(event["differ_in"][0]["other"], "6.19.2");
}

#[test]
fn planted_slowdowns_are_called_alone() {
    let paths = recorded("e-");
    let slow = "ipc/pipe/latency";
    let home = Home::new();
    let (base, other) = (&paths[..3], &paths[3..6]);
    home.import(&base.iter().map(|path| planted(path, slow, 1.0)).collect::<Vec<_>>());
    home.import(&other.iter().map(|path| planted(path, slow, 1.05)).collect::<Vec<_>>());
    let ids = |paths: &[PathBuf]| {
        let ids = paths.iter().map(|path| planted(path, slow, 1.0).info.id);
        ids.collect::<Vec<_>>().join(",")
    };
    let compared = home.json(&["compare", &ids(base), &ids(other)]);
    for row in list(&compared["rows"]) {
        let called = ["faster", "slower"].contains(&row["verdict"].as_str().unwrap());
        assert_eq!(called, row["id"] == slow, "{row}");
    }
}
