//! What docs/validation.md says of `gritstone ab`, tried on made-up launches: how often the same is called different, and how often a
//! change is found. A rate passes when what was observed does not reject it at 99 %; seeds are fixed.
//!
//! Must not know: how the library computes.

use crate::world::pairs::{Order, Weather, different, ranking, trial};
use crate::world::{Shape, World};
use gritstone_stats::looks::{Comparison, LEVEL, judge};
use gritstone_stats::times::{Timed, Times};
use gritstone_stats::verdict::Verdict;
use statrs::distribution::{Binomial, DiscreteCDF};

/// Fails when `hits` or more would come in less than 1 of 100 cases at this rate.
fn at_most(rate: f64, hits: usize, of: usize, what: &str) {
    let fewer = hits.checked_sub(1).map_or(0.0, |below| {
        Binomial::new(rate, of as u64).unwrap().cdf(below as u64)
    });
    assert!(
        1.0 - fewer >= 0.01,
        "{what}: {hits} of {of}, not {rate} or less"
    );
}

/// Fails when `hits` or fewer would come in less than 1 of 100 cases at this rate.
fn at_least(rate: f64, hits: usize, of: usize, what: &str) {
    at_most(1.0 - rate, of - hits, of, what);
}

const WEATHERS: [Weather; 10] = [
    Weather::Scatter(0.01),
    Weather::Scatter(0.0177),
    Weather::Shape(Shape::Spiky),
    Weather::Shape(Shape::LogNormal),
    Weather::Shape(Shape::TwoModes(0.3)),
    Weather::Shape(Shape::Drift(0.5)),
    Weather::Neighbour,
    Weather::InStep,
    Weather::Seen,
    Weather::InStepSeen,
];

#[test]
#[ignore = "simulates: make test-full"]
fn the_same_is_seldom_called_different_whatever_the_machine_does() {
    for (seed, weather) in WEATHERS.into_iter().enumerate() {
        let mut world = World::new(700 + seed as u64);
        let false_ones = |_: &usize| different(trial(&mut world, weather, Order::Coin, 1.0).0);
        let hits = (0..200).filter(false_ones).count();
        at_most(LEVEL, hits, 200, &format!("{weather:?}"));
    }
}

#[test]
fn a_change_of_two_percent_is_found() {
    for (seed, weather) in [
        Weather::Scatter(0.01),
        // pairs scatter by 2.5 %
        Weather::Scatter(0.0177),
        Weather::Shape(Shape::Drift(0.5)),
    ]
    .into_iter()
    .enumerate()
    {
        let mut world = World::new(720 + seed as u64);
        let found = |_: &usize| trial(&mut world, weather, Order::Coin, 1.02).0 == Verdict::Slower;
        let hits = (0..300).filter(found).count();
        at_least(0.95, hits, 300, &format!("{weather:?}"));
    }
}

#[test]
fn a_change_of_two_percent_is_never_called_a_gain_or_none_at_all() {
    let mut world = World::new(730);
    let wrong = |_: &usize| {
        let said = trial(&mut world, Weather::Scatter(0.0177), Order::Coin, 1.02).0;
        matches!(said, Verdict::Faster | Verdict::Same)
    };
    let hits = (0..400).filter(wrong).count();
    at_most(LEVEL, hits, 400, "wrong way");
}

#[test]
fn the_same_is_called_so_where_the_machine_lets_it() {
    let mut world = World::new(740);
    let none =
        |_: &usize| trial(&mut world, Weather::Scatter(0.01), Order::Coin, 1.0).0 == Verdict::Same;
    let hits = (0..300).filter(none).count();
    at_least(0.95, hits, 300, "no difference");
}

/// Of five commands of which two are slower: the false-discovery rate over all pairs, though the best is chosen by the same times.
#[test]
fn a_ranking_calls_few_of_the_best_slower() {
    let mut world = World::new(750);
    let factors = [1.0, 1.0, 1.0, 1.05, 1.2];
    let (mut wrong, mut found, times) = (0, 0, 300);
    for _ in 0..times {
        let side = |factor: &f64| {
            let launch = |_| Some(Timed::from(factor * 100.0 * (0.01 * world.normal()).exp()));
            (0..27).map(launch).collect()
        };
        let row = Times(factors.iter().map(side).collect());
        let judged = &judge(&[row], 0.001, true)[0];
        let called = |c: &&Comparison| different(c.verdict);
        wrong += usize::from(judged.iter().filter(called).any(|c| c.other < 3));
        found += judged
            .iter()
            .filter(called)
            .filter(|c| c.other >= 3)
            .count();
    }
    // 0-1, 0-2 and 1-2 are the same; the other seven pairs are not
    at_most(LEVEL, wrong, times, "three that are the same");
    at_least(0.95, found, 7 * times, "those that are not");
}

/// The same looked at while it is measured: what loses is out early, and the rates stay.
#[test]
#[ignore = "simulates: make test-full"]
fn a_ranking_whose_losers_are_out_early_calls_as_few_slower() {
    let factors = [1.0, 1.0, 1.0, 1.05, 1.2];
    let weathers = [Weather::Shape(Shape::Drift(0.5)), Weather::Seen];
    for (seed, weather) in weathers.into_iter().enumerate() {
        let mut world = World::new(760 + seed as u64);
        let (mut wrong, mut missed, mut spared, mut most, times) = (0, 0, 0, 0, 150);
        for _ in 0..times {
            let ranking = ranking(&mut world, weather, &factors, 0.01);
            let called = |c: &&Comparison| different(c.verdict);
            let same = |c: &&Comparison| c.base < 3 && c.other < 3;
            let shown = ranking.shown.iter();
            wrong += usize::from(shown.clone().filter(same).any(|c| different(c.verdict)));
            missed += 2 - shown.filter(called).filter(|c| c.other >= 3).count();
            let launches: Vec<usize> = ranking.times.0.iter().map(Vec::len).collect();
            spared += 2 * launches[0] - launches[3] - launches[4];
            most += 2 * launches[0];
        }
        let what = format!("{weather:?}");
        at_most(LEVEL, wrong, times, &what);
        at_least(0.95, 2 * times - missed, 2 * times, &what);
        // more than half of the losing sides' launches are not made
        assert!(2 * spared > most, "{what}: {spared} of {most}");
    }
}

/// Pairs beside which the pacers saw a neighbour are made again: the change is found that hides among them, and sooner.
#[test]
#[ignore = "simulates: make test-full"]
fn a_change_is_found_beside_a_neighbour_who_is_seen() {
    let found = |weather: Weather| {
        let mut world = World::new(770);
        let hit = |_: &usize| trial(&mut world, weather, Order::Coin, 1.01).0 == Verdict::Slower;
        (0..150).filter(hit).count()
    };
    let (hidden, seen) = (found(Weather::Neighbour), found(Weather::Seen));
    at_least(0.9, seen, 150, "seen");
    assert!(hidden < seen / 2, "{hidden} and {seen} of 150");
}
