//! Sums of other results: computed by round, then the center over rounds on the linear scale, since a difference can be negative. Values
//! below zero are reported, not clamped.

use super::draft::Draft;
use super::launch_center::estimate_launches;
use super::measured::in_unit;
use super::reading::{Reading, median};
use super::rules::{self, Spread};
use super::{Launched, Options, estimate, published};
use crate::describe;
use gritstone_model::{
    Absent, Benchmark, Count, Data, Estimate, Finding, Flag, Id, Measurement, NegativeBecause,
    Note, PublishedView, PublishedWork, Repeat, RunData, Sampled, Subject, Term,
};
use gritstone_stats::center;
use std::collections::{BTreeMap, BTreeSet};

/// The terms with their launches.
pub(super) struct Terms<'a> {
    terms: Vec<(f64, Vec<&'a Reading<'a>>)>,
    /// The rounds in which a term was measured.
    rounds: BTreeSet<u32>,
}

pub(super) struct Sum<'a> {
    pub benchmark: &'a Benchmark,
    pub terms: &'a [Term],
    /// The benchmark whose rate is 100%, if the result is a share.
    pub share_of: Option<&'a Id>,
}

impl Sum<'_> {
    /// Sums of rounds in the unit of the benchmark; a share refers to the total of the same round.
    fn values(&self, sums: &[(u32, f64)], by_id: &BTreeMap<&Id, Launched>) -> Vec<f64> {
        let amount = self.benchmark.amount_per_op;
        let Some(whole) = self.share_of else {
            let unit = |(_, ns): &(u32, f64)| self.benchmark.unit.convert(*ns, amount);
            return sums.iter().filter_map(unit).collect();
        };
        let term = Term { id: whole.clone(), times: 1.0 };
        let rounds: BTreeMap<u32, f64> = Terms::new(&[term], by_id)
            .by_round(|launch| launch.ns_per_op(false))
            .into_iter()
            .collect();
        let amount_of_whole =
            by_id.get(whole).map_or(1.0, |launched| launched.benchmark.amount_per_op);
        let share = |(round, ns): &(u32, f64)| {
            let whole = rounds.get(round)? / amount_of_whole;
            Some(100.0 * whole / (ns / amount))
        };
        sums.iter().filter_map(share).collect()
    }
}

pub(super) fn result(
    sum: &Sum,
    by_id: &BTreeMap<&Id, Launched>,
    results: &BTreeMap<&Id, Measurement>,
    run: &RunData,
    options: &Options,
) -> Measurement {
    let (benchmark, terms) = (sum.benchmark, sum.terms);
    let mut draft = Draft::new(benchmark, run);
    let summed = Terms::new(terms, by_id);
    let by_round = summed.by_round(|launch| launch.ns_per_op(false));
    let values = sum.values(&by_round, by_id);
    let sums: Vec<f64> = by_round.into_iter().map(|(_, sum)| sum).collect();
    let made_of = benchmark.work.parts();
    (draft.notes).extend(inherited(made_of.into_iter(), results));

    let one = summed.of_one_term(|launch| launch.ns_per_op(false), options.confidence);
    let unit = |ns| benchmark.unit.convert(ns, benchmark.amount_per_op);
    let one = one.filter(|_| sum.share_of.is_none()).and_then(|center| in_unit(center, unit));
    let center = one.or_else(|| plain_estimate(&values, options.confidence));
    let data = if let Some(center) = center {
        let sampled = sampled(sum, &summed, center, values, options.confidence);
        let precision = run.info.settings.precision;
        let ns = center::plain_center(&sums, options.confidence).map(|e| e.value);
        let evidence = Evidence {
            benchmark,
            center,
            sampled: &sampled,
            disturbed: draft.is_flagged(Flag::Interference),
            summed: &summed,
            ns: ns.filter(|&ns| ns > 0.0),
            precision,
            confidence: options.confidence,
        };
        draft.notes.extend(evidence.notes());
        Data::Derived(Box::new(sampled))
    } else {
        if !draft.is_flagged(Flag::Skipped) {
            draft.notes.push(unmade(benchmark, results));
        }
        Data::Absent(Absent { samples: summed.samples(), ..Absent::default() })
    };
    let is_measured = |term: &Term| {
        by_id.get(&term.id).is_none_or(|launched| published::is_measured(launched, run))
    };
    if !terms.iter().any(is_measured) {
        draft.published = None;
    } else if let Some(work) = &benchmark.published {
        let disturbed = draft.is_flagged(Flag::Interference);
        let (view, notes) = publish(work, &summed, terms, by_id, (options.confidence, disturbed));
        draft.published = Some(view);
        draft.notes.extend(notes);
    }
    draft.finish(data)
}

fn sampled(
    sum: &Sum,
    summed: &Terms,
    center: Estimate,
    values: Vec<f64>,
    confidence: f64,
) -> Sampled {
    let mut sampled = Sampled {
        estimate: Some(center),
        confidence: center.interval.map(|_| confidence),
        launches: values.len(),
        samples: summed.samples(),
        statistics: describe::describe(&values),
        values,
        ..Sampled::default()
    };
    if sum.share_of.is_none() {
        cycles(&mut sampled, summed, confidence);
    }
    sampled
}

impl<'a> Terms<'a> {
    pub fn new(terms: &[Term], by_id: &'a BTreeMap<&Id, Launched>) -> Self {
        let terms: Vec<(f64, Vec<&Reading>)> = terms
            .iter()
            .map(|term| (term.times, by_id.get(&term.id).map_or(vec![], Launched::measured)))
            .collect();
        let all = || terms.iter().flat_map(|(_, launches)| launches);
        let rounds: BTreeSet<u32> = all().map(|launch| launch.launch.round).collect();
        Self { terms, rounds }
    }

    /// The sum of the terms in every round with a value of each, in order. Several values of a term in one round are replaced by their
    /// median.
    pub fn by_round(&self, value: impl Fn(&Reading) -> Option<f64>) -> Vec<(u32, f64)> {
        let by_round = |(times, launches): &(f64, Vec<&Reading>)| {
            let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
            for launch in launches {
                rounds.entry(launch.launch.round).or_default().extend(value(launch));
            }
            (*times, rounds)
        };
        let all: Vec<(f64, BTreeMap<u32, Vec<f64>>)> = self.terms.iter().map(by_round).collect();
        let sum = |round: &u32| {
            let terms = all.iter().map(|(times, rounds)| {
                median(rounds.get(round)?.iter().copied()).map(|x| times * x)
            });
            Some((*round, terms.sum::<Option<f64>>()?))
        };
        if self.terms.is_empty() {
            return Vec::new();
        }
        self.rounds.iter().filter_map(sum).collect()
    }

    /// The estimate of the only term, which is positive; `None` if there are several.
    fn of_one_term(
        &self,
        value: impl Fn(&Reading) -> Option<f64>,
        confidence: f64,
    ) -> Option<Estimate> {
        let [(times, launches)] = self.terms.as_slice() else { return None };
        let measured = launches.iter().filter_map(|launch| Some((*launch, value(launch)?)));
        let (launches, values): (Vec<&Reading>, Vec<f64>) = measured.unzip();
        let center = estimate_launches(&values, &launches, confidence)?;
        (*times > 0.0).then(|| center.times(*times))
    }

    /// [`Terms::by_round`] without the rounds.
    fn sums(&self, value: impl Fn(&Reading) -> Option<f64>) -> Vec<f64> {
        self.by_round(value).into_iter().map(|(_, sum)| sum).collect()
    }

    /// Sums of batches, and whether too many of them had SMT contention.
    fn batches(&self, value: impl Fn(&Reading) -> Option<f64>) -> (Vec<f64>, Option<Finding>) {
        let all = self.sums(&value);
        let alone = self.sums(|launch| value(launch).filter(|_| !launch.contended_batches));
        let contended = Count::rounds(all.len() - alone.len(), all.len());
        (all, rules::contention(contended))
    }

    fn samples(&self) -> usize {
        let all = self.terms.iter().flat_map(|(_, launches)| launches);
        all.map(|launch| launch.samples.len()).sum()
    }
}

fn plain_estimate(values: &[f64], confidence: f64) -> Option<Estimate> {
    center::plain_center(values, confidence).map(estimate)
}

/// Core cycles likewise, if every launch had a cycle probe.
fn cycles(sampled: &mut Sampled, summed: &Terms, confidence: f64) {
    let cycles = summed.sums(|launch| launch.cycles_per_op());
    if cycles.len() != sampled.values.len() {
        return;
    }
    let one = summed.of_one_term(|launch| launch.cycles_per_op(), confidence);
    if let Some(center) = one.or_else(|| plain_estimate(&cycles, confidence)) {
        sampled.cycles = Some(center);
        let all = summed.terms.iter().flat_map(|(_, launches)| launches);
        sampled.ghz = median(all.filter_map(|launch| launch.ghz()));
        sampled.cycle_values = cycles;
    }
}

/// Flags of terms that apply to the sum. The variance of terms is in its interval.
pub(super) fn inherited<'a>(
    made_of: impl Iterator<Item = &'a Id>,
    results: &BTreeMap<&Id, Measurement>,
) -> Vec<Note> {
    let flags = [Some(Flag::Invalid), Some(Flag::Interference)];
    let results = made_of.filter_map(|id| results.get(id));
    let notes = results.flat_map(|result| result.notes_on_result().map(move |note| (result, note)));
    notes
        .filter(|(_, note)| flags.contains(&note.flag()))
        .map(|(result, note)| {
            Note::new(Finding::Inherited {
                from: result.id.clone(),
                finding: Box::new(note.finding.clone()),
            })
        })
        .collect()
}

pub(super) fn unmade(benchmark: &Benchmark, results: &BTreeMap<&Id, Measurement>) -> Note {
    let parts = benchmark.work.parts();
    let absent = |id: &&&Id| !results.contains_key(**id);
    let empty = |id: &&&Id| results.get(**id).is_some_and(|r| r.estimate().is_none());
    let ids = |missing: &dyn Fn(&&&Id) -> bool| -> Vec<Id> {
        let missing = parts.iter().filter(|id| missing(id));
        missing.map(|id| (*id).clone()).collect()
    };
    Note::new(Finding::PartsMissing { absent: ids(&absent), empty: ids(&empty) })
}

struct Evidence<'a> {
    benchmark: &'a Benchmark,
    center: Estimate,
    sampled: &'a Sampled,
    disturbed: bool,
    summed: &'a Terms<'a>,
    /// The estimate, ns, above 0.
    ns: Option<f64>,
    precision: f64,
    confidence: f64,
}

type Rule = fn(&Evidence) -> Option<Finding>;

/// Rules for a difference with an estimate, in the order of their findings.
const RULES: [Rule; 3] =
    [incomplete, |e| e.positive(), |e| rules::below_minimum(e.benchmark, e.ns?)];

fn incomplete(evidence: &Evidence) -> Option<Finding> {
    let all = evidence.summed.rounds.len();
    let count = Count::rounds(all - evidence.sampled.values.len(), all);
    (count.part > 0).then_some(Finding::IncompleteRounds { count })
}

impl Evidence<'_> {
    fn notes(&self) -> impl Iterator<Item = Note> {
        let found = RULES.iter().filter_map(|rule| rule(self));
        let sampled = self.sampled;
        let spread = Spread {
            n: sampled.values.len(),
            what: Repeat::Round,
            estimate: sampled.estimate,
            confidence: self.confidence,
            // a relative width is undefined near zero
            precision: match self.positive() {
                Some(_) => 0.0,
                None => self.precision,
            },
            modes: sampled.statistics.as_ref().and_then(|s| s.modes),
            range: rules::range(&sampled.values),
        };
        let repeatable: Vec<Note> = rules::repeatable(&spread).collect();
        found.map(Note::new).chain(repeatable)
    }

    fn positive(&self) -> Option<Finding> {
        positive(self.center, self.benchmark.unit.as_str(), self.disturbed)
    }
}

/// A sum below zero. Only an interval entirely below zero is evidence against the work: noise alone makes half of all
/// differences of equal results negative. Contention takes more from work that never sleeps, so that a negative sum of
/// results with interference is no evidence.
fn positive(sum: Estimate, unit: &str, disturbed: bool) -> Option<Finding> {
    let Estimate { value, interval } = sum;
    let sure = interval.is_none_or(|[_, high]| high <= 0.0);
    if value <= 0.0 && sure {
        return Some(Finding::Negative {
            value,
            unit: unit.to_owned(),
            because: match (disturbed, interval) {
                (true, _) => NegativeBecause::Interference,
                (false, None) => NegativeBecause::TooFew,
                (false, Some(_)) => NegativeBecause::Work,
            },
        });
    }
    let interval = interval.filter(|[low, _]| *low <= 0.0)?;
    let unit = unit.to_owned();
    Some(Finding::ReachesZero { interval, unit })
}

/// The reference workload as the sum of the batches of the terms: real time per round; user time by the CPU clock, unless a term makes
/// system calls, since a difference of ticks is too coarse.
fn publish(
    work: &PublishedWork,
    summed: &Terms,
    terms: &[Term],
    by_id: &BTreeMap<&Id, Launched>,
    (confidence, disturbed): (f64, bool),
) -> (PublishedView, Vec<Note>) {
    let mut view = published::untimed(work);
    let mut notes = Vec::new();
    let about = |found: Option<Finding>, subject| found.map(|f| Note::new(f).about(subject));
    let (values, contention) = summed.batches(|l| l.batch_s(work.operations));
    view.values = values;
    let disturbed = disturbed || contention.is_some();
    notes.extend(about(contention, Subject::Real));
    if let Some(real) = plain_estimate(&view.values, confidence) {
        view.real = Some(real);
        let found = positive(real, "s", disturbed);
        notes.extend(about(found, Subject::Real));
    } else if !summed.rounds.is_empty() {
        let all = summed.rounds.len();
        let found = Finding::NoBatch {
            count: Count::rounds(all, all),
            did: None,
            operations: work.operations,
            timed: false,
        };
        notes.extend(about(Some(found), Subject::Real));
    }
    let stays_out = |term: &Term| {
        let launched = by_id.get(&term.id);
        launched.is_some_and(|launched| launched.benchmark.claims.syscalls_per_op == Some(0.0))
    };
    if terms.iter().all(stays_out) {
        let cpu = |launch: &Reading| launch.batch_cpu_s(work.operations);
        let (users, contention) = summed.batches(cpu);
        notes.extend(about(contention, Subject::User));
        if let Some(user) = plain_estimate(&users, confidence) {
            view.user = Some(user);
            let found = positive(user, "s", disturbed);
            notes.extend(about(found, Subject::User));
        }
    }
    (view, notes)
}
