//! Machines scored by a profile, which weights benchmarks.

use crate::scores::score_profile;
use crate::tests::made_up_runs::*;
use crate::tests::scores::options;
use gritstone_model::*;
use std::collections::BTreeMap;

/// Commands that take these seconds.
fn measured(name: &str, rows: &[(&str, f64)]) -> RunView {
    let benchmarks = rows.iter().map(|(row, _)| command(row)).collect();
    let launches = rows
        .iter()
        .flat_map(|(row, s)| (0..8).map(move |round| process(row, round, s * scatter(round))));
    let mut view = view(&run(benchmarks, launches.collect()));
    view.id = name.to_owned();
    view
}

fn scatter(round: u32) -> f64 {
    1.0 + 0.001 * (f64::from(round) - 3.5)
}

fn profile(weights: &[(&str, f64)]) -> Profile {
    let weights = weights.iter().map(|(row, weight)| (id(row), *weight));
    Profile {
        name: "mine".to_owned(),
        title: "what I do".to_owned(),
        why: "I do.".to_owned(),
        weights: weights.collect::<BTreeMap<_, _>>(),
    }
}

fn scored(weights: &[(&str, f64)], machine: &RunView, base: &RunView) -> ScoredSystem {
    score_profile(&profile(weights), machine, base, &options())
}

fn base() -> RunView {
    measured("base", &[("a/one", 0.4), ("a/two", 1.8), ("a/three", 1.0)])
}

#[test]
fn profile_score_is_weighted_mean() {
    let machine = measured("new", &[("a/one", 0.1), ("a/two", 0.2)]);
    let rated = scored(&[("a/one", 1.0), ("a/two", 3.0)], &machine, &base());
    let one = &rated.one_cpu;
    let parts: Vec<&str> = one.environments.iter().map(|part| part.environment.as_str()).collect();
    assert_eq!(parts, ["a/two", "a/one"], "the most weight first");
    near(one.environments[0].score, 9.0);
    near(one.environments[1].score, 4.0);
    let want = 4.0_f64.powf(0.25) * 9.0_f64.powf(0.75);
    near(one.overall.score, want);
    let [low, high] = one.overall.interval.unwrap();
    assert!(low < want && want < high, "{:?}", one.overall);
    // only proportions matter
    let again = scored(&[("a/one", 10.0), ("a/two", 30.0)], &machine, &base());
    assert_eq!(again.one_cpu, *one);
}

#[test]
fn equal_machines_score_one() {
    for weights in [[1.0, 1.0, 1.0], [90.0, 9.0, 1.0]] {
        let [one, two, three] = weights;
        let weights = [("a/one", one), ("a/two", two), ("a/three", three)];
        near(scored(&weights, &base(), &base()).one_cpu.overall.score, 1.0);
    }
}

#[test]
fn missing_benchmark_withholds_profile_score() {
    let machine = measured("new", &[("a/one", 0.1), ("a/four", 0.2)]);
    let withheld = |row: &str| {
        let rated = scored(&[("a/one", 1.0), (row, 1.0)], &machine, &base());
        let overall = rated.one_cpu.overall;
        assert_eq!((overall.score, overall.interval), (None, None));
        overall.withheld.unwrap()
    };
    let parts = |row| vec![Part::Benchmark(id(row))];
    assert_eq!(withheld("a/three"), Withheld::Missing(parts("a/three")));
    assert_eq!(withheld("a/four"), Withheld::Uncovered(parts("a/four")));
}

#[test]
fn differing_program_versions_are_listed() {
    let with = |name: &str, version: &str| {
        let mut view = measured(name, &[("a/one", 0.1), ("a/two", 0.2)]);
        for result in &mut view.results {
            result.program = Some(Program {
                hash: "0".to_owned(),
                compiler: format!("{} {version}", result.id),
                flags: String::new(),
            });
        }
        view
    };
    let weights = [("a/one", 1.0)];
    let same = scored(&weights, &with("new", "12"), &with("old", "12"));
    assert_eq!(same.differ_in, []);
    let other = scored(&weights, &with("new", "13"), &with("old", "12"));
    let actual: Vec<_> = other
        .differ_in
        .iter()
        .map(|d| (d.what.as_str(), d.base.as_str(), d.other.as_str()))
        .collect();
    // a/two is not in the profile
    assert_eq!(actual, [("program", "a/one 12", "a/one 13")]);
}
