//! Deviation that all benchmarks of a run share: outliers, and those of a machine that is slower for a while.

use crate::descriptive;
use statrs::distribution::{Binomial, DiscreteCDF};

/// Fewest values that can share a deviation, and the share of them that may deviate less.
pub const MIN_IN_COMMON: usize = 8;
const LESS_IN_COMMON: f64 = 0.1;

/// Deviation that nine of ten values reach, with its sign; 0 with fewer than eight, or if they lie on both sides.
pub fn in_common(values: &[f64]) -> f64 {
    if values.len() < MIN_IN_COMMON {
        return 0.0;
    }
    let center = descriptive::median_of(values);
    let along: Vec<f64> = values.iter().map(|x| x * center.signum()).collect();
    let min = descriptive::quantile(&descriptive::sorted(&along), LESS_IN_COMMON);
    min.max(0.0) * center.signum()
}

/// Probability that at least `outliers` of `runs` deviate by at least half of `common`, at the frequency among `others`; 1 without others.
pub fn chance(others: &[f64], common: f64, outliers: usize, runs: usize) -> f64 {
    let as_far = others.iter().filter(|other| is_as_far(**other, common)).count();
    match (others.len(), outliers) {
        (0, _) | (_, 0) => 1.0,
        (all, outliers) => {
            let known = Binomial::new(as_far as f64 / all as f64, runs as u64);
            known.map_or(1.0, |binomial| binomial.sf(outliers as u64 - 1))
        }
    }
}

/// Mean of the shared deviations of `runs`, if outliers as frequent as among `others` explain it with a probability above `alpha`; else 0.
pub fn by_chance(others: &[f64], runs: &[f64], alpha: f64) -> f64 {
    let farther = |a: f64, b: &f64| if b.abs() > a.abs() { *b } else { a };
    let farthest = runs.iter().fold(0.0, farther);
    let alike = |by: &&f64| is_as_far(**by, farthest) && **by * farthest >= 0.0;
    let outliers = runs.iter().filter(alike).count();
    match chance(others, farthest, outliers, runs.len()) > alpha {
        true => descriptive::mean(runs).abs(),
        false => 0.0,
    }
}

fn is_as_far(by: f64, common: f64) -> bool {
    by.abs() >= common.abs() / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_of_ten_move_alike() {
        let mut values = [0.05; 20];
        assert_eq!(in_common(&values), 0.05);
        values[..2].fill(-0.01);
        assert!(in_common(&values) > 0.03);
        values[..8].fill(-0.01);
        assert_eq!(in_common(&values), 0.0);
        assert_eq!(in_common(&[-0.05; 8]), -0.05);
        assert_eq!(in_common(&[-0.05; 7]), 0.0);
    }

    #[test]
    fn outliers_come_again() {
        let mut others = [0.001; 20];
        assert_eq!(by_chance(&others, &[-0.26], 0.02), 0.0);
        others[3] = -0.25;
        assert_eq!(by_chance(&others, &[-0.26], 0.02), 0.26);
        // two in a row have a chance of one in 400
        assert_eq!(by_chance(&others, &[-0.26, -0.26], 0.02), 0.0);
        assert_eq!(by_chance(&others, &[-0.26, 0.0], 0.02), 0.13);
        assert_eq!(by_chance(&[], &[-0.26], 0.02), 0.26);
    }
}
