//! Trials of two sides in made-up weather: how the machine disturbs the launches, who goes first, when it is looked.
//!
//! Must not know: what is counted.

use super::{Shape, World};
use gritstone_model::Verdict;
use gritstone_stats::looks::{self, LOOKS, Times};
use gritstone_stats::two;

/// What the machine does to launches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weather {
    /// Each launch for itself.
    Shape(Shape),
    /// Normal scatter of this much, so that pairs scatter by sqrt(2) times as much.
    Scatter(f64),
    /// A neighbour who comes and goes, for ten launches in the mean, and slows what runs then by 10 to 40 %; 1 % of scatter.
    Neighbour,
    /// A neighbour with the period of four launches, who slows two of them by 5 %: as bad for ABBA as can be; 1 % of scatter.
    InStep,
}

impl Weather {
    /// n launches of the same, in the order of time.
    pub fn launches(self, world: &mut World, n: usize) -> Vec<f64> {
        let scatter = |world: &mut World, sd: f64| 100.0 * (sd * world.normal()).exp();
        match self {
            Self::Shape(shape) => world.launches(shape, n),
            Self::Scatter(sd) => (0..n).map(|_| scatter(world, sd)).collect(),
            Self::Neighbour => {
                let mut busy = false;
                let mut launch = || {
                    busy ^= world.chance(0.1);
                    let slowed = if busy {
                        1.1 + 0.3 * world.uniform()
                    } else {
                        1.0
                    };
                    slowed * scatter(world, 0.01)
                };
                (0..n).map(|_| launch()).collect()
            }
            Self::InStep => {
                let phase = (4.0 * world.uniform()) as usize;
                let slowed = |i: usize| if (i + phase) % 4 < 2 { 1.05 } else { 1.0 };
                (0..n).map(|i| slowed(i) * scatter(world, 0.01)).collect()
            }
        }
    }
}

/// Who goes first.
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
    pub fn pairs(self, world: &mut World, launches: &[f64]) -> (Vec<f64>, Vec<f64>) {
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
/// pairs.
pub fn trial(world: &mut World, weather: Weather, order: Order, factor: f64) -> (Verdict, usize) {
    let most = LOOKS[LOOKS.len() - 1];
    let launches = weather.launches(world, 2 * most);
    let (a, mut b) = order.pairs(world, &launches);
    b.iter_mut().for_each(|x| *x *= factor);
    for look in LOOKS {
        let side = |values: &[f64]| values[..look].iter().copied().map(Some).collect();
        let times = Times(vec![side(&a), side(&b)]);
        let verdict = looks::judge(&[times], 0.01, look == most)[0][0].verdict;
        if verdict != Verdict::CannotTell {
            return (verdict, look);
        }
    }
    (Verdict::CannotTell, most)
}

/// The design with four looks at 12, 20, 30 and 40 pairs, each at p < .0025: whether it calls them different.
pub fn four_looks(world: &mut World, weather: Weather, factor: f64) -> bool {
    let launches = weather.launches(world, 80);
    let (a, mut b) = Order::Abba.pairs(world, &launches);
    b.iter_mut().for_each(|x| *x *= factor);
    [12, 20, 30, 40].iter().any(|&n| {
        let found = two::paired(&a[..n], &b[..n], 0.9975);
        found.and_then(|found| found.p).is_some_and(|p| p < 0.0025)
    })
}

/// Whether it names a difference.
pub fn different(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Faster | Verdict::Slower)
}
