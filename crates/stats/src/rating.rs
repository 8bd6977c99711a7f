//! One number over many rows: the weighted mean of how they stand against a reference.
//!
//! Must not know: which rows belong together, where the reference comes from.

use crate::rounds::{Residuals, Rounds};
use crate::{order, quantile};
use gritstone_model::Better;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::fmt;

/// Resamplings: the standard deviation of ln(rating) is then known to 3 %.
const RESAMPLINGS: usize = 500;
/// Fewest launches of each row for an interval.
const LAUNCHES: usize = 6;

/// One row of a rating.
#[derive(Clone, Debug, PartialEq)]
pub struct RatingRow {
    /// Its name, for messages and for the leave-one-out range.
    pub name: String,
    /// Round and value of each measured launch; empty for a row that is missing.
    pub launches: Vec<(u32, f64)>,
    /// The reference's value, in the same unit.
    pub reference: f64,
    /// Which way is good.
    pub better: Better,
    /// Weight, above 0; only the proportions matter. Equal weights inside a group of k rows are 1 / k each.
    pub weight: f64,
    /// A claim of work failed.
    pub starred: bool,
}

/// The rating.
#[derive(Clone, Debug, PartialEq)]
pub struct Rating {
    /// Of [`geometric`]: above 1 is better than the reference. Of [`arithmetic`]: the mean ratio to it.
    pub value: f64,
    /// Interval by resampling launches; `None` when a row has fewer than six of them. The reference is taken as exact.
    pub interval: Option<[f64; 2]>,
    /// The rating without one row, smallest and largest, with that row's name; `None` for a single row.
    pub leave_one_out: Option<[(String, f64); 2]>,
    /// Rows in it.
    pub rows: usize,
}

/// Why there is no rating.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// There are no rows.
    Empty,
    /// These rows have no launches.
    Missing(Vec<String>),
    /// These rows have more than 1,000 launches.
    TooMany(Vec<String>),
    /// These rows have a claim of work that failed.
    Starred(Vec<String>),
    /// These rows have a value, reference or weight that is not positive and finite.
    NotPositive(Vec<String>),
}

impl fmt::Display for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "there are no rows to rate by"),
            Self::Missing(rows) => write!(f, "not measured: {}", rows.join(", ")),
            Self::TooMany(rows) => write!(f, "more than 1,000 launches: {}", rows.join(", ")),
            Self::Starred(rows) => write!(f, "a claim of work failed: {}", rows.join(", ")),
            Self::NotPositive(rows) => write!(
                f,
                "a value, reference or weight is not positive: {}",
                rows.join(", ")
            ),
        }
    }
}

impl std::error::Error for Withheld {}

/// The rating of the rows of one run: exp(sum w s ln(x / reference)), x the row's pseudo-median, s = 1 where higher is
/// better and -1 where lower is, w the share of the weights. The geometric mean is the only one whose order of machines
/// does not depend on the reference (Fleming and Wallace 1986).
///
/// The interval: launches are drawn again within rows, with replacement, `seed` fixing the draws. A slow minute moves
/// all rows of a round together, which would be lost if each row drew for itself; so the effect of rounds is estimated
/// from the rows that are in all of them (two at least), and drawn again by rounds, the same for all rows; what is left is
/// drawn by launches within rows. ln(rating) ± t times the standard deviation of the resampled ln(rating), t Student's
/// quantile for the launches of the row that has fewest, less one: right when rounds are what scatters, too wide
/// when rows scatter independently.
///
/// # Errors
/// When a row is missing or starred, or has a number that has no logarithm: a rating over what is left would be another
/// rating under the same name.
pub fn geometric(rows: &[RatingRow], confidence: f64, seed: u64) -> Result<Rating, Withheld> {
    rate(Mean::Geometric, rows, confidence, seed)
}

/// The weighted arithmetic mean of x / reference, as in the real-time summary of hp-1987, table 5.1. `better` is not
/// looked at: of times, lower is better. Everything else as for [`geometric`].
///
/// # Errors
/// As for [`geometric`].
pub fn arithmetic(rows: &[RatingRow], confidence: f64, seed: u64) -> Result<Rating, Withheld> {
    rate(Mean::Arithmetic, rows, confidence, seed)
}

fn rate(mean: Mean, rows: &[RatingRow], confidence: f64, seed: u64) -> Result<Rating, Withheld> {
    check(rows)?;
    let (terms, residuals): (Vec<Term>, Vec<Residuals>) = rows.iter().map(term).unzip();
    let still = vec![0.0; terms.len()];
    let ln = mean.ln(&terms, &still);
    let fewest = rows.iter().map(|row| row.launches.len()).min();
    let interval = fewest.filter(|n| *n >= LAUNCHES).map(|fewest| {
        let rounds = Rounds::of(&residuals);
        let mut random = Pcg64::seed_from_u64(seed);
        let drawn: Vec<f64> = (0..RESAMPLINGS)
            .map(|_| mean.ln(&terms, &rounds.draw(&mut random)))
            .collect();
        let half = quantile::student(confidence, (fewest - 1) as f64) * order::deviation(&drawn);
        [(ln - half).exp(), (ln + half).exp()]
    });
    Ok(Rating {
        value: ln.exp(),
        interval,
        leave_one_out: leave_one_out(mean, rows, &terms),
        rows: rows.len(),
    })
}

fn check(rows: &[RatingRow]) -> Result<(), Withheld> {
    let named = |bad: &dyn Fn(&RatingRow) -> bool| -> Vec<String> {
        let rows = rows.iter().filter(|row| bad(row));
        rows.map(|row| row.name.clone()).collect()
    };
    let fit = |x: f64| x.is_finite() && x > 0.0;
    let missing = named(&|row| row.launches.is_empty());
    let many = named(&|row| row.launches.len() > order::MOST);
    let starred = named(&|row| row.starred);
    let unfit = named(&|row| {
        !fit(row.reference) || !fit(row.weight) || row.launches.iter().any(|(_, x)| !fit(*x))
    });
    if rows.is_empty() {
        Err(Withheld::Empty)
    } else if !missing.is_empty() {
        Err(Withheld::Missing(missing))
    } else if !many.is_empty() {
        Err(Withheld::TooMany(many))
    } else if !starred.is_empty() {
        Err(Withheld::Starred(starred))
    } else if !unfit.is_empty() {
        Err(Withheld::NotPositive(unfit))
    } else {
        Ok(())
    }
}

/// A row on the logarithmic scale.
#[derive(Clone, Copy)]
struct Term {
    weight: f64,
    better: Better,
    /// ln(pseudo-median / reference).
    ln: f64,
}

fn term(row: &RatingRow) -> (Term, Residuals) {
    let logs: Vec<f64> = row.launches.iter().map(|(_, x)| x.ln()).collect();
    let centre = order::pseudo_median(&logs);
    let term = Term {
        weight: row.weight,
        better: row.better,
        ln: centre - row.reference.ln(),
    };
    let launches = row.launches.iter().zip(&logs);
    (
        term,
        launches
            .map(|((round, _), x)| (*round, x - centre))
            .collect(),
    )
}

#[derive(Clone, Copy)]
enum Mean {
    Geometric,
    Arithmetic,
}

impl Mean {
    /// ln(rating) when the rows lie `moved` above their pseudo-medians.
    fn ln(self, terms: &[Term], moved: &[f64]) -> f64 {
        let total: f64 = terms.iter().map(|term| term.weight).sum();
        let parts = terms.iter().zip(moved).map(|(term, moved)| {
            let ln = term.ln + moved;
            let part = match (self, term.better) {
                (Self::Geometric, Better::Higher) => ln,
                (Self::Geometric, Better::Lower) => -ln,
                (Self::Arithmetic, _) => ln.exp(),
            };
            term.weight / total * part
        });
        match self {
            Self::Geometric => parts.sum(),
            Self::Arithmetic => parts.sum::<f64>().ln(),
        }
    }
}

/// The rating without the row that lifts it most, and without the one that lowers it most.
fn leave_one_out(mean: Mean, rows: &[RatingRow], terms: &[Term]) -> Option<[(String, f64); 2]> {
    let still = vec![0.0; terms.len()];
    let without = |(left, row): (usize, &RatingRow)| {
        let rest = [&terms[..left], &terms[left + 1..]].concat();
        (row.name.clone(), mean.ln(&rest, &still).exp())
    };
    let mut all: Vec<(String, f64)> = rows.iter().enumerate().map(without).collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    (all.len() > 1).then(|| [all[0].clone(), all[all.len() - 1].clone()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, value: f64, reference: f64, better: Better) -> RatingRow {
        let scatter = [1.0, 1.01, 0.99, 1.02, 0.98, 1.005, 0.995, 1.0];
        RatingRow {
            name: name.to_owned(),
            launches: (0..).zip(scatter.map(|s| s * value)).collect(),
            reference,
            better,
            weight: 1.0,
            starred: false,
        }
    }

    #[test]
    fn four_and_nine_are_six() {
        // 4 times better in time, 9 times in rate
        let rows = [
            row("time", 25.0, 100.0, Better::Lower),
            row("rate", 900.0, 100.0, Better::Higher),
        ];
        let rating = geometric(&rows, 0.95, 1).unwrap();
        assert!((rating.value - 6.0).abs() < 0.03, "{rating:?}");
        let [low, high] = rating.interval.unwrap();
        assert!(low < rating.value && rating.value < high && high / low < 1.04);
        let [(worst, least), (best, most)] = rating.leave_one_out.unwrap();
        assert_eq!((worst.as_str(), best.as_str()), ("rate", "time"));
        assert!((least - 4.0).abs() < 0.03 && (most - 9.0).abs() < 0.05);
    }

    /// Weights in 1 / 105 and the ratios of both models, as in table 5.1 of hp-1987.
    const HP: [(f64, f64, f64); 17] = [
        (21.0, 1.69, 1.73),
        (7.0, 2.85, 2.67),
        (7.0, 2.91, 1.84),
        (7.0, 2.05, 2.67),
        (7.0, 2.82, 1.44),
        (7.0, 2.27, 1.7),
        (7.0, 0.57, 0.23),
        (7.0, 0.68, 0.37),
        (7.0, 0.54, 0.32),
        (7.0, 0.54, 0.37),
        (3.0, 2.76, 1.6),
        (3.0, 2.58, 1.57),
        (3.0, 1.45, 0.68),
        (3.0, 1.48, 0.83),
        (3.0, 1.0, 1.0),
        (3.0, 1.0, 1.0),
        (3.0, 1.0, 1.0),
    ];

    #[test]
    fn the_published_summary_comes_out() {
        let rows = |ratio: fn(&(f64, f64, f64)) -> f64| -> Vec<RatingRow> {
            HP.iter()
                .map(|line| RatingRow {
                    name: String::new(),
                    launches: vec![(0, ratio(line))],
                    reference: 1.0,
                    better: Better::Higher,
                    weight: line.0,
                    starred: false,
                })
                .collect()
        };
        let (small, large) = (rows(|line| line.1), rows(|line| line.2));
        let hundredths = |rating: Result<Rating, Withheld>| (rating.unwrap().value * 100.0).round();
        assert_eq!(hundredths(arithmetic(&small, 0.95, 1)), 168.0);
        assert_eq!(hundredths(arithmetic(&large, 0.95, 1)), 134.0);
        assert_eq!(hundredths(geometric(&small, 0.95, 1)), 142.0);
        assert_eq!(hundredths(geometric(&large, 0.95, 1)), 105.0);
    }

    #[test]
    fn weights_count_by_proportion() {
        let mut rows = [
            row("a", 200.0, 100.0, Better::Higher),
            row("b", 1600.0, 100.0, Better::Higher),
        ];
        rows[0].weight = 30.0;
        rows[1].weight = 10.0;
        let want = 2.0_f64.powf(0.75) * 16.0_f64.powf(0.25);
        assert!((geometric(&rows, 0.95, 1).unwrap().value / want - 1.0).abs() < 0.005);
    }

    #[test]
    fn the_seed_fixes_the_interval() {
        let rows = [
            row("a", 3.0, 1.0, Better::Lower),
            row("b", 5.0, 1.0, Better::Lower),
        ];
        let at = |seed| geometric(&rows, 0.95, seed).unwrap();
        assert_eq!(at(7), at(7));
        assert_ne!(at(7).interval, at(8).interval);
        assert_eq!(at(7).value, at(8).value);
    }

    #[test]
    fn what_withholds_it() {
        assert_eq!(geometric(&[], 0.95, 1), Err(Withheld::Empty));
        let good = row("good", 1.0, 1.0, Better::Higher);
        let with = |change: &dyn Fn(&mut RatingRow)| {
            let mut bad = row("bad", 1.0, 1.0, Better::Higher);
            change(&mut bad);
            geometric(&[good.clone(), bad], 0.95, 1).unwrap_err()
        };
        let bad = || vec!["bad".to_owned()];
        assert_eq!(with(&|row| row.launches.clear()), Withheld::Missing(bad()));
        assert_eq!(
            with(&|row| row.launches = vec![(0, 1.0); 1001]),
            Withheld::TooMany(bad())
        );
        assert_eq!(with(&|row| row.starred = true), Withheld::Starred(bad()));
        assert_eq!(
            with(&|row| row.reference = 0.0),
            Withheld::NotPositive(bad())
        );
        assert_eq!(with(&|row| row.weight = -1.0), Withheld::NotPositive(bad()));
        let not_a_number = with(&|row| row.launches[0].1 = f64::NAN);
        assert_eq!(not_a_number, Withheld::NotPositive(bad()));
        assert_eq!(
            not_a_number.to_string(),
            "a value, reference or weight is not positive: bad"
        );
    }

    #[test]
    fn few_launches_and_single_rows() {
        let mut one = row("one", 3.0, 1.0, Better::Higher);
        let rating = geometric(&[one.clone()], 0.95, 1).unwrap();
        assert!(rating.leave_one_out.is_none() && rating.interval.is_some());
        one.launches.truncate(5);
        assert!(geometric(&[one], 0.95, 1).unwrap().interval.is_none());
    }

    #[test]
    fn a_common_effect_of_rounds_does_not_average_out() {
        // 16 rows that all move together, against 16 of the same scatter each in an order of its own
        let moved = |own: usize| -> Vec<RatingRow> {
            let row_of = |i: usize| {
                let mut row = row(&i.to_string(), 1.0, 1.0, Better::Higher);
                let n = row.launches.len();
                let values: Vec<f64> = row.launches.iter().map(|(_, x)| *x).collect();
                for (k, launch) in row.launches.iter_mut().enumerate() {
                    launch.1 = values[(k * (1 + 2 * (own * i % 4)) + own * i) % n];
                }
                row
            };
            (0..16).map(row_of).collect()
        };
        let width = |rows: &[RatingRow]| {
            let [low, high] = geometric(rows, 0.95, 1).unwrap().interval.unwrap();
            high / low - 1.0
        };
        let (together, apart) = (width(&moved(0)), width(&moved(1)));
        assert!(together > 2.5 * apart, "{together} {apart}");
    }
}
