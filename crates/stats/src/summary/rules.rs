//! The rules by which a figure gets its footnotes: what the entry declares, what it claims about its work, whether the
//! launches agree, and what else went on. Each sentence has the number that broke the rule.
//!
//! Must not know: units, how a figure was computed, published times.

use super::disturbance::CROWDED;
use super::growth;
use super::limits;
use super::reading::Reading;
use super::words::{count, number, of, percent};
use crate::between::Scatter;
use gritstone_model::{Benchmark, Footnote, FootnoteKind, Outcome};

/// What the entry itself says that every reader must know.
pub(super) fn declared(benchmark: &Benchmark) -> impl Iterator<Item = Footnote> {
    let footnote =
        |kind, why: &Option<String>| why.as_ref().map(|why| Footnote::new(kind, why.clone()));
    [
        footnote(FootnoteKind::NotComparable, &benchmark.not_comparable),
        footnote(FootnoteKind::Note, &benchmark.remark),
    ]
    .into_iter()
    .flatten()
}

/// The claims of work, tested on the launches that were measured; `ns` is the estimate in nanoseconds an operation.
pub(super) fn claims(
    benchmark: &Benchmark,
    launches: &[&Reading],
    ns: Option<f64>,
) -> Vec<Footnote> {
    if launches.is_empty() {
        return Vec::new();
    }
    let claims = &benchmark.claims;
    let (mut switches, mut faults, mut major, mut n, mut samples) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for sample in launches.iter().flat_map(|launch| &launch.samples) {
        switches += sample.usage.vcsw as f64;
        faults += sample.usage.minflt as f64 + sample.usage.majflt as f64;
        major += sample.usage.majflt as f64;
        n += sample.n as f64;
        samples += 1.0;
    }
    [
        checks(launches, claims.check),
        claims
            .linear
            .then(|| growth::linear(benchmark, launches))
            .flatten(),
        ns.and_then(|ns| faster_than_physics(benchmark, ns)),
        claims
            .switches_per_op
            .and_then(|claimed| too_few_switches(switches / n, claimed)),
        claims
            .faults_per_op
            .and_then(|claimed| too_many_faults(faults, n, samples, claimed)),
        claims
            .major_faults_per_op
            .and_then(|claimed| too_few_major_faults(major / n, claimed)),
    ]
    .into_iter()
    .flatten()
    .map(|why| Footnote::new(FootnoteKind::Trivialised, why))
    .collect()
}

pub(crate) fn checks(launches: &[&Reading], claimed: bool) -> Option<String> {
    let checks: Vec<_> = launches.iter().flat_map(|launch| &launch.checks).collect();
    let wrong: Vec<_> = checks.iter().filter(|c| c.got != c.expected).collect();
    if let Some(first) = wrong.first() {
        return Some(format!(
            "A check value is wrong in {}: for n = {} it came to {}, not {}.",
            of(wrong.len(), checks.len(), "timed region"),
            first.n,
            first.got,
            first.expected
        ));
    }
    let silent = launches.iter().filter(|l| l.checks.is_empty()).count();
    (claimed && silent > 0).then(|| {
        format!(
            "No check value came from {}, though every timed region is to yield one.",
            of(silent, launches.len(), "launch")
        )
    })
}

/// Whether an operation was done in less time than any machine needs.
pub(crate) fn faster_than_physics(benchmark: &Benchmark, ns: f64) -> Option<String> {
    let least = benchmark.claims.min_ns_per_op?;
    (ns < least).then(|| {
        format!(
            "{} ns an operation is faster than physics: no machine does it in less than {} ns.",
            number(ns),
            number(least)
        )
    })
}

pub(crate) fn too_few_switches(per_op: f64, claimed: f64) -> Option<String> {
    (per_op < claimed * limits::SWITCHES_SHARE).then(|| {
        format!(
            "The process gave up the CPU {} times an operation, less than {} of the {} claimed.",
            number(per_op),
            percent(limits::SWITCHES_SHARE),
            number(claimed)
        )
    })
}

pub(crate) fn too_many_faults(faults: f64, n: f64, samples: f64, claimed: f64) -> Option<String> {
    let allowed = claimed * n * (1.0 + limits::FAULTS_SHARE) + limits::FAULTS_PER_SAMPLE * samples;
    (faults > allowed).then(|| {
        format!(
            "{} page faults an operation, where at most {} are claimed.",
            number(faults / n),
            number(claimed)
        )
    })
}

pub(crate) fn too_few_major_faults(per_op: f64, claimed: f64) -> Option<String> {
    (per_op < claimed).then(|| {
        format!(
            "{} major page faults an operation, where at least {} are claimed.",
            number(per_op),
            number(claimed)
        )
    })
}

/// How far the launches of a figure agree.
pub(super) struct Spread {
    /// How many there were, and what one is called.
    pub n: usize,
    /// "launch" or "round".
    pub thing: &'static str,
    /// On a scale where 0 is nothing.
    pub interval: Option<[f64; 2]>,
    /// Confidence that was asked for.
    pub confidence: f64,
    /// Half-width that was asked for, as a share; 0 where nothing was.
    pub precision: f64,
    /// Groups into which they fall.
    pub modes: Option<usize>,
    /// From the smallest to the largest, as a share of the smallest.
    pub range: f64,
}

/// From the smallest value to the largest, as a share of the smallest; without limit where that is not positive.
pub(super) fn range(values: &[f64]) -> f64 {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low > 0.0 {
        high / low - 1.0
    } else {
        f64::INFINITY
    }
}

/// Whether a figure would come out the same again.
pub(super) fn repeatable(spread: &Spread) -> impl Iterator<Item = Footnote> {
    let width = match spread.interval {
        None => Some(format!(
            "There is no interval: one at {} takes at least {}, and this figure has {}.",
            percent(spread.confidence),
            count(fewest(spread.confidence), spread.thing),
            spread.n,
        )),
        Some([low, _]) if low <= 0.0 => None,
        Some([low, high]) => {
            let half = (high / low).sqrt() - 1.0;
            (spread.precision > 0.0 && half > spread.precision)
                .then(|| too_wide(half, spread.precision, &count(spread.n, spread.thing)))
        }
    };
    // groups that are apart, but by less than anyone asked to know, are nobody's concern
    let apart = spread.range > spread.precision;
    let modes = spread
        .modes
        .filter(|&modes| modes > 1 && apart)
        .map(|modes| {
            format!(
                "The {} fall into {modes} separate groups: one figure does not describe them.",
                count(spread.n, spread.thing)
            )
        });
    [width, modes]
        .into_iter()
        .flatten()
        .map(|why| Footnote::new(FootnoteKind::Unrepeatable, why))
}

/// That an interval is wider than was asked, also where both have the same digits.
fn too_wide(half: f64, precision: f64, after: &str) -> String {
    let (is, asked) = (percent(half), percent(precision));
    match is == asked {
        true => {
            format!("The interval is a little wider after {after} than the ±{asked} asked for.")
        }
        false => format!("The interval is ±{is} wide after {after}; ±{asked} was asked for."),
    }
}

/// The fewest values of which the signed-rank test can reach a confidence: its smallest level is 2 / 2^n.
pub(super) fn fewest(confidence: f64) -> usize {
    // a hair less, since 1 - 0.95 is a hair more than a twentieth
    (1.0 - (1.0 - confidence).log2() - 1e-9).ceil() as usize
}

/// The launches that a figure is made of: those that had a core to themselves when these are enough for an interval, with a remark on the
/// others, or else all of them, which [`disturbed`] then marks.
pub(super) fn uncrowded<'a, 'b>(
    launches: &[&'a Reading<'b>],
    confidence: f64,
) -> (Vec<&'a Reading<'b>>, Option<Footnote>) {
    without(launches, |launch| launch.crowded, confidence)
}

/// The same of a part of the launches, of which nothing else says that it was disturbed: with the mark.
pub(super) fn alone<'a, 'b>(
    launches: &[&'a Reading<'b>],
    crowded: impl Fn(&Reading) -> bool,
    confidence: f64,
) -> (Vec<&'a Reading<'b>>, Option<Footnote>) {
    let (alone, left_out) = without(launches, &crowded, confidence);
    let among = alone.iter().filter(|launch| crowded(launch)).count();
    let mark = beside_a_crowd(among, alone.len(), "launch");
    (alone, left_out.or(mark))
}

fn without<'a, 'b>(
    launches: &[&'a Reading<'b>],
    crowded: impl Fn(&Reading) -> bool,
    confidence: f64,
) -> (Vec<&'a Reading<'b>>, Option<Footnote>) {
    let alone: Vec<&Reading> = launches.iter().copied().filter(|l| !crowded(l)).collect();
    let crowded = launches.len() - alone.len();
    match alone.len() < fewest(confidence) {
        true => (launches.to_vec(), None),
        false => (alone, left_out(crowded, launches.len(), "launch")),
    }
}

/// Whether too much of what a figure is made of had a busy thread beside it.
pub(super) fn beside_a_crowd(crowded: usize, all: usize, thing: &str) -> Option<Footnote> {
    (crowded as f64 > limits::DISTURBED_SHARE * all as f64).then(|| {
        let why = format!("Disturbed in {}: {CROWDED}.", of(crowded, all, thing));
        Footnote::new(FootnoteKind::Disturbed, why)
    })
}

/// A remark on what is not in a figure since another thread of the core was busy beside it.
pub(super) fn left_out(crowded: usize, all: usize, thing: &str) -> Option<Footnote> {
    (crowded > 0).then(|| {
        let beside = of(crowded, all, thing);
        let why = format!(
            "In {beside} {CROWDED}: what was measured then is kept, and not in this figure."
        );
        Footnote::new(FootnoteKind::Note, why)
    })
}

/// A remark on a time that the frequency of the core had a part in, where it moved.
pub(super) fn drifted(drift: Scatter) -> Option<Footnote> {
    (drift.ln_sd >= limits::DRIFT_SHARE).then(|| {
        let why = format!(
            "The frequency of the core moved by {} between parts of this run: the intervals of times have that in them, core cycles are free of it.",
            percent(drift.ln_sd)
        );
        Footnote::new(FootnoteKind::Note, why)
    })
}

/// Whether launches ended well and yet no time passed in them.
pub(super) fn untimed(timed: usize, launches: &[&Reading]) -> Option<Footnote> {
    let untimed = launches.len() - timed;
    debug_assert!(
        launches
            .iter()
            .all(|l| l.launch.outcome == Outcome::Measured)
    );
    (untimed > 0).then(|| {
        let why = format!(
            "No time passed in what was timed in {}, though they ended well.",
            of(untimed, launches.len(), "launch")
        );
        Footnote::new(FootnoteKind::Trivialised, why)
    })
}
