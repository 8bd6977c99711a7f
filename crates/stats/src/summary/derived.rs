//! A figure made from other rows: per round, the sum of its terms; over rounds, the centre on the plain scale, since a
//! difference can be negative. What is not positive is said and never clamped.
//!
//! Must not know: claims of the terms beyond those that their results carry.

use super::reading::{Reading, median};
use super::words::{count, number, of};
use super::{Intervals, Options, Row, blank, published, rules, sorted};
use crate::{center, describe};
use gritstone_model::{
    Benchmark, Footnote, FootnoteKind, Id, PublishedView, PublishedWork, ResultView, RunData, Term,
};
use std::collections::{BTreeMap, BTreeSet};

/// The terms with their launches.
pub(super) struct Terms<'a> {
    terms: Vec<(f64, Vec<&'a Reading<'a>>)>,
    /// The rounds that count: in which a term was measured, and none beside which another thread of the core was busy.
    rounds: BTreeSet<u32>,
    /// How many do not count.
    crowded: usize,
}

/// What a derived row says of itself.
pub(super) struct Sum<'a> {
    pub benchmark: &'a Benchmark,
    pub terms: &'a [Term],
    /// The row whose rate is the whole, where the figure is a share.
    pub share_of: Option<&'a Id>,
}

impl Sum<'_> {
    /// The sums of rounds in the unit of the row. A share pairs each round with the whole as that round has it.
    fn figures(&self, sums: &[(u32, f64)], rows: &BTreeMap<&Id, Row>, confidence: f64) -> Vec<f64> {
        let amount = self.benchmark.amount_per_op;
        let Some(whole) = self.share_of else {
            let unit = |(_, ns): &(u32, f64)| self.benchmark.unit.figure(*ns, amount);
            return sums.iter().filter_map(unit).collect();
        };
        let term = Term {
            id: whole.clone(),
            times: 1.0,
        };
        let rounds: BTreeMap<u32, f64> = Terms::new(&[term], rows, confidence)
            .by_round(|launch| launch.ns_per_op(false))
            .into_iter()
            .collect();
        let amount_of_whole = rows
            .get(whole)
            .map_or(1.0, |row| row.benchmark.amount_per_op);
        let share = |(round, ns): &(u32, f64)| {
            let whole = rounds.get(round)? / amount_of_whole;
            Some(100.0 * whole / (ns / amount))
        };
        sums.iter().filter_map(share).collect()
    }
}

/// The result of a derived row.
pub(super) fn result(
    sum: &Sum,
    rows: &BTreeMap<&Id, Row>,
    results: &BTreeMap<&Id, ResultView>,
    run: &RunData,
    options: &Options,
) -> ResultView {
    let (benchmark, terms) = (sum.benchmark, sum.terms);
    let mut result = blank(benchmark, run);
    let launched = Terms::new(terms, rows, options.confidence);
    let by_round = launched.by_round(|launch| launch.ns_per_op(false));
    result.values = sum.figures(&by_round, rows, options.confidence);
    let sums: Vec<f64> = by_round.into_iter().map(|(_, sum)| sum).collect();
    result.launches = result.values.len();
    result.samples = launched.samples();
    let made_of = benchmark.work.parts();
    result
        .footnotes
        .extend(inherited(made_of.into_iter(), results));

    let intervals = rows[&benchmark.id].intervals(options);
    if let Some(center) = intervals.plain_center(&result.values) {
        result.outcome = "measured".to_owned();
        result.estimate = Some(center.value);
        result.interval = center.interval;
        result.confidence = center.interval.map(|_| center.confidence);
        result.statistics = describe::describe(&result.values);
        if sum.share_of.is_none() {
            cycles(&mut result, &launched, options);
        }
        let precision = run.info.settings.precision;
        let ns = center::plain_center(&sums, options.confidence).map(|e| e.value);
        let footnotes = footnotes(benchmark, &result, &launched, ns, precision, options);
        result.footnotes.extend(footnotes);
    } else if result
        .footnotes
        .iter()
        .all(|f| f.kind != FootnoteKind::NotRun)
    {
        result.footnotes.push(unmade(benchmark, results));
    }
    if let Some(work) = &benchmark.published {
        let disturbed = disturbed(&result.footnotes);
        let (view, footnotes) = publish(work, &launched, terms, rows, &intervals, disturbed);
        result.published = Some(view);
        result.footnotes.extend(footnotes);
    }
    result.footnotes = sorted(result.footnotes);
    result
}

impl<'a> Terms<'a> {
    pub fn new(terms: &[Term], rows: &'a BTreeMap<&Id, Row>, confidence: f64) -> Self {
        let terms: Vec<(f64, Vec<&Reading>)> = terms
            .iter()
            .map(|term| {
                let launches = rows.get(&term.id).map_or(&[][..], |row| &row.launches);
                let measured = launches.iter().filter(|launch| launch.measured());
                (term.times, measured.collect())
            })
            .collect();
        let all = || terms.iter().flat_map(|(_, launches)| launches);
        let rounds: BTreeSet<u32> = all().map(|launch| launch.launch.round).collect();
        let crowded = all().filter(|launch| launch.crowded);
        let crowded: BTreeSet<u32> = crowded.map(|launch| launch.launch.round).collect();
        let alone: BTreeSet<u32> = rounds.difference(&crowded).copied().collect();
        let (rounds, crowded) = match alone.len() < rules::fewest(confidence) {
            true => (rounds, 0),
            false => (alone, crowded.len()),
        };
        Self {
            terms,
            rounds,
            crowded,
        }
    }

    /// The sum of the terms in every round that has a value of each, in the order of rounds. A term that was launched
    /// more than once in a round is the median of these.
    pub fn by_round(&self, value: impl Fn(&Reading) -> Option<f64>) -> Vec<(u32, f64)> {
        let sum = |&round: &u32| {
            let terms = self.terms.iter().map(|(times, launches)| {
                let in_round = launches.iter().filter(|l| l.launch.round == round);
                median(in_round.filter_map(|launch| value(launch))).map(|x| times * x)
            });
            Some((round, terms.sum::<Option<f64>>()?))
        };
        if self.terms.is_empty() {
            return Vec::new();
        }
        self.rounds.iter().filter_map(sum).collect()
    }

    /// The same without the rounds.
    fn sums(&self, value: impl Fn(&Reading) -> Option<f64>) -> Vec<f64> {
        self.by_round(value)
            .into_iter()
            .map(|(_, sum)| sum)
            .collect()
    }

    /// The sums of what comes of batches, without the rounds in which another thread of the core was busy beside one of them
    /// while enough are left; with what must be known of the others, or of them.
    fn batches(
        &self,
        value: impl Fn(&Reading) -> Option<f64>,
        confidence: f64,
    ) -> (Vec<f64>, Option<Footnote>) {
        let all = self.sums(&value);
        let alone = self.sums(|launch| value(launch).filter(|_| !launch.crowded_batches));
        let crowded = all.len() - alone.len();
        match alone.len() < rules::fewest(confidence) {
            true => {
                let mark = rules::beside_a_crowd(crowded, all.len(), "round");
                (all, mark)
            }
            false => (alone, rules::left_out(crowded, all.len(), "round")),
        }
    }

    fn samples(&self) -> usize {
        let all = self.terms.iter().flat_map(|(_, launches)| launches);
        all.map(|launch| launch.samples.len()).sum()
    }
}

/// Core cycles likewise, where every launch was paced.
fn cycles(result: &mut ResultView, launched: &Terms, options: &Options) {
    let paced = launched.sums(|launch| launch.cycles_per_op());
    if paced.len() != result.values.len() {
        return;
    }
    if let Some(center) = center::plain_center(&paced, options.confidence) {
        result.cycles = Some(center.value);
        result.cycles_interval = center.interval;
        let all = launched.terms.iter().flat_map(|(_, launches)| launches);
        result.ghz = median(all.filter_map(|launch| launch.ghz()));
        result.paced_values = paced;
    }
}

/// What is doubtful about a term is doubtful about what is made of it. How far launches of a term scatter shows in the
/// interval of the sum.
pub(super) fn inherited<'a>(
    made_of: impl Iterator<Item = &'a Id>,
    results: &BTreeMap<&Id, ResultView>,
) -> Vec<Footnote> {
    made_of
        .filter_map(|id| results.get(id))
        .flat_map(|result| {
            result
                .footnotes
                .iter()
                .map(move |footnote| (result, footnote))
        })
        .filter(|(_, footnote)| {
            footnote.of.is_none()
                && matches!(
                    footnote.kind,
                    FootnoteKind::Trivialised | FootnoteKind::Disturbed
                )
        })
        .map(|(result, footnote)| {
            let why = format!("It is made of {}: {}", result.id, footnote.why);
            Footnote::new(footnote.kind, why)
        })
        .collect()
}

/// Why there is nothing to sum.
fn unmade(benchmark: &Benchmark, results: &BTreeMap<&Id, ResultView>) -> Footnote {
    let parts = benchmark.work.parts();
    let missing: Vec<String> = parts
        .into_iter()
        .filter_map(|id| match results.get(id) {
            None => Some(format!("{id}, which is not part of this run")),
            Some(result) if result.estimate.is_none() => Some(format!("{id}, which has no figure")),
            Some(_) => None,
        })
        .collect();
    let why = if missing.is_empty() {
        "No round measured all the rows that it is made of.".to_owned()
    } else {
        format!("It is made of {}.", missing.join(" and of "))
    };
    Footnote::new(FootnoteKind::NotRun, why)
}

fn footnotes(
    benchmark: &Benchmark,
    result: &ResultView,
    launched: &Terms,
    ns: Option<f64>,
    precision: f64,
    options: &Options,
) -> Vec<Footnote> {
    let mut footnotes = Vec::new();
    let all = launched.rounds.len();
    if result.values.len() < all {
        let why = format!(
            "A row that it is made of has no figure in {}, which do not count here.",
            of(all - result.values.len(), all, "round")
        );
        footnotes.push(Footnote::new(FootnoteKind::Unrepeatable, why));
    }
    footnotes.extend(rules::left_out(
        launched.crowded,
        all + launched.crowded,
        "round",
    ));
    let sum = result.estimate.unwrap_or(0.0);
    let positive = positive(
        sum,
        result.interval,
        benchmark.unit.as_str(),
        disturbed(&result.footnotes),
    );
    let reaches_zero = positive.is_some();
    footnotes.extend(positive);
    let physics = ns
        .filter(|&ns| ns > 0.0)
        .and_then(|ns| rules::faster_than_physics(benchmark, ns));
    footnotes.extend(physics.map(|why| Footnote::new(FootnoteKind::Trivialised, why)));
    footnotes.extend(rules::repeatable(&rules::Spread {
        n: result.values.len(),
        thing: "round",
        interval: result.interval,
        confidence: options.confidence,
        // a width relative to what may be nothing says nothing
        precision: if reaches_zero { 0.0 } else { precision },
        modes: result.statistics.as_ref().and_then(|s| s.modes),
        range: rules::range(&result.values),
    }));
    footnotes
}

/// Whether a row that it is made of was disturbed too often.
fn disturbed(footnotes: &[Footnote]) -> bool {
    footnotes.iter().any(|f| f.kind == FootnoteKind::Disturbed)
}

/// A sum that is not positive, or that may not be. Only one whose whole interval is below nothing tells against its rows: noise
/// alone makes half of all differences of equal rows negative. Whoever shares the CPU with a row that never sleeps takes more from it
/// than from one that does, so that of disturbed rows a sum below nothing says nothing of their work.
fn positive(sum: f64, interval: Option<[f64; 2]>, unit: &str, disturbed: bool) -> Option<Footnote> {
    let sure = interval.is_none_or(|[_, high]| high <= 0.0);
    if sum <= 0.0 && sure {
        let (kind, but) = if disturbed {
            (
                FootnoteKind::Unrepeatable,
                ", less than nothing: the rows that it is made of were disturbed, so that it cannot be told",
            )
        } else if interval.is_none() {
            (
                FootnoteKind::Unrepeatable,
                ", less than nothing, after too few rounds to tell",
            )
        } else {
            (
                FootnoteKind::Trivialised,
                ": less than nothing cannot be measured, so one of its rows does not do what it says",
            )
        };
        let why = format!("The difference is {} {unit}{but}.", number(sum));
        return Some(Footnote::new(kind, why));
    }
    let [low, high] = interval.filter(|[low, _]| *low <= 0.0)?;
    let why = format!(
        "The interval, {} to {} {unit}, reaches 0: the difference may be nothing.",
        number(low),
        number(high)
    );
    Some(Footnote::new(FootnoteKind::Unrepeatable, why))
}

/// The published work as the sum of the batches of the terms: real time per round; user time by the CPU clock, where no
/// term enters the kernel of the system, since a difference of ticks says nothing.
fn publish(
    work: &PublishedWork,
    launched: &Terms,
    terms: &[Term],
    rows: &BTreeMap<&Id, Row>,
    intervals: &Intervals,
    disturbed: bool,
) -> (PublishedView, Vec<Footnote>) {
    let mut view = published::blank(work);
    let mut footnotes = Vec::new();
    let (values, crowd) = launched.batches(|l| l.batch_s(work.operations), intervals.confidence);
    view.values = values;
    let beside = |note: &Footnote| note.kind == FootnoteKind::Disturbed;
    let disturbed = disturbed || crowd.as_ref().is_some_and(beside);
    footnotes.extend(crowd.map(|note| note.of("real_s")));
    if let Some(real) = intervals.plain_center(&view.values) {
        (view.real_s, view.real_interval) = (Some(real.value), real.interval);
        let footnote = positive(real.value, real.interval, "s", disturbed);
        footnotes.extend(footnote.map(|footnote| footnote.of("real_s")));
    } else if !launched.rounds.is_empty() {
        let why = format!(
            "The published work of all its rows was not timed as one batch in any of {}.",
            count(launched.rounds.len(), "round")
        );
        footnotes.push(Footnote::new(FootnoteKind::NotRun, why).of("real_s"));
    }
    let stays_out = |term: &Term| {
        let row = rows.get(&term.id);
        row.is_some_and(|row| row.benchmark.claims.syscalls_per_op == Some(0.0))
    };
    if terms.iter().all(stays_out) {
        let cpu = |launch: &Reading| launch.batch_cpu_s(work.operations);
        let (users, crowd) = launched.batches(cpu, intervals.confidence);
        footnotes.extend(crowd.map(|note| note.of("user_s")));
        if let Some(user) = intervals.plain_center(&users) {
            (view.user_s, view.user_interval) = (Some(user.value), user.interval);
            let footnote = positive(user.value, user.interval, "s", disturbed);
            footnotes.extend(footnote.map(|footnote| footnote.of("user_s")));
        }
    }
    (view, footnotes)
}
