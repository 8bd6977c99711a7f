//! The summary of hp-1987, table 5.1: the weighted arithmetic mean of ratios to a baseline.
//!
//! Of times, so lower is better. A benchmark that the baseline does not print is left out with its weight, and named; one that the run
//! lacks, or that is invalid, withholds the mean.

use super::Options;
use super::draft::Draft;
use super::score::{Entry, of_launches};
use crate::conversion::scale;
use crate::run_effect::DEFAULT_RUN_VARIANCE;
use crate::scores::{parts_flagged, withheld};
use gritstone_model::{
    Absence, Absent, Better, Data, Estimate, Finding, Flag, Id, Measurement, Note, Part, PartValue,
    RunData, RunView, Sampled, Subject, Withheld,
};
use gritstone_stats::quantile;
use gritstone_stats::score::{Score, ScoredBenchmark, arithmetic};
use std::collections::BTreeMap;

const COMPARED: Subject = Subject::Estimate;

/// A benchmark that the baseline prints.
struct Factor<'a> {
    id: &'a Id,
    row: ScoredBenchmark,
    /// The result, and the conversion to the baseline's unit.
    result: Option<(&'a Measurement, f64)>,
}

#[derive(Default)]
struct Factors<'a> {
    compared: Vec<Factor<'a>>,
    unprinted: Vec<&'a Id>,
    /// Weight of the left-out benchmarks, and total weight.
    left_out: f64,
    all: f64,
}

impl<'a> Factors<'a> {
    fn results(&self) -> impl Iterator<Item = &'a Measurement> {
        self.compared.iter().filter_map(|factor| Some(factor.result?.0))
    }
}

pub(super) fn result(
    entry: &Entry,
    weights: &[f64],
    results: &BTreeMap<&Id, Measurement>,
    run: &RunData,
    options: &Options,
) -> Measurement {
    let mut draft = Draft::new(entry.benchmark, run);
    let Some(baseline) = options.baselines.get(entry.baseline) else {
        let why = entry.withheld(Withheld::NoBaseline);
        draft.notes.push(why.into());
        return draft.finish(Data::absent(Absence::Skipped));
    };
    let factors = gather(entry.over, weights, baseline, results);
    let ratios = factors.compared.iter().filter_map(Factor::ratio).collect();
    let rows: Vec<ScoredBenchmark> = factors.compared.iter().map(|f| f.row.clone()).collect();
    let data = match arithmetic(&rows, options.confidence) {
        Err(why) => {
            let ids: Vec<&Id> = factors.compared.iter().map(|f| f.id).collect();
            let why = entry.withheld(withheld(why, &ids));
            draft.notes.push(why.into());
            Data::Absent(Absent { parts: ratios, ..Absent::default() })
        }
        Ok(mean) => {
            let interval = with_run_variance(&mean, options.confidence);
            let estimate = Some(Estimate { value: mean.value, interval });
            let launches: Vec<usize> = factors.results().map(Measurement::launches).collect();
            let sampled = of_launches(&mut draft.notes, &launches, estimate, options.confidence);
            draft.notes.extend(doubts(&factors));
            Data::Derived(Box::new(Sampled { parts: ratios, ..sampled }))
        }
    };
    draft.notes.extend(unprinted(&factors, entry));
    draft.finish(data)
}

impl Factor<'_> {
    fn ratio(&self) -> Option<PartValue> {
        let (result, unit) = self.result?;
        let value = result.value()? * unit / self.row.reference;
        let part = Part::RatioOf(self.id.clone());
        Some(PartValue { part, value })
    }
}

/// The variance between runs is shared by all benchmarks, and does not average out.
fn with_run_variance(mean: &Score, confidence: f64) -> Option<[f64; 2]> {
    let [low, high] = mean.interval?;
    let drift =
        quantile::student(confidence, DEFAULT_RUN_VARIANCE.freedom) * DEFAULT_RUN_VARIANCE.ln_sd;
    let half = ((high / low).ln() / 2.0).hypot(drift);
    Some([mean.value / half.exp(), mean.value * half.exp()])
}

fn gather<'a>(
    over: &'a [Id],
    weights: &[f64],
    baseline: &RunView,
    results: &'a BTreeMap<&Id, Measurement>,
) -> Factors<'a> {
    let mut factors = Factors::default();
    for (id, &weight) in over.iter().zip(weights) {
        factors.all += weight;
        let printed = baseline.get(id);
        let Some((printed, reference)) = printed.and_then(|p| Some((p, p.value()?))) else {
            factors.unprinted.push(id);
            factors.left_out += weight;
            continue;
        };
        let mut row = ScoredBenchmark {
            launches: vec![],
            weights: vec![],
            reference,
            lower_is_better: printed.better == Better::Lower,
            weight,
            invalid: false,
        };
        let result = results.get(id).filter(|result| result.estimate().is_some());
        let result = result.and_then(|result| Some((result, scale(&result.unit, &printed.unit)?)));
        if let Some((result, unit)) = result {
            row.invalid = result.has_flag(Flag::Invalid, COMPARED);
            row.launches = result.values().iter().map(|value| value * unit).collect();
            row.weights = match result.weights() {
                weights if weights.len() == row.launches.len() => weights.to_vec(),
                _ => vec![1.0; row.launches.len()],
            };
        }
        factors.compared.push(Factor { id, row, result });
    }
    factors
}

fn unprinted(factors: &Factors, entry: &Entry) -> Option<Note> {
    let benchmarks: Vec<Id> = factors.unprinted.iter().copied().cloned().collect();
    (!benchmarks.is_empty()).then(|| {
        Note::new(Finding::WeightLeftOut {
            share: 1.0 - factors.left_out / factors.all,
            baseline: entry.baseline.to_owned(),
            benchmarks,
        })
    })
}

/// One note for each flag, with its benchmarks.
fn doubts(factors: &Factors) -> Vec<Note> {
    let note = |flag| {
        let flagged = factors.results().filter(|result| result.has_flag(flag, COMPARED));
        let ids = flagged.map(|result| result.id.clone()).collect();
        parts_flagged(flag, ids, factors.compared.len())
    };
    let flags = [Flag::Interference, Flag::NotComparable];
    flags.into_iter().filter_map(note).collect()
}
