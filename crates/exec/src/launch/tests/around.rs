//! Around a timed command: preparation, input, output, removed files, and proofs that skip.

use super::*;

fn outcome(bench: &mut Bench, work: CommandWork) -> Outcome {
    bench.launch(&benchmark(Work::Command(work))).outcome
}

fn failed(bench: &mut Bench, work: CommandWork) -> String {
    bench.fails(&benchmark(Work::Command(work)))
}

#[test]
fn preparation_is_repeated_and_untimed() {
    let mut bench = Bench::new();
    let mut work = shell_work("cat made", Some("1"), &[]);
    work.prepare = words(&["/bin/sh", "-c", "sleep 0.2; echo 1 >made; echo ignored"]);
    work.verify = Some(Verify {
        argv: words(&["/bin/sh", "-c", "cat made input; rm made"]),
        stdout: "1 hello".to_owned(),
    });
    let launched = bench.measured(&benchmark(Work::Command(work)));
    let preparing = 200_000_000;
    // any of them may have been delayed as long
    assert!(samples(&launched).iter().any(|sample| sample.wall < preparing));
}

#[test]
fn failed_preparation_has_no_time() {
    let mut bench = Bench::new();
    for (script, printed) in [
        ("echo no paper >&2; exit 3", "it said: no paper"),
        ("echo careful >&2", "it said: careful"),
    ] {
        let mut work = shell_work("true", None, &[]);
        work.prepare = words(&["/bin/sh", "-c", script]);
        let why = failed(&mut bench, work);
        assert!(why.starts_with("prepare: /bin/sh"), "{why}");
        assert!(why.ends_with(printed), "{why}");
    }
}

#[test]
fn commands_use_input_and_output() {
    let mut bench = Bench::new();
    let mut work = shell_work("read word; echo $word", Some("hello"), &[]);
    assert!(failed(&mut bench, work.clone()).ends_with("instead of 'hello'"));
    work.input = Some("input".to_owned());
    assert_eq!(outcome(&mut bench, work.clone()), Outcome::Measured);

    // redirected output is not compared, and the file is recreated each time
    let mut work = shell_work("test ! -s out && cat input input", None, &["out"]);
    work.output = Some("out".to_owned());
    assert_eq!(outcome(&mut bench, work.clone()), Outcome::Measured);
    work.output = Some("/dev/null".to_owned());
    assert!(failed(&mut bench, work).ends_with("did not leave the file out"));
    let mut work = shell_work("cat input", None, &[]);
    work.output = Some("/dev/null".to_owned());
    assert_eq!(outcome(&mut bench, work.clone()), Outcome::Measured);
    work.input = Some("nowhere".to_owned());
    assert!(failed(&mut bench, work).starts_with("posix_spawn: No such file"));
}

#[test]
fn commands_remove_declared_files() {
    let mut bench = Bench::new();
    let mut why = |script: &str| {
        let mut work = shell_work(script, None, &[]);
        work.prepare = words(&["/bin/sh", "-c", "echo >a; echo >b"]);
        work.removes = words(&["a", "b"]);
        outcome(&mut bench, work)
    };
    assert_eq!(why("rm a b"), Outcome::Measured);
    let mut reason = |script: &str| why(script).why().to_owned();
    assert!(reason("rm a").ends_with("did not remove the file b"));
    assert!(reason("rm a b; echo >c").contains("left 1 unexpected files"));
    assert!(reason("rm a b input").contains("removed 1 files"));

    let mut work = shell_work("true", None, &[]);
    work.removes = words(&["a"]);
    let none = "the file a, to be removed, does not exist";
    assert!(failed(&mut bench, work).ends_with(none));
}

#[test]
fn proofs_may_skip() {
    let mut bench = Bench::new();
    let mut work = shell_work("true", None, &[]);
    let script = "echo 'no macros here: apt-get install groff' >&2; exit 77";
    work.verify =
        Some(Verify { argv: words(&["/bin/sh", "-c", script]), stdout: "loaded".to_owned() });
    let why = "no macros here: apt-get install groff".to_owned();
    assert_eq!(outcome(&mut bench, work), Outcome::Skipped(why));
    // the command itself may not
    let why = failed(&mut bench, shell_work(script, None, &[]));
    assert!(why.contains("ended with status 77"), "{why}");
}
