//! The binary, used as a person uses it. No test asserts an absolute time: work done, claims kept, shapes and codes.

use crate::common::{
    Home, at_hour, binary, ended, flagged, flags, messages, reason, recorded, result, start,
    traces, words,
};
use serde_json::Value;
use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};

/// The run of seconds that is measured for real whenever anything is tested: from the command to the store, with all kinds of work.
#[test]
fn a_run_measures_keeps_and_shows() {
    let home = Home::new();
    let dir = home.path().to_str().unwrap();
    let rows = [
        "byte/fcall-*",
        "byte/disk-read",
        "byte/shell",
        "byte/object-size",
    ];
    let how = ["--quick", "--seed", "7", "--format", "json", "--dir", dir];
    let run = home.json(&[&["run"], &rows[..], &how].concat());
    assert_eq!(run["schema"], "gritstone/run/2");
    assert_eq!(run["settings"]["seed"], 7);
    assert!(run["elapsed_s"].as_f64().unwrap() > 0.0);
    assert!(traces(&home).is_empty(), "{:?}", traces(&home));
    assert_eq!(run["results"].as_array().unwrap().len(), 6);
    for row in run["results"].as_array().unwrap() {
        assert_eq!(row["outcome"], "measured", "{row}");
        assert!(row["estimate"].as_f64().unwrap() > 0.0, "{row}");
        assert!(!flagged(row, "invalid"), "{row}");
    }
    let shown = home.json(&["show", "last", "--format", "json"]);
    assert_eq!(shown["results"], run["results"], "what is kept is the same");
}

fn family(row: &Value) -> &str {
    let id = row["id"].as_str().unwrap();
    id.split('/').next().unwrap()
}

#[test]
fn all_rows_have_figures_and_everything_that_belongs_to_them() {
    let home = Home::with(&["run"]);
    let run = home.json(&["show", "run", "--format", "json"]);
    let of_byte = |row: &&Value| ["byte", "iocall"].contains(&family(row));
    let rows = run["results"].as_array().unwrap().iter().filter(of_byte);
    assert_eq!(rows.clone().count(), 19, "of the first document and IOCALL");
    for row in rows {
        assert_eq!(row["outcome"], "measured", "{row}");
        let id = row["id"].as_str().unwrap();
        let estimate = row["estimate"].as_f64().unwrap_or_else(|| panic!("{row}"));
        assert!(!flagged(row, "invalid"), "{row}");
        if id == "byte/object-size" {
            assert_eq!(row["interval"], Value::Null);
            let parts = row["parts"].as_array().unwrap();
            let sum: f64 = parts
                .iter()
                .map(|part| part["value"].as_f64().unwrap())
                .sum();
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
    // where there are fewer CPUs than a row takes, the row says so
    let why = reason(result(&run, "thread/mutex/64"));
    assert!(why.contains("takes 64 CPUs"), "{why}");
    // between any two CPUs, each pair once
    let pairs = result(&run, "thread/ping-pong")["parts"]
        .as_array()
        .unwrap();
    assert!(!pairs.is_empty());
    for pair in pairs {
        let cpus = &pair["part"]["cpus"];
        let [a, b] = [0, 1].map(|at| cpus[at].as_u64().unwrap());
        assert!(a < b && pair["value"].as_f64().unwrap() > 0.0, "{pair}");
    }
    against_a_reference(&home, &run);
    the_brief(&home);
}

fn against_a_reference(home: &Home, run: &Value) {
    let view = home.json(&words("compare ref:vax-11-780-4.1bsd run --format json"));
    let rows = view["rows"].as_array().unwrap();
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap();
    let ratio = row("byte/sieve")["ratio"].as_f64().unwrap();
    let expected = 1.7
        / result(run, "byte/sieve")["published"]["real_s"]
            .as_f64()
            .unwrap();
    assert!(
        (ratio / expected - 1.0).abs() < 1e-9,
        "{ratio} VAX-11/780s, not {expected}"
    );
    assert_eq!(row("byte/sieve")["verdict"], "faster");
    let (_, text, _) = home.run(&["compare", "ref:vax-11-780-4.1bsd", "run"]);
    assert!(text.contains("VAX-11/780s"), "{text}");
    let (code, _, error) = home.run(&["compare", "ref:vax-11-780", "run"]);
    assert_eq!(code, 2);
    assert!(
        error.contains("vax-11-780-4.1bsd") && error.contains("vax-11-780-4.2bsd"),
        "{error}"
    );
}

fn the_brief(home: &Home) {
    let both = ["--out", "brief.html", "--out", "brief.pdf"];
    let (code, said, error) = home.run(&[&["brief", "run"], &both[..]].concat());
    assert_eq!(code, 0, "{error}");
    let files = ["brief.html", "brief.pdf"].map(|name| home.path().join(name));
    let canonical = |path: &Path| path.canonicalize().unwrap();
    assert_eq!(
        said.lines()
            .map(|l| canonical(Path::new(l)))
            .collect::<Vec<_>>(),
        files.each_ref().map(|f| canonical(f))
    );
    let pdf = fs::read(&files[1]).unwrap();
    assert!(pdf.starts_with(b"%PDF-") && pdf.ends_with(b"%%EOF"));
    let (code, _, error) = home.run(&["brief", "run", "--out", "brief.docx"]);
    assert_eq!(code, 2);
    assert!(
        error.contains("brief.docx") && error.contains(".pdf"),
        "{error}"
    );
    let page = fs::read_to_string(&files[0]).unwrap();
    assert!(page.contains("<svg") && page.contains("VAX-11/780"));
    assert!(page.contains("<details id=\"byte-sieve\""));
    let (code, _, error) = home.run(&["report", "run", "run", "-o", "same.html"]);
    assert!(code == 2 && error.contains("with itself"), "{error}");
    assert!(!home.path().join("same.html").exists());
    let three = [
        "report",
        "run",
        "ref:vax-11-780-4.1bsd",
        "ref:sun-2-120-4.2bsd",
    ];
    let (code, _, error) = home.run(&three);
    assert!(
        code == 2 && error.contains("write one for each pair"),
        "{error}"
    );
    let (code, _, error) = home.run(&["report", "run", "byte", "-o", "byte.html"]);
    assert_eq!(code, 0, "{error}");
    let part = fs::read_to_string(home.path().join("byte.html")).unwrap();
    assert!(part.contains("id=\"byte-sieve\"") && !part.contains("id=\"iocall\""));
    let again = ["report", "run", "run", "--against", "run"];
    let (code, _, error) = home.run(&again);
    assert!(
        code == 2 && error.contains("leave out --against"),
        "{error}"
    );
}

#[test]
fn wrong_names_are_answered_with_near_ones() {
    let home = Home::new();
    for (arguments, what) in [
        (&["run", "byte/pip"][..], "did you mean 'byte/pipe'?"),
        (&["list", "byte/multi"], "did you mean 'byte/multi/*'?"),
        (&["audit", "byte/pip"], "did you mean 'byte/pipe'?"),
        (&["history", "byte/pip"], "did you mean 'byte/pipe'?"),
        (&["show"], "no run is stored yet"),
        (&["show", "vax-11-780-4.1bsd"], "ref:vax-11-780-4.1bsd"),
        (&["show", "ref:vax-11-790"], "vax-11-7"),
        (&["show", "./nowhere.json"], "nowhere.json"),
        (&["run", "--budget", "ten"], "90s, 10m or 1h"),
        (&["run", "--precision", "0"], "such as 1%"),
        (&["run", "byte/loop", "--dir", "/nonexistent"], "--dir"),
        (&["run", "byte/loop", "--against", "nothing"], "no run"),
        (&["run", "byte/loop", "--param", "tty"], "KEY=VALUE"),
        (
            &["run", "byte/loop", "--param", "tty=/dev/ttyS0"],
            "no selected benchmark has a parameter 'tty'",
        ),
        (
            &["run", "aim/tty*", "--param", "ttyy=/dev/ttyS0"],
            "did you mean 'tty'?",
        ),
        (
            &["run", "--resume", "--param", "tty=/dev/ttyS0"],
            "cannot be used with",
        ),
    ] {
        let (code, out, error) = home.run(arguments);
        assert_eq!(code, 2, "{arguments:?}: {error}");
        assert!(error.contains(what), "{arguments:?}: {error}");
        assert!(out.is_empty(), "{arguments:?}: {out}");
    }
}

#[test]
fn help_is_a_word_too() {
    let home = Home::new();
    let (code, by_word, error) = home.run(&["help", "run"]);
    assert_eq!((code, error.as_str()), (0, ""));
    assert_eq!(by_word, home.run(&["run", "--help"]).1);
    assert_eq!(home.run(&["help"]).1, home.run(&["--help"]).1);
}

#[test]
fn lists_and_machines() {
    let home = Home::new();
    let list = home.json(&["list", "--format", "json"]);
    let listed: Vec<&str> = list["benchmarks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].as_str().unwrap())
        .collect();
    for row in list["benchmarks"].as_array().unwrap() {
        assert_eq!(
            row["runnable"].as_bool().unwrap(),
            row["why_not"].is_null(),
            "{row}"
        );
        assert!(!row["source"].as_str().unwrap().is_empty());
    }
    let machines = home.json(&["machines", "--format", "json"]);
    let machines = machines["systems"].as_array().unwrap();
    assert!(machines.len() >= 20, "{}", machines.len());
    // every figure that was published belongs to a row that there is, or says that there is none
    for machine in machines {
        let id = machine["id"].as_str().unwrap();
        assert!(
            machine["document"].is_string() && machine["year"].is_i64(),
            "{machine}"
        );
        let view = home.json(&["show", id, "--format", "json"]);
        for row in view["results"].as_array().unwrap() {
            let known = listed.contains(&row["id"].as_str().unwrap());
            let says = messages(row).contains("Gritstone does not measure it");
            assert_eq!(known, !says, "{row}");
            assert_eq!(row["outcome"], "published");
            let measured = machine["document"] == "measured";
            assert_eq!(row["interval"].is_array(), measured, "{row}");
        }
    }
    let vax = home.json(&["show", "ref:vax-11-780-4.1bsd", "--format", "json"]);
    assert_eq!(result(&vax, "byte/pipe")["published"]["real_s"], 3.2);
    assert_eq!(result(&vax, "byte/multi/6")["published"]["real_s"], 13.8);
}

#[test]
fn what_is_missing_has_its_footnote_and_the_rest_runs_for_an_unprivileged_user() {
    let home = Home::new();
    // a PATH with the utilities but no compiler
    let bin = home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    for program in [
        "sort", "od", "grep", "tee", "wc", "rm", "cat", "cut", "mkdir", "echo",
    ] {
        let found = ["/usr/bin", "/bin"]
            .iter()
            .map(|dir| Path::new(dir).join(program))
            .find(|path| path.exists());
        std::os::unix::fs::symlink(found.unwrap(), bin.join(program)).unwrap();
    }
    let private = home.path().join("binary");
    fs::copy(binary(), &private).unwrap();
    let read_only = home.path().join("checkout");
    fs::create_dir(&read_only).unwrap();
    let mut command = Command::new(&private);
    command
        .args([
            "run",
            "byte/shell",
            "byte/loop",
            "byte/cc",
            "byte/object-size",
            "byte/multi/2",
            "--budget",
            "4s",
            "--format",
            "json",
        ])
        .env_clear()
        .env("PATH", &bin)
        .env("HOME", home.path().join("home"))
        .current_dir(&read_only)
        .stdin(Stdio::null());
    fs::create_dir(home.path().join("home")).unwrap();
    let root = fs::metadata("/proc/self")
        .is_ok_and(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0);
    if root {
        let nobody = 65534;
        std::os::unix::fs::chown(home.path().join("home"), Some(nobody), Some(nobody)).unwrap();
        for dir in [home.path(), bin.as_path(), read_only.as_path()] {
            fs::set_permissions(dir, std::os::unix::fs::PermissionsExt::from_mode(0o555)).unwrap();
        }
        command.uid(nobody).gid(nobody);
    }
    let output = command.output().unwrap();
    fs::set_permissions(
        home.path(),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    for id in ["byte/shell", "byte/loop", "byte/multi/2"] {
        assert_eq!(result(&run, id)["outcome"], "measured", "{id}: {error}");
    }
    for id in ["byte/cc", "byte/object-size"] {
        let row = result(&run, id);
        assert_eq!(row["outcome"], "skipped");
        assert_eq!(flags(row), ["skipped"]);
        let why = reason(row);
        assert!(why.contains("apt-get install gcc"), "{why}");
    }
    let told = "skipped: byte/cc, byte/object-size: ";
    assert!(error.contains(told), "{error}");
}

#[test]
fn nothing_can_be_measured_is_an_exit_code_of_its_own() {
    let home = Home::new();
    let mut command = home.gritstone(&["run", "byte/cc", "--budget", "20s"]);
    command.env("PATH", "/nonexistent");
    let (code, _, error) = ended(&mut command);
    assert_eq!(code, 3, "{error}");
    assert!(
        error.contains("nothing could be measured") && error.contains("doctor"),
        "{error}"
    );
}

#[test]
fn a_closed_pipe_is_no_error() {
    let home = Home::new();
    let arguments = ["list", "--format", "json"];
    let (_, whole, _) = home.run(&arguments);
    // less would be in the pipe before anybody could know that nobody reads it
    assert!(whole.len() > 1 << 16, "{}", whole.len());
    let mut child = start(&home, &arguments, &[]);
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    // as cat(1) ends there
    let signal = nix::sys::signal::Signal::SIGPIPE as i32;
    assert_eq!(ended.status.signal(), Some(signal), "{:?}", ended.status);
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

#[test]
fn who_stops_reading_a_comparison_leaves_no_log_beside_the_store() {
    let home = Home::new();
    let run = recorded("copies");
    home.import(&[at_hour(&run, 1, "a"), at_hour(&run, 2, "b")]);
    let arguments = ["compare", "a", "b"];
    let mut child = start(&home, &arguments, &[]);
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
    let store = fs::read_dir(home.path().join("data/gritstone")).unwrap();
    let found: Vec<_> = store.flatten().map(|file| file.file_name()).collect();
    assert_eq!(found, ["gritstone.db"]);
}

#[test]
fn a_run_from_a_file_is_a_run() {
    let home = Home::new();
    let text = home
        .run(&["show", "ref:vax-11-750-4.1bsd", "--format", "json"])
        .1;
    fs::write(home.path().join("vax.json"), &text).unwrap();
    let again = home.run(&["show", "./vax.json", "--format", "json"]).1;
    assert_eq!(text, again);
    for (bad, what) in [
        ("{", "not a run"),
        ("{}", "not a run"),
        (r#"{"schema":"gritstone/run/9"}"#, "gritstone/run/9"),
        (r#"{"schema":"gritstone/run/2"}"#, "damaged"),
    ] {
        fs::write(home.path().join("bad.json"), bad).unwrap();
        let (code, _, error) = home.run(&["show", "./bad.json"]);
        assert!(code == 2 && error.contains(what), "{error}");
    }
}

#[test]
fn a_parameter_that_is_given_is_kept_with_the_figure() {
    let home = Home::new();
    let selected = ["aim/ram-copy/long", "aim/getpid", "--param", "bytes=8192"];
    let how = ["run", "--quick", "--format", "json"];
    let run = home.json(&[&how[..], &selected].concat());
    assert_eq!(run["settings"]["params"]["bytes"], "8192");
    let row = result(&run, "aim/ram-copy/long");
    assert_eq!(row["measured"], "two times 8192 bytes");
    assert!(flagged(row, "not-comparable"), "{row}");
    assert!(!flagged(result(&run, "aim/getpid"), "not-comparable"));

    // what the program makes of nonsense is no figure
    let (code, _, error) = home.run(&words(
        "run aim/tty1-write --budget 20s --param tty=/dev/null",
    ));
    assert_eq!(code, 3, "{error}");
    assert!(error.contains("/dev/null is no terminal"), "{error}");
}

#[test]
fn commands_and_options_answer_to_their_old_names() {
    let home = Home::new();
    let names = [
        ("init", "new"),
        ("score", "rate"),
        ("report", "brief"),
        ("noise", "selftest"),
        ("systems", "machines"),
    ];
    let (_, help, _) = home.run(&["--help"]);
    for (name, old) in names {
        assert!(help.contains(&format!("\n  {name} ")), "{name}");
        assert!(!help.contains(&format!("\n  {old} ")), "{old}");
        let of = |name| home.run(&[name, "--help"]);
        assert_eq!(of(name), of(old));
    }
    let listed = |option| home.run(&["list", option, "examples/none"]);
    assert_eq!(listed("--catalog"), listed("--catalogue"));
}
