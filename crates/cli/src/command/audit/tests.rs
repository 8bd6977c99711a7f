//! Planted faults: workloads that break their claims, found by an audit and by a run.

use super::*;
use gritstone_analysis::summary::{self, Reader};
use gritstone_exec::{Config, Setup, Storage, WorkDirs};
use gritstone_measure::{AfterPilot, Backend, Finished, Limits, PriorRuns, Progress, drive};
use gritstone_model::{
    AuditTest, Calibration, Claims, Conditions, Flag, Launch, Measurement, Placement, RunData,
    RunInfo, Step,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A planted kernel that claims a getpid or the like for each operation.
struct Planted {
    executor: Executor,
    variant: Variant,
    plan: Plan,
    compiler: PathBuf,
    path: String,
    text: String,
    _directory: tempfile::TempDir,
}

impl Planted {
    fn new(name: &str, claims: Claims) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path().to_path_buf();
        let path = std::env::var_os("PATH").unwrap();
        let compiler = gritstone_host::programs::find(&["cc", "gcc", "clang"], &path).unwrap();
        let variant = Variant {
            environment: BTreeMap::from([("PATH".to_owned(), path.into_string().unwrap())]),
            ..Variant::default()
        };
        let setup = Setup {
            work_dirs: WorkDirs::make(std::slice::from_ref(&here), &here, None).unwrap(),
            cpus: "-".to_owned(),
            environment: variant.environment.clone(),
            programs: BTreeMap::new(),
            storage: Storage { cached: false, name: String::new() },
            far_end: None,
            deadline: Duration::from_secs(60),
            stop: Arc::new(AtomicBool::new(false)),
        };
        let executor = Executor::new(setup, Config::default(), None);
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../exec/src/planted")
            .join(format!("{name}.c"));
        let benchmark = benchmark(name, claims);
        let step = Step { id: benchmark.id.clone(), cpus: vec![], copies: 1 };
        let mut planted = Self {
            executor,
            variant,
            plan: Plan { steps: vec![step], benchmarks: vec![benchmark], skips: vec![] },
            compiler,
            path: format!("planted/{name}.c"),
            text: std::fs::read_to_string(file).unwrap(),
            _directory: directory,
        };
        planted.ship("-O2");
        planted
    }

    fn toolchain(&self) -> Toolchain {
        Toolchain { name: "cc".to_owned(), c: self.compiler.clone(), fortran: None }
    }

    fn ship(&mut self, flags: &str) {
        let program = self.path.trim_end_matches(".c");
        let (c, fortran) = self.toolchain().with(flags).unwrap();
        let workshop = self.executor.setup().workshop(c, fortran).unwrap();
        let sources = sources(&self.path, &self.text);
        let builds = workshop.build(&sources, &[program]).unwrap();
        let shipped = builds.into_iter().map(|(name, built)| (name, built.unwrap()));
        self.variant.builds = shipped.collect();
    }

    fn audit(&mut self) -> AuditView {
        let compilers = [self.toolchain()];
        let sources = sources(&self.path, &self.text);
        view(&mut self.executor, &self.variant, &self.plan, &compilers, &sources).unwrap()
    }

    /// Repeats a run until it finds the fault: most launches of a run may be disturbed.
    fn caught(&mut self) -> Measurement {
        let mut runs = (0..5).map(|_| self.run());
        runs.find(starred).expect("found in none of five runs")
    }

    fn run(&mut self) -> Measurement {
        let limits =
            Limits { budget: Some(Duration::from_secs(20)), quick: false, precision: 0.5, seed: 1 };
        let mut stored = StoredLaunches {
            executor: &mut self.executor,
            variant: &self.variant,
            start: Instant::now(),
            launches: vec![],
        };
        let plans = [&self.plan];
        let mut scheduler = AfterPilot::new(&plans, limits, &PriorRuns::new());
        drive(&plans, &[], Reader::default(), &mut scheduler, &mut stored).unwrap();
        let data = RunData {
            info: RunInfo::default(),
            benchmarks: self.plan.benchmarks.clone(),
            launches: stored.launches,
            ..RunData::default()
        };
        let mut view = summary::summarize(&data, &summary::Options::default());
        view.results.remove(0)
    }
}

fn sources<'a>(path: &'a str, text: &'a str) -> Vec<(&'a str, &'a str)> {
    gritstone_kernels::sources()
        .iter()
        .map(|source| (source.path, source.text))
        .chain([(path, text)])
        .collect()
}

fn benchmark(name: &str, claims: Claims) -> Benchmark {
    Benchmark {
        title: name.to_owned(),
        placement: Placement::All,
        claims,
        ..gritstone_testkit::benchmark(&format!("planted/{name}"), "ns/call")
    }
}

struct StoredLaunches<'a> {
    executor: &'a mut Executor,
    variant: &'a Variant,
    start: Instant,
    launches: Vec<Launch>,
}

impl Backend for StoredLaunches<'_> {
    type Error = ExecError;

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn prepare(&mut self, _: usize, benchmark: &Benchmark) -> Result<(), ExecError> {
        self.executor.start_load(self.variant, benchmark)
    }

    fn show(&mut self, _: &Progress<'_>) {}

    fn launch(
        &mut self,
        _: usize,
        benchmark: &Benchmark,
        step: &Step,
        known: Calibration,
    ) -> Result<Finished, ExecError> {
        let executor = &mut self.executor;
        let launched = executor.launch(self.variant, benchmark, &step.cpus, 1, known)?;
        Ok(Finished {
            outcome: launched.outcome,
            events: launched.events,
            // without other load
            conditions: Conditions { others: Some(0), ..Conditions::default() },
        })
    }

    fn store(&mut self, _: usize, launch: &Launch) -> Result<(), ExecError> {
        self.launches.push(launch.clone());
        Ok(())
    }
}

fn claims(syscalls: f64, min_ns: f64) -> Claims {
    Claims {
        check: true,
        linear: true,
        syscalls_per_op: Some(syscalls),
        min_ns_per_op: Some(min_ns),
        ..Claims::default()
    }
}

fn failing(view: &AuditView, build: &str) -> Vec<Claim> {
    let tests = view.entries[0].tests.iter();
    let tests: Vec<_> = tests.filter(|test| test.build == build).collect();
    assert!(!tests.is_empty(), "{build} was not audited: {view:?}");
    tests.iter().filter(|test| test.outcome == ClaimOutcome::Fails).map(|test| test.claim).collect()
}

fn starred(result: &Measurement) -> bool {
    let star = |note: &gritstone_model::Note| note.flag() == Some(Flag::Invalid);
    result.notes.iter().any(star)
}

#[test]
fn removed_loops_fail_linearity() {
    let mut planted = Planted::new("removed", claims(0.0, 0.1));
    let view = planted.audit();
    assert_eq!(exit(&view), Exit::CheckFailed);
    assert_eq!(failing(&view, SHIPPED), [Claim::Linear]);
    assert_eq!(failing(&view, "cc -O3"), [Claim::Linear]);
    assert_eq!(failing(&view, "cc -O0"), [], "-O0 keeps it");
    let result = planted.caught();
    assert_eq!(result.estimate(), None, "no work, no figure: {result:?}");
}

#[test]
fn growing_operations_fail_linearity() {
    let mut planted = Planted::new("quadratic", claims(0.0, 0.1));
    // a build whose launches others disturb has the benefit of the doubt, as in an ordinary run
    let builds = [SHIPPED, "cc -O0", "cc -O2", "cc -O3", "cc -O3 -flto"];
    let found = |view: &AuditView| {
        let failed = |build| failing(view, build);
        builds.into_iter().all(|build| failed(build) == [Claim::Linear])
    };
    let mut audits = (0..5).map(|_| planted.audit());
    let view = audits.find(found).expect("found in every build by none of five audits");
    assert_eq!(exit(&view), Exit::CheckFailed);
    let growth = view.entries[0].tests.iter().find(|t| t.claim == Claim::Linear);
    let exponent = growth.unwrap().measured.unwrap();
    assert!((1.5..2.5).contains(&exponent), "{exponent}");
    planted.caught();
}

#[test]
fn cached_system_calls_are_found() {
    let mut planted = Planted::new("cached", claims(1.0, 10.0));
    let view = planted.audit();
    assert_eq!(exit(&view), Exit::CheckFailed);
    for build in [SHIPPED, "cc -O0", "cc -O3 -flto"] {
        assert!(failing(&view, build).contains(&Claim::SyscallsPerOp), "{build}");
    }
    let entries =
        view.entries[0].tests.iter().find(|test| test.claim == Claim::SyscallsPerOp).unwrap();
    assert_eq!((entries.claimed, entries.measured), (Some(1.0), Some(0.0)));
    // a run cannot count entries, but sees that this is faster than entering the kernel can be
    planted.caught();
}

#[test]
fn claims_hold_in_all_builds() {
    let mut planted = Planted::new("fickle", claims(1.0, 0.1));
    let view = planted.audit();
    assert_eq!(failing(&view, SHIPPED), []);
    assert_eq!(failing(&view, "cc -O3"), []);
    assert_eq!(failing(&view, "cc -O0"), [Claim::SyscallsPerOp]);
    assert_eq!(exit(&view), Exit::CheckFailed);
}

#[test]
fn ofast_excuses_ieee_benchmarks() {
    for ieee in [false, true] {
        let claims = Claims { ieee, ..claims(0.0, 0.01) };
        let view = Planted::new("rounds", claims).audit();
        for build in [SHIPPED, "cc -O0", "cc -O3", "cc -O3 -flto"] {
            assert_eq!(failing(&view, build), [], "{build}");
        }
        let tests = view.entries[0].tests.iter();
        let mut fast = tests.filter(|test| test.build == "cc -Ofast");
        let check = fast.find(|test| test.claim == Claim::Check).unwrap();
        let finding = match ieee {
            true => ClaimOutcome::Expected,
            false => ClaimOutcome::Fails,
        };
        assert_eq!(check.outcome, finding);
        assert_eq!(
            reason(check).contains("needs IEEE arithmetic, which -Ofast gives up"),
            ieee,
            "{check:?}"
        );
        assert_eq!(exit(&view), Exit::Done, "it is only reported");
    }
}

#[test]
fn refused_sources_are_reported() {
    let mut planted = Planted::new("fickle", claims(1.0, 0.1));
    planted.text.push_str("this is not C\n");
    let view = planted.audit();
    assert_eq!(failing(&view, SHIPPED), []);
    assert_eq!(failing(&view, "cc -O2"), [Claim::Runs]);
    let why = reason(view.entries[0].tests.last().unwrap());
    assert!(why.contains("planted/fickle.c"), "{why}");
    assert_eq!(exit(&view), Exit::CheckFailed);
}

#[test]
fn empty_audits_are_neutral() {
    let mut planted = Planted::new("skips", Claims::default());
    let view = planted.audit();
    assert_eq!(exit(&view), Exit::NothingMeasured);
    let test = &view.entries[0].tests[0];
    assert_eq!(test.outcome, ClaimOutcome::Untested);
    assert!(reason(test).contains("o card reader"), "{test:?}");
}

#[test]
fn ofast_fails_ieee_proofs() {
    // other users of the machine influence growth, but not results
    let wrong = |result: &Measurement| {
        let mut notes = result.notes.iter();
        notes.any(|note| matches!(note.finding, gritstone_model::Finding::WrongCheck { .. }))
    };
    let strict = Planted::new("compensated", claims(0.0, 0.1)).run();
    assert!(!wrong(&strict), "{strict:?}");
    let mut planted = Planted::new("compensated", claims(0.0, 0.1));
    planted.ship("-O2 -ffast-math");
    let given_up = planted.caught();
    assert!(wrong(&given_up), "faster, and wrong: {given_up:?}");
}

fn reason(test: &AuditTest) -> String {
    let why = test.why.as_ref();
    why.map_or_else(String::new, gritstone_report::findings::message)
}
