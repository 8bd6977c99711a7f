//! `gritstone bench` as a person who knows hyperfine uses it.

use crate::common::{Arguments, Home, binary, ended, list};
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// The examples of hyperfine's README, with shorter times and smaller files, and what each must say or leave.
#[test]
#[ignore = "measures: make test-full"]
fn hyperfine_examples_work() {
    let home = Home::new();
    fs::write(home.path().join("main.c"), "int main(void) { return 0; }\n").unwrap();
    fs::write(home.path().join("file"), "NOTE\nsome text\n").unwrap();
    let make = "all:\n\t@echo $(X) >> made\nclean:\n\t@echo >> cleaned\n";
    fs::write(home.path().join("Makefile"), make).unwrap();
    let alias = "my_alias() { sleep 0.002; }\n";
    fs::write(home.path().join("alias.sh"), alias).unwrap();
    let prepare = "--prepare=sync; echo 3 | tee dropped";
    let bash = "for i in {1..100}; do echo test; done";
    let function = "my_function() { sleep 0.002; }; my_function";
    let naps = ["sleep 0.003", "sleep 0.005", "sleep 0.007"];
    let cases: [(&str, &[&str], &[&str]); 13] = [
        ("", &["sleep 0.03"], &["sleep 0.03", " ms  [", " runs"]),
        ("--runs 5", &["sleep 0.003"], &["5 runs"]),
        ("", &["cat file", "sort file"], &["cat file", "sort file", "interleaved pair"]),
        ("--warmup 3", &["grep -R NOTE *"], &["grep -R NOTE *", "A shell takes"]),
        ("", &[prepare, "grep -R NOTE file"], &["grep -R NOTE file"]),
        (
            "--parameter-scan num_threads 1 3",
            &["--prepare=make clean", "make -j {num_threads}"],
            &["make -j 1", "make -j 2", "make -j 3", "and against it"],
        ),
        ("--parameter-scan delay 0.003 0.007 -D 0.002", &["sleep {delay}"], &naps),
        (
            "-r 3 -L compiler cc,gcc",
            &["{compiler} -O2 main.c"],
            &["cc -O2 main.c", "gcc -O2 main.c"],
        ),
        ("--shell bash", &[bash], &["for i in {1..100}", "A shell takes"]),
        ("-N", &["grep NOTE file"], &["grep NOTE file"]),
        ("", &[function], &["my_function()"]),
        ("", &[". ./alias.sh; my_alias"], &[". ./alias.sh; my_alias"]),
        ("-S bash -r 3", &["my_function"], &["my_function", "3 runs"]),
    ];
    for (options, commands, printed) in cases {
        // what has a number of runs ends by itself, however busy the machine is
        let budget = if options.contains("-r ") { "2m" } else { "2s" };
        let options = format!("bench --budget {budget} {options}");
        let mut command = home.gritstone(&[&options.words(), commands].concat());
        // as bash exports a function
        command.env("BASH_FUNC_my_function%%", "() { sleep 0.002; }");
        let (code, out, err) = ended(&mut command);
        assert_eq!(code, 0, "{options}: {out}{err}");
        for text in printed {
            assert!(out.contains(text), "{options}: {text:?}: {out}");
        }
    }
    for file in ["dropped", "cleaned", "made", "a.out"] {
        assert!(home.path().join(file).exists(), "nothing made {file}");
    }
}

#[test]
fn budget_ranks_two_commands() {
    let home = Home::new();
    let out = home.ok(&["bench", "--budget", "30s", "sleep 0.01", "sleep 0.02"]);
    let ranked = ["sleep 0.01 is ", "faster than sleep 0.02"];
    assert!(ranked.iter().all(|text| out.contains(text)), "{out}");
    // each is a run of the store, and the trial can be shown again
    let bench = home.json(&["bench", "--label=nap", "-r12", "true", "sleep 0.02"]);
    assert_eq!(bench["rows"][0]["comparisons"][0]["pairs"], 12, "{bench}");
    // its exit code is that of the verdict, which a busy machine may leave open
    let again = home.run("ab --format json --of nap").1;
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap(), bench);
}

/// Everything that is done besides, in its order.
#[test]
fn hooks_match_hyperfine() {
    let home = Home::new();
    let hooks = ["setup", "prepare", "conclude", "cleanup"];
    let hooks = hooks.map(|hook| format!("--{hook}=echo {hook} >> log"));
    let mut all = vec!["bench", "-w1", "-r2"];
    all.extend(hooks.iter().map(String::as_str));
    all.push("echo run >> log");
    home.ok(&all);
    let log = fs::read_to_string(home.path().join("log")).unwrap();
    let once = "prepare run conclude ";
    let wanted = format!("setup {once}{once}{once}cleanup");
    assert_eq!(log.split_whitespace().collect::<Vec<_>>().join(" "), wanted);
}

#[test]
fn execution_numbers_match_hyperfine() {
    let home = Home::new();
    home.ok(&["bench", "-w", "2", "-r", "3", "echo $HYPERFINE_ITERATION >> log"]);
    let log = fs::read_to_string(home.path().join("log")).unwrap();
    assert_eq!(log, "warmup-0\nwarmup-1\n0\n1\n2\n");
}

#[test]
fn styles_set_color() {
    let home = Home::new();
    for (style, colored) in [("color", true), ("full", true), ("basic", false), ("nocolor", false)]
    {
        let words = ["bench", "-w", "0", "-r", "3", "--style", style, "true"];
        let output = home.gritstone(&words).env("CLICOLOR_FORCE", "1").output();
        let output = output.unwrap();
        let out = String::from_utf8_lossy(&output.stdout);
        assert_eq!(out.contains('\x1b'), colored, "{style}: {out:?}");
    }
}

#[test]
fn ascii_output_is_complete() {
    let out = Home::new().ok("bench --no-store --ascii -r3 true true");
    assert!(out.is_ascii() && out.contains("+-"), "{out}");
}

#[test]
fn parameterized_setup_precedes_launches() {
    let home = Home::new();
    let check = "test \"$(cat which)\" = {x}";
    let setup = ["bench", "-r3", "-L", "x", "one,two", "-s"];
    let out = home.ok(&[&setup[..], &["echo {x} > which", check]].concat());
    assert!(out.contains("it ran before each launch"), "{out}");
}

#[test]
fn input_output_and_statuses() {
    let home = Home::new();
    fs::write(home.path().join("in"), "b\na\n").unwrap();
    home.ok("bench -r 2 --input in --output ./out sort");
    let sorted = fs::read_to_string(home.path().join("out")).unwrap();
    assert_eq!(sorted, "a\nb\n");
    home.ok(&["bench", "-r2", "--output=pipe", "yes | head -c 300000"]);
    let out = home.ok(&["bench", "-r2", "--show-output", "echo seen"]);
    assert_eq!(out.matches("seen\n").count(), 2, "{out}");
    // into a file, which has a position of its own for each of them
    let file = fs::File::create(home.path().join("shown")).unwrap();
    let mut into_file = home.command(binary());
    into_file.args(["bench", "-r2", "--show-output", "echo seen"]);
    assert!(into_file.stdout(file).status().unwrap().success());
    let shown = fs::read_to_string(home.path().join("shown")).unwrap();
    assert!(shown.starts_with("seen\nseen\n") && shown.contains("2 runs"), "{shown}");
    let failing = ["bench", "-r2", "exit 3"];
    home.fails(3, &failing, "exit 3: exit status 3. Use -i to time it anyway");
    for (option, wanted) in [("-i", 0), ("--ignore-failure", 0), ("-i=1,3", 0), ("-i=1", 3)] {
        let (code, _, err) = home.run(&[&failing[..], &[option]].concat());
        assert_eq!(code, wanted, "{option}: {err}");
    }
}

#[test]
fn exports_are_those_of_hyperfine() {
    let home = Home::new();
    let formats = ["json", "csv", "markdown", "asciidoc", "orgmode"];
    let exports = formats.map(|format| format!("--export-{format}=t.{format}"));
    let mut all = "bench -r3 -u millisecond -n {x}ms -L x 1,5 --style none".words();
    all.extend(exports.iter().map(String::as_str));
    all.push("sleep 0.00{x}");
    assert_eq!(home.ok(&all), "");
    let read = |format: &str| fs::read_to_string(home.path().join(format!("t.{format}"))).unwrap();
    let value: Value = serde_json::from_str(&read("json")).unwrap();
    let second = &value["results"][1];
    assert_eq!(second["command"], "5ms");
    assert_eq!(second["parameters"]["x"], "5");
    assert_eq!(second["exit_codes"], serde_json::json!([0, 0, 0]));
    let times = list(&second["times"]);
    assert_eq!(times.len(), 3);
    assert!(times.iter().all(|t| t.as_f64().unwrap() >= 0.005), "{second}");
    let memory = second["memory_usage_byte"][0].as_u64().unwrap();
    assert!(memory > 100_000, "{second}");
    for (format, begins) in [
        ("csv", "command,mean,stddev,median,user,system,min,max,parameter_x\n1ms,"),
        ("markdown", "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n|:---|---:|"),
    ] {
        assert!(read(format).starts_with(begins), "{}", read(format));
    }
    assert!(read("asciidoc").contains("| `5ms`\n") && read("orgmode").contains("| =5ms=  |"));
    home.ok("import t.json");
    let out = home.ok("bench -r 1 --export-csv - true");
    assert!(out.starts_with("command,mean,"), "{out}");
}

#[test]
fn others_compare_with_the_reference() {
    let home = Home::new();
    let printed = home.json(&["bench", "-r12", "--reference=sleep 0.01", "sleep 0.03", "true"]);
    let comparisons = list(&printed["rows"][0]["comparisons"]).iter();
    let mut sides: Vec<[&str; 2]> =
        comparisons.map(|c| ["base", "other"].map(|key| c[key].as_str().unwrap())).collect();
    sides.sort_unstable();
    assert_eq!(sides, [["a", "b"], ["a", "c"]], "{printed}");
}

#[test]
fn misplaced_ab_options_are_named() {
    let behind = "ab -- sleep 0.01 --budget 3s";
    Home::new().refuses(behind, "--budget comes after `--`");
    // it has one meaning, in bench: a command after the last execution
    let cleanup = "ab --cleanup true -- true";
    Home::new().refuses(cleanup, "unexpected argument '--cleanup'");
}

#[test]
fn inherited_output_may_be_sockets() {
    let home = Home::new();
    let (mut ours, its) = UnixStream::pair().unwrap();
    let mut command = home.command(binary());
    let words = ["bench", "-N", "-r", "1", "--output", "inherit", "echo said"];
    let status = command.args(words).stdout(OwnedFd::from(its)).status();
    drop(command);
    let mut text = String::new();
    ours.read_to_string(&mut text).unwrap();
    assert!(status.unwrap().success() && text.contains("said\n"), "{text}");
}
