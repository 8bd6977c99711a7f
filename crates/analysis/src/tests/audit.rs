//! Work checks of an audit, each broken alone.

use crate::audit::{Evidence, tests};
use crate::tests::made_up_runs::*;
use gritstone_model::*;

/// A launch of an audit: its batches do one operation each. A region itself costs 3 switches and 20 faults.
fn audited() -> Launch {
    let mut launch = launch("a/b", 0, 100.0);
    samples(&mut launch).for_each(|sample| {
        sample.usage.vcsw += 3;
        sample.usage.minflt += 20;
    });
    batches(&mut launch).for_each(|batch| {
        batch.n = 1;
        batch.usage.vcsw = 5 * (3 + 2);
        batch.usage.minflt = 5 * 20;
    });
    launch
}

fn audit(benchmark: &Benchmark, launch: Launch, entries: Result<f64, &str>) -> Vec<AuditTest> {
    tests_with(benchmark, &[launch], entries)
}

fn tests_with(
    benchmark: &Benchmark,
    launches: &[Launch],
    entries: Result<f64, &str>,
) -> Vec<AuditTest> {
    tests(benchmark, &Evidence { build: "shipped", launches, entries, entries_elsewhere: None })
}

#[track_caller]
fn claim_test(tests: &[AuditTest], claim: Claim) -> &AuditTest {
    let mut found = tests.iter().filter(|test| test.claim == claim);
    let test = found.next().unwrap_or_else(|| panic!("no {claim:?}"));
    assert!(found.next().is_none(), "{claim:?} twice");
    test
}

/// The launch with one fault: this claim fails for this reason, and no other does.
#[track_caller]
fn alone(spoil: impl FnOnce(&mut Launch), claim: Claim, reason: &str) {
    let mut launch = audited();
    spoil(&mut launch);
    let tests = audit(&claimed("a/b"), launch, Ok(1.0));
    for test in &tests {
        let expected = match test.claim == claim {
            true => (ClaimOutcome::Fails, reason),
            false => (ClaimOutcome::Holds, ""),
        };
        assert_eq!((test.outcome, why(test)), expected, "{test:?}");
    }
    claim_test(&tests, claim);
}

#[test]
fn claims_hold_less_start_up() {
    let tests = audit(&claimed("a/b"), audited(), Ok(1.0));
    assert!(tests.iter().all(|t| t.outcome == ClaimOutcome::Holds && t.build == "shipped"));
    assert_eq!(tests.len(), 7);
    let numbers = |claim| {
        let test = claim_test(&tests, claim);
        (test.claimed, test.measured)
    };
    assert_eq!(numbers(Claim::Linear), (Some(1.0), Some(1.0)));
    assert_eq!(numbers(Claim::SyscallsPerOp), (Some(1.0), Some(1.0)));
    assert_eq!(numbers(Claim::MinNsPerOp), (Some(10.0), Some(100.0)));
    near(numbers(Claim::SwitchesPerOp).1, 2.0);
    near(numbers(Claim::FaultsPerOp).1, 1000.0 / 999_999.0);
}

#[test]
fn benchmark_without_claims_is_measured() {
    let tests = audit(&plain("a/b"), audited(), Ok(2.5));
    let findings: Vec<ClaimOutcome> = tests.iter().map(|test| test.outcome).collect();
    assert_eq!(findings[0], ClaimOutcome::Holds, "it ran");
    assert!(findings[1..].iter().all(|&f| f == ClaimOutcome::NotClaimed));
    assert_eq!(claim_test(&tests, Claim::SyscallsPerOp).measured, Some(2.5));
    assert_eq!(claim_test(&tests, Claim::SyscallsPerOp).claimed, None);
}

/// Launches with these warm regions.
fn grown(launches: &[&[(u64, u64)]]) -> AuditTest {
    let launch = |regions: &&[(u64, u64)]| {
        let mut launch = audited();
        launch.events.retain(|e| !matches!(e, Event::Warm { .. }));
        let warm = regions.iter().map(|&(n, wall)| Event::Warm { n, wall });
        launch.events.splice(0..0, warm);
        launch
    };
    let launches: Vec<Launch> = launches.iter().map(launch).collect();
    claim_test(&tests_with(&claimed("a/b"), &launches, Ok(1.0)), Claim::Linear).clone()
}

#[test]
fn linearity_needs_all_launches() {
    const LUCKY: &[(u64, u64)] = &[(4000, 100), (4000, 400), (8000, 800), (8000, 800)];
    const PLAIN: &[(u64, u64)] = &[(4000, 400), (4000, 400), (8000, 800), (8000, 800)];
    let one = grown(&[LUCKY, PLAIN, PLAIN, PLAIN]);
    assert_eq!((one.outcome, one.measured), (ClaimOutcome::Holds, Some(1.0)));
    assert_eq!(grown(&[LUCKY, LUCKY, LUCKY, LUCKY]).outcome, ClaimOutcome::Fails);
    // each has one n: together they are all the evidence
    const SMALL: &[(u64, u64)] = &[(4000, 100), (4000, 100)];
    const LARGE: &[(u64, u64)] = &[(8000, 800), (8000, 800)];
    assert_eq!(grown(&[SMALL, LARGE]).outcome, ClaimOutcome::Fails);
}

#[test]
fn each_claim_fails_alone() {
    alone(
        |launch| {
            if let Some(Event::Check(check)) =
                launch.events.iter_mut().find(|e| matches!(e, Event::Check(_)))
            {
                check.got = 9;
            }
        },
        Claim::Check,
        "wrong-check wrong=1 regions=4 n=1000000 got=9 expected=1000001",
    );
    alone(
        |launch| {
            for event in &mut launch.events {
                if let Event::Warm { n, wall } = event {
                    *wall = *n * *n;
                }
            }
        },
        Claim::Linear,
        "not-linear small=4000 large=8000 exponent=2 allowed=[0.7, 1.3]",
    );
    alone(
        |launch| samples(launch).for_each(|sample| sample.wall = 9 * N),
        Claim::MinNsPerOp,
        "below-minimum ns=9 minimum=10",
    );
    alone(
        |launch| samples(launch).for_each(|sample| sample.usage.vcsw = N),
        Claim::SwitchesPerOp,
        "few-switches per_op=1 claimed=2 share=0.9",
    );
    alone(
        |launch| samples(launch).for_each(|sample| sample.usage.majflt = N),
        Claim::FaultsPerOp,
        "many-faults per_op=1.001 claimed=0.001",
    );
    alone(
        |launch| launch.outcome = Outcome::Failed("open: no such file".to_owned()),
        Claim::Runs,
        "failed outcome=failed reason=open: no such file count=1/1 refuted=false",
    );
}

#[test]
fn saved_switches_do_not_fail() {
    let saved = || {
        let mut launch = audited();
        samples(&mut launch).for_each(|sample| sample.usage.vcsw = N);
        launch
    };
    let outcome = |launches: &[Launch]| {
        let tests = tests_with(&claimed("a/b"), launches, Ok(1.0));
        claim_test(&tests, Claim::SwitchesPerOp).outcome
    };
    assert_eq!(outcome(&[saved(), audited(), saved()]), ClaimOutcome::Holds);
    assert_eq!(outcome(&[saved(), saved()]), ClaimOutcome::Fails);
}

#[test]
fn syscall_counts_allow_one_percent() {
    let entry = |measured| {
        let tests = audit(&claimed("a/b"), audited(), Ok(measured));
        let test = claim_test(&tests, Claim::SyscallsPerOp);
        (test.outcome, why(test))
    };
    assert_eq!(entry(1.009).0, ClaimOutcome::Holds);
    assert_eq!(entry(1.02).0, ClaimOutcome::Fails);
    assert_eq!(entry(0.0), (ClaimOutcome::Fails, "system-calls per_op=0 expected=1 claimed=true"));
}

#[test]
fn uncounted_syscalls_are_untested() {
    let tests = audit(&claimed("a/b"), audited(), Err("tracing is forbidden here"));
    let test = claim_test(&tests, Claim::SyscallsPerOp);
    assert_eq!(test.outcome, ClaimOutcome::Untested);
    assert_eq!(why(test), "stated by=workload flag=null text=tracing is forbidden here");
    assert_eq!((test.claimed, test.measured), (Some(1.0), None));
}

#[test]
fn unclaimed_resources_match_shipped_program() {
    let launch = audited();
    let evidence = |entries| Evidence {
        build: "gcc -O3",
        launches: std::slice::from_ref(&launch),
        entries: Ok(entries),
        entries_elsewhere: Some(5.0),
    };
    let same = tests(&plain("a/b"), &evidence(5.0));
    assert_eq!(claim_test(&same, Claim::SyscallsPerOp).outcome, ClaimOutcome::Holds);
    let other = tests(&plain("a/b"), &evidence(4.0));
    assert_eq!(
        why(claim_test(&other, Claim::SyscallsPerOp)),
        "system-calls per_op=4 expected=5 claimed=false"
    );
}

#[test]
fn absent_work_is_not_linear() {
    let mut launch = audited();
    launch.outcome = Outcome::Failed("calibrate: time does not grow with n".to_owned());
    launch.events.retain(|e| matches!(e, Event::Warm { .. }));
    launch.events.push(Event::Fail {
        errno: 0,
        call: "calibrate".to_owned(),
        why: "time does not grow with n".to_owned(),
    });
    let tests = audit(&claimed("a/b"), launch, Ok(1.0));
    assert_eq!(claim_test(&tests, Claim::Linear).outcome, ClaimOutcome::Fails);
    assert_eq!(
        why(claim_test(&tests, Claim::Linear)),
        "stated by=workload flag=null text=time does not grow with n"
    );
    assert_eq!(claim_test(&tests, Claim::Check).outcome, ClaimOutcome::Untested);
}

#[test]
fn skipped_benchmark_has_no_tests() {
    let mut launch = audited();
    launch.outcome = Outcome::Skipped("no card reader; buy one".to_owned());
    let tests = audit(&claimed("a/b"), launch, Ok(1.0));
    assert_eq!(tests.len(), 1);
    assert_eq!(
        (tests[0].claim, tests[0].outcome, why(&tests[0])),
        (
            Claim::Runs,
            ClaimOutcome::Untested,
            "failed outcome=skipped reason=no card reader; buy one count=1/1 refuted=false"
        )
    );
}

#[test]
fn single_operation_regions_count_whole() {
    let mut launch = audited();
    samples(&mut launch).for_each(|sample| {
        sample.n = 1;
        sample.usage.vcsw = 7;
    });
    let tests = audit(&plain("a/b"), launch, Ok(1.0));
    near(claim_test(&tests, Claim::SwitchesPerOp).measured, 7.0);
}

#[test]
fn switches_and_faults_need_batches() {
    let mut launch = audited();
    launch.events.retain(|e| !matches!(e, Event::Batch(_)));
    let tests = audit(&claimed("a/b"), launch, Ok(1.0));
    let claims: Vec<Claim> = tests.iter().map(|test| test.claim).collect();
    assert!(!claims.contains(&Claim::SwitchesPerOp) && !claims.contains(&Claim::FaultsPerOp));
}

/// Why a test did not hold, in short; empty if it did.
fn why(test: &AuditTest) -> &'static str {
    test.why.as_ref().map_or("", short)
}
