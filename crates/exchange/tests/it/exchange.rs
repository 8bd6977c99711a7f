//! Exports can be imported, damaged files cannot, and the parsers of other programs read our exports.

use gritstone_exchange::harness::HarnessFile;
use gritstone_exchange::{
    EXPORT_FORMATS, Exported, ImportError, Writer, anonymous_run, anonymous_view, atom, fleet_csv,
    fleet_openmetrics, import, read_bundle, recognize, scraped, write_bundle,
};
use gritstone_model::*;
use gritstone_testkit::{self as testkit, id};
use std::collections::BTreeMap;

pub const WHEN: &str = "2026-11-20T08:00:00Z";

fn benchmark(name: &str, unit: &str) -> Benchmark {
    Benchmark {
        title: format!("Title, of \"{name}\""),
        version: 2,
        amount_per_op: 1.5,
        processor_bound: true,
        claims: Claims { min_ns_per_op: Some(0.1 + 0.2), ..Claims::default() },
        work: Work::Command(CommandWork::default()),
        ..testkit::benchmark(name, unit)
    }
}

fn launch(name: &str, round: u32, n: u64, wall: u64) -> Launch {
    let events = vec![
        Event::Sample(Box::new(Sample {
            n,
            wall,
            cycle_probe: 250_000,
            usage: Usage { cpu: wall, ..Usage::default() },
            ..Sample::default()
        })),
        Event::Hello { protocol: 1, kernel: name.to_owned() },
        Event::Warm { n: 1, wall: 20 },
        Event::Check(Check { n: 1000, got: u64::MAX, expected: 7 }),
        Event::Bye,
    ];
    Launch { start: u64::from(round), ..testkit::launch(name, round, events) }
}

pub fn run() -> RunData {
    RunData {
        info: RunInfo {
            id: "20261121-093012-4f2a19c3".to_owned(),
            label: Some("before, \"quoted\"\n<script>".to_owned()),
            started: "2026-11-21T09:30:12Z".to_owned(),
            elapsed_s: Some(0.1 + 0.2),
            gritstone: "0.1.0".to_owned(),
            machine: Machine { id: "system-1".to_owned(), ..Machine::default() },
            ..RunInfo::default()
        },
        benchmarks: vec![benchmark("a/time", "us/call"), benchmark("a/rate", "MB/s")],
        programs: BTreeMap::new(),
        skips: vec![],
        launches: (0..3)
            .flat_map(|r| {
                [launch("a/time", r, 1000, 2_000_000 + u64::from(r)), launch("a/rate", r, 7, 900)]
            })
            .collect(),
    }
}

fn result(name: &str, unit: &str, estimate: Option<f64>, notes: Vec<Note>) -> Measurement {
    let Benchmark { unit, better, .. } = benchmark(name, unit);
    let interval = |value| Some([value * 0.99, value * 1.02]);
    let measured = Measured {
        sampled: Sampled {
            estimate: estimate.map(|value| Estimate { value, interval: interval(value) }),
            confidence: Some(0.95),
            launches: 10,
            samples: 40,
            ..Sampled::default()
        },
        ..Measured::default()
    };
    Measurement {
        title: format!("Title | of {name}"),
        version: 1,
        notes,
        ..Measurement::new(id(name), Kind::Kernel, unit, better, Data::Measured(Box::new(measured)))
    }
}

fn view() -> RunView {
    let id = "20261121-093012-4f2a19c3";
    RunView {
        started: "2026-11-21T09:30:12Z".to_owned(),
        machine: Machine {
            id: "m\"1\\".to_owned(),
            name: "<script>|".to_owned(),
            ..Machine::default()
        },
        results: vec![
            result(
                "a/time",
                "us/call",
                Some(2.0),
                stated(Flag::Interference, "Others, \"used\" it."),
            ),
            result("a/rate", "MB/s", Some(250.0), vec![]),
            result("a/size", "bytes", Some(12_345.0), vec![]),
            result("a/starred", "ns", Some(0.01), stated(Flag::Invalid, "Faster than physics.")),
            result("a/missing", "ns", None, stated(Flag::Skipped, "No cc.")),
        ],
        ..testkit::view(id, "", "")
    }
}

/// The view with the values of the launches of [`run`], an operation of which does 1.5 of what the units count.
fn valued() -> RunView {
    let mut view = view();
    view.results[0].measured_mut().sampled.values =
        (0..3).map(|round| f64::from(2_000_000 + round) / 1e6 / 1.5).collect();
    view.results[1].measured_mut().sampled.values = vec![1.5 / (900.0 / 7.0) * 1000.0; 3];
    view
}

#[test]
fn bundles_round_trip() {
    let text = write_bundle(&run());
    assert_eq!(read_bundle(text.as_bytes()).unwrap(), run());
    assert_eq!(text.lines().count(), 1 + 6 + 1);
}

#[test]
fn damaged_bundles_name_the_line() {
    let text = write_bundle(&run());
    let lines: Vec<&str> = text.lines().collect();
    for (damaged, line, output) in [
        (lines[..5].join("\n"), 5, "truncated"),
        (String::new(), 1, ""),
        (text.replacen("bundle/1", "bundle/2", 1), 1, "gritstone/bundle/2"),
        (text.replacen("\"wall\":2000001", "\"wall\":1000001", 1), 8, "changed"),
        (text.replacen("{\"launch\"", "{\"launhc\"", 1), 2, ""),
        ([&lines[..3], &lines[4..]].concat().join("\n"), 7, "6 launches"),
    ] {
        match read_bundle(damaged.as_bytes()) {
            Err(ImportError::Line { line: found, what }) if found == line => {
                assert!(what.contains(output), "{what}");
            }
            other => panic!("{other:?} instead of {line}: {output}"),
        }
    }
}

/// The results in each format that has results, by its name.
fn exports(data: &RunData, view: &RunView) -> BTreeMap<&'static str, Exported> {
    let formats = EXPORT_FORMATS.iter().filter_map(|format| match format.write {
        Writer::Run(_) => None,
        Writer::Results(write) => Some((format.name, write(data, view))),
    });
    formats.collect()
}

fn exported(format: &str, data: &RunData, view: &RunView) -> Exported {
    exports(data, view).remove(format).unwrap()
}

#[test]
fn only_valid_results_are_exported() {
    for (format, out) in exports(&run(), &valued()) {
        let left: Vec<&str> = out.left_out.iter().map(|(id, _)| id.as_str()).collect();
        for (id, flag) in [("a/starred", "invalid"), ("a/missing", "skipped")] {
            let flagged = out.text.contains(id) && out.text.contains(flag);
            assert_ne!(left.contains(&id), flagged, "{format}: {}", out.text);
        }
        insta::assert_snapshot!(format, out.text);
    }
}

#[test]
fn custom_benchmarks_are_marked() {
    let mut view = valued();
    for result in &mut view.results {
        result.notes = stated(Flag::Custom, "Custom benchmark.");
    }
    for (format, out) in exports(&run(), &view) {
        let marked = ["custom", "Custom", "not of Gritstone"].map(|mark| out.text.contains(mark));
        assert!(marked.contains(&true), "{format}: {}", out.text);
    }
}

#[test]
fn hostile_text_is_inert() {
    let hostile = "=a\n::error::\x1b[31m\u{202e}|<b>,\"\\%";
    let mut view = valued();
    for text in [&mut view.machine.id, &mut view.machine.name, &mut view.machine.system] {
        hostile.clone_into(text);
    }
    view.label = Some(hostile.to_owned());
    for result in &mut view.results {
        hostile.clone_into(&mut result.title);
        result.notes = stated(Flag::Interference, hostile);
    }
    for (format, Exported { text, .. }) in exports(&run(), &view) {
        let controls = |c: char| c != '\n' && is_unprintable(c);
        assert!(!text.contains(controls) && !text.contains("\n::"), "{format}: {text:?}");
    }
}

#[test]
fn openmetrics_parse() {
    let out = exported("openmetrics", &run(), &view());
    let read = openmetrics_parser::openmetrics::parse_openmetrics(&out.text);
    let read = read.unwrap_or_else(|e| panic!("{e}\n{}", out.text));
    let names: Vec<&String> = read.families.keys().collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(out.text.ends_with("# EOF\n"));
    assert!(out.text.contains("bound=\"estimate\"} 0.000002 1795253412"), "{}", out.text);
}

#[test]
fn scraped_metrics_lack_timestamps() {
    let mut other = view();
    other.machine.id = "an\"other\\".to_owned();
    let text = scraped(&[&view(), &other], 7);
    let read = openmetrics_parser::openmetrics::parse_openmetrics(&text);
    let read = read.unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(read.families.len(), 6, "{text}");
    assert!(text.contains("\ngritstone_stored_runs 7\n"), "{text}");
    assert!(text.contains("bound=\"estimate\"} 0.000002\n"), "{text}");
    assert_eq!(text.matches("gritstone_run_started_seconds{").count(), 2);
}

#[test]
fn fleet_metrics_parse() {
    let memory = FleetScope::Family("memory".to_owned());
    let outlier = testkit::fleet_outlier("n1", memory, -0.18, [-0.2, -0.16]);
    let effect = outlier.effect;
    let node = |name: &str| FleetNode {
        node: name.to_owned(),
        runs: vec![],
        kind: 0,
        place: BTreeMap::new(),
        benchmarks: 12,
        interference: 0,
        without_result: 0,
        overall: Some(effect),
        families: BTreeMap::from([("memory".to_owned(), effect)]),
    };
    let view = FleetView {
        fleet: "no\"v".to_owned(),
        nodes: vec![node("n1"), node("n2")],
        ..testkit::fleet_view(vec![outlier])
    };
    let text = fleet_openmetrics(&view);
    let read = openmetrics_parser::openmetrics::parse_openmetrics(&text);
    let read = read.unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(read.families.len(), 4, "{text}");
    assert_eq!(text.matches("gritstone_fleet_effect_ratio{").count(), 4);
    let low = "node=\"n1\",level=\"family\",about=\"memory\",bound=\"low\"} -0.2\n";
    assert!(text.contains(low) && text.ends_with("# EOF\n"), "{text}");
    // a node without effects has a line
    let mut view = view;
    let other = &mut view.nodes[1];
    (other.benchmarks, other.overall, other.families) = (0, None, BTreeMap::new());
    let text = fleet_csv(&view);
    assert!(text.ends_with("\nnot compared,n2,,,,,,,,,,,\n"), "{text}");
}

#[test]
fn hostile_names_keep_feeds_valid() {
    let mut triage = Triage::default();
    triage.push(TriageEntry {
        state: ChangeState::Acknowledged,
        who: "<ana>".to_owned(),
        at: "2026-11-21T08:00:00Z".to_owned(),
        assignee: None,
        note: "known & accepted".to_owned(),
        benchmarks: vec![],
    });
    let mut event = ChangeEvent {
        started: WHEN.to_owned(),
        machine: "a:b c".to_owned(),
        name: "]]><script>".to_owned(),
        triage,
        ..testkit::change_event("r 2", &["byte/pipe", "byte/sieve"])
    };
    for change in &mut event.changes {
        "<b>&\u{1}".clone_into(&mut change.title);
    }
    let feed = atom(&[event]);
    let mut reader = quick_xml::Reader::from_str(&feed);
    let mut entries = 0;
    loop {
        match reader.read_event().unwrap_or_else(|e| panic!("{e}\n{feed}")) {
            quick_xml::events::Event::Start(tag) if tag.name().as_ref() == b"entry" => entries += 1,
            quick_xml::events::Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(entries, 1, "{feed}");
    let title = "2 benchmarks 2.00× slower on ]]&gt;&lt;script&gt; since run r 2 of 20 November 2026, 08:00 UTC; \
                 differs in cpu microcode";
    assert!(feed.contains(title), "{feed}");
    assert!(feed.contains("href=\"/changes/r%202-worse\""), "{feed}");
    let known = "Acknowledged by &lt;ana&gt;, 21 November 2026, 08:00 UTC: known &amp; accepted";
    assert!(feed.contains(known), "{feed}");
    assert!(feed.contains("<updated>2026-11-21T08:00:00Z</updated>"));
}

pub fn imported(text: &str) -> Result<RunData, ImportError> {
    let file = HarnessFile { path: "".into(), text: text.to_owned() };
    import(&[file], WHEN.parse().unwrap())
}

fn program(text: &str) -> Option<&'static str> {
    recognize(text).map(|format| format.name())
}

#[test]
fn google_benchmark_there_and_back() {
    let out = exported("gbench", &run(), &valued());
    assert_eq!(program(&out.text), Some("google-benchmark"));
    let back = imported(&out.text).unwrap();
    insta::assert_snapshot!("from_gbench", write_bundle(&back));
}

#[test]
fn hyperfine_and_unixbench_come_in() {
    let text = r#"{"results":[{"command":"sleep 0.1","mean":0.1,"times":[0.101,0.102],"exit_codes":[0,1]},
        {"command":"sleep 0.1","times":[0.1],"exit_codes":[0]}]}"#;
    assert_eq!(program(text), Some("hyperfine"));
    let run = imported(text).unwrap();
    insta::assert_snapshot!("from_hyperfine", write_bundle(&run));
    assert!(imported(r#"{"results":[{"command":"x"}]}"#).is_err());

    let report = "   BYTE UNIX Benchmarks (Version 5.1.3)\n\n   System: box: GNU/Linux\n8 CPUs in system; running 4 parallel copies of tests\n\n\
        Dhrystone 2 using register variables       38000000.0 lps   (10.0 s, 7 samples)\n\
        File Copy 1024 bufsize 2000 maxblocks        900000.5 KBps  (30.0 s, 2 samples)\n\
        Shell Scripts (8 concurrent)                   1500.3 lpm   (60.0 s, 2 samples)\n";
    assert_eq!(program(report), Some("unixbench"));
    let run = imported(report).unwrap();
    for (index, (unit, value)) in
        [("loops/s", 38e6), ("KB/s", 900_000.5 * 1.024), ("loops/s", 1500.3 / 60.0)]
            .into_iter()
            .enumerate()
    {
        let (entry, launch) = (&run.benchmarks[index], &run.launches[index]);
        let Event::Sample(sample) = &launch.events[0] else { panic!("{launch:?}") };
        let found = entry.unit.convert(sample.wall as f64 / sample.n as f64, 1.0);
        assert_eq!(entry.unit.as_str(), unit);
        assert!((found.unwrap() / value - 1.0).abs() < 1e-9, "{found:?}");
    }
    insta::assert_snapshot!("from_unixbench", write_bundle(&run));
    for nothing in ["hello", r#"{"results":1}"#, r#"{"context":{}}"#] {
        assert_eq!(program(nothing), None, "{nothing}");
    }
}

#[test]
fn copies_are_no_repetitions() {
    let mut data = run();
    let before = exported("gbench", &data, &valued());
    let mut four = data.launches[0].clone();
    four.copies = 4;
    data.launches.push(four);
    assert_eq!(exported("gbench", &data, &valued()), before);
}

#[test]
fn repetitions_are_launch_values() {
    let repetitions = |view: &RunView| -> Vec<[f64; 3]> {
        let out = exported("gbench", &run(), view);
        let value: serde_json::Value = serde_json::from_str(&out.text).unwrap();
        let entries = value["benchmarks"].as_array().unwrap().iter();
        let rows = entries.filter(|entry| entry["name"] == "a/time");
        rows.map(|entry| {
            ["real_time", "iterations", "cpu_time"].map(|key| entry[key].as_f64().unwrap())
        })
        .collect()
    };
    // the median of single events, which the samples do not know: 40 us / 1.5
    let mut events = valued();
    events.results[0].measured_mut().sampled.values = vec![40.0 / 1.5; 3];
    let near = |got: [f64; 3], want: [f64; 3]| {
        let apart = got.iter().zip(want).map(|(got, want)| (got - want).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-9, "{got:?} for {want:?}");
    };
    let repetitions_of_run = repetitions(&events);
    assert_eq!(repetitions_of_run.len(), 3);
    near(repetitions_of_run[2], [40_000.0, 1000.0, 2000.002]);
    // a launch that does not count is no repetition
    events.results[0].measured_mut().sampled.values.pop();
    let repetitions_of_run = repetitions(&events);
    assert_eq!(repetitions_of_run.len(), 2);
    near(repetitions_of_run[0], [40_000.0, 1000.0, 2000.001]);
    // a figure that is made of others has no launches
    let mut derived = run();
    derived.launches.clear();
    let left_out = exported("gbench", &derived, &events).left_out;
    assert!(left_out.iter().any(|(row, _)| *row == id("a/time")));
}

#[test]
fn impossible_values_have_a_place() {
    let hyperfine =
        |time: &str| format!(r#"{{"results":[{{"command":"a","times":[1.0,{time}]}}]}}"#);
    let google = |fields: &str| {
        format!(r#"{{"context":{{}},"benchmarks":[{{"name":"a","iterations":{fields}}}]}}"#)
    };
    let unixbench = |line: &str| format!("BYTE UNIX Benchmarks\n{line}\n");
    for (file, place) in [
        (hyperfine("-1.0"), "a: results[0].times[1]: "),
        (hyperfine("0.0"), "a: results[0].times[1]: "),
        (hyperfine("NaN"), "a: results[0].times[1]: "),
        (hyperfine("1e308"), "a: inf s is impossible"),
        (hyperfine("1e-12"), "a: 1e-12 s is impossible"),
        (google(r#"0,"real_time":5.0"#), "a: benchmarks[0]: "),
        (google(r#"1,"real_time":0.0"#), "a: benchmarks[0]: "),
        (google(r#"1,"real_time":-5.0"#), "a: benchmarks[0]: "),
        (google(r#"1,"real_time":1e308"#), "a: 1e299 s is impossible"),
        (google(r#"1,"real_time":5.0,"cpu_time":-1.0"#), "a: benchmarks[0]: "),
        (unixbench("Pipe  -1.0 lps  (10.0 s, 7 samples)"), "Pipe: line 2: "),
        (unixbench("Pipe  1.0 lps  (1e300 s, 7 samples)"), "Pipe: "),
        (unixbench("Pipe  1,000,000 lps  (10.0 s, 7 samples)"), "line 2: "),
        (unixbench("Pipe  1.0 lps  (10.0 s"), "line 2: "),
        (hyperfine("1e-9"), ""),
        (google(r#"1,"real_time":5.0"#), ""),
    ] {
        match imported(&file) {
            Ok(_) => assert_eq!(place, "", "{file}"),
            Err(error) => {
                assert!(error.to_string().contains(place) && !place.is_empty(), "{file}: {error}")
            }
        }
    }
}

#[test]
fn many_benchmarks_are_imported() {
    let entry = |number| {
        let name = format!("BM_Insert<std::vector<int>>/{number}");
        format!(r#"{{"name":"{name}","iterations":1,"real_time":5.0}}"#)
    };
    let text = |count| {
        let all: Vec<String> = (0..count).map(entry).collect();
        format!(r#"{{"context":{{}},"benchmarks":[{}]}}"#, all.join(","))
    };
    let run = imported(&text(5000)).unwrap();
    assert_eq!(read_bundle(write_bundle(&run).as_bytes()).unwrap(), run);
    assert!(imported(&text(5001)).is_err());
}

#[test]
fn hosts_of_programs_are_removed() {
    let text = r#"{"context":{"host_name":"secrethost42"},
        "benchmarks":[{"name":"a","iterations":1,"real_time":5.0}]}"#;
    let run = imported(text).unwrap();
    assert_eq!(run.info.machine.name, "secrethost42");
    let anonymous = anonymous_run(&run, None).unwrap();
    assert_eq!(anonymous.info.machine.name, "unknown");
    assert!(!write_bundle(&anonymous).contains("secrethost42"));
    assert_eq!(anonymous_run(&anonymous, None).unwrap(), anonymous);
    let other = imported(&text.replace("42", "43")).unwrap();
    let other = anonymous_run(&other, None).unwrap();
    assert_ne!(other.info.machine.id, anonymous.info.machine.id);
    let view = RunView { machine: run.info.machine, ..view() };
    let machine = anonymous_view(&view, None).unwrap().machine;
    assert_eq!(machine, anonymous.info.machine);
}

#[test]
fn impossible_bundles_are_refused() {
    let sample = |run: &mut RunData, change: fn(&mut Sample)| match &mut run.launches[1].events[0] {
        Event::Sample(found) => change(found),
        other => panic!("{other:?}"),
    };
    let mut runs = vec![run(); 8];
    sample(&mut runs[0], |s| s.n = 0);
    sample(&mut runs[1], |s| s.wall = 0);
    runs[2].benchmarks[0].amount_per_op = -1.0;
    runs[3].benchmarks[0].amount_per_op = 0.0;
    runs[4].launches[1].conditions.wall = 120_000_000;
    sample(&mut runs[4], |s| s.wall = 1 << 62);
    for (run, id) in runs[5..].iter_mut().zip(["", "..", "a\nb"]) {
        id.clone_into(&mut run.info.machine.id);
    }
    for (run, expected) in runs.iter().zip([3, 3, 1, 1, 3, 1, 1, 1]) {
        let refused = read_bundle(write_bundle(run).as_bytes()).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("line {expected}: ")), "{refused}");
    }
    // a launch that failed has no result
    let failed = &mut runs[4];
    failed.launches[1].outcome = Outcome::Failed("its samples are too long".to_owned());
    assert_eq!(read_bundle(write_bundle(failed).as_bytes()).unwrap(), *failed);
}

/// A note in the workload's own words.
fn stated(flag: Flag, text: &str) -> Vec<Note> {
    vec![testkit::stated(Author::Workload, Some(flag), text)]
}
