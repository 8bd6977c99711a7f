//! The size of a program that a command links: exact, without an interval.
//!
//! Must not know: time, other rows.

use super::reading::Reading;
use super::words::of;
use super::{Row, blank, sorted};
use gritstone_model::{Footnote, FootnoteKind, ResultView, RunData};
use std::collections::BTreeMap;

/// The parts of a program, and the parameters that carry them in decimal bytes.
const PARTS: [(&str, &str); 3] = [
    ("text", "size.text"),
    ("data", "size.data"),
    ("bss", "size.bss"),
];

/// The result of a row that takes the size of what it links.
pub(super) fn result(row: &Row, run: &RunData) -> ResultView {
    let mut result = blank(row.benchmark, run);
    let (outcome, footnotes) = row.outcome(&result);
    result.outcome = outcome;
    result.footnotes.extend(footnotes);

    let launches: Vec<&Reading> = row.launches.iter().filter(|r| r.measured()).collect();
    let sized: Vec<(&Reading, BTreeMap<String, f64>)> = launches
        .iter()
        .filter_map(|launch| Some((*launch, parts(launch)?)))
        .collect();
    result.values = sized
        .iter()
        .map(|(_, parts)| parts.values().sum())
        .collect();
    result.launches = sized.len();
    result.samples = sized.len();
    result
        .footnotes
        .extend(unsized_launches(sized.len(), launches.len()));
    result.footnotes.extend(unequal(&result.values));
    if let Some((launch, parts)) = sized.into_iter().next() {
        result.estimate = result.values.first().copied();
        result.parts = parts;
        result.names = launch.params("symbol").map(str::to_owned).collect();
    }
    result.published = row
        .benchmark
        .published
        .as_ref()
        .map(super::published::blank);
    result.footnotes = sorted(result.footnotes);
    result
}

fn parts(launch: &Reading) -> Option<BTreeMap<String, f64>> {
    PARTS
        .iter()
        .map(|(part, key)| {
            let bytes: u64 = launch.params(key).next()?.parse().ok()?;
            Some(((*part).to_owned(), bytes as f64))
        })
        .collect()
}

fn unsized_launches(sized: usize, launches: usize) -> Option<Footnote> {
    (sized < launches).then(|| {
        let why = format!(
            "The size of text, data and bss did not come in whole bytes from {}.",
            of(launches - sized, launches, "launch")
        );
        Footnote::new(FootnoteKind::Trivialised, why)
    })
}

/// A size is the same every time; where it was not, the first stands and this says so.
fn unequal(sizes: &[f64]) -> Option<Footnote> {
    let least = sizes.iter().copied().reduce(f64::min)?;
    let most = sizes.iter().copied().reduce(f64::max)?;
    (least < most).then(|| {
        let why = format!(
            "The size was not the same in all launches: {least} to {most} bytes; the first of them is shown."
        );
        Footnote::new(FootnoteKind::Unrepeatable, why)
    })
}
