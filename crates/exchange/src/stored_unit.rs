//! Units of other programs, converted to units of results: times and rates.

use crate::foreign_run::Repetition;
use gritstone_model::{Quantity, Sample, Unit, Usage};

/// Relative rounding error of a time in whole nanoseconds; if it would be larger, more operations are stored.
const ROUNDING: f64 = 1e-9;
/// The same where the program states the number of operations: samples of 100 ms keep it.
const STATED_ROUNDING: f64 = 5e-9;

/// Longest plausible time: thirty years.
const MAX_TIME_NS: f64 = 1e18;

/// A unit of results, and the factor from the program's unit.
pub(crate) struct StoredUnit {
    pub unit: Unit,
    factor: f64,
}

impl StoredUnit {
    pub fn nanoseconds() -> Self {
        Self::parse("ns").expect("ns is a time")
    }

    /// `None` for a unit of neither time nor rate.
    pub fn parse(text: &str) -> Option<Self> {
        let known = |unit: &str, factor| {
            let unit = Unit::parse(unit).ok()?;
            let supported =
                matches!(unit.quantity(), Quantity::Time { .. } | Quantity::Rate { .. });
            supported.then_some(Self { unit, factor })
        };
        if let Some(unit) = known(text, 1.0) {
            return Some(unit);
        }
        let (head, tail) = text.split_once('/').unwrap_or((text, ""));
        let per = |unit: &str| match tail {
            "" => unit.to_owned(),
            tail => format!("{unit}/{tail}"),
        };
        let rate = |seconds: f64| known(&format!("{head}/s"), 1.0 / seconds);
        match (head, tail) {
            ("sec" | "second" | "seconds", _) => known(&per("s"), 1.0),
            ("min" | "m", _) => known(&per("s"), 60.0),
            ("µs" | "μs", _) => known(&per("us"), 1.0),
            ("ps", _) => known(&per("ns"), 1e-3),
            (_, "s" | "sec" | "second" | "seconds") => rate(1.0),
            (_, "ms") => rate(1e-3),
            (_, "us" | "µs" | "μs") => rate(1e-6),
            (_, "ns") => rate(1e-9),
            (_, "min" | "minute") => rate(60.0),
            (_, "hour") => rate(3600.0),
            _ => None,
        }
    }

    /// Nanoseconds per operation; of a rate, per base unit.
    fn nanoseconds_of(&self, value: f64) -> f64 {
        match self.unit.quantity() {
            Quantity::Time { ns } => value * self.factor * ns,
            Quantity::Rate { plain } => 1e9 / (plain * value * self.factor),
            Quantity::Share | Quantity::Exact => f64::NAN,
        }
    }

    /// Time of a repetition, s; of one operation if their number is unknown.
    pub fn seconds(&self, repetition: &Repetition) -> f64 {
        let operations = repetition.operations.unwrap_or(1) as f64;
        self.nanoseconds_of(repetition.value) * operations / 1e9
    }

    /// # Errors
    /// When no clock can have measured it.
    pub fn sample(&self, repetition: &Repetition) -> Result<Sample, String> {
        let each = self.nanoseconds_of(repetition.value);
        let mut n = repetition.operations.unwrap_or(1).max(1);
        let total = each * n as f64;
        let impossible = || {
            let seconds = total / 1e9;
            format!("{seconds:e} s is impossible: a time is at least 1e-9 s and at most 1e9 s")
        };
        let too_short = repetition.operations.is_some() && total.round() < 1.0;
        if total.is_nan() || total > MAX_TIME_NS || too_short {
            return Err(impossible());
        }
        let rounding = repetition.operations.map_or(ROUNDING, |_| STATED_ROUNDING);
        let wall = |n: u64| each * n as f64;
        let is_exact = |n: u64| {
            let wall = wall(n);
            (wall.round() - wall).abs() <= wall * rounding
        };
        while !is_exact(n) && n < u64::MAX / 100 && wall(n * 10) <= MAX_TIME_NS {
            n *= 10;
        }
        // no number of operations takes a nanosecond
        if wall(n).round() < 1.0 {
            return Err(impossible());
        }
        let time = |value: f64| (self.nanoseconds_of(value) * n as f64).round() as u64;
        let [user, system] = repetition.user_system.map_or([0; 2], |both| both.map(time));
        Ok(Sample {
            n,
            wall: wall(n).round() as u64,
            usage: Usage { user, system, cpu: repetition.cpu.map_or(0, time), ..Usage::default() },
            ..Sample::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_printed() {
        for (unit, value, expected) in [
            ("ns", 0.2503, 0.2503),
            ("ns/op", 12.5, 12.5),
            ("µs", 3.0, 3.0),
            ("second", 0.1, 0.1),
            ("ps", 250.0, 0.25),
            ("min", 2.0, 120.0),
            ("ops/us", 2.5, 2.5e6),
            ("KiB/s", 1000.0, 1000.0),
            ("MB/s", 0.1, 0.1),
            ("Mbit/s", 9_410.25, 9_410.25),
            ("bits/s", 2.345_678_901e10, 2.345_678_901e10),
        ] {
            let stored = StoredUnit::parse(unit).unwrap();
            let sample = stored.sample(&Repetition::new(value)).unwrap();
            let found = stored.unit.convert(sample.wall as f64 / sample.n as f64, 1.0);
            let off = found.unwrap() / expected - 1.0;
            assert!(off.abs() < 1e-9, "{unit}: {found:?} for {expected}");
        }
        for other in ["B/op", "bytes", "byte", "%", "", "allocs/op"] {
            assert!(StoredUnit::parse(other).is_none(), "{other}");
        }
    }

    #[test]
    fn every_sample_takes_time() {
        let [rate, time] = ["ops/s", "ns"].map(|unit| StoredUnit::parse(unit).unwrap());
        for (unit, value) in [(&rate, 1e300), (&rate, 1e30), (&time, 1e-200)] {
            assert!(unit.sample(&Repetition::new(value)).is_err(), "{value}");
        }
        assert!(rate.sample(&Repetition::new(1e15)).unwrap().wall > 0);
    }

    #[test]
    fn known_operations_stay() {
        let stored = StoredUnit::nanoseconds();
        let repetition =
            Repetition { operations: Some(1000), cpu: Some(99.0), ..Repetition::new(100.0) };
        let sample = stored.sample(&repetition).unwrap();
        assert_eq!((sample.n, sample.wall, sample.usage.cpu), (1000, 100_000, 99_000));
        let operations = Some(57_671_680);
        let repetition = Repetition { operations, ..Repetition::new(2.123_456_7) };
        assert_eq!(stored.sample(&repetition).unwrap().n, 57_671_680);
    }
}
