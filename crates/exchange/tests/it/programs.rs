//! Files that real programs wrote (scripts/import-formats), read to the digits that they have.

use crate::exchange::imported;
use gritstone_exchange::{ImportError, RunData};
use gritstone_model::{Benchmark, Better, Event, Outcome, Param};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/imports/programs")
}

fn read(name: &str) -> RunData {
    imported(&fs::read_to_string(folder().join(name)).unwrap()).unwrap()
}

fn benchmark<'a>(run: &'a RunData, title: &str) -> &'a Benchmark {
    run.benchmarks.iter().find(|one| one.title == title).unwrap_or_else(|| {
        let titles: Vec<&str> = run.benchmarks.iter().map(|one| one.title.as_str()).collect();
        panic!("no {title} in {titles:?}")
    })
}

/// Values of a benchmark, one a sample, in its unit.
fn values(run: &RunData, title: &str) -> Vec<f64> {
    let benchmark = benchmark(run, title);
    let launches = run.launches.iter().filter(|launch| launch.id == benchmark.id);
    let value = |event: &Event| match event {
        Event::Sample(sample) => {
            let each = sample.wall as f64 / sample.n as f64;
            benchmark.unit.convert(each, benchmark.amount_per_op)
        }
        _ => None,
    };
    launches.flat_map(|launch| &launch.events).filter_map(value).collect()
}

fn assert_values(name: &str, title: &str, expected: &[f64]) {
    let found = values(&read(name), title);
    assert_eq!(found.len(), expected.len(), "{name}: {title}: {found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 1e-8, "{title}: {found} for {expected}");
    }
}

#[test]
fn fio_jobs_have_rates() {
    let options = "(rw=randrw, bs=8k, rwmixread=70)";
    let mixed = "fio-3.33-mixed.json";
    assert_values(mixed, &format!("walk read throughput {options}"), &[15.338_212]);
    assert_values(mixed, &format!("walk write throughput {options}"), &[6.971_914]);
    assert_values(mixed, &format!("walk read IOPS {options}"), &[1_872.340_426]);
    let run = read(mixed);
    let better = |what: &str| benchmark(&run, &format!("walk read {what} {options}")).better;
    assert_eq!(better("throughput"), Better::Higher);
    assert_eq!(better("p99 completion latency"), Better::Lower);
    assert_eq!(run.info.gritstone, "fio 3.33");
}

#[test]
fn fio_copies_are_added() {
    let options = "(rw=randread, numjobs=2)";
    let copies = "fio-3.33-copies.json";
    let rate = 9.892_226 + 9.362_285;
    assert_values(copies, &format!("walk read throughput {options}"), &[rate]);
    let mean = f64::midpoint(409_587.812_5, 436_777.394_531);
    assert_values(copies, &format!("walk read mean latency {options}"), &[mean]);
    let run = read(copies);
    let skipped = run.skips.iter().map(|skip| skip.reason.as_str());
    assert!(skipped.into_iter().all(|why| why.contains("group_reporting")));
}

#[test]
fn fio_intervals_are_samples() {
    let run = read("fio-3.33-intervals.json");
    let title = "walk write throughput (rw=write)";
    assert!(values(&run, title).len() > 1, "{:?}", values(&run, title));
    assert!(values(&read("fio-3.33-text.txt"), title).len() == 1);
}

#[test]
fn iperf3_intervals_are_samples() {
    let both = "iperf3-3.12-both.json";
    let sent = [
        4_364_430_078.214_402,
        768_641_164.463_630_7,
        1_139_183_290.311_339,
        1_577_003_612.518_957_4,
    ];
    assert_values(both, "TCP throughput, sent (streams=1)", &sent);
    let received = "TCP throughput, received (streams=1)";
    assert_eq!(values(&read(both), received).len(), 4);
    // the first second does not count
    let omitted = read("iperf3-3.12-omitted.json");
    assert_eq!(values(&omitted, "TCP throughput, sent (streams=1)").len(), 4);
    assert_eq!(values(&omitted, "TCP round-trip time (streams=1)").len(), 4);
    let datagrams = "iperf3-3.12-datagrams.json";
    assert_values(datagrams, "UDP jitter (streams=1, bitrate=5000000)", &[0.180_134_386_907]);
}

#[test]
fn rests_are_no_intervals() {
    let name = "iperf3-3.12-both.json";
    let title = "TCP throughput, sent (streams=1)";
    let expected = values(&read(name), title);
    for bytes in [0, 1] {
        let run = changed(name, "intervals", |list| {
            let mut rest = list[0].clone();
            let rate = f64::from(bytes) * 8e4;
            rest["sum"]["seconds"] = json!(1e-4);
            rest["sum"]["bytes"] = json!(bytes);
            rest["sum"]["bits_per_second"] = json!(rate);
            list.push(rest);
        });
        assert_eq!(values(&run, title), expected);
    }
}

#[test]
fn unmeasured_iterations_exclude_benchmarks() {
    let file = |raw: &str| {
        imported(&format!(
            r#"[{{"jmhVersion":"1.37","benchmark":"a.B.c","mode":"thrpt",
            "primaryMetric":{{"score":2.0,"scoreUnit":"ops/s","rawData":{raw}}}}}]"#
        ))
    };
    for raw in [r#"[["NaN"]]"#, r#"[[1.0,"NaN"]]"#, "[[1.0,null]]"] {
        assert!(file(raw).is_err(), "{raw}");
    }
    assert_eq!(values(&file("[[1.0,4.0]]").unwrap(), "a.B.c"), [1.0, 4.0]);
    assert_eq!(values(&file("[[[[1.0,3]]]]").unwrap(), "a.B.c"), [2.0]);
}

#[test]
fn failed_iperf3_says_why() {
    let text = r#"{"start": {"version": "iperf 3.12"}, "intervals": [], "end": {}, "error": "unable to connect to server"}"#;
    let error = imported(text).unwrap_err().to_string();
    assert_eq!(error, "iperf3 failed: unable to connect to server");
}

#[test]
fn go_names_are_whole() {
    let name = "example.com/walk:BenchmarkWalk/i/n-10";
    let processors = "go-processors.txt";
    assert_values(processors, name, &[2.143, 2.053, 2.043]);
    assert_values(processors, &format!("{name}-2"), &[2.884, 2.945, 2.744]);
}

/// Every file is read, and no benchmark of it is lost.
#[test]
fn program_files_are_read_whole() {
    let mut files: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let line = |name: &String| {
        let run = read(name);
        let benchmarks = run.benchmarks.iter().map(|one| {
            let values = values(&run, &one.title);
            format!("  {} {}: {}", one.title, one.unit, values.len())
        });
        let lines: Vec<String> = benchmarks.collect();
        format!("{name}: {}\n{}", run.info.gritstone, lines.join("\n"))
    };
    let all: Vec<String> = files.iter().map(line).collect();
    insta::assert_snapshot!("programs", all.join("\n"));
}

/// A file of each program that lists its benchmarks, and the key of the list.
const LISTS: [(&str, &str); 4] = [
    ("hyperfine-1.20.0.json", "results"),
    ("google-benchmark-1.9.5.json", "benchmarks"),
    ("pytest-benchmark-5.3.1.json", "benchmarks"),
    ("pyperf-2.11.0.json", "benchmarks"),
];

/// The run of a file with its list of benchmarks changed.
fn changed(name: &str, key: &str, change: impl FnOnce(&mut Vec<Value>)) -> RunData {
    try_changed(name, key, change).unwrap()
}

fn try_changed(
    name: &str,
    key: &str,
    change: impl FnOnce(&mut Vec<Value>),
) -> Result<RunData, ImportError> {
    let text = fs::read_to_string(folder().join(name)).unwrap();
    let mut whole: Value = serde_json::from_str(&text).unwrap();
    change(whole[key].as_array_mut().unwrap());
    imported(&whole.to_string())
}

/// Values by identifier, without the order.
fn by_id(run: &RunData) -> BTreeMap<String, Vec<u64>> {
    let values = |title: &str| {
        let mut values: Vec<u64> = values(run, title).into_iter().map(f64::to_bits).collect();
        values.sort_unstable();
        values
    };
    let benchmarks = run.benchmarks.iter();
    benchmarks.map(|one| (one.id.to_string(), values(&one.title))).collect()
}

#[test]
fn identifiers_ignore_order() {
    for (name, key) in LISTS {
        let reversed = changed(name, key, |list| list.reverse());
        assert_eq!(by_id(&reversed), by_id(&read(name)), "{name}");
    }
}

#[test]
fn damaged_entries_cost_others_nothing() {
    for (name, key) in LISTS {
        let damaged = changed(name, key, |list| {
            list.insert(0, Value::Null);
            list.insert(1, json!({"name": ["x"], "command": 5, "fullname": {}}));
            list.push(json!("text"));
            list.push(json!([1, 2]));
        });
        let whole = by_id(&read(name));
        let found = by_id(&damaged);
        assert!(whole.iter().all(|(id, values)| found.get(id) == Some(values)), "{name}");
        assert!(damaged.skips.len() >= 4, "{name}: {:?}", damaged.skips);
    }
}

#[test]
fn failed_copies_cost_their_group() {
    let name = "fio-3.33-copies.json";
    assert_eq!(read(name).skips.len(), 2);
    let failed = try_changed(name, "jobs", |jobs| jobs[1]["error"] = json!(5));
    let why = failed.unwrap_err().to_string();
    assert!(why.contains("error 5"), "{why}");
}

#[test]
fn tables_and_xml_are_read() {
    for (name, title, expected) in [
        (
            "nanobench-4.6.0.json",
            "walk/sum of 8",
            [
                1.90760132597013e-09,
                1.9241835061186e-09,
                2.20843336184516e-08,
                1.95978993708512e-09,
                1.93589687947572e-09,
            ]
            // of an iteration, which is a batch of 8
            .map(|seconds| seconds / 8.0)
            .to_vec(),
        ),
        ("catch2-2.13.10.xml", "walks/part <&>/long \"one\"", vec![3014.6]),
        ("divan-0.1.21.txt", "walk::walk::64", vec![122.4]),
        ("divan-0.1.21.txt", "walk::walk::100000", vec![218_200.0]),
    ] {
        assert_values(name, title, &expected);
    }
    let failed = |name: &str, title: &str| {
        let run = read(name);
        let id = benchmark(&run, title).id.clone();
        let launches = run.launches.iter().filter(|launch| launch.id == id);
        let outcomes: Vec<_> = launches.map(|launch| launch.outcome.clone()).collect();
        (outcomes, run.skips.iter().any(|skip| skip.id == id))
    };
    assert_eq!(
        failed("catch2-2.13.10.xml", "fails/throws").0,
        [Outcome::Failed("no data".to_owned())]
    );
    assert!(failed("divan-0.1.21.txt", "walk::ignored").1);
    assert!(failed("divan-0.1.21.txt", "walk::inner::default::u8").0.len() == 1);
}

#[test]
fn hyperfine_keeps_status_and_memory() {
    let run = read("hyperfine-1.20.0.json");
    let title = "sleep 0.01; test clang = gcc (cc=clang, n=1)";
    assert_eq!(values(&run, title).len(), 4);
    let failed = &benchmark(&run, title).id;
    let launches = run.launches.iter().filter(|launch| launch.id == *failed);
    for launch in launches {
        let params: Vec<&Event> = launch.events.iter().take(2).collect();
        assert_eq!(*params[0], Event::Param(Param::Status(1)));
        assert_eq!(*params[1], Event::Param(Param::PeakMemory(5_677_056 / 1024)));
    }
}
