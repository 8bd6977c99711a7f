//! Scores that the catalog defines, against the baseline that their entry names; rules in [`crate::scores`].

use super::Options;
use super::draft::Draft;
use super::rules::{self, Spread};
use crate::run_effect::RunEffects;
use crate::scores::{self, Environment};
use gritstone_model::{
    Absence, Benchmark, Data, EnvironmentScore, Estimate, Finding, Flag, Id, Measurement, Note,
    Repeat, RunData, RunView, Sampled, Withheld, Work,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Entry<'a> {
    pub benchmark: &'a Benchmark,
    pub over: &'a [Id],
    /// `ref:...`.
    pub baseline: &'a str,
    /// A benchmark that the baseline lacks withholds the score.
    pub require_all: bool,
}

impl Entry<'_> {
    pub fn withheld(&self, why: Withheld) -> Finding {
        Finding::ScoreWithheld { baseline: self.baseline.to_owned(), of: self.over.len(), why }
    }
}

/// The score is withheld, with the reason, if the baseline has none of its benchmarks, or lacks one of a joint score, or if a result is missing or invalid.
pub(super) fn result(
    entry: &Entry,
    results: &BTreeMap<&Id, Measurement>,
    run: &RunData,
    options: &Options,
) -> Measurement {
    let mut draft = Draft::new(entry.benchmark, run);
    let rated = match options.baselines.get(entry.baseline) {
        None => Err(Withheld::NoBaseline),
        Some(baseline) => rate(entry, baseline, results, run, options),
    };
    let data = match rated {
        Ok(score) => {
            let sampled = sampled(&mut draft.notes, &score, results, options);
            Data::Derived(Box::new(sampled))
        }
        Err(why) => {
            draft.notes.push(entry.withheld(why).into());
            Data::absent(Absence::Skipped)
        }
    };
    draft.finish(data)
}

fn rate(
    entry: &Entry,
    baseline: &RunView,
    results: &BTreeMap<&Id, Measurement>,
    run: &RunData,
    options: &Options,
) -> Result<EnvironmentScore, Withheld> {
    let groups = groups(entry, &run.benchmarks);
    let lookup = |id: &Id| (results.get(id), baseline.get(id));
    let with = scores::Options {
        confidence: options.confidence,
        named: false,
        require_all: entry.require_all,
        effects: RunEffects::default(),
    };
    let score = scores::score_of(&entry.benchmark.title, &groups, &lookup, &with);
    match (&score.withheld, score.score) {
        (None, Some(_)) => Ok(score),
        (Some(why), _) => Err(why.clone()),
        (None, None) => Err(Withheld::NotComparable),
    }
}

/// One group for each partial score, and one for the benchmarks that the entry names itself.
fn groups(entry: &Entry, benchmarks: &[Benchmark]) -> Vec<Environment> {
    let mut direct =
        Environment { name: String::new(), score: None, weight: 1.0, benchmarks: Vec::new() };
    let mut groups = Vec::new();
    for id in entry.over {
        let part = benchmarks.iter().find(|benchmark| benchmark.id == *id);
        match part.map(|part| (part, &part.work)) {
            Some((part, Work::Score { over, .. })) => groups.push(Environment {
                name: part.title.clone(),
                score: Some(part.id.clone()),
                weight: 1.0,
                benchmarks: over.clone(),
            }),
            _ => direct.benchmarks.push(id.clone()),
        }
    }
    groups.extend(Some(direct).filter(|direct| !direct.benchmarks.is_empty()));
    groups
}

fn sampled(
    notes: &mut Vec<Note>,
    score: &EnvironmentScore,
    results: &BTreeMap<&Id, Measurement>,
    options: &Options,
) -> Sampled {
    let estimate = score.score.map(|value| Estimate { value, interval: score.interval });
    let scored: BTreeSet<&Id> = score.rows.iter().collect();
    let rows = scored.iter().filter_map(|id| results.get(*id));
    let launches: Vec<usize> = rows.map(Measurement::launches).collect();
    // whether the score itself is noisy is judged below
    let of_parts = score.notes.iter().filter(|note| note.flag() != Some(Flag::Noisy));
    notes.extend(of_parts.cloned());
    if score.rows.len() < score.of {
        let (part, all) = (score.rows.len(), score.of);
        notes.push(Finding::PartialScore { part, of: all }.into());
    }
    of_launches(notes, &launches, estimate, options.confidence)
}

/// A score of benchmarks with these launches; notes whether they are too few.
pub(super) fn of_launches(
    notes: &mut Vec<Note>,
    launches: &[usize],
    estimate: Option<Estimate>,
    confidence: f64,
) -> Sampled {
    notes.extend(rules::repeatable(&Spread {
        n: launches.iter().copied().min().unwrap_or(0),
        what: Repeat::Launch,
        estimate,
        confidence,
        // most of the width is variance between runs, which no budget reduces
        precision: 0.0,
        modes: None,
        range: 0.0,
    }));
    Sampled {
        estimate,
        confidence: estimate.and_then(|estimate| estimate.interval).map(|_| confidence),
        launches: launches.iter().sum(),
        ..Sampled::default()
    }
}
