//! Rules that derive notes from launches: functions in ordered lists.

use super::growth;
use super::reading::{Reading, SampleUse};
use super::{interference, limits, load, network_ends, paging};
use gritstone_model::{
    Author, Benchmark, Count, Estimate, Finding, Flag, Interference, Note, Outcome, Param, Repeat,
};
use std::collections::BTreeSet;

pub(super) struct Evidence<'a> {
    pub benchmark: &'a Benchmark,
    /// The launches that were measured.
    pub launches: &'a [&'a Reading<'a>],
    /// Launches with a time.
    pub timed: usize,
    /// The estimate, ns per operation.
    pub ns: Option<f64>,
    /// None without values.
    pub spread: Option<Spread>,
}

type Rule = fn(&Evidence) -> Option<Finding>;

/// Work, repeatability and interference: of one copy and of several.
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

/// Further rules for one copy.
const BESIDE: [Rule; 6] = [
    |e| load::did(e.benchmark, e.launches),
    |e| load::idle(e.benchmark, e.launches),
    |e| paging::paged(e.benchmark, e.launches),
    |e| network_ends::worked(e.benchmark, e.launches),
    |e| left_out(e.launches),
    |e| failures_ignored(e.launches),
];

pub(super) fn work<'a>(evidence: &'a Evidence) -> impl Iterator<Item = Note> + 'a {
    let found = WORK.iter().filter_map(|rule| rule(evidence));
    found.map(Note::new)
}

/// Findings of all rules, and remarks of launches.
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
    let stated = remarks.chain(stand_ins).chain(beside).map(Note::new);
    work(evidence).chain(stated)
}

/// Caveats of the catalog entry.
pub(super) fn declared(benchmark: &Benchmark) -> impl Iterator<Item = Note> {
    let texts = [(Some(Flag::NotComparable), &benchmark.not_comparable), (None, &benchmark.remark)];
    texts.into_iter().filter_map(|(flag, text)| {
        Some(Note::new(Finding::Stated { by: Author::Catalog, flag, text: text.clone()? }))
    })
}

/// Distinct remarks of the launches.
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

/// Launches without elapsed time.
pub(super) fn untimed(timed: usize, launches: &[&Reading]) -> Option<Finding> {
    let untimed = launches.len() - timed;
    debug_assert!(launches.iter().all(|l| l.launch.outcome == Outcome::Measured));
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
    let Evidence { benchmark, launches, .. } = evidence;
    (benchmark.claims.linear && !launches.is_empty()).then(|| growth::linear(launches)).flatten()
}

pub(crate) fn below_minimum(benchmark: &Benchmark, ns: f64) -> Option<Finding> {
    let minimum = benchmark.claims.min_ns_per_op?;
    (ns < minimum).then_some(Finding::BelowMinimum { ns, minimum })
}

/// Sums over all samples: of a usage, of operations, and the number of samples.
fn sums(
    evidence: &Evidence,
    amount: fn(&gritstone_model::Usage) -> f64,
) -> Option<(f64, f64, f64)> {
    let samples = || evidence.launches.iter().flat_map(|launch| &launch.samples);
    let sum = samples().map(|sample| amount(&sample.usage)).sum();
    let n = samples().map(|sample| sample.n as f64).sum();
    (!evidence.launches.is_empty()).then(|| (sum, n, samples().count() as f64))
}

/// By the sample with most switches: a side that finds its answer before it sleeps saves the switch, so that a busy machine removes
/// switches from some samples, but missing work from all. Fewer over all samples is interference: the estimate includes fewer switches than
/// claimed.
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
    (per_op < claimed * share).then_some(Finding::FewSwitches { per_op, claimed, share })
}

fn faults(evidence: &Evidence) -> Option<Finding> {
    let (sum, n, samples) = sums(evidence, |usage| usage.minflt as f64 + usage.majflt as f64)?;
    many_faults(sum, n, samples, evidence.benchmark.claims.faults_per_op?)
}

pub(crate) fn many_faults(faults: f64, n: f64, samples: f64, claimed: f64) -> Option<Finding> {
    let allowed = claimed * n * (1.0 + limits::FAULTS_SHARE) + limits::FAULTS_PER_SAMPLE * samples;
    (faults > allowed).then_some(Finding::ManyFaults { per_op: faults / n, claimed })
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
    if evidence.launches.is_empty() {
        return None;
    }
    let per_op = paging::swapped(evidence.launches).map_or(0.0, |[_, outs]| outs);
    few_page_outs(per_op, claimed)
}

pub(crate) fn few_page_outs(per_op: f64, claimed: f64) -> Option<Finding> {
    (per_op < claimed).then_some(Finding::FewPageOuts { per_op, claimed })
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    pub n: usize,
    pub what: Repeat,
    /// On a ratio scale, where 0 means nothing.
    pub estimate: Option<Estimate>,
    pub confidence: f64,
    /// Target half-width, as a share; 0 without a target.
    pub precision: f64,
    /// Number of modes.
    pub modes: Option<usize>,
    /// Range relative to the smallest value.
    pub range: f64,
}

/// Range relative to the smallest value; infinite if that is not positive.
pub(super) fn range(values: &[f64]) -> f64 {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low > 0.0 { high / low - 1.0 } else { f64::INFINITY }
}

pub(super) fn repeatable(spread: &Spread) -> impl Iterator<Item = Note> {
    let found = [width(spread), modes(spread)];
    found.into_iter().flatten().map(Note::new)
}

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
            let wide = Finding::WideInterval { half, asked, n, what };
            (asked > 0.0 && half > limits::NOISY * asked).then_some(wide)
        }
    }
}

/// Modes further apart than the target precision.
fn modes(spread: &Spread) -> Option<Finding> {
    let &Spread { n, what, .. } = spread;
    let modes = spread.modes.filter(|&modes| modes > 1)?;
    let several = Finding::SeveralModes { modes, n, what };
    (spread.range > spread.precision).then_some(several)
}

/// The fewest values for which the signed-rank test can reach a confidence: its smallest level is 2 / 2^n.
pub(super) fn fewest(confidence: f64) -> usize {
    // minus a rounding error, since 1 - 0.95 is slightly more than a twentieth
    (1.0 - (1.0 - confidence).log2() - 1e-9).ceil() as usize
}

/// SMT contention in too many launches.
pub(super) fn smt_contention(
    launches: &[&Reading],
    contended: impl Fn(&Reading) -> bool,
) -> Option<Finding> {
    let part = launches.iter().filter(|launch| contended(launch)).count();
    contention(Count::launches(part, launches.len()))
}

pub(super) fn contention(count: Count) -> Option<Finding> {
    let many = count.part as f64 > limits::DISTURBED_SHARE * count.of as f64;
    many.then(|| Finding::Interfered { count, causes: vec![Interference::Smt] })
}

/// Executions that failed and count.
fn failures_ignored(launches: &[&Reading]) -> Option<Finding> {
    let status = |launch: &&&Reading| {
        launch.params.iter().find_map(|param| match param {
            Param::Status(status) if *status != 0 => Some(*status),
            _ => None,
        })
    };
    let failed: Vec<i32> = launches.iter().filter_map(|launch| status(&launch)).collect();
    let count = Count::launches(failed.len(), launches.len());
    let statuses: BTreeSet<i32> = failed.into_iter().collect();
    (count.part > 0)
        .then(|| Finding::FailuresIgnored { count, statuses: statuses.into_iter().collect() })
}

/// Samples that SMT contention leaves out of the value.
fn left_out(launches: &[&Reading]) -> Option<Finding> {
    let divisible = launches.iter().filter(|launch| launch.sample_use == SampleUse::Undisturbed);
    let samples = launches.iter().map(|launch| launch.samples.len()).sum();
    let weights = divisible.flat_map(|launch| &launch.weights);
    let count = Count::samples(weights.filter(|weight| **weight < 0.5).count(), samples);
    (count.part > 0).then_some(Finding::LeftOut { count })
}
