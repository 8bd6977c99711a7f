//! `gritstone pr`: small repositories whose benchmarks print fixed values.

use crate::common::server::Server;
use crate::common::{
    Home, STATE, end, end_at_once, entries, eventually, list, output_texts, traces,
};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A repository in a home; its benchmarks print what is in `values`.
struct Repository {
    home: Home,
}

impl Repository {
    fn new() -> Self {
        let repository = Self { home: Home::new() };
        fs::create_dir(repository.root()).unwrap();
        repository.git(&["init", "--quiet", "--initial-branch", "main"]);
        repository
    }

    /// A repository with a commit of each of these contents of `values`.
    fn with(commits: &[&str]) -> Self {
        let repository = Self::new();
        commits.iter().for_each(|values| repository.commit(values));
        repository
    }

    fn root(&self) -> PathBuf {
        self.home.path().join("project")
    }

    fn git(&self, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=x", "-c", "user.email=x@example.com"];
        let mut command = self.home.command("git");
        command.args(identity).args(arguments).current_dir(self.root());
        let (code, out, error) = output_texts(command.output().unwrap());
        assert_eq!(code, 0, "{arguments:?}: {error}");
        out
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Commits this content of `values`.
    fn commit(&self, values: &str) {
        self.write("values", values);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "change"]);
    }

    fn subcommand(&self, name: &str, arguments: &[&str], tail: &[&str]) -> Command {
        let mut command = self.home.command(crate::common::binary());
        command.arg(name).args(arguments);
        command.arg("--dir").arg(self.home.path()).args(["--seed", "1"]);
        command.args(tail).current_dir(self.root());
        command
    }

    fn command(&self, arguments: &[&str], tail: &[&str]) -> Command {
        self.subcommand("pr", arguments, tail)
    }

    /// Exit code, standard output and standard error of `pr`.
    fn pr_of(&self, arguments: &[&str], tail: &[&str]) -> (i32, String, String) {
        output_texts(self.command(arguments, tail).output().unwrap())
    }

    /// The same of `bisect`.
    fn bisect(&self, arguments: &[&str], tail: &[&str]) -> (i32, String, String) {
        output_texts(self.subcommand("bisect", arguments, tail).output().unwrap())
    }

    /// The same with the `lines` harness.
    fn pr(&self, arguments: &[&str]) -> (i32, String, String) {
        self.pr_of(arguments, &["--harness", "lines", "--", "cat", "values"])
    }

    fn json(&self, expected: i32, arguments: &[&str]) -> Value {
        let tail = ["--harness", "lines", "--", "cat", "values"];
        self.json_of(expected, &[arguments, &tail].concat())
    }

    /// The answer about the benchmarks of another command.
    fn json_of(&self, expected: i32, tail: &[&str]) -> Value {
        let (code, out, error) = self.pr_of(&["--format", "json"], tail);
        assert_eq!(code, expected, "{error}{out}");
        serde_json::from_str(&out).unwrap()
    }

    /// Directories and journals of runs.
    fn leftovers(&self) -> Vec<PathBuf> {
        let mut left = traces(&self.home);
        left.extend(entries(&self.root().join(".git/worktrees")));
        left.extend(self.home.journals());
        left
    }

    /// All that a run may leave in the repository or beside it.
    fn traces(&self) -> String {
        let status = self.git(&["status", "--porcelain"]) + &self.git(&["fsck"]);
        let trees = self.git(&["worktree", "list"]);
        let refs = self.git(&["for-each-ref"]);
        format!("{:?} {status} {trees} {refs}", self.leftovers())
    }
}

const THREE: &str = "alpha 10 ns\nbeta 20 ns\ngamma 30 MB/s\n";

fn verdicts(view: &Value) -> Vec<(&str, &str)> {
    let rows = list(&view["rows"]).iter();
    rows.map(|row| (row["name"].as_str().unwrap(), row["verdict"].as_str().unwrap())).collect()
}

#[test]
fn only_slower_benchmarks_fail() {
    let repository = Repository::with(&[THREE, "alpha 10 ns\nbeta 21 ns\ngamma 30 MB/s\n"]);
    let before = repository.traces();
    let view = repository.json(1, &["--base", "HEAD~1"]);
    assert_eq!(verdicts(&view), [("beta", "slower"), ("alpha", "same"), ("gamma", "same")]);
    assert_eq!(view["rows"][0]["id"], "lines/beta");
    let ratio = view["rows"][0]["ratio"].as_f64().unwrap();
    assert!((ratio - 20.0 / 21.0).abs() < 1e-9, "{ratio}");
    assert_eq!(view["outcome"], "regressed");
    assert_eq!(repository.traces(), before);
}

#[test]
fn verdicts_need_no_store() {
    let repository = Repository::with(&[THREE, "alpha 10 ns\nbeta 21 ns\ngamma 30 MB/s\n"]);
    let arguments = ["--format", "json", "--base", "HEAD~1"];
    let (code, out, error) = repository.pr(&[&arguments[..], &["--no-store"]].concat());
    assert!(code == 1 && !error.contains("stored"), "{error}{out}");
    assert!(!repository.home.path().join("data").exists());
    let view: Value = serde_json::from_str(&out).unwrap();
    let (code, out, error) = repository.pr(&arguments);
    assert!(code == 1 && error.contains("stored"), "{error}{out}");
    let stored: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(verdicts(&view), verdicts(&stored));
}

#[test]
fn uncommitted_and_untracked_files_count() {
    let repository = Repository::new();
    repository.write("old", "20");
    repository.write(".gitignore", "ignored\n");
    repository.commit(THREE);
    repository.write("ignored", "x");
    repository.write("new", "22");
    fs::remove_file(repository.root().join("old")).unwrap();
    let before = repository.traces();
    let script = "test -e ignored && exit 1; if test -e new && ! test -e old; then cat new; else cat old; fi | sed 's/.*/one & ns/'";
    let tail = ["--base", "HEAD", "--harness", "lines", "--", "sh", "-c", script];
    let view = repository.json_of(1, &tail);
    assert_eq!((&view["head"]["modified"], &view["rows"][0]["head"]), (&true.into(), &22.0.into()));
    assert_eq!(repository.traces(), before);
}

#[test]
fn files_may_become_directories() {
    let repository = Repository::new();
    repository.write("data", "20");
    repository.commit(THREE);
    fs::remove_file(repository.root().join("data")).unwrap();
    repository.write("data/new", "22");
    let script = "cat data/new data 2>/dev/null | sed 's/.*/one & ns/'";
    let words = "--base HEAD --harness lines -- sh -c".split(' ');
    let tail: Vec<&str> = words.chain([script]).collect();
    let view = repository.json_of(1, &tail);
    assert_eq!(view["rows"][0]["head"], 22.0);
}

#[test]
fn submodules_leave_configuration_alone() {
    let (repository, inner) = (Repository::new(), Repository::new());
    inner.commit(THREE);
    add_submodule(&repository, &inner, "inner");
    repository.commit("");
    repository.write("readme", "x");
    repository.commit("");
    let config = repository.root().join(".git/config");
    let text = fs::read_to_string(&config).unwrap();
    // as in a clone without its submodules
    let text = &text[..text.find("[submodule").unwrap()];
    fs::write(&config, text).unwrap();
    let before = repository.traces();
    let pr = |base: &str| {
        let tail = ["--harness", "lines", "--", "cat", "inner/values"];
        let mut command = repository.command(&["--base", base], &tail);
        command.envs([
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "protocol.file.allow"),
            ("GIT_CONFIG_VALUE_0", "always"),
        ]);
        output_texts(command.output().unwrap())
    };
    let (code, out, error) = pr("HEAD~1");
    assert!(code == 0 && out.contains("3 the same"), "{error}{out}");
    assert_eq!(fs::read_to_string(&config).unwrap(), text);
    assert_eq!(repository.traces(), before);
    repository.write("inner/values", "alpha 11 ns\n");
    let (code, _, error) = pr("HEAD");
    assert!(code == 2 && error.contains("the submodule 'inner' has changes"), "{error}");
}

/// Adds another repository as a submodule.
fn add_submodule(repository: &Repository, inner: &Repository, name: &str) {
    let from = inner.root().display().to_string();
    let allowed = ["-c", "protocol.file.allow=always"];
    repository.git(&[&allowed[..], &["submodule", "--quiet", "add", "--", &from, name]].concat());
    let update = ["submodule", "--quiet", "update", "--init", "--recursive"];
    repository.git(&[&allowed[..], &update].concat());
}

#[test]
fn submodules_need_no_server() {
    let all = [Repository::new(), Repository::new(), Repository::new()];
    let [repository, inner, deep] = &all;
    deep.commit(THREE);
    inner.commit("");
    add_submodule(inner, deep, "deep");
    inner.commit("");
    add_submodule(repository, inner, "inner");
    repository.commit("");
    repository.write("readme", "x");
    repository.commit("");
    let before = repository.traces();
    for server in [inner, deep] {
        fs::remove_dir_all(server.root()).unwrap();
    }
    let tail = ["--harness", "lines", "--", "cat", "inner/deep/values"];
    let (code, out, error) = repository.pr_of(&["--base", "HEAD~1"], &tail);
    assert!(code == 0 && out.contains("3 the same"), "{error}{out}");
    assert_eq!(repository.traces(), before);
}

#[test]
fn equal_values_pass_everywhere() {
    let repository = Repository::with(&[THREE]);
    repository.git(&["checkout", "--quiet", "-b", "topic"]);
    repository.write("readme", "x");
    repository.commit(THREE);
    for (format, expected) in [
        ("text", "Passed: of 3 benchmarks 0 slower by an estimated 2% or more, 3 the same."),
        ("markdown", "### gritstone pr: passed"),
        ("github", "::notice title=gritstone pr::Passed"),
        ("gitlab", "gritstone_pr_speed{benchmark=\"lines/alpha\",verdict=\"same\"} 1.0000"),
        ("junit", "<testcase classname=\"lines\" name=\"alpha\"></testcase>"),
    ] {
        let (code, out, error) = repository.pr(&["--format", format]);
        assert_eq!(code, 0, "{error}{out}");
        let words: Vec<&str> = out.split_whitespace().collect();
        assert!(words.join(" ").contains(expected), "{format}: {out}");
    }
    assert!(repository.pr(&[]).1.contains("merge base with refs/heads/main"));
}

#[test]
fn passes_state_what_was_detectable() {
    let repository = Repository::with(&[THREE]);
    repository.write("readme", "x");
    repository.commit(THREE);
    let noisy = r#"echo "alpha 10 ns"; echo "noisy $(od -An -N2 -tu2 /dev/urandom) ns""#;
    let pr = |script: &str| {
        let budget = ["--base", "HEAD~1", "--budget", "1s"];
        let tail = ["--harness", "lines", "--", "sh", "-c", script];
        repository.pr_of(&budget, &tail)
    };
    // one comparison of equals in a hundred has a false regression
    let pr =
        |script: &str| Some(pr(script)).filter(|ended| ended.0 != 1).unwrap_or_else(|| pr(script));
    let (code, out, error) = pr(noisy);
    let out = out.replace('\n', " ");
    assert_eq!(code, 0, "{error}{out}");
    assert!(
        out.contains("1 inconclusive, 1 the same. Slowdowns of ")
            && out.contains("in 1 of 1 inconclusive."),
        "{out}"
    );
    let (code, out, error) = pr(noisy.split_once(';').unwrap().1);
    assert_eq!(code, 4, "{error}{out}");
}

#[test]
fn other_output_fails() {
    let repository = Repository::with(&["one\ntwo\n", "one\ntwo\n\x1b[31mthree\n"]);
    let before = repository.traces();
    let pr = |more: &[&str], script: &str| {
        // equal commands beside others: no neighbor makes one almost twice as slow in each pair
        let limits = ["--base", "HEAD~1", "--budget", "1s", "--max-slowdown", "90%"];
        let arguments = [&limits, more].concat();
        let tail = ["--", "sh", "-c", script];
        repository.pr_of(&arguments, &tail)
    };
    let (code, out, error) = pr(&["--same-output"], "cat values");
    assert_eq!((code, out.as_str()), (1, ""), "{error}");
    assert!(
        error.contains("first in line 3: no line of base, '\\u{1b}[31mthree\\n' of head"),
        "{error}"
    );
    let (code, out, _) = pr(&["--same-output", "--format", "junit"], "cat values");
    assert!(code == 1 && out.contains("<failure"), "{out}");
    let (code, _, error) = pr(&[], "cat values");
    assert_ne!(code, 1, "{error}");
    let (code, _, error) = pr(&["--same-output"], "head -n 2 values");
    assert_ne!(code, 1, "{error}");
    let (code, _, error) = pr(&["--same-output"], "date +%N");
    assert!(code == 4 && error.contains("differs from launch to launch"), "{error}");
    let (code, _, error) = repository.pr(&["--same-output"]);
    assert!(code == 2 && error.contains("plain command"), "{error}");
    assert_eq!(repository.traces(), before);
}

#[test]
fn equal_programs_may_print_differently() {
    let repository = Repository::new();
    fs::copy("/bin/cat", repository.root().join("show")).unwrap();
    repository.commit("one\n");
    repository.commit("two\n");
    let arguments = ["--base", "HEAD~1", "--budget", "1s", "--same-output"];
    let (code, _, error) = repository.pr_of(&arguments, &["--", "./show", "values"]);
    assert_eq!(code, 1, "{error}");
}

#[test]
fn other_data_is_measured() {
    let repository = Repository::new();
    fs::copy("/bin/cat", repository.root().join("show")).unwrap();
    repository.commit("one\n");
    repository.write("notes.md", "no program reads this");
    repository.commit("one\n");
    repository.commit(&"two\n".repeat(9));
    for (base, head, identical) in [("HEAD~2", "HEAD~1", true), ("HEAD~1", "HEAD", false)] {
        let arguments = ["--base", base, "--head", head, "--budget", "1s"];
        let format = [&arguments[..], &["--format", "json"]].concat();
        let (_, out, error) = repository.pr_of(&format, &["--", "./show", "values"]);
        let view: Value = serde_json::from_str(&out).expect(&error);
        assert_eq!(view["identical"], identical, "{view}");
    }
}

#[test]
fn layouts_decide_not_rounds() {
    let repository = Repository::new();
    repository.write("x.c", "int main(void) { return 0; }");
    repository.commit("100 103 101 102");
    let before = repository.traces();
    let pr = |build: &str, layouts: &str| {
        let arguments = ["--base", "HEAD~1", "--format", "json", "--budget", "8s"];
        let build = ["--build", build, "--layouts", layouts];
        let tail = ["--harness", "lines", "--", "sed", "s/.*/alpha & ns/", "one"];
        let arguments = [&arguments[..], &build].concat();
        repository.pr_of(&arguments, &tail)
    };
    let build = "cc -c x.c && cc -o x x.o && cut -d ' ' -f $GRITSTONE_LAYOUT values >one";
    for (values, expected, verdict) in
        [("102 101 103 103", 4, "inconclusive"), ("150 151 152 153", 1, "slower")]
    {
        repository.commit(values);
        let (code, out, error) = pr(build, "4");
        assert_eq!(code, expected, "{error}{out}");
        let view: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((&view["layouts"], verdicts(&view)[0].1), (&4.into(), verdict));
    }
    let (code, out, error) = pr("cp values one", "4");
    assert!(code == 4 && out.contains("\"rows\": []"), "{error}{out}");
    assert!(error.contains("--layouts has no effect: the build of base"), "{error}");
    assert_eq!(pr(build, "3").0, 2);
    let (code, _, error) = repository.pr(&["--layouts", "4"]);
    assert!(code == 2 && error.contains("give --build"), "{error}");
    repository.git(&["reset", "--quiet", "--hard", "HEAD~2"]);
    assert_eq!(repository.traces(), before);
}

const LOOP: &str = r#"#include <stdio.h>
int main(void) { unsigned x = 1; for (int i = 0; i < COUNT; i++) x = x * 5 % 8191; printf("%u\n", x); }
"#;

impl Repository {
    /// Commits a program with this amount of work.
    fn commit_loop(&self, count: u32) {
        self.write("loop.c", &LOOP.replace("COUNT", &count.to_string()));
        self.commit(THREE);
    }

    /// Exit code, view and errors of a command that counts instructions.
    fn counted(&self, command: &str, arguments: &[&str], tail: &[&str]) -> (i32, Value, String) {
        let format = ["--format", "json", "--count", "instructions"];
        let build = ["--build", "cc -O1 -o loop loop.c", "--"];
        let tail = [&format[..], &build, tail].concat();
        let mut process = self.subcommand(command, arguments, &tail);
        let (code, out, error) = output_texts(process.output().unwrap());
        (code, serde_json::from_str(&out).unwrap_or_default(), error)
    }
}

#[test]
fn one_percent_more_is_found() {
    let repository = Repository::new();
    // of times
    repository.write("gritstone-pr.toml", "layouts = 12\n");
    repository.commit_loop(1_000_000);
    repository.commit_loop(1_010_000);
    let (code, view, error) = repository.counted("pr", &["--base", "HEAD~1"], &["./loop"]);
    assert_eq!(code, 1, "{error}");
    let row = &view["rows"][0];
    let about = |key: &str, expected: f64| {
        let found = row[key].as_f64().unwrap();
        assert!((found / expected - 1.0).abs() < 0.001, "{key}: {found}");
    };
    about("ratio", 1.0 / 1.01);
    about("head", row["base"].as_f64().unwrap() * 1.01);
    assert_eq!((&view["quantity"], &view["rounds"]), (&"instructions".into(), &2.into()));
    assert!(row["spread"].as_f64().unwrap() < 1e-4);
    // other files, the same work
    repository.git(&["checkout", "--quiet", "-b", "same", "HEAD~1"]);
    repository.commit("");
    let script = ["sh", "-c", "test -e values && exec ./loop"];
    let (code, view, error) = repository.counted("pr", &["--base", "HEAD~1"], &script);
    assert_eq!((code, verdicts(&view)[0].1), (0, "same"), "{error}");
    let (code, _, error) = repository.counted("pr", &["--harness", "go"], &["./loop"]);
    assert!(code == 2 && error.contains("repeats benchmarks by the clock"), "{error}");
}

#[test]
fn differing_counts_are_tested() {
    let repository = Repository::new();
    for commit in ["one", "other"] {
        // work of random length, in programs that are not identical
        let text = format!(
            "#include <time.h>\nconst char *version = \"{commit}\";\n{}",
            LOOP.replace(
                "{ unsigned",
                "{ struct timespec t; clock_gettime(CLOCK_REALTIME, &t); unsigned"
            )
            .replace("COUNT", "t.tv_nsec / 10000")
        );
        repository.write("loop.c", &text);
        repository.commit(commit);
    }
    let arguments = ["--base", "HEAD~1", "--budget", "10s"];
    let (code, view, error) = repository.counted("pr", &arguments, &["./loop"]);
    assert_eq!(code, 4, "{error}");
    assert!(view["rows"][0]["spread"].as_f64().unwrap() > 1e-4, "{view}");
}

#[test]
fn bisect_counts_instructions() {
    let repository = Repository::new();
    for number in 0..9 {
        let work = if number < 6 { 1_000_000 } else { 1_010_000 };
        repository.commit_loop(work + number);
    }
    let (code, view, error) = repository.counted("bisect", &["HEAD~8"], &["./loop"]);
    assert_eq!(code, 0, "{error}");
    let expected = repository.git(&["rev-parse", "HEAD~2"]);
    assert_eq!(view["candidates"][0]["commit"], expected.trim());
    assert_eq!((&view["quantity"], &view["error_rate"]), (&"instructions".into(), &0.0.into()));
}

#[test]
fn same_commit_needs_no_measurement() {
    let repository = Repository::with(&[THREE]);
    let view = repository.json(0, &["--base", "main"]);
    assert_eq!((&view["identical"], &view["rounds"]), (&true.into(), &0.into()));
}

#[test]
fn broken_builds_are_named() {
    let repository = Repository::with(&[THREE]);
    repository.write("built", "");
    repository.commit(THREE);
    let before = repository.traces();
    let build = "echo one; test -e built || { echo no such thing >&2; echo two; exit 3; }";
    let (code, _, error) = repository.pr(&["--base", "HEAD~1", "--build", build]);
    assert_eq!(code, 4, "{error}");
    assert!(
        error.contains("base does not build")
            && error.contains("status 3")
            && error.contains("no such thing"),
        "{error}"
    );
    let log = |side: &str, revision: &str| {
        let commit = &repository.git(&["rev-parse", revision])[..12];
        repository.home.path().join(STATE).join(format!("builds/{side}-{commit}.log"))
    };
    let failed = log("base", "HEAD~1");
    assert!(error.contains(&*failed.to_string_lossy()), "{error}");
    assert_eq!(fs::read_to_string(failed).unwrap(), "one\nno such thing\ntwo\n");
    let (code, _, error) = repository.pr(&["--base", "HEAD", "--head", "HEAD~1", "--build", build]);
    assert!(code == 4 && error.contains("head does not build"), "{error}");
    assert_eq!(fs::read_to_string(log("base", "HEAD")).unwrap(), "one\n");
    assert_eq!(repository.traces(), before);
}

#[test]
fn every_format_reports_broken_builds() {
    let repository = Repository::with(&[THREE, THREE]);
    let build = ["--base", "HEAD~1", "--build", "echo no such thing >&2; exit 3"];
    let view = repository.json(4, &build);
    assert_eq!(
        (&view["schema"], &view["outcome"]),
        (&"gritstone/pr/1".into(), &"inconclusive".into())
    );
    let reason = view["reason"].as_str().unwrap();
    assert!(reason.contains("base does not build") && reason.contains("no such thing"), "{view}");
    assert!(list(&view["rows"]).is_empty(), "{view}");
    let base = repository.git(&["rev-parse", "HEAD~1"]);
    assert_eq!(view["base"]["commit"], base.trim());
    let (code, out, error) = repository.pr(&[&build[..], &["--format", "gitlab"]].concat());
    assert!(code == 4 && error.contains("base does not build"), "{error}");
    assert_eq!(out, "# TYPE gritstone_pr_speed gauge\n# EOF\n");
    for (format, expected) in
        [("github", "::error"), ("markdown", "### gritstone pr"), ("junit", "<error")]
    {
        let (code, out, _) = repository.pr(&[&build[..], &["--format", format]].concat());
        assert!(code == 4 && out.contains(expected), "{format}: {out}");
    }
}

#[test]
fn other_benchmarks_never_pass() {
    let repository = Repository::with(&["alpha 10 ns\nold 1 ns\n", "alpha 10 ns\nnew 1 ns\n"]);
    let view = repository.json(4, &["--base", "HEAD~1"]);
    let unmatched: Vec<_> =
        list(&view["unmatched"]).iter().map(|u| (u["name"].as_str(), u["only"].as_str())).collect();
    assert_eq!(unmatched, [(Some("old"), Some("base")), (Some("new"), Some("head"))]);
    // with the files of the head in both, like is compared with like
    assert_eq!(repository.json(0, &["--base", "HEAD~1", "--carry", "values"])["outcome"], "passed");
    let inside = repository.root().join("values");
    let inside = inside.to_str().unwrap();
    assert_eq!(repository.json(0, &["--base", "HEAD~1", "--carry", inside])["outcome"], "passed");
    let (code, _, error) = repository.pr(&["--base", "HEAD~1", "--carry", "../x"]);
    assert!(code == 2 && error.contains("leaves the repository"), "{error}");
    let view = repository.json(4, &["--base", "HEAD~1", "--carry", "nothing"]);
    assert!(view["reason"].as_str().unwrap().contains("'nothing' is not in head"), "{view}");
    repository.commit("entirely 1 ns\n");
    let (code, _, error) = repository.pr(&["--base", "HEAD~1"]);
    assert!(
        code == 4 && error.contains("no benchmark in common (alpha, new; entirely)"),
        "{error}"
    );
    repository.commit("nonsense\n");
    let (code, _, error) = repository.pr(&["--base", "HEAD~1"]);
    assert!(
        code == 4 && error.contains("head measures nothing: standard output: line 1"),
        "{error}"
    );
}

#[test]
fn failing_heads_never_pass() {
    let repository = Repository::with(&[
        "alpha 10 ns\nbeta 1 ns\n",
        "alpha 10 ns\n",
        "alpha 10 ns\nbeta 1 ns\n",
    ]);
    let script = "cat values; echo 'beta: no data' >&2; exit $((2 - $(wc -l < values)))";
    let pr = |base: &str, head: &str| {
        let (code, out, error) = repository.pr_of(
            &["--format", "json", "--base", base, "--head", head],
            &["--harness", "lines", "--", "sh", "-c", script],
        );
        (code, serde_json::from_str::<Value>(&out).unwrap_or_else(|_| panic!("{error}")))
    };
    let (code, view) = pr("HEAD~2", "HEAD~1");
    assert_eq!(code, 4);
    assert_eq!(verdicts(&view), [("alpha", "same")]);
    let failure = view["head"]["failure"].as_str().unwrap();
    assert!(failure.contains("status 1") && failure.contains("no data"), "{failure}");
    assert_eq!(view["base"].get("failure"), None);
    assert_eq!(view["unmatched"][0]["name"], "beta");
    assert_eq!(pr("HEAD~2", "HEAD").0, 0);
    repository.commit("alpha 10 ns\nbeta 0 ns\n");
    let (code, view) = pr("HEAD~1", "HEAD");
    assert_eq!((code, &view["unmatched"][0]["only"]), (4, &"base".into()));
    let why = view["unmatched"][0]["why"].as_str().unwrap();
    assert!(why.contains("not a positive number"), "{why}");
}

#[test]
fn later_crashes_never_pass() {
    let repository = Repository::with(&["alpha 10 ns\n", "alpha 10 ns\n\n"]);
    let launches = repository.home.path().join("launches");
    let script = format!(
        "cat values; [ $(wc -l < values) = 1 ] || echo >> {0}; [ ! -e {0} ] || [ $(wc -l < {0}) != 3 ] || kill -9 $$",
        launches.display()
    );
    let tail = ["--harness", "lines", "--", "sh", "-c", &script];
    let (code, out, error) = repository.pr_of(&["--base", "HEAD~1"], &tail);
    assert!(code == 4 && out.contains("head failed") && out.contains("1 the same"), "{error}{out}");
}

#[test]
fn one_failure_excuses_no_other() {
    let repository = Repository::with(&["alpha 10 ns\n", "alpha 10 ns\nfails\n"]);
    let launches = repository.home.path().join("launches");
    // the base fails once, together with the head, which always does
    let script = format!(
        "head -n 1 values; grep -q fails values && exit 1; [ -e {0} ] || {{ touch {0}; exit 1; }}",
        launches.display()
    );
    let tail = ["--harness", "lines", "--", "sh", "-c", &script];
    let (code, out, error) = repository.pr_of(&["--base", "HEAD~1"], &tail);
    assert!(code == 4 && out.contains("head failed"), "{error}{out}");
}

#[test]
fn benchmarks_lost_later_never_pass() {
    let repository = Repository::with(&["alpha 10 ns\nbeta 1 ns\n", "alpha 10 ns\nbeta 1 ns\n\n"]);
    let launches = repository.home.path().join("launches");
    let lost = |of_head: &str| {
        let _ = fs::remove_file(&launches);
        let script = format!(
            "n=$(cat {0} 2>/dev/null | wc -l); [ $(wc -l < values) = 2 ] || echo >> {0}; \
             if [ $n = 3 ]; then {of_head}; else cat values; fi",
            launches.display()
        );
        repository.pr_of(&["--base", "HEAD~1"], &["--harness", "lines", "--", "sh", "-c", &script])
    };
    let (code, out, error) = lost("echo alpha 10 ns; echo beta 0 ns");
    assert!(code == 4 && out.contains("head failed: beta: "), "{error}{out}");
    let (code, out, error) = lost("cat values; echo late 1 ns");
    assert!(code == 4 && out.contains("the first launches did not have it"), "{error}{out}");
}

#[test]
fn both_sides_execute_their_own() {
    let repository = Repository::new();
    repository.write("bench", "#!/bin/sh\necho alpha 1 ns\n");
    repository.commit(THREE);
    let program = repository.root().join("bench");
    let tail = ["--harness", "lines", "--", program.to_str().unwrap()];
    let (code, _, error) = repository.pr_of(&["--base", "HEAD"], &tail);
    assert!(code == 2 && error.contains("relative to the repository"), "{error}");
}

/// Stands in for pytest with pytest-benchmark: it loads plugins, and asks for the processor's description and the clock.
const PYTEST: &str = r#"
import importlib.metadata, json, sys, types

package = types.ModuleType("pytest_benchmark")
package.plugin = types.SimpleNamespace(get_cpu_info=None)
package.timers = types.SimpleNamespace(timeout_timer=None)
sys.modules["pytest_benchmark"] = package
for distribution in importlib.metadata.distributions():
    for entry in distribution.entry_points:
        if entry.group == "pytest11" and distribution.metadata["name"] == "gritstone-launches":
            entry.load()
import theirs
cpu = package.plugin.get_cpu_info()["brand_raw"]
start = package.timers.timeout_timer()
path, = (word.partition("=")[2] for word in sys.argv if word.startswith("--benchmark-json="))
stats = {"data": [2.0 if cpu == "" and start > 1e11 else 1.0]}
json.dump({"machine_info": {}, "benchmarks": [{"fullname": "a", "stats": stats}]}, open(path, "w"))
"#;

#[test]
fn launches_of_pytest_are_short() {
    let repository = Repository::with(&[THREE, "alpha 10 ns\n"]);
    let packages = tempfile::tempdir().unwrap();
    fs::write(packages.path().join("theirs.py"), "").unwrap();
    let tail = ["--harness", "pytest-benchmark", "--", "python3", "-c", PYTEST];
    let mut command = repository.command(&["--base", "HEAD~1", "--format", "json"], &tail);
    let output = command.env("PYTHONPATH", packages.path()).output().unwrap();
    let view: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(view["rows"][0]["base"], 2.0, "{view}");
}

#[test]
fn own_output_is_no_change() {
    let repository = Repository::with(&[THREE]);
    let tail = ["--harness", "lines", "--", "cat", "values"];
    let mut command = repository.command(&["--base", "HEAD", "--format", "json"], &tail);
    let path = repository.root().join("result.json");
    assert!(command.stdout(fs::File::create(&path).unwrap()).status().unwrap().success());
    let view: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!((&view["identical"], &view["head"]["modified"]), (&true.into(), &false.into()));
}

#[test]
fn interrupted_trials_never_pass() {
    let repository = Repository::with(&[THREE, "alpha 10 ns\nbeta 20 ns\ngamma 30 MB/s\n\n"]);
    let tail =
        ["--harness", "lines", "--", "sh", "-c", "echo >> ../launches; sleep 0.2; cat values"];
    let mut command = repository.command(&["--base", "HEAD~1", "--format", "json"], &tail);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let launches = || fs::read_to_string(repository.home.path().join("launches"));
    eventually("some launches", || launches().is_ok_and(|text| text.len() >= 6));
    end(&child, Signal::SIGTERM);
    let (code, out, _) = output_texts(child.wait_with_output().unwrap());
    let view: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 130);
    assert_eq!(
        (&view["outcome"], &view["reason"]),
        (&"inconclusive".into(), &"interrupted".into())
    );
}

#[test]
fn benchmarks_without_value_are_named() {
    let repository = Repository::with(&[
        "alpha 10 ns\nlost nan ns\n",
        "alpha 10 ns\nlost nan ns\n\n",
        "alpha 10 ns\nlost nan ns\nnew 0 ns\n",
    ]);
    let pr = |code: i32, head: &str| repository.json(code, &["--base", "HEAD~2", "--head", head]);
    let view = pr(0, "HEAD~1");
    let lost = &view["without_value"][0];
    assert_eq!((&lost["name"], &lost["only"]), (&"lost".into(), &Value::Null));
    let view = pr(4, "HEAD");
    let new = &view["without_value"][1];
    assert_eq!((&new["name"], &new["only"]), (&"new".into(), &"head".into()));
}

#[test]
fn default_base_is_another_commit() {
    let repository = Repository::with(&[THREE]);
    let (code, _, error) = repository.pr(&["--format", "github"]);
    assert!(code == 4 && error.contains("nothing to compare: give --base"), "{error}");
}

#[test]
fn both_sides_are_stored() {
    let repository =
        Repository::with(&[THREE, "alpha 10 ns\nbeta 21 ns\ngamma 30 MB/s\nsize 3 bytes\n"]);
    let (code, _, error) = repository.pr(&["--base", "HEAD~1", "--carry", "values"]);
    assert_eq!(code, 0, "{error}");
    let trial = error.split('`').nth(1).unwrap().strip_prefix("gritstone ").unwrap();
    let ask = |words: &[&str]| {
        let mut command = repository.home.command(crate::common::binary());
        output_texts(command.args(words).output().unwrap())
    };
    let words: Vec<&str> = trial.split(' ').chain(["--format", "json"]).collect();
    let (code, out, error) = ask(&words);
    assert_eq!(code, 0, "{error}{out}");
    let view: Value = serde_json::from_str(&out).unwrap();
    let rows: Vec<_> = list(&view["rows"])
        .iter()
        .map(|row| {
            (row["title"].as_str().unwrap(), row["comparisons"][0]["verdict"].as_str().unwrap())
        })
        .collect();
    assert_eq!(rows, [("alpha", "same"), ("beta", "same"), ("gamma", "same")]);
    let name = trial.split(' ').next_back().unwrap();
    let server = Server::start(&repository.home);
    assert_eq!(server.json(&format!("/trials/{name}-a.json")), view);
    let page = server.page("/runs");
    let link = page.split('"').find(|link| link.starts_with("/trials/"));
    assert!(server.page(link.unwrap()).contains("beta"));
    let head = format!("{name}-b");
    let (code, out, error) = ask(&["show", &head, "--format", "json"]);
    assert_eq!(code, 0, "{error}");
    let run: Value = serde_json::from_str(&out).unwrap();
    let sent = ask(&["export", &head]).0;
    assert_eq!((list(&run["results"]).len(), sent), (4, 0));
    assert!(out.contains("neither a time nor a rate"), "{out}");
}

#[test]
fn shallow_clones_get_advice() {
    let repository = Repository::with(&[THREE, THREE]);
    let from = format!("file://{}", repository.root().display());
    let clone = Repository { home: Home::new() };
    let mut command = clone.home.command("git");
    command.args(["clone", "--quiet", "--depth", "1", &from]).arg(clone.root());
    assert_eq!(output_texts(command.output().unwrap()).0, 0);
    let (code, _, error) = clone.pr(&["--base", "HEAD~1"]);
    assert!(code == 2 && error.contains("fetch-depth: 0"), "{error}");
}

#[test]
fn file_of_repository_needs_trust() {
    let repository = Repository::new();
    repository.write(
        "gritstone-pr.toml",
        "\u{feff}harness = 'lines'\ncommand = ['cat', 'values']\nmax-slowdown = '20%'\n[margins]\nbeta = '1%'\n",
    );
    repository.commit(THREE);
    repository.commit("alpha 11 ns\nbeta 21 ns\ngamma 30 MB/s\n");
    let pr = |tail: &[&str], ci: Option<&str>| {
        let mut command = repository.command(&["--base", "HEAD~1"], tail);
        command.envs(ci.map(|value| ("CI", value)));
        output_texts(command.output().unwrap())
    };
    let (code, _, error) = pr(&[], None);
    assert!(code == 2 && error.contains("'cat values'") && error.contains("--trust"), "{error}");
    for (tail, ci) in [(&["--trust"][..], None), (&[], Some("true"))] {
        let (code, out, error) = pr(tail, ci);
        assert_eq!(code, 1, "{error}");
        assert!(
            out.contains("1 slower by an estimate beyond its margin") && out.contains("2 the same"),
            "{out}"
        );
    }
    // the file is of the root, wherever the user is
    repository.write("below/x", "");
    let mut command = repository.command(&["--base", "HEAD~1"], &["--trust"]);
    command.current_dir(repository.root().join("below"));
    assert_eq!(command.output().unwrap().status.code(), Some(1));
    repository.write("gritstone-pr.toml", "harnes = 'lines'\n");
    let (code, _, error) = pr(&["--", "true"], None);
    assert!(
        code == 2 && error.contains("gritstone-pr.toml") && error.contains("harnes"),
        "{error}"
    );
}

#[test]
fn hostile_names_stay_names() {
    let repository = Repository::with(&[THREE]);
    repository.write("-rf\n\x1b[31m<b>", "x");
    repository.write("line\nfeed/ü -- x", "x");
    repository.commit("<script>\u{1b}[31m--help 10 ns\n::error::x 20 ns\n");
    let before = repository.traces();
    for name in ["--output=/tmp/x", "-x", "--upload-pack=x"] {
        let (code, _, error) = repository.pr(&[&format!("--base={name}")]);
        assert!(code == 2 && error.contains("is an option, not a revision"), "{error}");
    }
    for name in ["main:values", "a\nb", "$(touch x)", ""] {
        let (code, _, error) = repository.pr(&["--base", name]);
        assert!(code == 2 && error.contains("no commit"), "{name}: {error}");
    }
    repository.write("untracked\n\x1b[31m", "x");
    for format in ["text", "markdown", "github", "junit", "gitlab", "json"] {
        let (code, out, error) = repository.pr(&["--base", "HEAD", "--format", format]);
        assert_eq!(code, 0, "{error}");
        assert!(!out.contains('\x1b'), "{out}");
        let commands = out.lines().filter(|line| line.trim().starts_with("::error"));
        assert_eq!(commands.count(), 0, "{out}");
    }
    fs::remove_file(repository.root().join("untracked\n\x1b[31m")).unwrap();
    assert_eq!(repository.traces(), before);
}

#[test]
fn user_hooks_are_not_run() {
    let repository = Repository::with(&[THREE, "alpha 10 ns\n"]);
    let hook = repository.root().join(".git/hooks/post-checkout");
    crate::common::make_program(&hook, b"#!/bin/sh\ntouch hooked\nexit 1\n");
    let view = repository.json(4, &["--base", "HEAD~1"]);
    assert_eq!(list(&view["unmatched"]).len(), 2);
    assert!(!repository.root().join("hooked").exists());
}

/// Killed at several moments: while work trees are made, built, and measured.
#[test]
fn killed_runs_leave_nothing() {
    let repository = Repository::new();
    for number in 0..200 {
        repository.write(&format!("files/{number}"), "x");
    }
    repository.commit(THREE);
    repository.commit("alpha 10 ns\nbeta 21 ns\ngamma 30 MB/s\n");
    let before = repository.traces();
    let tail = ["--harness", "lines", "--", "sh", "-c", "sleep 0.02; cat values"];
    let moments = (0..20).map(|n| 4.0 * 1.3_f64.powi(n));
    for moment in moments {
        let mut command = repository.command(&["--base", "HEAD~1", "--build", "sleep 0.05"], &tail);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_secs_f64(moment / 1e3));
        end_at_once(&mut child);
        wait_until_undone(&repository, &before);
    }
    let view = repository.json(1, &["--base", "HEAD~1"]);
    assert_eq!(view["rows"][0]["name"], "beta");
    assert_eq!(repository.traces(), before);
}

/// Waits until the watchdog, or the next start after the killed process is gone, has undone it.
fn wait_until_undone(repository: &Repository, before: &str) {
    let end = Instant::now() + Duration::from_secs(20);
    while !repository.leftovers().is_empty() && Instant::now() < end {
        assert_eq!(repository.pr(&["--base", "HEAD"]).0, 0);
    }
    assert_eq!(repository.traces(), before);
}

#[test]
fn missing_repositories_are_refused() {
    let home = Home::new();
    let error = home.refuses("pr -- true", "git");
    assert!(error.contains("not a git repository"), "{error}");
}

#[test]
fn bisect_finds_the_slow_commit() {
    let repository = Repository::with(&[THREE]);
    for number in 1..12 {
        let beta = if number < 8 { 20 } else { 22 };
        // two commits do not measure it
        let name = if (5..7).contains(&number) { "other" } else { "beta" };
        repository.commit(&format!("alpha {number}0 ns\n{name} {beta} ns\nepsilon {number} ns\n"));
    }
    let before = repository.traces();
    let bisect = |good: &str| {
        let arguments =
            [good, "--max-slowdown", "2%", "--harness-time", "20ms", "--format", "json"];
        repository.bisect(&arguments, &["--harness", "lines", "--", "grep", "beta", "values"])
    };
    let (code, out, error) = bisect("HEAD~11");
    assert_eq!(code, 0, "{error}{out}");
    let view: Value = serde_json::from_str(&out).unwrap();
    let expected = repository.git(&["rev-parse", "HEAD~3"]);
    assert_eq!(view["candidates"][0]["commit"], expected.trim());
    assert_eq!(view["followed"]["name"], "beta");
    let expected = expected.trim();
    let line = format!(
        "gritstone pr --base '{expected}~1' --head {expected} --harness lines --harness-time 0.02s -- grep beta values"
    );
    assert_eq!(view["shown_by"], line);
    let skipped = list(&view["steps"]).iter().filter(|step| step["outcome"] == "skipped");
    assert!(skipped.count() > 0, "{out}");
    let (code, out, error) = bisect("HEAD~1");
    assert!(code == 4 && error.contains("nothing to search for"), "{error}");
    let view: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&view["followed"], &view["candidates"]), (&Value::Null, &Value::Array(vec![])));
    assert!(view["reason"].as_str().unwrap().contains("nothing to search for"), "{out}");
    assert_eq!(view["error_rate"], Value::Null);
    assert!(bisect("--upload-pack=x").2.contains("is an option, not a revision"));
    assert_eq!(repository.traces(), before);
}

/// Bisection of four commits by files that it carries, which `pr` would not measure alike.
fn finds_the_third_of_four(repository: &Repository, arguments: &[&str], tail: &[&str]) {
    let (code, out, error) = repository.bisect(arguments, tail);
    let expected = repository.git(&["rev-parse", "HEAD~1"]);
    assert!(code == 0 && out.contains(expected.trim()), "{error}{out}");
    assert!(!out.contains("gritstone pr"), "{out}");
}

#[test]
fn bisect_carries_no_build_products() {
    let repository = Repository::new();
    repository.write("benches/list", "x");
    for number in 0..4 {
        repository.commit(&format!("beta {} ns\n", if number < 2 { 20 } else { 22 }));
    }
    let build = "test -e benches/built || cp values benches/built";
    let arguments = ["HEAD~3", "--carry", "benches", "--build", build];
    let tail = ["--harness", "lines", "--", "cat", "benches/built"];
    finds_the_third_of_four(&repository, &arguments, &tail);
}

#[test]
fn bisect_carries_later_benchmarks() {
    let repository = Repository::new();
    for number in 0..4 {
        if number == 3 {
            repository.write("benches/print", "cat values");
        }
        repository.commit(&format!("beta {} ns\n", if number < 2 { 20 } else { 22 }));
    }
    let tail = ["--harness", "lines", "--", "sh", "benches/print"];
    finds_the_third_of_four(&repository, &["HEAD~3", "--carry", "benches"], &tail);
}

#[test]
fn killed_bisect_continues() {
    let repository = Repository::new();
    for number in 0..12 {
        let values = format!("beta {} ns\n", if number < 8 { 20 } else { 22 });
        repository.write("other/values", &values.replace("22", "20"));
        repository.commit(&values);
    }
    let before = repository.traces();
    let bisect = |directory: &str| {
        let tail = ["--harness", "lines", "--", "cat", "values"];
        let mut command = repository.subcommand("bisect", &["HEAD~11"], &tail);
        command.current_dir(repository.root().join(directory));
        command
    };
    let mut child = bisect(".").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let has_steps = || {
        let texts = repository
            .home
            .journals()
            .into_iter()
            .filter(|path| path.extension().is_some_and(|e| e == "jsonl"));
        let is_record = |line: &&str| line.starts_with('{');
        texts
            .filter_map(|path| fs::read_to_string(path).ok())
            .any(|text| text.lines().filter(is_record).count() > 1)
    };
    while !has_steps() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    end_at_once(&mut child);
    let (code, _, error) = output_texts(bisect("other").output().unwrap());
    assert!(code == 4 && !error.contains("continued"), "{error}");
    let (code, out, error) = output_texts(bisect(".").output().unwrap());
    assert_eq!(code, 0, "{error}{out}");
    assert!(error.contains("continued after"), "{error}");
    assert!(out.contains(repository.git(&["rev-parse", "HEAD~3"]).trim()), "{out}");
    wait_until_undone(&repository, &before);
}
