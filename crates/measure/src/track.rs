//! A step of a side: its launches so far, and how many it needs.

use crate::limits::{CONFIDENCE, Limits, MAX_LAUNCHES, MIN_LAUNCHES, PILOT};
use crate::prior_runs::Prior;
use crate::{Observation, is_failing};
use gritstone_model::{Benchmark, Outcome, Quantity, Work};
use gritstone_stats::plan::{launches_for, launches_needed};

/// Undisturbed launches of a track, by weight, without which more launches find no quiet moment either.
const MIN_UNDISTURBED: f64 = 3.0;
/// At most one launch in this many is repeated because it was disturbed.
pub const DISTURBED_PER_REPEAT: usize = 4;
/// Mean time of a launch whose entry sets no sampling time, over 285 benchmarks (docs/validation.md), s.
const DEFAULT_LAUNCH_SECONDS: f64 = 0.25;

pub struct Track {
    pub side: usize,
    pub step: usize,
    /// Number of programs of the background load.
    pub load: usize,
    pub launches: usize,
    /// Total launches planned.
    pub planned: usize,
    /// Gets no more launches: it failed, timed out, cannot run, is exact and measured, or exceeds the budget.
    pub closed: bool,
    /// A size or a count, which one launch determines.
    exact: bool,
    prior: Prior,
    /// Launch time by the entry's sampling time, s.
    nominal_seconds: f64,
    seconds: f64,
    /// Of each measured launch, ns.
    values: Vec<f64>,
    /// Share of the samples of each that were undisturbed.
    weights: Vec<f64>,
    disturbed: usize,
    /// Disturbed launches for which a precision stage added another.
    replaced: usize,
}

impl Track {
    pub fn new(side: usize, step: usize, benchmark: &Benchmark, prior: Prior, min: usize) -> Self {
        let exact = matches!(benchmark.unit.quantity(), Quantity::Exact);
        Self {
            side,
            step,
            load: benchmark.load().len(),
            launches: 0,
            planned: if exact { 1 } else { min },
            closed: false,
            exact,
            prior,
            nominal_seconds: nominal_seconds(benchmark),
            seconds: 0.0,
            values: vec![],
            weights: vec![],
            disturbed: 0,
            replaced: 0,
        }
    }

    pub fn observe(&mut self, observed: &Observation<'_>) {
        let learned = observed.learned;
        self.launches += 1;
        self.seconds += observed.seconds;
        self.disturbed += usize::from(learned.disturbed);
        if let Some(ns) = learned.ns_per_op {
            self.values.push(ns);
            self.weights.push(learned.weight);
        }
        self.closed = match observed.outcome {
            Outcome::Measured if self.exact => true,
            Outcome::Skipped(_) | Outcome::TimedOut(_) => true,
            _ => is_failing(self.failed(), self.values.len()),
        };
    }

    pub fn has_begun(&self) -> bool {
        self.launches > 0
    }

    /// Mean seconds of a launch: in this run, else in earlier ones.
    pub fn cost(&self) -> Option<f64> {
        match self.launches {
            0 => self.prior.seconds,
            launches => Some(self.seconds / launches as f64),
        }
    }

    /// [`Self::cost`], else the nominal time, corrected by the slowness of the machine.
    pub fn cost_or_nominal(&self, slowness: f64) -> f64 {
        self.cost().unwrap_or(self.nominal_seconds * slowness)
    }

    /// Launches still to come, of `total`.
    pub fn missing(&self, total: usize) -> usize {
        let total = if self.exact { 1 + self.failed() } else { total };
        match self.closed {
            true => 0,
            false => total.saturating_sub(self.launches),
        }
    }

    /// Launches without a value, which others replace as long as the track is not closed.
    pub fn failed(&self) -> usize {
        self.launches - self.values.len()
    }

    /// Measured launches in which contention left nothing: others replace them, unless hardly any would be better.
    fn lost(&self) -> usize {
        let undisturbed: f64 = self.weights.iter().sum();
        match undisturbed < MIN_UNDISTURBED {
            true => 0,
            false => self.values.len() - undisturbed.round() as usize,
        }
    }

    /// Total launches that the result needs, by its current scatter.
    pub fn wanted(&self, limits: &Limits) -> usize {
        let (precision, lost) = (limits.precision, self.lost());
        if limits.quick {
            return self.failed() + lost + PILOT;
        }
        let by_prior = self.prior.ln_sd.map_or(MIN_LAUNCHES, |sd| {
            launches_for(sd, precision, CONFIDENCE, MIN_LAUNCHES, MAX_LAUNCHES)
        });
        let measured = match self.values.len() - lost < by_prior {
            true => lost + by_prior,
            false => {
                let (values, weights) = (&self.values, &self.weights);
                launches_needed(values, weights, precision, CONFIDENCE, MAX_LAUNCHES)
            }
        };
        self.failed() + measured
    }

    /// Plans `more` launches, which replace the lost ones.
    pub fn plan_for_precision(&mut self, more: usize) {
        self.planned = self.launches + more;
        self.replaced = self.lost();
    }

    /// Plans repeats of disturbed launches that nothing has replaced.
    pub fn plan_repeats(&mut self) -> usize {
        let repeats =
            self.disturbed.saturating_sub(self.replaced).min(self.launches / DISTURBED_PER_REPEAT);
        self.planned = self.launches + repeats;
        repeats
    }
}

/// Actual over nominal time of all launches whose time is known, if of any.
pub fn slowness(tracks: &[Track]) -> Option<f64> {
    let known = tracks.iter().filter_map(|track| Some((track.cost()?, track.nominal_seconds)));
    let (actual, nominal) = known.fold((0.0, 0.0), |sum, track| (sum.0 + track.0, sum.1 + track.1));
    (nominal > 0.0).then_some(actual / nominal)
}

/// Nominal time of the samples and the calibration before them. `target_ns` without `sample_ns` is ignored: workloads that end at their
/// largest possible operation count set one that is never reached.
fn nominal_seconds(benchmark: &Benchmark) -> f64 {
    let param = |key: &str| match &benchmark.work {
        Work::Kernel(work) => work.params.get(key)?.parse::<u64>().ok(),
        _ => None,
    };
    let samples = param("sample_ns").unwrap_or(0);
    let target = param("target_ns").unwrap_or(0).min(samples);
    DEFAULT_LAUNCH_SECONDS.max((samples as f64 + 2.0 * target as f64) / 1e9)
}
