//! p values adjusted for many benchmarks.

/// Benjamini and Hochberg (1995): the i-th smallest of m becomes the smallest of p_j m / j over j >= i, at most 1. Rows without p are
/// ignored.
///
/// Rows of one run share its conditions, so their p values are correlated; the method keeps its rate under such positive dependence
/// (Benjamini and Yekutieli 2001).
pub fn benjamini_hochberg(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut known: Vec<(usize, f64)> =
        p.iter().enumerate().filter_map(|(row, p)| p.map(|p| (row, p))).collect();
    known.sort_by(|a, b| b.1.total_cmp(&a.1));
    let m = known.len();
    let mut adjusted = vec![None; p.len()];
    let mut min: f64 = 1.0;
    for (from_largest, (row, p)) in known.into_iter().enumerate() {
        min = min.min(p * m as f64 / (m - from_largest) as f64);
        adjusted[row] = Some(min);
    }
    adjusted
}

/// Holm (1979): the i-th smallest of m becomes the largest of p_j (m - j + 1) over j <= i, at most 1: it controls the probability of any
/// false call, under any dependence.
pub fn holm(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let known = p.iter().enumerate();
    let mut known: Vec<(usize, f64)> = known.filter_map(|(row, p)| Some((row, (*p)?))).collect();
    known.sort_by(|a, b| a.1.total_cmp(&b.1));
    let m = known.len();
    let mut adjusted = vec![None; p.len()];
    let mut max: f64 = 0.0;
    for (smaller, (row, p)) in known.into_iter().enumerate() {
        max = max.max(p * (m - smaller) as f64).min(1.0);
        adjusted[row] = Some(max);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_by_hand() {
        let p = [Some(0.04), None, Some(0.001), Some(0.9), Some(0.03), Some(0.011)];
        let adjusted = benjamini_hochberg(&p);
        // 0.001 x 5, 0.011 x 5 / 2, 0.03 x 5 / 3 = 0.05 and 0.04 x 5 / 4 = 0.05, 0.9
        let want = [Some(0.05), None, Some(0.005), Some(0.9), Some(0.05), Some(0.0275)];
        for (got, want) in adjusted.iter().zip(want) {
            assert_eq!(got.is_some(), want.is_some());
            assert!((got.unwrap_or(0.0) - want.unwrap_or(0.0)).abs() < 1e-12);
        }
    }

    #[test]
    fn holm_by_hand() {
        let adjusted = holm(&[Some(0.04), None, Some(0.01), Some(0.03), Some(0.9)]);
        // 0.01 x 4, 0.03 x 3, the larger of 0.04 x 2 and that, 0.9
        for (got, want) in adjusted.iter().zip([0.09, f64::NAN, 0.04, 0.09, 0.9]) {
            assert!(got.is_none_or(|got| (got - want).abs() < 1e-12), "{got:?}");
        }
        assert_eq!(adjusted[1], None);
        assert_eq!(holm(&[]), []);
    }

    #[test]
    fn adjusted_p_keeps_order() {
        assert_eq!(benjamini_hochberg(&[]), []);
        assert_eq!(benjamini_hochberg(&[None]), [None]);
        assert_eq!(benjamini_hochberg(&[Some(0.2)]), [Some(0.2)]);
        let adjusted = benjamini_hochberg(&[Some(1.0), Some(0.6), Some(0.6)]);
        assert_eq!(adjusted[0], Some(1.0));
        assert!(adjusted.iter().flatten().all(|p| *p <= 1.0));
        // a larger p that counts for less pulls the smaller ones down with it
        let pulled = benjamini_hochberg(&[Some(0.04), Some(0.05)]);
        assert_eq!(pulled, [Some(0.05), Some(0.05)]);
    }
}
