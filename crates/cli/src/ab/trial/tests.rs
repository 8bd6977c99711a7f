//! Trials under a made-up clock, with made-up times.
//!
//! Must not know: the machine on which it runs.

use super::{Design, Ways, measure};
use anyhow::{Result, bail};
use gritstone_model::Verdict;
use gritstone_stats::looks::{LEVEL, LOOKS, judge};
use gritstone_stats::times::{Timed, Times};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::time::Duration;

/// A machine on which the second side takes `factor` times as long, and any other 1.3 times; a launch takes a second.
struct Machine {
    random: Pcg64,
    factor: f64,
    /// What the machine does meanwhile, from the number of the launch.
    weather: fn(usize) -> f64,
    /// Whether another thread of the core is busy, likewise.
    crowded: fn(usize) -> bool,
    launches: Vec<(usize, usize, u32)>,
    fails: fn(usize, u32) -> bool,
    breaks_after: usize,
}

impl Machine {
    fn new(seed: u64, factor: f64) -> Self {
        Self {
            random: Pcg64::seed_from_u64(seed),
            factor,
            weather: |_| 1.0,
            crowded: |_| false,
            launches: vec![],
            fails: |_, _| false,
            breaks_after: usize::MAX,
        }
    }

    /// About normal: the sum of twelve.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.random.random::<f64>()).sum::<f64>() - 6.0
    }
}

impl Ways for Machine {
    fn now(&self) -> Duration {
        Duration::from_secs(self.launches.len() as u64)
    }

    fn launch(&mut self, row: usize, side: usize, round: u32) -> Result<Option<Timed>> {
        if self.launches.len() == self.breaks_after {
            bail!("stopped");
        }
        let weather = (self.weather)(self.launches.len());
        self.launches.push((row, side, round));
        let factor = [1.0, self.factor].get(side).copied().unwrap_or(1.3);
        let crowded = (self.crowded)(self.launches.len());
        let value = Timed {
            ns: 1e6 * factor * weather * (1.0 + 0.01 * self.normal()),
            crowded,
        };
        Ok((!(self.fails)(side, round)).then_some(value))
    }

    fn standing(&mut self, _: usize, _: &Times) {}
}

fn design(sides: usize, seconds: u64) -> Design {
    Design {
        rows: 1,
        sides,
        budget: Duration::from_secs(seconds),
        margin: 0.01,
        seed: 5,
    }
}

fn verdict(times: &[Times]) -> Verdict {
    judge(times, 0.01, true)[0][0].verdict
}

#[test]
fn every_pair_has_both_sides_in_an_order_that_a_coin_chose() {
    let mut machine = Machine::new(1, 1.0);
    measure(&design(2, 24), &mut machine).unwrap();
    let pairs: Vec<_> = machine.launches.chunks(2).collect();
    assert_eq!(pairs.len(), 12);
    for (round, pair) in pairs.iter().enumerate() {
        let mut sides: Vec<usize> = pair.iter().map(|launch| launch.1).collect();
        sides.sort_unstable();
        assert_eq!(sides, [0, 1]);
        assert!(pair.iter().all(|launch| launch.2 as usize == round));
    }
    let first = pairs.iter().filter(|pair| pair[0].1 == 0).count();
    assert!((2..=10).contains(&first), "{first} of 12");
}

#[test]
fn it_ends_when_it_is_decided() {
    let mut machine = Machine::new(2, 1.5);
    let times = measure(&design(2, 1000), &mut machine).unwrap();
    assert_eq!(machine.launches.len(), 2 * LOOKS[0]);
    assert_eq!(verdict(&times), Verdict::Slower);
}

#[test]
fn it_ends_with_the_budget_and_with_the_last_look() {
    let mut short = Machine::new(3, 1.003);
    let times = measure(&design(2, 31), &mut short).unwrap();
    assert_eq!((times[0].rounds(), short.launches.len()), (15, 30));
    // scatter that hides everything: alternately half and double
    let mut wild = Machine::new(4, 1.0);
    wild.weather = |launch| {
        if launch / 2 % 2 == launch % 2 {
            0.5
        } else {
            2.0
        }
    };
    let times = measure(&design(2, 10_000), &mut wild).unwrap();
    assert_eq!(times[0].rounds(), LOOKS[LOOKS.len() - 1]);
    assert_eq!(verdict(&times), Verdict::CannotTell);
}

#[test]
fn crowded_pairs_are_made_again() {
    let mut machine = Machine::new(9, 1.5);
    // launches count from 1: the fifth pair, and one launch of the seventh
    machine.crowded = |launch| matches!(launch, 9 | 10 | 14);
    let times = measure(&design(2, 1000), &mut machine).unwrap();
    assert_eq!(machine.launches.len(), 2 * (LOOKS[0] + 2));
    assert_eq!((times[0].rounds(), times[0].kept()), (14, vec![12]));
    // of pairs that are all crowded every other one stays
    let mut machine = Machine::new(9, 1.5);
    machine.crowded = |_| true;
    measure(&design(2, 1000), &mut machine).unwrap();
    assert_eq!(machine.launches.len(), 2 * (2 * LOOKS[0] - 1));
}

#[test]
fn rows_that_are_decided_leave_their_time_to_the_others() {
    let mut machine = Machine::new(5, 1.5);
    let design = Design {
        rows: 3,
        ..design(2, 10_000)
    };
    let times = measure(&design, &mut machine).unwrap();
    assert!(times.iter().all(|row| row.rounds() == LOOKS[0]));
    let orders: Vec<usize> = machine.launches.chunks(6).map(|round| round[0].0).collect();
    assert!(orders.iter().any(|row| *row != orders[0]), "{orders:?}");
}

#[test]
fn a_losing_side_of_a_ranking_leaves_its_time_to_the_others() {
    let mut machine = Machine::new(8, 1.004);
    // slower from the second look on: that the third side was launched before does not make it faster
    machine.weather = |launch| if launch < 4 * LOOKS[0] { 1.0 } else { 2.0 };
    let times = measure(&design(4, 10_000), &mut machine).unwrap();
    let launches = |side| machine.launches.iter().filter(|l| l.1 == side).count();
    assert_eq!((launches(2), launches(3)), (LOOKS[0], LOOKS[0]));
    assert!(launches(0) > LOOKS[0] && launches(0) == launches(1));
    assert_eq!(times[0].rounds(), launches(0));
    assert!(times[0].best().is_some_and(|best| best < 2));
    // every round that went on had both sides that may be best
    let last = &machine.launches[4 * LOOKS[0]..];
    assert!(last.chunks(2).all(|pair| pair[0].2 == pair[1].2));
}

#[test]
fn a_row_that_fails_gets_no_more_launches() {
    let mut machine = Machine::new(6, 1.0);
    machine.fails = |side, _| side == 1;
    let times = measure(&design(2, 1000), &mut machine).unwrap();
    assert_eq!((machine.launches.len(), times[0].rounds()), (4, 0));
    // one failure in twenty is the machine's
    let mut machine = Machine::new(6, 1.5);
    machine.fails = |side, round| side == 1 && round == 3;
    let times = measure(&design(2, 1000), &mut machine).unwrap();
    assert_eq!((machine.launches.len(), times[0].rounds()), (26, 12));
    assert_eq!(verdict(&times), Verdict::Slower);
}

#[test]
fn one_command_alone_gets_what_its_pilot_calls_for() {
    let mut machine = Machine::new(7, 1.0);
    let times = measure(&design(1, 1000), &mut machine).unwrap();
    let n = times[0].rounds();
    assert!(
        (10..=30).contains(&n),
        "1 % of scatter, half-width of 1 %: {n}"
    );
}

#[test]
fn what_was_measured_before_an_error_was_kept_by_the_ways() {
    let mut machine = Machine::new(8, 1.0);
    machine.breaks_after = 7;
    assert!(measure(&design(2, 1000), &mut machine).is_err());
    assert_eq!(machine.launches.len(), 7);
}

/// Two hundred trials of the same, in weather that would fool whoever measures one side after the other.
#[test]
fn the_same_is_not_called_different_whatever_the_weather() {
    let weathers: [fn(usize) -> f64; 4] = [
        |_| 1.0,
        |launch| 1.0 + 0.002 * launch as f64,
        |launch| if launch % 7 == 3 { 1.4 } else { 1.0 },
        |launch| if launch / 9 % 2 == 0 { 1.25 } else { 1.0 },
    ];
    let mut called = 0;
    for trial in 0..200_u64 {
        let mut machine = Machine::new(100 + trial, 1.0);
        machine.weather = weathers[trial as usize % 4];
        let design = Design {
            seed: trial,
            ..design(2, 120)
        };
        let times = measure(&design, &mut machine).unwrap();
        called += usize::from(matches!(verdict(&times), Verdict::Faster | Verdict::Slower));
    }
    // at a rate of .01, 7 or more of 200 come in less than 1 of 100 cases
    assert!(
        (LEVEL - 0.01).abs() < 1e-12 && called <= 6,
        "{called} of 200"
    );
}

#[test]
fn two_percent_are_found_in_such_weather_too() {
    let mut found = 0;
    for trial in 0..200_u64 {
        let mut machine = Machine::new(500 + trial, 1.02);
        machine.weather = |launch| 1.0 + 0.002 * launch as f64;
        let design = Design {
            seed: trial,
            ..design(2, 400)
        };
        let times = measure(&design, &mut machine).unwrap();
        found += usize::from(verdict(&times) == Verdict::Slower);
    }
    // at a rate of .95, 181 or fewer of 200 come in less than 1 of 100 cases
    assert!(found >= 182, "{found} of 200");
}
