//! Operations timed one by one: their distribution as a table, and percentiles of two runs.

use crate::table::{self, Columns};
use crate::verdicts::{differs, heads, in_a_word, side};
use crate::words::Detail;
use crate::words::Sense;
use gritstone_document::number;
use gritstone_document::{Document, Style};
use gritstone_model::{ComparePercentile, CompareRow, CompareView, Measurement};

/// Most rows of a distribution, and the longest bar.
const ROWS: usize = 24;
const BAR: f64 = 40.0;

/// The distribution of the operations of a benchmark; nothing unless they were timed one by one.
pub(crate) fn distribution(document: &mut Document, result: &Measurement) {
    let Some(latencies) = result.latencies().filter(|latencies| latencies.events > 0) else {
        return;
    };
    let buckets = merged(&latencies.histogram);
    let most = buckets.iter().map(|(_, _, events)| *events).max();
    let share = |events: u64| events as f64 / latencies.events as f64;
    let mut below = 0;
    let rows = buckets.into_iter().map(|(from, to, here)| {
        below += here;
        (from, to, here, share(below))
    });
    let time = |time| number::at_most(time, result.unit.as_str(), 3);
    let bar = |here: u64| {
        let length = here as f64 / most.unwrap_or(here).max(1) as f64 * BAR;
        "#".repeat(length.ceil() as usize)
    };
    Columns::<(f64, f64, u64, f64)>::key("From", Style::Number, |(from, ..)| time(*from))
        .number("Below", |(_, to, ..)| time(*to))
        .number("Operations", |(_, _, events, _)| number::count(*events as usize))
        .number("At or below", |(.., share)| number::at_most(100.0 * share, "%", 5))
        .text("", |(_, _, events, _)| bar(*events))
        .table(document, format!("{}: distribution of operations", result.id), rows);
}

/// Merges neighbors until there are few enough.
fn merged(histogram: &[(f64, f64, u64)]) -> Vec<(f64, f64, u64)> {
    let size = histogram.len().div_ceil(ROWS).max(1);
    let merge = |chunk: &[(f64, f64, u64)]| {
        Some((chunk.first()?.0, chunk.last()?.1, chunk.iter().map(|b| b.2).sum()))
    };
    histogram.chunks(size).filter_map(merge).collect()
}

/// A table of the percentiles of both sides; nothing without any.
pub(crate) fn compared(document: &mut Document, view: &CompareView, detail: Detail) {
    type PercentileRow<'a> = (&'a CompareRow, &'a ComparePercentile);
    let rows = view.rows.iter().flat_map(|row| {
        let percentiles = row.percentiles.iter();
        percentiles.map(move |percentile| (row, percentile))
    });
    let rows = rows
        .filter(|(_, percentile)| detail > Detail::Results || differs(percentile.figure.verdict));
    let [base, other] = heads(view);
    Columns::<PercentileRow>::key("Benchmark", Style::Code, |(row, _)| row.id.as_str())
        .and_key("Percentile", Style::Text, |(_, percentile)| percentile.name.as_str())
        .pair(["Ratio", "Interval"], |(_, percentile)| {
            table::bare_ratio(percentile.figure.ratio, percentile.figure.interval, &[])
        })
        .text("Verdict", |(_, percentile)| in_a_word(percentile.figure.verdict, Sense::Speed))
        .number(base, |(row, percentile)| side(percentile.figure.base, &row.unit))
        .number(other, |(row, percentile)| side(percentile.figure.other, &row.unit))
        .table(
            document,
            format!("Percentiles of operations; above 1, {} is better", view.other_name),
            rows,
        );
}
