//! Rates of docs/validation.md for `gritstone ab` on simulated launches: false calls and detected changes. A rate passes unless the
//! observation rejects it at 99%; seeds are fixed.

use crate::world::World;
use crate::world::pairs::{Order, Weather, different, trial};
use crate::{at_least, at_most};
use gritstone_stats::interim::{Comparison, LEVEL, decide_all};
use gritstone_stats::paired_times::{Timed, Times};
use gritstone_stats::verdict::Verdict;

/// Pairs scatter by 2.5%.
#[test]
fn two_percent_changes_are_found() {
    let mut world = World::new(721);
    let weather = Weather::Scatter(0.0177);
    let found = |_: &usize| trial(&mut world, weather, Order::Coin, 1.02).0 == Verdict::Slower;
    let hits = (0..300).filter(found).count();
    at_least(0.95, hits, 300, "slower");
}

/// Of five commands of which two are slower: the false-discovery rate over all pairs, though the best is chosen by the same times.
#[test]
fn rankings_rarely_demote_the_best() {
    let mut world = World::new(750);
    let factors = [1.0, 1.0, 1.0, 1.05, 1.2];
    let (mut wrong, mut found, times) = (0, 0, 300);
    for _ in 0..times {
        let side = |factor: &f64| {
            let launch = |_| Some(Timed::from(factor * 100.0 * (0.01 * world.normal()).exp()));
            (0..27).map(launch).collect()
        };
        let row = Times(factors.iter().map(side).collect());
        let judged = &decide_all(&[row], |_| 0.001, true)[0];
        let called = |c: &&Comparison| different(c.verdict);
        wrong += usize::from(judged.iter().filter(called).any(|c| c.other < 3));
        found += judged.iter().filter(called).filter(|c| c.other >= 3).count();
    }
    // 0-1, 0-2 and 1-2 are the same; the other seven pairs are not
    at_most(LEVEL, wrong, times, "three that are the same");
    at_least(0.95, found, 7 * times, "those that are not");
}
