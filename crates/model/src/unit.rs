//! Units, and conversion of times per operation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Rates.
    Higher,
    /// Times and sizes.
    #[default]
    Lower,
}

impl Better {
    /// Factor of a value, from the factor of its quality.
    pub fn value_ratio(self, ratio: f64) -> f64 {
        match self {
            Self::Higher => ratio,
            Self::Lower => 1.0 / ratio,
        }
    }

    /// Logarithm of the quality of a value.
    pub fn log_speed(self, value: f64) -> f64 {
        match self {
            Self::Higher => value.ln(),
            Self::Lower => -value.ln(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// Time for an amount of work.
    Time {
        /// Nanoseconds per unit: 1 for ns, 1e3 for us, 1e6 for ms, 1e9 for s.
        ns: f64,
    },
    /// Amount per second or hour.
    Rate {
        /// Base units per second: 1e6 for MB/s, 1e3 for KB/s, 1 for anything else; a 3,600th of it per hour.
        plain: f64,
    },
    /// A percentage of a total.
    Share,
    /// A size or a count, exact: it has no interval.
    Exact,
}

/// A unit: `ns/call`, `us`, `MB/s`, `bytes`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Unit(String);

/// Named rates with their base units per second: Whetstone instructions, floating-point operations, Dhrystones. 1 VAX MIPS is the 1,757
/// Dhrystones (1.1) per second of the VAX-11/780.
const NAMED_RATES: [(&str, f64); 6] = [
    ("KWIPS", 1e3),
    ("MWIPS", 1e6),
    ("KFLOPS", 1e3),
    ("MFLOPS", 1e6),
    ("GFLOPS", 1e9),
    ("VAX MIPS", 1757.0),
];

/// Why a text is not a unit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a unit: write ns, us, ms or s (or ns/call and the like), a rate that ends in /s or /h (MB/s, calls/s, runs/h), one with a name (KWIPS, MFLOPS, VAX MIPS), %, or bytes"
)]
pub struct UnitError(String);

impl Unit {
    /// Reads a unit.
    ///
    /// # Errors
    /// When the text is neither a time, a rate, `%`, nor `bytes`.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        quantity(text).map(|_| Self(text.to_owned())).ok_or_else(|| UnitError(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn quantity(&self) -> Quantity {
        // a Unit is only made by `parse`, which has called this too
        quantity(&self.0).unwrap_or(Quantity::Exact)
    }

    /// Converts the time per operation with `amount` of the counted unit.
    pub fn convert(&self, ns_per_op: f64, amount: f64) -> Option<f64> {
        match self.quantity() {
            Quantity::Time { ns } => Some(ns_per_op / amount / ns),
            Quantity::Rate { plain } => Some(amount / ns_per_op * (1e9 / plain)),
            Quantity::Share | Quantity::Exact => None,
        }
    }
}

fn quantity(text: &str) -> Option<Quantity> {
    if text == "bytes" || text == "ratio" {
        return Some(Quantity::Exact);
    }
    if text == "%" {
        return Some(Quantity::Share);
    }
    if let Some((_, plain)) = NAMED_RATES.iter().find(|(name, _)| *name == text) {
        return Some(Quantity::Rate { plain: *plain });
    }
    let (head, tail) = text.split_once('/').map_or((text, None), |(head, tail)| (head, Some(tail)));
    let ns = match head {
        "ns" => Some(1.0),
        "us" => Some(1e3),
        "ms" => Some(1e6),
        "s" => Some(1e9),
        _ => None,
    };
    match (ns, tail) {
        (Some(ns), None) => Some(Quantity::Time { ns }),
        (Some(ns), Some(tail)) if !matches!(tail, "" | "s" | "h") => Some(Quantity::Time { ns }),
        (None, Some(per @ ("s" | "h"))) if !head.is_empty() => {
            let plain = match head {
                "GB" => 1e9,
                "MB" => 1e6,
                "KB" => 1e3,
                _ => 1.0,
            };
            let seconds = if per == "h" { 3600.0 } else { 1.0 };
            Some(Quantity::Rate { plain: plain / seconds })
        }
        _ => None,
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for Unit {
    type Error = UnitError;
    fn try_from(text: String) -> Result<Self, UnitError> {
        Self::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_rates() {
        let figure = |unit: &str, ns, amount| Unit::parse(unit).unwrap().convert(ns, amount);
        assert_eq!(figure("ns/call", 600.0, 6.0), Some(100.0));
        assert_eq!(figure("us/pass", 25_000.0, 1.0), Some(25.0));
        assert_eq!(figure("s", 2e9, 1.0), Some(2.0));
        // 512 bytes in 256 ns are 2 bytes a nanosecond: 2,000 MB/s
        assert_eq!(figure("MB/s", 256.0, 512.0), Some(2000.0));
        assert_eq!(figure("calls/s", 1000.0, 1.0), Some(1e6));
        // a million Whetstone instructions in a millisecond are 1,000 million a second
        assert_eq!(figure("KWIPS", 1e6, 1e6), Some(1e6));
        assert_eq!(figure("GFLOPS", 2.0, 8.0), Some(4.0));
        assert_eq!(figure("VAX MIPS", 1e9 / 1757.0, 1.0), Some(1.0));
        assert_eq!(figure("bytes", 1.0, 1.0), None);
        // a thousand Whetstone instructions in a millisecond are a million in a second
        assert_eq!(figure("KWIPS", 1e6, 1e3), Some(1000.0));
        // a transaction of 2 s
        assert_eq!(figure("transactions/h", 2e9, 1.0), Some(1800.0));
        for bad in ["", "/s", "/h", "ns/", "furlongs", "ns/s", "ns/h"] {
            assert!(Unit::parse(bad).is_err(), "{bad}");
        }
    }
}
