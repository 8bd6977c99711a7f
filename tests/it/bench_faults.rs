//! `bench` and `ab` in unusual situations: no measurement is lost, no unexpected command is executed, no meaningless number is shown.

use crate::common::{Arguments, Home, UNPRIVILEGED, ended, fixture, list, make_script, needs_root};
use serde_json::Value;
use std::fs;
use std::os::unix::process::CommandExt;

/// How often a command has appended a line.
fn lines(home: &Home, file: &str) -> usize {
    let text = fs::read_to_string(home.path().join(file));
    text.map_or(0, |text| text.lines().count())
}

/// Options and one command.
fn bench<'a>(options: &'a str, command: &'a str) -> Vec<&'a str> {
    let mut words = vec!["bench"];
    words.extend(options.words());
    words.push(command);
    words
}

#[test]
fn failed_settings_are_undone_once() {
    let home = Home::new();
    let setting = "echo x >> h; exit 3";
    let ab = ["ab", "--budget=1s", "--a", setting, "--b=true", "--", "true"];
    home.fails(3, &ab, "the setting of side a failed");
    for _ in 0..2 {
        let (code, _, error) = home.run("bench -r 1 true");
        assert_eq!((code, error.as_str()), (0, ""));
    }
    assert!((1..=2).contains(&lines(&home, "h")));
    // an undo that fails is said once
    let undo = "echo x >> undone; exit 3";
    let ab = ["ab", "--budget=1s", "--a=true", "--b=true", "--undo", undo, "--", "true"];
    let (_, _, error) = home.run(&ab);
    assert_eq!(error.matches("do it by hand").count(), 1, "{error}");
    let (_, _, error) = home.run("bench -r 1 true");
    assert_eq!((error.as_str(), lines(&home, "undone")), ("", 1));
    assert!(home.journals().is_empty());
}

#[test]
fn targets_are_checked_before_launches() {
    let home = Home::new();
    for format in ["json", "csv", "markdown", "asciidoc", "orgmode"] {
        let export = format!("--export-{format}=/nonexistent/x");
        let words = bench("-r 2", "echo >> executed");
        home.refuses(&[&words[..], &[&export]].concat(), "/nonexistent/x");
    }
    home.refuses(&bench("-r 2 --output ./none/x", "echo >> executed"), "cannot write ./none/x");
    assert_eq!(lines(&home, "executed"), 0);
    let node = "fleet node --fleet f --node n --output /nonexistent/x byte/loop --quick";
    home.refuses(node, "cannot write /nonexistent/x");
    assert!(!home.store().exists());
}

#[test]
fn interrupted_hooks_end_the_test() {
    let home = Home::new();
    for hook in ["--setup", "--cleanup"] {
        let words = ["bench", "-r1", hook, "kill -INT $PPID; kill -INT $$", "true"];
        let (code, _, error) = home.run(&words);
        assert!(code == 130 && !error.contains("failed"), "{hook}: {code} {error}");
    }
}

#[test]
fn results_come_before_failures() {
    let home = Home::new();
    let words = bench("-r 2 --export-csv c.csv -c", "exit 1");
    let (code, out, error) = home.run(&[&words[..], &["true"]].concat());
    assert_eq!(code, 3, "{error}");
    assert!(error.contains("the cleanup 'exit 1' failed: exit status 1"));
    assert!(out.contains("2 runs"), "{out}");
    assert_eq!(lines(&home, "c.csv"), 2);
    // a command that fails later
    let flaky = "echo >> n; test $(wc -l < n) -lt 3";
    let (code, out, error) = home.run(&bench("-r 5 --label flaky --export-csv f.csv", flaky));
    assert_eq!(code, 3, "{error}");
    assert!(out.contains("2 runs") && lines(&home, "f.csv") == 2, "{out}");
    assert!(error.contains("exit status 1. Use -i"), "{error}");
    home.ok("ab --of flaky");
    // an export that fails later keeps no other from being written
    let words = "bench -r 1 --export-csv full --export-json ok.json".words();
    let fills = "rm -f full; mkdir full";
    let (code, out, error) = home.run(&[&words[..], &[fills]].concat());
    assert!(code == 2 && out.contains("1 run"), "{code}: {out}{error}");
    assert!(error.contains("gritstone ab --of bench-"), "{error}");
    assert!(home.path().join("ok.json").exists());
}

#[test]
fn cleanup_follows_setup_only() {
    let home = Home::new();
    let words = ["bench", "-r1", "-s", "exit 7", "-c", "echo >> cleaned", "true"];
    home.fails(3, &words, "the setup 'exit 7' failed: exit status 7");
    assert_eq!(lines(&home, "cleaned"), 0);
}

#[test]
fn early_interrupts_clean_up() {
    let home = Home::new();
    let setup = "echo {x} $PPID > pid";
    let command = "kill -INT $(cut -d ' ' -f 2 pid); sleep 9";
    let hooks = ["-s", setup, "-c", "echo >> cleaned"];
    let (code, _, error) =
        home.run(&[&["bench", "-r1", "-L", "x", "1,2"], &hooks[..], &[command]].concat());
    assert_eq!((code, lines(&home, "cleaned")), (130, 1), "{error}");
}

#[test]
fn failures_name_what_failed() {
    let home = Home::new();
    for (options, wanted) in [
        ("--prepare false", "true: --prepare 'false' failed: exit status 1"),
        ("-C false", "true: --conclude 'false' failed: exit status 1"),
        ("-S nosuchshell", "the shell cannot be timed: nosuchshell cannot be started"),
    ] {
        home.fails(3, &bench(&format!("-r1 {options}"), "true"), wanted);
    }
    let words = bench("-r 2", "gzip -1 -k -c absent");
    let error = home.fails(3, &words, "gzip -1 -k -c absent: exit status 1 (gzip: absent");
    assert!(error.contains("Use -i") && !error.contains("side"), "{error}");
    let (_, out, _) = home.run(&["bench", "-w0", "-r2", "true", "mkdir once"]);
    let wanted =
        out.contains("1 interleaved pair; mkdir once failed") && !out.contains("raise --budget");
    assert!(wanted, "{out}");
}

#[test]
fn requests_allow_background_processes() {
    let home = Home::new();
    let conclude = "--conclude=kill $(cat p)";
    let command = "sleep 9 & echo $! > p";
    let refused = ["bench", "-r1", conclude, command];
    home.fails(3, &refused, "--allow-background");
    home.ok(&["bench", "-r1", "--allow-background", conclude, command]);
    let ab = ["ab", "--self", "--budget=1s", "--allow-background", conclude, "--", command];
    let (code, _, error) = home.run(&ab);
    assert!([0, 4].contains(&code), "{code}: {error}");
}

#[test]
fn outputs_beyond_memory_are_named() {
    let home = Home::new();
    let command = "head -c 1100000000 /dev/zero";
    for options in ["-r 1", "-r 1 -i"] {
        let error = home.fails(3, &bench(options, command), "1 GiB");
        assert!(error.contains("--output"), "{error}");
    }
    home.ok(&bench("-r 1 --output null", command));
}

#[test]
fn ignored_failures_are_marked() {
    let home = Home::new();
    let out = home.ok(&bench("-r 3 -i", "exit 5"));
    assert!(out.contains("3 of 3 runs failed (exit status 5)"), "{out}");
    // signals too
    let json = &["--export-json", "-", "--style", "none"];
    let out = home.ok(&[&bench("-r 2 -i", "kill -9 $$")[..], json].concat());
    let value: Value = serde_json::from_str(&out).unwrap();
    let codes = &value["results"][0]["exit_codes"];
    assert_eq!(codes, &serde_json::json!([null, null]), "{out}");
    let flaky = "echo >> n; test $(wc -l < n) -gt 2";
    let view = home.json(&bench("-r 5 --leave-out-failures", flaky));
    let side = &view["rows"][0]["figures"][0];
    assert_eq!((&side["samples"], &side["left_out"]), (&3.into(), &2.into()));
    let all = bench("-r 2 --leave-out-failures", "exit 1");
    home.fails(3, &all, "all executions failed");
}

#[test]
fn zero_times_have_no_ratio() {
    let home = Home::new();
    let shell = fixture("run").with_file_name("slow-only-when-idle");
    let words =
        "bench -r 3 --export-markdown - --export-orgmode o --export-asciidoc a --export-csv c";
    let words = [words.words(), vec!["-S", shell.to_str().unwrap()]].concat();
    let commands = ["true", ":", "sleep 0.2"];
    let mut all = home.ok(&[&words[..], &commands].concat());
    assert!(all.contains("no ratio") && all.contains("not measurable"), "{all}");
    for file in ["o", "a", "c"] {
        all += &fs::read_to_string(home.path().join(file)).unwrap();
    }
    for number in ["NaN", "inf "] {
        assert!(!all.contains(number), "{all}");
    }
    let view = home.json(&[&words[..3], &words[11..], &commands].concat());
    let row = &view["rows"][0];
    assert_eq!(row["figures"][0]["at_most"], true, "{view}");
    assert!(list(&row["comparisons"]).iter().all(|c| c["ratio"].is_null()), "{view}");
}

#[test]
fn relative_paths_lead_from_here() {
    let home = Home::new();
    fs::write(home.path().join("shell"), "exec /bin/sh -c \"$2\"\n").unwrap();
    fs::write(home.path().join("input"), "x\n").unwrap();
    crate::common::mode(&home.path().join("shell"), 0o755);
    // a script without #!, too
    home.ok(&bench("-r 1 -S ./shell --input input --output ./out", "cat; echo seen"));
    assert_eq!(fs::read_to_string(home.path().join("out")).unwrap(), "x\nseen\n");
    home.ok(&["bench", "-r1", "--subtract=./shell -c true", "./shell -c true"]);
    home.ok("bench -r 1 -N ./shell");
    let (code, _, error) = home.run("ab --self --budget 1s --prepare ./shell -- ./shell");
    assert!([0, 4].contains(&code), "{code}: {error}");
}

#[test]
fn words_and_values_stay_unchanged() {
    let home = Home::new();
    let words = "bench -r 1 -L a {b},x -L b 1,2 --style none --export-csv -".words();
    let out = home.ok(&[&words[..], &["echo {a} {b}"]].concat());
    assert!(out.contains("\necho {b} 1,"), "{out}");
    fs::write(home.path().join("a\u{a0}b"), "x").unwrap();
    for options in ["-r 1", "-r 1 -N"] {
        home.ok(&bench(options, "cat a\u{a0}b"));
    }
    let (code, _, error) = home.run(&["ab", "--self", "--budget=1s", "--", "cat", "a\u{a0}b"]);
    assert!([0, 4].contains(&code), "{code}: {error}");
}

#[test]
fn equal_names_are_refused() {
    let home = Home::new();
    home.refuses("bench -r 1 -n a -n a true false", "the name 'a'");
    home.refuses("bench -r 1 -n false true false", "the name 'false'");
    home.ok("bench -r 1 true true");
}

#[test]
fn runs_are_executions() {
    let home = Home::new();
    let hooks = ["-p", "echo >> prepared", "-C", "echo >> concluded"];
    for (options, executions) in
        [("-w 0 -r 4", 4), ("-w 3 -r 4", 7), ("-w 0 -M 3", 3), ("-r 101", 101)]
    {
        let words = [&bench(options, "echo >> executed")[..], &hooks].concat();
        home.ok(&words);
        for file in ["executed", "prepared", "concluded"] {
            assert_eq!(lines(&home, file), executions, "{options}: {file}");
            fs::remove_file(home.path().join(file)).unwrap();
        }
    }
    // without a number too, of one command and of two
    for commands in [&["echo >> a"][..], &["echo >> a", "echo >> b"]] {
        let words = [&["bench", "--budget=1s", "--export-json=t.json"][..], commands].concat();
        home.ok(&words);
        let text = fs::read_to_string(home.path().join("t.json")).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        for (result, file) in list(&value["results"]).iter().zip(["a", "b"]) {
            assert_eq!(list(&result["times"]).len(), lines(&home, file));
            fs::remove_file(home.path().join(file)).unwrap();
        }
    }
}

#[test]
fn installed_programs_are_found() {
    let home = Home::new();
    let (new, old) = (home.path().join("new"), home.path().join("old"));
    for folder in [&new, &old] {
        fs::create_dir(folder).unwrap();
    }
    make_script(old.join("tool"), "echo >> old.log");
    make_script(home.path().join("built"), "echo >> new.log");
    let prepare = ["--prepare", "cp built new/tool"];
    let words = [&bench("-N -w 0 -r 2", "tool")[..], &prepare].concat();
    let mut command = home.gritstone(&words);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{}:{path}", new.display(), old.display()));
    let (code, _, error) = ended(&mut command);
    assert_eq!(code, 0, "{error}");
    assert_eq!((lines(&home, "new.log"), lines(&home, "old.log")), (2, 0));
}

#[test]
fn one_command_ends_by_itself() {
    let home = Home::new();
    // what takes long is executed ten times, and what is short no longer than that would take
    let out = home.ok(&bench("--style basic", "echo >> long; sleep 0.4"));
    assert!(out.contains("10 runs") && lines(&home, "long") == 10, "{out}");
    let out = home.ok(&bench("--budget 1s", "echo >> asked; sleep 0.4"));
    assert!(lines(&home, "asked") < 10, "{out}");
}

#[test]
fn screens_say_what_they_show() {
    let home = Home::new();
    let words = ["bench", "-w1", "-r4", "--percentiles=50,95", "-n", "nap", "sleep 0.02"];
    let out = home.ok(&words);
    for text in [
        "nap",
        "estimate",
        "4 runs + 1 warm-up",
        "mean",
        " ± ",
        "min ",
        "max ",
        "user ",
        "system ",
        " MB",
        "p50 ",
        "p95 ",
    ] {
        assert!(out.contains(text), "{text:?}: {out}");
    }
    home.refuses("bench --percentiles 101 true", "from 0 to 100");
}

#[test]
fn closed_configurations_are_skipped_as_root() {
    needs_root();
    let home = Home::new();
    let folder = home.path().join(".config/gritstone");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), "").unwrap();
    crate::common::mode(&home.path().join(".config"), 0o700);
    crate::common::mode(home.path(), 0o755);
    let theirs = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(theirs.path(), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
    let store = theirs.path().join("x.db");
    let mut command = home.command(crate::common::binary());
    command.args(["--store", store.to_str().unwrap(), "bench", "-r1", "true"]);
    command.env("TMPDIR", theirs.path()).current_dir(theirs.path());
    command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
    let (code, out, error) = ended(&mut assert_cmd::Command::from_std(command));
    assert_eq!(code, 0, "{out}{error}");
    assert!(error.contains("config.toml is not read"), "{error}");
}
