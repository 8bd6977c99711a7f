//! The executor with fake benchmarks: work checks, failures, and cleanup.

mod calibration;
mod copies;
mod custom;
mod load;
mod used_programs;
mod user;

use super::*;
use crate::{Storage, WorkDirs};
use gritstone_model::{Calibration, CommandWork, Figure, Need, Program, PublishedWork, Verify};
use gritstone_testkit as testkit;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

mod around;

/// A folder with an executor.
struct Bench {
    folder: tempfile::TempDir,
    executor: Executor,
    variant: Variant,
}

impl Bench {
    fn new() -> Self {
        Self::below(OsStr::new("here"))
    }

    fn below(name: &OsStr) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().join(name);
        fs::create_dir(&here).unwrap();
        let path = std::env::var("PATH").unwrap();
        let mut compilers = std::env::split_paths(&path).map(|dir| dir.join("cc"));
        let cc = compilers.find(|cc| cc.is_file());
        let cc = cc.expect("a C compiler built the kernels");
        let environment = BTreeMap::from([("PATH".to_owned(), path)]);
        let setup = Setup {
            work_dirs: WorkDirs::make(std::slice::from_ref(&here), &here, None).unwrap(),
            cpus: "-".to_owned(),
            environment: environment.clone(),
            programs: BTreeMap::from([("cc".to_owned(), cc)]),
            storage: Storage { cached: true, name: "a test".to_owned() },
            far_end: None,
            deadline: Duration::from_secs(30),
            stop: Arc::new(AtomicBool::new(false)),
        };
        let config = Config { reference: true, ..Config::default() };
        Self {
            folder,
            executor: Executor::new(setup, config, None),
            variant: Variant { environment, ..Variant::default() },
        }
    }

    /// A launch, without the check that nothing is left.
    fn copies(
        &mut self,
        benchmark: &Benchmark,
        cpus: &[u32],
        copies: u32,
    ) -> Result<Launched, ExecError> {
        let known = Calibration::default();
        (self.executor).launch(&self.variant, benchmark, cpus, copies, known)
    }

    fn launch(&mut self, benchmark: &Benchmark) -> Launched {
        let launched = self.copies(benchmark, &[], 1).unwrap();
        self.nothing_is_left();
        launched
    }

    fn nothing_is_left(&self) {
        let (work, programs) = self.executor.setup.work_dirs.directories();
        assert_eq!(fs::read_dir(work).unwrap().count(), 0, "files are left");
        let left = fs::read_dir(programs).unwrap().flatten();
        let directories = left.filter(|entry| entry.path().is_dir()).count();
        assert_eq!(directories, 0, "a directory of a launch is left");
    }

    /// A launch that must be measured.
    fn measured(&mut self, benchmark: &Benchmark) -> Launched {
        let launched = self.launch(benchmark);
        assert_eq!(launched.outcome, Outcome::Measured, "{:?}", benchmark.work);
        launched
    }

    /// Reason of a launch that must fail.
    fn fails(&mut self, benchmark: &Benchmark) -> String {
        match self.launch(benchmark).outcome {
            Outcome::Failed(why) => why,
            other => panic!("{other:?}"),
        }
    }

    fn hash(&self, benchmark: &Benchmark) -> Option<String> {
        let mut programs = self.executor.programs(&self.variant, slice::from_ref(benchmark));
        Some(programs.remove(&benchmark.id)?.hash)
    }

    /// Replaces a program by a script.
    fn plant(&mut self, name: &str, script: &str) {
        let path = self.folder.path().join(name.replace('/', "_"));
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        self.replace(name, path);
    }

    fn replace(&mut self, name: &str, path: PathBuf) {
        crate::tests::mode(&path, 0o700);
        let planted = Rebuilt {
            path,
            program: Program { hash: "planted".to_owned(), ..Program::default() },
            took: Duration::ZERO,
            size: 0,
        };
        self.variant.builds.insert(name.to_owned(), planted);
    }

    /// Reason for which a shell script fails, given its expected output and files.
    fn failure(&mut self, script: &str, stdout: Option<&str>, leaves: &[&str]) -> String {
        self.fails(&shell(script, stdout, leaves))
    }
}

fn benchmark(work: Work) -> Benchmark {
    Benchmark {
        title: "Made up".to_owned(),
        files: true,
        work,
        ..testkit::benchmark("made/up", "ns/call")
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn command(argv: &[&str]) -> Benchmark {
    benchmark(Work::Command(CommandWork { argv: words(argv), ..CommandWork::default() }))
}

fn samples(launched: &Launched) -> Vec<&gritstone_model::Sample> {
    let values = launched.events.iter().filter_map(|event| match event {
        Event::Sample(sample) => Some(&**sample),
        _ => None,
    });
    values.collect()
}

fn processes(launched: &Launched) -> usize {
    let process = |event: &&Event| matches!(event, Event::Process(p) if p.n > 0);
    launched.events.iter().filter(process).count()
}

fn need(name: String) -> Need {
    Need { name, any: vec![], package: String::new(), version: None }
}

fn shell_work(script: &str, stdout: Option<&str>, leaves: &[&str]) -> CommandWork {
    CommandWork {
        argv: words(&["/bin/sh", "-c", script]),
        files: BTreeMap::from([("input".to_owned(), "hello\n".to_owned())]),
        stdout: stdout.map(str::to_owned),
        leaves: words(leaves),
        ..CommandWork::default()
    }
}

fn shell(script: &str, stdout: Option<&str>, leaves: &[&str]) -> Benchmark {
    benchmark(Work::Command(shell_work(script, stdout, leaves)))
}

fn kernel(program: &str, params: &[(&str, &str)], operations: u64) -> Benchmark {
    let mut entry = benchmark(Work::Kernel(testkit::workload_with(program, params)));
    entry.published = Some(PublishedWork {
        work: "so much".to_owned(),
        operations,
        figure: gritstone_model::Subject::Real,
    });
    entry
}

fn params(launched: &Launched, wanted: &str) -> Vec<String> {
    let values = launched.events.iter().filter_map(|event| match event {
        Event::Param(param) if param.key() == wanted => Some(param.value().into_owned()),
        _ => None,
    });
    values.collect()
}

#[test]
fn verified_commands_are_timed() {
    let script = "cat input; echo >one; echo >two";
    let good = shell(script, Some(" hello\n"), &["one", "two"]);
    let launched = Bench::new().measured(&good);
    let samples = samples(&launched);
    assert!((1..=20).contains(&samples.len()), "{samples:?}");
    assert!(samples.iter().all(|s| s.n == 1 && s.wall > 0), "{samples:?}");
    assert_eq!(params(&launched, "measured"), ["page cache of a test"]);
    assert!(launched.cpu > 0, "the CPU time of the launch is its own");
}

#[test]
fn shared_programs_hash_alike() {
    let mut bench = Bench::new();
    let file = |name: &str, text: &str| {
        let path = bench.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let programs = [file("one", "1"), file("two", "2")];
    let named = ["one", "two"].map(str::to_owned).into_iter().zip(programs);
    bench.executor.setup.programs.extend(named);
    let benchmark = |id: &str, first: &str, needs: &[&str]| Benchmark {
        id: testkit::id(id),
        needs: words(needs).into_iter().map(need).collect(),
        ..command(&[first])
    };
    let benchmarks = [
        benchmark("made/a", "{one}", &["one"]),
        benchmark("made/b", "{one}", &["one", "two"]),
        benchmark("made/c", "{two}", &["two"]),
        benchmark("made/d", "{one}", &["two"]),
        benchmark("made/e", "/nonexistent", &["two"]),
    ];
    let together = bench.executor.programs(&bench.variant, &benchmarks);
    for benchmark in &benchmarks {
        let hash = together.get(&benchmark.id).map(|program| program.hash.clone());
        assert_eq!(hash, bench.hash(benchmark), "{}", benchmark.id);
    }
    let [a, b, c, d, e] = benchmarks.each_ref().map(|benchmark| bench.hash(benchmark));
    assert!(a != b && a != c && b != c && b == d && e.is_none());
}

#[test]
fn output_is_compared() {
    let mut bench = Bench::new();
    let mut why = |script: &str| bench.failure(script, Some("hello"), &[]);
    assert!(why("echo bye").ends_with("printed 'bye' instead of 'hello'"));
    assert!(why("true").ends_with("printed '' instead of 'hello'"));
    // output after a zero byte, or beyond the buffer, counts
    assert!(why("printf 'hello\\0bye'").contains("printed 'hello' and more"));
    assert!(why("printf 'hello%5000s%s' '' bye").contains("printed 'hello' and more"));
    let why = bench.failure("echo x", None, &[]);
    assert!(why.ends_with("printed 'x' instead of ''"), "{why}");
}

#[test]
fn failing_commands_have_no_time() {
    let mut bench = Bench::new();
    let mut why = |script: &str| bench.failure(script, None, &[]);
    assert!(why("echo oh dear >&2").ends_with("/bin/sh complained: oh dear"));
    assert!(why("printf '\\0oh dear' >&2").contains("complained"));
    assert!(why("echo bad >&2; exit 3").ends_with("ended with status 3; it said: bad"));
    assert!(why("kill -9 $$").contains("was killed by signal 9"));
    let why = bench.fails(&command(&["/nonexistent/program"]));
    assert!(why.starts_with("posix_spawn: No such file"), "{why}");
}

#[test]
fn commands_leave_declared_files() {
    let mut bench = Bench::new();
    let mut why = |script: &str, leaves: &[&str]| bench.failure(script, None, leaves);
    assert!(why(":", &["out"]).ends_with("did not leave the file out"));
    assert!(why("echo >a; echo >b", &[]).contains("left 2 unexpected files"));
    assert!(why("echo >out; mkdir d", &["out"]).contains("left 1 unexpected files"));
    assert!(why("rm input", &[]).contains("removed 1 files"));
}

#[test]
fn commands_must_wait_for_children() {
    let mut bench = Bench::new();
    let why = bench.failure("sleep 60 >/dev/null 2>&1 &", None, &[]);
    let reason = "ended before a process that it had started";
    assert!(why.contains(reason), "{why}");
    // children that it waits for, and finished ones, are part of its work
    let script = "true & (true &) ; sleep 0.5; wait";
    bench.measured(&shell(script, None, &[]));
}

#[test]
fn proof_precedes_timing_once() {
    let mut bench = Bench::new();
    let count = bench.folder.path().join("proofs");
    let proof = |printed: &str| {
        let script = format!("echo >>'{}'; cat input", count.display());
        let mut work = shell_work("true", None, &[]);
        work.verify =
            Some(Verify { argv: words(&["/bin/sh", "-c", &script]), stdout: printed.to_owned() });
        benchmark(Work::Command(work))
    };
    let proofs = || fs::read_to_string(&count).unwrap().lines().count();
    let launched = bench.launch(&proof("bye"));
    let failed = "the work check failed: stdout: ";
    assert!(launched.outcome.why().starts_with(failed), "{launched:?}");
    assert!(samples(&launched).is_empty());
    assert_eq!(proofs(), 1);
    for _ in 0..2 {
        bench.measured(&proof("hello"));
        // a failed proof is repeated, a successful one is not
        assert_eq!(proofs(), 2);
    }
    bench.variant.side = 1;
    bench.measured(&proof("hello"));
    assert_eq!(proofs(), 3);
}

#[test]
fn linked_size_is_measured() {
    let mut bench = Bench::new();
    let source = "int big[1000]; int main(void) { return big[0]; }\n";
    let linked = |argv: &[&str]| {
        benchmark(Work::Command(CommandWork {
            argv: words(argv),
            files: BTreeMap::from([("small.c".to_owned(), source.to_owned())]),
            leaves: words(&["a.out"]),
            figure: Figure::LinkedSize,
            ..CommandWork::default()
        }))
    };
    let launched = bench.measured(&linked(&["{cc}", "-o", "a.out", "small.c"]));
    let size = |key: &str| params(&launched, key)[0].parse::<u64>().unwrap();
    let [text, data, bss] = ["size.text", "size.data", "size.bss"].map(size);
    assert!(text > 0 && data > 0 && (4000..8000).contains(&bss), "{bss}");
    assert!(params(&launched, "symbol").contains(&"main".to_owned()));

    let why = bench.fails(&linked(&["/bin/sh", "-c", "echo text >a.out"]));
    assert!(why.contains("not an object file"), "{why}");
}

#[test]
fn reference_work_is_measured_twice() {
    let mut bench = Bench::new();
    // it never waits and has one thread; reading the clocks, a tenth of this work, is not part of it. Steal time
    // while they are read may count as ours, so this must hold for one launch of five
    let without_the_clocks = (0..5).any(|_| {
        let launched = bench.measured(&kernel("byte/fcall", &[("how", "assign")], 50_000));
        assert_eq!(processes(&launched), 3);
        assert!(!samples(&launched).is_empty());
        let batch = launched.events.iter().find_map(|event| match event {
            Event::Batch(batch) => Some(batch),
            _ => None,
        });
        let batch = batch.unwrap();
        assert_eq!(batch.n, 50_000);
        assert!(batch.usage.cpu > 0);
        let wall: u64 = batch.walls.iter().sum();
        batch.usage.cpu < wall + wall / 14
    });
    assert!(without_the_clocks);
}

#[test]
fn published_work_prepares_separately() {
    let mut bench = Bench::new();
    for program in ["byte/disk-write", "byte/disk-read"] {
        let launched = bench.measured(&kernel(program, &[], 1));
        assert_eq!(processes(&launched), 3);
    }
}

#[test]
fn folders_may_have_any_name() {
    let mut bench = Bench::below(OsStr::from_bytes(b"two words, \xff '\"$x"));
    bench.measured(&kernel("byte/syscall", &[], 1000));
    let both = "cd \"$HOME\" && cat input && cd \"$TMPDIR\" && cat input";
    bench.measured(&shell(both, Some("hello hello"), &[]));
}

#[test]
fn oversized_n_is_refused() {
    let why = Bench::new().fails(&kernel("byte/disk-read", &[], 100_000));
    assert!(why.contains("batch=100000 is more than"), "{why}");
}

#[test]
fn derived_benchmarks_are_not_launched() {
    let derived = benchmark(testkit::sum([(1.0, "made/other")]));
    let outcome = Bench::new().launch(&derived).outcome;
    assert!(matches!(outcome, Outcome::Skipped(_)), "{outcome:?}");
}
