//! The kernel benchmarks, run as a person runs them: what must be slower than what on any machine, with a lot of room. No
//! test asserts an absolute time.

mod common;

use common::{Home, kinds, result};

#[test]
fn more_work_takes_longer() {
    let home = Home::new();
    let dir = home.path().to_str().unwrap();
    let rows = [
        "kernel/syscall",
        "kernel/csw",
        "kernel/signocsw",
        "kernel/pipeself/4",
        "kernel/pipeback/4",
        "kernel/forks/0",
        "kernel/vforks/0",
        "kernel/execs/0-null",
        "kernel/vexecs/0-null",
    ];
    let flags = ["--budget", "20s", "--format", "json", "--dir", dir];
    let run = home.json(&[&["run"], &rows[..], &flags].concat());
    for id in rows {
        assert!(
            !kinds(result(&run, id)).contains(&"trivialised".to_owned()),
            "{id}"
        );
    }
    let ns = |id: &str| {
        let row = result(&run, id);
        let estimate = row["estimate"].as_f64().unwrap();
        match row["unit"].as_str().unwrap() {
            "us/op" => 1000.0 * estimate,
            _ => estimate,
        }
    };
    for (slow, fast) in [
        ("kernel/signocsw", "kernel/syscall"),
        ("kernel/pipeself/4", "kernel/syscall"),
        ("kernel/pipeback/4", "kernel/pipeself/4"),
        ("kernel/vforks/0", "kernel/syscall"),
        ("kernel/forks/0", "kernel/syscall"),
        ("kernel/execs/0-null", "kernel/forks/0"),
        ("kernel/vexecs/0-null", "kernel/vforks/0"),
    ] {
        assert!(
            ns(slow) > ns(fast),
            "{slow} {} {fast} {}",
            ns(slow),
            ns(fast)
        );
    }
}
