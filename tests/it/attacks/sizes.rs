//! Small files that unpack to large ones: refused before they take memory. The parsers run in children with a limit of address space, in
//! which a refused allocation ends the process.

use crate::common::server::Server;
use crate::common::{Home, binary, fixture, output_texts, recorded};
use crate::push::{post, token};
use gritstone_exchange::{limits, write_bundle};
use gritstone_model::{Batch, Check, Event, Histogram, Id, Launch, Param, RunData};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// KiB of address space in which a hostile file must be refused.
const ROOM: usize = 512 << 10;
const HEAD: &str = r#"{"schema":"gritstone/bundle/1","#;
const LAUNCH: &str = r#"{"launch":{"id":"byte/loop","round":0,"start":0,"cpus":[],"#;

/// `gritstone` with a limit of address space (`-v`) or data (`-d`), KiB: exit code, standard output, standard error.
pub fn within(home: &Home, limit: &str, kib: usize, words: &[&str]) -> (i32, String, String) {
    let mut bash = home.command("bash");
    let script = format!("ulimit {limit} {kib} && exec \"$@\"");
    bash.args(["-c", &script, "bash"]).arg(binary()).args(words);
    output_texts(bash.output().unwrap())
}

/// A compressed file: a beginning, MiB of repetitions, an end.
fn bloat(folder: &Path, name: &str, [begin, unit, end]: [&str; 3], mib: usize) -> PathBuf {
    let path = folder.join(format!("{name}.zst"));
    let mut packed = zstd::Encoder::new(fs::File::create(&path).unwrap(), 3).unwrap();
    packed.write_all(begin.as_bytes()).unwrap();
    let block = unit.repeat((1 << 20) / unit.len());
    for _ in 0..mib {
        packed.write_all(block.as_bytes()).unwrap();
    }
    packed.write_all(end.as_bytes()).unwrap();
    packed.finish().unwrap();
    path
}

/// Files of every shape that took ten to a hundred times their size, or unpacked without end.
fn hostile(folder: &Path) -> Vec<PathBuf> {
    let packed = ["bloat-20MiB.zst", "bloat-num.zst"];
    let mut files = Vec::from(packed.map(|name| fixture("run").with_file_name(name)));
    let real = write_bundle(&recorded("run"));
    let head = real.lines().next().unwrap().to_owned() + "\n";
    let heads = [
        ("unknown", r#""x":["#, r#"{"":0},"#),
        ("lists", r#""x":["#, "[0],"),
        ("skips", r#""skips":["#, r#"{"id":"a","why":"b"},"#),
        ("text", r#""info":{"label":""#, "x"),
    ];
    for (name, begin, unit) in heads {
        let begin = format!("{HEAD}{begin}");
        files.push(bloat(folder, name, [&begin, unit, "\n\n"], 20));
    }
    let launches = [
        ("event", r#""events":[{"event":"bye","x":["#, r#"{"":0},"#),
        ("late", r#""events":[{"x":["#, r#"{"":0},"#),
        ("why", r#""outcome":{"why":["#, r#"{"":0},"#),
        ("events", r#""events":["#, r#"{"event":"bye"},"#),
        ("walls", r#""events":[{"event":"batch","n":1,"pace":1,"walls":["#, "1,"),
    ];
    for (name, begin, unit) in launches {
        let begin = format!("{head}{LAUNCH}{begin}");
        files.push(bloat(folder, name, [&begin, unit, "\n\n"], 20));
    }
    for (name, begin, unit) in [
        ("hyperfine", r#"{"results":[{"command":"a","times":["#, "1,"),
        ("results", r#"{"results":["#, r#"{"command":""},"#),
        ("google", r#"{"context":{},"benchmarks":["#, r#"{"name":""},"#),
        ("view", "{\n\"schema\":\"gritstone/run/1\",\"results\":[", r#"{"":0},"#),
        ("blanks", "", " "),
        ("lines", "", "\n"),
    ] {
        files.push(bloat(folder, name, [begin, unit, "\n"], 7));
        files.push(bloat(folder, &format!("long-{name}"), [begin, unit, ""], 70));
    }
    files
}

#[test]
fn small_files_cannot_exhaust_memory() {
    let home = Home::new();
    for file in hostile(home.path()) {
        let path = file.to_str().unwrap();
        for words in [&["import", path][..], &["compare", path, path]] {
            let (code, out, error) = within(&home, "-v", ROOM, words);
            assert_eq!(code, 2, "{words:?}: {error}{out}");
            assert!(error.contains(path), "{words:?}: {error}");
        }
    }
}

#[test]
fn small_uploads_cannot_exhaust_memory() {
    let home = Home::new();
    let secret = token(&home, "machine", "write");
    let server = Server::start(&home);
    for file in hostile(home.path()) {
        let body = fs::read(&file).unwrap();
        let response = post(&server, "/api/v1/runs", Some(&secret), &body);
        assert_eq!(response.status, 422, "{}", file.display());
        let text = response.text();
        assert!(!text.contains("cannot be read; the log"), "{text}");
    }
    let status = fs::read_to_string(format!("/proc/{}/status", server.process.0.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: usize = peak.unwrap().trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kib < ROOM / 2, "{kib} KiB");
}

/// A launch of the first benchmark with these events.
fn launch(run: &RunData, events: Vec<Event>) -> Launch {
    Launch { events, ..run.launches[0].clone() }
}

#[test]
fn each_limit_is_named() {
    let home = Home::new();
    let whole = recorded("run");
    let changed = |change: &dyn Fn(&mut RunData)| {
        let mut run = whole.clone();
        change(&mut run);
        run
    };
    let events =
        |events: Vec<Event>| changed(&|run| run.launches.push(launch(run, events.clone())));
    let warm = Event::Warm { n: 1, wall: 1 };
    let long = "x".repeat(limits::TEXT + 1);
    let name = "x".repeat(limits::NAME + 1);
    for (run, expected) in [
        (changed(&|run| run.info.label = Some(name.clone())), "label"),
        (changed(&|run| run.info.machine.name.clone_from(&name)), "name"),
        (changed(&|run| run.benchmarks[0].title.clone_from(&long)), "text"),
        (
            changed(&|run| {
                let facts = (0..50).map(|n| (n.to_string(), long[1..].to_owned()));
                run.info.machine.facts.extend(facts);
            }),
            "head is longer",
        ),
        (
            changed(&|run| {
                let mut entry = run.benchmarks[0].clone();
                entry.why.clear();
                entry.sources.clear();
                run.benchmarks = (0..=limits::BENCHMARKS)
                    .map(|n| gritstone_model::Benchmark {
                        id: Id::parse(&format!("x/{n}")).unwrap(),
                        ..entry.clone()
                    })
                    .collect();
            }),
            "a list of more than",
        ),
        (events(vec![warm.clone(); limits::EVENTS + 1]), "events"),
        (events(vec![Event::Bye; 2]), "ends once"),
        (events(vec![Event::Param(Param::new("note", long.clone()))]), "text"),
        (
            events(vec![Event::Batch(Box::new(Batch {
                n: 1,
                walls: vec![1; limits::VALUES + 1],
                ..Batch::default()
            }))]),
            "batch",
        ),
        (
            events(vec![Event::Latency(Box::new(Histogram {
                buckets: vec![(1, 1); limits::VALUES + 1],
                ..Histogram::default()
            }))]),
            "histogram",
        ),
    ] {
        let file = home.path().join("limit.jsonl");
        fs::write(&file, write_bundle(&run)).unwrap();
        home.refuses(&["import", file.to_str().unwrap()], expected);
    }
}

#[test]
fn import_memory_is_bounded() {
    let home = Home::new();
    let mut run = recorded("run");
    let shapes = [
        Event::Warm { n: 1, wall: 1 },
        Event::Check(Check::default()),
        Event::Skip { why: String::new() },
    ];
    for shape in shapes {
        let launch = launch(&run, vec![shape; 2_000]);
        run.launches.extend(vec![launch; 310]);
    }
    let file = home.path().join("large.jsonl");
    let text = write_bundle(&run);
    fs::write(&file, &text).unwrap();
    // the least that gritstone starts with, and four times the largest bundle
    let room = 256 << 10;
    assert!(text.len() > 60 << 20, "{} bytes", text.len());
    let (code, _, error) = within(&home, "-v", room, &["import", file.to_str().unwrap()]);
    assert_eq!(code, 0, "{} bytes: {error}", text.len());
}
