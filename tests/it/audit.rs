//! `gritstone audit` as used by a person: our benchmarks pass, and untestable claims are reported.

use crate::common::{
    self, Home, end, ended, list, make_script, output_texts, processes, start, traces, with_id,
};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::time::Duration;

/// Outcome of a claim of an entry in one build.
fn test<'a>(view: &'a Value, id: &str, build: &str, claim: &str) -> &'a Value {
    let tests = list(&with_id(&view["entries"], id)["tests"]);
    let found = tests.iter().find(|test| test["build"] == build && test["claim"] == claim);
    found.unwrap_or_else(|| panic!("no {claim} of {id} in {build}"))
}

fn outcome<'a>(view: &'a Value, id: &str, build: &str, claim: &str) -> &'a str {
    test(view, id, build, claim)["outcome"].as_str().unwrap()
}

#[test]
#[ignore = "measures: make test-full"]
fn shipped_benchmarks_pass_the_audit() {
    let home = Home::new();
    let view = home.json("audit byte/* iocall*");
    assert_eq!(traces(&home).len(), 0);
    assert_eq!(view["schema"], "gritstone/audit/2");
    // derived benchmarks do no work of their own
    assert_eq!(list(&view["entries"]).len(), 18);
    for (id, entries) in [
        ("byte/pipe", 1.0),
        ("byte/syscall", 1.0),
        ("byte/loop", 0.0),
        ("byte/disk-write", 260.0),
        ("byte/disk-read", 515.0),
        ("iocall", 6.0),
    ] {
        let checked = test(&view, id, "shipped", "syscalls_per_op");
        assert_eq!(checked["claimed"], entries);
        let measured = checked["measured"].as_f64().unwrap();
        assert!((measured - entries).abs() < 0.01, "{checked}");
        for claim in ["syscalls_per_op", "linear", "check"] {
            assert_eq!(outcome(&view, id, "shipped", claim), "holds");
        }
    }
    assert_eq!(outcome(&view, "byte/shell", "shipped", "proof"), "holds");
    for flags in ["-O0", "-O2", "-O3", "-O3 -flto", "-Ofast"] {
        let build = format!("gcc {flags}");
        let mut builds = list(&view["builds"]).iter();
        let found = builds.find(|b| b["name"] == build).unwrap();
        assert_eq!(found["counts"], flags != "-Ofast", "{found}");
        assert!(found["why_not"].is_null(), "{found}");
        assert_eq!(outcome(&view, "byte/sieve", &build, "check"), "holds");
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn linpack_passes_with_all_flags() {
    let ids = ["sp", "dp"].map(|kind| format!("cpu/linpack-100/{kind}-reference"));
    let view = Home::new().json(&format!("audit {}", ids.join(" ")));
    let builds = list(&view["builds"]).iter();
    for build in builds.filter(|build| build["why_not"].is_null()) {
        let build = build["name"].as_str().unwrap();
        for id in &ids {
            // with -Ofast too: the residual leaves room for another order of the additions
            let check = outcome(&view, id, build, "check");
            assert_eq!(check, "holds", "{id} by {build}");
        }
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn wrong_compilers_fail_the_audit() {
    let gcc = common::program(&["gcc"]);
    let home = Home::new();
    let script = format!(
        "for last; do :; done\n[ $last != byte/sieve.c ] || sed -i 's/k = i + prime;/k = i + 2 * prime;/' $last\nexec {} \"$@\"",
        gcc.display()
    );
    make_script(home.path().join("gcc"), &script);
    let mut command = home.gritstone("audit byte/sieve --format json");
    let before = std::env::var("PATH").unwrap();
    let path = format!("{}:{before}", home.path().display());
    let (code, out, error) = ended(command.env("PATH", path));
    assert_eq!(code, 1, "{out}{error}");
    let view: Value = serde_json::from_str(&out).unwrap();
    let check = |build: &str| outcome(&view, "byte/sieve", build, "check");
    assert_eq!(check("shipped"), "holds");
    for build in ["gcc -O0", "gcc -O2", "gcc -O3"] {
        assert_eq!(check(build), "fails", "{build}");
    }
}

#[test]
fn shipped_programs_need_no_compiler() {
    let home = Home::new();
    let mut command = home.gritstone("audit byte/fcall-overhead");
    let (code, out, error) = ended(command.env("PATH", home.path()));
    assert_eq!(code, 0, "{out}{error}");
    assert!(error.contains("no compiler on PATH"), "{error}");
    assert!(out.starts_with("All 2 benchmarks pass their work checks\n"), "{out}");
    let again = out.contains("Recompiled");
    assert!(out.contains("byte/fcall-assign") && !again, "{out}");
}

/// A traced process cannot trace, which simulates a system that forbids tracing.
#[test]
fn forbidden_tracing_skips_one_claim() {
    let home = Home::new();
    let mut command = home.command(common::program(&["strace"]));
    command
        .args("-f -qq -e trace=none -o /dev/null".split(' '))
        .arg(common::binary())
        .args(["audit", "byte/loop", "--format", "json"])
        .env("PATH", home.path());
    let (code, out, error) = output_texts(command.output().unwrap());
    assert_eq!(code, 0, "{error}");
    let view: Value = serde_json::from_str(&out).unwrap();
    let checked = test(&view, "byte/loop", "shipped", "syscalls_per_op");
    assert_eq!(checked["outcome"], "untested", "{checked}");
    let why = checked["why"]["message"].as_str().unwrap();
    for word in ["SYS_PTRACE", "ptrace_scope"] {
        assert!(why.contains(word), "{why}");
    }
    assert_eq!(outcome(&view, "byte/loop", "shipped", "check"), "holds");
}

#[test]
fn interrupted_audits_leave_nothing() {
    let home = Home::new();
    let child = start(&home, "audit byte/*", &[]);
    // however slow the machine is: it is at work when it has a folder
    common::eventually("a folder of the audit", || !traces(&home).is_empty());
    std::thread::sleep(Duration::from_millis(300));
    end(&child, Signal::SIGINT);
    let (code, out, _) = output_texts(child.wait_with_output().unwrap());
    assert_eq!((code, out.as_str()), (130, ""));
    assert_eq!((traces(&home).len(), processes(&home)), (0, 0));
}
