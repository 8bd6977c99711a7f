//! The summary of hp-1987, table 5.1: the arithmetic mean, with published weights, of how each row stands against a baseline.
//!
//! Of times, so lower is better. A row that the baseline does not print is left out, with its weight, and named; one that this
//! run lacks, or that is starred, withholds the mean: over what is left it would be another one under the same name.
//!
//! Must not know: which rows there are, where the baseline comes from.

use super::rating::Entry;
use super::words::{count, of, percent};
use super::{Options, blank, rules, sorted};
use crate::between::DEFAULT;
use crate::compare::{scale, starred};
use crate::quantile;
use crate::rating::{RatingRow, Withheld, arithmetic};
use gritstone_model::{Footnote, FootnoteKind, Id, ResultView, RunData, RunView};
use std::collections::BTreeMap;

/// What is compared: the median of what was measured.
const COMPARED: &str = "estimate";

/// A row that the baseline has a figure of.
struct Factor<'a> {
    row: RatingRow,
    /// The result here, and what its unit is in that of the baseline.
    own: Option<(&'a ResultView, f64)>,
}

/// The rows, by what becomes of them.
#[derive(Default)]
struct Factors<'a> {
    compared: Vec<Factor<'a>>,
    /// The baseline has no figure.
    unprinted: Vec<&'a Id>,
    /// Weight of the former, and of all.
    left_out: f64,
    all: f64,
}

impl<'a> Factors<'a> {
    fn own(&self) -> impl Iterator<Item = &'a ResultView> {
        self.compared
            .iter()
            .filter_map(|factor| Some(factor.own?.0))
    }
}

/// The result of such a rating.
pub(super) fn result(
    entry: &Entry,
    weights: &[f64],
    results: &BTreeMap<&Id, ResultView>,
    run: &RunData,
    options: &Options,
) -> ResultView {
    let mut result = blank(entry.benchmark, run);
    let Some(baseline) = options.baselines.get(entry.baseline) else {
        let why = format!(
            "The mean against {} is withheld: the baseline is not among the machines that are known.",
            entry.baseline
        );
        result
            .footnotes
            .push(Footnote::new(FootnoteKind::NotRun, why));
        return result;
    };
    let factors = gather(entry.over, weights, baseline, results);
    for Factor { row, own } in &factors.compared {
        let ratio = own.and_then(|(own, unit)| Some(own.estimate? * unit / row.reference));
        let name = format!("ratio of {}", row.name);
        result.parts.extend(ratio.map(|ratio| (name, ratio)));
    }
    let rows: Vec<RatingRow> = factors.compared.iter().map(|f| f.row.clone()).collect();
    match arithmetic(&rows, options.confidence, run.info.settings.seed) {
        Err(why) => {
            let why = withheld(&why, entry);
            result
                .footnotes
                .push(Footnote::new(FootnoteKind::NotRun, why));
        }
        Ok(mean) => {
            result.outcome = "measured".to_owned();
            result.estimate = Some(mean.value);
            // what runs differ by is in all rows alike, and is not averaged away
            let half = |[low, high]: [f64; 2]| {
                let drift =
                    quantile::student(options.confidence, DEFAULT.raw.freedom) * DEFAULT.raw.ln_sd;
                ((high / low).ln() / 2.0).hypot(drift)
            };
            let half = mean.interval.map(half);
            result.interval = half.map(|half| [mean.value / half.exp(), mean.value * half.exp()]);
            result.confidence = half.map(|_| options.confidence);
            result.launches = factors.own().map(|own| own.launches).sum();
            result.footnotes.extend(rules::repeatable(&rules::Spread {
                n: factors.own().map(|own| own.launches).min().unwrap_or(0),
                thing: "launch",
                interval: result.interval,
                confidence: options.confidence,
                precision: 0.0,
                modes: None,
                range: 0.0,
            }));
            result.footnotes.extend(doubts(&factors));
        }
    }
    result.footnotes.extend(unprinted(&factors, entry));
    result.footnotes = sorted(result.footnotes);
    result
}

fn gather<'a>(
    over: &'a [Id],
    weights: &[f64],
    baseline: &RunView,
    results: &'a BTreeMap<&Id, ResultView>,
) -> Factors<'a> {
    let mut factors = Factors::default();
    for (id, &weight) in over.iter().zip(weights) {
        factors.all += weight;
        let printed = baseline.results.iter().find(|result| result.id == *id);
        let Some((printed, reference)) = printed.and_then(|p| Some((p, p.estimate?))) else {
            factors.unprinted.push(id);
            factors.left_out += weight;
            continue;
        };
        let mut row = RatingRow {
            name: id.to_string(),
            launches: vec![],
            reference,
            better: printed.better,
            weight,
            starred: false,
        };
        let own = results.get(id).filter(|own| own.estimate.is_some());
        let own = own.and_then(|own| Some((own, scale(&own.unit, &printed.unit)?)));
        if let Some((own, unit)) = own {
            row.starred = starred(own, COMPARED);
            let values = own.values.iter().map(|value| value * unit);
            row.launches = (0..).zip(values).collect();
        }
        factors.compared.push(Factor { row, own });
    }
    factors
}

fn withheld(why: &Withheld, entry: &Entry) -> String {
    let how = match why {
        Withheld::Missing(rows) => format!(
            "{} not measured here: {}",
            of(rows.len(), entry.over.len(), "row"),
            rows.join(", ")
        ),
        why => why.to_string(),
    };
    format!("The mean against {} is withheld: {how}.", entry.baseline)
}

/// What the baseline lacks.
fn unprinted(factors: &Factors, entry: &Entry) -> Option<Footnote> {
    let names: Vec<&str> = factors.unprinted.iter().map(|id| id.as_str()).collect();
    (!names.is_empty()).then(|| {
        let why = format!(
            "{} of the weight counts: {} has no figure of {}.",
            percent(1.0 - factors.left_out / factors.all),
            entry.baseline,
            names.join(", ")
        );
        Footnote::new(FootnoteKind::Note, why)
    })
}

/// One footnote for each kind of doubt, with the rows that have it.
fn doubts(factors: &Factors) -> Vec<Footnote> {
    let kinds = [
        (FootnoteKind::Disturbed, "disturbed"),
        (
            FootnoteKind::NotComparable,
            "of other work or of a stand-in",
        ),
    ];
    let has = |own: &ResultView, kind| {
        let mut notes = own.footnotes.iter();
        notes.any(|note| note.kind == kind && note.of.as_deref().is_none_or(|of| of == COMPARED))
    };
    let note = |(kind, word)| {
        let rows: Vec<&str> = factors
            .own()
            .filter(|own| has(own, kind))
            .map(|own| own.id.as_str())
            .collect();
        (!rows.is_empty()).then(|| {
            let all = count(factors.compared.len(), "row");
            let why = format!("Of {all} {} {word}: {}.", rows.len(), rows.join(", "));
            Footnote::new(kind, why)
        })
    };
    kinds.into_iter().filter_map(note).collect()
}
