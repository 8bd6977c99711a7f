//! One number over many rows: the weighted geometric mean of how many times better than a reference they are.
//!
//! Must not know: which rows belong together, where the reference comes from.

use crate::{order, quantile};
use gritstone_model::Better;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::fmt;

/// Resamplings: the standard deviation of ln(rating) is then known to 2 %.
const RESAMPLINGS: usize = 1000;
/// Fewest rows in all rounds from which the common effect of rounds is estimated.
const COMMON_ROWS: usize = 3;

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

/// The rating; above 1 is better than the reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Rating {
    /// exp(sum w s ln(x / reference)), x the row's pseudo-median, s = 1 where higher is better and -1 where lower is.
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

/// The rating of rows in the launches of one run.
///
/// The interval: launches are drawn again within rows, with replacement, `seed` fixing the draws. A slow minute moves
/// all rows of a round together; so the mean deviation of the rows that are in all rounds (three such rows at least) is
/// drawn again by rounds, the same for all rows, and what is left by launches within rows. ln(rating) ± t times the standard
/// deviation of the resampled ln(rating), t Student's quantile for the launches of the row that has fewest, less one.
///
/// # Errors
/// When a row is missing or starred, or has a number that has no logarithm: a rating over what is left would be another
/// rating under the same name.
pub fn geometric(rows: &[RatingRow], confidence: f64, seed: u64) -> Result<Rating, Withheld> {
    check(rows)?;
    let total: f64 = rows.iter().map(|row| row.weight).sum();
    let terms: Vec<Term> = rows.iter().map(|row| Term::new(row, total)).collect();
    let ln: f64 = terms.iter().map(Term::part).sum();
    let fewest = rows.iter().map(|row| row.launches.len()).min().unwrap_or(0);
    let interval = (fewest >= 6).then(|| {
        let t = quantile::student(confidence, (fewest - 1) as f64);
        let half = t * order::deviation(&resample(&terms, seed));
        [(ln - half).exp(), (ln + half).exp()]
    });
    Ok(Rating {
        value: ln.exp(),
        interval,
        leave_one_out: leave_one_out(rows, &terms, ln),
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
    let starred = named(&|row| row.starred);
    let unfit = named(&|row| {
        !fit(row.reference) || !fit(row.weight) || row.launches.iter().any(|(_, x)| !fit(*x))
    });
    match () {
        () if rows.is_empty() => Err(Withheld::Empty),
        () if !missing.is_empty() => Err(Withheld::Missing(missing)),
        () if !starred.is_empty() => Err(Withheld::Starred(starred)),
        () if !unfit.is_empty() => Err(Withheld::NotPositive(unfit)),
        () => Ok(()),
    }
}

/// A row on the logarithmic scale.
struct Term {
    /// Share of the weights, with the sign of the direction.
    weight: f64,
    /// ln(pseudo-median / reference).
    centre: f64,
    /// Round and ln(value / pseudo-median) of each launch.
    residuals: Vec<(u32, f64)>,
}

impl Term {
    fn new(row: &RatingRow, total: f64) -> Self {
        let logs: Vec<f64> = row.launches.iter().map(|(_, x)| x.ln()).collect();
        let centre = order::pseudo_median(&logs);
        let sign = match row.better {
            Better::Higher => 1.0,
            Better::Lower => -1.0,
        };
        Self {
            weight: sign * row.weight / total,
            centre: centre - row.reference.ln(),
            residuals: row
                .launches
                .iter()
                .zip(&logs)
                .map(|((round, _), x)| (*round, x - centre))
                .collect(),
        }
    }

    fn part(&self) -> f64 {
        self.weight * self.centre
    }
}

/// The rating without the row that lowers it most and without the one that lifts it most.
fn leave_one_out(rows: &[RatingRow], terms: &[Term], ln: f64) -> Option<[(String, f64); 2]> {
    let without = |(row, term): (&RatingRow, &Term)| {
        let rest = 1.0 - term.weight.abs();
        (row.name.clone(), ((ln - term.part()) / rest).exp())
    };
    let mut all: Vec<(String, f64)> = rows.iter().zip(terms).map(without).collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    (all.len() > 1).then(|| [all[0].clone(), all[all.len() - 1].clone()])
}

/// Deviations of ln(rating) over the resamplings.
fn resample(terms: &[Term], seed: u64) -> Vec<f64> {
    let common = common_effect(terms);
    let rounds: Vec<f64> = common.values().copied().collect();
    let own: Vec<Vec<f64>> = terms
        .iter()
        .map(|term| {
            let left = |(round, x): &(u32, f64)| x - common.get(round).unwrap_or(&0.0);
            inflate(term.residuals.iter().map(left).collect())
        })
        .collect();
    let rounds = inflate(rounds);
    let mut random = Pcg64::seed_from_u64(seed);
    let mut draw = |from: &[f64]| from[random.random_range(0..from.len())];
    (0..RESAMPLINGS)
        .map(|_| {
            let drawn: BTreeMap<u32, f64> = common.keys().map(|r| (*r, draw(&rounds))).collect();
            let mut ln = 0.0;
            for (term, own) in terms.iter().zip(&own) {
                let values: Vec<f64> = term
                    .residuals
                    .iter()
                    .map(|(round, _)| drawn.get(round).unwrap_or(&0.0) + draw(own))
                    .collect();
                ln += term.weight * order::pseudo_median(&values);
            }
            ln
        })
        .collect()
}

/// Effect of each round on all rows: the mean residual of the rows that are in all rounds; empty when these are too few.
fn common_effect(terms: &[Term]) -> BTreeMap<u32, f64> {
    let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
    for term in terms {
        for (round, _) in &term.residuals {
            sums.insert(*round, 0.0);
        }
    }
    let whole: Vec<&Term> = terms
        .iter()
        .filter(|term| {
            sums.keys()
                .all(|r| term.residuals.iter().any(|(own, _)| own == r))
        })
        .collect();
    if whole.len() < COMMON_ROWS {
        return BTreeMap::new();
    }
    for (round, x) in whole.iter().flat_map(|term| &term.residuals) {
        *sums.entry(*round).or_default() += x / whole.len() as f64;
    }
    sums
}

/// Centred, and stretched by sqrt(n / (n - 1)): draws from n values have that much less variance than what they came from.
fn inflate(values: Vec<f64>) -> Vec<f64> {
    let n = values.len() as f64;
    if n < 2.0 {
        return values;
    }
    let (mean, factor) = (order::mean(&values), (n / (n - 1.0)).sqrt());
    values.iter().map(|x| (x - mean) * factor).collect()
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
    fn four_and_a_quarter() {
        // 4 times faster in time, 9 times in rate: 6 in the middle
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
        assert_eq!(with(&|row| row.starred = true), Withheld::Starred(bad()));
        assert_eq!(
            with(&|row| row.reference = 0.0),
            Withheld::NotPositive(bad())
        );
        assert_eq!(with(&|row| row.weight = -1.0), Withheld::NotPositive(bad()));
        assert_eq!(
            with(&|row| row.launches[0].1 = f64::NAN),
            Withheld::NotPositive(bad())
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
