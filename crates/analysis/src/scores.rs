//! Scores of systems by environment against a base, printed or measured.
//!
//! A benchmark counts by the real time of its reference workload where a side is printed, else by its time: core
//! cycles would ignore the frequency, which users pay for. A benchmark that the base lacks, or that is not comparable,
//! is not covered. A benchmark that the system lacks, or did not do, withholds the score unless the user named the
//! benchmarks.
//!
//! The environments of table 1.1 of hp-1987 are whole programs and several users: these are scored together or not at
//! all.

mod pair;

use crate::compare;
use crate::run_effect::{DEFAULT_RUN_VARIANCE, RunEffects};
use gritstone_model::{
    Benchmark, EnvironmentScore, Finding, Flag, Id, LeftOutRow, Measurement, Note, Part, Profile,
    RunView, ScoredSystem, SystemScores, Withheld, Work,
};
use gritstone_stats::quantile;
use gritstone_stats::score::{self, ScoredBenchmark, geometric};
use pair::{Pair, Usability};
use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq)]
pub struct Environment {
    pub name: String,
    /// The catalog's score; none for benchmarks that the user named.
    pub score: Option<Id>,
    /// Shared equally by its benchmarks.
    pub weight: f64,
    pub benchmarks: Vec<Id>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Confidence of the intervals, between 0 and 1.
    pub confidence: f64,
    /// The user named the benchmarks: unusable ones are listed, and do not withhold the score.
    pub named: bool,
    /// A benchmark that the base lacks withholds the score, instead of being left out.
    pub require_all: bool,
    /// Variance between runs: [`crate::run_effect::estimate`].
    pub effects: RunEffects,
}

/// The scores of the catalog that are parts of other scores: of the joint ones, or of the others.
pub fn environments(benchmarks: &[Benchmark], joint: bool) -> Vec<Environment> {
    let parts = |benchmark: &Benchmark| match &benchmark.work {
        Work::Score { over, together, .. } if *together == joint => over.clone(),
        _ => vec![],
    };
    let parts: BTreeSet<Id> = benchmarks.iter().flat_map(parts).collect();
    let environment = |benchmark: &Benchmark| match &benchmark.work {
        Work::Score { over, .. } if parts.contains(&benchmark.id) => Some(Environment {
            name: benchmark.title.clone(),
            weight: 1.0,
            score: Some(benchmark.id.clone()),
            benchmarks: over.clone(),
        }),
        _ => None,
    };
    benchmarks.iter().filter_map(environment).collect()
}

/// The benchmarks of a profile, each an environment with its weight, those of most weight first.
pub fn profile_environments(profile: &Profile) -> Vec<Environment> {
    let shares = profile.shares().into_iter();
    let each = shares.map(|(id, weight)| Environment {
        name: id.to_string(),
        weight,
        score: None,
        benchmarks: vec![id.clone()],
    });
    each.collect()
}

/// Withheld unless both sides have all benchmarks: a score over fewer would be a different one.
pub fn score_profile(
    profile: &Profile,
    machine: &RunView,
    base: &RunView,
    options: &Options,
) -> ScoredSystem {
    let environments = profile_environments(profile);
    let lookup = lookup_results(machine, base);
    let mut scores = score_environments(&environments, &lookup, options);
    let overall = &mut scores.overall;
    overall.environment.clone_from(&profile.name);
    if overall.withheld.is_none() && overall.rows.len() < environments.len() {
        let lacking = environments.iter().flat_map(|environment| &environment.benchmarks);
        let lacking = lacking.filter(|id| !overall.rows.contains(id));
        let lacking = lacking.map(|id| Part::Benchmark(id.clone())).collect();
        let withheld = match overall.rows.as_slice() {
            [] => Withheld::NotComparable,
            _ => Withheld::Uncovered(lacking),
        };
        *overall = EnvironmentScore {
            environment: profile.name.clone(),
            rows: std::mem::take(&mut overall.rows),
            of: overall.of,
            withheld: Some(withheld),
            ..EnvironmentScore::default()
        };
    }
    let wanted = |id: &Id| profile.weights.contains_key(id);
    let differ_in = compare::programs_differ_in(base, machine, &wanted);
    ScoredSystem { differ_in, ..scored_system(machine, scores) }
}

pub fn score(
    environments: &[Environment],
    machine: &RunView,
    base: &RunView,
    options: &Options,
) -> ScoredSystem {
    scored_system(
        machine,
        score_environments(environments, &lookup_results(machine, base), options),
    )
}

fn scored_system(machine: &RunView, one_cpu: SystemScores) -> ScoredSystem {
    ScoredSystem {
        id: machine.id.clone(),
        name: machine.machine.name.clone(),
        programs: None,
        one_cpu,
        unfinished: machine.is_unfinished(),
        differ_in: vec![],
    }
}

/// All environments or none. `None` where no benchmark is shared.
pub fn score_programs(
    environments: &[Environment],
    machine: &RunView,
    base: &RunView,
    options: &Options,
) -> Option<SystemScores> {
    let lookup = lookup_results(machine, base);
    let options = Options { require_all: true, ..options.clone() };
    let scores = score_environments(environments, &lookup, &options);
    (!scores.overall.rows.is_empty()).then_some(scores)
}

/// The results of both runs by benchmark; none of the base where the peers differ.
fn lookup_results<'a>(
    machine: &'a RunView,
    base: &'a RunView,
) -> impl Fn(&Id) -> (Option<&'a Measurement>, Option<&'a Measurement>) {
    let peers_differ = compare::peers_differ(base, machine).is_some();
    move |id| (machine.get(id), base.get(id).filter(|_| !peers_differ))
}

/// Results of the system and of the base.
pub(crate) type ResultLookup<'a> =
    dyn Fn(&Id) -> (Option<&'a Measurement>, Option<&'a Measurement>) + 'a;

fn score_environments(
    environments: &[Environment],
    lookup: &ResultLookup,
    options: &Options,
) -> SystemScores {
    let each = environments.iter().map(|environment| {
        let group = std::slice::from_ref(environment);
        score_of(&environment.name, group, lookup, options)
    });
    let overall = score_of("All environments", environments, lookup, options);
    SystemScores { environments: each.collect(), overall }
}

/// Weights belong to groups; the benchmarks of a group share its weight.
pub(crate) fn score_of(
    name: &str,
    groups: &[Environment],
    lookup: &ResultLookup,
    options: &Options,
) -> EnvironmentScore {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut uncovered: Vec<Part> = Vec::new();
    let mut result = EnvironmentScore {
        environment: name.to_owned(),
        of: groups.iter().map(|group| group.benchmarks.len()).sum(),
        ..EnvironmentScore::default()
    };
    for group in groups {
        let mut in_group: Vec<Pair> = Vec::new();
        for id in &group.benchmarks {
            match pair::usability(id, lookup(id), options.named) {
                Usability::NotCovered => uncovered.push(Part::Benchmark(id.clone())),
                Usability::LeftOut { invalid } => {
                    result.left_out.push(LeftOutRow { id: id.clone(), invalid })
                }
                Usability::Counts(pair) => in_group.push(*pair),
            }
        }
        let weight = group.weight / in_group.len() as f64;
        for pair in &mut in_group {
            pair.machine.weight = weight;
            pair.base.weight = weight;
        }
        pairs.append(&mut in_group);
    }
    let shared = pairs.iter().filter(|pair| pair.is_shared());
    result.rows = shared.map(|pair| pair.id.clone()).collect();
    if pairs.is_empty() {
        // the base has none of the benchmarks
        return result;
    }
    if options.require_all && !uncovered.is_empty() {
        result.withheld = Some(Withheld::Uncovered(uncovered));
        return result;
    }
    match mean(&pairs, options) {
        Err(why) => result.withheld = Some(why),
        Ok((score, interval)) => {
            result.score = Some(score.value);
            result.interval = interval;
            result.notes = doubts(&pairs, interval.is_some());
        }
    }
    result
}

/// The mean with its interval: variance of the launches of both sides and between runs of each measured side.
fn mean(pairs: &[Pair], options: &Options) -> Result<(score::Score, Option<[f64; 2]>), Withheld> {
    let side = |scored: fn(&Pair) -> &ScoredBenchmark| -> Vec<ScoredBenchmark> {
        pairs.iter().map(|pair| scored(pair).clone()).collect()
    };
    let ids: Vec<&Id> = pairs.iter().map(|pair| &pair.id).collect();
    let reason = |why| withheld(why, &ids);
    let machine = geometric(&side(|p| &p.machine), options.confidence).map_err(reason)?;
    let base = geometric(&side(|p| &p.base), options.confidence).map_err(reason)?;
    // printed values have no variance; two of them give no interval
    let half = |score: &score::Score, printed: bool| match score.interval {
        _ if printed => Some(0.0),
        Some([low, high]) => Some((high / low).ln() / 2.0),
        None => None,
    };
    let printed = |is_printed: fn(&Pair) -> bool| pairs.iter().all(is_printed);
    let (machine_printed, base_printed) =
        (printed(|p| p.machine_printed), printed(|p| p.base_printed));
    let halves = half(&machine, machine_printed).zip(half(&base, base_printed));
    let halves = halves.filter(|_| !(machine_printed && base_printed));
    let interval = halves.map(|(a, b)| {
        let measured_sides = if machine_printed || base_printed { 1.0_f64 } else { 2.0 };
        let launches = a.hypot(b);
        let half = launches.hypot(measured_sides.sqrt() * run_effects_half_width(pairs, options));
        [machine.value / half.exp(), machine.value * half.exp()]
    });
    Ok((machine, interval))
}

/// Half-width on the logarithmic scale. A run effect is shared by most benchmarks, so it does not average out.
fn run_effects_half_width(pairs: &[Pair], options: &Options) -> f64 {
    let total: f64 = pairs.iter().map(|pair| pair.machine.weight).sum();
    let effect = |pair: &Pair| *options.effects.rows.get(&pair.id).unwrap_or(&DEFAULT_RUN_VARIANCE);
    let common =
        pairs.iter().map(|pair| pair.machine.weight / total * effect(pair).beyond_launches());
    let freedom = pairs.iter().map(|pair| effect(pair).freedom);
    let freedom = freedom.fold(f64::INFINITY, f64::min);
    common.sum::<f64>() * quantile::student(options.confidence, freedom)
}

pub(crate) fn withheld(why: score::Withheld, ids: &[&Id]) -> Withheld {
    let part = |place: usize| Part::Benchmark(ids[place].clone());
    let named = |places: Vec<usize>| places.into_iter().map(part).collect();
    match why {
        score::Withheld::Empty => Withheld::Empty,
        score::Withheld::Missing(places) => Withheld::Missing(named(places)),
        score::Withheld::TooMany(places) => Withheld::TooMany(named(places)),
        score::Withheld::Invalid(places) => Withheld::Invalid(named(places)),
        score::Withheld::NotPositive(places) => Withheld::NotPositive(named(places)),
    }
}

/// One note for each flag, with its benchmarks. An interval includes what makes parts noisy.
fn doubts(pairs: &[Pair], has_interval: bool) -> Vec<Note> {
    let note = |flag: Flag| {
        let flagged = pairs.iter().filter(|pair| pair.doubts.contains(&flag));
        parts_flagged(flag, flagged.map(|pair| pair.id.clone()).collect(), pairs.len())
    };
    let noisy = (!has_interval).then_some(Flag::Noisy);
    let flags = noisy.into_iter().chain([Flag::Interference, Flag::Doubtful]);
    flags.filter_map(note).collect()
}

pub(crate) fn parts_flagged(flag: Flag, benchmarks: Vec<Id>, parts: usize) -> Option<Note> {
    (!benchmarks.is_empty())
        .then(|| Note::new(Finding::PartsFlagged { flag, benchmarks, of: parts }))
}
