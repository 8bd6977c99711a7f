//! Numbers of one benchmark for systems and a run, in one unit.

use crate::brief::history::values;
use crate::brief::timeline::scale;
use gritstone_document::number;
use gritstone_model::{Better, Measurement, Unit};

/// Digits of a value of this run beside printed ones.
const DIGITS: i32 = 3;

pub(super) struct Numbers {
    pub unit: String,
    /// In the order of the systems.
    pub printed: Vec<Option<f64>>,
    pub measured: Option<f64>,
    pub better: Better,
}

impl Numbers {
    /// None if there is no number. The unit is the first printed one that the run has too.
    pub fn new(measured: Option<&Measurement>, printed: &[Option<&Measurement>]) -> Option<Self> {
        let theirs: Vec<Vec<(f64, String)>> =
            printed.iter().map(|result| result.map(values).unwrap_or_default()).collect();
        let units: Vec<&String> = theirs.iter().flatten().map(|(_, unit)| unit).collect();
        // the estimate comes last
        let main = theirs.iter().find_map(|numbers| numbers.last()).map(|(_, unit)| unit);
        let both = units
            .iter()
            .find(|unit| measured.is_some_and(|result| value_in(result, unit).is_some()));
        let unit = match both.copied().or(main) {
            Some(unit) => unit.clone(),
            None => values(measured?).first()?.1.clone(),
        };
        let in_unit = |result: Option<&Measurement>| value_in(result?, &unit);
        Some(Self {
            printed: printed.iter().map(|result| in_unit(*result)).collect(),
            measured: in_unit(measured),
            better: better(measured, printed, &unit),
            unit,
        })
    }

    /// Speed of the run as a multiple of a system's.
    pub fn times(&self, system: usize) -> Option<f64> {
        self.gain(self.measured?, self.printed.get(system).copied().flatten()?)
    }

    /// Speed of a number as a multiple of another's.
    pub fn gain(&self, value: f64, base: f64) -> Option<f64> {
        let ratio = match self.better {
            Better::Higher => value / base,
            Better::Lower => base / value,
        };
        Some(ratio).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
    }

    /// The printed numbers of the systems, then that of the run.
    pub fn shown(&self) -> Vec<Option<String>> {
        let decimals = self.printed.iter().flatten();
        let decimals = decimals.map(|v| number::printed_decimals(*v)).max();
        let decimals = decimals.unwrap_or(0).min(4);
        let printed = self.printed.iter();
        let printed = printed.map(|v| v.map(|v| number::printed(v, decimals)));
        printed.chain([self.measured.map(|v| number::significant(v, DIGITS))]).collect()
    }
}

/// A number of a result in a unit: an existing one, or the converted estimate.
pub(super) fn value_in(result: &Measurement, unit: &str) -> Option<f64> {
    let same = values(result).into_iter().find(|(_, known)| known == unit);
    let converted = || {
        let to = Unit::parse(unit).ok().filter(|_| unit != SECONDS)?;
        Some(result.value()? * scale(&result.unit, &to)?)
    };
    same.map(|(value, _)| value).or_else(converted)
}

/// The unit of times of whole reference workloads, to which no time per operation is converted.
const SECONDS: &str = "s";

fn better(measured: Option<&Measurement>, printed: &[Option<&Measurement>], unit: &str) -> Better {
    let all = measured.into_iter().chain(printed.iter().flatten().copied());
    let mut of_unit = all.filter(|result| result.unit.as_str() == unit && result.value().is_some());
    of_unit.next().map_or(Better::Lower, |result| result.better)
}
