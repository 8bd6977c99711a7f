//! `gritstone bench` as a person who knows hyperfine uses it.

use crate::common::{Home, words};
use serde_json::Value;
use std::fs;

/// The examples of hyperfine's README, with shorter times and smaller files, and what each must say or leave.
#[test]
fn the_examples_of_hyperfine_do_what_they_did() {
    let home = Home::new();
    fs::write(home.path().join("main.c"), "int main(void) { return 0; }\n").unwrap();
    fs::write(home.path().join("file"), "NOTE\nsome text\n").unwrap();
    fs::write(
        home.path().join("Makefile"),
        "all:\n\t@echo $(X) >> made\nclean:\n\t@echo >> cleaned\n",
    )
    .unwrap();
    fs::write(
        home.path().join("alias.sh"),
        "my_alias() { sleep 0.002; }\n",
    )
    .unwrap();
    let cases: [(&[&str], &[&str]); 13] = [
        (&["sleep 0.03"], &["sleep 0.03", " ms  [", " runs"]),
        (&["--runs", "5", "sleep 0.003"], &["5 runs"]),
        (
            &["cat file", "sort file"],
            &["cat file", "sort file", "interleaved pair"],
        ),
        (
            &["--warmup", "3", "grep -R NOTE *"],
            &["grep -R NOTE *", "A shell takes"],
        ),
        (
            &[
                "--prepare",
                "sync; echo 3 | tee dropped",
                "grep -R NOTE file",
            ],
            &["grep -R NOTE file"],
        ),
        (
            &[
                "--prepare",
                "make clean",
                "--parameter-scan",
                "num_threads",
                "1",
                "3",
                "make -j {num_threads}",
            ],
            &["make -j 1", "make -j 2", "make -j 3", "and against it"],
        ),
        (
            &[
                "--parameter-scan",
                "delay",
                "0.003",
                "0.007",
                "-D",
                "0.002",
                "sleep {delay}",
            ],
            &["sleep 0.003", "sleep 0.005", "sleep 0.007"],
        ),
        (
            &["-L", "compiler", "cc,gcc", "{compiler} -O2 main.c"],
            &["cc -O2 main.c", "gcc -O2 main.c"],
        ),
        (
            &["--shell", "bash", "for i in {1..100}; do echo test; done"],
            &["for i in {1..100}", "A shell takes"],
        ),
        (&["-N", "grep NOTE file"], &["grep NOTE file"]),
        (
            &["my_function() { sleep 0.002; }; my_function"],
            &["my_function()"],
        ),
        (&[". ./alias.sh; my_alias"], &[". ./alias.sh; my_alias"]),
        (
            &["-S", "bash", "-r", "3", "my_function"],
            &["my_function", "3 runs"],
        ),
    ];
    for (arguments, said) in cases {
        let mut command = home.gritstone(&[&["bench", "--budget", "2s"], arguments].concat());
        // as bash exports a function
        command.env("BASH_FUNC_my_function%%", "() { sleep 0.002; }");
        let output = command.output().unwrap();
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {out}{err}");
        for text in said {
            assert!(
                out.contains(text),
                "{arguments:?} lacks {text:?}: {out}{err}"
            );
        }
    }
    for (file, what) in [
        ("dropped", "--prepare"),
        ("cleaned", "make clean"),
        ("made", "make"),
        ("a.out", "cc"),
    ] {
        assert!(
            home.path().join(file).exists(),
            "{what} was not carried out"
        );
    }
}

#[test]
fn two_commands_are_ranked_within_the_budget() {
    let home = Home::new();
    let (code, out, err) = home.run(&["bench", "--budget", "30s", "sleep 0.01", "sleep 0.02"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("sleep 0.01 is ") && out.contains("faster than sleep 0.02"),
        "{out}"
    );
    // each is a run of the store, and the trial can be shown again
    let bench = home.json(&[
        "bench",
        "--format",
        "json",
        "--label",
        "nap",
        "-r",
        "12",
        "true",
        "sleep 0.02",
    ]);
    assert_eq!(bench["rows"][0]["comparisons"][0]["pairs"], 12, "{bench}");
    assert_eq!(home.json(&["ab", "--of", "nap", "--format", "json"]), bench);
}

/// Everything that is done besides, in its order.
#[test]
fn hooks_run_where_hyperfine_runs_them() {
    let home = Home::new();
    let hooks = words("--setup SETUP --prepare PREPARE --conclude CONCLUDE --cleanup CLEANUP");
    let hooks = hooks.chunks(2).flat_map(|pair| {
        [
            pair[0].to_owned(),
            format!("echo {} >> log", pair[1].to_lowercase()),
        ]
    });
    let hooks: Vec<String> = hooks.collect();
    let mut all = words("bench -w 1 -r 2");
    all.extend(hooks.iter().map(String::as_str));
    all.push("echo run >> log");
    let (code, out, err) = home.run(&all);
    assert_eq!(code, 0, "{out}{err}");
    let log = fs::read_to_string(home.path().join("log")).unwrap();
    let once = "prepare run conclude ";
    let wanted = format!("setup {once}{once}{once}cleanup");
    assert_eq!(log.split_whitespace().collect::<Vec<_>>().join(" "), wanted);
}

#[test]
fn executions_are_numbered_as_hyperfine_numbers_them() {
    let home = Home::new();
    let mut all = words("bench -w 2 -r 3");
    all.push("echo $HYPERFINE_ITERATION >> log");
    let (code, out, err) = home.run(&all);
    assert_eq!(code, 0, "{out}{err}");
    let log = fs::read_to_string(home.path().join("log")).unwrap();
    assert_eq!(log, "warmup-0\nwarmup-1\n0\n1\n2\n");
}

#[test]
fn a_style_says_whether_there_is_color() {
    let home = Home::new();
    for (style, colored) in [
        ("color", true),
        ("full", true),
        ("basic", false),
        ("nocolor", false),
    ] {
        let words = ["bench", "-w", "0", "-r", "3", "--style", style, "true"];
        let output = home.gritstone(&words).env("CLICOLOR_FORCE", "1").output();
        let output = output.unwrap();
        let out = String::from_utf8_lossy(&output.stdout);
        assert_eq!(out.contains('\x1b'), colored, "{style}: {out:?}");
    }
}

#[test]
fn a_setup_with_a_parameter_holds_for_each_launch() {
    let home = Home::new();
    let check = "test \"$(cat which)\" = {x}";
    let (code, out, err) = home.run(&[
        "bench",
        "-r",
        "3",
        "-L",
        "x",
        "one,two",
        "-s",
        "echo {x} > which",
        check,
    ]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("it ran before each launch"), "{out}");
}

#[test]
fn input_output_and_statuses() {
    let home = Home::new();
    fs::write(home.path().join("in"), "b\na\n").unwrap();
    let (code, out, err) = home.run(&[
        "bench", "-r", "2", "--input", "in", "--output", "./out", "sort",
    ]);
    assert_eq!(
        (
            code,
            fs::read_to_string(home.path().join("out"))
                .unwrap()
                .as_str()
        ),
        (0, "a\nb\n"),
        "{out}{err}"
    );
    let (code, out, err) = home.run(&[
        "bench",
        "-r",
        "2",
        "--output",
        "pipe",
        "yes | head -c 300000",
    ]);
    assert_eq!(code, 0, "{out}{err}");
    let (_, out, err) = home.run(&["bench", "-r", "2", "--show-output", "echo seen"]);
    assert_eq!(out.matches("seen\n").count(), 2, "{out}{err}");
    let failing = ["bench", "-r", "2", "exit 3"];
    let (code, _, err) = home.run(&failing);
    assert!(code == 3 && err.contains("--ignore-failure"), "{err}");
    for (option, wanted) in [
        ("-i", 0),
        ("--ignore-failure", 0),
        ("-i=1,3", 0),
        ("-i=1", 3),
    ] {
        let (code, _, err) = home.run(&[&failing[..], &[option]].concat());
        assert_eq!(code, wanted, "{option}: {err}");
    }
}

#[test]
fn exports_are_those_of_hyperfine() {
    let home = Home::new();
    let formats = ["json", "csv", "markdown", "asciidoc", "orgmode"];
    let options: Vec<[String; 2]> = formats
        .map(|f| [format!("--export-{f}"), format!("t.{f}")])
        .into();
    let mut all = words("bench -r 3 -u millisecond -n {x}ms -L x 1,5 --style none");
    all.extend(options.iter().flatten().map(String::as_str));
    all.push("sleep 0.00{x}");
    let (code, out, err) = home.run(&all);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    let read = |format: &str| fs::read_to_string(home.path().join(format!("t.{format}"))).unwrap();
    let value: Value = serde_json::from_str(&read("json")).unwrap();
    let second = &value["results"][1];
    assert_eq!(second["command"], "5ms");
    assert_eq!(second["parameters"]["x"], "5");
    assert_eq!(second["exit_codes"], serde_json::json!([0, 0, 0]));
    let times = second["times"].as_array().unwrap();
    assert!(
        times.len() == 3 && times.iter().all(|t| t.as_f64().unwrap() >= 0.005),
        "{second}"
    );
    assert!(
        second["memory_usage_byte"][0].as_u64().unwrap() > 100_000,
        "{second}"
    );
    assert!(
        read("csv").starts_with("command,mean,stddev,median,user,system,min,max,parameter_x\n1ms,")
    );
    assert!(
        read("markdown")
            .starts_with("| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n|:---|---:|")
    );
    assert!(read("asciidoc").contains("| `5ms`\n") && read("orgmode").contains("| =5ms=  |"));
    let (code, _, err) = home.run(&["import", "t.json"]);
    assert_eq!(code, 0, "{err}");
    let (code, out, _) = home.run(&["bench", "-r", "1", "--export-csv", "-", "true"]);
    assert!(code == 0 && out.starts_with("command,mean,"), "{out}");
}

#[test]
fn a_reference_is_what_others_are_compared_with() {
    let home = Home::new();
    let all = [
        "bench",
        "--format",
        "json",
        "-r",
        "12",
        "--reference",
        "sleep 0.01",
        "sleep 0.03",
        "true",
    ];
    let said = home.json(&all);
    let comparisons = said["rows"][0]["comparisons"].as_array().unwrap().iter();
    let mut sides: Vec<[&str; 2]> = comparisons
        .map(|c| ["base", "other"].map(|key| c[key].as_str().unwrap()))
        .collect();
    sides.sort_unstable();
    assert_eq!(sides, [["a", "b"], ["a", "c"]], "{said}");
}

#[test]
fn an_option_behind_the_dashes_of_ab_is_named() {
    let home = Home::new();
    let (code, _, err) = home.run(&words("ab -- sleep 0.01 --budget 3s"));
    assert!(
        code == 2 && err.contains("--budget stands behind `--`"),
        "{err}"
    );
}
