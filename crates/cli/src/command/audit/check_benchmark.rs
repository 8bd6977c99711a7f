//! Tests the claims of one benchmark in every build.

use super::rebuild::{AuditedBuild, SHIPPED, STRICTEST};
use gritstone_analysis::audit::{Evidence, tests};
use gritstone_exec::syscalls::Entries;
use gritstone_exec::{ExecError, Executor, Subject as Counted, Variant};
use gritstone_model::{
    AuditBuild, AuditTest, Author, Benchmark, Calibration, Claim, ClaimOutcome, CommandWork, Event,
    Finding, KernelWork, Launch, Note, Outcome, Work,
};
use gritstone_runs::custom_catalog::programs_of;
use gritstone_session::instructions;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A claim fails only if it fails in this many launches: one may be disturbed.
const MAX_LAUNCHES: usize = 12;
/// Benchmarks with longer launches are tested at one level: their time is that of other programs, users or devices. All levels would take
/// `multiuser` half an hour.
const LONG: Duration = Duration::from_secs(1);
/// Counted system calls per execution: each costs two stops of the program, and the count is exact.
const ENOUGH_ENTRIES: f64 = 400.0;
/// Parameters of a short launch: a millisecond is thousands of clock ticks, and less than a time slice of other load.
const SHORT: [(&str, &str); 2] = [("target_ns", "1000000"), ("samples", "3")];
/// Parameters of a launch with single operations, which separate the cost of a region from its work.
const WITH_SINGLES: [(&str, &str); 2] = [("batch", "1"), ("batch_ns", "20000000")];

/// Audits a workload, as shipped and in all builds.
///
/// # Errors
/// When nothing can be launched, or the user interrupts.
pub fn kernel(
    executor: &mut Executor,
    shipped: &Variant,
    benchmark: &Benchmark,
    work: &KernelWork,
    cpus: &[u32],
    rebuilds: &[AuditedBuild],
) -> Result<Vec<AuditTest>, ExecError> {
    let mut subject =
        Subject { executor, benchmark, cpus, entries_elsewhere: None, longest: Duration::ZERO };
    let short = with(benchmark, &SHORT);
    let thorough = with(&short, &WITH_SINGLES);
    let (mut found, entries) = subject.build(SHIPPED, shipped, &thorough, work)?;
    subject.entries_elsewhere = entries;
    let runs = |test: &AuditTest| (test.claim, test.outcome) == (Claim::Runs, ClaimOutcome::Holds);
    if found.iter().any(runs) {
        found.push(subject.instructions(shipped, work)?);
    }
    let is_long = subject.longest > LONG;
    let is_tested =
        |build: &AuditBuild| build.why_not.is_none() && (!is_long || build.flags == STRICTEST);
    for (build, programs) in rebuilds.iter().filter(|(build, _)| is_tested(build)) {
        let built = programs_of(benchmark).filter_map(|name| {
            let built = programs.get(name)?.clone();
            Some(built.map(|built| (name.clone(), built)))
        });
        match built.collect::<Result<BTreeMap<_, _>, String>>() {
            Ok(builds) => {
                let variant = Variant { builds, ..shipped.clone() };
                let result = subject.build(&build.name, &variant, &short, work);
                let tests = result?.0.into_iter();
                found.extend(tests.map(|test| excused(test, benchmark, build)));
            }
            Err(why) => {
                let why = note(format!("It does not compile: {why}"));
                let fails = ClaimOutcome::Fails;
                found.push(test(&build.name, Claim::Runs, fails, Some(why)));
            }
        }
    }
    Ok(found)
}

/// Excuses failures of benchmarks that need IEEE arithmetic under -Ofast, which changes or drops sums.
fn excused(mut test: AuditTest, benchmark: &Benchmark, build: &AuditBuild) -> AuditTest {
    let of_arithmetic = matches!(test.claim, Claim::Check | Claim::Linear | Claim::MinNsPerOp);
    let fails = test.outcome == ClaimOutcome::Fails && of_arithmetic;
    if fails && benchmark.claims.ieee && !build.counts {
        test.outcome = ClaimOutcome::Expected;
        let needs_ieee = |why: Note| Finding::NeedsIeee {
            finding: Box::new(why.finding),
            flags: build.flags.clone(),
        };
        test.why = test.why.map(needs_ieee).map(Note::new);
    }
    test
}

/// The entry for short launches, without the reference workload.
fn with(benchmark: &Benchmark, params: &[(&str, &str)]) -> Benchmark {
    let mut benchmark = benchmark.clone();
    benchmark.published = None;
    if let Work::Kernel(work) = &mut benchmark.work {
        for (key, value) in params {
            // parameters of the entry win
            let param = work.params.entry((*key).to_owned());
            param.or_insert_with(|| (*value).to_owned());
        }
    }
    benchmark
}

struct Subject<'a> {
    executor: &'a mut Executor,
    benchmark: &'a Benchmark,
    cpus: &'a [u32],
    /// System calls per operation of the shipped program.
    entries_elsewhere: Option<f64>,
    longest: Duration,
}

impl Subject<'_> {
    /// All claims of a build, and its system calls per operation if known.
    fn build(
        &mut self,
        name: &str,
        variant: &Variant,
        as_launched: &Benchmark,
        work: &KernelWork,
    ) -> Result<(Vec<AuditTest>, Option<f64>), ExecError> {
        let mut launches = vec![self.launch(variant, as_launched)?];
        let max = launches[0].events.iter().filter_map(operations).max();
        let entries = self.entries_per_op(variant, work, max.unwrap_or(0))?;
        loop {
            let evidence = Evidence {
                build: name,
                launches: &launches,
                entries: entries.as_ref().copied().map_err(String::as_str),
                entries_elsewhere: self.entries_elsewhere,
            };
            let found = tests(self.benchmark, &evidence);
            let fails = |test: &AuditTest| {
                test.outcome == ClaimOutcome::Fails && test.claim != Claim::SyscallsPerOp
            };
            if launches.len() == MAX_LAUNCHES || !found.iter().any(fails) {
                return Ok((found, entries.ok()));
            }
            launches.push(self.launch(variant, as_launched)?);
        }
    }

    fn launch(&mut self, variant: &Variant, as_launched: &Benchmark) -> Result<Launch, ExecError> {
        let start = Instant::now();
        let launched =
            self.executor.launch(variant, as_launched, self.cpus, 1, Calibration::default())?;
        self.longest = self.longest.max(start.elapsed());
        let id = self.benchmark.id.clone();
        let launch = Launch::new(id, launched.outcome, launched.events);
        Ok(Launch { cpus: self.cpus.to_vec(), ..launch })
    }

    fn subject<'a>(&'a self, variant: &'a Variant, work: &'a KernelWork) -> Counted<'a> {
        Counted { variant, benchmark: self.benchmark, work, cpus: self.cpus }
    }

    /// Instructions per operation in user mode, for information.
    fn instructions(&self, variant: &Variant, work: &KernelWork) -> Result<AuditTest, ExecError> {
        let counted = instructions::count(self.executor, self.subject(variant, work))?;
        let (measured, why) = match counted {
            Ok(counted) => (Some(counted.per_op()), None),
            Err(why) => (None, Some(note(why.to_string()))),
        };
        let claim = Claim::InstructionsPerOp;
        Ok(AuditTest { measured, ..test(SHIPPED, claim, ClaimOutcome::NotClaimed, why) })
    }

    /// System calls per operation: the slope between two n, which excludes one-time calls; up to `max` operations. Inside, why it is unknown.
    fn entries_per_op(
        &self,
        variant: &Variant,
        work: &KernelWork,
        max: u64,
    ) -> Result<Result<f64, String>, ExecError> {
        if max < 2 {
            return Ok(Err(
                "kernel entries of one operation cannot be separated from start and end: n is always 1"
                    .to_owned(),
            ));
        }
        let rough = match self.slope(variant, work, 1, 2)? {
            Ok(rough) => rough,
            Err(why) => return Ok(Err(why)),
        };
        // without calls so far, a whole sample: one call in a million operations would show
        let n = (ENOUGH_ENTRIES / rough.max(ENOUGH_ENTRIES / max as f64)) as u64;
        match n.clamp(2, max) {
            2 => Ok(Ok(rough)),
            n => self.slope(variant, work, n / 2, n),
        }
    }

    fn slope(
        &self,
        variant: &Variant,
        work: &KernelWork,
        few: u64,
        many: u64,
    ) -> Result<Result<f64, String>, ExecError> {
        let mut calls = [0.0; 2];
        for (calls, n) in calls.iter_mut().zip([few, many]) {
            match self.executor.entries(self.subject(variant, work), n)? {
                Ok(Entries { program, .. }) => *calls = program as f64,
                Err(why) => return Ok(Err(why.to_string())),
            }
        }
        Ok(Ok((calls[1] - calls[0]) / (many - few) as f64))
    }
}

fn operations(event: &Event) -> Option<u64> {
    match event {
        Event::Warm { n, .. } => Some(*n),
        Event::Sample(sample) => Some(sample.n),
        _ => None,
    }
}

/// Audits a command or a scenario: its proof, then a timed launch, which checks its output and files.
///
/// # Errors
/// When nothing can be launched, or the user interrupts.
pub fn command(
    executor: &mut Executor,
    shipped: &Variant,
    benchmark: &Benchmark,
    work: &CommandWork,
    cpus: &[u32],
) -> Result<Vec<AuditTest>, ExecError> {
    let launched = executor.launch(shipped, benchmark, cpus, 1, Calibration::default())?;
    let outcome = &launched.outcome;
    let why = outcome.why().to_owned();
    let disproved = executor.proof(&benchmark.id, shipped.side) == Some(false);
    let (runs, proof) = match outcome {
        Outcome::Measured => (ClaimOutcome::Holds, ClaimOutcome::Holds),
        Outcome::Skipped(_) => (ClaimOutcome::Untested, ClaimOutcome::Untested),
        _ if disproved => (ClaimOutcome::Untested, ClaimOutcome::Fails),
        _ => (ClaimOutcome::Fails, ClaimOutcome::Holds),
    };
    let reason = |outcome| match outcome {
        ClaimOutcome::Holds => None,
        _ => Some(note(why.clone())),
    };
    let mut found = vec![test(SHIPPED, Claim::Runs, runs, reason(runs))];
    if work.verify.is_some() {
        found.push(test(SHIPPED, Claim::Proof, proof, reason(proof)));
    }
    Ok(found)
}

pub fn note(text: String) -> Note {
    Note::new(Finding::Stated { by: Author::Workload, flag: None, text })
}

pub fn test(build: &str, claim: Claim, outcome: ClaimOutcome, why: Option<Note>) -> AuditTest {
    AuditTest { build: build.to_owned(), claim, claimed: None, measured: None, outcome, why }
}
