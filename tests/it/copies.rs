//! `run --copies`: copies run simultaneously, are stored and exported, and together do more than one.

use crate::common::{Home, flagged, in_one_of_four, result};
use serde_json::Value;

/// Runs it, and gives the points of one copy and of two.
fn two_copies(home: &Home) -> [Value; 2] {
    let run = home.json("run byte/loop byte/multi/1 --copies 2,1,2 --quick");
    let row = result(&run, "byte/loop");
    assert!(!flagged(row, "invalid"), "{row}");
    assert!(result(&run, "byte/multi/1")["copies"].is_null());
    assert_eq!(run["settings"]["copies"], serde_json::json!([2]));
    let points = row["copies"]["points"].as_array().unwrap();
    points.clone().try_into().expect("one copy and two")
}

#[test]
#[ignore = "measures: make test-full"]
fn two_copies_outdo_one() {
    let home = Home::new();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    assert!(cpus > 1, "copies at once take two CPUs");
    in_one_of_four(|| {
        let [one, two] = two_copies(&home);
        assert_eq!((&one["copies"], &two["copies"]), (&1.into(), &2.into()));
        let number = |point: &Value, key: &str| point[key].as_f64().unwrap();
        let each = |point| number(point, "samples") / number(point, "launches");
        assert!(each(&two) > each(&one), "{one} {two}");
        assert!(!flagged(&two, "invalid"), "{two}");
        match number(&one, "total") / number(&two, "total") > 1.2 {
            true => Ok(()),
            false => Err(format!("two copies do no more than one: {one} {two}")),
        }
    });

    let (_, shown, _) = home.run("show last");
    assert!(shown.contains("Copies at once"), "{shown}");
    let (_, bundle, _) = home.run("export last --format jsonl");
    assert!(bundle.contains("\"copies\":2"), "{bundle}");
}

#[test]
fn uncopyable_benchmarks_are_refused() {
    let home = Home::new();
    home.refuses("run byte/multi/1 --copies 2", "workloads on one CPU");
    home.refuses("run byte/loop --copies 0", "--copies");
}
