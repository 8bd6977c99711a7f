//! Verdicts in words, and the sides of a comparison as columns of a table.

use crate::words::Sense;
use gritstone_document::Tone;
use gritstone_document::number;
use gritstone_model::{CompareRow, CompareView, RunView, Verdict};

/// Longest name that heads a column.
const LONGEST_HEAD: usize = 16;

/// Digits of a value beside a ratio.
pub(crate) const DIGITS: i32 = 4;

/// The verdict in the word for the compared quantity: a size is smaller, not faster.
pub(crate) fn verdict(row: &CompareRow) -> &'static str {
    let sense = Sense::for_unit(&row.unit);
    row.verdict.map_or("", |verdict| in_a_word(verdict, sense))
}

/// Whether there is a difference.
pub(crate) fn differs(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Faster | Verdict::Slower)
}

/// A verdict alone, in the word for its quantity.
pub(crate) fn in_a_word(verdict: Verdict, sense: Sense) -> &'static str {
    let [better, worse] = sense.words();
    match verdict {
        Verdict::Faster => better,
        Verdict::Slower => worse,
        other => other.as_str(),
    }
}

/// Color of a verdict.
pub(crate) fn tone_of(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Faster => Tone::Good,
        Verdict::Slower => Tone::Bad,
        Verdict::Same => Tone::Faint,
        Verdict::Inconclusive => Tone::Doubt,
    }
}

/// A minimum detectable effect; above 1,000% without its digits.
pub(crate) fn minimum_detectable(effect: f64) -> String {
    match effect > 10.0 {
        true => "> 1,000%".to_owned(),
        false => number::percent(effect),
    }
}

/// The minimum detectable slowdown for nine of ten benchmarks, or for those with any; `smallest` has one per benchmark, `which` says which
/// benchmarks these are.
pub(crate) fn detectable(
    smallest: impl Iterator<Item = Option<f64>>,
    which: &str,
) -> Option<String> {
    let all: Vec<Option<f64>> = smallest.collect();
    let mut known: Vec<f64> = all.iter().copied().flatten().collect();
    known.sort_unstable_by(f64::total_cmp);
    let most = (all.len() * 9 / 10).max(1).min(known.len());
    let slowdown = number::percent(*known.get(most.checked_sub(1)?)?);
    Some(format!(
        " Slowdowns of {slowdown} or more would have been seen in {most} of {}{which}.",
        all.len()
    ))
}

pub(crate) fn is_reference(side: &str) -> bool {
    side.starts_with("ref:")
}

/// "VAX-11/780" of "VAX-11/780, 4.1 BSD" or "VAX-11/780 (4.1 BSD)".
pub(crate) fn short_name(name: &str) -> &str {
    let cuts = [", ", " (", "; "].iter();
    let end = cuts.filter_map(|cut| name.find(cut)).min();
    name[..end.unwrap_or(name.len())].trim()
}

/// The value of a side.
pub fn side(value: Option<f64>, unit: &str) -> Option<String> {
    value.map(|value| match unit {
        "bytes" => number::figure(value, None, unit).with_unit(),
        _ => number::at_most(value, unit, DIGITS),
    })
}

/// The labels of two runs, if they are distinct and short.
pub(crate) fn labels<'a>(sides: &[&'a RunView]) -> Option<[&'a str; 2]> {
    let [base, other] = sides else { return None };
    let labels = [base.label.as_deref()?, other.label.as_deref()?];
    let short = |label: &str| label.chars().count() <= LONGEST_HEAD;
    (labels[0] != labels[1] && labels.into_iter().all(short)).then_some(labels)
}

/// Heads of the two columns of values: names if they are distinct and short.
pub(crate) fn heads(view: &CompareView) -> [&str; 2] {
    let names = [&view.base_name, &view.other_name].map(|name| short_name(name));
    let short = |name: &str| name.chars().count() <= LONGEST_HEAD;
    match names[0] != names[1] && names.into_iter().all(short) {
        true => names,
        false => ["base", "other"],
    }
}
