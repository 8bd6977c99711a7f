//! What is compared of two results of a benchmark, and the ratio.

use super::difference::Difference;
use gritstone_model::{Better, Finding, Measurement, Quantity, RowVariance, Subject, Unit};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ComparedBy {
    /// Interval and p of a test of launches against launches.
    Test,
    /// Interference on one side, or no launches.
    Nothing,
    /// The interval alone: one side is printed.
    Interval,
    /// Sizes, which do not vary.
    Exact,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pair {
    /// The estimate or one of the times.
    pub compared: Subject,
    /// Unit of `base` and `other`.
    pub unit: String,
    pub base: Option<f64>,
    pub other: Option<f64>,
    /// Above 1: the other is better.
    pub ratio: Option<f64>,
    pub interval: Option<[f64; 2]>,
    /// Of a ratio of 1.
    pub p: Option<f64>,
    pub basis: ComparedBy,
    /// Of estimates with launches.
    pub difference: Option<Difference>,
    pub variance: Option<RowVariance>,
    /// Reasons for a missing ratio, and caveats.
    pub notes: Vec<Finding>,
}

impl Pair {
    pub fn new(base: &Measurement, other: &Measurement) -> Self {
        // one unit for both sides: an estimate that does not convert is absent
        let scale = scale(&other.unit, &base.unit);
        Self {
            compared: Subject::Estimate,
            unit: base.unit.to_string(),
            base: base.value(),
            other: other.value().zip(scale).map(|(x, scale)| x * scale),
            ratio: None,
            interval: None,
            p: None,
            basis: ComparedBy::Test,
            difference: None,
            variance: None,
            notes: Vec::new(),
        }
    }

    pub fn apart(mut self, why: Finding) -> Self {
        self.notes.push(why);
        self.without_ratio()
    }

    pub fn without_ratio(self) -> Self {
        Self {
            ratio: None,
            interval: None,
            p: None,
            difference: None,
            variance: None,
            ..self
        }
    }
}

/// Conversion factor; `None` for different quantities.
pub(crate) fn scale(from: &Unit, to: &Unit) -> Option<f64> {
    match (from.quantity(), to.quantity()) {
        (Quantity::Time { ns: from }, Quantity::Time { ns: to }) => Some(from / to),
        (Quantity::Rate { plain: a }, Quantity::Rate { plain: b })
            if counted(from) == counted(to) =>
        {
            Some(a / b)
        }
        (Quantity::Share, Quantity::Share) => Some(1.0),
        (Quantity::Exact, Quantity::Exact) if from == to => Some(1.0),
        _ => None,
    }
}

/// The counted thing of a rate, bytes without their multiple.
fn counted(unit: &Unit) -> &str {
    let text = unit.as_str();
    match text.split_once('/').map_or(text, |(thing, _)| thing) {
        // named rates: KFLOPS, MFLOPS
        named if named == text => text.trim_start_matches(['K', 'M', 'G']),
        "GB" | "MB" | "KB" | "B" | "bytes" => "bytes",
        thing => thing,
    }
}

/// Above 1 when the other is better.
pub(super) fn ratio(base: f64, other: f64, better: Better) -> f64 {
    match better {
        Better::Higher => other / base,
        Better::Lower => base / other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_a_kind_convert() {
        let scale = |from, to| scale(&Unit::parse(from).unwrap(), &Unit::parse(to).unwrap());
        assert_eq!(scale("us/call", "ns/call"), Some(1000.0));
        assert_eq!(scale("MB/s", "KB/s"), Some(1000.0));
        assert_eq!(scale("bytes/s", "MB/s"), Some(1e-6));
        assert_eq!(scale("bytes", "bytes"), Some(1.0));
        assert_eq!(scale("calls/s", "calls/s"), Some(1.0));
        assert_eq!(scale("runs/s", "runs/h"), Some(3600.0));
        assert_eq!(scale("MFLOPS", "KFLOPS"), Some(1000.0));
        for (from, to) in [
            ("MB/s", "ns"),
            ("MB/s", "calls/s"),
            ("bytes", "ratio"),
            ("bytes", "ns"),
            ("KWIPS", "KFLOPS"),
        ] {
            assert_eq!(scale(from, to), None, "{from} {to}");
        }
    }
}
