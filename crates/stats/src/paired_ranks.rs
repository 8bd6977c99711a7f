//! The signed-rank test of pairs, with ranks up to half of their number.
//!
//! On a shared machine many pairs have a disturbed side, and large differences. In Wilcoxon's test their ranks outweigh those of the rest. Here
//! each rank above half of the pairs counts as that half (Winsorized ranks: Policello and Hettmansperger, *J. Am. Stat. Assoc.* 71,
//! 1976). Between equal sides each score has either sign with equal probability, whatever the disturbance: levels are exact, and the smallest
//! is that of Wilcoxon's test.

use crate::descriptive::{self, MAX_VALUES};
use crate::rank_intervals::Levels;
use std::sync::OnceLock;

/// Estimate, interval and p of differences, at least one and at most [`MAX_VALUES`]. The estimate has as much score below as above.
pub fn test(differences: &[f64], confidence: f64) -> (f64, Option<[f64; 2]>, f64) {
    let n = differences.len();
    let scores = Scores { sorted: descriptive::sorted(differences), max: max_score(n) };
    let levels = levels(n);
    let total = scores.up_to(f64::INFINITY);
    // a difference of 0 is on both sides
    let above = total - scores.up_to(0.0_f64.next_down());
    let outside = scores.up_to(0.0).min(above);
    let p = match outside < levels.len() {
        true => levels.level(outside),
        false => 1.0,
    };
    let estimate = f64::midpoint(scores.reach(total.div_ceil(2)), scores.reach(total / 2 + 1));
    let k = levels.within(confidence);
    let interval = (k > 0).then(|| [scores.reach(k), scores.reach(total + 1 - k)]);
    (estimate, interval, p)
}

fn max_score(n: usize) -> usize {
    n.div_ceil(2)
}

/// Cached: a trial needs those of the same number of pairs hundreds of times.
fn levels(n: usize) -> &'static Levels {
    static LEVELS: [OnceLock<Levels>; MAX_VALUES + 1] = [const { OnceLock::new() }; MAX_VALUES + 1];
    LEVELS[n].get_or_init(|| {
        let scores = (1..=n).map(|rank| rank.min(max_score(n)));
        Levels::of_scores(&scores.collect::<Vec<_>>())
    })
}

struct Scores {
    /// Differences in ascending order.
    sorted: Vec<f64>,
    max: usize,
}

impl Scores {
    /// Sum of the scores of differences up to a center, by distance from it. The rank of a difference is the number of its averages with itself
    /// and greater ones up to the center (Tukey 1949).
    fn up_to(&self, center: f64) -> usize {
        let (mut sum, mut end) = (0, self.sorted.len());
        for (i, x) in self.sorted.iter().enumerate() {
            while end > i && f64::midpoint(*x, self.sorted[end - 1]) > center {
                end -= 1;
            }
            sum += end.saturating_sub(i).min(self.max);
        }
        sum
    }

    /// The least center with this sum, from 1 to that of all scores. By bisection of the bits of numbers, whose order is that of the numbers
    /// after the bits of negative ones are inverted, and the sign bit of the others.
    fn reach(&self, sum: usize) -> f64 {
        const SIGN: u64 = 1 << 63;
        let ordered = |x: f64| match x.is_sign_negative() {
            true => !x.to_bits(),
            false => x.to_bits() | SIGN,
        };
        let number = |ordered: u64| match ordered < SIGN {
            true => f64::from_bits(!ordered),
            false => f64::from_bits(ordered & !SIGN),
        };
        let last = self.sorted.len() - 1;
        let (mut low, mut high) = (ordered(self.sorted[0]), ordered(self.sorted[last]));
        while low < high {
            let middle = u64::midpoint(low, high);
            match self.up_to(number(middle)) >= sum {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        number(low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(n: usize, shift: f64) -> Vec<f64> {
        (0..n).map(|i| (i * 37 % 61) as f64 / 61.0 - 0.5 + shift).collect()
    }

    /// Scores of positive and of negative differences from a center, from their ranks.
    fn by_sorting(values: &[f64], center: f64, max: usize) -> [usize; 2] {
        let mut away: Vec<f64> = values.iter().map(|x| x - center).collect();
        away.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        let sum = |sign: f64| {
            let ranks = away.iter().enumerate().filter(|(_, x)| sign * **x > 0.0);
            ranks.map(|(i, _)| (i + 1).min(max)).sum()
        };
        [sum(1.0), sum(-1.0)]
    }

    #[test]
    fn scores_are_limited_ranks() {
        for n in [1_usize, 2, 5, 12, 61] {
            for max in [1, n.div_ceil(2), n] {
                let sorted = descriptive::sorted(values(n, 0.0).iter());
                let scores = Scores { sorted, max };
                for center in [-0.7, -0.211, 0.0123, 0.3017, 0.9] {
                    let [_, below] = by_sorting(&scores.sorted, center, max);
                    assert_eq!(scores.up_to(center), below, "{n} {max} {center}");
                }
            }
        }
    }

    #[test]
    fn all_averages_are_wilcoxons_test() {
        for n in [1, 2, 7, 12, 60] {
            let values = values(n, 0.1);
            let scores = Scores { sorted: descriptive::sorted(values.iter()), max: n };
            for (i, average) in descriptive::walsh(&values).into_iter().enumerate() {
                assert_eq!(scores.reach(i + 1), average, "{n} {i}");
            }
        }
    }

    #[test]
    fn p_and_interval_agree() {
        for n in [12, 13, 40, 130] {
            for shift in [-1.0, -0.2, -0.05, 0.0, 0.08, 0.3] {
                let (center, interval, p) = test(&values(n, shift), 0.99);
                let [low, high] = interval.unwrap();
                assert!(low <= center && center <= high);
                assert_eq!(p > 0.01, low <= 0.0 && high >= 0.0, "{n} {shift} {p} {interval:?}");
                // mirrored
                let opposite: Vec<f64> = values(n, shift).iter().map(|x| -x).collect();
                let (other, ends, same) = test(&opposite, 0.99);
                assert_eq!((ends.map(|[a, b]| [-b, -a]), same), (interval, p));
                assert!((other + center).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn equal_signs_have_smallest_p() {
        let all = values(12, 1.0);
        let sorted = descriptive::sorted(all.iter());
        let (_, interval, p) = test(&all, 0.9995);
        assert_eq!((interval, p), (Some([sorted[0], sorted[11]]), 2.0_f64.powi(-11)));
        let (center, interval, p) = test(&[0.0; 20], 0.99);
        assert_eq!((center, interval, p), (0.0, Some([0.0, 0.0]), 1.0));
    }

    #[test]
    fn disturbed_pairs_hardly_widen_intervals() {
        // two of five pairs, on either side
        let disturbed = values(60, 0.0)
            .into_iter()
            .enumerate()
            .map(|(i, x)| 0.02 * x + [0.0, 0.3, 0.0, -0.3, 0.0][i % 5]);
        let disturbed: Vec<f64> = disturbed.collect();
        let width = |[low, high]: [f64; 2]| high - low;
        let ranks = crate::rank_intervals::RankIntervals::one(&disturbed);
        let wilcoxon = ranks.interval(0.999, crate::scatter::Scatter::known(0.0)).unwrap();
        let (_, interval, _) = test(&disturbed, 0.999);
        assert!(5.0 * width(interval.unwrap()) < width(wilcoxon), "{interval:?} {wilcoxon:?}");
    }
}
