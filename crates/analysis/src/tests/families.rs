//! Order of a comparison, and sums by family.

use crate::compare::{Options, compare};
use crate::tests::made_up_runs::*;
use gritstone_model::*;

/// A benchmark with its times on both sides, ns; `None` if absent.
type Sides = (&'static str, Option<f64>, Option<f64>);

const ROWS: [Sides; 5] = [
    ("c/gone", Some(1.0), None),
    ("b/unsure", Some(102.0), Some(100.0)),
    ("a/same", Some(100.0), Some(100.0)),
    ("a/slow", Some(100.0), Some(150.0)),
    ("a/fast", Some(100.0), Some(40.0)),
];

fn sides(rows: &[Sides]) -> [RunView; 2] {
    let base = rows.iter().filter_map(|row| Some((row.0, row.1?)));
    let other = rows.iter().filter_map(|row| Some((row.0, row.2?)));
    [plain_run(base), plain_run(other)]
}

fn without_effects() -> Options {
    Options::new(0.02, no_effects(["a/same", "a/slow", "a/fast"]))
}

fn geometric(values: &[f64]) -> f64 {
    let logs: f64 = values.iter().map(|x| x.ln()).sum();
    (logs / values.len() as f64).exp()
}

#[test]
fn differences_come_first() {
    let more = [("c/starred", Some(1.0), Some(2.0)), ("c/new", None, Some(1.0))];
    let [base, other] = sides(&[&ROWS[..], &more].concat());
    let mut starred = other.clone();
    let star = stated(Some(Flag::Invalid), "Why.");
    let row = starred.results.iter_mut().find(|r| r.title.ends_with("starred"));
    row.unwrap().notes.push(star);
    let options = without_effects();
    let found = compare(&base, &starred, &options);
    let actual: Vec<(&str, Option<Verdict>)> =
        found.rows.iter().map(|row| (row.id.as_str(), row.verdict)).collect();
    assert_eq!(
        actual,
        [
            ("a/fast", Some(Verdict::Faster)),
            ("a/slow", Some(Verdict::Slower)),
            ("b/unsure", Some(Verdict::Inconclusive)),
            ("a/same", Some(Verdict::Same)),
            ("c/starred", None),
            ("c/gone", None),
            ("c/new", None),
        ]
    );
}

#[test]
fn differing_families_come_first() {
    let [base, other] = sides(&ROWS);
    let options = without_effects();
    let found = compare(&base, &other, &options);
    let [a, b, c, all] = &found.sums[..] else {
        panic!("{:?}", found.sums);
    };
    let counts = |sum: &CompareSum| {
        let verdicts = [sum.faster, sum.slower, sum.same, sum.inconclusive];
        (sum.family.clone(), sum.rows, verdicts, sum.without_ratio, sum.of)
    };
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(counts(a), (named("a"), 3, [1, 1, 1, 0], 0, 3));
    assert_eq!(counts(b), (named("b"), 1, [0, 0, 0, 1], 0, 1));
    assert_eq!(counts(c), (named("c"), 1, [0; 4], 1, 0));
    assert_eq!(counts(all), (None, 5, [1, 1, 1, 1], 1, 4));
    near(a.mean, geometric(&[2.5, 100.0 / 150.0, 1.0]));
    near(b.mean, 1.02);
    assert_eq!((c.mean, c.interval), (None, None));
    near(all.mean, geometric(&[2.5, 100.0 / 150.0, 1.0, 1.02]));
    // as wide as if all rows erred together
    let of_a = || found.rows.iter().filter(|row| row.id.family() == "a");
    for end in [0, 1] {
        let ends: Vec<f64> = of_a().map(|row| row.interval.unwrap()[end]).collect();
        near(a.interval.map(|ends| ends[end]), geometric(&ends));
    }
    // a family alone needs no sum over all
    let [base, other] = sides(&[("a/same", Some(1.0), Some(1.0))]);
    assert_eq!(compare(&base, &other, &options).sums.len(), 1);
}

#[test]
fn doubtful_results_leave_means() {
    let names = ["a/time", "a/size", "a/score", "a/doubt", "a/disturbed"];
    let rows = names.map(|name| (name, Some(100.0), Some(50.0)));
    let mut both = sides(&rows);
    for side in &mut both {
        let size = &mut side.results[1];
        size.unit = unit("bytes");
        size.measured_mut().sampled.estimate = size.value().map(Estimate::exact);
        side.results[2].kind = Kind::Score;
        let disturbed = stated(Some(Flag::Interference), "Why.");
        side.results[4].notes.push(disturbed);
    }
    let doubt = stated(Some(Flag::NotComparable), "Why.");
    both[0].results[3].notes.push(doubt);
    let [base, other] = &both;
    let found = compare(base, other, &Options::default());
    assert!(found.rows.iter().all(|row| row.ratio.is_some()));
    let [sum] = &found.sums[..] else {
        panic!("{:?}", found.sums);
    };
    assert_eq!((sum.rows, sum.of), (5, 1));
    near(sum.mean, 2.0);
}
