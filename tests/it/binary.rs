//! The binary as used by a person. No test asserts an absolute time: only work, claims, shapes and codes.

use crate::common::{
    Home, at_hour, binary, ended, entries, flagged, flags, list, messages, mode, output_texts,
    program, reason, recorded, result, start, traces, with_id,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};

/// The run of seconds that is measured for real whenever anything is tested: from the command to the store, with all kinds of work.
#[test]
fn runs_are_stored_and_shown() {
    let home = Home::new();
    let dir = home.path().display();
    let benchmarks = "byte/fcall-* byte/disk-read byte/shell byte/object-size";
    let run = home.json(&format!("run {benchmarks} --quick --seed 7 --dir {dir}"));
    assert_eq!(run["schema"], "gritstone/run/2");
    assert_eq!(run["settings"]["seed"], 7);
    assert!(run["elapsed_s"].as_f64().unwrap() > 0.0);
    assert!(traces(&home).is_empty(), "{:?}", traces(&home));
    assert_eq!(list(&run["results"]).len(), 6);
    for row in list(&run["results"]) {
        assert_eq!(row["outcome"], "measured", "{row}");
        // a difference of two times may be none, and is below 0 by chance then
        let min = if row["kind"] == "derived" { f64::MIN } else { 0.0 };
        assert!(row["estimate"].as_f64().unwrap() > min, "{row}");
        assert!(!flagged(row, "invalid"), "{row}");
    }
    let shown = home.json("show last");
    assert_eq!(shown["results"], run["results"], "what is kept is the same");
}

fn family(row: &Value) -> &str {
    let id = row["id"].as_str().unwrap();
    id.split('/').next().unwrap()
}

#[test]
fn results_are_complete() {
    let home = Home::with(&["run"]);
    let run = home.json("show run");
    let of_byte = |row: &&Value| ["byte", "iocall"].contains(&family(row));
    let results = list(&run["results"]).iter().filter(of_byte);
    assert_eq!(results.clone().count(), 19, "of the first document and IOCALL");
    for row in results {
        assert_eq!(row["outcome"], "measured", "{row}");
        let id = row["id"].as_str().unwrap();
        let estimate = row["estimate"].as_f64().unwrap_or_else(|| panic!("{row}"));
        assert!(!flagged(row, "invalid"), "{row}");
        if id == "byte/object-size" {
            assert_eq!(row["interval"], Value::Null);
            let parts = list(&row["parts"]).iter();
            let sum: f64 = parts.map(|part| part["value"].as_f64().unwrap()).sum();
            assert!((sum - estimate).abs() < 0.5 && estimate > 100.0, "{row}");
            continue;
        }
        let interval = &row["interval"];
        let (low, high) = (interval[0].as_f64().unwrap(), interval[1].as_f64().unwrap());
        assert!(low <= estimate && estimate <= high, "{row}");
        assert!(row["launches"].as_u64().unwrap() >= 6, "{row}");
        let real = row["published"]["real_s"].as_f64().unwrap();
        assert!(real > 0.0 && real < 60.0, "{row}");
        if id != "byte/fcall-overhead" {
            let process = row["published"]["process_s"].as_f64().unwrap();
            assert!(process >= real * 0.9, "a process contains its work: {row}");
            assert!(row["ghz"].as_f64().unwrap() > 0.1, "{row}");
            assert_eq!(row["program"]["hash"].as_str().unwrap().len(), 64, "{row}");
        }
    }
    // where there are fewer CPUs than a benchmark takes, its result says so
    let why = reason(result(&run, "thread/mutex/64"));
    assert!(why.contains("takes 64 CPUs"), "{why}");
    // between any two CPUs, each pair once
    let pairs = list(&result(&run, "thread/ping-pong")["parts"]);
    assert!(!pairs.is_empty());
    for pair in pairs {
        let cpus = &pair["part"]["cpus"];
        let [a, b] = [0, 1].map(|index| cpus[index].as_u64().unwrap());
        assert!(a < b && pair["value"].as_f64().unwrap() > 0.0, "{pair}");
    }
    against_a_reference(&home, &run);
    the_brief(&home);
}

fn against_a_reference(home: &Home, run: &Value) {
    let view = home.json("compare ref:vax-11-780-4.1bsd run");
    let sieve = with_id(&view["rows"], "byte/sieve");
    let real = &result(run, "byte/sieve")["published"]["real_s"];
    let (ratio, expected) = (sieve["ratio"].as_f64(), 1.7 / real.as_f64().unwrap());
    let off = ratio.unwrap() / expected - 1.0;
    assert!(off.abs() < 1e-9, "{sieve}: not {expected} VAX-11/780s");
    assert_eq!(sieve["verdict"], "faster");
    let (_, text, _) = home.run("compare ref:vax-11-780-4.1bsd run");
    assert!(text.contains("relative to VAX-11/780"), "{text}");
    let error = home.refuses("compare ref:vax-11-780 run", "vax-11-780-4.1bsd");
    assert!(error.contains("vax-11-780-4.2bsd"), "{error}");
}

fn the_brief(home: &Home) {
    let printed = home.ok("report run --output brief.html --output brief.pdf");
    let files = ["brief.html", "brief.pdf"].map(|name| home.path().join(name));
    let paths = printed.lines().map(|line| fs::canonicalize(line).unwrap());
    let written = files.iter().map(|file| fs::canonicalize(file).unwrap());
    assert!(paths.eq(written), "{printed}");
    let pdf = fs::read(&files[1]).unwrap();
    assert!(pdf.starts_with(b"%PDF-") && pdf.ends_with(b"%%EOF"));
    let error = home.refuses("report run --output brief.docx", "brief.docx");
    assert!(error.contains(".pdf"), "{error}");
    let page = fs::read_to_string(&files[0]).unwrap();
    assert!(page.contains("<svg") && page.contains("VAX-11/780"));
    assert!(page.contains("<details id=\"byte-sieve\""));
    home.refuses("report run run -o same.html", "with itself");
    assert!(!home.path().join("same.html").exists());
    let three = "report run ref:vax-11-780-4.1bsd ref:sun-2-120-4.2bsd";
    home.refuses(three, "write one for each pair");
    home.ok("report run byte -o byte.html");
    let part = fs::read_to_string(home.path().join("byte.html")).unwrap();
    assert!(part.contains("id=\"byte-sieve\"") && !part.contains("id=\"iocall\""));
    home.refuses("report run run --against run", "leave out --against");
}

#[test]
fn wrong_names_get_suggestions() {
    let home = Home::new();
    let none = "no selected benchmark has a parameter 'tty'";
    for (arguments, what) in [
        ("run byte/pip", "did you mean 'byte/pipe'?"),
        ("list byte/multi", "did you mean 'byte/multi/*'?"),
        ("audit byte/pip", "did you mean 'byte/pipe'?"),
        ("history byte/pip", "did you mean 'byte/pipe'?"),
        ("show", "no run is stored yet"),
        ("show vax-11-780-4.1bsd", "ref:vax-11-780-4.1bsd"),
        ("show ref:vax-11-790", "vax-11-7"),
        ("show ./nowhere.json", "nowhere.json"),
        ("run --budget ten", "50ms, 90s or 10m"),
        ("run --precision 0", "such as 1%"),
        ("run byte/loop --dir /nonexistent", "--dir"),
        ("run byte/loop --against nothing", "no run"),
        ("run byte/loop --param tty", "KEY=VALUE"),
        ("run byte/loop --param tty=/dev/ttyS0", none),
        ("run aim/tty* --param ttyy=/dev/ttyS0", "did you mean 'tty'?"),
        ("run --resume --param tty=/dev/ttyS0", "cannot be used with"),
        ("fleet node --fleet a --node b --output x --dry-run byte/loop", "cannot be used with"),
    ] {
        let (_, out, _) = home.run(arguments);
        home.refuses(arguments, what);
        assert!(out.is_empty(), "{arguments}: {out}");
    }
}

#[test]
fn help_is_a_word_too() {
    let home = Home::new();
    let (code, by_word, error) = home.run("help run");
    assert_eq!((code, error.as_str()), (0, ""));
    assert_eq!(by_word, home.run("run --help").1);
    assert_eq!(home.run("help").1, home.run("--help").1);
}

#[test]
fn lists_and_machines() {
    let home = Home::new();
    let listed = home.json("list");
    let listed = list(&listed["benchmarks"]);
    for row in listed {
        let runnable = row["runnable"].as_bool().unwrap();
        assert_eq!(runnable, row["why_not"].is_null(), "{row}");
        assert!(!row["source"].as_str().unwrap().is_empty());
    }
    let machines = home.json("systems");
    let machines = list(&machines["systems"]);
    assert!(machines.len() >= 20, "{}", machines.len());
    // every published result belongs to a benchmark that there is, or says that there is none
    let mut shown = BTreeSet::new();
    for machine in machines {
        let dated = machine["document"].is_string() && machine["year"].is_i64();
        assert!(dated, "{machine}");
        if !shown.insert(machine["document"].as_str()) {
            continue;
        }
        let view = home.json(&["show", machine["id"].as_str().unwrap()]);
        for row in list(&view["results"]) {
            let known = listed.iter().any(|listed| listed["id"] == row["id"]);
            let says = messages(row).contains("Gritstone does not measure it");
            assert_eq!(known, !says, "{row}");
            let measured = machine["document"] == "measured";
            let outcome = if measured { "measured" } else { "published" };
            assert_eq!(row["outcome"], outcome);
            assert_eq!(row["interval"].is_array(), measured, "{row}");
        }
    }
    let vax = home.json("show ref:vax-11-780-4.1bsd");
    assert_eq!(result(&vax, "byte/pipe")["published"]["real_s"], 3.2);
    assert_eq!(result(&vax, "byte/multi/6")["published"]["real_s"], 13.8);
}

#[test]
fn missing_programs_skip_benchmarks() {
    let home = Home::new();
    // a PATH with the utilities but no compiler
    let bin = home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    for name in "sort od grep tee wc rm cat cut mkdir echo".split(' ') {
        std::os::unix::fs::symlink(program(&[name]), bin.join(name)).unwrap();
    }
    let private = home.path().join("binary");
    fs::copy(binary(), &private).unwrap();
    let [read_only, user_home] = ["checkout", "home"].map(|name| home.path().join(name));
    fs::create_dir(&read_only).unwrap();
    fs::create_dir(&user_home).unwrap();
    let line = "run byte/shell byte/loop byte/cc byte/object-size byte/multi/2 --quick";
    let mut command = Command::new(&private);
    command
        .args(line.split(' '))
        .args(["--format", "json"])
        .env_clear()
        .env("PATH", &bin)
        .env("HOME", &user_home)
        .current_dir(&read_only)
        .stdin(Stdio::null());
    if nix::unistd::geteuid().is_root() {
        let nobody = 65534;
        std::os::unix::fs::chown(user_home, Some(nobody), Some(nobody)).unwrap();
        for dir in [home.path(), bin.as_path(), read_only.as_path()] {
            mode(dir, 0o555);
        }
        command.uid(nobody).gid(nobody);
    }
    let (code, out, error) = output_texts(command.output().unwrap());
    mode(home.path(), 0o755);
    assert_eq!(code, 0, "{error}");
    let run: Value = serde_json::from_str(&out).unwrap();
    for id in ["byte/shell", "byte/loop", "byte/multi/2"] {
        assert_eq!(result(&run, id)["outcome"], "measured", "{id}: {error}");
    }
    for id in ["byte/cc", "byte/object-size"] {
        let row = result(&run, id);
        assert_eq!(row["outcome"], "skipped");
        assert_eq!(flags(row), ["skipped"]);
        assert!(reason(row).contains("apt-get install gcc"), "{row}");
    }
    let remark = "skipped: byte/cc, byte/object-size: ";
    assert!(error.contains(remark), "{error}");
}

#[test]
fn nothing_measured_exits_three() {
    let home = Home::new();
    // the second has a note on its document too, which is not why
    for benchmark in ["byte/cc", "multiuser/program-development@1"] {
        let mut command = home.gritstone(&format!("run {benchmark} --budget 20s"));
        let (code, _, error) = ended(command.env("PATH", "/nonexistent"));
        assert_eq!(code, 3, "{error}");
        let last = error.lines().last().unwrap();
        let parts = ["nothing could be measured", "apt-get install", "doctor"];
        assert!(parts.iter().all(|text| last.contains(text)), "{error}");
    }
}

#[test]
fn closed_pipes_are_no_error() {
    let home = Home::new();
    let arguments = "list --format json";
    let whole = home.ok(arguments);
    // less would fit into the pipe before the program notices the missing reader
    assert!(whole.len() > 1 << 16, "{}", whole.len());
    let mut child = start(&home, arguments, &[]);
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    // as cat(1) ends there
    let signal = nix::sys::signal::Signal::SIGPIPE as i32;
    assert_eq!(ended.status.signal(), Some(signal), "{:?}", ended.status);
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

#[test]
fn closed_pipes_leave_no_log() {
    let home = Home::new();
    let run = recorded("copies");
    home.import(&[at_hour(&run, 1, "a"), at_hour(&run, 2, "b")]);
    let mut child = start(&home, "compare a b", &[]);
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
    let store = home.store();
    assert_eq!(entries(store.parent().unwrap()), [&*store]);
}

#[test]
fn runs_come_from_files() {
    let home = Home::new();
    let text = home.ok("show ref:vax-11-750-4.1bsd --format json");
    fs::write(home.path().join("vax.json"), &text).unwrap();
    assert_eq!(home.ok("show ./vax.json --format json"), text);
    for (bad, what) in [
        ("{", "not a run"),
        ("{}", "not a run"),
        (r#"{"schema":"gritstone/run/9"}"#, "gritstone/run/9"),
        (r#"{"schema":"gritstone/run/2"}"#, "damaged"),
    ] {
        fs::write(home.path().join("bad.json"), bad).unwrap();
        home.refuses("show ./bad.json", what);
    }
}

#[test]
fn parameters_are_stored_with_results() {
    let home = Home::new();
    let run = home.json("run --quick aim/ram-copy/long aim/getpid --param bytes=8192");
    assert_eq!(run["settings"]["params"]["bytes"], "8192");
    let row = result(&run, "aim/ram-copy/long");
    assert_eq!(row["measured"], "two times 8192 bytes");
    assert!(flagged(row, "not-comparable"), "{row}");
    assert!(!flagged(result(&run, "aim/getpid"), "not-comparable"));

    // what the program makes of nonsense is no figure
    let nonsense = "run aim/tty1-write --budget 20s --param tty=/dev/null";
    home.fails(3, nonsense, "/dev/null is not a terminal");
}
