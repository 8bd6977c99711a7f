//! What a newcomer sees first: suites, plans, short budgets, wrong names and unusable stores.

use crate::common::{Home, ended, list};

#[test]
fn suites_are_words() {
    let home = Home::new();
    assert!(home.ok("list").contains("\nstandard "));
    let listed = home.json("list standard");
    let planned = home.json("run standard --dry-run");
    assert_eq!(planned, home.json("run --suite standard --dry-run"));
    assert!(planned["expected_s"].as_f64().unwrap() > 10.0);
    let plan = home.ok("run byte --quick --dry-run");
    assert!(plan.contains("six launches of each take "), "{plan}");
    // with those that are computed from others
    let byte = home.json("run byte --dry-run");
    let counts = ["benchmarks", "skipped"].map(|key| list(&byte[key]).len());
    let listed_byte = home.json("list byte");
    let all = list(&listed_byte["benchmarks"]).len();
    assert_eq!(counts.iter().sum::<usize>(), all, "{byte}");
    let skipped = list(&planned["skipped"]).iter().map(|skip| &skip["id"]);
    let planned: Vec<_> = list(&planned["benchmarks"]).iter().chain(skipped).collect();
    for benchmark in list(&listed["benchmarks"]) {
        assert!(planned.contains(&&benchmark["id"]), "{benchmark}");
    }
    home.refuses("run standard --suite full", "one suite");
}

#[test]
fn short_budgets_count_the_rest() {
    let home = Home::new();
    let dir = home.path().display();
    let text = home.ok(&format!("run --budget 3s --dir {dir}"));
    assert!(text.contains("did not fit into 3 s"), "{text}");
    assert!(!text.contains("geometric mean"), "{text}");
    let run = home.json("show");
    let results = list(&run["results"]);
    assert!(text.lines().count() < results.len() / 2, "{text}");
}

#[test]
fn wrong_words_get_advice() {
    let home = Home::with(&["run"]);
    home.refuses("compare run", "gritstone compare run last");
    for line in ["list --family", "run --fmaily"] {
        let error = home.refuses(line, "gritstone: unexpected argument");
        assert!(!error.contains("as a value"), "{error}");
    }
    let error = home.refuses("history x", "no benchmark is called");
    assert!(!error.contains("did you mean"), "{error}");
}

#[test]
fn unusable_stores_stop_first() {
    let home = Home::new();
    let mut command = home.gritstone("run --quick byte/sieve");
    command.env("GRITSTONE_STORE", "/proc/gritstone.db");
    let (code, out, error) = ended(&mut command);
    assert_eq!((code, out.as_str()), (2, ""), "{error}");
    assert!(error.contains("GRITSTONE_STORE"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    let absent = home.path().join("absent.db");
    let mut runs = home.gritstone("runs");
    let (code, _, error) = ended(runs.env("GRITSTONE_STORE", &absent));
    assert_eq!(code, 0, "{error}");
    assert!(error.contains(absent.to_str().unwrap()), "{error}");
}

#[test]
fn stored_tests_are_no_run() {
    let home = Home::new();
    home.ok("bench -r 1 true");
    for command in ["show", "check"] {
        let (_, _, error) = home.run(command);
        assert!(error.contains("only tests of `bench`"), "{error}");
    }
    let listed = home.ok("runs");
    assert!(listed.contains("1 side of A/B tests (--all)"), "{listed}");
    assert!(home.ok("runs --all").contains("bench-"));
    home.refuses("run --label= byte/sieve", "a label has at least one character");
}
