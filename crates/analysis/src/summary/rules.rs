//! The rules by which a result from launches gets its notes: a function each, in lists whose order is visible.

use super::growth;
use super::reading::Reading;
use super::{interference, limits, load, network_ends, paging};
use gritstone_model::{
    Author, Benchmark, Count, Estimate, Finding, Flag, Interference, Note, Outcome, Param, Repeat,
};
use std::collections::BTreeSet;

/// What a rule looks at: an entry, its launches, and what came of them.
pub(super) struct Evidence<'a> {
    pub benchmark: &'a Benchmark,
    /// The launches that were measured.
    pub launches: &'a [&'a Reading<'a>],
    /// How many of these gave a time.
    pub timed: usize,
    /// The estimate, ns an operation.
    pub ns: Option<f64>,
    /// How far the values agree; none without values.
    pub spread: Option<Spread>,
}

/// What is found, if anything.
type Rule = fn(&Evidence) -> Option<Finding>;

/// Whether the work was done, the launches agree, and nothing interfered: of one copy and of several.
const WORK: [Rule; 11] = [
    |e| untimed(e.timed, e.launches),
    |e| checks(e.launches, e.benchmark.claims.check),
    linear,
    |e| below_minimum(e.benchmark, e.ns?),
    switches,
    faults,
    major_faults,
    page_outs,
    |e| width(e.spread.as_ref()?),
    |e| modes(e.spread.as_ref()?),
    |e| interference::interfered(e.launches),
];

/// What else there is to say of one copy.
const BESIDE: [Rule; 5] = [
    |e| load::did(e.benchmark, e.launches),
    |e| load::idle(e.benchmark, e.launches),
    |e| paging::paged(e.benchmark, e.launches),
    |e| network_ends::worked(e.benchmark, e.launches),
    |e| left_out(e.launches),
];

/// What the work rules find.
pub(super) fn work<'a>(evidence: &'a Evidence) -> impl Iterator<Item = Note> + 'a {
    let found = WORK.iter().filter_map(|rule| rule(evidence));
    found.map(Note::new)
}

/// What all rules find, and what the launches themselves said.
pub(super) fn all<'a>(evidence: &'a Evidence) -> impl Iterator<Item = Note> + 'a {
    let beside = BESIDE.iter().filter_map(|rule| rule(evidence));
    let remarks = stated(evidence.launches, None, |param| match param {
        Param::Remark(text) => Some(text),
        _ => None,
    });
    let not_comparable = Some(Flag::NotComparable);
    let stand_ins = stated(evidence.launches, not_comparable, |param| match param {
        Param::StandIn(text) => Some(text),
        _ => None,
    });
    let said = remarks.chain(stand_ins).chain(beside).map(Note::new);
    work(evidence).chain(said)
}

/// What the entry itself says that every reader must know.
pub(super) fn declared(benchmark: &Benchmark) -> impl Iterator<Item = Note> {
    let said = [
        (Some(Flag::NotComparable), &benchmark.not_comparable),
        (None, &benchmark.remark),
    ];
    said.into_iter().filter_map(|(flag, text)| {
        Some(Note::new(Finding::Stated {
            by: Author::Catalog,
            flag,
            text: text.clone()?,
        }))
    })
}

/// Distinct statements of the launches.
fn stated<'a>(
    launches: &'a [&Reading],
    flag: Option<Flag>,
    text: fn(&Param) -> Option<&String>,
) -> impl Iterator<Item = Finding> + 'a {
    let params = launches.iter().flat_map(|launch| &launch.params);
    let texts: BTreeSet<&String> = params.filter_map(|param| text(param)).collect();
    texts.into_iter().map(move |text| Finding::Stated {
        by: Author::Workload,
        flag,
        text: text.to_owned(),
    })
}

/// Whether launches ended well and yet no time passed in them.
pub(super) fn untimed(timed: usize, launches: &[&Reading]) -> Option<Finding> {
    let untimed = launches.len() - timed;
    debug_assert!(
        launches
            .iter()
            .all(|l| l.launch.outcome == Outcome::Measured)
    );
    let count = Count::launches(untimed, launches.len());
    (untimed > 0).then_some(Finding::Untimed { count })
}

pub(crate) fn checks(launches: &[&Reading], claimed: bool) -> Option<Finding> {
    let checks: Vec<_> = launches.iter().flat_map(|launch| &launch.checks).collect();
    let wrong: Vec<_> = checks.iter().filter(|c| c.got != c.expected).collect();
    if let Some(first) = wrong.first() {
        return Some(Finding::WrongCheck {
            wrong: wrong.len(),
            regions: checks.len(),
            n: first.n,
            got: first.got,
            expected: first.expected,
        });
    }
    let silent = launches.iter().filter(|l| l.checks.is_empty()).count();
    let count = Count::launches(silent, launches.len());
    (claimed && silent > 0).then_some(Finding::NoCheck { count })
}

fn linear(evidence: &Evidence) -> Option<Finding> {
    let Evidence {
        benchmark,
        launches,
        ..
    } = evidence;
    (benchmark.claims.linear && !launches.is_empty())
        .then(|| growth::linear(launches))
        .flatten()
}

/// Whether an operation was done in less time than any machine needs.
pub(crate) fn below_minimum(benchmark: &Benchmark, ns: f64) -> Option<Finding> {
    let minimum = benchmark.claims.min_ns_per_op?;
    (ns < minimum).then_some(Finding::BelowMinimum { ns, minimum })
}

/// Sums over all samples: of something, of operations, and how many samples.
fn sums(evidence: &Evidence, of: fn(&gritstone_model::Usage) -> f64) -> Option<(f64, f64, f64)> {
    let samples = || evidence.launches.iter().flat_map(|launch| &launch.samples);
    let sum = samples().map(|sample| of(&sample.usage)).sum();
    let n = samples().map(|sample| sample.n as f64).sum();
    (!evidence.launches.is_empty()).then(|| (sum, n, samples().count() as f64))
}

/// By the sample that switched most: a side that is not running when it would go to sleep finds its answer there already, and saves the
/// switch; so a busy machine leaves switches out of some samples, and work that is not done out of all. What is lacking over all
/// samples is interference, since the estimate is of fewer switches than it says.
fn switches(evidence: &Evidence) -> Option<Finding> {
    let claimed = evidence.benchmark.claims.switches_per_op?;
    let samples = evidence.launches.iter().flat_map(|l| &l.samples);
    let most = samples.map(|s| s.usage.vcsw as f64 / s.n as f64);
    let (sum, n, _) = sums(evidence, |usage| usage.vcsw as f64)?;
    let per_op = sum / n;
    few_switches(most.reduce(f64::max)?, claimed).or_else(|| {
        few_switches(per_op, claimed).map(|_| Finding::SavedSwitches { per_op, claimed })
    })
}

pub(crate) fn few_switches(per_op: f64, claimed: f64) -> Option<Finding> {
    let share = limits::SWITCHES_SHARE;
    (per_op < claimed * share).then_some(Finding::FewSwitches {
        per_op,
        claimed,
        share,
    })
}

fn faults(evidence: &Evidence) -> Option<Finding> {
    let (sum, n, samples) = sums(evidence, |usage| usage.minflt as f64 + usage.majflt as f64)?;
    many_faults(sum, n, samples, evidence.benchmark.claims.faults_per_op?)
}

pub(crate) fn many_faults(faults: f64, n: f64, samples: f64, claimed: f64) -> Option<Finding> {
    let allowed = claimed * n * (1.0 + limits::FAULTS_SHARE) + limits::FAULTS_PER_SAMPLE * samples;
    (faults > allowed).then_some(Finding::ManyFaults {
        per_op: faults / n,
        claimed,
    })
}

fn major_faults(evidence: &Evidence) -> Option<Finding> {
    let (sum, n, _) = sums(evidence, |usage| usage.majflt as f64)?;
    few_major_faults(sum / n, evidence.benchmark.claims.major_faults_per_op?)
}

pub(crate) fn few_major_faults(per_op: f64, claimed: f64) -> Option<Finding> {
    (per_op < claimed).then_some(Finding::FewMajorFaults { per_op, claimed })
}

fn page_outs(evidence: &Evidence) -> Option<Finding> {
    let claimed = evidence.benchmark.claims.page_outs_per_op?;
    let per_op = paging::swapped(evidence.launches).map_or(0.0, |[_, outs]| outs);
    few_page_outs(per_op, claimed)
}

pub(crate) fn few_page_outs(per_op: f64, claimed: f64) -> Option<Finding> {
    (per_op < claimed).then_some(Finding::FewPageOuts { per_op, claimed })
}

/// How far the values of an estimate agree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    pub n: usize,
    pub what: Repeat,
    /// On a scale where 0 is nothing.
    pub estimate: Option<Estimate>,
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

/// Whether an estimate would come out the same again.
pub(super) fn repeatable(spread: &Spread) -> impl Iterator<Item = Note> {
    let found = [width(spread), modes(spread)];
    found.into_iter().flatten().map(Note::new)
}

/// Whether the interval is as narrow as was asked for.
fn width(spread: &Spread) -> Option<Finding> {
    let &Spread { n, what, .. } = spread;
    let interval = spread.estimate.and_then(|estimate| estimate.interval);
    match interval {
        None => Some(Finding::NoInterval {
            confidence: spread.confidence,
            needed: fewest(spread.confidence),
            n,
            what,
        }),
        Some([low, _]) if low <= 0.0 => None,
        Some(_) => {
            let (half, asked) = (spread.estimate?.half_width()?, spread.precision);
            let wide = Finding::WideInterval {
                half,
                asked,
                n,
                what,
            };
            (asked > 0.0 && half > asked).then_some(wide)
        }
    }
}

/// Whether the values fall into groups that are further apart than anyone asked to know.
fn modes(spread: &Spread) -> Option<Finding> {
    let &Spread { n, what, .. } = spread;
    let modes = spread.modes.filter(|&modes| modes > 1)?;
    let several = Finding::SeveralModes { modes, n, what };
    (spread.range > spread.precision).then_some(several)
}

/// The fewest values of which the signed-rank test can reach a confidence: its smallest level is 2 / 2^n.
pub(super) fn fewest(confidence: f64) -> usize {
    // a hair less, since 1 - 0.95 is a hair more than a twentieth
    (1.0 - (1.0 - confidence).log2() - 1e-9).ceil() as usize
}

/// Whether the SMT sibling was busy beside too much of what an estimate is made of.
pub(super) fn smt_contention(
    launches: &[&Reading],
    crowded: impl Fn(&Reading) -> bool,
) -> Option<Finding> {
    let part = launches.iter().filter(|launch| crowded(launch)).count();
    contention(Count::launches(part, launches.len()))
}

/// The same of a count.
pub(super) fn contention(count: Count) -> Option<Finding> {
    let many = count.part as f64 > limits::DISTURBED_SHARE * count.of as f64;
    many.then(|| Finding::Interfered {
        count,
        causes: vec![Interference::Smt],
    })
}

/// What is not in an estimate since an SMT sibling was busy.
fn left_out(launches: &[&Reading]) -> Option<Finding> {
    let of = launches.iter().map(|launch| launch.samples.len()).sum();
    let alone: usize = launches.iter().map(|launch| launch.alone.len()).sum();
    let count = Count::samples(of - alone, of);
    (count.part > 0).then_some(Finding::LeftOut { count })
}
