use super::*;

fn file(path: &str, text: &str) -> HarnessFile {
    HarnessFile { path: path.into(), text: text.to_owned() }
}

fn read(harness: &str, text: &str) -> Result<HarnessResults, HarnessError> {
    named(harness, "/times").unwrap().results(&[file("", text)], &[])
}

fn parsed(harness: &str, text: &str) -> Result<Vec<HarnessResult>, HarnessError> {
    read(harness, text).map(|results| results.measured)
}

/// Name, unit and values of each.
fn results(harness: &str, text: &str) -> Vec<(String, String, Vec<f64>)> {
    let results = parsed(harness, text).unwrap().into_iter();
    results.map(|r| (r.name, r.unit, r.values)).collect()
}

fn one(name: &str, unit: &str, values: &[f64]) -> (String, String, Vec<f64>) {
    (name.to_owned(), unit.to_owned(), values.to_vec())
}

fn arguments(harness: &str, command: &[&str], wanted: &[&str], unwanted: &[&str]) -> Vec<String> {
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let (command, wanted, unwanted) = (owned(command), owned(wanted), owned(unwanted));
    let invocation = named(harness, "").unwrap().invocation(&Execution {
        command: &command,
        directory: Path::new("/out"),
        time: Duration::from_millis(50),
        wanted: &wanted,
        unwanted: &unwanted,
    });
    invocation.argv[command.len()..].to_vec()
}

#[test]
fn google_benchmark_uses_its_clock() {
    let text = r#"{"context": {}, "benchmarks": [
        {"name": "sum/8", "run_name": "sum/8", "run_type": "iteration", "real_time": 9.0, "cpu_time": 8.0, "time_unit": "us"},
        {"name": "sum/8", "run_type": "iteration", "real_time": 9.0, "cpu_time": 8.5, "time_unit": "us"},
        {"name": "io/real_time", "run_type": "iteration", "real_time": 7.0, "cpu_time": 1.0},
        {"name": "sum/8_mean", "run_name": "sum/8", "run_type": "aggregate", "real_time": 1, "cpu_time": 1},
        {"name": "broken", "run_type": "iteration", "error_occurred": true}]}"#;
    let expected = [one("sum/8", "us", &[8.0, 8.5]), one("io/real_time", "ns", &[7.0])];
    assert_eq!(results("google-benchmark", text), expected);
    let arguments = arguments("google-benchmark", &["./bench"], &["a<int>/8", "b.c"], &[]);
    assert_eq!(arguments.last().unwrap(), r"--benchmark_filter=^(a<int>/8|b\.c)$");
}

#[test]
fn go_names_lose_common_processors() {
    let text = "goos: linux\npkg: example.com/x\nBenchmarkSort/n-10-8   \t 100\t 12.5 ns/op\t 3 B/op\n\
                BenchmarkSort/n-100-8 100 80 ns/op\nBenchmarkRate-8 10 5 MB/s\nhello\nPASS\n";
    let expected = [
        one("BenchmarkSort/n-10", "ns/op", &[12.5]),
        one("BenchmarkSort/n-100", "ns/op", &[80.0]),
        one("BenchmarkRate", "MB/s", &[5.0]),
    ];
    assert_eq!(results("go", text), expected);
    assert_eq!(parsed("go", text).unwrap()[2].better, Better::Higher);
    let single = "BenchmarkA-10 5 1 ns/op\nBenchmarkA-100 5 2 ns/op\n";
    assert_eq!(results("go", single).len(), 2);
    let two = "pkg: x\nBenchmarkA 5 1 ns/op\npkg: y\nBenchmarkA 5 2 ns/op\n";
    let expected = [one("x:BenchmarkA", "ns/op", &[1.0]), one("y:BenchmarkA", "ns/op", &[2.0])];
    assert_eq!(results("go", two), expected);
    let known = ["x:BenchmarkA", "BenchmarkY/size-64"].map(str::to_owned);
    for (text, name) in [
        ("pkg: x\nBenchmarkA 5 1 ns/op\n", "x:BenchmarkA"),
        ("pkg: x\nBenchmarkY/size-64 5 1 ns/op\n", "BenchmarkY/size-64"),
        ("pkg: x\nBenchmarkNew-64 5 1 ns/op\n", "BenchmarkNew"),
    ] {
        let go = named("go", "").unwrap();
        let results = go.results(&[file("", text)], &known).unwrap();
        assert_eq!(results.measured[0].name, name);
    }
}

#[test]
fn go_results_follow_output() {
    let text = "BenchmarkFast-8   \tsome output\n3 4 of mine\n12345678\t 9.5 ns/op\n\
                    fast_test.go:7: took 12 ns/op\n\
                BenchmarkKilled-8 \tmore output\nPASS\n";
    let run = read("go", text).unwrap();
    assert_eq!((&*run.measured[0].name, &*run.measured[0].values), ("BenchmarkFast", &[9.5][..]));
    let without_value = [("BenchmarkKilled".to_owned(), "line 5: no results follow".to_owned())];
    assert_eq!((run.measured.len(), run.without_value), (1, without_value.to_vec()));
    let verbose =
        "BenchmarkA\nBenchmarkA-2 \t 100 \t 5 ns/op\nBenchmarkB\nBenchmarkB/x-2 100 6 ns/op\n";
    assert!(read("go", verbose).unwrap().without_value.is_empty());
}

#[test]
fn rates_are_better_when_higher() {
    let rates = "MB/s ops/sec events/second x/minute x/hour req/ms x/us runs/h jobs/min GFLOPS \
                 MWIPS GFlops IOPS kIOPS fps items_per_second";
    for unit in rates.split(' ') {
        assert_eq!(direction(unit), Better::Higher, "{unit}");
    }
    for (name, prefix) in RATES.iter().flat_map(|name| ["", "k", "M"].map(|prefix| (name, prefix)))
    {
        assert_eq!(direction(&format!("{prefix}{name}")), Better::Higher, "{prefix}{name}");
    }
    for unit in ["ns/op", "s", "us/req", "B/op", "allocs/op", "ms", "hops", "%", "steps"] {
        assert_eq!(direction(unit), Better::Lower, "{unit}");
    }
}

#[test]
fn filters_are_of_the_harness() {
    let has = |words: &[String], word: &str| words.iter().any(|known| known == word);
    let go = arguments("go", &["./b.test"], &["x:BenchmarkA-2", "BenchmarkB/x-4"], &[]);
    assert!(has(&go, "-test.bench=^(BenchmarkA|BenchmarkB)$"), "{go:?}");
    assert!(has(&arguments("go", &["/usr/bin/go", "test"], &[], &[]), "-bench=."));
    let divan = arguments("divan", &["./b"], &["b::sum::t=2"], &[]);
    assert!(has(&divan, "b::sum"), "{divan:?}");
    let google = arguments("google-benchmark", &["./b"], &["sort #2"], &[]);
    assert!(has(&google, "--benchmark_filter=^(sort)$"), "{google:?}");
}

#[test]
fn options_of_users_win() {
    let begins = |words: Vec<String>, start: &str| words.iter().any(|word| word.starts_with(start));
    for command in [["go", "test", "-bench=Parse"], ["go", "-bench", "Parse"]] {
        assert!(!begins(arguments("go", &command, &[], &[]), "-bench="));
    }
    let cargo = ["cargo", "bench", "--bench", "b", "--", "parse"];
    assert!(!begins(arguments("criterion", &cargo, &["x"], &[]), "^"));
    assert!(begins(arguments("criterion", &cargo[..4], &["x"], &[]), "^"));
    assert!(!begins(arguments("hyperfine", &["hyperfine", "-r10", "ls"], &[], &[]), "--runs"));
    let jmh = arguments("jmh", &["java", "-jar", "b.jar", "-f1"], &[], &[]);
    assert_eq!(jmh.iter().filter(|word| word.starts_with("-f")).count(), 1, "{jmh:?}");
}

#[test]
fn names_of_google_may_repeat() {
    let entry = |family: u32, repetition: u32, time: f64| {
        format!(
            r#"{{"name": "sort", "run_name": "sort", "run_type": "iteration", "family_index": {family}, "per_family_instance_index": 0,
                "repetition_index": {repetition}, "iterations": 9, "real_time": {time}, "cpu_time": {time}, "time_unit": "us", "rms": 1.0}}"#
        )
    };
    let entries = [entry(0, 0, 1.0), entry(0, 1, 2.0), entry(1, 0, 4.0)].join(",");
    let text = format!(r#"{{"context": {{}}, "benchmarks": [{entries}]}}"#);
    let expected = [one("sort", "us", &[1.0, 2.0]), one("sort #2", "us", &[4.0])];
    assert_eq!(results("google-benchmark", &text), expected);
}

#[test]
fn threads_of_divan_stay_apart() {
    let text =
        "bench     fastest       │ slowest       │ median        │ mean          │ samples │ iters
╰─ sum                  │               │               │               │         │
   ├─ 1                 │               │               │               │         │
   │  ├─ t=1  1 ns          │ 3 ns          │ 2 ns          │ 2 ns          │ 100     │ 100
   │  ╰─ t=2  1 ns          │ 9 ns          │ 8 ns          │ 8 ns          │ 100     │ 100
   ╰─ 2       1 ns          │ 5 ns          │ 4 ns          │ 4 ns          │ 100     │ 100
";
    let expected = [
        one("bench::sum::1::t=1", "ns", &[2.0]),
        one("bench::sum::1::t=2", "ns", &[8.0]),
        one("bench::sum::2", "ns", &[4.0]),
    ];
    assert_eq!(results("divan", text), expected);
}

#[test]
fn pytest_keeps_common_prefixes() {
    let text = r#"{"benchmarks": [
        {"fullname": "t.py::a", "stats": {"data": [0.5, 0.25], "median": 9}},
        {"fullname": "t.py::b[1]", "stats": {"median": 0.125}}]}"#;
    let expected = [one("t.py::a", "s", &[0.5, 0.25]), one("t.py::b[1]", "s", &[0.125])];
    assert_eq!(results("pytest-benchmark", text), expected);
    let arguments =
        arguments("pytest-benchmark", &["pytest"], &["t.py::ab"], &["t.py::a", "t.py::c"]);
    let deselected: Vec<_> =
        arguments.iter().filter(|word| word.starts_with("--deselect")).collect();
    assert_eq!(deselected, ["--deselect=t.py::c"]);
}

#[test]
fn criterion_pairs_samples_with_names() {
    let files = [
        file("g/f/new/benchmark.json", r#"{"full_id": "g/f/8", "group_id": "g"}"#),
        file(
            "g/f/new/sample.json",
            r#"{"sampling_mode": "Linear", "iters": [1, 2], "times": [10, 24]}"#,
        ),
        file("g/f/base/sample.json", "not read"),
        file("b/new/benchmark.json", r#"{"full_id": "b"}"#),
        file("b/new/sample.json", r#"{"iters": [1, 2"#),
        file("c/new/benchmark.json", r#"{"full_id": "c"}"#),
        file("c/new/estimates.json", r#"{"median": {"point_estimate": 7.5}}"#),
    ];
    let criterion = named("criterion", "").unwrap();
    let results = criterion.results(&files, &[]).unwrap();
    let measured: Vec<_> =
        results.measured.iter().map(|r| (r.name.as_str(), &r.values[..])).collect();
    assert_eq!(measured, [("c", &[7.5][..]), ("g/f/8", &[10.0, 12.0])]);
    let [(name, why)] = &results.without_value[..] else {
        panic!("{:?}", results.without_value);
    };
    assert!(name == "b/new" && why.contains("truncated"), "{name}: {why}");
    let alone = criterion.parse(&files[1..3]).unwrap_err().to_string();
    let wanted = "no benchmark of Criterion has a value: g/f/new: no benchmark.json beside it, which names the benchmark";
    assert_eq!(alone, wanted);
    assert_eq!(arguments("criterion", &["cargo", "bench"], &[], &[])[0], "--");
    assert_eq!(arguments("criterion", &["target/release/b"], &["a"], &[]).last().unwrap(), "^(a)$");
}

#[test]
fn pyperf_inherits_file_names() {
    let text = r#"{"version": "1.0", "metadata": {"name": "loop", "unit": "second"}, "benchmarks": [
        {"runs": [{"warmups": [[1, 0.1]]}, {"values": [0.5, 0.75]}]},
        {"metadata": {"name": "size", "unit": "byte"}, "runs": [{"values": [4096]}]}]}"#;
    let expected = [one("loop", "s", &[0.5, 0.75]), one("size", "byte", &[4096.0])];
    assert_eq!(results("pyperf", text), expected);
}

#[test]
fn jmh_rates_are_better_higher() {
    let text = r#"[{"benchmark": "a.B.c", "mode": "thrpt", "params": {"n": "1", "k": "x"},
        "primaryMetric": {"score": 5, "scoreUnit": "ops/s", "rawData": [[4, 6]]}},
        {"benchmark": "a.B.d", "mode": "sample", "primaryMetric": {"score": 2.5, "scoreUnit": "us/op"}}]"#;
    let expected =
        [one("a.B.c:k=x,n=1", "ops/s", &[4.0, 6.0]), one("a.B.d:mode=sample", "us/op", &[2.5])];
    assert_eq!(results("jmh", text), expected);
    let better: Vec<Better> = parsed("jmh", text).unwrap().iter().map(|r| r.better).collect();
    assert_eq!(better, [Better::Higher, Better::Lower]);
    assert_eq!(
        arguments("jmh", &["java"], &["a.B.c:n=1", "a.B.c:n=2"], &[]).last().unwrap(),
        r"^(a\.B\.c)$"
    );
    let forks = |command: &[&str]| {
        let more = arguments("jmh", command, &[], &[]);
        more.windows(2)
            .filter(|pair| pair[0] == "-f")
            .map(|pair| pair[1].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(forks(&["./jmh"]), ["0"]);
    assert_eq!(forks(&["./jmh", "-f", "2"]), [""; 0]);
    let lock = "-Djmh.ignoreLock=true".to_owned();
    let ignores = |command: &[&str]| arguments("jmh", command, &[], &[]).contains(&lock);
    assert!(!ignores(&["./jmh"]) && ignores(&["/usr/bin/java"]));
}

#[test]
fn ignored_failures_are_others() {
    let text = |codes: &str| {
        format!(r#"{{"results": [{{"command": "a", "times": [1, 2], "exit_codes": {codes}}}]}}"#)
    };
    assert_eq!(results("hyperfine", &text("[3, 3]")), [one("a (exit status 3)", "s", &[1.0, 2.0])]);
    assert!(parsed("hyperfine", &text("[0, 3]")).is_err());
}

#[test]
fn late_failures_of_go_count() {
    let text = "BenchmarkA-2 \t 10 1 ns/op\nBenchmarkB-2 \t 10 2 ns/op\n\
                BenchmarkB-2   \t--- FAIL: BenchmarkB-2\n    x_test.go:7: late\n\
                BenchmarkC-2 \t 10 3 ns/op\n--- SKIP: BenchmarkD\nFAIL\n";
    let names: Vec<String> = parsed("go", text).unwrap().into_iter().map(|r| r.name).collect();
    assert_eq!(names, ["BenchmarkA", "BenchmarkC"]);
    let all = read("go", text).unwrap();
    let failed: Vec<&str> = all.without_value.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(failed, ["BenchmarkB", "BenchmarkD"]);
}

#[test]
fn damaged_criterion_samples_are_named() {
    for sample in [r#"{"iters": [1, 2], "times": [10]}"#, "[[], []]", r#"{"iters": [1]}"#] {
        let files = [
            file("g/new/benchmark.json", r#"{"full_id": "g"}"#),
            file("g/new/sample.json", sample),
        ];
        let error = named("criterion", "").unwrap().parse(&files).unwrap_err();
        assert!(error.to_string().contains("sample.json"), "{error}");
    }
}

#[test]
fn divan_names_are_paths() {
    let text = "x         fastest       │ slowest  │ median   │ mean     │ samples │ iters\n\
                ├─ a      1 ns          │ 3 ns     │ 2 ns     │ 2.1 ns   │ 100     │ 200\n\
                │         5 MB/s        │ 5 MB/s   │ 5 MB/s   │ 5 MB/s   │         │\n\
                ├─ skip   (ignored)     │          │          │          │         │\n\
                ╰─ m                    │          │          │          │         │\n   \
                   ╰─ b   1 µs          │ 3 µs     │ 1.5 µs   │ 2 µs     │ 100     │ 100\n";
    let expected = [one("x::a", "ns", &[2.0]), one("x::m::b", "ns", &[1500.0])];
    assert_eq!(results("divan", text), expected);
    assert_eq!(
        arguments("divan", &["./b"], &["x::a"], &[]),
        ["--bench", "--color=never", "--max-time", "0.05", "--exact", "x::a"]
    );
}

#[test]
fn failed_cases_have_no_times() {
    let case = |name: &str, output: &str, success: bool| {
        format!(
            r#"<TestCase name="{name}">{output}<OverallResult success="{success}"/></TestCase>"#
        )
    };
    let benchmark = |name: &str| {
        format!(r#"<BenchmarkResults name="{name}"><mean value="2.5"/></BenchmarkResults>"#)
    };
    let section = format!(r#"<Section name="s &lt;"> {} </Section>"#, benchmark("b"));
    let failed = r#"<BenchmarkResults name="c"><failed message="no data"/></BenchmarkResults>"#;
    let all = case("ok", &(section + failed), true) + &case("bad", &benchmark("d"), false);
    let text = format!(r#"<Catch2TestRun catch2-version="3.4.0">{all}</Catch2TestRun>"#);
    assert_eq!(results("catch2", &text), [one("ok/s </b", "ns", &[2.5])]);
    assert!(parsed("catch2", &text[..200]).is_err());
}

#[test]
fn lines_end_in_units() {
    let text = "# comment\n\nparse a file  12.5 ns\nrate 3e2 MB/s\nparse a file 13 ns\n";
    let expected = [one("parse a file", "ns", &[12.5, 13.0]), one("rate", "MB/s", &[300.0])];
    assert_eq!(results("lines", text), expected);
    let refused = |text: &str| parsed("lines", text).unwrap_err().to_string();
    assert_eq!(refused("a 1 ns\nhello\n"), "line 2: 'hello' is not 'name value unit'");
    for value in ["0", "-1", "nan", "inf"] {
        let why = refused(&format!("a {value} ns\n"));
        assert!(why.ends_with("is not a positive number"), "{why}");
    }
    assert_eq!(
        refused("a 1 ns\na 1 s\n"),
        "no benchmark of a program that prints lines of 'name value unit' has a value: a: line 2: it is in s here and in ns above"
    );
}

#[test]
fn json_values_stand_at_pointer() {
    let text = r#"{"times": {"a": 1.5, "b": [2, 3]}, "version": "x"}"#;
    assert_eq!(results("json", text), [one("a", "", &[1.5]), one("b", "", &[2.0, 3.0])]);
    assert_eq!(results("json", r#"{"times": 4}"#), [one("times", "", &[4.0])]);
    let refused = |text: &str| parsed("json", text).unwrap_err().to_string();
    assert_eq!(refused("{}"), "at '/times': nothing to list; see --values");
    assert_eq!(
        refused(r#"{"times": {"a": "x"}}"#),
        "no benchmark of a program that prints JSON has a value: a: at '/times': \"x\" is not a number"
    );
}

#[test]
fn all_harnesses_refuse_damage() {
    for harness in all("/times") {
        let empty = [r#"{"benchmarks": [{}]}"#, r#"{"results": [{}]}"#];
        for text in ["", "{", "[]", "{}", "null", "\u{0}"].into_iter().chain(empty) {
            let results = harness.results(&[file("x", text)], &[]);
            assert!(results.is_err(), "{}: {text}", harness.name());
        }
    }
}

#[test]
fn repeated_names_are_other_benchmarks() {
    let catch2 = |mean: f64| {
        format!(
            "<BenchmarkResults name='sort' samples='1'><mean value='{mean}'/></BenchmarkResults>"
        )
    };
    let catch2 = format!(
        "<Catch2TestRun><TestCase name='t'>{}{}</TestCase></Catch2TestRun>",
        catch2(1.5),
        catch2(2.5)
    );
    let nanobench = r#"{"results": [{"name": "sort", "batch": 1, "median(elapsed)": 1.5},
        {"name": "sort", "batch": 2, "median(elapsed)": 5}]}"#;
    let hyperfine = r#"{"results": [{"command": "sort", "times": [1.5]},
        {"command": "sort", "times": [2.5]}]}"#;
    for (harness, text, names) in [
        ("catch2", catch2.as_str(), ["t/sort", "t/sort #2"]),
        ("nanobench", nanobench, ["sort", "sort #2"]),
        ("hyperfine", hyperfine, ["sort", "sort #2"]),
    ] {
        let results = parsed(harness, text).unwrap().into_iter();
        let results: Vec<(String, Vec<f64>)> = results.map(|r| (r.name, r.values)).collect();
        let expected = [(names[0], 1.5), (names[1], 2.5)];
        assert_eq!(results, expected.map(|(name, value)| (name.to_owned(), vec![value])));
    }
}
