//! The rules by which a figure gets its footnotes: what the entry declares, what it claims about its work, whether the
//! launches agree, and what else went on. Each sentence has the number that broke the rule.
//!
//! Must not know: units, how a figure was computed, published times.

use super::limits;
use super::reading::{Reading, median};
use super::words::{count, number, of, percent};
use gritstone_model::{Benchmark, Footnote, FootnoteKind, Outcome, Usage};
use std::collections::BTreeMap;

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
    let (mut usage, mut n, mut samples) = (Usage::default(), 0, 0);
    for sample in launches.iter().flat_map(|launch| &launch.samples) {
        usage.vcsw += sample.usage.vcsw;
        usage.minflt += sample.usage.minflt;
        usage.majflt += sample.usage.majflt;
        n += sample.n;
        samples += 1;
    }
    [
        checks(launches, claims.check),
        claims.linear.then(|| linear(launches)).flatten(),
        ns.and_then(|ns| faster_than_physics(benchmark, ns)),
        claims
            .switches_per_op
            .and_then(|claimed| switches(usage.vcsw as f64 / n as f64, claimed)),
        claims
            .faults_per_op
            .and_then(|claimed| faults(&usage, n, samples, claimed)),
    ]
    .into_iter()
    .flatten()
    .map(|why| Footnote::new(FootnoteKind::Trivialised, why))
    .collect()
}

fn checks(launches: &[&Reading], claimed: bool) -> Option<String> {
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

/// Time must grow in proportion to n, between the two largest n that were probed often enough.
fn linear(launches: &[&Reading]) -> Option<String> {
    let growths: Vec<Growth> = launches.iter().filter_map(|l| growth(&l.warm)).collect();
    let Some(example) = growths.first() else {
        return Some(format!(
            "Nothing shows that time grows with n: two different n were not timed twice in any of {}.",
            count(launches.len(), "launch")
        ));
    };
    if growths.len() < limits::LINEAR_LAUNCHES {
        return None;
    }
    let exponent = median(growths.iter().map(|growth| growth.exponent))?;
    (!limits::LINEAR_EXPONENT.contains(&exponent)).then(|| {
        format!(
            "Time does not grow in proportion to n: between n = {} and n = {} it grows as n to the power of {} (must be {} to {}).",
            example.small,
            example.large,
            number(exponent),
            limits::LINEAR_EXPONENT.start(),
            limits::LINEAR_EXPONENT.end(),
        )
    })
}

struct Growth {
    small: u64,
    large: u64,
    exponent: f64,
}

/// How the time of one launch grows: ln(ratio of median times) / ln(ratio of n).
fn growth(warm: &[(u64, u64)]) -> Option<Growth> {
    let mut by_n: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for &(n, wall) in warm.iter().filter(|(n, _)| *n > 0) {
        by_n.entry(n).or_default().push(wall as f64);
    }
    let mut probed = by_n
        .into_iter()
        .rev()
        .filter(|(_, walls)| walls.len() >= limits::LINEAR_REGIONS);
    let (large, long) = probed.next()?;
    let (small, short) = probed.next()?;
    let exponent = (median(long)? / median(short)?).ln() / (large as f64 / small as f64).ln();
    Some(Growth {
        small,
        large,
        // no time at either n is no growth
        exponent: if exponent.is_nan() { 0.0 } else { exponent },
    })
}

/// Whether an operation was done in less time than any machine needs.
pub(super) fn faster_than_physics(benchmark: &Benchmark, ns: f64) -> Option<String> {
    let least = benchmark.claims.min_ns_per_op?;
    (ns < least).then(|| {
        format!(
            "{} ns an operation is faster than physics: no machine does it in less than {} ns.",
            number(ns),
            number(least)
        )
    })
}

fn switches(per_op: f64, claimed: f64) -> Option<String> {
    (per_op < claimed * limits::SWITCHES_SHARE).then(|| {
        format!(
            "The process gave up the CPU {} times an operation, less than {} of the {} claimed.",
            number(per_op),
            percent(limits::SWITCHES_SHARE),
            number(claimed)
        )
    })
}

fn faults(usage: &Usage, n: u64, samples: u64, claimed: f64) -> Option<String> {
    let faults = (usage.minflt + usage.majflt) as f64;
    let allowed = claimed * n as f64 * (1.0 + limits::FAULTS_SHARE)
        + limits::FAULTS_PER_SAMPLE * samples as f64;
    (faults > allowed).then(|| {
        format!(
            "{} page faults an operation, where at most {} are claimed.",
            number(faults / n as f64),
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
            (spread.precision > 0.0 && half > spread.precision).then(|| {
                format!(
                    "The interval is ±{} wide after {}; ±{} was asked for.",
                    percent(half),
                    count(spread.n, spread.thing),
                    percent(spread.precision)
                )
            })
        }
    };
    let modes = spread.modes.filter(|&modes| modes > 1).map(|modes| {
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

/// The fewest values of which the signed-rank test can reach a confidence: its smallest level is 2 / 2^n.
pub(super) fn fewest(confidence: f64) -> usize {
    // a hair less, since 1 - 0.95 is a hair more than a twentieth
    (1.0 - (1.0 - confidence).log2() - 1e-9).ceil() as usize
}

/// Whether others had the machine during too many of the launches.
pub(super) fn disturbed(launches: &[&Reading]) -> Option<Footnote> {
    let share = |part: Option<u64>, wall: u64| part.unwrap_or(0) as f64 / wall.max(1) as f64;
    let (mut disturbed, mut others, mut steal, mut throttled) = (0, 0.0_f64, 0.0_f64, 0.0_f64);
    for conditions in launches.iter().map(|reading| reading.launch.conditions) {
        let o = share(conditions.others, conditions.wall);
        let s = share(conditions.steal, conditions.wall);
        let t = share(conditions.throttled, conditions.wall);
        if o > limits::OTHERS_SHARE || s > limits::STEAL_SHARE || t > 0.0 {
            disturbed += 1;
        }
        (others, steal, throttled) = (others.max(o), steal.max(s), throttled.max(t));
    }
    if disturbed as f64 <= limits::DISTURBED_SHARE * launches.len() as f64 {
        return None;
    }
    let causes = [
        (
            others > limits::OTHERS_SHARE,
            "others used",
            others,
            "of a CPU",
        ),
        (
            steal > limits::STEAL_SHARE,
            "the hypervisor stole",
            steal,
            "of the time",
        ),
        (
            throttled > 0.0,
            "the quota held it back for",
            throttled,
            "of the time",
        ),
    ]
    .into_iter()
    .filter(|(broken, ..)| *broken)
    .map(|(_, who, share, of_what)| format!("{who} up to {} {of_what}", percent(share)))
    .collect::<Vec<_>>()
    .join(", ");
    let why = format!(
        "Disturbed in {}: {causes}.",
        of(disturbed, launches.len(), "launch")
    );
    Some(Footnote::new(FootnoteKind::Disturbed, why))
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
