//! Exported and imported runs, as used by a person.

use crate::common::{self, Home, fixture, list, recorded};
use gritstone_exchange::EXPORT_FORMATS;
use gritstone_model::{Commit, FleetMember, Outcome, Peer, Skip};
use std::fs;

#[test]
fn anonymous_copies_are_the_run() {
    let home = Home::with(&["run"]);
    home.ok("export run -o copy.jsonl");
    let (code, _, error) = home.run("import copy.jsonl");
    assert!(code == 0 && error.contains("already"), "{code}: {error}");
    let compared = home.json(&format!("compare run {}", home.later_copy("run")));
    assert_eq!(compared["differ_in"], serde_json::json!([]), "{compared}");
}

#[test]
fn bundles_round_trip_between_stores() {
    let home = Home::with(&["run"]);
    let bundle = fixture("run");
    let path = bundle.to_str().unwrap();
    let text = fs::read_to_string(&bundle).unwrap();
    let whole = home.ok("export run --with-identity");
    let read = |text: &str| gritstone_exchange::read_bundle(text.as_bytes()).unwrap();
    assert!(read(&whole) == read(&text), "nothing is lost");
    assert_eq!(home.json("show run"), home.json(&["show", path]));
    let (code, out, error) = home.run(&["import", path]);
    assert!(code == 0 && error.contains("already"), "{code}: {error}");
    assert_eq!(list(&home.json("runs")["runs"]).len(), 1, "{out}");

    // a cut one is refused whole, with its line
    let lines = text.lines().count();
    let cut = home.path().join("cut.jsonl");
    fs::write(&cut, text.rsplit_once("{\"end\"").unwrap().0).unwrap();
    let line = format!("line {}", lines - 1);
    let error = Home::new().refuses(&["import", cut.to_str().unwrap()], &line);
    assert!(error.contains("truncated"), "{error}");
    for format in EXPORT_FORMATS {
        home.ok(&format!("export run --format {} --output out", format.name));
        let text = fs::read_to_string(home.path().join("out")).unwrap();
        assert!(text.contains("byte/syscall"), "{}", format.name);
    }
}

#[test]
fn contributions_are_verified() {
    let home = Home::new();
    let reference = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../references/measured/intel-xeon-kvm-2026.jsonl.zst"
    );
    let bytes = fs::read(reference).unwrap();
    let text = String::from_utf8(zstd::decode_all(bytes.as_slice()).unwrap()).unwrap();
    let run = gritstone_exchange::read_bundle(text.as_bytes()).unwrap();
    let write = |name: &str, change: &dyn Fn(&mut gritstone_model::RunData)| {
        let mut run = run.clone();
        change(&mut run);
        fs::write(home.path().join(name), gritstone_exchange::write_bundle(&run)).unwrap();
    };
    write("whole", &|_| ());
    assert_eq!(home.ok("verify whole"), "whole: ok\n");
    write("interrupted", &|run| run.info.elapsed_s = None);
    write("old", &|run| run.benchmarks[0].version += 1);
    write("private", &|run| {
        let fact = ("host.name".to_owned(), "db1".to_owned());
        run.info.machine.facts.extend([fact]);
    });
    write("slow", &|run| {
        for launch in &mut run.launches {
            launch.conditions.wall *= 1000;
            for event in &mut launch.events {
                match event {
                    gritstone_model::Event::Sample(sample) => sample.wall *= 1000,
                    gritstone_model::Event::Batch(batch) => {
                        batch.walls.iter_mut().for_each(|wall| *wall *= 1000);
                    }
                    _ => {}
                }
            }
        }
    });
    fs::write(home.path().join("cut"), &text[..text.len() / 2]).unwrap();
    for (name, why) in [
        ("interrupted", "interrupted"),
        ("old", "is current"),
        ("private", "--with-identity"),
        ("slow", "-fold from"),
        ("cut", "cut: line"),
    ] {
        let (code, out, _) = home.run(&["verify", name]);
        assert!(code == 1 && out.contains(why), "{name}: {code}: {out}");
    }
}

#[test]
fn foreign_results_are_shown() {
    let home = Home::new();
    let times = "[1.01,1.0,1.02,1.0,1.03,1.01,1.0]";
    let text = format!(r#"{{"results":[{{"command":"sleep <1>","times":{times}}}]}}"#);
    fs::write(home.path().join("h.json"), text).unwrap();
    assert!(home.ok("show ./h.json").contains("hyperfine/sleep-1"));
    home.ok("import h.json --label theirs");
    assert!(home.ok("show theirs").contains("hyperfine/sleep-1"));
    assert_eq!(home.run("show none.json").0, 2);
}

/// What would make a page load something.
const EXTERNAL: [&str; 6] =
    ["src=\"http", "href=\"/", "url(", "@import", "<script src", "<link rel=\"stylesheet\""];

/// Shared files do not identify user and host.
#[test]
fn shared_files_are_anonymous() {
    let home = Home::new();
    let mut run = recorded("run");
    let path = home.path().to_str().unwrap().to_owned();
    run.info.machine.name = "secret-host (AMD EPYC)".to_owned();
    run.info.settings.dir = format!("{path}/measured");
    let environment = &mut run.info.settings.environment;
    environment.insert("TOKEN".to_owned(), "secret-value".to_owned());
    environment.insert("WHERE".to_owned(), "/home/secret-user/x".to_owned());
    let facts = &mut run.info.machine.facts;
    for (name, value) in [
        ("host.name", "secret-host"),
        ("dir.filesystem", "nfs4 from secret-server:/secret-share"),
        ("dir.options", "rw,addr=198.51.100.77,clientaddr=2001:db8::77"),
        ("dir.mount_point", "/secret-mount"),
    ] {
        facts.insert(name.to_owned(), value.to_owned());
    }
    run.info.machine.configuration = "2 cores, nfs4 from secret-server:/secret-share".to_owned();
    let remark = "in /home/secret-user/src at 02:42:ac:11:00:77".to_owned();
    run.benchmarks[0].remark = Some(remark);
    let why = "secret-peer at 198.51.100.77: no secret-server".to_owned();
    run.skips.push(Skip { id: run.benchmarks[1].id.clone(), reason: why.clone() });
    run.launches[0].outcome = Outcome::Failed(format!("secret-host: {why}"));
    run.info.settings.commit = Some(Commit {
        id: "5ec5e75ec5e7".to_owned(),
        branch: Some("secret-branch".to_owned()),
        repository: Some("https://secret-forge.example/x".to_owned()),
    });
    run.info.settings.fleet = Some(FleetMember {
        fleet: "20260101-000000-0000000f".to_owned(),
        node: "secret-node".to_owned(),
        place: [("rack".to_owned(), "secret-rack".to_owned())].into(),
        of: None,
    });
    run.info.settings.peer = Some(Peer {
        host: "secret-peer".to_owned(),
        address: "198.51.100.78".to_owned(),
        ..Peer::default()
    });
    let id = "20260101-000000-00000001";
    run.info.id = id.to_owned();
    home.import(&[run]);
    let secrets = [
        "secret-host",
        "secret-value",
        "secret-user",
        "secret-server",
        "secret-share",
        "secret-mount",
        "secret-branch",
        "secret-forge",
        "secret-node",
        "secret-rack",
        "secret-peer",
        "5ec5e75ec5e7",
        "198.51.100.77",
        "198.51.100.78",
        "2001:db8::77",
        "02:42:ac:11:00:77",
        path.as_str(),
    ];
    let found = |text: &str| secrets.iter().filter(|secret| text.contains(**secret)).count();
    for format in EXPORT_FORMATS {
        let text = home.ok(&format!("export {id} --format {}", format.name));
        assert_eq!(found(&text), 0, "{}", format.name);
    }
    let whole = home.ok(&["export", id, "--with-identity"]);
    assert_eq!(found(&whole), secrets.len());
    for (option, wanted) in [("", 0), ("--with-identity", 1)] {
        home.ok(&format!("report {id} --output report.html {option}"));
        let text = fs::read_to_string(home.path().join("report.html")).unwrap();
        assert_eq!(found(&text).min(1), wanted, "{option}");
        for external in EXTERNAL {
            assert!(!text.contains(external), "{external}");
        }
    }
    let summary = home.ok(&["report", id, "--share", "--output", "shared.html"]);
    let page = fs::read_to_string(home.path().join("shared.html")).unwrap();
    for text in [&summary, &page] {
        let left: Vec<&&str> = secrets.iter().filter(|one| text.contains(**one)).collect();
        assert!(left.is_empty(), "{left:?}");
        assert!(text.contains("byte/syscall"));
    }
    // under the limit of a comment, and naming the file that goes with it
    assert!(summary.len() < 32 << 10 && summary.contains(" shared.html."), "{summary}");
    for external in EXTERNAL {
        assert!(!page.contains(external), "{external}");
    }
    home.refuses(&["report", id, "--share", "-o", "x.pdf"], "one HTML file");
    home.refuses(&["report", id, "--share", "--with-identity"], "cannot be used with");
    // of a user with the name of a benchmark or a unit, too
    for user in ["pipe", "call"] {
        let options = format!("report {id} --output report.html");
        for arguments in [format!("export {id}"), options] {
            let mut command = home.gritstone(&arguments);
            command.env("HOME", format!("/home/{user}"));
            let (code, text, error) = common::ended(&mut command);
            assert_eq!(code, 0, "{error}");
            assert!(!arguments.starts_with("export") || text.contains("\"ns/call\""));
        }
    }
    // a run without names is a run like others
    home.ok(&["export", id, "--output", "shared.jsonl"]);
    let other = Home::new();
    let shared = home.path().join("shared.jsonl");
    other.ok(&["import", shared.to_str().unwrap()]);
    assert!(other.ok(&["show", id]).contains("byte"));
}

#[test]
fn imports_keep_host_names() {
    let home = Home::new();
    let hyperfine = r#"{"results":[{"command":"a","times":[1.01,1.0,1.02]}]}"#;
    let google = r#"{"context":{"host_name":"theirs"},"benchmarks":[{"name":"a","iterations":5,"real_time":5.0,"cpu_time":5.0,"time_unit":"ns"}]}"#;
    fs::write(home.path().join("h.json"), hyperfine).unwrap();
    fs::write(home.path().join("g.json"), google).unwrap();
    home.ok("import g.json --label google");
    home.ok(&["import", "h.json", "--label=hyper", "--host", "builder 7"]);
    for (label, name) in [("google", "theirs"), ("hyper", "builder 7")] {
        let run = home.json(&["show", label]);
        assert_eq!(run["machine"]["name"], name);
    }
    home.fails(2, "import g.json --host mine", "leave out --host");
}

#[test]
fn exports_include_dependencies() {
    let home = Home::with(&["run"]);
    let csv = home.ok("export run byte/sieve kernel --format csv");
    let ids: Vec<&str> = csv.lines().skip(1).map(|l| l.split(',').next().unwrap()).collect();
    assert!(ids.contains(&"byte/sieve"), "{csv}");
    let selected = |id: &&str| *id == "byte/sieve" || id.starts_with("kernel/");
    assert!(ids.iter().all(selected), "{csv}");
    // the overhead of a call is that of two loops, which come with it
    let bundle = home.ok("export run byte/fcall-overhead");
    fs::write(home.path().join("part.jsonl"), bundle).unwrap();
    let other = Home::new();
    let part = home.path().join("part.jsonl");
    other.ok(&["import", part.to_str().unwrap()]);
    let part = other.json("show run");
    let overhead = common::result(&part, "byte/fcall-overhead");
    assert!(overhead["estimate"].is_number(), "{part}");
    assert_eq!(part["results"].as_array().unwrap().len(), 3, "{part}");
    home.refuses("export run app", "no result matches");
}

#[test]
fn foreign_results_lack_settings() {
    let home = Home::new();
    let times: Vec<f64> = (0..10).map(|index| 0.1 + f64::from(index) / 1e4).collect();
    let file = serde_json::json!({ "results": [{
        "command": "nap", "mean": 0.1, "stddev": 0.001, "median": 0.1, "user": 0.0,
        "system": 0.0, "min": 0.1, "max": 0.1009, "times": times, "exit_codes": vec![0; 10],
    }] });
    fs::write(home.path().join("naps.json"), file.to_string()).unwrap();
    let id = home.ok("import naps.json");
    for detail in ["-q", "-vv"] {
        let text = home.ok(&["show", id.trim(), detail]);
        assert!(text.contains("by hyperfine"), "{text}");
        assert!(!text.contains("target") && !text.contains("seed"), "{text}");
    }
}

/// A system that was measured.
const SHIPPED: &str = "ref:amd-epyc-kvm-2026";

#[test]
#[ignore = "long: make test-full"]
fn references_need_complete_runs() {
    let home = Home::with(&["run"]);
    home.refuses("export run --reference mine", "a run of suite standard");
    home.refuses(&format!("export {SHIPPED} --reference Mine"), "an id is made of");
    home.refuses(&format!("export {SHIPPED} byte --reference mine"), "a whole run");
    assert_eq!(home.ok(&format!("export {SHIPPED} --reference mine")), "mine.jsonl.zst\n");
    let shipped = home.json(&format!("show {SHIPPED}"));
    assert_eq!(home.json("show mine.jsonl.zst")["results"], shipped["results"]);
    // of all its CPUs too
    let copies = list(&shipped["results"]).iter().filter(|r| !r["copies"].is_null()).count();
    assert_eq!(copies, 4);
    let path = home.path().join("mine.jsonl.zst");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes.truncate(middle);
    fs::write(&path, bytes).unwrap();
    home.refuses("show ./mine.jsonl.zst", "incomplete frame");
}
