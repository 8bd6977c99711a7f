//! The gate of `gritstone check` over earlier runs, replayed run by run: a stopped level never becomes the base, and a
//! regression lasts until a run is surely better.
//!
//! The base of a benchmark are its newest accepted values but the last two, which wait: one run far off decides by itself, three that
//! are off by less decide together. docs/statistics.md, "Gate", has the formulas, docs/validation.md the rates.

use crate::compare::common_shift;
use crate::run_variance::{self, Class, DEFAULT, Past};
use gritstone_model::{CheckOutcome, Id, Measurement, RowVariance, RunView};
use gritstone_stats::moderated::{self, Variance};
use gritstone_stats::{descriptive, history, multiple, quantile};
use std::collections::{BTreeMap, BTreeSet};

/// Newest accepted values that are not of the base yet.
const WAITING: usize = 2;
pub(crate) const MIN_EARLIER: usize = moderated::MIN_RUNS + WAITING;
/// Level of one run over all of its benchmarks: nominally 0.5%, since variances of benchmarks scatter more than the model's, so that
/// less than 1% of runs are false alarms (docs/validation.md).
const ALPHA: f64 = 0.005;
/// Variance of a median of normal values over that of their mean.
const OF_MEDIAN: f64 = std::f64::consts::FRAC_PI_2;

/// ln(speed) in one run.
#[derive(Clone, Copy)]
struct Value {
    run: usize,
    speed: f64,
    /// Variance that the launches show.
    within: f64,
}

#[derive(Default)]
struct Base {
    accepted: Vec<Value>,
    regressed: Option<Regressed>,
}

struct Regressed {
    /// Number of the first regressed run.
    since: usize,
    /// ln(speed) of that run and of each since over that of the base.
    ratios: Vec<f64>,
}

/// Benchmarks whose level in a run, by its identifier, someone has accepted by name.
pub type Accepted = BTreeSet<(String, Id)>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judged {
    pub outcome: CheckOutcome,
    /// Compared in core cycles.
    pub paced: bool,
    /// Earlier values that are not of the base, and of it.
    pub earlier: usize,
    /// How it stands to the base; `None` with too few earlier values.
    pub held: Option<Held>,
    /// Start of the first regressed run.
    pub since: Option<String>,
    /// Its level was accepted by name.
    pub accepted: bool,
    /// Decides between cycles and estimates.
    pub variance: Option<RowVariance>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Held {
    /// ln(speed) over that of the base, the common shift taken out.
    pub ln_ratio: f64,
    /// ln(speed) that is expected.
    pub expected: f64,
    /// Half-width at 95%.
    pub half: f64,
    /// Of a slowdown of no more than is allowed, one-sided; adjusted by Holm over the benchmarks of the run.
    pub p: f64,
    pub p_adjusted: f64,
    /// By how much three runs on end are surely better, as ln(ratio).
    better: Option<f64>,
}

/// Replays the gate over comparable runs, oldest first, and returns the verdicts of the last, `run`.
pub(crate) fn replay(
    earlier: &[Past],
    run: &RunView,
    max_slowdown: f64,
    named: &Accepted,
) -> BTreeMap<Id, Judged> {
    let newest = Past::new(run);
    let runs: Vec<&Past> = earlier.iter().chain([&newest]).collect();
    let scatter = run_variance::of_run(earlier, run);
    let paced = |like: &Measurement| scatter.get(&like.id).is_none_or(|of| of.paced_is_less());
    let both = |like: &Measurement| like.processor_bound && like.cycles().is_some();
    let class = |like: &Measurement| Class::new(like, both(like) && paced(like));
    let mut bases: BTreeMap<&Id, Base> = BTreeMap::new();
    let mut judged = BTreeMap::new();
    for (number, past) in runs.iter().enumerate() {
        judged = BTreeMap::new();
        for kind in [Class::Cycles, Class::Processor, Class::Other] {
            let paced = kind == Class::Cycles;
            let of = run.results.iter().filter(|like| class(like) == kind);
            let of: Vec<(&Id, Value)> = of
                .filter_map(|like| {
                    let (speed, within) = past.speed(like, paced)?;
                    let run = number;
                    Some((&like.id, Value { run, speed, within }))
                })
                .collect();
            let held = hold(&bases, &of, paced, max_slowdown);
            for ((id, value), held) in of.into_iter().zip(held) {
                let base = bases.entry(id).or_default();
                let accepted = named.contains(&(past.run.clone(), id.clone()));
                let outcome = match accepted {
                    true => CheckOutcome::Passed,
                    false => outcome(held, base, max_slowdown),
                };
                let earlier = base.accepted.len();
                accept(base, value, outcome, held, accepted);
                let since = base.regressed.as_ref();
                let of = Judged {
                    outcome,
                    paced,
                    earlier,
                    held,
                    since: since.map(|of| runs[of.since].started.clone()),
                    accepted,
                    variance: None,
                };
                judged.insert(id.clone(), of);
            }
        }
    }
    for like in &run.results {
        if let Some(judged) = judged.get_mut(&like.id) {
            judged.variance = scatter.get(&like.id).map(|of| of.row(both(like)));
        }
    }
    judged
}

impl Base {
    /// The values that it is made of.
    fn window(&self) -> &[Value] {
        let settled = &self.accepted[..self.accepted.len().saturating_sub(WAITING)];
        &settled[settled.len().saturating_sub(run_variance::MOST_RUNS)..]
    }

    fn waiting(&self) -> &[Value] {
        &self.accepted[self.accepted.len().saturating_sub(WAITING)..]
    }
}

/// Each value against its base.
fn hold(
    bases: &BTreeMap<&Id, Base>,
    values: &[(&Id, Value)],
    paced: bool,
    max_slowdown: f64,
) -> Vec<Option<Held>> {
    let none = Base::default();
    let of: Vec<&Base> = values
        .iter()
        .map(|(id, _)| bases.get(id).unwrap_or(&none))
        .collect();
    let model = Model::new(&of, paced);
    let centers: Vec<Option<f64>> = of.iter().map(|base| model.center(base.window())).collect();
    let away = |pick: &dyn Fn(usize) -> Option<f64>| -> Vec<f64> {
        (0..values.len())
            .filter_map(|at| Some(pick(at)? - centers[at]?))
            .collect()
    };
    // of this run, and of the two that wait, which are like any other
    let shift = common(&away(&|at| Some(values[at].1.speed)));
    let shifts: BTreeMap<usize, f64> = of
        .iter()
        .flat_map(|base| base.waiting())
        .map(|value| value.run)
        .collect::<BTreeSet<usize>>()
        .into_iter()
        .map(|run| {
            let of_run = |at: usize| of[at].waiting().iter().find(|value| value.run == run);
            (run, common(&away(&|at| Some(of_run(at)?.speed))))
        })
        .collect();
    // a slowdown of everything is one of each: it is not taken out where it is more than runs differ by
    let allowed = max_slowdown.ln_1p();
    let runs = model.columns.len().max(1) as f64;
    let slower = model.fit.shift.is_some_and(|of| {
        let sd = (of.value * (1.0 + OF_MEDIAN / runs)).sqrt();
        below((-shift - allowed) / sd, of.df) < common_shift::LEVEL
    });
    let (shift, extra) = match slower {
        true => (0.0, model.fit.shift.map_or(0.0, |of| of.value)),
        false => (shift, 0.0),
    };
    let mut held: Vec<Option<Held>> = (0..values.len())
        .map(|at| {
            let (base, value) = (of[at], values[at].1);
            let center = centers[at].filter(|_| base.accepted.len() >= MIN_EARLIER)?;
            let spread = model.fit.benchmarks[at];
            let n = base.window().len() as f64;
            let within = base.window().iter().map(|value| value.within);
            let within = within.sum::<f64>() / n;
            let of_benchmark = (spread.value - within).max(0.0) + extra;
            let of_base = OF_MEDIAN * spread.value / n;
            let ln_ratio = value.speed - shift - center;
            // launches and runs that agree to the last digit leave nothing to divide by
            let sd = (of_benchmark + value.within + of_base).sqrt().max(1e-9);
            let waiting = base.waiting().iter();
            let three: Vec<f64> = waiting
                .map(|value| value.speed - shifts.get(&value.run).copied().unwrap_or(0.0) - center)
                .chain([ln_ratio])
                .collect();
            let count = three.len() as f64;
            let sd_three = (of_benchmark + value.within.max(within)) / count + of_base;
            let sd_three = sd_three.sqrt().max(1e-9);
            let one = below((-ln_ratio - allowed) / sd, spread.df);
            let all = below((-descriptive::mean(&three) - allowed) / sd_three, spread.df);
            Some(Held {
                ln_ratio,
                expected: center + shift,
                half: quantile::student(0.95, spread.df) * sd,
                p: (2.0 * one.min(all)).min(1.0),
                p_adjusted: 1.0,
                better: three
                    .iter()
                    .all(|x| *x > history::OUTLIER_DISTANCE * spread.value.sqrt())
                    .then(|| descriptive::mean(&three)),
            })
        })
        .collect();
    let p: Vec<Option<f64>> = held.iter().map(|held| Some(held.as_ref()?.p)).collect();
    for (held, p) in held.iter_mut().zip(multiple::holm(&p)) {
        if let (Some(held), Some(p)) = (held, p) {
            held.p_adjusted = p;
        }
    }
    held
}

/// P(T >= t).
fn below(t: f64, df: f64) -> f64 {
    let both = quantile::student_tails(t.abs(), df) / 2.0;
    if t > 0.0 { both } else { 1.0 - both }
}

/// The common shift; 0 with few benchmarks.
fn common(away: &[f64]) -> f64 {
    match away.len() >= moderated::MIN_BENCHMARKS {
        true => descriptive::median(&descriptive::sorted(away)),
        false => 0.0,
    }
}

/// The two-way model over the bases.
struct Model {
    /// Numbers of the runs, in order.
    columns: Vec<usize>,
    fit: moderated::Fit,
}

impl Model {
    fn new(bases: &[&Base], paced: bool) -> Self {
        let columns: BTreeSet<usize> = bases
            .iter()
            .flat_map(|base| base.window())
            .map(|value| value.run)
            .collect();
        let columns: Vec<usize> = columns.into_iter().collect();
        let speeds: Vec<Vec<Option<f64>>> = bases
            .iter()
            .map(|base| {
                let mut speeds = vec![None; columns.len()];
                for value in base.window() {
                    if let Ok(at) = columns.binary_search(&value.run) {
                        speeds[at] = Some(value.speed);
                    }
                }
                speeds
            })
            .collect();
        let stated: Variance = if paced { DEFAULT.paced } else { DEFAULT.raw }.into();
        let fit = moderated::fit(&speeds, stated);
        Self { columns, fit }
    }

    /// Median of a base, less the shifts of its runs.
    fn center(&self, window: &[Value]) -> Option<f64> {
        let speeds: Vec<f64> = window
            .iter()
            .map(|value| {
                let at = self.columns.binary_search(&value.run);
                value.speed - at.map_or(0.0, |at| self.fit.shifts[at])
            })
            .collect();
        (!speeds.is_empty()).then(|| descriptive::median(&descriptive::sorted(&speeds)))
    }
}

fn outcome(held: Option<Held>, base: &Base, max_slowdown: f64) -> CheckOutcome {
    let Some(held) = held else {
        return CheckOutcome::Inconclusive;
    };
    let allowed = -max_slowdown.ln_1p();
    let stays = |of: &Regressed| {
        // the first is far off since it was chosen for that: where those after it are not slower together, it was chance
        let later = of.ratios[1..].iter().copied().chain([held.ln_ratio]);
        descriptive::mean(&later.collect::<Vec<f64>>()) <= allowed
    };
    if held.p_adjusted < ALPHA {
        CheckOutcome::Regressed
    } else if held.ln_ratio - held.half > allowed {
        CheckOutcome::Passed
    } else if base.regressed.as_ref().is_some_and(stays) {
        CheckOutcome::Regressed
    } else {
        CheckOutcome::Inconclusive
    }
}

/// Takes a value into the base, unless it is regressed. `named`: someone has accepted its level.
fn accept(base: &mut Base, value: Value, outcome: CheckOutcome, held: Option<Held>, named: bool) {
    let ratio = held.map(|held| held.ln_ratio);
    if outcome == CheckOutcome::Regressed {
        let of = base.regressed.get_or_insert_with(|| Regressed {
            since: value.run,
            ratios: vec![],
        });
        of.ratios.extend(ratio);
        return;
    }
    let stopped = base.regressed.take();
    base.accepted.push(value);
    // how values scatter is known from the level before
    let move_to = |values: &mut [Value], by: f64| values.iter_mut().for_each(|v| v.speed += by);
    let last = base.accepted.len() - 1;
    if let (true, Some(ratio)) = (named, ratio) {
        let stopped = stopped.map_or(vec![], |of| of.ratios);
        let level: Vec<f64> = stopped.into_iter().chain([ratio]).collect();
        move_to(&mut base.accepted[..last], descriptive::mean(&level));
    } else if let Some(by) = held.and_then(|held| held.better) {
        // an improvement becomes the base
        move_to(&mut base.accepted[..last - WAITING], by);
    }
}
