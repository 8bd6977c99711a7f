//! What the rows of a run have in common: a slow minute moves all launches of a round together.
//!
//! A two-way layout with random rounds: residual = effect of the round + the row's own scatter. The effect is estimated by
//! the mean over the k rows that are in all rounds. The variance of such a mean is that of the effect plus 1 / k of that of
//! the rows' own scatter; the effects are shrunk to the first part, since the second is drawn by rows already.
//!
//! Must not know: ratings, weights, references.

use crate::order;
use rand::{Rng, RngExt};
use std::collections::{BTreeMap, BTreeSet};

/// Round and residual on the logarithmic scale of each launch of a row.
pub(crate) type Residuals = Vec<(u32, f64)>;

/// What is drawn from when launches are drawn again.
pub(crate) struct Rounds {
    /// The rounds, when at least two rows are in all of them; else none, and nothing is common.
    rounds: Vec<u32>,
    /// Effects of rounds.
    common: Vec<f64>,
    /// For each row the rounds of its launches, and its own scatter.
    rows: Vec<(Vec<u32>, Vec<f64>)>,
}

impl Rounds {
    /// Takes the residuals of rows with at least one launch each apart.
    pub fn of(rows: &[Residuals]) -> Self {
        let all: BTreeSet<u32> = rows.iter().flatten().map(|(round, _)| *round).collect();
        let is_whole = |row: &Residuals| {
            let own: BTreeSet<u32> = row.iter().map(|(round, _)| *round).collect();
            own == all && row.len() == all.len()
        };
        let whole: Vec<&Residuals> = rows.iter().filter(|row| is_whole(row)).collect();
        let k = whole.len() as f64;
        let mut means: BTreeMap<u32, f64> = BTreeMap::new();
        if whole.len() >= 2 && all.len() >= 2 {
            for (round, x) in whole.iter().copied().flatten() {
                *means.entry(*round).or_default() += x / k;
            }
        }
        let left = |row: &Residuals| -> Vec<f64> {
            let mean = |round| means.get(round).unwrap_or(&0.0);
            row.iter().map(|(round, x)| x - mean(round)).collect()
        };
        // a whole row is in the means itself, which takes 1 / k of its scatter away
        let part = if means.is_empty() { 1.0 } else { 1.0 - 1.0 / k };
        let own = |row: &Residuals| {
            let factor = if is_whole(row) {
                part.sqrt().recip()
            } else {
                1.0
            };
            scaled(&inflated(&left(row)), factor)
        };
        let squares = whole.iter().map(|row| order::deviation(&left(row)).powi(2));
        let own_variance = squares.sum::<f64>() / part / k;
        let effects: Vec<f64> = means.values().copied().collect();
        let variance = order::deviation(&effects).powi(2);
        let share = if variance > 0.0 {
            (1.0 - own_variance / k / variance).max(0.0)
        } else {
            0.0
        };
        Self {
            common: scaled(&inflated(&effects), share.sqrt()),
            rounds: means.keys().copied().collect(),
            rows: rows
                .iter()
                .map(|row| (row.iter().map(|(round, _)| *round).collect(), own(row)))
                .collect(),
        }
    }

    /// Draws all launches again, with replacement, and takes the pseudo-median of the residuals of each row.
    pub fn draw(&self, random: &mut impl Rng) -> Vec<f64> {
        let mut draw = |from: &[f64]| from[random.random_range(0..from.len())];
        let again = |round: &u32| (*round, draw(&self.common));
        let drawn: BTreeMap<u32, f64> = self.rounds.iter().map(again).collect();
        let centre = |(rounds, own): &(Vec<u32>, Vec<f64>)| {
            let launch = |round| drawn.get(round).unwrap_or(&0.0) + draw(own);
            order::pseudo_median(&rounds.iter().map(launch).collect::<Vec<f64>>())
        };
        self.rows.iter().map(centre).collect()
    }
}

fn scaled(values: &[f64], factor: f64) -> Vec<f64> {
    values.iter().map(|x| x * factor).collect()
}

/// Centred, and stretched by sqrt(n / (n - 1)): draws from n values have that much less variance than what they came from.
fn inflated(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    if n < 2.0 {
        return values.to_vec();
    }
    let mean = order::mean(values);
    let centred: Vec<f64> = values.iter().map(|x| x - mean).collect();
    scaled(&centred, (n / (n - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_common_and_what_is_not() {
        // effects -1, 0, 1, and nothing else: all of it is common
        let row: Residuals = vec![(0, -1.0), (1, 0.0), (2, 1.0)];
        let rounds = Rounds::of(&[row.clone(), row.clone(), row.clone()]);
        let stretch = 1.5_f64.sqrt();
        assert_eq!(rounds.common, [-stretch, 0.0, stretch]);
        assert!(rounds.rows.iter().all(|(_, own)| *own == [0.0; 3]));
        // opposite rows have nothing in common, and all is their own: sqrt(1.5) for n, sqrt(2) for the mean of two
        let opposite: Residuals = row.iter().map(|(r, x)| (*r, -x)).collect();
        let rounds = Rounds::of(&[row.clone(), opposite]);
        assert!(rounds.common.iter().all(|x| *x == 0.0));
        assert!((rounds.rows[0].1[2] - stretch * 2.0_f64.sqrt()).abs() < 1e-12);
        // one row alone, and rows of other rounds, have all for their own
        let alone = Rounds::of(&[row.clone(), vec![(5, 3.0)]]);
        assert!(alone.common.is_empty() && alone.rounds.is_empty());
        assert_eq!(alone.rows[0].1, [-stretch, 0.0, stretch]);
        assert_eq!(alone.rows[1], (vec![5], vec![3.0]));
    }

    #[test]
    fn a_round_with_two_launches_of_a_row_is_no_common_one() {
        let row: Residuals = vec![(0, -1.0), (1, 1.0)];
        let twice: Residuals = vec![(0, -1.0), (1, 1.0), (1, 2.0)];
        assert!(Rounds::of(&[row, twice]).common.is_empty());
    }
}
