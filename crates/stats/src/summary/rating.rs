//! A rating: the geometric mean of how many times better than a baseline the rows are.
//!
//! A row counts by what a comparison with the baseline would compare, as far as every launch has a value of it: the real
//! time of the published work, its user time where the CPU clock gave it, or the figure itself.
//!
//! Must not know: which rows belong together, where the baseline comes from.

use super::derived::{self, Terms};
use super::reading::Reading;
use super::{Options, Row, blank, rules, sorted};
use crate::compare::{self, starred};
use crate::rating::{Rating, RatingRow, geometric};
use gritstone_model::{
    Benchmark, Better, Footnote, FootnoteKind, Id, ResultView, RunData, RunView, Work,
};
use std::collections::BTreeMap;

/// The entry of a rating: the rows that it is over, and the name of the baseline.
pub(super) struct Entry<'a> {
    /// The entry.
    pub benchmark: &'a Benchmark,
    /// Its rows.
    pub over: &'a [Id],
    /// `ref:...`.
    pub baseline: &'a str,
}

/// The result of a rating; withheld, with the reason, where a row or the baseline is missing or a row is starred.
pub(super) fn result(
    entry: &Entry,
    rows: &BTreeMap<&Id, Row>,
    results: &BTreeMap<&Id, ResultView>,
    run: &RunData,
    options: &Options,
) -> ResultView {
    let mut result = blank(entry.benchmark, run);
    let rated = match options.baselines.get(entry.baseline) {
        None => Err(format!(
            "the baseline {} is not among the machines that are known",
            entry.baseline
        )),
        Some(baseline) => {
            let of = |id: &Id| rating_row(id, baseline, rows, results);
            let rated: Vec<RatingRow> = entry.over.iter().map(of).collect();
            geometric(&rated, options.confidence, run.info.settings.seed)
                .map(|rating| (rating, rated))
                .map_err(|withheld| withheld.to_string())
        }
    };
    match rated {
        Ok((rating, rated)) => {
            fill(&mut result, &rating, &rated, run, options);
            let inherited = derived::inherited(entry.over.iter(), results);
            result.footnotes.extend(inherited);
        }
        Err(why) => {
            let why = format!("The rating against {} is withheld: {why}.", entry.baseline);
            result
                .footnotes
                .push(Footnote::new(FootnoteKind::NotRun, why));
        }
    }
    result.footnotes = sorted(result.footnotes);
    result
}

fn fill(
    result: &mut ResultView,
    rating: &Rating,
    rated: &[RatingRow],
    run: &RunData,
    options: &Options,
) {
    result.outcome = "measured".to_owned();
    result.estimate = Some(rating.value);
    result.interval = rating.interval;
    result.confidence = rating.interval.map(|_| options.confidence);
    result.launches = rated.iter().map(|row| row.launches.len()).sum();
    let fewest = rated.iter().map(|row| row.launches.len()).min();
    // how far one row can move it
    if let Some(ends) = &rating.leave_one_out {
        let without = ends
            .iter()
            .map(|(row, value)| (format!("without {row}"), *value));
        result.parts = without.collect();
    }
    result.footnotes.extend(rules::repeatable(&rules::Spread {
        n: fewest.unwrap_or(0),
        thing: "launch",
        interval: rating.interval,
        confidence: options.confidence,
        precision: run.info.settings.precision,
        modes: None,
        range: 0.0,
    }));
}

/// A row of the rating; without launches, which withholds the rating, where it cannot be compared with the baseline.
fn rating_row(
    id: &Id,
    baseline: &RunView,
    rows: &BTreeMap<&Id, Row>,
    results: &BTreeMap<&Id, ResultView>,
) -> RatingRow {
    let reference = baseline.results.iter().find(|result| result.id == *id);
    let mut rated = RatingRow {
        name: id.to_string(),
        launches: Vec::new(),
        reference: 1.0,
        better: Better::Lower,
        weight: 1.0,
        starred: false,
    };
    let (Some(reference), Some(row), Some(result)) = (reference, rows.get(id), results.get(id))
    else {
        return rated;
    };
    let pair = compare::pair(result, reference, &compare::Options::default());
    rated.starred = starred(result, pair.compared) || starred(reference, pair.compared);
    let like_for_like = pair
        .footnotes
        .iter()
        .all(|f| f.kind != FootnoteKind::NotComparable);
    if let (Some(printed), true) = (pair.other, like_for_like) {
        rated.reference = printed;
        rated.launches = launches(row, pair.compared, rows);
        if pair.compared == "estimate" {
            rated.better = result.better;
        }
    }
    rated
}

/// (round, value) of each launch, or of each round of a derived row, of what is compared.
fn launches(row: &Row, compared: &str, rows: &BTreeMap<&Id, Row>) -> Vec<(u32, f64)> {
    let benchmark = row.benchmark;
    let operations = benchmark
        .published
        .as_ref()
        .map_or(0, |work| work.operations);
    let value = |launch: &Reading| match (compared, &benchmark.work) {
        ("real_s", Work::Command(_) | Work::Scenario(_)) => Some(launch.ns_per_op(false)? / 1e9),
        ("real_s", _) => launch.batch_s(operations),
        ("user_s", _) if benchmark.claims.syscalls_per_op == Some(0.0) => {
            launch.batch_cpu_s(operations)
        }
        ("estimate", _) => row.figure(launch),
        _ => None,
    };
    match &benchmark.work {
        Work::Derived { terms } => Terms::new(terms, rows).by_round(value),
        _ => {
            let measured = row.launches.iter().filter(|launch| launch.measured());
            measured
                .filter_map(|launch| Some((launch.launch.round, value(launch)?)))
                .collect()
        }
    }
}
