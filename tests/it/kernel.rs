//! The kernel benchmarks, run as a person runs them: what must be slower than what on any machine, with a lot of room. No
//! test asserts an absolute time.

use crate::common::{Home, result};

#[test]
fn more_work_takes_longer() {
    let home = Home::new();
    let dir = home.path().to_str().unwrap();
    let rows = [
        "kernel/syscall",
        "kernel/forks/0",
        "kernel/vforks/0",
        "kernel/execs/0-null",
        "kernel/vexecs/0-null",
    ];
    let flags = ["--budget", "30s", "--precision", "50%", "--format", "json"];
    let run = home.json(&[&["run", "--dir", dir], &rows[..], &flags].concat());
    // the least of the launches: whoever else uses the machine only ever adds time
    let ns = |id: &str| {
        let row = result(&run, id);
        let values = row["values"].as_array().unwrap();
        let least = values.iter().map(|value| value.as_f64().unwrap());
        let least = least.reduce(f64::min).unwrap_or_else(|| panic!("{row}"));
        match row["unit"].as_str().unwrap() {
            "us/op" => 1000.0 * least,
            _ => least,
        }
    };
    for (slow, fast) in [
        ("kernel/vforks/0", "kernel/syscall"),
        ("kernel/forks/0", "kernel/syscall"),
        ("kernel/execs/0-null", "kernel/forks/0"),
        ("kernel/vexecs/0-null", "kernel/vforks/0"),
    ] {
        let (longer, shorter) = (ns(slow), ns(fast));
        assert!(
            longer > 1.5 * shorter,
            "{slow} {longer} ns, {fast} {shorter} ns"
        );
    }
}
