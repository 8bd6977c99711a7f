//! What runs of one machine differ by, beyond what the launches of a run can show: a default until five of its runs
//! tell, learned from then on.
//!
//! The same row is measured in k runs that are alike: same circumstances, program and version of the work. S is the standard deviation of ln(figure) over them, with k - 1 degrees of freedom, and s0 the
//! default. The default lends w = 4 max(0, 1 - S^2 / s0^2) degrees of freedom:
//!
//! scatter^2 = (w s0^2 + (k - 1) S^2) / (w + k - 1), with w + k - 1 degrees of freedom.
//!
//! So runs that show as much as the default, or more, speak for themselves, and Student's t says how much five of them may be
//! believed; runs that show less have to outweigh the default, since five runs of one hour agree better than those of
//! a month. docs/validation.md has the rates of false findings.
//!
//! Must not know: the store, launches, verdicts.

use crate::circumstances::Circumstances;
use crate::order;
use gritstone_model::{Flag, Id, Kind, Machine, Measurement, Quantity, RunView, Settings, Status};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Fewest runs from which scatter is learned.
pub const FEWEST_RUNS: usize = 5;
/// Most runs from which it is learned, the newest: what a machine did last year is not what it does now.
pub const MOST_RUNS: usize = 20;
/// Degrees of freedom that the default lends when runs show no scatter at all: as many as the fewest runs have.
const LENT: f64 = 4.0;

/// Standard deviation of ln(figure), and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// Standard deviation of ln(figure); of one run unless it is said to be of a difference.
    pub ln_sd: f64,
    /// Degrees of freedom; infinite where it is taken for known.
    pub freedom: f64,
    /// Runs from which it was learned; 0 where it was not.
    pub runs: usize,
}

/// A standard deviation that is taken for known.
impl From<f64> for Scatter {
    fn from(ln_sd: f64) -> Self {
        Self::known(ln_sd)
    }
}

impl Scatter {
    /// A standard deviation that is taken for known.
    #[must_use]
    pub const fn known(ln_sd: f64) -> Self {
        Self {
            ln_sd,
            freedom: f64::INFINITY,
            runs: 0,
        }
    }

    /// From the figures of runs that are alike, as the head of this module says. It contains the scatter of the launches
    /// within a run once more, which is on the safe side.
    ///
    /// `None` for fewer than [`FEWEST_RUNS`] figures, or one that is not positive and finite: the default holds.
    #[must_use]
    pub fn learned(figures: &[f64], default: f64) -> Option<Self> {
        let logs = order::logs(figures)?;
        let seen = order::deviation(&logs).powi(2);
        let own = logs.len() as f64 - 1.0;
        let lent = if seen < default * default {
            LENT * (1.0 - seen / (default * default))
        } else {
            0.0
        };
        (logs.len() >= FEWEST_RUNS).then(|| Self {
            ln_sd: ((lent * default * default + own * seen) / (lent + own)).sqrt(),
            freedom: lent + own,
            runs: logs.len(),
        })
    }

    /// Of the difference of two runs that both have it.
    #[must_use]
    pub fn of_two_runs(self) -> Self {
        Self {
            ln_sd: self.ln_sd * std::f64::consts::SQRT_2,
            ..self
        }
    }

    /// For one run where two sides that are not alike have a scatter of their own: the root of the mean of the squares,
    /// with the degrees of freedom of Satterthwaite (1946).
    fn mean(self, other: Self) -> Self {
        let (a, b) = (self.ln_sd * self.ln_sd, other.ln_sd * other.ln_sd);
        let unsure = a * a / self.freedom + b * b / other.freedom;
        Self {
            ln_sd: f64::midpoint(a, b).sqrt(),
            freedom: if unsure > 0.0 {
                (a + b).powi(2) / unsure
            } else {
                f64::INFINITY
            },
            runs: self.runs.min(other.runs),
        }
    }
}

/// Scatter of the figures of a row between runs of one machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetweenRun {
    /// Of figures in core cycles, freed by the pacer from the drift of the core's frequency.
    pub paced: Scatter,
    /// Of figures as the clock has them.
    pub raw: Scatter,
}

/// What holds until a machine's own runs tell better. From trials on a quiet virtual machine with 2 cores (seven
/// kernels, ten runs of 5 s each, eight launches a run): the runs of one kernel scattered by 1.4 to 2.0 % in nanoseconds
/// and by 0.45 to 1.4 % in core cycles. From 30 minutes of the pacer on such a machine that others used too: pieces of
/// 8 s and of a minute scattered by 2.4 to 2.6 %.
pub const DEFAULT: BetweenRun = BetweenRun {
    paced: Scatter::known(0.01),
    raw: Scatter::known(0.025),
};

/// What a run tells of the scatter between runs, and nothing else of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// Identifier of the run.
    pub run: String,
    /// Its start, RFC 3339, UTC.
    pub started: String,
    /// On what, where and how it was measured.
    pub circumstances: Circumstances,
    /// The figures that count.
    pub figures: BTreeMap<Id, Figure>,
}

/// The figure of a row in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Version of the entry.
    pub version: u32,
    /// Hash of the program; empty where there is none.
    pub program: String,
    /// In the unit of the row, above 0.
    pub raw: f64,
    /// In core cycles, above 0; `None` without a pacer.
    pub paced: Option<f64>,
}

impl Past {
    /// A run without its figures.
    pub(crate) fn head(
        run: &str,
        started: &str,
        machine: &Machine,
        settings: Option<&Settings>,
    ) -> Self {
        Self {
            run: run.to_owned(),
            started: started.to_owned(),
            circumstances: Circumstances::of(machine, settings),
            figures: BTreeMap::new(),
        }
    }

    fn head_of(view: &RunView) -> Self {
        let settings = view.settings.as_ref();
        Self::head(&view.id, &view.started, &view.machine, settings)
    }

    /// What a run tells. Figures that were disturbed, or whose work is in doubt, do not count: they carry a mark of their own,
    /// and one night with a backup would hide every change of the next twenty runs.
    #[must_use]
    pub fn of(view: &RunView) -> Self {
        let figures = view.results.iter().filter(|result| counts(result));
        Self {
            figures: figures
                .filter_map(|result| Some((result.id.clone(), Figure::of(result)?)))
                .collect(),
            ..Self::head_of(view)
        }
    }

    fn begun(&self) -> (&str, &str) {
        (&self.started, &self.run)
    }
}

fn counts(result: &Measurement) -> bool {
    result.outcome == Status::Measured
        && varies(result)
        && result.interval.is_some()
        && !result.is(Flag::Invalid)
        && !result.is(Flag::Interference)
}

/// Whether runs can differ in it: sizes do not, and ratings are made of rows that are here themselves.
pub(crate) fn varies(result: &Measurement) -> bool {
    result.kind != Kind::Rating && result.unit.quantity() != Quantity::Exact
}

impl Figure {
    /// `None` where there is no figure above 0.
    pub(crate) fn of(result: &Measurement) -> Option<Self> {
        let fit = |x: &f64| x.is_finite() && *x > 0.0;
        Some(Self {
            version: result.version,
            program: program(result).to_owned(),
            raw: result.estimate.filter(fit)?,
            paced: result.cycles.filter(fit),
        })
    }
}

/// Hash of the program behind a result; empty where there is none.
pub(crate) fn program(result: &Measurement) -> &str {
    result.program.as_ref().map_or("", |program| &program.hash)
}

/// Scatter between runs for a comparison of two, by row, as far as earlier runs tell it: those that began before the later of
/// the two, other than these two, and that are like the side whose scatter they tell. A row of which they tell nothing
/// is not in it: [`DEFAULT`] holds there.
#[must_use]
pub fn learn(past: &[Past], base: &RunView, other: &RunView) -> BTreeMap<Id, BetweenRun> {
    let sides = [(base, Past::head_of(base)), (other, Past::head_of(other))];
    let last = sides.iter().map(|(_, head)| head.begun()).max();
    let mut earlier: Vec<&Past> = past
        .iter()
        .filter(|run| Some(run.begun()) < last)
        .filter(|run| sides.iter().all(|(_, side)| side.run != run.run))
        .collect();
    earlier.sort_by(|a, b| b.begun().cmp(&a.begun()));
    let mut learned = BTreeMap::new();
    for result in &base.results {
        let Some(opposite) = other.get(&result.id) else {
            continue;
        };
        let [b, o] = [(result, &sides[0].1), (opposite, &sides[1].1)]
            .map(|(result, head)| of_side(&earlier, result, head));
        let between = match (b, o) {
            (None, None) => continue,
            // two sides that are alike are told by the same runs, whose word counts once
            (Some(b), Some(o)) if b == o => b,
            (b, o) => {
                let (b, o) = (b.unwrap_or(DEFAULT), o.unwrap_or(DEFAULT));
                BetweenRun {
                    paced: b.paced.mean(o.paced),
                    raw: b.raw.mean(o.raw),
                }
            }
        };
        learned.insert(result.id.clone(), between);
    }
    learned
}

/// What the newest runs that are like one side tell of a row.
fn of_side(earlier: &[&Past], result: &Measurement, head: &Past) -> Option<BetweenRun> {
    let like = |run: &&&Past| run.circumstances == head.circumstances;
    let same_work =
        |figure: &&Figure| figure.version == result.version && figure.program == program(result);
    let figures: Vec<&Figure> = earlier
        .iter()
        .filter(like)
        .filter_map(|run| run.figures.get(&result.id))
        .filter(same_work)
        .take(MOST_RUNS)
        .collect();
    let raw: Vec<f64> = figures.iter().map(|figure| figure.raw).collect();
    let paced: Vec<f64> = figures.iter().filter_map(|figure| figure.paced).collect();
    Some(BetweenRun {
        raw: Scatter::learned(&raw, DEFAULT.raw.ln_sd)?,
        paced: Scatter::learned(&paced, DEFAULT.paced.ln_sd).unwrap_or(DEFAULT.paced),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures whose logarithms have the standard deviation `sd` sqrt(2.5).
    fn five(sd: f64) -> [f64; 5] {
        [-2.0, -1.0, 0.0, 1.0, 2.0].map(|x: f64| (sd * x).exp())
    }

    #[test]
    fn more_than_the_default_speaks_for_itself() {
        let found = Scatter::learned(&five(0.02), 0.01).unwrap();
        assert!((found.ln_sd - 0.02 * 2.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!((found.freedom, found.runs), (4.0, 5));
    }

    #[test]
    fn less_has_to_outweigh_the_default() {
        // S^2 = 2.5e-5 is a quarter of s0^2: 3 degrees of freedom are lent, (3 x 1 + 4 x .25) / 7 = 4 / 7
        let sd = 0.005 / 2.5_f64.sqrt();
        let found = Scatter::learned(&five(sd), 0.01).unwrap();
        assert!((found.ln_sd - 0.01 * (4.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert!((found.freedom - 7.0).abs() < 1e-12);
        // no scatter at all: 4 of 8 are lent
        let found = Scatter::learned(&[3.0; 5], 0.01).unwrap();
        assert!((found.ln_sd - 0.01 * 0.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(found.freedom, 8.0);
        // where the runs show just the default, both rules meet
        let at = |sd: f64| Scatter::learned(&five(sd / 2.5_f64.sqrt()), 0.01).unwrap();
        let (below, above) = (at(0.009_999_9), at(0.010_000_1));
        assert!((below.ln_sd - above.ln_sd).abs() < 1e-6);
        assert!((below.freedom - above.freedom).abs() < 1e-3);
        assert_eq!(Scatter::learned(&[3.0; 5], 0.0).unwrap().ln_sd, 0.0);
    }

    #[test]
    fn few_runs_and_impossible_figures_tell_nothing() {
        assert!(Scatter::learned(&five(0.02)[..4], 0.01).is_none());
        assert!(Scatter::learned(&[1.0, 1.0, 1.0, 1.0, 0.0], 0.01).is_none());
        assert!(Scatter::learned(&[], 0.01).is_none());
    }

    #[test]
    fn two_sides_of_their_own() {
        let learned = |ln_sd| Scatter {
            ln_sd,
            freedom: 4.0,
            runs: 5,
        };
        let both = learned(0.01).mean(learned(0.01));
        assert!((both.ln_sd - 0.01).abs() < 1e-15 && (both.freedom - 8.0).abs() < 1e-9);
        // (1 + 4)^2 / (1 / 4 + 16 / infinity) = 100
        let both = learned(0.01).mean(Scatter::known(0.02));
        assert!((both.ln_sd - 0.01 * 2.5_f64.sqrt()).abs() < 1e-15);
        assert!((both.freedom - 100.0).abs() < 1e-9 && both.runs == 0);
        let none = Scatter::known(0.0).mean(Scatter::known(0.0));
        assert!(none.ln_sd == 0.0 && none.freedom.is_infinite());
    }
}
