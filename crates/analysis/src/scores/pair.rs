//! Whether a benchmark counts in a score, and by which values.

use crate::conversion::scale;
use gritstone_model::{Better, Flag, Id, Measurement, Note, Subject};
use gritstone_stats::score::ScoredBenchmark;
use gritstone_stats::undisturbed;

pub(super) enum Usability {
    /// The base has no comparable result.
    NotCovered,
    /// Absent or invalid, and named by the user.
    LeftOut {
        /// Whether a work check failed.
        invalid: bool,
    },
    /// Part of the score, or a reason to withhold it.
    Counts(Box<Pair>),
}

pub(super) struct Pair {
    pub id: Id,
    /// The machine, with the base as its reference.
    pub machine: ScoredBenchmark,
    /// The base, with itself as its reference: its scatter.
    pub base: ScoredBenchmark,
    pub machine_printed: bool,
    pub base_printed: bool,
    pub doubts: Vec<Flag>,
}

impl Pair {
    /// Both sides have valid results.
    pub fn is_shared(&self) -> bool {
        !self.machine.launches.is_empty() && !self.machine.invalid
    }
}

/// One value for each launch, in the unit of the base; one value if printed.
struct Compared {
    subject: Subject,
    machine: Vec<f64>,
    base: Vec<f64>,
    /// Weights of machine and base.
    weights: [Vec<f64>; 2],
    better: Better,
}

pub(super) fn usability(
    id: &Id,
    (machine, base): (Option<&Measurement>, Option<&Measurement>),
    named: bool,
) -> Usability {
    let Some(base) = base.filter(|base| has_figure(base)) else {
        return Usability::NotCovered;
    };
    let Some(machine) = machine.filter(|machine| has_figure(machine)) else {
        return unusable(id, named, false);
    };
    let Some(compared) = compared(machine, base) else {
        return Usability::NotCovered;
    };
    if machine.has_flag(Flag::Invalid, compared.subject)
        || base.has_flag(Flag::Invalid, compared.subject)
    {
        return unusable(id, named, true);
    }
    let notes = machine.notes.iter().chain(&base.notes);
    let concerns = notes.filter(|note| note.about.concerns(compared.subject));
    let doubts = concerns.filter_map(Note::flag);
    let [machine_weights, base_weights] = compared.weights;
    let reference = center(&compared.base, &base_weights, compared.better);
    let row = |launches: Vec<f64>, weights: Vec<f64>| ScoredBenchmark {
        launches,
        weights,
        reference,
        lower_is_better: compared.better == Better::Lower,
        weight: 1.0,
        invalid: false,
    };
    Usability::Counts(Box::new(Pair {
        id: id.clone(),
        machine_printed: machine.is_published(),
        base_printed: base.is_published(),
        doubts: doubts.collect(),
        machine: row(compared.machine, machine_weights),
        base: row(compared.base, base_weights),
    }))
}

fn center(values: &[f64], weights: &[f64], better: Better) -> f64 {
    let time = |x: f64| if better == Better::Higher { 1.0 / x } else { x };
    let times: Vec<f64> = values.iter().copied().map(time).collect();
    // not positive, or too many: the mean reports it with the benchmark
    undisturbed::estimate(&times, weights, 0.95).map_or(values[0], |estimate| time(estimate.value))
}

/// A benchmark without launches or with a failed work check, which withholds the score.
fn unusable(id: &Id, named: bool, invalid: bool) -> Usability {
    if named {
        return Usability::LeftOut { invalid };
    }
    let row = ScoredBenchmark {
        launches: invalid.then_some(1.0).into_iter().collect(),
        weights: invalid.then_some(1.0).into_iter().collect(),
        reference: 1.0,
        lower_is_better: true,
        weight: 1.0,
        invalid,
    };
    Usability::Counts(Box::new(Pair {
        id: id.clone(),
        base: row.clone(),
        machine: row,
        machine_printed: false,
        base_printed: false,
        doubts: Vec::new(),
    }))
}

fn has_figure(result: &Measurement) -> bool {
    let published = result.published.as_ref();
    let times = published.map(|p| [p.real, p.user, p.system]);
    result.estimate().is_some() || times.is_some_and(|times| times.iter().any(Option::is_some))
}

/// Real time of the reference workload where a side is printed and both have it, else estimates in comparable units;
/// `None` otherwise.
fn compared(machine: &Measurement, base: &Measurement) -> Option<Compared> {
    let any_printed = machine.is_published() || base.is_published();
    let declared = |compared| {
        let mut sides = [machine, base].into_iter();
        sides.any(|side| side.has_flag(Flag::NotComparable, compared))
    };
    if !any_printed && machine.version != base.version {
        return None;
    }
    let real = |result: &Measurement| {
        let published = result.published.as_ref()?;
        let real = published.real.map(|real| real.value);
        values(result, real, &published.values)
    };
    if let (true, Some(m), Some(b)) = (any_printed, real(machine), real(base)) {
        return (!declared(Subject::Real)).then_some(Compared {
            subject: Subject::Real,
            weights: [vec![1.0; m.len()], vec![1.0; b.len()]],
            machine: m,
            base: b,
            better: Better::Lower,
        });
    }
    let scale = scale(&machine.unit, &base.unit)?;
    let values_of = |result: &Measurement| values(result, result.value(), result.values());
    let (m, b) = (values_of(machine)?, values_of(base)?);
    let stands = !(any_printed && declared(Subject::Estimate));
    let weights = |result: &Measurement, n| match result.weights() {
        weights if weights.len() == n => weights.to_vec(),
        _ => vec![1.0; n],
    };
    stands.then(|| Compared {
        subject: Subject::Estimate,
        weights: [weights(machine, m.len()), weights(base, b.len())],
        machine: m.into_iter().map(|x| x * scale).collect(),
        base: b,
        better: base.better,
    })
}

/// Values of launches; only the estimate if it is printed, or has no launches.
fn values(result: &Measurement, estimate: Option<f64>, launches: &[f64]) -> Option<Vec<f64>> {
    let estimate = estimate?;
    match result.is_published() || launches.is_empty() {
        true => Some(vec![estimate]),
        false => Some(launches.to_vec()),
    }
}
