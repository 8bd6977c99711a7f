//! Compilers as a dimension, used as a person uses it: the kernels compiled again here, by one or by several.

mod common;

use common::{Home, kinds, result, traces};

const QUICK: [&str; 4] = ["--budget", "8s", "--precision", "50%"];

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
    assert!(!kinds(row).contains(&"trivialised".to_owned()), "{row}");
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
    let (code, _, error) = home.run(&["compilers", "gcc:-O1", "gcc:-O2", "byte/pipe"]);
    assert_eq!(code, 2);
    assert!(error.contains("bound by the processor"), "{error}");
    assert!(traces(&home).is_empty());
}

#[test]
fn a_program_that_a_compiler_refuses_is_a_row_with_its_reason() {
    let home = Home::new();
    let picky = home.path().join("picky-cc");
    let script = "#!/bin/sh\ncase \"$*\" in *byte/fcall.c*) echo 'fcall.c:1: not with me' >&2; exit 1 ;; esac\nexec gcc \"$@\"\n";
    std::fs::write(&picky, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&picky, mode).unwrap();
    let picky = picky.to_str().unwrap();
    let words = ["run", "byte/loop", "byte/fcall-empty", "--cc", picky];
    let run = home.json(&[&words[..], &["--format", "json"], &QUICK].concat());
    assert!(result(&run, "byte/loop")["estimate"].is_number());
    let refused = result(&run, "byte/fcall-empty");
    assert_eq!(kinds(refused), ["not run"]);
    let why = refused["footnotes"][0]["why"].as_str().unwrap();
    assert!(
        why.contains("byte/fcall does not compile") && why.contains("not with me"),
        "{why}"
    );
}

#[test]
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
    let view = home.json(&[&words[..], &["--budget", "12s", "--precision", "20%"]].concat());
    let compilers = view["compilers"].as_array().unwrap();
    assert_eq!(compilers[1]["name"], "gcc -O2");
    for compiler in compilers {
        assert_eq!(compiler["programs"], 2);
        assert!(compiler["compile_s"].as_f64().unwrap() > 0.0);
        assert!(compiler["bytes"].as_u64().unwrap() > 0);
        // each is a run of its own, with its samples
        let run = home.json(&[
            "show",
            compiler["run"].as_str().unwrap(),
            "--format",
            "json",
        ]);
        assert_eq!(run["label"], compiler["name"]);
        assert!(result(&run, "byte/loop")["samples"].as_u64().unwrap() > 0);
    }
    let rows = view["comparisons"][0]["rows"].as_array().unwrap();
    let sieve = rows.iter().find(|row| row["id"] == "byte/sieve").unwrap();
    assert!(sieve["ratio"].is_number(), "{sieve}");
    let (code, out, error) =
        home.run(&[&words[..5], &["--budget", "6s", "--precision", "50%"]].concat());
    assert_eq!(code, 0, "{error}");
    assert!(
        out.contains("Ratios to gcc -O0") && out.contains("What they made"),
        "{out}"
    );
    assert!(traces(&home).is_empty());
}
