//! A rating of the catalogue, as a row of the run: against the baseline of its entry, by the rules of [`crate::ratings`].
//!
//! Must not know: which rows belong together, where the baseline comes from.

use super::{Options, blank, rules, sorted};
use crate::ratings::{self, Environment, ONE};
use gritstone_model::{
    Benchmark, Footnote, FootnoteKind, Id, Rating, ResultView, RunData, RunView, Work,
};
use std::collections::{BTreeMap, BTreeSet};

/// The entry of a rating: the rows that it is over, and the name of the baseline.
pub(super) struct Entry<'a> {
    /// The entry.
    pub benchmark: &'a Benchmark,
    /// Its rows.
    pub over: &'a [Id],
    /// `ref:...`.
    pub baseline: &'a str,
}

/// The result of a rating; without a figure, and with the reason, where the baseline has nothing to rate by, a row that it
/// has is missing, or a row is starred.
pub(super) fn result(
    entry: &Entry,
    results: &BTreeMap<&Id, ResultView>,
    run: &RunData,
    options: &Options,
) -> ResultView {
    let mut result = blank(entry.benchmark, run);
    let rated = match options.baselines.get(entry.baseline) {
        None => Err(format!(
            "The rating against {} is withheld: the baseline {0} is not among the machines that are known.",
            entry.baseline
        )),
        Some(baseline) => rate(entry, baseline, results, run, options),
    };
    match rated {
        Ok(rating) => fill(&mut result, &rating, results, options),
        Err(why) => result
            .footnotes
            .push(Footnote::new(FootnoteKind::NotRun, why)),
    }
    result.footnotes = sorted(result.footnotes);
    result
}

fn rate(
    entry: &Entry,
    baseline: &RunView,
    results: &BTreeMap<&Id, ResultView>,
    run: &RunData,
    options: &Options,
) -> Result<Rating, String> {
    let groups = groups(entry, &run.benchmarks);
    let find = |id: &Id| {
        let printed = baseline.results.iter().find(|result| result.id == *id);
        (results.get(id), printed)
    };
    let with = ratings::Options {
        confidence: options.confidence,
        seed: run.info.settings.seed,
        named: false,
        alone: BTreeSet::new(),
        between_run: BTreeMap::new(),
    };
    let rating = ratings::over(&entry.benchmark.title, &groups, &find, ONE, &with);
    match (&rating.withheld, rating.rating) {
        (None, Some(_)) => Ok(rating),
        (Some(why), _) => Err(format!(
            "The rating against {} is withheld: {why}.",
            entry.baseline
        )),
        (None, None) => Err(format!(
            "There is no rating against {}: it has no figure that is comparable.",
            entry.baseline
        )),
    }
}

/// Its own rows as one group, or those of the ratings that it is over, each a group.
fn groups(entry: &Entry, benchmarks: &[Benchmark]) -> Vec<Environment> {
    let mut own = Environment {
        name: String::new(),
        rows: Vec::new(),
    };
    let mut groups = Vec::new();
    for id in entry.over {
        let part = benchmarks.iter().find(|benchmark| benchmark.id == *id);
        match part.map(|part| (part, &part.work)) {
            Some((part, Work::Rating { over, .. })) => groups.push(Environment {
                name: part.title.clone(),
                rows: over.clone(),
            }),
            _ => own.rows.push(id.clone()),
        }
    }
    groups.extend(Some(own).filter(|own| !own.rows.is_empty()));
    groups
}

fn fill(
    result: &mut ResultView,
    rating: &Rating,
    results: &BTreeMap<&Id, ResultView>,
    options: &Options,
) {
    result.outcome = "measured".to_owned();
    result.estimate = rating.rating;
    result.interval = rating.interval;
    result.confidence = rating.interval.map(|_| options.confidence);
    let made_of: BTreeSet<&Id> = rating.rows.iter().collect();
    let launches = || {
        let rows = made_of.iter().filter_map(|id| results.get(*id));
        rows.map(|row| row.launches)
    };
    result.launches = launches().sum();
    // how far one row can move it
    let without = rating.without.iter();
    result.parts = without
        .map(|without| (format!("without {}", without.row), without.rating))
        .collect();
    result.footnotes.extend(rating.footnotes.iter().cloned());
    if rating.rows.len() < rating.of {
        let why = format!(
            "The rating is over {} of which the baseline has figures.",
            super::words::of(rating.rows.len(), rating.of, "row")
        );
        result
            .footnotes
            .push(Footnote::new(FootnoteKind::Note, why));
    }
    result.footnotes.extend(rules::repeatable(&rules::Spread {
        n: launches().min().unwrap_or(0),
        thing: "launch",
        interval: rating.interval,
        confidence: options.confidence,
        // most of the width is what runs differ by, which no budget mends
        precision: 0.0,
        modes: None,
        range: 0.0,
    }));
}
