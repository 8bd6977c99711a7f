//! Changes and their triage; the fleet, progress of runs, several runs at once, and notifications.

use crate::common::server::Server;
use crate::common::{Home, at_hour, begin, ended, eventually, list, recorded, start};
use crate::push::{post, token};
use crate::serve::{calls, changed};
use gritstone_model::{ChangeState, Commit, Id, RunData, TrialSide};
use gritstone_store::{Appended, NewTriageEntry, Store, Who};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::time::Duration;

/// The one event of a home that has one.
fn event(server: &Server) -> Value {
    let changes = server.json("/changes.json");
    let [event] = list(&changes["events"]).as_slice() else {
        panic!("{changes}");
    };
    event.clone()
}

#[test]
fn triage_shows_on_every_page() {
    let home = changed();
    let [reader, writer, admin] =
        ["read", "write", "admin"].map(|scope| token(&home, &format!("of-{scope}"), scope));
    let server = Server::start(&home);
    let known = event(&server);
    assert_eq!(known["triage"]["state"], "new");
    let id = known["id"].as_str().unwrap();
    assert!(id.ends_with("-worse"), "{id}");
    let path = format!("/api/v1/changes/{id}");
    let body =
        |note: &str| serde_json::json!({ "state": "acknowledged", "note": note }).to_string();
    let note = body("microcode <0x1000066>");
    for (token, status) in [(None, 401), (Some("x"), 401), (Some(reader.as_str()), 403)] {
        assert_eq!(post(&server, &path, token, note.as_bytes()).status, status, "{token:?}");
    }
    let by_writer = |path: &str, body: &str| {
        let response = post(&server, path, Some(&writer), body.as_bytes());
        (response.status, response.text())
    };
    for (path, body, status) in [
        ("/api/v1/changes/none-worse", note.as_str(), 404),
        (&path, r#"{"note": "no state"}"#, 422),
        (&path, "no JSON", 422),
        (&path, &body(""), 422),
        (&path, &body("two\nlines"), 422),
        (&path, &body(&"x".repeat(1001)), 422),
        (&path, &body(&"x".repeat(20_000)), 413),
    ] {
        assert_eq!(by_writer(path, body).0, status, "{body:.40}");
    }
    assert_eq!(event(&server)["triage"]["state"], "new");
    let (status, output) = by_writer(&path, &note);
    assert_eq!(status, 201, "{output}");
    let triage = event(&server)["triage"].clone();
    assert_eq!(triage["state"], "acknowledged");
    assert_eq!(triage["log"][0]["who"], "of-write");
    assert_eq!(triage["log"][0]["note"], "microcode <0x1000066>");
    let output: Value = serde_json::from_str(&output).unwrap();
    assert_eq!(output["triage"], triage);
    let one = server.json(&format!("/changes/{id}.json"));
    assert_eq!(one["events"][0]["triage"], triage);
    for path in ["/", "/changes", &format!("/changes/{id}"), "/changes.atom"] {
        let has = |page: String| {
            let shown = page.contains("of-write") && page.contains("microcode &lt;0x1000066&gt;");
            shown && page.contains(&format!("/changes/{id}"))
        };
        eventually(path, || has(server.page(path)));
    }
    // the newest counts, by whatever way it comes
    let admins = post(&server, &path, Some(&admin), body("wanted").as_bytes());
    assert_eq!(admins.status, 201);
    assert_eq!(event(&server)["triage"]["log"][1]["who"], "of-admin");
    let (status, output) = by_writer(&path, r#"{"state": "assigned", "assignee": "ana"}"#);
    assert_eq!(status, 201, "{output}");
    assert_eq!(by_writer(&path, r#"{"state": "assigned"}"#).0, 422);
    assert_eq!(by_writer(&path, r#"{"state": "gone", "note": "x"}"#).0, 422);
    let part = &id[id.len() - 14..];
    home.ok(&["changes", "fix", part, "--note", "accepted"]);
    let changes = home.json("changes");
    assert_eq!(changes, server.json("/changes.json"));
    let triage = &changes["events"][0]["triage"];
    assert_eq!((&triage["state"], &triage["assignee"]), (&"fixed".into(), &"ana".into()));
    assert!(home.ok("changes").contains("accepted"));
    home.refuses("changes acknowledge none --note x", "no change is called");
    home.refuses(&["changes", "acknowledge", part, "--note", " "], "a note");
}

/// The same by the command.
fn listed_event(home: &Home) -> Value {
    let changes = home.json("changes");
    let [event] = list(&changes["events"]).as_slice() else {
        panic!("{changes}");
    };
    event.clone()
}

fn benchmarks(event: &Value) -> Vec<Value> {
    let changes = list(&event["changes"]).iter();
    changes.map(|change| change["benchmark"].clone()).collect()
}

#[test]
fn joined_benchmarks_reopen_changes() {
    let home = changed();
    assert_eq!(list(&home.json("changes --runs 2")["events"]).len(), 0);
    let event = listed_event(&home);
    let id = event["id"].as_str().unwrap();
    home.ok(&["changes", "expect", id, "--same", "kernel", "--note", "wanted"]);
    let event = listed_event(&home);
    assert_eq!(event["triage"]["state"], "expected");
    let seen = list(&event["triage"]["log"][0]["benchmarks"]);
    assert_eq!(*seen, benchmarks(&event));

    // an entry on another benchmark alone
    let other = [Id::parse("byte/other").unwrap()];
    let entry = NewTriageEntry {
        state: ChangeState::Expected,
        assignee: None,
        note: "wanted",
        benchmarks: &other,
    };
    let mut store = Store::open(&home.store()).unwrap();
    let now = "2026-11-28T12:00:00Z";
    store.triage(id, Who::User("ana"), &entry, now).unwrap();
    drop(store);
    let event = listed_event(&home);
    assert_eq!(event["triage"]["state"], "new");
    assert_eq!(*list(&event["triage"]["joined"]), benchmarks(&event));
}

#[test]
fn removed_runs_keep_acknowledgments() {
    let home = changed();
    let event = || listed_event(&home);
    let before = event();
    let id = before["id"].as_str().unwrap();
    let first = before["run"].as_str().unwrap();
    home.ok(&["changes", "acknowledge", id, "--note", "microcode"]);
    for _ in 0..2 {
        let run = event()["run"].as_str().unwrap().to_owned();
        home.ok(&["runs", "remove", &run]);
    }
    let after = event();
    assert_ne!(after["run"], first);
    assert_eq!(after["id"], id);
    assert_eq!(after["triage"]["state"], "acknowledged");
}

#[test]
fn events_name_commits_between() {
    let home = Home::new();
    let commit = |hour: u32| Commit {
        id: format!("{hour:040x}"),
        branch: Some("main".to_owned()),
        repository: Some("https://example.org/a/b.git".to_owned()),
    };
    let run = |hour: u32| {
        let level = if hour <= 6 { 1.0 } else { 1.2 };
        let scatter = 1.0 + 0.002 * f64::from(hour * 7 % 5);
        let mut run = at_hour(&calls(level * scatter), hour, &format!("night-{hour}"));
        run.info.settings.commit = Some(commit(hour));
        run
    };
    let runs: Vec<RunData> = (1..=12).map(run).collect();
    home.import(&runs);
    let commits = &listed_event(&home)["commits"];
    let [good, bad] = [6, 7].map(|hour| commit(hour).id);
    let link = format!("https://example.org/a/b/compare/{good}...{bad}");
    assert_eq!(*commits, json!({ "good": good, "bad": bad, "link": link }));
    let said = home.ok(&["changes"]);
    let short = format!("{}..{}", &good[..10], &bad[..10]);
    assert!(said.contains(&short), "{said}");
}

/// The two runs of a trial whose second side takes `times` as long.
pub fn sides(label: &str, hour: u32, times: f64) -> Vec<RunData> {
    let side = |(index, times): (u32, f64)| {
        let letter = ["a", "b"][index as usize];
        let mut run = at_hour(&calls(times), hour + index, &format!("{label}-{letter}"));
        run.info.settings.trial = Some(TrialSide {
            trial: format!("trial-{hour}"),
            side: letter.to_owned(),
            margin: 0.01,
            ..TrialSide::default()
        });
        // twelve pairs, so that it is decided
        let (once, rounds) = (run.launches.clone(), 100);
        for pass in 1..12_u32 {
            run.launches.extend(once.iter().cloned().map(|mut launch| {
                launch.round += pass * rounds;
                launch.start += u64::from(pass) * 1_000_000_000_000;
                launch
            }));
        }
        run
    };
    [(0, 1.0), (1, times)].map(side).into()
}

#[test]
fn overviews_list_no_sides() {
    let home = Home::new();
    home.import(&[at_hour(&calls(1.0), 1, "night")]);
    home.import(&sides("trial", 2, 1.2));
    let server = Server::start(&home);
    let listed = |path: &str| server.json(path)["runs"].clone();
    assert_eq!(listed("/overview.json"), home.json("runs")["runs"]);
    assert_eq!(list(&listed("/overview.json")).len(), 1);
    assert_eq!(list(&listed("/runs.json")).len(), 3);
}

#[test]
fn fleet_page_names_outliers() {
    let home = Home::new();
    let system = |number: u32| {
        let scatter = 1.0 + 0.001 * f64::from(number * 7 % 5);
        // beyond what the intervals of the recorded run let differ
        let slow = if number == 5 { 3.0 } else { 1.0 };
        let mut run = at_hour(&calls(scatter * slow), number, "night");
        run.info.machine.id = format!("system-{number}");
        run.info.machine.name = "node".to_owned();
        run
    };
    let runs: Vec<RunData> = (1..=16).map(system).collect();
    home.import(&runs);
    // one that has many more benchmarks than the others
    home.import(&[at_hour(&recorded("run"), 50, "whole")]);
    let server = Server::start(&home);
    let view = server.json("/fleet.json");
    assert_eq!(view["schema"], "gritstone/fleet/1");
    // systems of one name are several
    assert_eq!(list(&view["nodes"]).len(), 17, "{view}");
    let outliers = list(&view["outliers"]).iter();
    let nodes: Vec<&str> = outliers.map(|outlier| outlier["node"].as_str().unwrap()).collect();
    assert!(!nodes.is_empty(), "{view}");
    assert!(nodes.iter().all(|node| *node == "node (system-5)"), "{nodes:?}");
    let page = server.page("/fleet");
    assert!(page.contains("href=\"/systems/system-5\"") && page.contains("not like the others"));
    assert!(server.page("/").contains("href=\"/fleet\""));
}

/// Reads server-sent events from a stream, as far as one of that name.
pub fn until(events: &mut impl BufRead, name: &str) -> Value {
    let wanted = format!("event: {name}");
    let mut line = String::new();
    let mut found = false;
    loop {
        line.clear();
        assert!(events.read_line(&mut line).unwrap() > 0, "no {name}");
        if let (true, Some(data)) = (found, line.strip_prefix("data: ")) {
            return serde_json::from_str(data).unwrap();
        }
        found |= line.trim() == wanted;
    }
}

#[test]
fn pages_follow_running_runs() {
    let home = Home::new();
    home.import(&[calls(1.0)]);
    let whole = at_hour(&calls(1.0), 1, "live");
    begin(&home, &whole);
    let id = &whole.info.id;
    let server = Server::start(&home);
    let path = format!("/runs/{}/events", id);
    let page = || server.page(&format!("/runs/{}", id));
    // without script the page says how far it is
    let page_text = page();
    assert!(page_text.contains("0 launches so far"), "{page_text}");
    assert!(page().contains(&format!("data-events=\"{path}\"")));
    let mut stream = server.connect();
    let ask = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    stream.write_all(ask.as_bytes()).unwrap();
    let mut events = BufReader::new(stream);
    assert_eq!(until(&mut events, "progress")["launches"], 0);
    let mut store = Store::open(&home.store()).unwrap();
    for launch in &whole.launches {
        assert_eq!(store.append(id, launch).unwrap(), Appended::Stored);
    }
    let launches = whole.launches.len();
    let mut progress = until(&mut events, "progress");
    while progress["launches"] != launches {
        progress = until(&mut events, "progress");
    }
    let last = whole.launches.last().unwrap().id.as_str();
    assert_eq!(progress["benchmark"], last);
    assert!(page().contains(&format!("{launches} launches so far, the last of {last}")));
    store.finish(id, 60.0).unwrap();
    drop(store);
    let end = until(&mut events, "end");
    assert!(end["launches"] == launches && end["said"].is_null(), "{end}");
    // nothing follows on that, and a run that has ended is not followed
    assert!(!page().contains("data-events"));
    let again = server.get(&path);
    assert_eq!(again.status, 200);
    assert_eq!(again.header("content-type"), Some("text/event-stream"));
    assert!(again.text().contains("event: end"));
    assert_eq!(server.get("/runs/none/events").status, 404);
    let head = server.ask("HEAD", &path, &[]);
    assert_eq!((head.status, head.body.len()), (200, 0));
    // the end of the server ends what is followed
    let second = at_hour(&whole, 2, "second");
    begin(&home, &second);
    let mut server = server;
    let mut stream = server.connect();
    let ask =
        format!("GET /runs/{}/events HTTP/1.1\r\nHost: {}\r\n\r\n", second.info.id, server.address);
    stream.write_all(ask.as_bytes()).unwrap();
    let mut events = BufReader::new(stream);
    until(&mut events, "progress");
    crate::common::end(&server.process.0, nix::sys::signal::Signal::SIGTERM);
    assert_eq!(server.process.0.wait().unwrap().code(), Some(0));
    events.read_to_end(&mut vec![]).unwrap();
}

#[test]
fn comparisons_filter_by_effect() {
    let home = Home::new();
    let runs = [1.0, 1.02, 1.3].map(calls);
    let mut hours = (1..).zip(["base", "near", "far"]);
    let runs = runs.map(|run| {
        let (hour, label) = hours.next().unwrap();
        at_hour(&run, hour, label)
    });
    home.import(&runs);
    let server = Server::start(&home);
    let both = "/compare.json?base=base&run=near&run=far";
    assert_eq!(server.json(both), home.json(&["compare", "base", "near", "far"]));
    let page = server.page("/compare?base=base&run=near&run=far");
    for text in ["near", "far", "Geometric mean", "byte/sieve", "name=\"effect\""] {
        assert!(page.contains(text), "{text}");
    }
    let rows = |query: &str| {
        let view = server.json(&format!("/compare.json?base=base&{query}"));
        list(&view["rows"]).len()
    };
    assert!(rows("run=far&effect=20") > 0);
    assert_eq!(rows("run=far&effect=50"), 0);
    assert_eq!(rows("run=near&effect=10"), 0);
    // of several, a benchmark that one of them is asked for by is shown of all
    let filtered = server.json(&format!("{both}&effect=20"));
    let counts: Vec<usize> = list(&filtered).iter().map(|view| list(&view["rows"]).len()).collect();
    assert!(counts[0] > 0 && counts[0] == counts[1], "{counts:?}");
    for (query, status) in [
        ("base=base&run=near&run=near", 400),
        ("base=base&run=near&run=base", 400),
        ("base=base&run=near&run=none", 404),
        ("base=base&run=near&effect=x", 400),
        ("base=base&run=near&run=&effect=", 200),
    ] {
        assert_eq!(server.get(&format!("/compare?{query}")).status, status, "{query}");
    }
}

#[test]
fn histories_filter_by_date() {
    let home = changed();
    let server = Server::start(&home);
    let path = "/benchmarks/byte/syscall";
    let series = |query: &str| server.json(&format!("{path}.json?{query}"))["series"].clone();
    let hours = |series: &Value| -> Vec<String> {
        let points = list(series).iter().flat_map(|row| list(&row["points"]));
        points.map(|point| point["started"].as_str().unwrap().to_owned()).collect()
    };
    let all = series("");
    assert_eq!(hours(&all).len(), 24);
    // the change is that of all runs, at its place among those that are shown
    let late = series("from=1970-01-01&to=1970-01");
    assert_eq!(late, all);
    let one = series("from=1970-01-02");
    assert_eq!(hours(&one), ["1970-01-02T00:00:00Z"]);
    assert_eq!(list(&one[0]["changes"]).len(), 0);
    assert_eq!(hours(&series("to=1970-01-01")).len(), 23);
    let change = &series("to=1970-01-01")[0]["changes"][0];
    assert_eq!(change["at"], 12);
    assert_eq!(hours(&series("from=1971")).len(), 0);
    let page = server.page(&format!("{path}?from=1971"));
    assert!(page.contains("No run in this range."), "{page}");
    let page = server.page(&format!("{path}?from=1970-01&runs=20"));
    let chosen = "<option value=\"1970-01\" selected=\"selected\">";
    assert!(page.contains(chosen) && page.contains("newest 20"), "{page}");
    assert_eq!(server.get(&format!("{path}?from=x")).status, 400);
}

/// One POST to a listener, answered with a status.
fn taken(listener: &TcpListener, status: &str) -> Value {
    let (mut stream, _) = listener.accept().unwrap();
    let patience = Some(Duration::from_secs(60));
    stream.set_read_timeout(patience).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut length, mut is_json) = (0, false);
    loop {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "no request");
        let line = line.trim().to_ascii_lowercase();
        is_json |= line == "content-type: application/json";
        if let Some(text) = line.strip_prefix("content-length:") {
            length = text.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    assert!(is_json);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes()).unwrap();
    serde_json::from_slice(&body).unwrap()
}

#[test]
#[ignore = "long: make test-full"]
fn webhooks_get_new_changes_once() {
    let home = Home::new();
    let level = |hour: u32| match hour {
        0..=12 => 1.0,
        13..=24 => 1.2,
        _ => 1.5,
    };
    let run = |hour: u32| {
        let scatter = 1.0 + 0.002 * f64::from(hour * 7 % 5);
        at_hour(&calls(level(hour) * scatter), hour, &format!("night-{hour}"))
    };
    // one change exists before notifications are configured
    home.import(&(1..=24).map(run).collect::<Vec<_>>());
    let template = home.path().join("template");
    fs::write(&template, "{count} {other}\n{events}\n").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let hook = format!("http://{}/secret", listener.local_addr().unwrap());
    for (url, output) in [("ftp://x/hidden", "neither"), ("http://[x/hidden", "not a URL")] {
        let words = format!("serve --listen 127.0.0.1:0 --notify-url {url}");
        let (_, _, error) = home.run(&words);
        assert!(error.contains(output) && !error.contains("hidden"), "{error}");
        let mut serve = home.gritstone("serve --listen 127.0.0.1:0");
        let (_, _, error) = ended(serve.env("GRITSTONE_NOTIFY_URL", url));
        assert!(error.contains(output) && !error.contains("hidden"), "{error}");
    }
    let words = format!(
        "serve --listen 127.0.0.1:0 --notify-url {hook} --notify-template {} --public-url https://bench.example/",
        template.display()
    );
    let mut process = crate::common::Killed(start(&home, &words, &[]));
    let mut line = String::new();
    let mut out = BufReader::new(process.0.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    assert!(line.starts_with("http://"), "{line}");
    let entries = || {
        let store = Store::open_read_only(&home.store()).unwrap();
        store.change_entries().unwrap()
    };
    eventually("existing events count as notified", || entries().len() == 2);
    home.import(&(25..=40).map(run).collect::<Vec<_>>());
    // refused, sent again at the next change, then never again
    let first = taken(&listener, "500 Not now");
    home.import(&[run(41)]);
    let again = taken(&listener, "200 OK");
    assert_eq!(first["schema"], "gritstone/changes/3");
    let notified = list(&again["events"]);
    assert!(!notified.is_empty());
    let id = notified[0]["id"].as_str().unwrap();
    let text = again["text"].as_str().unwrap();
    assert!(text.starts_with("1 new change {other}\n"), "{text}");
    assert!(text.contains(&format!("https://bench.example/changes/{id}")), "{text}");
    assert_eq!(again["url"], "https://bench.example");
    eventually("it counts as notified", || {
        let same_event = |entry: &gritstone_store::ChangeEntry| entry.event == id;
        entries().into_iter().filter(same_event).count() == 1
    });
    home.import(&[run(42)]);
    std::thread::sleep(Duration::from_secs(12));
    listener.set_nonblocking(true).unwrap();
    listener.accept().unwrap_err();
}
