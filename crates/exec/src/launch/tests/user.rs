//! User commands: any directory, output, and exit status.

use super::{Bench, Launched, params, samples};
use gritstone_kernels::USER;
use gritstone_model::{
    Benchmark, Cause, CommandWork, Event, Outcome, Output, Placement, UserCommand, Work,
};
use gritstone_testkit as testkit;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

impl Bench {
    fn user(&self) -> UserCommand {
        UserCommand {
            directory: self.folder.path().to_str().unwrap().to_owned(),
            ..UserCommand::default()
        }
    }

    fn command(&mut self, script: &str, user: UserCommand) -> Launched {
        let argv = ["sh", "-c", script].map(str::to_owned).into();
        self.launch(&user_benchmark(argv, user))
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }
}

fn user_benchmark(argv: Vec<String>, user: UserCommand) -> Benchmark {
    let work = Work::Command(CommandWork { argv, user: Some(user), ..CommandWork::default() });
    Benchmark { placement: Placement::All, work, ..testkit::benchmark("command", "ms") }
}

fn numbers(launched: &Launched, wanted: &str) -> Vec<u64> {
    let values = params(launched, wanted).into_iter();
    values.map(|value| value.parse().unwrap()).collect()
}

fn why(launched: &Launched) -> &str {
    assert_eq!(launched.outcome.name(), "failed", "{launched:?}");
    launched.outcome.why()
}

#[test]
fn user_directory_holds_user_commands() {
    let mut bench = Bench::new();
    let user = bench.user();
    let environment = &mut bench.variant.environment;
    environment.insert("WHO".to_owned(), "b".to_owned());
    let launched = bench.command("echo out; echo err >&2; echo $WHO >> who", user.clone());
    assert_eq!(launched.outcome, Outcome::Measured);
    // the first launch begins with an untimed execution
    assert_eq!(bench.read("who").lines().count(), samples(&launched).len() + 1);
    assert!(bench.read("who").lines().all(|line| line == "b"));
    let before = bench.read("who").lines().count();
    let cold = UserCommand { batch: Some(7), ..user.clone() };
    let launched = bench.command("echo x >> cold", cold);
    assert_eq!(bench.read("cold").lines().count(), samples(&launched).len());
    assert!(samples(&launched).len() <= 7);
    let launched = bench.command("echo out; echo err >&2; echo $WHO >> who", user);
    assert_eq!(bench.read("who").lines().count(), before + samples(&launched).len());
}

#[test]
fn failures_have_no_time() {
    let mut bench = Bench::new();
    let user = bench.user();
    let launched = bench.command("echo because >&2; exit 7", user.clone());
    assert_eq!(samples(&launched).len(), 0);
    assert_eq!(why(&launched), "status: exit status 7 (because)");
    let launched = bench.command("kill -9 $$", user.clone());
    assert_eq!(why(&launched), "status: killed by signal 9");
    let launched = bench.command("sleep 5 & exit 0", user.clone());
    assert!(why(&launched).contains("leaves a process running"));
    assert_eq!(cause(&launched), Some(Cause::Background));
    let argv = vec!["./not-there".to_owned()];
    let launched = bench.launch(&user_benchmark(argv, user));
    assert!(why(&launched).contains("./not-there cannot be started: No such file"));
}

fn cause(launched: &Launched) -> Option<Cause> {
    launched.events.last().and_then(Event::cause)
}

#[test]
fn requests_allow_background_processes() {
    let mut bench = Bench::new();
    let user = UserCommand {
        allow_background: true,
        cleanup: Some("kill $(cat pid)".to_owned()),
        ..bench.user()
    };
    let launched = bench.command("sleep 60 & echo $! > pid", user.clone());
    assert_eq!(launched.outcome, Outcome::Measured);
    // one of an untimed command, which the command uses
    let user = UserCommand { prepare: Some("sleep 60 & echo $! > pid".to_owned()), ..user };
    let launched = bench.command("kill -0 $(cat pid)", user.clone());
    assert_eq!(launched.outcome, Outcome::Measured);
    let refused = UserCommand { allow_background: false, ..user };
    let launched = bench.command("true", refused);
    assert!(why(&launched).contains("the command before each execution leaves"));
    assert_eq!(cause(&launched), Some(Cause::Background));
}

#[test]
fn failed_executions_are_left_out() {
    let mut bench = Bench::new();
    let user = UserCommand { leave_out_failures: true, statuses: vec![3], ..bench.user() };
    // the warm-up, then of three each one ends well, with a permitted status, and otherwise
    let script = "echo >> n; case $(($(wc -l < n) % 3)) in 0) exit 0;; 1) exit 3;; esac; exit 4";
    let launched = bench.command(script, user.clone());
    assert_eq!(launched.outcome, Outcome::Measured);
    let executions = bench.read("n").len() - 1;
    let (timed, out) = (samples(&launched).len(), numbers(&launched, "left_out"));
    assert_eq!(timed + out.len(), executions, "{launched:?}");
    assert!(out.len() >= executions / 3 && out.iter().all(|status| *status == 4));
    assert!(numbers(&launched, "status").iter().all(|status| *status == 3));
    let launched = bench.command("kill -9 $$", user);
    assert_eq!(samples(&launched).len(), 0);
    assert!(params(&launched, "left_out").iter().all(|status| status == "-9"));
}

#[test]
fn shell_runs_plain_scripts() {
    let mut bench = Bench::new();
    let user = bench.user();
    let script = bench.folder.path().join("script");
    fs::write(&script, "echo \"$1 $2\" > args\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", bench.folder.path().display());
    bench.variant.environment.insert("PATH".to_owned(), path);
    for name in ["./script", "script"] {
        let argv = [name, "a b", "c"].map(str::to_owned).into();
        let launched = bench.launch(&user_benchmark(argv, user.clone()));
        assert_eq!(launched.outcome, Outcome::Measured, "{name}");
        assert_eq!(bench.read("args"), "a b c\n");
    }
}

#[test]
fn input_and_output_are_redirected() {
    let mut bench = Bench::new();
    fs::write(bench.folder.path().join("in"), "b\na\n").unwrap();
    let with = |bench: &Bench, output| UserCommand {
        input: Some("in".to_owned()),
        output,
        batch: Some(1),
        start_up_ns: Some(5),
        start_up_error_ns: Some(6),
        start_up_user_ns: Some(4),
        start_up_system_ns: Some(3),
        ..bench.user()
    };
    let to_file = with(&bench, Output::File("out".to_owned()));
    let launched = bench.command("sort; echo r >> log", to_file);
    assert_eq!(samples(&launched).len(), 1);
    for (key, ns) in [("", 5), ("error_", 6), ("user_", 4), ("system_", 3)] {
        assert_eq!(numbers(&launched, &format!("start_up_{key}ns")), [ns]);
    }
    assert_eq!(["out", "log"].map(|name| bench.read(name)), ["a\nb\n", "r\n"]);
    // more than a pipe holds: it is drained meanwhile
    let piped = with(&bench, Output::Pipe);
    let launched = bench.command("head -c 1000000 /dev/zero", piped);
    assert_eq!(launched.outcome, Outcome::Measured);
}

#[test]
fn prepare_and_cleanup_are_untimed() {
    let mut bench = Bench::new();
    let user = UserCommand {
        prepare: Some("echo p >> log; sleep 0.05".to_owned()),
        cleanup: Some("echo c >> log".to_owned()),
        ..bench.user()
    };
    let launched = bench.command("echo r >> log", user.clone());
    assert_eq!(launched.outcome, Outcome::Measured);
    let times = samples(&launched).len() + 1;
    assert_eq!(bench.read("log"), "p\nr\nc\n".repeat(times));
    for key in ["prepare", "cleanup"] {
        let bad = |its| (its == key).then(|| "echo no >&2; false".to_owned());
        let user = UserCommand { prepare: bad("prepare"), cleanup: bad("cleanup"), ..bench.user() };
        let launched = bench.command("true", user);
        assert!(why(&launched).starts_with(&format!("{key}: ")), "{launched:?}");
        assert!(why(&launched).ends_with("exit status 1 (no)"), "{launched:?}");
    }
    // failed executions are cleaned up too
    let user = UserCommand { cleanup: Some("echo cleaned > cleaned".to_owned()), ..bench.user() };
    why(&bench.command("false", user));
    assert_eq!(bench.read("cleaned"), "cleaned\n");
}

#[test]
fn peak_memory_excludes_harness() {
    let mut bench = Bench::new();
    let user = bench.user();
    let small = bench.command("true", user.clone());
    let large = bench.command("x=$(head -c 50000000 /dev/zero | tr '\\0' x); true", user);
    assert_eq!(large.outcome, Outcome::Measured);
    let most = |launched| numbers(launched, "peak_kb").into_iter().max().unwrap();
    let (small, large) = (most(&small), most(&large));
    assert!(large > small + 40_000, "{small} {large}");
}

#[test]
fn output_without_end_ends() {
    let mut bench = Bench::new();
    let user = bench.user();
    let full = "exec 2>&1; head -c 1200000000 /dev/zero";
    // not even where failures are ignored: it did not do its work
    for user in [user.clone(), UserCommand { ignore_failure: true, ..user.clone() }] {
        let launched = bench.command(full, user);
        assert!(why(&launched).contains("1 GiB"), "{launched:?}");
        assert_eq!(cause(&launched), Some(Cause::Output));
    }
    // nor where the command does not care
    let launched = bench.command("head -c 1200000000 /dev/zero 2>&1; exit 0", user.clone());
    assert_eq!(cause(&launched), Some(Cause::Output));
    let odd = "yes 'a line of eighteen' | head -c 1200000001 2>&1";
    assert_eq!(cause(&bench.command(odd, user.clone())), Some(Cause::Output));
    let less = bench.command("head -c 1000000 /dev/zero", user);
    assert_eq!(less.outcome, Outcome::Measured);
}

#[test]
fn hash_skips_plain_files() {
    let mut bench = Bench::new();
    for (directory, mode) in [("plain", 0o644), ("executable", 0o755)] {
        let directory = bench.folder.path().join(directory);
        fs::create_dir(&directory).unwrap();
        let tool = directory.join("tool");
        fs::write(&tool, format!("{mode}\n")).unwrap();
        fs::set_permissions(&tool, fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut hash = |directories: &[&str]| {
        let path = directories.iter().map(|name| bench.folder.path().join(name));
        let path = std::env::join_paths(path).unwrap().into_string().unwrap();
        bench.variant.environment.insert("PATH".to_owned(), path);
        bench.hash(&user_benchmark(vec!["tool".to_owned()], bench.user())).unwrap()
    };
    assert_eq!(hash(&["plain", "executable"]), hash(&["executable"]));
    assert_eq!(hash(&["plain"]), "");
}

#[test]
fn left_out_samples_are_replaced() {
    let bench = Bench::new();
    let program = bench.executor.setup.work_dirs.embedded_program(USER).unwrap();
    // the warm-up and the first sample fail
    let script = "echo >> n; test $(wc -l < n) -gt 2";
    let status = Command::new("sh")
        .args(["-c", "exec \"$@\" 3> events", "sh"])
        .arg(program)
        .args(["leave_out=1", "--", "sh", "-c", script])
        .current_dir(bench.folder.path())
        .status();
    assert!(status.unwrap().success());
    let events = bench.read("events");
    let samples = events.lines().filter(|line| line.starts_with("sample ")).count();
    assert!(samples >= 5, "{events}");
}
