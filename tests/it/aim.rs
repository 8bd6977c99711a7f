//! AIM Suite II, used as a person uses it: work done, and ratios within one run that hold on any machine with room to spare.

use crate::common::{Home, flagged, result};
use serde_json::Value;

fn estimate(run: &Value, id: &str) -> f64 {
    let row = result(run, id);
    assert_eq!(row["outcome"], "measured", "{row}");
    assert!(!flagged(row, "invalid"), "{row}");
    row["estimate"].as_f64().unwrap_or_else(|| panic!("{row}"))
}

fn run(home: &Home, budget: &str, more: &[&str]) -> Value {
    let dir = home.path().to_str().unwrap();
    let fixed = [
        "run",
        "--budget",
        budget,
        "--precision",
        "10%",
        "--dir",
        dir,
        "--format",
        "json",
    ];
    home.json(&[&fixed[..], more].concat())
}

#[test]
fn dear_operations_are_dearer_than_cheap_ones() {
    let home = Home::new();
    let run = run(
        &home,
        "40s",
        &[
            "aim/add/*",
            "aim/divide/*",
            "aim/divide/double@throughput",
            "aim/getpid",
            "aim/creat-close",
            "aim/fork",
            "aim/function-call/0",
            "aim/ram-read/char",
            "aim/ram-read/long",
        ],
    );
    let of = |id: &str| estimate(&run, id);
    for t in ["short", "long", "float", "double"] {
        let (add, divide) = (of(&format!("aim/add/{t}")), of(&format!("aim/divide/{t}")));
        assert!(divide > 1.5 * add, "{t}: {divide} {add}");
    }
    assert!(of("aim/divide/double@throughput") < of("aim/divide/double"));
    assert!(of("aim/ram-read/char") > 1.5 * of("aim/ram-read/long"));
    // a call stays in the program, a system call leaves it, and a process is more than a few of those
    assert!(of("aim/getpid") > 3.0 * of("aim/function-call/0"));
    assert!(of("aim/creat-close") * 1e3 > of("aim/getpid"));
    assert!(1e9 / of("aim/fork") > 10.0 * of("aim/getpid"));
}

#[test]
fn a_parameter_that_is_given_is_kept_with_the_figure() {
    let home = Home::new();
    let selected = ["aim/ram-copy/long", "aim/getpid", "--param", "bytes=8192"];
    let run = run(&home, "10s", &selected);
    assert_eq!(run["settings"]["params"]["bytes"], "8192");
    let row = result(&run, "aim/ram-copy/long");
    assert_eq!(row["measured"], "two times 8192 bytes");
    assert!(flagged(row, "not-comparable"), "{row}");
    assert!(!flagged(result(&run, "aim/getpid"), "not-comparable"));

    // what the program makes of nonsense is no figure
    let (code, _, error) = home.run(&[
        "run",
        "aim/tty1-write",
        "--budget",
        "20s",
        "--param",
        "tty=/dev/null",
    ]);
    assert_eq!(code, 3, "{error}");
    assert!(error.contains("/dev/null is no terminal"), "{error}");
}
