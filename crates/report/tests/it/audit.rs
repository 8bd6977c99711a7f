//! Audits as a terminal prints them.

use crate::sample::machines::id;
use crate::sample::stated;
use gritstone_document::terminal;
use gritstone_model::*;
use gritstone_report::audit;

fn build(name: &str, compiler: &str, counts: bool, why_not: Option<&str>) -> AuditBuild {
    let flags = name.split_once(' ').map_or("-O2 -static", |(_, flags)| flags);
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

fn entry(name: &str, kind: Kind) -> AuditEntry {
    let mut tests = vec![holds("shipped", Claim::Runs, None, None)];
    if kind == Kind::Command {
        tests.push(holds("shipped", Claim::Proof, None, None));
    } else {
        tests.extend([
            holds("shipped", Claim::Check, None, None),
            holds("shipped", Claim::Linear, Some(1.0), Some(1.004_21)),
            holds("shipped", Claim::SyscallsPerOp, Some(6.0), Some(6.000_1)),
            holds("shipped", Claim::MinNsPerOp, Some(10.0), Some(95.237)),
            AuditTest {
                outcome: ClaimOutcome::NotClaimed,
                ..holds("shipped", Claim::FaultsPerOp, None, Some(0.25))
            },
            AuditTest {
                outcome: ClaimOutcome::NotClaimed,
                ..holds("shipped", Claim::InstructionsPerOp, None, Some(1234.5))
            },
        ]);
        for build in ["gcc -O0", "gcc -O3 -flto", "gcc -Ofast"] {
            tests.push(holds(build, Claim::Check, None, None));
            tests.push(holds(build, Claim::SyscallsPerOp, Some(6.0), Some(6.0)));
        }
    }
    AuditEntry { id: id(name), version: 1, kind, source: None, tests }
}

fn view() -> AuditView {
    let gcc = "gcc 12.2.0";
    let no_plugin = Some("clang -O3 -flto: no plugin for the linker.");
    AuditView {
        catalogue: None,
        schema: SCHEMA_AUDIT.to_owned(),
        gritstone: "0.1.0".to_owned(),
        builds: vec![
            build("shipped", gcc, true, None),
            build("gcc -O0", gcc, true, None),
            build("gcc -O3 -flto", gcc, true, None),
            build("gcc -Ofast", gcc, false, None),
            build("clang -O3 -flto", "clang 14.0.6", true, no_plugin),
        ],
        entries: vec![
            entry("a/one", Kind::Kernel),
            entry("a/two", Kind::Kernel),
            entry("a/three", Kind::Command),
        ],
    }
}

fn text(view: &AuditView) -> String {
    terminal::render(&audit(view), terminal::Look::plain(100))
}

#[test]
fn a_clean_audit() {
    insta::assert_snapshot!(text(&view()));
}

#[test]
fn an_audit_that_found_something() {
    use ClaimOutcome::{Fails, Untested};
    let mut view = view();
    let lacking = "It enters the kernel 0 times an operation, where 6 are claimed.";
    let idle = "Time does not grow with n.";
    let wrong = "A check value is wrong.";
    let three = "Failed: it printed '3'.";
    for (entry, build, claim, outcome, why) in [
        (0, "shipped", Claim::SyscallsPerOp, Fails, lacking),
        (0, "gcc -O3 -flto", Claim::SyscallsPerOp, Fails, lacking),
        (1, "shipped", Claim::Linear, Untested, idle),
        (1, "gcc -Ofast", Claim::Check, Fails, wrong),
        (2, "shipped", Claim::Proof, Fails, three),
    ] {
        let mut tests = view.entries[entry].tests.iter_mut();
        let test = tests.find(|t| t.build == build && t.claim == claim).unwrap();
        test.outcome = outcome;
        test.why = Some(stated(None, why));
        if outcome == Fails {
            test.measured = test.measured.map(|_| 0.0);
        }
    }
    insta::assert_snapshot!(text(&view));
}
