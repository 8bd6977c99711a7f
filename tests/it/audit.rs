//! `gritstone audit`, used as a person uses it: that our own benchmarks are clean, and what is said where not everything
//! can be tested.

use crate::common::{self, Home, ended, processes, traces};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::Duration;

fn entry<'a>(view: &'a Value, id: &str) -> &'a Value {
    let entries = view["entries"].as_array().unwrap();
    let found = entries.iter().find(|entry| entry["id"] == id);
    found.unwrap_or_else(|| panic!("no {id} in {view}"))
}

fn test<'a>(view: &'a Value, id: &str, build: &str, claim: &str) -> &'a Value {
    let tests = entry(view, id)["tests"].as_array().unwrap();
    let found = tests
        .iter()
        .find(|test| test["build"] == build && test["claim"] == claim);
    found.unwrap_or_else(|| panic!("no {claim} of {id} in {build}"))
}

#[test]
#[ignore = "measures: make test-full"]
fn our_own_benchmarks_do_what_they_claim() {
    let home = Home::new();
    let (code, out, error) = home.run(&["audit", "byte/*", "iocall*", "--format", "json"]);
    assert_eq!(code, 0, "{out}{error}");
    assert_eq!(traces(&home).len(), 0);
    let view: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(view["schema"], "gritstone/audit/2");
    // derived rows do no work of their own
    assert_eq!(view["entries"].as_array().unwrap().len(), 18);
    for (id, entries) in [
        ("byte/pipe", 1.0),
        ("byte/syscall", 1.0),
        ("byte/loop", 0.0),
        ("byte/disk-write", 260.0),
        ("byte/disk-read", 515.0),
        ("iocall", 6.0),
    ] {
        let told = test(&view, id, "shipped", "syscalls_per_op");
        assert_eq!(
            (&told["outcome"], &told["claimed"]),
            (&"holds".into(), &entries.into())
        );
        assert!(
            (told["measured"].as_f64().unwrap() - entries).abs() < 0.01,
            "{told}"
        );
        assert_eq!(test(&view, id, "shipped", "linear")["outcome"], "holds");
        assert_eq!(test(&view, id, "shipped", "check")["outcome"], "holds");
    }
    assert_eq!(
        test(&view, "byte/shell", "shipped", "proof")["outcome"],
        "holds"
    );
    for build in [
        "gcc -O0",
        "gcc -O2",
        "gcc -O3",
        "gcc -O3 -flto",
        "gcc -Ofast",
    ] {
        let found = view["builds"].as_array().unwrap();
        let found = found.iter().find(|b| b["name"] == build).unwrap();
        assert_eq!(found["counts"], build != "gcc -Ofast", "{found}");
        assert!(found["why_not"].is_null(), "{found}");
        assert_eq!(
            test(&view, "byte/sieve", build, "check")["outcome"],
            "holds"
        );
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn linpack_solves_its_systems_however_it_is_compiled() {
    let home = Home::new();
    let rows = [
        "cpu/linpack-100/sp-reference",
        "cpu/linpack-100/dp-reference",
    ];
    let (code, out, error) = home.run(&["audit", rows[0], rows[1], "--format", "json"]);
    assert_eq!(code, 0, "{out}{error}");
    let view: Value = serde_json::from_str(&out).unwrap();
    let builds = view["builds"].as_array().unwrap();
    let made = builds.iter().filter(|build| build["why_not"].is_null());
    for build in made.map(|build| build["name"].as_str().unwrap()) {
        for id in rows {
            // with -Ofast too: the residual leaves room for another order of the additions
            assert_eq!(
                test(&view, id, build, "check")["outcome"],
                "holds",
                "{id} by {build}"
            );
        }
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn a_compiler_that_makes_another_program_fails_the_audit() {
    let gcc = common::program(&["gcc"]);
    let home = Home::new();
    let wrong = home.path().join("gcc");
    let script = format!(
        "#!/bin/sh\nfor last; do :; done\n[ $last != byte/sieve.c ] || sed -i 's/k = i + prime;/k = i + 2 * prime;/' $last\nexec {} \"$@\"\n",
        gcc.display()
    );
    std::fs::write(&wrong, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&wrong, mode).unwrap();
    let mut command = home.gritstone(&["audit", "byte/sieve", "--format", "json"]);
    let path = format!(
        "{}:{}",
        home.path().display(),
        std::env::var("PATH").unwrap()
    );
    let (code, out, error) = ended(command.env("PATH", path));
    assert_eq!(code, 1, "{out}{error}");
    let view: Value = serde_json::from_str(&out).unwrap();
    let check = |build: &str| test(&view, "byte/sieve", build, "check")["outcome"].clone();
    assert_eq!(check("shipped"), "holds");
    for build in ["gcc -O0", "gcc -O2", "gcc -O3"] {
        assert_eq!(check(build), "fails", "{build}");
    }
}

#[test]
fn without_a_compiler_the_programs_in_the_binary_are_audited() {
    let home = Home::new();
    let mut command = home.gritstone(&["audit", "byte/fcall-overhead"]);
    let (code, out, error) = ended(command.env("PATH", home.path()));
    assert_eq!(code, 0, "{out}{error}");
    assert!(error.contains("no compiler on PATH"), "{error}");
    let first = out.lines().next().unwrap();
    assert_eq!(first, "All 2 benchmarks do what they claim", "{out}");
    assert!(
        out.contains("byte/fcall-assign") && !out.contains("Compiled again"),
        "{out}"
    );
}

/// Whoever is traced already cannot trace: so it looks where tracing is forbidden.
#[test]
fn where_tracing_is_forbidden_the_other_claims_are_tested() {
    let home = Home::new();
    let output = home
        .command(common::program(&["strace"]))
        .args(["-f", "-qq", "-e", "trace=none", "-o", "/dev/null"])
        .arg(common::binary())
        .args(["audit", "byte/loop", "--format", "json"])
        .env("PATH", home.path())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    let view: Value = serde_json::from_slice(&output.stdout).unwrap();
    let told = test(&view, "byte/loop", "shipped", "syscalls_per_op");
    assert_eq!(told["outcome"], "untested", "{told}");
    let why = told["why"]["message"].as_str().unwrap();
    assert!(
        why.contains("SYS_PTRACE") && why.contains("ptrace_scope"),
        "{why}"
    );
    assert_eq!(
        test(&view, "byte/loop", "shipped", "check")["outcome"],
        "holds"
    );
}

#[test]
fn an_interrupt_ends_it_and_leaves_nothing() {
    let home = Home::new();
    let child = Command::new(common::binary())
        .args(["audit", "byte/*"])
        .env("XDG_DATA_HOME", home.path().join("data"))
        .env("TMPDIR", home.path())
        .env_remove("XDG_RUNTIME_DIR")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // however slow the machine is: it is at work when it has a folder
    common::eventually("a folder of the audit", || !traces(&home).is_empty());
    std::thread::sleep(Duration::from_millis(300));
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(output.stdout.is_empty());
    assert_eq!((traces(&home).len(), processes(&home)), (0, 0));
}
