//! Total rate by the number of copies or users: the Universal Scalability Law X(N) = gN / (1 + a(N-1) + bN(N-1)), with g the rate of one, a
//! the share that waits for others (contention) and b the cost of each pair (coherence), both at least 0 (Gunther, "Guerrilla Capacity
//! Planning", 2007).
//!
//! N/X is a sum of three terms of 1, N-1 and N(N-1), so that weighted least squares have an exact solution. The weight of a launch is
//! 1/y^2: launches scatter in proportion to their value. Intervals are Student's, with the standard deviation of a bootstrap over rounds.

use crate::percentiles::DRAWS;
use crate::quantile::student;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Fewest different N that determine a curve of three parameters.
pub const MIN_SIZES: usize = 6;
/// Fewest launches of each N for an interval.
pub const MIN_LAUNCHES: usize = 5;
/// Steps of the curve.
const STEPS: u32 = 24;

/// All rates of one round, or of one pass over the sizes: (N, total rate).
pub type Round = Vec<(u32, f64)>;

/// An estimate with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// From all rounds.
    pub estimate: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// Maximum of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Peak {
    /// N with the highest total rate, sqrt((1-a)/b); its interval is unbounded if the curve of some draws has no maximum.
    At(Range),
    /// The interval of b includes 0: no extrapolation.
    NotSeen,
}

/// A fitted law.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// `g`, the rate of one copy.
    pub one: Range,
    /// `a`, the contention.
    pub contention: Range,
    /// `b`, the coherence.
    pub coherence: Range,
    /// Maximum of the total rate.
    pub peak: Peak,
    /// 1/a, where the asymptotes of the rate cross; `None` when the interval of a includes 0.
    pub knee: Option<f64>,
    /// N and the total rate by the law, from one copy to the largest measured number.
    pub curve: Vec<(f64, Range)>,
}

/// Reason for a missing law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfitted {
    /// Number of different N, below [`MIN_SIZES`].
    Sizes(usize),
    /// An N with its number of launches, below [`MIN_LAUNCHES`].
    Launches(u32, usize),
    /// A rate is not above 0, or an N is 0.
    NoRate,
}

/// Fits the law to rates by round; `confidence` such as 0.95, `seed` for the draws.
///
/// # Errors
/// Too few points, or no rates.
pub fn fit(rounds: &[Round], confidence: f64, seed: u64) -> Result<Law, Unfitted> {
    enough(rounds)?;
    let all: Vec<&Round> = rounds.iter().collect();
    let best = parameters(&all, &[&[0], &[0, 1], &[0, 2], &[0, 1, 2]], true);
    // unconstrained a and b are unbiased, constrained ones are not
    let free = |rounds: &[&Round]| parameters(rounds, &[&[0, 1, 2]], false);
    let center = free(&all);
    let mut random = Pcg64::seed_from_u64(seed);
    let draws: Vec<[f64; 3]> = (0..DRAWS)
        .map(|_| {
            let drawn: Vec<&Round> =
                (0..rounds.len()).map(|_| &rounds[random.random_range(0..rounds.len())]).collect();
            free(&drawn)
        })
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "a number of rounds")]
    let count = rounds.len() as f64;
    let t = student(confidence, count - 1.0) * (count / (count - 1.0)).sqrt();
    // on a scale with symmetric draws; `back` converts to that of the estimate
    let range = |scale: &dyn Fn([f64; 3]) -> f64, estimate: f64, back: fn(f64) -> f64| {
        let drawn: Vec<f64> = draws.iter().map(|draw| scale(*draw)).collect();
        // one round, or a fit without a positive rate, has no interval
        let (middle, half) = match scale(center) {
            middle if middle.is_finite() && count > 1.0 => (middle, t * deviation(&drawn)),
            _ => (0.0, f64::INFINITY),
        };
        Range {
            estimate,
            low: back(middle - half).min(estimate),
            high: back(middle + half).max(estimate),
        }
    };
    let share = |value: f64| value.max(0.0);
    let contention = range(&|p| p[1], best[1], share);
    let coherence = range(&|p| p[2], best[2], share);
    let point = |n: f64| (n, range(&|p| rate(p, n).ln(), rate(best, n), f64::exp));
    Ok(Law {
        one: range(&|p| p[0].ln(), best[0], f64::exp),
        contention,
        coherence,
        peak: if coherence.low > 0.0 {
            let turn = |p: [f64; 3]| peak(p[1], p[2]);
            Peak::At(range(&|p| turn(p).ln(), turn(best), f64::exp))
        } else {
            Peak::NotSeen
        },
        knee: (contention.low > 0.0).then(|| 1.0 / contention.estimate),
        curve: places(rounds).map(point).collect(),
    })
}

/// The rate of N copies by the law with parameters g, a and b.
fn rate([g, a, b]: [f64; 3], copies: f64) -> f64 {
    g * copies / (1.0 + a * (copies - 1.0) + b * copies * (copies - 1.0))
}

/// From one copy to the largest measured number, at equal ratios.
fn places(rounds: &[Round]) -> impl Iterator<Item = f64> {
    let max = rounds.iter().flatten().map(|(n, _)| *n).max();
    let max = f64::from(max.unwrap_or(1));
    let between = move |step| max.powf(f64::from(step) / f64::from(STEPS));
    (0..STEPS).map(between).chain([max])
}

fn enough(rounds: &[Round]) -> Result<(), Unfitted> {
    let launches = || rounds.iter().flatten();
    if launches().any(|&(n, rate)| n == 0 || !rate.is_finite() || rate <= 0.0) {
        return Err(Unfitted::NoRate);
    }
    let mut counts = std::collections::BTreeMap::new();
    for (n, _) in launches() {
        *counts.entry(*n).or_insert(0) += 1;
    }
    if counts.len() < MIN_SIZES {
        return Err(Unfitted::Sizes(counts.len()));
    }
    match counts.into_iter().find(|(_, count)| *count < MIN_LAUNCHES) {
        Some((n, count)) => Err(Unfitted::Launches(n, count)),
        None => Ok(()),
    }
}

/// N with the highest total: infinite if pairs cost nothing, one if a second copy adds nothing.
fn peak(a: f64, b: f64) -> f64 {
    if b <= 0.0 {
        return f64::INFINITY;
    }
    ((1.0 - a).max(0.0) / b).sqrt().max(1.0)
}

/// Standard deviation; infinite where a value is.
fn deviation(values: &[f64]) -> f64 {
    if values.iter().any(|value| !value.is_finite()) {
        return f64::INFINITY;
    }
    #[expect(clippy::cast_precision_loss, reason = "a number of draws")]
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (count - 1.0)).sqrt()
}

/// g, a and b of the fit with the smallest error among these sets of terms; `bounded`: neither a nor b below 0.
fn parameters(rounds: &[&Round], tried: &[&[usize]], bounded: bool) -> [f64; 3] {
    let points: Vec<[f64; 4]> = rounds
        .iter()
        .flat_map(|round| round.iter())
        .map(|&(n, rate)| {
            let (n, y) = (f64::from(n), f64::from(n) / rate);
            // terms divided by y: relative errors
            [1.0 / y, (n - 1.0) / y, n * (n - 1.0) / y, 1.0]
        })
        .collect();
    let mut best = ([f64::NAN; 3], f64::INFINITY);
    for terms in tried {
        let Some(found) = least_squares(&points, terms) else {
            continue;
        };
        if bounded && (found[1] < 0.0 || found[2] < 0.0) {
            continue;
        }
        let miss = |p: &[f64; 4]| p[3] - p[0] * found[0] - p[1] * found[1] - p[2] * found[2];
        let sum: f64 = points.iter().map(|p| miss(p).powi(2)).sum();
        if sum < best.1 {
            best = (found, sum);
        }
    }
    let [c, d, e] = best.0;
    [1.0 / c, d / c, e / c]
}

/// Coefficients of the chosen terms, 0 for the others, from the normal equations; `None` if these are singular.
fn least_squares(points: &[[f64; 4]], terms: &[usize]) -> Option<[f64; 3]> {
    let size = terms.len();
    let mut matrix = vec![vec![0.0; size + 1]; size];
    for point in points {
        for (row, &i) in matrix.iter_mut().zip(terms) {
            for (cell, &j) in row.iter_mut().zip(terms.iter().chain([&3])) {
                *cell += point[i] * point[j];
            }
        }
    }
    for pivot in 0..size {
        let chosen = (pivot..size)
            .max_by(|&x, &y| f64::total_cmp(&matrix[x][pivot].abs(), &matrix[y][pivot].abs()))?;
        matrix.swap(pivot, chosen);
        let top = matrix[pivot].clone();
        if top[pivot].abs() < f64::MIN_POSITIVE {
            return None;
        }
        for (which, row) in matrix.iter_mut().enumerate() {
            if which != pivot {
                let times = row[pivot] / top[pivot];
                for (cell, value) in row.iter_mut().zip(&top) {
                    *cell -= times * value;
                }
            }
        }
    }
    let mut found = [0.0; 3];
    for (row, &term) in terms.iter().enumerate() {
        found[term] = matrix[row][size] / matrix[row][row];
    }
    Some(found)
}

#[cfg(test)]
mod tests;
