//! `gritstone fleet`: nodes of simulated fleets, each run a recorded one with other times.

use crate::changes::until;
use crate::common::server::Server;
use crate::common::{
    Home, Killed, binary, ended, entries, eventually, fixture, list, make_script, part, recorded,
    start,
};
use gritstone_model::{Event, FleetMember, RunData};
use gritstone_testkit::{noise, set_time};
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A few families that are made of samples.
const FAMILIES: [&str; 4] = ["byte", "event", "kernel", "memory"];
const NODES: usize = 14;

/// The run of a node whose operations take 10 µs each, within 0.3%, times `slower`, by family.
fn node(run: &RunData, number: usize, slower: &dyn Fn(&str) -> f64) -> RunData {
    // a difference of two benchmarks would scatter about 0
    let launched = |id: &str| run.launches.iter().any(|launch| launch.id.as_str() == id);
    let mut run =
        part(run.clone(), |id| FAMILIES.contains(&id.split('/').next().unwrap()) && launched(id));
    run.info.id = format!("20261103-10{number:02}00-0000{number:04}");
    run.info.started = format!("2026-11-03T10:{number:02}:00Z");
    run.info.settings.fleet = Some(FleetMember {
        fleet: "fleet-of-november".to_owned(),
        node: format!("node-{number:02}"),
        of: Some(NODES as u32),
        ..FleetMember::default()
    });
    let ids: Vec<_> = run.benchmarks.iter().map(|benchmark| benchmark.id.clone()).collect();
    for launch in &mut run.launches {
        let place = ids.iter().position(|id| *id == launch.id).unwrap();
        let scatter = 1.0 + 0.003 * noise(number, place);
        let ns = 10_000.0
            * scatter
            * (1.0 + 0.001 * f64::from(launch.round % 3))
            * slower(launch.id.family());
        set_time(launch, ns);
    }
    run
}

/// Nodes 3 and 9 have another kernel and slow memory, node 5 computes a wrong value.
fn fleet() -> Vec<RunData> {
    let run = recorded("run");
    let slow = |number: usize| [3, 9].contains(&number);
    let mut fleet: Vec<RunData> = (0..NODES)
        .map(|number| {
            let slower = |family: &str| match family {
                "memory" if slow(number) => 1.25,
                _ => 1.0,
            };
            let mut node = node(&run, number, &slower);
            if slow(number) {
                let facts = &mut node.info.machine.facts;
                facts.insert("kernel.release".to_owned(), "6.9.0-slow".to_owned());
            }
            node
        })
        .collect();
    let mut checks = fleet[5].launches.iter_mut().flat_map(|launch| &mut launch.events);
    let check = checks.find_map(|event| match event {
        Event::Check(check) => Some(check),
        _ => None,
    });
    check.unwrap().got += 1;
    fleet
}

/// The same nodes in another fleet run, when only node 9 was slow.
fn a_week_before() -> Vec<RunData> {
    let run = recorded("run");
    let week = (0..NODES).map(|number| {
        let slower = |family: &str| match family {
            "memory" if number == 9 => 1.25,
            _ => 1.0,
        };
        let mut node = node(&run, number, &slower);
        node.info.id = node.info.id.replace("20261103", "20261027");
        node.info.started = node.info.started.replace("2026-11-03", "2026-10-27");
        node.info.settings.fleet.as_mut().unwrap().fleet = "fleet-of-october".to_owned();
        node
    });
    week.collect()
}

/// What differs: node, family, effect.
fn outliers(view: &Value) -> Vec<(String, String, f64)> {
    let outlier = |entry: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&entry["node"]), text(&entry["about"]["family"]), entry["effect"].as_f64().unwrap())
    };
    let mut all: Vec<_> = list(&view["outliers"]).iter().map(outlier).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[test]
#[ignore = "long: make test-full"]
fn outliers_name_common_facts() {
    let home = Home::new();
    home.fails(2, "fleet report", "no run is stored yet");
    let fleet = fleet();
    home.import(&fleet);
    let read = |line: &str| -> Value { serde_json::from_str(&home.ok(line)).unwrap() };
    let view = read("fleet report --format json");
    assert_eq!(view["schema"], "gritstone/fleet/1");
    assert_eq!(view["fleet"], "fleet-of-november");
    assert_eq!(list(&view["nodes"]).len(), NODES);
    let found = outliers(&view);
    let named: Vec<_> =
        found.iter().map(|(node, family, _)| (node.as_str(), family.as_str())).collect();
    assert_eq!(named, [("node-03", "memory"), ("node-09", "memory")]);
    assert!(found.iter().all(|(_, _, effect)| (effect + 0.2).abs() < 0.02), "{found:?}");
    let wrong = list(&view["wrong"]);
    assert_eq!(
        (wrong.len(), &wrong[0]["node"], &wrong[0]["by"]),
        (1, &"node-05".into(), &"workload".into())
    );
    let common = list(&view["common"]);
    assert_eq!(common[0]["facts"][0]["name"], "kernel.release");
    assert_eq!([&common[0]["slow"], &common[0]["others"]], [2, 0]);

    // the same by its name and by its files, on paper and as lines
    assert_eq!(read("fleet report november --format json"), view);
    let files: Vec<String> = fleet
        .iter()
        .map(|run| {
            let path = home.path().join(format!("{}.jsonl", run.info.id));
            fs::write(&path, gritstone_exchange::write_bundle(run)).unwrap();
            path.display().to_string()
        })
        .collect();
    let of_files = read(&format!("fleet report --format json {}", files.join(" ")));
    assert_eq!(of_files["outliers"], view["outliers"]);
    home.ok("fleet report -o fleet.html -o fleet.pdf");
    let page = fs::read_to_string(home.path().join("fleet.html")).unwrap();
    assert!(page.contains("node-09: memory −") && page.contains("fleet-heat"), "{page}");
    assert!(fs::read(home.path().join("fleet.pdf")).unwrap().starts_with(b"%PDF"));
    let lines = home.ok("fleet report --format csv");
    let count = |word: &str| lines.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!([count("wrong,"), count("differs,")], [1, 2]);
    let metrics = home.ok("fleet report --format openmetrics");
    let low = "node=\"node-09\",level=\"family\",about=\"memory\",bound=\"low\"} -0.";
    assert!(metrics.contains(low) && metrics.ends_with("# EOF\n"), "{metrics}");
    // a week before, one of them was like the others
    home.import(&a_week_before());
    let view = read("fleet report --format json");
    assert_eq!((&view["fleet"], &view["earlier"]), (&"fleet-of-november".into(), &1.into()));
    let since = |node: &str| {
        let all = list(&view["outliers"]);
        all.iter().find(|outlier| outlier["node"] == node).unwrap()["since"].clone()
    };
    assert_eq!(since("node-03")["before"], "2026-10-27T10:00:00Z");
    assert_eq!(since("node-09")["first"], "2026-10-27T10:00:00Z");
    let output = home.ok("fleet report");
    let output: Vec<&str> = output.split_whitespace().collect();
    assert!(output.join(" ").contains("since 3 November 2026"), "{output:?}");
    home.refuses("fleet report -o fleet.txt", ".html or .pdf");
    home.refuses("fleet report other", "other");
}

/// Login shells may print anything, and need not understand `sh`.
#[test]
fn nodes_survive_any_login_shell() {
    let home = Home::new();
    let script = "case $2 in \"exec sh -c '\"*) exec sh -c \"$2\";; esac; echo 'if: Expression Syntax.' >&2; exit 1";
    let other = make_script(home.path().join("other-shell"), script);
    let ssh = format!("'{}' -o 'A=b c'", fixture("run").with_file_name("fake-ssh").display());
    for (node, banner, shell) in [
        ("n1", "Welcome", "sh"),
        ("ssh://n2:22", "", other.to_str().unwrap()),
        ("[::1]:22", "{\"schema\":1}\n\n", other.to_str().unwrap()),
    ] {
        let line = [
            "fleet",
            "run",
            "--on=ssh",
            "--nodes",
            node,
            "--ssh",
            &ssh,
            "--quick",
            "--budget=1s",
            "byte/pipe",
        ];
        let mut command = home.gritstone(&line);
        let (code, _, error) = ended(command.env("BANNER", banner).env("LOGIN_SHELL", shell));
        assert_eq!(code, 0, "{node}: {error}");
    }
    assert_eq!(measured(&home), ["[::1]:22"]);
}

#[test]
fn shared_reports_lack_node_names() {
    let home = Home::new();
    home.import(&fleet()[..2]);
    let shared =
        |number: usize| home.ok(&format!("export 20261103-10{number:02}00-0000{number:04}"));
    let [one, two] = [0, 1].map(shared);
    assert!(!one.contains("node-00\"") && one.contains("fleet-of-november"));
    let name = |text: &str| {
        gritstone_exchange::read_bundle(text.as_bytes()).unwrap().info.settings.fleet.unwrap().node
    };
    assert_ne!(name(&one), name(&two));
}

/// A `gritstone` in the home that first executes a script.
fn wrapped(home: &Home, before: &str) -> String {
    let lines = format!("{before}\nexec '{}' \"$@\"", binary().display());
    make_script(home.path().join("wrapped"), &lines).display().to_string()
}

/// The nodes of the newest fleet that have a run.
pub fn measured(home: &Home) -> Vec<String> {
    let view: Value = serde_json::from_str(&home.ok("fleet report --format json")).unwrap();
    let name = |node: &Value| node["node"].as_str().unwrap().to_owned();
    list(&view["nodes"]).iter().map(name).collect()
}

#[test]
fn dead_nodes_are_resumed() {
    let home = Home::new();
    let died = home.path().join("died");
    let dies = format!(
        "case \"$*\" in *local-2*) [ -e '{0}' ] || {{ touch '{0}'; echo 'gritstone: died of a test' >&2; exit 9; }};; esac",
        died.display()
    );
    let binary = wrapped(&home, &dies);
    let line = format!(
        "fleet run --on local --nodes 3 --binary {binary} --quick --label tried byte/syscall"
    );
    let output = home.fails(1, &line, "1 of 3 nodes are missing");
    assert!(output.contains("local-2") && output.contains("died of a test"), "{output}");
    assert_eq!(measured(&home), ["local-1", "local-3"]);
    home.ok("fleet resume");
    assert_eq!(measured(&home), ["local-1", "local-2", "local-3"]);
    // each is a run of its own with the same order of rounds, and nothing of a node is left
    let runs: Value = home.json("runs");
    assert_eq!(list(&runs["runs"]).len(), 3);
    let fleets = entries(&home.path().join("data/gritstone/fleets"));
    let mut left = entries(&fleets[0]);
    left.sort();
    let expected = ["lock", "plan.json", "progress.json"];
    assert_eq!(left, expected.map(|name| fleets[0].join(name)));
    home.ok("fleet resume");
    // against two others nothing is said of this node
    let (code, out, _) = home.run("fleet check --node local-1 --budget 20s");
    assert!(code == 4 && out.starts_with("inconclusive: local-1"), "{code} {out}");
    home.refuses("fleet check --node x --against nothing", "nothing");
    home.refuses("fleet resume other", "no fleet run is called");
    home.refuses("fleet run --on ssh --nodes=-oProxyCommand=x", "is not a host");
}

/// A server reports the progress of a fleet run from the plan beside its store, and a second process does not take over the run.
#[test]
#[ignore = "measures: make test-full"]
fn fleet_runs_can_be_followed() {
    let home = Home::new();
    let [died, gate] = ["died", "gate"].map(|name| home.path().join(name));
    let before = format!(
        "case \"$*\" in *local-2*) [ -e '{0}' ] || {{ touch '{0}'; echo 'gritstone: died of a test' >&2; exit 9; }} ;; \
         *local-3*) for i in $(seq 2400); do [ -e '{1}' ] && break; sleep 0.05; done ;; esac",
        died.display(),
        gate.display()
    );
    let binary = wrapped(&home, &before);
    let server = Server::start(&home);
    let page = || server.get("/fleet").text();
    let line = format!("fleet run --on local --nodes 3 --binary {binary} --quick byte/syscall");
    let mut measuring = Killed(start(&home, &line, &[]));
    eventually("the last node waits", || {
        page().contains("1 of 3 nodes done, 1 measuring, 1 failed")
    });
    let shown = page();
    assert!(
        shown.contains("died of a test") && shown.contains("data-events=\"/fleet/events\""),
        "{shown}"
    );
    let mut stream = server.connect();
    let ask = format!("GET /fleet/events HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    stream.write_all(ask.as_bytes()).unwrap();
    let mut events = BufReader::new(stream);
    let progress = until(&mut events, "progress");
    let counts =
        |progress: &Value| ["of", "done", "measuring", "failed"].map(|key| progress[key].clone());
    assert_eq!(counts(&progress), [3, 1, 1, 1], "{progress}");
    let why = format!("is being measured by process {} on ", measuring.0.id());
    home.fails(2, "fleet resume", &why);

    fs::write(&gate, "").unwrap();
    assert_eq!(counts(&until(&mut events, "end")), [3, 2, 0, 1]);
    assert_eq!(measuring.0.wait().unwrap().code(), Some(1));
    let shown = page();
    assert!(
        shown.contains("2 of 3 nodes done, 1 failed") && shown.contains("died of a test"),
        "{shown}"
    );
    assert!(!shown.contains("data-events"), "{shown}");
    home.ok("fleet resume");
    assert!(!page().contains("nodes done"));
    // elsewhere, the runs say how many nodes there are
    let home = Home::new();
    home.import(&fleet()[1..]);
    let server = Server::start(&home);
    let shown = server.page("/fleet");
    assert!(shown.contains("13 of 14 nodes done") && shown.contains("data-events"), "{shown}");
    home.import(&fleet()[..1]);
    eventually("all nodes are there", || !server.get("/fleet").text().contains("nodes done"));
}

/// The plan of a fleet run in its folder.
fn plan(fleet: &Path) -> Value {
    serde_json::from_slice(&fs::read(fleet.join("plan.json")).unwrap()).unwrap()
}

/// The folder of a home's only fleet run, where another home has left the bundle of a node.
fn leave_bundle(home: &Home, node: &str) -> PathBuf {
    let fleet = entries(&home.path().join("data/gritstone/fleets")).remove(0);
    let plan = plan(&fleet);
    let id = plan["fleet"].as_str().unwrap();
    let bundle = fleet.join(format!("{node}.jsonl"));
    let measure = format!("fleet node --fleet {id} --node {node} --quick byte/syscall --output");
    Home::new().ok(&format!("{measure} {}", bundle.display()));
    fleet
}

#[test]
fn left_bundles_are_imported() {
    let home = Home::new();
    let broken = wrapped(&home, "exit 9");
    let line = format!("fleet run --on local --nodes 1 --binary {broken} --quick byte/syscall");
    assert_ne!(home.run(&line).0, 0);
    let fleet = leave_bundle(&home, "local-1");
    // the program still fails: nothing is measured again
    home.ok("fleet resume");
    assert_eq!(measured(&home), ["local-1"]);
    assert!(!fleet.join("local-1.jsonl").exists());
}

/// A Slurm that knows node a, and has no jobs.
#[test]
fn slurm_imports_left_bundles() {
    let home = Home::new();
    let tools = home.path().join("tools");
    fs::create_dir(&tools).unwrap();
    for (tool, script) in [
        ("sinfo", "echo 'a|idle|batch*|none'"),
        ("scontrol", "[ \"$2\" = hostnames ] && echo a"),
        ("squeue", "exit 1"),
    ] {
        make_script(tools.join(tool), script);
    }
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let run = |line: &str| ended(home.gritstone(line).env("PATH", &path));
    let (code, _, error) = run("fleet run --on slurm --nodes a --quick byte/syscall");
    assert_ne!(code, 0, "{error}");
    let fleet = leave_bundle(&home, "a");
    let (code, _, error) = run("fleet resume");
    assert_eq!(code, 0, "{error}");
    assert_eq!(measured(&home), ["a"]);
    assert!(!fleet.join("a.jsonl").exists());
    // the array of a process that was killed after the import: no task is awaited
    let queued = serde_json::json!({ "job": "7", "nodes": plan(&fleet)["nodes"] });
    fs::write(fleet.join("slurm.json"), queued.to_string()).unwrap();
    let (code, _, error) = run("fleet resume");
    assert!(code == 0 && !error.contains("missing"), "{error}");
    assert!(!fleet.join("slurm.json").exists());
}

#[test]
fn hung_nodes_are_ended() {
    let home = Home::new();
    let hangs = home.path().join("hangs");
    let before = format!("[ -e '{}' ] && exec sleep 600; exit 9", hangs.display());
    let binary = wrapped(&home, &before);
    let line = format!("fleet run --on local --nodes 1 --binary {binary} --quick byte/syscall");
    assert_ne!(home.run(&line).0, 0);
    let fleet = entries(&home.path().join("data/gritstone/fleets")).remove(0);
    let mut limited = plan(&fleet);
    assert!(limited["minutes"].is_null());
    limited["minutes"] = 0.into();
    fs::write(fleet.join("plan.json"), limited.to_string()).unwrap();
    fs::write(hangs, "").unwrap();
    home.fails(3, "fleet resume", "it took more than 0 minutes");
}

#[test]
fn nodes_end_with_their_reader() {
    let home = Home::new();
    let mut command = home.command(binary());
    command.args(["fleet", "node", "--fleet", "f", "--node", "n", "--output", "-"]);
    command.args(["--quick", "byte", "--dir"]).arg(home.path());
    let mut node = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // its first line is written before it measures
    let mut said = BufReader::new(node.stderr.take().unwrap());
    said.read_line(&mut String::new()).unwrap();
    drop(node.stdout.take());
    let drained = std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
    assert_eq!(node.wait().unwrap().code(), Some(130));
    drained.join().unwrap().unwrap();
    assert!(home.journals().is_empty());
}
