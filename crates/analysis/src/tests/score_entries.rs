//! SystemScores against a baseline.

use crate::summary::{Options, summarize};
use crate::tests::made_up_runs::*;
use gritstone_model::*;
use std::collections::BTreeMap;

fn rated(over: &[&str]) -> RunData {
    let score = Benchmark {
        work: score_over(over, false),
        unit: unit("ratio"),
        better: Better::Higher,
        ..plain("a/score")
    };
    let rows = vec![score, claimed("a/one"), claimed("a/two"), plain("a/rate")];
    let launches =
        [scattered("a/one", 100.0), scattered("a/two", 200.0), scattered("a/rate", 50.0)];
    run(rows, launches.concat())
}

/// 4 times slower in a/one, 9 times in a/two; 2 times in a/rate, which it prints in us.
fn baseline() -> RunView {
    reference(vec![
        printed("a/one", Subject::Real, [Some(0.4), None, None]),
        printed("a/two", Subject::Real, [Some(1.8), None, None]),
        printed_us("a/rate", 0.1),
    ])
}

fn score(run: &RunData, baseline: Option<RunView>) -> Measurement {
    let baselines = baseline.map(|view| ("ref:vax".to_owned(), view));
    let options = Options { baselines: BTreeMap::from_iter(baselines), ..Options::default() };
    row(&summarize(run, &options), "a/score").clone()
}

#[test]
fn geometric_mean_is_exact() {
    let result = score(&rated(&["a/one", "a/two"]), Some(baseline()));
    assert_eq!((result.outcome(), result.kind), (Status::Measured, Kind::Score));
    near(result.estimate(), 6.0);
    let [low, high] = result.interval().unwrap();
    // the launches give 0.4%, and half a percent with four degrees of freedom is stated: 2.78 times that is 1.4%
    let half = (high / low).ln() / 2.0;
    assert!(low < 6.0 && 6.0 < high && (0.0139..0.0145).contains(&half), "{half}");
    assert_eq!(result.launches(), 20);
    assert_eq!(result.notes, []);
    near(score(&rated(&["a/one", "a/two", "a/rate"]), Some(baseline())).value(), 72.0_f64.cbrt());
}

#[track_caller]
fn withheld(result: &Measurement, why: &str) {
    assert_eq!((result.outcome(), result.estimate()), (Status::Skipped, None));
    assert_eq!(shorts(&result.notes), [why]);
}

#[test]
fn absent_baseline_withholds_score() {
    let run = rated(&["a/one", "a/two"]);
    withheld(&score(&run, None), "score-withheld baseline=ref:vax of=2 why=no-baseline");
}

#[test]
fn uncovered_benchmarks_are_counted() {
    let run = rated(&["a/one", "a/two"]);
    let mut less = baseline();
    less.results.remove(1);
    let result = score(&run, Some(less.clone()));
    near(result.estimate(), 4.0);
    let why = "partial-score part=1 of=2";
    assert_eq!(shorts(&result.notes), [why]);
    less.results.remove(0);
    let result = score(&run, Some(less));
    let why = "score-withheld baseline=ref:vax of=2 why=not-comparable";
    assert_eq!(result.estimate(), None);
    assert_eq!(shorts(&result.notes), [why]);
}

#[test]
fn uncovered_benchmark_withholds_joint_score() {
    let mut run = rated(&["a/one", "a/two"]);
    let Work::Score { together, .. } = &mut run.benchmarks[0].work else {
        panic!("{:?}", run.benchmarks[0]);
    };
    *together = true;
    near(score(&run, Some(baseline())).estimate(), 6.0);
    let mut less = baseline();
    less.results.remove(1);
    withheld(
        &score(&run, Some(less)),
        "score-withheld baseline=ref:vax of=2 why=uncovered=[benchmark=a/two]",
    );
}

#[test]
fn score_over_scores_weighs_equally() {
    let mut run = rated(&["a/one", "a/two"]);
    let over = |name: &str, rows: &[&str]| Benchmark {
        id: id(name),
        work: score_over(rows, false),
        ..run.benchmarks[0].clone()
    };
    let rest = over("a/rest", &["a/rate"]);
    let all = over("a/all", &["a/score", "a/rest"]);
    run.benchmarks.extend([rest, all]);
    let options =
        Options { baselines: [("ref:vax".to_owned(), baseline())].into(), ..Options::default() };
    let view = summarize(&run, &options);
    near(row(&view, "a/rest").estimate(), 2.0);
    near(row(&view, "a/all").estimate(), 12.0_f64.sqrt());
}

#[test]
fn system_time_is_not_scored() {
    let run = rated(&["a/one", "a/two"]);
    let mut other = baseline();
    other.results[0] = printed("a/one", Subject::System, [None, None, Some(0.4)]);
    let mut no_ticks = run.clone();
    for launch in &mut no_ticks.launches {
        batches(launch).for_each(|batch| batch.usage = Usage::default());
    }
    near(score(&no_ticks, Some(other)).estimate(), 9.0);
}

/// The same rows with weights 1 and 3: times, of which the run has a quarter and a ninth of the baseline's.
fn weighted(over: &[&str], weights: &[f64], baseline: RunView) -> Measurement {
    let mut run = rated(over);
    if let Work::Score { weights: slot, .. } = &mut run.benchmarks[0].work {
        *slot = weights.to_vec();
    }
    run.benchmarks[0].better = Better::Lower;
    score(&run, Some(baseline))
}

fn medians() -> RunView {
    reference(vec![printed_us("a/one", 0.4), printed_us("a/two", 0.1)])
}

#[test]
fn weighted_mean_is_exact() {
    let result = weighted(&["a/one", "a/two"], &[1.0, 3.0], medians());
    near(part(&result, &Part::RatioOf(id("a/one"))), 0.25);
    near(part(&result, &Part::RatioOf(id("a/two"))), 2.0);
    near(result.estimate(), (0.25 + 3.0 * 2.0) / 4.0);
    let [low, high] = result.interval().unwrap();
    assert!(low < 1.5625 && 1.5625 < high);
    assert_eq!(result.notes, []);
}

#[test]
fn benchmarks_without_baseline_are_named() {
    let result = weighted(&["a/one", "a/rate"], &[3.0, 1.0], medians());
    near(result.estimate(), 0.25);
    let [note] = result.notes.as_slice() else {
        panic!("{:?}", result.notes);
    };
    assert_eq!(note.flag(), None);
    assert_eq!(short(note), "weight-left-out share=0.75 baseline=ref:vax benchmarks=[a/rate]");
}

#[test]
fn missing_result_withholds_weighted_mean() {
    let mut run = rated(&["a/one", "a/two"]);
    run.launches.retain(|launch| launch.id.as_str() != "a/two");
    if let Work::Score { weights, .. } = &mut run.benchmarks[0].work {
        *weights = vec![1.0, 1.0];
    }
    let result = score(&run, Some(medians()));
    assert_eq!(result.estimate(), None);
    near(part(&result, &Part::RatioOf(id("a/one"))), 0.25);
    assert_eq!(
        short(&result.notes[0]),
        "score-withheld baseline=ref:vax of=2 why=missing=[benchmark=a/two]"
    );
}

fn part(result: &Measurement, wanted: &Part) -> Option<f64> {
    let found = result.parts().iter().find(|part| part.part == *wanted);
    found.map(|part| part.value)
}
