//! Compilers as a dimension, used as a person uses it: the kernels compiled again here, by one or by several.

use crate::common::{self, Home, ended, eventually, flagged, flags, kept, reason, result, traces};
use serde_json::Value;

const QUICK: [&str; 3] = ["--quick", "--precision", "50%"];

/// A compiler that is a script.
fn compiler(home: &Home, name: &str, script: &str) -> String {
    let path = home.path().join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&path, mode).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_run_with_another_compiler_says_so_in_every_figure() {
    let home = Home::new();
    let run = home.json(
        &[
            &["run", "byte/loop", "cpu/whetstone/b1d", "--format", "json"],
            &["--cc", "gcc", "--cflags", "-O1 -fno-inline", "--fflags=-O3"][..],
            &QUICK,
        ]
        .concat(),
    );
    let row = result(&run, "byte/loop");
    assert_eq!(
        row["program"]["flags"],
        "-std=gnu11 -O1 -fno-inline -static"
    );
    assert!(!flagged(row, "invalid"), "{row}");
    let row = result(&run, "cpu/whetstone/b1d");
    assert_eq!(
        row["program"]["flags"],
        "-std=gnu11 -O1 -fno-inline -static; Fortran: -O3"
    );
    let compiler = row["program"]["compiler"].as_str().unwrap();
    assert!(compiler.contains("; GNU Fortran"), "{compiler}");
    assert!(row["estimate"].is_number(), "{row}");
    assert!(traces(&home).is_empty());
}

#[test]
fn what_is_wrong_with_a_compiler_is_said() {
    let home = Home::new();
    let (code, _, error) = home.run(&["run", "byte/loop", "--cc", "no-such-cc"]);
    assert_eq!(code, 2);
    assert!(error.contains("no C compiler no-such-cc"), "{error}");
    let (code, _, error) = home.run(&["run", "cpu/whetstone/b1", "--fc", "no-such-fc"]);
    assert_eq!(code, 2);
    assert!(error.contains("no Fortran compiler no-such-fc"), "{error}");
    let (code, _, error) = home.run(&["run", "byte/loop", "--cflags", "-fno-such-flag"]);
    assert_eq!(code, 2);
    assert!(error.contains("no-such-flag"), "{error}");
    let (code, _, error) = home.run(&["compilers", "gcc:-O2", "byte/loop"]);
    assert_eq!(code, 2);
    assert!(error.contains("two compilers at least"), "{error}");
    let words = ["compilers", "gcc:-O1", "gcc:-O2", "byte/cc"];
    let (code, _, error) = home.run(&words);
    assert_eq!(code, 2);
    assert!(error.contains("a workload to compile"), "{error}");
    assert!(traces(&home).is_empty());
}

#[test]
fn a_program_that_a_compiler_refuses_is_a_row_with_its_reason() {
    let home = Home::new();
    let picky = compiler(
        &home,
        "picky-cc",
        "case \"$*\" in *byte/fcall.c*) echo 'fcall.c:1: not with me' >&2; exit 1 ;; esac\nexec gcc \"$@\"",
    );
    let words = ["run", "byte/loop", "byte/fcall-empty", "--cc", &picky];
    let run = home.json(&[&words[..], &["--format", "json"], &QUICK].concat());
    assert!(result(&run, "byte/loop")["estimate"].is_number());
    let refused = result(&run, "byte/fcall-empty");
    assert_eq!(flags(refused), ["skipped"]);
    let why = reason(refused);
    assert!(
        why.contains("byte/fcall does not compile") && why.contains("not with me"),
        "{why}"
    );
}

#[test]
#[ignore = "measures: make test-full"]
fn compilers_take_turns_and_the_second_is_held_against_the_first() {
    let home = Home::new();
    let words = [
        "compilers",
        "gcc:-O0",
        "gcc:-O2",
        "byte/loop",
        "byte/sieve",
        "--format",
        "json",
    ];
    let view = home.json(&[&words[..], &["--budget", "60s"]].concat());
    let sides = view["sides"].as_array().unwrap();
    assert_eq!(sides[1]["what"], "gcc -O2");
    for side in sides {
        let compiled = &side["compiled"];
        assert_eq!(compiled["programs"], 2);
        assert!(compiled["compile_s"].as_f64().unwrap() > 0.0);
        assert!(compiled["bytes"].as_u64().unwrap() > 0);
        let version = compiled["version"].as_str().unwrap();
        assert!(version.contains("gcc"), "{version}");
        // each is a run of its own, with its samples
        let run = home.json(&["show", side["run"].as_str().unwrap(), "--format", "json"]);
        assert_eq!(run["label"], side["label"]);
        assert!(result(&run, "byte/loop")["samples"].as_u64().unwrap() > 0);
    }
    let rows = view["rows"].as_array().unwrap();
    let sieve = rows.iter().find(|row| row["id"] == "byte/sieve").unwrap();
    assert_eq!(sieve["comparisons"][0]["verdict"], "faster", "{sieve}");
    // it is all in the store
    let trial = view["trial"].as_str().unwrap();
    let (_, out, error) = home.run(&["ab", "--of", &format!("ab-{trial}-a")]);
    assert!(
        out.contains("What the compilers made") && out.contains("gcc -O0"),
        "{out}{error}"
    );
    assert!(traces(&home).is_empty());
}

#[test]
#[ignore = "measures: make test-full"]
fn a_run_that_was_cut_off_goes_on_with_its_compilers() {
    let home = Home::new();
    let same = "exec gcc \"$@\"";
    compiler(&home, "my-cc", same);
    // what -g writes down of the directory is no other program; the path is one from anywhere
    let mut command = std::process::Command::new(common::binary());
    let mut child = command
        .args(["run", "byte/loop", "cpu/linpack-100/dp-reference"])
        .args(["--cc", "./my-cc", "--cflags", "-O3 -g", "--fflags=-O1"])
        .args(["--budget", "20s", "--precision", "10%"])
        .env("HOME", home.path())
        .env("XDG_DATA_HOME", home.path().join("data"))
        .env("TMPDIR", home.path())
        .env_remove("XDG_STATE_HOME")
        .current_dir(home.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    eventually("launches are kept", || kept(&home) > 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let before = home.json(&["show", "--format", "json"]);
    let begun = kept(&home);
    let resume = || ended(home.gritstone(&["run", "--resume"]).current_dir("/"));

    let other = "[ $1 = --version ] && { echo my-cc 2.0; exit; }\nexec gcc \"$@\"";
    compiler(&home, "my-cc", other);
    let (code, _, error) = resume();
    assert_eq!(code, 2, "{error}");
    assert!(
        error.contains("begun with programs of gcc")
            && error.contains("this is my-cc 2.0")
            && error.contains("start a new run"),
        "{error}"
    );
    let otherwise = "case \"$*\" in *byte/loop.c) set -- \"$@\" -O0 ;; esac\nexec gcc \"$@\"";
    compiler(&home, "my-cc", otherwise);
    let (code, _, error) = resume();
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("the program of byte/loop is not"), "{error}");
    std::fs::remove_file(home.path().join("my-cc")).unwrap();
    let (code, _, error) = resume();
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("there is no C compiler"), "{error}");
    assert_eq!(kept(&home), begun, "nothing was added");

    compiler(&home, "my-cc", same);
    let (code, _, error) = resume();
    assert_eq!(code, 0, "{error}");
    let after = home.json(&["show", "--format", "json"]);
    assert_eq!(after["id"], before["id"]);
    assert!(after["elapsed_s"].is_number());
    assert!(kept(&home) > begun);
    for (id, flags) in [
        ("byte/loop", "-std=gnu11 -O3 -g -static"),
        (
            "cpu/linpack-100/dp-reference",
            "-std=gnu11 -O3 -g -static; Fortran: -O1",
        ),
    ] {
        assert_eq!(result(&after, id)["program"]["flags"], flags);
        assert!(result(&after, id)["estimate"].is_number(), "{after}");
    }
    assert!(traces(&home).is_empty());
}

/// What a compiler with a fault could have made of a source: (source that it is given, file, what stands there, what it makes of it).
const FAULTS: [[&str; 4]; 4] = [
    [
        "byte/sieve.c",
        "byte/sieve.c",
        "k = i + prime;",
        "k = i + 2 * prime;",
    ],
    [
        "cpu/dhrystone-1.1.c",
        "cpu/dhrystone-1.1.h",
        "7 [*] (int_3",
        "5 * (int_3",
    ],
    [
        "cpu/whetstone-c.c",
        "cpu/whetstone-c.h",
        "e1.2. - e1.3.", // of module 2: the weight of module 1 is 0
        "e1[2] + e1[3]",
    ],
    [
        "cpu/linpack.f90",
        "cpu/linpack.inc",
        "factor [*] x(i + 2)",
        "factor * x(i + 1)",
    ],
];

#[test]
#[ignore = "measures: make test-full"]
fn a_compiler_that_makes_another_program_is_caught_by_what_the_program_leaves() {
    let home = Home::new();
    let faults: String = FAULTS
        .iter()
        .map(|[given, file, right, wrong]| {
            format!("\t{given}) grep -q '{right}' {file} || exit 1; sed -i 's/{right}/{wrong}/' {file} ;;\n")
        })
        .collect();
    let with_faults = |real: &str| {
        let script =
            format!("for last; do :; done\ncase $last in\n{faults}esac\nexec {real} \"$@\"");
        compiler(&home, &format!("wrong-{real}"), &script)
    };
    let wrong = (with_faults("gcc"), with_faults("gfortran"));
    let right = ("gcc".to_owned(), "gfortran".to_owned());
    let rows = [
        "byte/sieve",
        "cpu/dhrystone-1.1/noreg",
        "cpu/whetstone-c/b1d",
        "cpu/linpack-100/dp-reference",
    ];
    for ((cc, fc), caught) in [(right, false), (wrong, true)] {
        let with = ["--format", "json", "--cc", &cc, "--fc", &fc];
        let long = ["--budget", "60s", "--precision", "50%"];
        let (_, out, error) = home.run(&[&["run"][..], &rows, &with, &long].concat());
        let run: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{error}"));
        for id in rows {
            let notes = result(&run, id)["notes"].as_array().unwrap();
            // of the timed regions, or of the whole process, which fails then
            let value_is_wrong = |note: &Value| match note["code"].as_str().unwrap() {
                "wrong-check" => true,
                "failed" => note["data"]["refuted"] == true,
                _ => false,
            };
            assert_eq!(notes.iter().any(value_is_wrong), caught, "{id}: {notes:?}");
        }
    }
    assert!(traces(&home).is_empty());
}
