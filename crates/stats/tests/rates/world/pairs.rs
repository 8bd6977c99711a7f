//! Trials of two sides under simulated disturbances, orders and interim analyses.

use super::{Shape, World};
use gritstone_stats::interim::{self, INTERIM_ANALYSES, MAX_PAIRS, MIN_PAIRS};
use gritstone_stats::paired_times::{Timed, Times};
use gritstone_stats::two_sample;
use gritstone_stats::verdict::Verdict;
use std::collections::BTreeSet;

/// Disturbance of launches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weather {
    /// Each launch for itself.
    Shape(Shape),
    /// Normal scatter of this much, so that pairs scatter by sqrt(2) times as much.
    Scatter(f64),
    /// A neighbor who comes and goes, for ten launches in the mean, and slows what runs then by 10 to 40%; 1% of scatter.
    Neighbor,
    /// The same neighbor on the other thread of the core, where the probes see nine in ten of the launches that were slowed, and take
    /// one in fifty of the others for slowed.
    Seen,
    /// A neighbor with the period of four launches, who slows two of them by 5%: as bad for ABBA as can be; 1% of scatter.
    InStep,
    /// The same, where the probes see half of the launches that were slowed.
    InStepSeen,
}

impl Weather {
    /// n launches of the same, in the order of time.
    pub fn launches(self, world: &mut World, n: usize) -> Vec<Timed> {
        let ns = self.times(world, n);
        let seen = |ns: f64, world: &mut World| match self {
            // no scatter comes so far
            Self::Seen => world.chance(if ns > 105.0 { 0.9 } else { 0.02 }),
            Self::InStepSeen => ns > 102.5 && world.chance(0.5),
            _ => false,
        };
        ns.into_iter().map(|ns| Timed { ns, contended: seen(ns, world), layout: 0 }).collect()
    }

    /// Most pairs per kept pair.
    fn pairs_for_one(self) -> usize {
        match self {
            Self::Seen | Self::InStepSeen => 2,
            _ => 1,
        }
    }

    fn times(self, world: &mut World, n: usize) -> Vec<f64> {
        let scatter = |world: &mut World, sd: f64| 100.0 * (sd * world.normal()).exp();
        match self {
            Self::Shape(shape) => world.launches(shape, n),
            Self::Scatter(sd) => (0..n).map(|_| scatter(world, sd)).collect(),
            Self::Neighbor | Self::Seen => {
                let mut busy = false;
                let mut launch = || {
                    busy ^= world.chance(0.1);
                    let slowed = if busy { 1.1 + 0.3 * world.uniform() } else { 1.0 };
                    slowed * scatter(world, 0.01)
                };
                (0..n).map(|_| launch()).collect()
            }
            Self::InStep | Self::InStepSeen => {
                let phase = (4.0 * world.uniform()) as usize;
                let slowed = |i: usize| if (i + phase) % 4 < 2 { 1.05 } else { 1.0 };
                (0..n).map(|i| slowed(i) * scatter(world, 0.01)).collect()
            }
        }
    }
}

/// Order of launches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// A coin for each pair.
    Coin,
    /// A coin for each two pairs: ABBA or BAAB.
    Abba,
    /// First all of the one, then all of the other.
    Blocks,
}

impl Order {
    /// Launches of both sides, pair by pair.
    pub fn pairs(self, world: &mut World, launches: &[Timed]) -> (Vec<Timed>, Vec<Timed>) {
        if self == Self::Blocks {
            let (a, b) = launches.split_at(launches.len() / 2);
            return (a.to_vec(), b.to_vec());
        }
        let mut first = false;
        let pairs = launches.chunks_exact(2).enumerate();
        pairs
            .map(|(pair, values)| {
                first = match self {
                    Self::Abba if pair % 2 == 1 => !first,
                    _ => world.chance(0.5),
                };
                let a = usize::from(first);
                (values[a], values[1 - a])
            })
            .unzip()
    }
}

/// A whole trial as `gritstone ab` does it: what it says of the second side, which takes `factor` times as long, and after how many
/// pairs, those that were left out among them.
pub fn trial(world: &mut World, weather: Weather, order: Order, factor: f64) -> (Verdict, usize) {
    let launches = weather.launches(world, 2 * MAX_PAIRS * weather.pairs_for_one());
    let (a, mut b) = order.pairs(world, &launches);
    b.iter_mut().for_each(|timed| timed.ns *= factor);
    verdict(&a, &b)
}

/// A trial whose second side keeps its SMT sibling busy in a share of its launches: these take a quarter more, and the probes detect nine
/// in ten of them.
pub fn busy_side(world: &mut World, weather: Weather, share: f64) -> (Verdict, usize) {
    let launches = weather.launches(world, 4 * MAX_PAIRS);
    let (a, mut b) = Order::Coin.pairs(world, &launches);
    for timed in &mut b {
        if world.chance(share) {
            timed.ns *= 1.25;
            timed.contended |= world.chance(0.9);
        }
    }
    verdict(&a, &b)
}

/// The verdict on the launches of two sides, and its number of pairs.
fn verdict(a: &[Timed], b: &[Timed]) -> (Verdict, usize) {
    let mut times = Times(vec![vec![]; 2]);
    for look in INTERIM_ANALYSES {
        loop {
            let count = times.0[0].len();
            // of these some may be left out
            let missing = count..count + look.saturating_sub(times.compared_pairs()[0]);
            if missing.is_empty() {
                break;
            }
            for (side, values) in times.0.iter_mut().zip([a, b]) {
                side.extend(values[missing.clone()].iter().copied().map(Some));
            }
        }
        let row = std::slice::from_ref(&times);
        let verdict = interim::decide_all(row, |_| 0.01, look == MAX_PAIRS)[0][0].verdict;
        if verdict != Verdict::Inconclusive || look == MAX_PAIRS {
            return (verdict, times.0[0].len());
        }
    }
    unreachable!("the last interim analysis ends a trial")
}

/// A ranking as by `gritstone ab`, of sides with these factors of time.
pub struct Ranking {
    /// All launches, round by round.
    pub times: Times,
    /// What is shown in the end: each against the best.
    pub shown: Vec<interim::Comparison>,
}

/// Until all is decided, or the last interim analysis: losing sides are dropped at once.
pub fn ranking(world: &mut World, weather: Weather, factors: &[f64], margin: f64) -> Ranking {
    let sides = factors.len();
    let enough = MAX_PAIRS * sides * weather.pairs_for_one();
    let mut launches = weather.launches(world, enough).into_iter();
    let mut times = Times(vec![vec![]; sides]);
    let mut out: BTreeSet<usize> = BTreeSet::new();
    // until an interim analysis is possible
    let mut rounds = MIN_PAIRS;
    loop {
        let mut order: Vec<usize> = (0..sides).filter(|side| !out.contains(side)).collect();
        // by Fisher and Yates
        for i in (1..order.len()).rev() {
            order.swap(i, (world.uniform() * (i + 1) as f64) as usize);
        }
        for side in order {
            let timed = launches.next().expect("no more than every other pair is left out");
            let ns = factors[side] * timed.ns;
            times.0[side].push(Some(Timed { ns, ..timed }));
        }
        rounds -= 1;
        if rounds > 0 {
            continue;
        }
        let compared = times.compared_pairs();
        let last = compared.iter().all(|pairs| *pairs >= MAX_PAIRS);
        let after = |pairs: usize| INTERIM_ANALYSES.into_iter().find(|look| *look > pairs);
        let next = compared.iter().filter_map(|&pairs| Some(after(pairs)? - pairs));
        rounds = next.min().unwrap_or(1);
        if !last && !compared.iter().any(|pairs| INTERIM_ANALYSES.contains(pairs)) {
            continue;
        }
        let row = std::slice::from_ref(&times);
        let judged = &interim::decide_all(row, |_| margin, last)[0];
        if last || interim::is_decided(&times, judged, false) {
            let shown = interim::shown_comparisons(&times, judged, false);
            return Ranking { times, shown };
        }
        out.extend(interim::dropped_sides(&times, judged, false));
    }
}

/// The design with four looks at 12, 20, 30 and 40 pairs, each at p < .0025: whether it calls them different.
pub fn four_looks(world: &mut World, weather: Weather, factor: f64) -> bool {
    let launches = weather.launches(world, 80);
    let (a, b) = Order::Abba.pairs(world, &launches);
    let times = |side: Vec<Timed>, factor: f64| -> Vec<f64> {
        side.into_iter().map(|timed| factor * timed.ns).collect()
    };
    let (a, b) = (times(a, 1.0), times(b, factor));
    [12, 20, 30, 40].iter().any(|&n| {
        let found = two_sample::paired(&a[..n], &b[..n], 0.9975);
        found.and_then(|found| found.p).is_some_and(|p| p < 0.0025)
    })
}

/// Whether it names a difference.
pub fn different(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Faster | Verdict::Slower)
}
