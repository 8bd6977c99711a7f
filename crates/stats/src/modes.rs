//! Whether launches fall into separate groups.
//!
//! The null hypothesis is any density that rises to one peak and falls after it. A gap between two neighbors has the
//! peak on one side of it at most, so on the other side the density falls, and the distances between the values there
//! are, if anything, larger than the gap. For the next m of them, with sum S, the chance of a gap of c S or more is then
//! at most (1 + c)^-m: distances between neighbors of a constant density are exponential, and gap and S independent.
//! Which side that is cannot be known, so a gap counts with the larger of the chances of its two sides, and each side
//! with the smallest over m. A single outlier has no distances beyond it, and so is no mode.
//!
//! The smallest of many p values is not uniform. Simulated under a constant density, 0.8 / n^2 is the level of 1%
//! within a fifth for 15 to 60 values, and below it for fewer; no other unimodal shape that was tried is worse.
//! Against the dip test (Hartigan and Hartigan 1985) at 1%: better for unequal groups that are clearly apart, worse
//! for equal ones that nearly touch (docs/validation.md).

use crate::descriptive;

/// Fewest values in a group; an outlier with one companion is not a mode.
const GROUP: usize = 3;

/// Number of clearly separated groups; `None` for fewer than six values, which cannot form two groups.
///
/// Distances below the smallest nonzero one count as that: clocks and rounding make equal values, which are not infinitely close.
pub fn modes(values: &[f64]) -> Option<usize> {
    let n = values.len();
    if n < 2 * GROUP {
        return None;
    }
    let sorted = descriptive::sorted(values);
    let gaps: Vec<f64> = sorted.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let positive = gaps.iter().copied().filter(|gap| *gap > 0.0);
    let finest = positive.fold(f64::INFINITY, f64::min);
    let level = 0.8 / (n * n) as f64;
    // GROUP values on either side have one distance less
    let apart = (GROUP - 1..=n - 1 - GROUP).filter(|index| {
        let right = chance(gaps[*index], gaps[index + 1..].iter(), finest);
        let left = chance(gaps[*index], gaps[..*index].iter().rev(), finest);
        right.max(left) <= level
    });
    Some(1 + apart.count())
}

/// The smallest (1 + gap / S)^-m over the sums S of the next m distances beyond the gap.
fn chance<'a>(gap: f64, beyond: impl Iterator<Item = &'a f64>, finest: f64) -> f64 {
    let (mut sum, mut min) = (0.0, 1.0_f64);
    for (m, distance) in (1..).zip(beyond) {
        sum += distance.max(finest);
        if m + 1 >= GROUP as i32 {
            min = min.min((1.0 + gap / sum).powi(-m));
        }
    }
    min
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values spread evenly over `width` from `start`.
    fn group(start: f64, width: f64, n: usize) -> Vec<f64> {
        (0..n).map(|i| start + width * i as f64 / n as f64).collect()
    }

    #[test]
    fn two_groups_far_apart() {
        let two = [group(100.0, 2.0, 8), group(110.0, 2.0, 8)].concat();
        assert_eq!(modes(&two), Some(2));
        let three = [two.clone(), group(130.0, 3.0, 9)].concat();
        assert_eq!(modes(&three), Some(3));
        assert_eq!(modes(&[two, vec![500.0]].concat()), Some(2));
    }

    #[test]
    fn one_group() {
        assert_eq!(modes(&group(100.0, 3.0, 30)), Some(1));
        assert_eq!(modes(&[7.0; 12]), Some(1));
        assert_eq!(modes(&[group(100.0, 3.0, 12), vec![150.0]].concat()), Some(1));
        assert_eq!(modes(&[group(100.0, 3.0, 12), vec![150.0, 150.5]].concat()), Some(1));
        assert_eq!(modes(&[1.0; 5]), None);
    }

    #[test]
    fn ticks_are_not_modes() {
        let ticks: Vec<f64> = (0..20).map(|i| f64::from(i % 2)).collect();
        assert_eq!(modes(&ticks), Some(1));
    }
}
