//! What runs of one machine differ by, beyond what the launches of a run can show: a default until five of its runs
//! tell, learned from then on ([`Scatter::learned`]), from runs of the same circumstances, program and version of the work.

use crate::circumstances::Circumstances;
use gritstone_model::{Flag, Id, Kind, Machine, Measurement, Quantity, RunView, Settings, Status};
use gritstone_stats::scatter::Scatter;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most runs from which it is learned, the newest: what a machine did last year is not what it does now.
pub const MOST_RUNS: usize = 20;
/// Scatter of the figures of a row between runs of one machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetweenRun {
    /// Of figures in core cycles, freed by the cycle probe from the drift of the core's frequency.
    pub paced: Scatter,
    /// Of figures as the clock has them.
    pub raw: Scatter,
}

/// What holds until a machine's own runs tell better. From trials on a quiet virtual machine with 2 cores (seven
/// kernels, ten runs of 5 s each, eight launches a run): the runs of one kernel scattered by 1.4 to 2.0 % in nanoseconds
/// and by 0.45 to 1.4 % in core cycles. From 30 minutes of the cycle probe on such a machine that others used too: pieces of
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
    /// In core cycles, above 0; `None` without a cycle probe.
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
        && result.interval().is_some()
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
            raw: result.value().filter(fit)?,
            paced: result.cycles.map(|cycles| cycles.value).filter(fit),
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
