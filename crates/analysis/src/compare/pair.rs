//! What is compared of two results of a benchmark, and the ratio.

use gritstone_model::{Better, Finding, Measurement, Quantity, RowVariance, Subject, Unit};
use gritstone_stats::scatter::Scatter;

/// What a verdict rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ComparedBy {
    /// Interval and p of a test of launches against launches.
    Test,
    /// Nothing: others disturbed one side, or there are no launches of it.
    Nothing,
    /// The interval alone: one side is a printed figure.
    Interval,
    /// Sizes, which do not vary.
    Exact,
}

/// What comes of two results.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pair {
    /// The estimate, the cycles or one of the times.
    pub compared: Subject,
    /// Unit of `base` and `other`.
    pub unit: String,
    pub base: Option<f64>,
    pub other: Option<f64>,
    /// Above 1: the other is better.
    pub ratio: Option<f64>,
    pub interval: Option<[f64; 2]>,
    /// The same of [`gritstone_stats::two_sample::Ratio::inner`].
    pub inner: Option<[f64; 2]>,
    /// Of a ratio of 1.
    pub p: Option<f64>,
    /// What the verdict rests on.
    pub basis: ComparedBy,
    /// Scatter between runs of one machine that the interval has in it.
    pub between: Option<Scatter>,
    /// What cycles and estimates scatter by between runs.
    pub variance: Option<RowVariance>,
    /// Why there is no ratio, or what must be known of it.
    pub notes: Vec<Finding>,
}

impl Pair {
    /// The two estimates, without a ratio yet.
    pub fn new(base: &Measurement, other: &Measurement) -> Self {
        // one unit stands for both sides: what cannot be told in it is not shown
        let scale = scale(&other.unit, &base.unit);
        Self {
            compared: Subject::Estimate,
            unit: base.unit.to_string(),
            base: base.value(),
            other: other.value().zip(scale).map(|(x, scale)| x * scale),
            ratio: None,
            interval: None,
            inner: None,
            p: None,
            basis: ComparedBy::Test,
            between: None,
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
            inner: None,
            p: None,
            between: None,
            variance: None,
            ..self
        }
    }
}

/// By how much a figure of one unit is multiplied to be in another; `None` where they count different things.
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

/// What a rate counts: bytes however many at a time, or the thing that it names.
fn counted(unit: &Unit) -> &str {
    let text = unit.as_str();
    match text.split_once('/').map_or(text, |(thing, _)| thing) {
        // a rate with a name of its own: KFLOPS, MFLOPS
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
