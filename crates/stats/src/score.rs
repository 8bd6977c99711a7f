//! Scores: weighted means of ratios to a reference.

use crate::{descriptive, quantile, undisturbed};

/// Confidence of the intervals from which standard errors are taken.
const CONFIDENCE: f64 = 0.95;
/// Fewest launches of each benchmark for an interval.
const LAUNCHES: usize = 6;

/// A benchmark of a score.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredBenchmark {
    /// Values of measured launches; empty if missing.
    pub launches: Vec<f64>,
    /// Share of each launch that was undisturbed.
    pub weights: Vec<f64>,
    /// The reference's value, in the same unit.
    pub reference: f64,
    /// Whether lower is better.
    pub lower_is_better: bool,
    /// Weight, above 0; only proportions matter. Equal weights in a group of k are 1 / k each.
    pub weight: f64,
    /// A work check failed.
    pub invalid: bool,
}

/// A mean of ratios with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Of [`geometric`]: above 1 is better than the reference. Of [`arithmetic`]: the mean ratio to it.
    pub value: f64,
    /// Interval by the delta method; `None` when a benchmark has fewer than six launches. The reference is exact.
    pub interval: Option<[f64; 2]>,
    /// Number of benchmarks.
    pub rows: usize,
}

/// Reason for a missing score, with indices of benchmarks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// No benchmarks.
    Empty,
    /// No launches.
    Missing(Vec<usize>),
    /// More than 1,000 launches.
    TooMany(Vec<usize>),
    /// A failed work check.
    Invalid(Vec<usize>),
    /// Value, reference or weight that is not positive and finite.
    NotPositive(Vec<usize>),
}

/// The score of a run: exp(sum w s ln(x / reference)), x the estimate of a benchmark, s = 1 where higher is
/// better and -1 where lower is, w the share of the weights. The geometric mean is the only one whose order of systems
/// does not depend on the reference (Fleming and Wallace 1986).
///
/// The interval is that of the delta method: ln(score) ± t times the root of the sum of (g e)^2, where e is the
/// standard error of a benchmark's estimate, from its interval ([`undisturbed::estimate`]), g the derivative of
/// ln(score), and t Student's quantile with the degrees of freedom of Welch and Satterthwaite. Variance between runs
/// is not included.
///
/// # Errors
/// When a benchmark is missing or invalid, or has a number without a logarithm.
pub fn geometric(rows: &[ScoredBenchmark], confidence: f64) -> Result<Score, Withheld> {
    rate(Mean::Geometric, rows, confidence)
}

/// The weighted arithmetic mean of x / reference, as in the real-time summary of hp-1987, table 5.1, regardless of direction: for times,
/// lower is better. Otherwise as [`geometric`].
///
/// # Errors
/// As for [`geometric`].
pub fn arithmetic(rows: &[ScoredBenchmark], confidence: f64) -> Result<Score, Withheld> {
    rate(Mean::Arithmetic, rows, confidence)
}

fn rate(mean: Mean, rows: &[ScoredBenchmark], confidence: f64) -> Result<Score, Withheld> {
    check(rows)?;
    let terms: Vec<Term> = rows.iter().map(term).collect();
    let ln = mean.ln(&terms);
    let enough = rows.iter().all(|row| row.launches.len() >= LAUNCHES);
    let interval = enough.then(|| {
        let half = half(mean, &terms, ln, confidence);
        [(ln - half).exp(), (ln + half).exp()]
    });
    Ok(Score { value: ln.exp(), interval, rows: rows.len() })
}

/// Half-width of the interval of ln(score).
fn half(mean: Mean, terms: &[Term], ln: f64, confidence: f64) -> f64 {
    let total: f64 = terms.iter().map(|term| term.weight).sum();
    let parts = terms.iter().map(|term| {
        let derivative = match mean {
            Mean::Geometric => 1.0,
            Mean::Arithmetic => (term.ln - ln).exp(),
        };
        ((term.weight / total * derivative * term.error).powi(2), term.n - 1.0)
    });
    let (sum, squares) = parts.fold((0.0, 0.0), |(sum, squares), (variance, freedom)| {
        (sum + variance, squares + variance.powi(2) / freedom)
    });
    if sum > 0.0 { quantile::student(confidence, sum.powi(2) / squares) * sum.sqrt() } else { 0.0 }
}

fn check(rows: &[ScoredBenchmark]) -> Result<(), Withheld> {
    let places = |bad: &dyn Fn(&ScoredBenchmark) -> bool| -> Option<Vec<usize>> {
        let rows = rows.iter().enumerate().filter(|(_, row)| bad(row));
        let places: Vec<usize> = rows.map(|(place, _)| place).collect();
        (!places.is_empty()).then_some(places)
    };
    let is_positive = |x: f64| x.is_finite() && x > 0.0;
    let has_bad_number = |row: &ScoredBenchmark| {
        !is_positive(row.reference)
            || !is_positive(row.weight)
            || row.launches.iter().any(|x| !is_positive(*x))
    };
    let why = (rows.is_empty().then_some(Withheld::Empty))
        .or_else(|| places(&|row| row.launches.is_empty()).map(Withheld::Missing))
        .or_else(|| {
            places(&|row| row.launches.len() > descriptive::MAX_VALUES).map(Withheld::TooMany)
        })
        .or_else(|| places(&|row| row.invalid).map(Withheld::Invalid))
        .or_else(|| places(&has_bad_number).map(Withheld::NotPositive));
    why.map_or(Ok(()), Err)
}

/// A term on the logarithmic scale.
#[derive(Clone, Copy)]
struct Term {
    weight: f64,
    lower_is_better: bool,
    /// ln(estimate / reference).
    ln: f64,
    /// Standard error of the estimate.
    error: f64,
    /// Number of launches.
    n: f64,
}

fn term(row: &ScoredBenchmark) -> Term {
    // contention adds to times, whatever the printed unit
    let times: Vec<f64> = match row.lower_is_better {
        true => row.launches.clone(),
        false => row.launches.iter().map(|x| 1.0 / x).collect(),
    };
    let estimate = undisturbed::estimate(&times, &row.weights, CONFIDENCE);
    let ln = estimate.map_or(f64::NAN, |estimate| estimate.value.ln());
    let interval = estimate.and_then(|estimate| estimate.interval);
    let half = interval.map_or(0.0, |[low, high]| (high / low).ln() / 2.0);
    Term {
        weight: row.weight,
        lower_is_better: row.lower_is_better,
        ln: if row.lower_is_better { ln } else { -ln } - row.reference.ln(),
        error: half / quantile::normal(CONFIDENCE),
        n: times.len() as f64,
    }
}

#[derive(Clone, Copy)]
enum Mean {
    Geometric,
    Arithmetic,
}

impl Mean {
    /// ln(score).
    fn ln(self, terms: &[Term]) -> f64 {
        let total: f64 = terms.iter().map(|term| term.weight).sum();
        let parts = terms.iter().map(|term| {
            let part = match (self, term.lower_is_better) {
                (Self::Geometric, false) => term.ln,
                (Self::Geometric, true) => -term.ln,
                (Self::Arithmetic, _) => term.ln.exp(),
            };
            term.weight / total * part
        });
        match self {
            Self::Geometric => parts.sum(),
            Self::Arithmetic => parts.sum::<f64>().ln(),
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: f64) -> ScoredBenchmark {
        // times; the lower quartile is 1
        let scatter = [1.0, 1.01, 0.99, 1.02, 1.0, 1.005, 1.015, 1.0];
        ScoredBenchmark {
            launches: scatter.map(|s| value / s).to_vec(),
            weights: vec![1.0; 8],
            reference: 1.0,
            lower_is_better: false,
            weight: 1.0,
            invalid: false,
        }
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
    fn published_summary_is_reproduced() {
        let rows = |ratio: fn(&(f64, f64, f64)) -> f64| -> Vec<ScoredBenchmark> {
            HP.iter()
                .map(|line| ScoredBenchmark {
                    launches: vec![ratio(line)],
                    weights: vec![1.0],
                    reference: 1.0,
                    lower_is_better: false,
                    weight: line.0,
                    invalid: false,
                })
                .collect()
        };
        let (small, large) = (rows(|line| line.1), rows(|line| line.2));
        let hundredths = |score: Result<Score, Withheld>| (score.unwrap().value * 100.0).round();
        assert_eq!(hundredths(arithmetic(&small, 0.95)), 168.0);
        assert_eq!(hundredths(arithmetic(&large, 0.95)), 134.0);
        assert_eq!(hundredths(geometric(&small, 0.95)), 142.0);
        assert_eq!(hundredths(geometric(&large, 0.95)), 105.0);
    }

    #[test]
    fn unfit_benchmarks_withhold_score() {
        assert_eq!(geometric(&[], 0.95), Err(Withheld::Empty));
        let good = row(1.0);
        let with = |change: &dyn Fn(&mut ScoredBenchmark)| {
            let mut bad = row(1.0);
            change(&mut bad);
            geometric(&[good.clone(), bad], 0.95).unwrap_err()
        };
        assert_eq!(with(&|row| row.launches.clear()), Withheld::Missing(vec![1]));
        let many = with(&|row| row.launches = vec![1.0; 1001]);
        assert_eq!(many, Withheld::TooMany(vec![1]));
        assert_eq!(with(&|row| row.invalid = true), Withheld::Invalid(vec![1]));
        for unfit in [
            with(&|row| row.reference = 0.0),
            with(&|row| row.weight = -1.0),
            with(&|row| row.launches[0] = f64::NAN),
        ] {
            assert_eq!(unfit, Withheld::NotPositive(vec![1]));
        }
    }

    #[test]
    fn few_launches_and_single_rows() {
        let mut one = row(3.0);
        let score = geometric(&[one.clone()], 0.95).unwrap();
        assert!(score.interval.is_some());
        one.launches.truncate(5);
        assert!(geometric(&[one], 0.95).unwrap().interval.is_none());
    }

    #[test]
    fn interval_matches_delta_method() {
        // two benchmarks of equal weight and error: the error of one over the root of two, with twice the degrees of freedom
        let one = row(3.0);
        let half = |rows: &[ScoredBenchmark]| {
            let [low, high] = geometric(rows, 0.95).unwrap().interval.unwrap();
            (high / low).ln() / 2.0
        };
        let (single, both) = (half(std::slice::from_ref(&one)), half(&[one.clone(), one.clone()]));
        let ratio = quantile::student(0.95, 14.0) / quantile::student(0.95, 7.0);
        assert!((both / single - ratio / 2.0_f64.sqrt()).abs() < 1e-9);
        // in an arithmetic mean, the derivative of the logarithm by a benchmark is its share of the sum
        let small = ScoredBenchmark { reference: 1e9, ..one.clone() };
        let [low, high] = arithmetic(&[one, small], 0.95).unwrap().interval.unwrap();
        assert!(((high / low).ln() / 2.0 / single - 1.0).abs() < 1e-6);
    }
}
