//! Formats numbers: no more digits than the interval justifies, thousands grouped, a unit near the magnitude.
//!
//! The half-width of the interval has two digits, and estimate and bounds as many decimals as that takes. The first of
//! the two is the first uncertain digit; the second keeps the rounding error small. No number other than 0 is printed
//! as 0.

use gritstone_model::{Quantity, Unit, pluralize};

/// Cell without a value.
pub const MISSING: &str = "–";

/// Digits of a number without an interval.
const PLAIN_DIGITS: i32 = 3;
/// Maximum digits of an estimate, however narrow its interval.
const MAX_DIGITS: i32 = 4;

/// More decimals than this use scientific notation.
const MAX_DECIMALS: i32 = 12;

/// A formatted number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub estimate: String,
    /// "low to high"; empty without an interval.
    pub interval: String,
    /// Ends of the interval.
    pub bounds: Option<[String; 2]>,
    /// Unit of all three.
    pub unit: String,
}

impl Shown {
    /// The interval as `[low – high]`.
    pub fn brackets(&self) -> Option<String> {
        let [low, high] = self.bounds.as_ref()?;
        Some(format!("[{low} – {high}]"))
    }

    /// Number with unit.
    pub fn with_unit(&self) -> String {
        joined(&self.estimate, &self.unit)
    }
}

/// Joins number and unit; no space before a percent sign.
fn joined(number: &str, unit: &str) -> String {
    match unit {
        "" => number.to_owned(),
        "%" => format!("{number}%"),
        unit => format!("{number} {unit}"),
    }
}

/// Formats a number in its unit, or in one that suits its magnitude.
pub fn figure(estimate: f64, interval: Option<[f64; 2]>, unit: &str) -> Shown {
    figure_like(estimate, estimate, interval, unit)
}

/// As [`figure`], in the unit that suits `like`, so that both compare at a glance.
pub fn figure_like(like: f64, estimate: f64, interval: Option<[f64; 2]>, unit: &str) -> Shown {
    let (factor, unit) = scale(unit, like);
    let estimate = estimate * factor;
    let interval = interval.map(|[low, high]| [low * factor, high * factor]);
    let decimals = match interval {
        Some(bounds) => decimals(estimate, bounds),
        None if estimate.fract() == 0.0 && unit == "bytes" => 0,
        None => significant_decimals(estimate, PLAIN_DIGITS),
    };
    let bounds = interval.map(|ends| ends.map(|end| fixed(end, decimals)));
    let interval = bounds.as_ref();
    Shown {
        estimate: fixed(estimate, decimals),
        interval: interval.map_or(String::new(), |[low, high]| format!("{low} to {high}")),
        bounds,
        unit,
    }
}

/// Two numbers of a row in the unit that suits the first, each with `digits` digits, so that their ratio can be computed from them.
pub fn pair(values: [f64; 2], unit: &str, digits: i32) -> ([String; 2], String) {
    let (factor, unit) = scale(unit, values[0]);
    let shown = values.map(|value| {
        let value = value * factor;
        let decimals = match unit.as_str() {
            "bytes" => 0,
            _ => significant_decimals(value, digits),
        };
        fixed(value, decimals)
    });
    (shown, unit)
}

/// Number with unit, at most `digits` digits, no trailing zeros.
pub fn at_most(value: f64, unit: &str, digits: i32) -> String {
    let (factor, unit) = scale(unit, value);
    let text = significant(value * factor, digits);
    let text = match text.split_once('.') {
        Some(_) if !text.contains('e') => text.trim_end_matches('0').trim_end_matches('.'),
        _ => text.as_str(),
    };
    joined(text, &unit)
}

/// Time with unit: `2.94 ms`; in seconds from a tenth of a second.
pub fn seconds(value: f64, interval: Option<[f64; 2]>) -> String {
    figure(value, interval, "s").with_unit()
}

/// A number of a document, with at least `decimals` decimals (0.1 and 2 in one column: 0.1 and 2.0).
pub fn printed(value: f64, decimals: usize) -> String {
    let decimals = decimals.max(printed_decimals(value));
    fixed(value, i32::try_from(decimals).unwrap_or(0))
}

/// Decimals of the shortest form of a number.
pub fn printed_decimals(value: f64) -> usize {
    format!("{value}").split_once('.').map_or(0, |(_, d)| d.len())
}

/// A share as a percentage with two digits, or two decimals, unless it would be 0: `0.42%`, `3.4%`, `12%`, `0.003%`.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    let decimals = match 0.0 < value && value < 0.005 {
        true => significant_decimals(value, 1).min(6),
        false => significant_decimals(value, 2).clamp(0, 2),
    };
    format!("{}%", fixed(value, decimals))
}

/// A share that was given as an option: `1%`, `0.25%`.
pub fn percent_option(share: f64) -> String {
    at_most(share * 100.0, "%", 4)
}

/// A measured count, with decimals by its interval or `digits` digits; large ones in millions: `906 M`, `11 G`.
pub fn count_of(value: f64, interval: Option<[f64; 2]>, digits: i32) -> String {
    let (size, prefix) = match value.abs() {
        1e9.. => (1e9, " G"),
        1e6.. => (1e6, " M"),
        _ => (1.0, ""),
    };
    let value = value / size;
    let decimals = match interval {
        Some(bounds) => decimals(value, bounds.map(|bound| bound / size)),
        None => significant_decimals(value, digits),
    };
    fixed(value, decimals) + prefix
}

pub fn significant(value: f64, digits: i32) -> String {
    fixed(value, significant_decimals(value, digits))
}

/// With grouped thousands.
pub fn count(n: usize) -> String {
    group(&n.to_string())
}

/// `None` for 0.
pub fn counted(n: usize) -> Option<String> {
    (n > 0).then(|| count(n))
}

/// `1 row`, `25 rows`, `10 launches`.
pub fn plural(n: usize, one: &str) -> String {
    format!("{} {}", count(n), pluralize(n, one))
}

/// Decimals that an interval justifies; negative where tens are uncertain.
pub(crate) fn decimals(estimate: f64, [low, high]: [f64; 2]) -> i32 {
    let half = (high - low).abs() / 2.0;
    let size = exponent(estimate, 1);
    let max = MAX_DIGITS - 1 - size;
    if half > 0.0 && half.is_finite() {
        let justified = 1 - exponent(half, 2);
        justified.min(max).max(-size)
    } else {
        max.min(PLAIN_DIGITS - 1 - size).max(0)
    }
}

/// Decimals of a number with `digits` significant digits.
pub fn significant_decimals(value: f64, digits: i32) -> i32 {
    digits - 1 - exponent(value, digits)
}

/// Power of ten of the first digit after rounding to `digits` digits (9.96 to two is 10: 1).
fn exponent(value: f64, digits: i32) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let precision = usize::try_from(digits - 1).unwrap_or(0);
    let text = format!("{value:.precision$e}");
    let (_, exponent) = text.split_once('e').unwrap_or_default();
    exponent.parse().unwrap_or(0)
}

/// Fixed number of decimals, thousands grouped; negative decimals round to tens, hundreds, ...
pub fn fixed(value: f64, decimals: i32) -> String {
    if !value.is_finite() {
        return MISSING.to_owned();
    }
    if value.abs() >= 1e15 || decimals > MAX_DECIMALS {
        return format!("{value:.2e}");
    }
    let unit = 10f64.powi(-decimals);
    let rounded = match decimals < 0 {
        true => (value / unit).round() * unit,
        false => value,
    };
    let text = format!("{rounded:.*}", usize::try_from(decimals).unwrap_or(0));
    let (sign, digits) = match text.strip_prefix('-') {
        // no sign on a rounded 0
        Some(digits) if digits.bytes().any(|b| (b'1'..=b'9').contains(&b)) => ("-", digits),
        Some(digits) => ("", digits),
        None => ("", text.as_str()),
    };
    match digits.split_once('.') {
        Some((whole, fraction)) => format!("{sign}{}.{fraction}", group(whole)),
        None => format!("{sign}{}", group(digits)),
    }
}

fn group(digits: &str) -> String {
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Units in steps of a thousand, smallest first.
const TIMES: [&str; 4] = ["ns", "us", "ms", "s"];
const BYTES: [&str; 4] = ["B", "KB", "MB", "GB"];
const FLOPS: [&str; 4] = ["FLOPS", "KFLOPS", "MFLOPS", "GFLOPS"];
const WIPS: [&str; 4] = ["WIPS", "KWIPS", "MWIPS", "GWIPS"];
/// Rates from here on are given in millions.
const MILLION: f64 = 1e6;

/// Factor and unit that suit a magnitude: the unit itself from 0.1 to 10,000, else the one that gives 1 to 1,000.
pub fn scale(unit: &str, value: f64) -> (f64, String) {
    let head = unit.split('/').next().unwrap_or(unit);
    let ladder: &[&str] = match Unit::parse(unit).map(|u| u.quantity()) {
        _ if head.ends_with("FLOPS") => &FLOPS,
        _ if head.ends_with("WIPS") => &WIPS,
        Ok(Quantity::Time { .. }) => &TIMES,
        Ok(Quantity::Rate { .. }) => &BYTES,
        _ => &[],
    };
    let Some(start) = ladder.iter().position(|u| *u == head) else {
        return match unit.ends_with("/s") && value.abs() >= MILLION {
            true => (1.0 / MILLION, format!("M{unit}")),
            false => (1.0, unit.to_owned()),
        };
    };
    let (mut index, mut scaled, mut steps) = (start, value, 0);
    if !(0.1..10_000.0).contains(&value.abs()) && value != 0.0 {
        while scaled.abs() >= 1000.0 && index + 1 < ladder.len() {
            (index, scaled, steps) = (index + 1, scaled / 1000.0, steps - 1);
        }
        while scaled.abs() < 1.0 && index > 0 {
            (index, scaled, steps) = (index - 1, scaled * 1000.0, steps + 1);
        }
    }
    let tail = &unit[head.len()..];
    let unit = format!("{}{tail}", ladder[index].replace('u', "µ"));
    (1000f64.powi(steps), unit)
}

/// Unit with the sign for micro.
pub fn unit_text(unit: &str) -> String {
    scale(unit, 0.0).1
}

#[cfg(test)]
#[path = "number_tests.rs"]
mod tests;
