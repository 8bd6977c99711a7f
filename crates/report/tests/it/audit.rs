//! Audits as a terminal prints them.

use gritstone_model::{
    AuditBuild, AuditEntry, AuditTest, AuditView, Author, Claim, ClaimOutcome, Finding, Id, Kind,
    Note, SCHEMA_AUDIT,
};
use gritstone_report::{audit, terminal};

fn build(name: &str, compiler: &str, counts: bool, why_not: Option<&str>) -> AuditBuild {
    let flags = name
        .split_once(' ')
        .map_or("-O2 -static", |(_, flags)| flags);
    AuditBuild {
        name: name.to_owned(),
        compiler: compiler.to_owned(),
        flags: flags.to_owned(),
        counts,
        why_not: why_not.map(str::to_owned),
    }
}

fn holds(build: &str, claim: Claim, claimed: Option<f64>, measured: Option<f64>) -> AuditTest {
    AuditTest {
        build: build.to_owned(),
        claim,
        claimed,
        measured,
        outcome: ClaimOutcome::Holds,
        why: None,
    }
}

fn entry(id: &str, kind: Kind, tests: Vec<AuditTest>) -> AuditEntry {
    AuditEntry {
        id: Id::parse(id).unwrap(),
        version: 1,
        kind,
        source: Some("00ff".to_owned()),
        tests,
    }
}

fn kernel(id: &str) -> AuditEntry {
    let mut tests = vec![
        holds("shipped", Claim::Runs, None, None),
        holds("shipped", Claim::Check, None, None),
        holds("shipped", Claim::Linear, Some(1.0), Some(1.004_21)),
        holds("shipped", Claim::SyscallsPerOp, Some(6.0), Some(6.000_1)),
        holds("shipped", Claim::MinNsPerOp, Some(10.0), Some(95.237)),
    ];
    let unclaimed = AuditTest {
        outcome: ClaimOutcome::NotClaimed,
        ..holds("shipped", Claim::FaultsPerOp, None, Some(0.25))
    };
    tests.push(unclaimed);
    for build in ["gcc -O0", "gcc -O3 -flto", "gcc -Ofast"] {
        tests.push(holds(build, Claim::Check, None, None));
        tests.push(holds(build, Claim::SyscallsPerOp, Some(6.0), Some(6.0)));
    }
    entry(id, Kind::Kernel, tests)
}

fn command(id: &str) -> AuditEntry {
    let tests = vec![
        holds("shipped", Claim::Runs, None, None),
        holds("shipped", Claim::Proof, None, None),
    ];
    AuditEntry {
        source: None,
        ..entry(id, Kind::Command, tests)
    }
}

fn view() -> AuditView {
    AuditView {
        catalogue: None,
        schema: SCHEMA_AUDIT.to_owned(),
        gritstone: "0.1.0".to_owned(),
        builds: vec![
            build("shipped", "gcc 12.2.0", true, None),
            build("gcc -O0", "gcc 12.2.0", true, None),
            build("gcc -O3 -flto", "gcc 12.2.0", true, None),
            build("gcc -Ofast", "gcc 12.2.0", false, None),
            build(
                "clang -O3 -flto",
                "clang 14.0.6",
                true,
                Some("clang -O3 -flto: no plugin for the linker."),
            ),
        ],
        entries: vec![kernel("a/one"), kernel("a/two"), command("a/three")],
    }
}

/// The test of an entry, spoilt.
fn spoil(
    view: &mut AuditView,
    entry: usize,
    build: &str,
    claim: Claim,
    outcome: ClaimOutcome,
    why: &str,
) {
    let tests = &mut view.entries[entry].tests;
    let test = tests
        .iter_mut()
        .find(|t| t.build == build && t.claim == claim);
    let test = test.unwrap();
    test.outcome = outcome;
    test.why = Some(Note::new(Finding::Stated {
        by: Author::Document,
        flag: None,
        text: why.to_owned(),
    }));
    if outcome == ClaimOutcome::Fails && test.measured.is_some() {
        test.measured = Some(0.0);
    }
}

fn text(view: &AuditView) -> String {
    terminal::render(&audit(view), 100, false)
}

#[test]
fn a_clean_audit() {
    insta::assert_snapshot!(text(&view()));
}

#[test]
fn an_audit_that_found_something() {
    let mut view = view();
    let lacking = "It enters the kernel 0 times an operation, where 6 are claimed.";
    let idle = "Time does not grow with n.";
    spoil(
        &mut view,
        0,
        "shipped",
        Claim::SyscallsPerOp,
        ClaimOutcome::Fails,
        lacking,
    );
    spoil(
        &mut view,
        0,
        "gcc -O3 -flto",
        Claim::SyscallsPerOp,
        ClaimOutcome::Fails,
        lacking,
    );
    spoil(
        &mut view,
        1,
        "shipped",
        Claim::Linear,
        ClaimOutcome::Untested,
        idle,
    );
    spoil(
        &mut view,
        1,
        "gcc -Ofast",
        Claim::Check,
        ClaimOutcome::Fails,
        "A check value is wrong.",
    );
    spoil(
        &mut view,
        2,
        "shipped",
        Claim::Proof,
        ClaimOutcome::Fails,
        "Failed: it printed '3'.",
    );
    insta::assert_snapshot!(text(&view));
}
