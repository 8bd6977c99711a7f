//! Recompiled workloads, with one or several compilers, as used by a person.

use crate::common::{
    Arguments, Home, SHORT, end_at_once, ended, eventually, flagged, flags, list, make_script,
    reason, result, start, stored_launches, traces, with_id,
};
use serde_json::Value;

/// A compiler that is a script.
fn compiler(home: &Home, name: &str, script: &str) -> String {
    make_script(home.path().join(name), script).to_str().unwrap().to_owned()
}

#[test]
fn results_name_their_compiler() {
    let home = Home::new();
    let line = format!("run byte/loop cpu/whetstone/b1d --cc gcc --fflags=-O3 {SHORT}");
    let run = home.json(&[&line.words()[..], &["--cflags", "-O1 -fno-inline"]].concat());
    let [c, both] = ["byte/loop", "cpu/whetstone/b1d"].map(|id| result(&run, id));
    assert!(!flagged(c, "invalid"), "{c}");
    let flags = "-std=gnu11 -O1 -fno-inline -static";
    assert_eq!(c["program"]["flags"], flags);
    assert_eq!(both["program"]["flags"], format!("{flags}; Fortran: -O3"));
    let compiler = both["program"]["compiler"].as_str().unwrap();
    assert!(compiler.contains("; GNU Fortran"), "{compiler}");
    assert!(both["estimate"].is_number(), "{both}");
    assert!(traces(&home).is_empty());
}

#[test]
fn compiler_errors_are_shown() {
    let home = Home::new();
    for (line, why) in [
        ("run byte/loop --cc no-such-cc", "no C compiler no-such-cc"),
        ("run cpu/whetstone/b1 --fc no-such-fc", "no Fortran compiler no-such-fc"),
        ("run byte/loop --cflags -fno-such-flag", "no-such-flag"),
        ("ab gcc:-O2 byte/loop", "two compilers at least"),
        ("ab gcc:-O1 gcc:-O2 byte/cc", "a workload to compile"),
    ] {
        home.refuses(line, why);
    }
    assert!(traces(&home).is_empty());
}

#[test]
fn refused_programs_have_reasons() {
    let home = Home::new();
    let picky = compiler(
        &home,
        "picky-cc",
        "case \"$*\" in *byte/fcall.c*) echo 'fcall.c:1: not with me' >&2; exit 1 ;; esac\nexec gcc \"$@\"",
    );
    let run = home.json(&format!("run byte/loop byte/fcall-empty --cc {picky} {SHORT}"));
    assert!(result(&run, "byte/loop")["estimate"].is_number());
    let refused = result(&run, "byte/fcall-empty");
    assert_eq!(flags(refused), ["skipped"]);
    for text in ["byte/fcall does not compile", "not with me"] {
        assert!(reason(refused).contains(text), "{refused}");
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn compilers_are_compared_in_turns() {
    let home = Home::new();
    let view = home.json("ab gcc:-O0 gcc:-O2 byte/loop byte/sieve --budget 60s");
    assert_eq!(view["sides"][1]["what"], "gcc -O2");
    for side in list(&view["sides"]) {
        let compiled = &side["compiled"];
        assert_eq!(compiled["programs"], 2);
        assert!(compiled["compile_s"].as_f64().unwrap() > 0.0);
        assert!(compiled["bytes"].as_u64().unwrap() > 0);
        let version = compiled["version"].as_str().unwrap();
        assert!(version.contains("gcc"), "{version}");
        // each is a run of its own, with its samples
        let run = home.json(&["show", side["run"].as_str().unwrap()]);
        assert_eq!(run["label"], side["label"]);
        assert!(result(&run, "byte/loop")["samples"].as_u64().unwrap() > 0);
    }
    let sieve = with_id(&view["rows"], "byte/sieve");
    assert_eq!(sieve["comparisons"][0]["verdict"], "faster", "{sieve}");
    // it is all in the store
    let trial = view["trial"].as_str().unwrap();
    let (_, out, error) = home.run(&format!("ab --of ab-{trial}-a"));
    for text in ["Compiled workloads", "gcc -O0"] {
        assert!(out.contains(text), "{out}{error}");
    }
    assert!(traces(&home).is_empty());
}

#[test]
#[ignore = "measures: make test-full"]
fn resumed_runs_keep_compilers() {
    let home = Home::new();
    let same = "exec gcc \"$@\"";
    compiler(&home, "my-cc", same);
    // what -g writes down of the directory is no other program; the path is one from anywhere
    let line = "run byte/loop cpu/linpack-100/dp-reference --cc ./my-cc --fflags=-O1 --budget 20s --precision 10%";
    let flags = ["--cflags", "-O3 -g"];
    let mut child = start(&home, &[&line.words()[..], &flags].concat(), &[]);
    eventually("launches are kept", || stored_launches(&home) > 1);
    end_at_once(&mut child);
    let before = home.json("show");
    let begun = stored_launches(&home);
    let resume = || ended(home.gritstone("run --resume").current_dir("/"));
    let refused = |with: &[&str]| {
        let (code, _, error) = resume();
        assert_eq!(code, 2, "{error}");
        assert!(with.iter().all(|text| error.contains(text)), "{error}");
    };

    let other = "[ $1 = --version ] && { echo my-cc 2.0; exit; }\nexec gcc \"$@\"";
    compiler(&home, "my-cc", other);
    let begun_with = "begun with programs of gcc";
    refused(&[begun_with, "this is my-cc 2.0", "start a new run"]);
    let otherwise = "case \"$*\" in *byte/loop.c) set -- \"$@\" -O0 ;; esac\nexec gcc \"$@\"";
    compiler(&home, "my-cc", otherwise);
    refused(&["the program of byte/loop is not"]);
    std::fs::remove_file(home.path().join("my-cc")).unwrap();
    refused(&["no C compiler"]);
    assert_eq!(stored_launches(&home), begun, "nothing was added");

    compiler(&home, "my-cc", same);
    let (code, _, error) = resume();
    assert_eq!(code, 0, "{error}");
    let after = home.json("show");
    assert_eq!(after["id"], before["id"]);
    assert!(after["elapsed_s"].is_number());
    assert!(stored_launches(&home) > begun);
    for (id, fortran) in [("byte/loop", ""), ("cpu/linpack-100/dp-reference", "; Fortran: -O1")] {
        let flags = format!("-std=gnu11 -O3 -g -static{fortran}");
        assert_eq!(result(&after, id)["program"]["flags"], flags);
        assert!(result(&after, id)["estimate"].is_number(), "{after}");
    }
    assert!(traces(&home).is_empty());
}

/// Faults that a compiler could make: source | file | text | replacement. That of Whetstone is in module 2: the weight of module 1 is 0.
const FAULTS: &str = "
byte/sieve.c | byte/sieve.c | k = i + prime; | k = i + 2 * prime;
cpu/dhrystone-1.1.c | cpu/dhrystone-1.1.h | 7 [*] (int_3 | 5 * (int_3
cpu/whetstone-c.c | cpu/whetstone-c.h | e1.2. - e1.3. | e1[2] + e1[3]
cpu/linpack.f90 | cpu/linpack.inc | factor [*] x(i + 2) | factor * x(i + 1)
";

#[test]
#[ignore = "measures: make test-full"]
fn wrong_output_unmasks_compilers() {
    let home = Home::new();
    let mut faults = String::new();
    for fault in FAULTS.lines().skip(1) {
        let [given, file, right, wrong] = fault.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{fault}");
        };
        faults += &format!(
            "\t{given}) grep -q '{right}' {file} || exit 1; sed -i 's/{right}/{wrong}/' {file} ;;\n"
        );
    }
    let with_faults = |real: &str| {
        let script =
            format!("for last; do :; done\ncase $last in\n{faults}esac\nexec {real} \"$@\"");
        compiler(&home, &format!("wrong-{real}"), &script)
    };
    let wrong = (with_faults("gcc"), with_faults("gfortran"));
    let right = ("gcc".to_owned(), "gfortran".to_owned());
    let rows =
        "byte/sieve cpu/dhrystone-1.1/noreg cpu/whetstone-c/b1d cpu/linpack-100/dp-reference";
    for ((cc, fc), caught) in [(right, false), (wrong, true)] {
        let line = format!("run {rows} --format json --cc {cc} --fc {fc} {SHORT}");
        let (_, out, error) = home.run(&line);
        let run: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{error}"));
        for id in rows.split(' ') {
            let notes = list(&result(&run, id)["notes"]);
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
