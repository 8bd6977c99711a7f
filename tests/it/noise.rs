//! Recorded runs of one machine with intermittent neighbors and no change: eight of six benchmarks, seven of `--quick`.

use crate::common::{Home, fixture, list};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Bundles whose names begin so, oldest first.
fn recorded(begin: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(fixture("noise").with_extension(""))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.retain(|path| {
        path.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with(begin)
    });
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
    let mut all: Vec<f64> = values
        .values()
        .filter(|samples| samples.len() >= 4)
        .map(variation)
        .collect();
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
    assert!(
        views
            .iter()
            .all(|view| view["reference_ghz"] == views[0]["reference_ghz"])
    );
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
    let ids: Vec<&str> = views
        .iter()
        .map(|view| view["id"].as_str().unwrap())
        .collect();
    for pair in ids.windows(2) {
        let compared = home.json(&["compare", pair[0], pair[1]]);
        for row in list(&compared["rows"]) {
            assert!(
                row["verdict"] != "faster" && row["verdict"] != "slower",
                "{row}"
            );
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
        assert!(
            ["same", "inconclusive"].contains(&row["verdict"].as_str().unwrap()),
            "{row}"
        );
    }
    let base = four["base"].as_str().unwrap();
    assert_eq!(base.split(',').count(), 4, "{base}");
    assert_eq!(
        home.json(&["compare", base, four["other"].as_str().unwrap()]),
        four
    );
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
