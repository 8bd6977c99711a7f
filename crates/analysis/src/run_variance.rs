//! Variance between runs of one system beyond that of their launches: a default until there are three runs, then
//! learned from runs under the same conditions, with the same program and version ([`gritstone_stats::moderated`]).

use crate::comparability::Circumstances;
use crate::tails;
use gritstone_model::{
    Better, Flag, Id, Kind, Machine, Measurement, OfRuns, Quantity, RowVariance, RunView, Settings,
    Status, Subject,
};
use gritstone_stats::scatter::Scatter;
use gritstone_stats::{descriptive, history, moderated, quantile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most runs that are used, the newest: old runs say little about today.
pub const MOST_RUNS: usize = 20;
const RUNS_OF_A_SYSTEM: usize = 5;
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetweenRun {
    /// In core cycles, without the drift of the core's frequency.
    pub paced: Scatter,
    /// Of times.
    pub raw: Scatter,
}

/// The default until the system has enough runs. From trials on a quiet virtual machine with 2 cores (seven kernels,
/// ten runs of 5 s each, eight launches a run): runs of one kernel varied by 1.4 to 2.0% in nanoseconds and by 0.45 to
/// 1.4% in core cycles. From 30 minutes of the cycle probe on such a machine that others used too: pieces of 8 s and
/// of a minute varied by 2.4 to 2.6%. Few degrees of freedom, since other machines differ.
pub const DEFAULT: BetweenRun = BetweenRun {
    paced: Scatter::stated(0.01, 4.0),
    raw: Scatter::stated(0.025, 4.0),
};

/// The part of a run that the variance between runs needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Past {
    pub run: String,
    /// Its start, RFC 3339, UTC.
    pub started: String,
    pub circumstances: Circumstances,
    #[serde(rename = "figures")]
    pub values: BTreeMap<Id, RunValue>,
    /// Those of percentiles beyond the median, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub percentiles: BTreeMap<String, BTreeMap<Id, RunValue>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunValue {
    pub version: u32,
    /// Hash of the program; empty where there is none.
    pub program: String,
    /// In the unit of the benchmark, above 0.
    pub raw: f64,
    /// Variance of ln(raw) that the launches of the run show.
    pub raw_within: f64,
    /// In core cycles, above 0; `None` without a cycle probe.
    pub paced: Option<f64>,
    /// Variance of ln(paced) that the launches of the run show.
    pub paced_within: f64,
}

impl Past {
    pub(crate) fn head(
        run: &str,
        started: &str,
        machine: &Machine,
        settings: Option<&Settings>,
    ) -> Self {
        Self {
            run: run.to_owned(),
            started: started.to_owned(),
            circumstances: Circumstances::new(machine, settings),
            values: BTreeMap::new(),
            percentiles: BTreeMap::new(),
        }
    }

    fn head_of(view: &RunView) -> Self {
        let settings = view.settings.as_ref();
        Self::head(&view.id, &view.started, &view.machine, settings)
    }

    /// Without disturbed or invalid results: these are flagged, and one night with a backup would hide every change of
    /// the next twenty runs.
    #[must_use]
    pub fn new(view: &RunView) -> Self {
        let values = |results: &[Measurement]| -> BTreeMap<Id, RunValue> {
            let counted = results.iter().filter(|result| counts(result));
            let value = |result: &Measurement| Some((result.id.clone(), RunValue::new(result)?));
            counted.filter_map(value).collect()
        };
        let percentile = |name: &str| {
            let values = values(&tails::percentile_of_run(view, name).results);
            (!values.is_empty()).then(|| (name.to_owned(), values))
        };
        Self {
            values: values(&view.results),
            percentiles: tails::TAILS.into_iter().filter_map(percentile).collect(),
            ..Self::head_of(view)
        }
    }

    /// Percentiles in place of the estimates.
    fn of_percentile(&self, name: &str) -> Option<Self> {
        Some(Self {
            values: self.percentiles.get(name)?.clone(),
            percentiles: BTreeMap::new(),
            ..self.clone()
        })
    }

    fn begun(&self) -> (&str, &str) {
        (&self.started, &self.run)
    }

    /// ln(speed) of a benchmark, and the variance that the launches show of it; `None` where this run did other work.
    pub(crate) fn speed(&self, like: &Measurement, paced: bool) -> Option<(f64, f64)> {
        let value = self.values.get(&like.id)?;
        if value.version != like.version {
            return None;
        }
        Some(match (paced, like.better) {
            (true, _) => (-value.paced?.ln(), value.paced_within),
            (false, Better::Higher) => (value.raw.ln(), value.raw_within),
            (false, Better::Lower) => (-value.raw.ln(), value.raw_within),
        })
    }
}

fn counts(result: &Measurement) -> bool {
    result.outcome() == Status::Measured
        && varies(result)
        && result.interval().is_some()
        && !result.is_flagged(Flag::Invalid)
        && !result.is_flagged(Flag::Interference)
}

/// Sizes are exact, and the parts of scores are there themselves.
pub(crate) fn varies(result: &Measurement) -> bool {
    result.kind != Kind::Rating && result.unit.quantity() != Quantity::Exact
}

impl RunValue {
    /// `None` unless the estimate is above 0.
    pub(crate) fn new(result: &Measurement) -> Option<Self> {
        let fit = |x: &f64| x.is_finite() && *x > 0.0;
        Some(Self {
            version: result.version,
            program: program(result).to_owned(),
            raw: result.value().filter(fit)?,
            raw_within: within(result.interval(), result.launches()),
            paced: result.cycles().map(|cycles| cycles.value).filter(fit),
            paced_within: within(
                result.cycles().and_then(|cycles| cycles.interval),
                result.launches(),
            ),
        })
    }
}

/// Variance of ln(estimate) that a 95% interval of `n` launches implies; 0 without an interval.
pub(crate) fn within(interval: Option<[f64; 2]>, launches: usize) -> f64 {
    let Some([low, high]) = interval.filter(|[low, _]| *low > 0.0) else {
        return 0.0;
    };
    let t = quantile::student(0.95, launches.max(2) as f64 - 1.0);
    ((high / low).ln() / 2.0 / t).powi(2)
}

/// Hash of the program behind a result; empty where there is none.
pub(crate) fn program(result: &Measurement) -> &str {
    result.program.as_ref().map_or("", |program| &program.hash)
}

/// Benchmarks whose runs are expected to scatter alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Core cycles of benchmarks that the processor bounds.
    Cycles,
    Processor,
    Other,
}

impl Class {
    pub(crate) fn new(result: &Measurement, paced: bool) -> Self {
        match (result.processor_bound, paced) {
            (true, true) => Self::Cycles,
            (true, false) => Self::Processor,
            (false, _) => Self::Other,
        }
    }
}

/// Variances between runs for a comparison of two runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunVariances {
    /// By benchmark, less the common shift where there is one; [`DEFAULT`] holds for those that are not here.
    pub rows: BTreeMap<Id, BetweenRun>,
    /// Standard deviation of the common shift, by class.
    pub shifts: BTreeMap<Class, Scatter>,
    /// The same of percentiles beyond the median, by name.
    pub percentiles: BTreeMap<String, RunVariances>,
}

impl BetweenRun {
    /// Whether cycles are compared, where there are any: unless times are known to scatter less between runs. Of many benchmarks that the
    /// processor bounds, part of the time is not the core's.
    pub(crate) fn paced_is_less(&self) -> bool {
        self.raw.runs == 0 || self.paced.ln_sd <= self.raw.ln_sd
    }

    /// `cycles`: core cycles are an alternative.
    pub(crate) fn row(&self, cycles: bool) -> RowVariance {
        RowVariance {
            cycles: cycles.then_some(self.paced.ln_sd),
            estimate: self.raw.ln_sd,
            runs: self.raw.runs,
        }
    }
}

impl FromIterator<(Id, BetweenRun)> for RunVariances {
    fn from_iter<I: IntoIterator<Item = (Id, BetweenRun)>>(rows: I) -> Self {
        Self {
            rows: rows.into_iter().collect(),
            ..Self::default()
        }
    }
}

/// Learns from the runs that began before the later of the two sides, other than these two, and are like the side whose variance they
/// estimate. Of two sides that are not alike, each has its own runs, and the variances are averaged.
#[must_use]
pub fn estimate(past: &[Past], base: &RunView, other: &RunView) -> RunVariances {
    let percentile = |name: &str| {
        let past = past.iter().filter_map(|run| run.of_percentile(name));
        let past: Vec<Past> = past.collect();
        let [base, other] = [base, other].map(|view| tails::percentile_of_run(view, name));
        let learned = of_figures(&past, &base, &other);
        (!learned.rows.is_empty()).then(|| (name.to_owned(), learned))
    };
    RunVariances {
        percentiles: tails::TAILS.into_iter().filter_map(percentile).collect(),
        ..of_figures(past, base, other)
    }
}

/// Adds the variance between runs to each result.
pub fn add_to(past: &[Past], view: &mut RunView) {
    let learned = estimate(past, view, view);
    for result in &mut view.results {
        if result.values().is_empty() || !varies(result) {
            continue;
        }
        let row = learned.rows.get(&result.id).copied().unwrap_or(DEFAULT);
        let cycles = result.processor_bound && !result.paced_values().is_empty();
        let common = learned.shifts.get(&Class::new(result, false));
        let all = common.map_or(row.raw, |common| row.raw.with(*common));
        let more = (within(result.interval(), result.launches()) - row.raw.within).max(0.0);
        let half = quantile::student(0.95, all.freedom) * (all.ln_sd.powi(2) + more).sqrt();
        result.of_runs = Some(OfRuns {
            runs: row.raw.runs,
            compared: match cycles && row.paced_is_less() {
                true => Subject::Cycles,
                false => Subject::Estimate,
            },
            half_width: (row.raw.runs >= RUNS_OF_A_SYSTEM).then(|| half.exp_m1()),
        });
    }
}

fn of_figures(past: &[Past], base: &RunView, other: &RunView) -> RunVariances {
    let sides = [base, other].map(Past::head_of);
    let last = sides.iter().map(Past::begun).max();
    let mut earlier: Vec<&Past> = past
        .iter()
        .filter(|run| Some(run.begun()) < last)
        .filter(|run| sides.iter().all(|side| side.run != run.run))
        .collect();
    earlier.sort_by(|a, b| b.begun().cmp(&a.begun()));
    let [b, o] = [(base, other, &sides[0]), (other, base, &sides[1])].map(|(view, with, head)| {
        let like = |run: &&&Past| run.circumstances == head.circumstances;
        let runs: Vec<&Past> = earlier
            .iter()
            .filter(like)
            .take(MOST_RUNS)
            .copied()
            .collect();
        let same = |value: &RunValue, like: &Measurement| value.program == program(like);
        of_side(&runs, view, with, same)
    });
    if b == o {
        return b;
    }
    let known = |id: &Id| [&b, &o].map(|side| side.rows.get(id).copied().unwrap_or(DEFAULT));
    let rows = b.rows.keys().chain(o.rows.keys()).map(|id| {
        let [b, o] = known(id);
        let mean = BetweenRun {
            paced: b.paced.mean(o.paced),
            raw: b.raw.mean(o.raw),
        };
        (id.clone(), mean)
    });
    let shifts = b.shifts.iter();
    RunVariances {
        rows: rows.collect(),
        shifts: shifts
            .filter_map(|(class, of)| Some((*class, of.mean(*o.shifts.get(class)?))))
            .collect(),
        percentiles: BTreeMap::new(),
    }
}

/// By benchmark, from comparable earlier runs, whatever their programs.
pub(crate) fn of_run(earlier: &[Past], run: &RunView) -> BTreeMap<Id, BetweenRun> {
    let newest: Vec<&Past> = earlier.iter().rev().take(MOST_RUNS).collect();
    of_side(&newest, run, run, |_, _| true).rows
}

/// Values newest first, without other levels: those are changes, not variance.
fn of_level(mut speeds: Vec<Option<(f64, f64)>>) -> Vec<Option<(f64, f64)>> {
    let known: Vec<(usize, f64)> = (0..)
        .zip(&speeds)
        .filter_map(|(at, speed)| Some((at, speed.as_ref()?.0)))
        .collect();
    let newest_first: Vec<f64> = known.iter().map(|(_, speed)| *speed).collect();
    let oldest_first: Vec<f64> = newest_first.iter().rev().copied().collect();
    // of the newest runs, or of all but the oldest
    let begin = history::suspected(&oldest_first).or(history::changes(&oldest_first).pop());
    let end = history::suspected(&newest_first);
    let same = end.unwrap_or(begin.map_or(known.len(), |begin| known.len() - begin));
    for (at, _) in &known[same..] {
        speeds[*at] = None;
    }
    speeds
}

/// By benchmark that both sides have, from comparable runs of one side, newest first.
fn of_side(
    runs: &[&Past],
    view: &RunView,
    with: &RunView,
    same_work: fn(&RunValue, &Measurement) -> bool,
) -> RunVariances {
    let shared = |result: &&Measurement| with.get(&result.id).is_some() && varies(result);
    let results: Vec<&Measurement> = view.results.iter().filter(shared).collect();
    let mut learned = RunVariances::default();
    for class in [Class::Cycles, Class::Processor, Class::Other] {
        let paced = class == Class::Cycles;
        let of: Vec<&Measurement> = results
            .iter()
            .filter(|result| Class::new(result, paced) == class)
            .copied()
            .collect();
        let speeds: Vec<Vec<Option<(f64, f64)>>> = of
            .iter()
            .map(|result| {
                let speed = |run: &&Past| {
                    let same = same_work(run.values.get(&result.id)?, result);
                    run.speed(result, paced).filter(|_| same)
                };
                of_level(runs.iter().map(speed).collect())
            })
            .collect();
        let stated = if paced { DEFAULT.paced } else { DEFAULT.raw };
        let values: Vec<Vec<Option<f64>>> = speeds
            .iter()
            .map(|of| of.iter().map(|speed| Some(speed.as_ref()?.0)).collect())
            .collect();
        let fit = moderated::fit(&values, stated.into());
        if let Some(shift) = fit.shift {
            learned
                .shifts
                .insert(class, Scatter::learned(shift, runs.len(), 0.0));
        }
        for ((result, speeds), variance) in of.iter().zip(&speeds).zip(&fit.benchmarks) {
            let within: Vec<f64> = speeds.iter().flatten().map(|(_, within)| *within).collect();
            if within.len() < moderated::MIN_RUNS {
                continue;
            }
            let row = learned.rows.entry(result.id.clone()).or_insert(DEFAULT);
            let scatter = Scatter::learned(*variance, within.len(), descriptive::mean(&within));
            match paced {
                true => row.paced = scatter,
                false => row.raw = scatter,
            }
        }
    }
    learned
}
