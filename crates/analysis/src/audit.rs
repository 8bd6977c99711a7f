//! Audit: the work checks of a kernel entry, tested with a few launches of one build. Stricter than in a run, since
//! two n separate start-up from work, and syscalls are counted.

use crate::summary::growth::{Growth, min_time, surely_not_linear};
use crate::summary::limits;
use crate::summary::paging;
use crate::summary::reading::{Reading, median};
use crate::summary::rules;
use crate::summary::status;
use gritstone_model::{
    AuditTest, Author, Benchmark, Claim, ClaimOutcome, Count, Event, Finding, Launch, Outcome,
    Usage,
};

#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    pub build: &'a str,
    /// Tests of switches and faults need batches of another n than the samples.
    pub launches: &'a [Launch],
    /// System calls per operation, or why they are unknown.
    pub entries: Result<f64, &'a str>,
    /// Resource use of another build of the program: the reference where the entry claims nothing.
    pub entries_elsewhere: Option<f64>,
}

/// Tests every claim of `benchmark`; none without launches.
pub fn tests(benchmark: &Benchmark, evidence: &Evidence<'_>) -> Vec<AuditTest> {
    let readings: Vec<Reading> = evidence.launches.iter().map(Reading::new).collect();
    let mut found = Found { build: evidence.build, tests: Vec::new() };
    let bad = readings.iter().find(|r| !r.measured() && !r.refutes_its_work());
    if let Some(bad) = bad {
        let outcome = match &bad.launch.outcome {
            Outcome::Skipped(_) => ClaimOutcome::Untested,
            _ => ClaimOutcome::Fails,
        };
        let failed = readings.iter().filter(|r| !r.measured()).count();
        let why = Finding::Failed {
            outcome: status(&bad.launch.outcome),
            reason: bad.launch.outcome.why().to_owned(),
            count: Count::launches(failed, readings.len()),
            refuted: false,
        };
        found.add(Claim::Runs, None, None, outcome, Some(why));
        return found.tests;
    }
    let all: Vec<&Reading> = readings.iter().collect();
    if !all.is_empty() {
        found.judged(Claim::Runs, None, None, true, None);
        work(&mut found, benchmark, &all);
        resources(&mut found, benchmark, &all);
    }
    entries(&mut found, benchmark, evidence);
    found.tests
}

/// Tests check value, growth and lower bound.
fn work(found: &mut Found<'_>, benchmark: &Benchmark, all: &[&Reading]) {
    let claims = &benchmark.claims;
    let idle = all.iter().find(|r| !r.measured());
    let wrong = match idle {
        // it ended before its samples, so a missing check value proves nothing
        Some(_) => rules::checks(all, false),
        None => rules::checks(all, claims.check),
    };
    match (&wrong, idle) {
        (None, Some(_)) => found.add(
            Claim::Check,
            None,
            None,
            ClaimOutcome::Untested,
            Some(Finding::EndedEarly {}),
        ),
        _ => found.judged(Claim::Check, None, None, claims.check, wrong),
    }
    // minimum over launches: contention only adds time, and more to long regions than to short ones. The minimum of a
    // short region may be luck: where launches one by one are linear, they decide
    let warm = all.iter().flat_map(|r| r.warm());
    let each = all.iter().filter_map(|r| Growth::new(r.warm(), min_time));
    let each: Vec<f64> = each.map(|growth| growth.exponent).collect();
    let growth = Growth::new(warm, min_time).map(|growth| match growth.finding() {
        Some(_) => growth.with_median_exponent(&each),
        None => growth,
    });
    // launches with one n each cannot show growth
    let sure = each.is_empty() || surely_not_linear(&each);
    let fault = |growth: Growth| growth.finding().filter(|_| sure);
    let flat = match idle.filter(|r| r.checks.iter().all(|check| check.got == check.expected)) {
        Some(idle) => Some(reported(reason(idle))),
        None if !claims.linear => None,
        None => growth.map_or_else(|| Some(Growth::unverified(all.len())), fault),
    };
    let straight = claims.linear.then_some(1.0);
    let exponent = growth.map(|growth| growth.exponent);
    found.judged(Claim::Linear, straight, exponent, claims.linear, flat);
    let typical = |r: &&Reading| r.median_latency_ns().or_else(|| r.ns_per_op(false));
    if let Some(ns) = median(all.iter().filter_map(typical)) {
        let min = claims.min_ns_per_op;
        let fast = rules::below_minimum(benchmark, ns);
        found.judged(Claim::MinNsPerOp, min, Some(ns), min.is_some(), fast);
    }
}

fn resources(found: &mut Found<'_>, benchmark: &Benchmark, all: &[&Reading]) {
    let claims = &benchmark.claims;
    // the maximum over launches: a busy machine removes switches from some
    if let Some(switches) = per_op(all, |usage| usage.vcsw).reduce(f64::max) {
        let min = claims.switches_per_op;
        let few = min.and_then(|min| rules::few_switches(switches, min));
        let claimed = min.is_some();
        found.judged(Claim::SwitchesPerOp, min, Some(switches), claimed, few);
    }
    if let Some(faults) = median(per_op(all, |usage| usage.minflt + usage.majflt)) {
        let max = claims.faults_per_op;
        let n = median(all.iter().flat_map(|r| &r.samples).map(|s| s.n as f64)).unwrap_or(1.0);
        let many = max.and_then(|max| rules::many_faults(faults * n, n, 1.0, max));
        found.judged(Claim::FaultsPerOp, max, Some(faults), max.is_some(), many);
    }
    if let (Some(min), Some(major)) =
        (claims.major_faults_per_op, median(per_op(all, |usage| usage.majflt)))
    {
        let few = rules::few_major_faults(major, min);
        found.judged(Claim::MajorFaultsPerOp, Some(min), Some(major), true, few);
    }
    if let Some(min) = claims.page_outs_per_op {
        let outs = paging::swapped(all).map_or(0.0, |[_, outs]| outs);
        let few = rules::few_page_outs(outs, min);
        found.judged(Claim::PageOutsPerOp, Some(min), Some(outs), true, few);
    }
}

fn entries(found: &mut Found<'_>, benchmark: &Benchmark, evidence: &Evidence<'_>) {
    let claimed = benchmark.claims.syscalls_per_op;
    let measured = match evidence.entries {
        Ok(measured) => measured,
        Err(why) => {
            let why = Some(reported(why));
            return found.add(Claim::SyscallsPerOp, claimed, None, ClaimOutcome::Untested, why);
        }
    };
    let constant = !benchmark.claims.syscalls_vary;
    let expected = claimed.or(evidence.entries_elsewhere.filter(|_| constant));
    let off = expected.filter(|expected| (measured - expected).abs() > limits::ENTRIES_PER_OP);
    let why = off.map(|expected| Finding::SystemCalls {
        per_op: measured,
        expected,
        claimed: claimed.is_some(),
    });
    found.judged(Claim::SyscallsPerOp, claimed, Some(measured), expected.is_some(), why);
}

/// Resource use per operation, by launch: the slope between samples and batches, which removes the cost per region; with a single n, the
/// total. None without batches.
fn per_op<'a>(
    all: &'a [&Reading],
    amount: impl Fn(&Usage) -> u64 + 'a,
) -> impl Iterator<Item = f64> + 'a {
    all.iter().filter_map(move |launch| {
        let sample = launch.samples.first()?;
        let batch = launch.batches.iter().find(|b| !b.walls.is_empty())?;
        let n = sample.n as f64;
        let alike = launch.samples.iter().filter(|s| s.n == sample.n);
        let (sum, count) =
            alike.fold((0.0, 0.0), |(sum, count), s| (sum + amount(&s.usage) as f64, count + 1.0));
        let large = sum / count;
        let small = amount(&batch.usage) as f64 / batch.walls.len() as f64;
        Some(match sample.n == batch.n {
            true => large / n,
            false => (large - small) / (n - batch.n as f64),
        })
    })
}

/// The tests of a build so far.
struct Found<'a> {
    build: &'a str,
    tests: Vec<AuditTest>,
}

impl Found<'_> {
    fn add(
        &mut self,
        claim: Claim,
        claimed: Option<f64>,
        measured: Option<f64>,
        outcome: ClaimOutcome,
        why: Option<Finding>,
    ) {
        self.tests.push(AuditTest {
            build: self.build.to_owned(),
            claim,
            claimed,
            measured,
            outcome,
            why: why.map(Into::into),
        });
    }

    /// A tested claim: it fails if there is a reason.
    fn judged(
        &mut self,
        claim: Claim,
        claimed: Option<f64>,
        measured: Option<f64>,
        is_claimed: bool,
        fails: Option<Finding>,
    ) {
        let outcome = match (&fails, is_claimed) {
            (Some(_), _) => ClaimOutcome::Fails,
            (None, true) => ClaimOutcome::Holds,
            (None, false) => ClaimOutcome::NotClaimed,
        };
        self.add(claim, claimed, measured, outcome, fails);
    }
}

fn reason<'a>(launch: &'a Reading<'_>) -> &'a str {
    match launch.launch.events.last() {
        Some(Event::Fail { why, .. }) => why,
        _ => launch.launch.outcome.why(),
    }
}

fn reported(text: &str) -> Finding {
    Finding::Stated { by: Author::Workload, flag: None, text: text.to_owned() }
}
