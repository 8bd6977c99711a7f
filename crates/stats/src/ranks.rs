//! Rank tests of groups against the others, within strata: values of different strata are never compared with each other.

use crate::quantile;

/// Two-sided p of each group against all others by the rank-sum test (Wilcoxon, Mann and Whitney), summed over strata (van Elteren without
/// weights), with midranks, by the normal approximation with continuity correction; `None` without values to compare.
///
/// A stratum has values in ascending order, each with its group. With few values the test is conservative.
pub fn p_of_groups(strata: &[Vec<(f64, usize)>], groups: usize) -> Vec<Option<f64>> {
    let mut off = vec![0.0; groups];
    let mut variance = vec![0.0; groups];
    for stratum in strata {
        let n = stratum.len() as f64;
        let (mut sums, mut counts) = (vec![0.0; groups], vec![0.0; groups]);
        let (mut before, mut ties) = (0.0, 0.0);
        for equal in stratum.chunk_by(|a, b| a.0 == b.0) {
            let tied = equal.len() as f64;
            for (_, group) in equal {
                sums[*group] += before + (tied + 1.0) / 2.0;
                counts[*group] += 1.0;
            }
            before += tied;
            ties += tied.powi(3) - tied;
        }
        for group in 0..groups {
            let size = counts[group];
            if size > 0.0 && size < n {
                off[group] += sums[group] - size * (n + 1.0) / 2.0;
                variance[group] += size * (n - size) / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
            }
        }
    }
    let p = |(off, variance): (f64, f64)| {
        let z = (off.abs() - 0.5).max(0.0) / variance.sqrt();
        (variance > 0.0).then(|| quantile::normal_tails(z))
    };
    off.into_iter().zip(variance).map(p).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pseudorandom value between 0 and 1: splitmix64.
    fn value(number: u64) -> f64 {
        let mut z = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z >> 11) as f64 / (1_u64 << 53) as f64
    }

    #[test]
    fn ranks_equal_textbook_example() {
        // five against five that are all smaller: U = 0 of 25, sd = sqrt(25 x 11 / 12)
        let apart: Vec<(f64, usize)> =
            (0..10).map(|n| (f64::from(n), usize::from(n >= 5))).collect();
        let p = p_of_groups(std::slice::from_ref(&apart), 3);
        let want = quantile::normal_tails(12.0 / (25.0_f64 * 11.0 / 12.0).sqrt());
        assert!((p[0].unwrap() - want).abs() < 1e-12 && p[0] == p[1]);
        assert_eq!(p[2], None);
        // ties have no evidence
        assert_eq!(p_of_groups(&[vec![(1.0, 0), (1.0, 1), (1.0, 1)]], 2), [None, None]);
        // a group that is a whole stratum has nothing to compare with
        let lone = vec![(0.0, 2), (1.0, 2)];
        assert_eq!(p_of_groups(&[apart, lone], 3), p);
    }

    #[test]
    fn equal_groups_are_rarely_rejected() {
        let mut rejected = 0;
        for seed in 0..400 {
            let place = |n: u64| (value(20 * seed + n), usize::from(n < 6));
            let mut one: Vec<(f64, usize)> = (0..20).map(place).collect();
            one.sort_by(|a, b| a.0.total_cmp(&b.0));
            rejected += usize::from(p_of_groups(&[one], 2)[0].unwrap() <= 0.05);
        }
        // 20 are expected, 34 have a chance of one in a thousand
        assert!((6..34).contains(&rejected), "{rejected}");
    }
}
