//! Results of another program, parsed from its output.

use crate::harness::{HarnessError, HarnessResult, HarnessResults};
use gritstone_model::Better;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::collections::{BTreeSet, HashMap};

/// The output of one execution of another program.
#[derive(Clone, Debug, Default)]
pub struct ForeignRun {
    /// Empty if the output has no version.
    pub version: String,
    /// Start; UTC if the output has no time zone.
    pub started: Option<Timestamp>,
    /// Name of the measured system.
    pub machine: Option<String>,
    /// Benchmarks in order of appearance, each name once.
    pub series: Vec<Series>,
    index: HashMap<String, usize>,
}

/// Names of benchmarks in one document, where a repeated name is that of another benchmark.
#[derive(Debug, Default)]
pub(crate) struct DistinctNames(HashMap<String, usize>);

impl DistinctNames {
    /// `sort`, then `sort #2`.
    pub(crate) fn next(&mut self, name: String) -> String {
        loop {
            let times = self.0.entry(name.clone()).or_default();
            *times += 1;
            let numbered = match times {
                1 => return name,
                n => format!("{name} #{n}"),
            };
            if !self.0.contains_key(&numbered) {
                self.0.insert(numbered.clone(), 1);
                return numbered;
            }
        }
    }

    /// The name in the document.
    pub(crate) fn original(name: &str) -> &str {
        match name.rsplit_once(" #") {
            Some((original, n)) if n.bytes().all(|b| b.is_ascii_digit()) => original,
            _ => name,
        }
    }
}

/// A benchmark of another program.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Full name there, with all parameters: its identity.
    pub name: String,
    /// Unit and direction of the values; `None` without values.
    pub unit: Option<(String, Better)>,
    /// Processes or executions, with at least one repetition each.
    pub launches: Vec<Vec<Repetition>>,
    /// Reasons for further launches that failed.
    pub failures: Vec<String>,
    /// Reason for which it has no value, whatever its launches have.
    pub left_out: Option<String>,
    /// Remarks on its values.
    pub remarks: BTreeSet<&'static str>,
    /// Whether the program measures CPU time.
    pub by_cpu: bool,
}

/// A value of another program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Repetition {
    /// In the unit of the series, above 0.
    pub value: f64,
    /// Number of operations, if known.
    pub operations: Option<u64>,
    /// CPU time per operation, in the unit of the series.
    pub cpu: Option<f64>,
    /// CPU time per operation in user and in system mode.
    pub user_system: Option<[f64; 2]>,
    /// Nonzero exit status that the user chose to ignore.
    pub status: Option<i32>,
    /// Peak memory, bytes.
    pub peak_memory: Option<u64>,
}

impl Repetition {
    /// A value of an unknown number of operations.
    pub fn new(value: f64) -> Self {
        Self { value, ..Self::default() }
    }
}

impl ForeignRun {
    pub(crate) fn named(&mut self, name: &str) -> &mut Series {
        let index = *self.index.entry(name.to_owned()).or_insert_with(|| {
            self.series.push(Series { name: name.to_owned(), ..Series::default() });
            self.series.len() - 1
        });
        &mut self.series[index]
    }

    /// Adds a launch. An invalid value, or one in another unit than before, excludes the benchmark: the remaining values alone would be
    /// another result.
    pub(crate) fn add(
        &mut self,
        name: &str,
        (unit, better): (&str, Better),
        launch: Vec<Repetition>,
        place: impl FnOnce() -> String,
    ) {
        let series = self.named(name);
        let (known, _) = series.unit.get_or_insert((unit.to_owned(), better));
        let cpu = |one: &Repetition| one.cpu.unwrap_or_default();
        let bad = launch.iter().map(|one| one.value).find(|v| !is_possible(*v));
        let negative = launch.iter().map(cpu).find(|cpu| !(*cpu >= 0.0 && cpu.is_finite()));
        let why = match (bad, negative) {
            (Some(value), _) => format!("{} is not a positive number", with_unit(value, unit)),
            (None, Some(cpu)) => format!("{} of CPU time are impossible", with_unit(cpu, unit)),
            (None, None) if known != unit => format!("it is in {unit} here and in {known} above"),
            (None, None) => return series.launches.push(launch),
        };
        series.left_out.get_or_insert_with(|| located(&place(), &why));
    }

    /// Excludes a benchmark; the first reason counts.
    pub(crate) fn leave_out(&mut self, name: &str, why: impl Into<String>) {
        self.named(name).left_out.get_or_insert_with(|| why.into());
    }

    /// # Errors
    /// When there is no value: names the benchmarks, with reasons.
    pub(crate) fn finish(self, program: &'static str) -> Result<Self, HarnessError> {
        if self.series.iter().any(Series::was_launched) {
            return Ok(self);
        }
        let why = |series: &Series| Some((series.name.clone(), series.left_out.clone()?));
        let why: Vec<_> = self.series.iter().filter_map(why).collect();
        Err(match why.is_empty() {
            true => HarnessError::Empty(program),
            false => HarnessError::NoValue { program, why },
        })
    }

    /// The benchmarks with and without values.
    ///
    /// # Errors
    /// When no benchmark has a value.
    pub fn results(self, program: &'static str) -> Result<HarnessResults, HarnessError> {
        let mut all = HarnessResults::default();
        for series in self.series {
            let name = series.name.clone();
            match series.result() {
                Ok(result) => all.measured.push(result),
                Err(reason) => all.without_value.push((name, reason)),
            }
        }
        match all.measured.is_empty() {
            true => Err(HarnessError::NoValue { program, why: all.without_value }),
            false => Ok(all),
        }
    }
}

impl Series {
    /// Whether it has neither launches nor failures.
    pub(crate) fn is_empty(&self) -> bool {
        self.launches.is_empty() && self.failures.is_empty() && self.left_out.is_none()
    }

    fn was_launched(&self) -> bool {
        let any = !self.launches.is_empty() || !self.failures.is_empty();
        any && self.left_out.is_none()
    }

    /// Ignored failures are part of the name, so that failing executions are never compared with successful ones.
    fn result(self) -> Result<HarnessResult, String> {
        let failure = self.failures.into_iter().next();
        if let Some(why) = self.left_out.or(failure.filter(|_| self.launches.is_empty())) {
            return Err(why);
        }
        let repetitions = || self.launches.iter().flatten();
        let statuses: BTreeSet<Option<i32>> = repetitions().map(|one| one.status).collect();
        let name = match statuses.first() {
            _ if statuses.len() > 1 => return Err("its exit statuses differ".to_owned()),
            Some(Some(status)) => format!("{} (exit status {status})", self.name),
            _ => self.name.clone(),
        };
        let value = |one: &Repetition| one.cpu.filter(|_| self.by_cpu).unwrap_or(one.value);
        let values: Vec<f64> = repetitions().map(value).collect();
        if let Some(bad) = values.iter().find(|value| !is_possible(**value)) {
            return Err(format!("{bad} is not a positive number"));
        }
        let (unit, better) = self.unit.ok_or("it has no value")?;
        Ok(HarnessResult { name, unit, better, values })
    }
}

fn is_possible(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

fn with_unit(value: f64, unit: &str) -> String {
    format!("{value} {unit}").trim_end().to_owned()
}

/// A fault after its place.
pub(crate) fn located(place: &str, what: &str) -> String {
    match place.is_empty() {
        true => what.to_owned(),
        false => format!("{place}: {what}"),
    }
}

/// Parses a time in the formats of these programs; without a time zone, in UTC, so that all readers agree.
pub fn parse_time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    text.parse().ok().or_else(|| {
        let local: DateTime = text.parse().ok()?;
        let utc = local.to_zoned(TimeZone::UTC).ok()?;
        Some(utc.timestamp())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_stay_apart() {
        let mut names = DistinctNames::default();
        let given = ["a #2", "a", "a", "a", "a #2"].map(|name| names.next(name.to_owned()));
        assert_eq!(given, ["a #2", "a", "a #3", "a #4", "a #2 #2"]);
    }

    #[test]
    fn times_without_zone_are_utc() {
        let time = |text| parse_time(text).map(|time| time.to_string());
        let noon = Some("2018-04-28T10:00:00Z".to_owned());
        assert_eq!(time("2018-04-28 10:00:00"), noon);
        assert_eq!(time("2018-04-28T12:00:00+02:00"), noon);
        assert_eq!(time("2018-04-28"), Some("2018-04-28T00:00:00Z".to_owned()));
        assert_eq!(time("yesterday"), None);
    }
}
