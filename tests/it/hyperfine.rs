//! Scripts that call hyperfine, as public repositories have them, with `gritstone bench` in its place.

use crate::common::{Home, binary, make_script, program, succeeds};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// What a script does with hyperfine (its newer versions choose microseconds by themselves, so the unit is named). `tool NAME` is the timed program, and appends its name to `log`, as do the commands around it.
const SCRIPTS: [(&str, &str); 10] = [
    (
        "start-up of shells",
        "hyperfine --warmup 1 --runs 5 'tool sh' 'tool bash' 'tool dash'",
    ),
    (
        "a target of a Makefile",
        "hyperfine --warmup 5 -r 4 'tool new < /dev/null' 'tool old < /dev/null' -u millisecond --export-markdown out.md",
    ),
    (
        "a search whose mean is read, at most twelve times",
        "hyperfine --warmup 2 -r 12 -N --ignore-failure 'tool grep 1' --export-json out.json >/dev/null 2>&1
         python3 -c \"import json; print(json.load(open('out.json'))['results'][0]['mean'] > 0)\" >>log",
    ),
    (
        "a cold cache",
        "hyperfine --runs 6 -u millisecond --export-markdown out.md --command-name 'C version - cold' --prepare 'tool drop; sync' 'tool make'",
    ),
    (
        "build modes",
        "hyperfine -N --warmup 3 -r 5 --export-json out.json -L mode Safe,Small,Fast --setup 'tool build-{mode}' 'tool {mode}'",
    ),
    (
        "two builds of git",
        "hyperfine --warmup=3 -r 4 -n old 'tool clean' -n new 'tool git' --export-json out.json",
    ),
    (
        "a script that keeps all exports",
        "hyperfine --warmup 3 --runs 10 --export-json out.json -u millisecond --export-markdown out.md --export-csv out.csv --show-output \
         --command-name japanese 'tool process' >/dev/null",
    ),
    (
        "a repository made once and a destination each time",
        "hyperfine -r 3 --setup 'test -d once || mkdir once; tool setup' --prepare 'rm -rf dest; mkdir dest; tool prepare' \
         --cleanup 'rm -r once; tool cleanup' 'tool unpack'",
    ),
    (
        "a generator piped into a program, by a list of numbers",
        "hyperfine --warmup 2 --runs 3 --export-json out.json --parameter-list n 10,20 'tool gen-{n} | head > /dev/null'",
    ),
    (
        "a loop that counts failures",
        "for name in one two; do
           hyperfine --runs 3 -i --export-json out.json -n \"$name\" \"tool $name 3\" 2>&1 | tail -1 >/dev/null || echo failed >>log
         done",
    ),
];

/// The sorted lines of `log`, and the exports of a script: keys and commands of JSON, first lines of the others.
#[derive(Debug, Default, PartialEq)]
struct Effects {
    log: Vec<String>,
    json: BTreeSet<String>,
    commands: Vec<Value>,
    heads: Vec<String>,
}

fn effects(script: &str, hyperfine: &Path) -> Effects {
    let home = Home::new();
    let path = |name: &str| home.path().join(name);
    fs::create_dir(path("bin")).unwrap();
    // longer than a shell takes to start, which hyperfine subtracts: it refuses a mean of 0
    make_script(path("bin/tool"), "echo \"$1\" >>log\nsleep 0.02\nexit \"${2:-0}\"");
    let words = match hyperfine == binary() {
        true => " bench --budget 5m",
        false => "",
    };
    make_script(path("bin/hyperfine"), &format!("exec {}{words} \"$@\"", hyperfine.display()));
    let mut command = home.command("/bin/bash");
    let old = std::env::var("PATH").unwrap();
    command
        .env("PATH", format!("{}:{old}", path("bin").display()))
        .args(["-c", script])
        .current_dir(home.path())
        .stdin(Stdio::null());
    succeeds(&mut command);
    let read = |name: &str| fs::read_to_string(path(name)).unwrap_or_default();
    let mut log: Vec<String> = read("log").lines().map(str::to_owned).collect();
    log.sort();
    // before each turn of a command, so that commands may share a folder of builds; hyperfine measures one after the other
    let is_setup = |line: &str| line.starts_with("build-");
    log.dedup_by(|a, b| a == b && is_setup(a));
    let json: Value = serde_json::from_str(&read("out.json")).unwrap_or_default();
    let results = json["results"].as_array().cloned().unwrap_or_default();
    let objects = results.iter().filter_map(Value::as_object);
    // memory came with hyperfine 1.17
    let keys = objects.flat_map(|result| result.keys().cloned());
    Effects {
        log,
        json: keys.filter(|key| key != "memory_usage_byte").collect(),
        commands: results.iter().map(|result| result["command"].clone()).collect(),
        heads: ["out.md", "out.csv"]
            .map(|name| read(name).lines().next().unwrap_or_default().to_owned())
            .to_vec(),
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn scripts_execute_as_with_hyperfine() {
    let theirs = program(&["hyperfine"]);
    for (what, script) in SCRIPTS {
        let [ours, theirs] = [binary(), &theirs].map(|tool| effects(script, tool));
        assert!(!theirs.log.is_empty(), "{what}");
        assert_eq!(ours, theirs, "{what}: {script}");
    }
}
