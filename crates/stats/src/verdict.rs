//! Verdict from interval and p.

/// Outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The other is better.
    Faster,
    /// The other is worse.
    Slower,
    /// The interval is inside the margin.
    Same,
    /// The interval is too wide, or there is none.
    Inconclusive,
}

/// Whether an interval of a ratio lies inside \[1 / (1 + margin), 1 + margin\].
pub fn is_within_margin([low, high]: [f64; 2], margin: f64) -> bool {
    low >= 1.0 / (1.0 + margin) && high <= 1.0 + margin
}

/// Verdict of a comparison; a ratio above 1 means that the other is better.
///
/// In this order:
/// 1. no interval: inconclusive;
/// 2. the interval lies inside \[1 / (1 + margin), 1 + margin\]: no difference, however small p is, since a change within the margin is
///    irrelevant even if it is certain. As the interval is two-sided, a true difference beyond the margin is called none in at most (1 -
///    confidence) / 2 of such rows: two one-sided tests;
/// 3. p, adjusted for the number of rows, is below `alpha`, and the interval excludes 1: faster or slower. Both are required, since the
///    interval is not adjusted for the number of rows, and p may have another level than the interval. The word gives the direction; the size
///    may still be below the margin, as the interval shows;
/// 4. anything else: inconclusive.
pub fn verdict(
    ratio_interval: Option<[f64; 2]>,
    p_adjusted: Option<f64>,
    margin: f64,
    alpha: f64,
) -> Verdict {
    let Some([low, high]) = ratio_interval else {
        return Verdict::Inconclusive;
    };
    let significant = p_adjusted.is_some_and(|p| p < alpha);
    if is_within_margin([low, high], margin) {
        Verdict::Same
    } else if significant && low > 1.0 {
        Verdict::Faster
    } else if significant && high < 1.0 {
        Verdict::Slower
    } else {
        Verdict::Inconclusive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_four() {
        let says = |interval, p| verdict(interval, p, 0.01, 0.05);
        assert_eq!(says(Some([1.02, 1.04]), Some(0.001)), Verdict::Faster);
        assert_eq!(says(Some([0.92, 0.97]), Some(0.001)), Verdict::Slower);
        assert_eq!(says(Some([0.995, 1.005]), Some(0.5)), Verdict::Same);
        assert_eq!(says(Some([0.95, 1.05]), Some(0.5)), Verdict::Inconclusive);
        assert_eq!(says(None, Some(0.001)), Verdict::Inconclusive);
    }

    #[test]
    fn where_the_rules_meet() {
        let says = |interval, p| verdict(Some(interval), p, 0.01, 0.05);
        // significant, but within the margin
        assert_eq!(says([1.002, 1.006], Some(1e-6)), Verdict::Same);
        // an interval across the margin is a difference of uncertain size
        assert_eq!(says([1.002, 1.03], Some(0.001)), Verdict::Faster);
        // the interval excludes 1, but this is not significant among that many rows
        assert_eq!(says([1.02, 1.04], Some(0.2)), Verdict::Inconclusive);
        assert_eq!(says([1.02, 1.04], Some(0.05)), Verdict::Inconclusive);
        assert_eq!(says([1.02, 1.04], None), Verdict::Inconclusive);
        assert_eq!(says([0.98, 1.04], Some(0.001)), Verdict::Inconclusive);
        // equivalence needs no p
        assert_eq!(says([0.999, 1.001], None), Verdict::Same);
        // margin 0: only an exact ratio of 1 is no difference
        assert_eq!(verdict(Some([1.0, 1.0]), None, 0.0, 0.05), Verdict::Same);
        assert_eq!(verdict(Some([f64::NAN; 2]), Some(0.0), 0.01, 0.05), Verdict::Inconclusive);
    }
}
