//! User commands: any directory, output, and exit status.

use super::{Bench, Launched, params, samples};
use gritstone_model::{
    Benchmark, CommandWork, Id, Outcome, Output, Placement, Unit, UserCommand, Work,
};
use std::fs;

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
    let work = Work::Command(CommandWork {
        argv,
        user: Some(user),
        ..CommandWork::default()
    });
    let (id, unit) = (Id::parse("command"), Unit::parse("ms"));
    Benchmark {
        placement: Placement::All,
        ..Benchmark::new(id.unwrap(), unit.unwrap(), work)
    }
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
fn user_commands_run_in_user_directory() {
    let mut bench = Bench::new();
    let user = bench.user();
    let environment = &mut bench.variant.environment;
    environment.insert("WHO".to_owned(), "b".to_owned());
    let launched = bench.command("echo out; echo err >&2; echo $WHO >> who", user.clone());
    assert_eq!(launched.outcome, Outcome::Measured);
    // the first launch begins with an untimed execution
    assert_eq!(
        bench.read("who").lines().count(),
        samples(&launched).len() + 1
    );
    assert!(bench.read("who").lines().all(|line| line == "b"));
    let before = bench.read("who").lines().count();
    let launched = bench.command("echo out; echo err >&2; echo $WHO >> who", user);
    assert_eq!(
        bench.read("who").lines().count(),
        before + samples(&launched).len()
    );
}

#[test]
fn failures_have_no_time() {
    let mut bench = Bench::new();
    let user = bench.user();
    let launched = bench.command("echo because >&2; exit 7", user.clone());
    assert_eq!(samples(&launched).len(), 0);
    let message = "command: sh ended with status 7; it said: because";
    assert_eq!(why(&launched), message);
    let launched = bench.command("kill -9 $$", user.clone());
    assert_eq!(why(&launched), "command: sh was killed by signal 9");
    let launched = bench.command("sleep 5 & exit 0", user.clone());
    assert!(why(&launched).contains("ended before a process that it had started"));
    let argv = vec!["./not-there".to_owned()];
    let launched = bench.launch(&user_benchmark(argv, user));
    assert!(why(&launched).contains("./not-there cannot be started: No such file"));
}

#[test]
fn permitted_statuses_exclude_signals() {
    let mut bench = Bench::new();
    let user = UserCommand {
        ignore_failure: true,
        ..bench.user()
    };
    let launched = bench.command("exit 7", user.clone());
    assert_eq!(launched.outcome, Outcome::Measured);
    assert!(
        numbers(&launched, "status")
            .iter()
            .all(|status| *status == 7)
    );
    why(&bench.command("kill -9 $$", user));
    // listed statuses, and no others
    let user = UserCommand {
        statuses: vec![3, 7],
        ..bench.user()
    };
    let launched = bench.command("exit 7", user.clone());
    assert_eq!(launched.outcome, Outcome::Measured);
    assert!(why(&bench.command("exit 1", user)).contains("status 1"));
}

#[test]
fn input_and_output_are_redirected() {
    let mut bench = Bench::new();
    fs::write(bench.folder.path().join("in"), "b\na\n").unwrap();
    let with = |bench: &Bench, output| UserCommand {
        input: Some("in".to_owned()),
        output,
        once: true,
        start_up_ns: Some(5),
        ..bench.user()
    };
    let to_file = with(&bench, Output::File("out".to_owned()));
    let launched = bench.command("sort; echo r >> log", to_file);
    assert_eq!(
        (samples(&launched).len(), numbers(&launched, "start_up_ns")),
        (1, vec![5])
    );
    assert_eq!(
        ["out", "log"].map(|name| bench.read(name)),
        ["a\nb\n", "r\n"]
    );
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
        let user = UserCommand {
            prepare: bad("prepare"),
            cleanup: bad("cleanup"),
            ..bench.user()
        };
        let launched = bench.command("true", user);
        assert!(
            why(&launched).starts_with(&format!("{key}: ")),
            "{launched:?}"
        );
        assert!(why(&launched).ends_with("it said: no"), "{launched:?}");
    }
    // failed executions are cleaned up too
    let user = UserCommand {
        cleanup: Some("echo cleaned > cleaned".to_owned()),
        ..bench.user()
    };
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
    let launched = bench.command("exec 2>&1; head -c 1200000000 /dev/zero", user);
    assert!(
        why(&launched).contains("ended with status 1"),
        "{launched:?}"
    );
}
