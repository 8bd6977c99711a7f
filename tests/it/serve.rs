//! The store in the browser: pages over a socket, as requested by a browser and by a program.

use crate::changes::sides;
use crate::common::server::Server;
use crate::common::{Home, at_hour, calm, end, eventually, list, part, recorded};
use crate::push::damage;
use gritstone_model::{Event, RunData};
use nix::sys::signal::Signal;
use rusqlite::config::DbConfig;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::time::Instant;

/// A recorded run of a few benchmarks, with each operation `times` times as long.
pub fn calls(times: f64) -> RunData {
    let names = ["byte/syscall", "byte/sieve"];
    let mut run = part(recorded("run"), |id| names.contains(&id));
    let longer = |ns: &mut u64| *ns = (*ns as f64 * times).round() as u64;
    for launch in &mut run.launches {
        // on a machine that has nothing else to do, at one frequency
        calm(launch, 300_000, 100_000);
        for event in &mut launch.events {
            match event {
                Event::Sample(sample) => longer(&mut sample.wall),
                Event::Batch(batch) => batch.walls.iter_mut().for_each(longer),
                _ => {}
            }
        }
    }
    run
}

/// A home with a benchmark that takes a fifth longer from the 13th of 24 runs on.
pub fn changed() -> Home {
    let home = Home::new();
    let run = |hour: u32| {
        let level = if hour <= 12 { 1.0 } else { 1.2 };
        let scatter = 1.0 + 0.002 * f64::from(hour * 7 % 5);
        let mut run = at_hour(&calls(level * scatter), hour, &format!("night-{hour}"));
        if hour > 12 {
            let facts = &mut run.info.machine.facts;
            facts.insert("cpu.microcode".to_owned(), "0x1000066".to_owned());
        }
        run
    };
    let runs: Vec<RunData> = (1..=24).map(run).collect();
    home.import(&runs);
    home
}

/// Links of a page to the same server.
fn links(page: &str) -> BTreeSet<String> {
    let links = page.split("href=\"").skip(1);
    let links = links.map(|rest| rest[..rest.find('"').unwrap()].replace("&amp;", "&"));
    links.filter(|link| link.starts_with('/')).collect()
}

/// Every page linked from the first one, a few of each kind.
fn crawl(server: &Server) -> Vec<(String, String)> {
    let mut open = vec!["/".to_owned()];
    let mut seen: BTreeSet<String> = BTreeSet::from(["/".to_owned()]);
    let mut pages = vec![];
    while let Some(path) = open.pop() {
        let page = server.page(&path);
        for link in links(&page) {
            let kind = link[1..].split(['/', '?']).next().unwrap().to_owned();
            let of_kind = |known: &&String| known[1..].split(['/', '?']).next().unwrap() == kind;
            if seen.iter().filter(of_kind).count() < 4 && seen.insert(link.clone()) {
                open.push(link);
            }
        }
        pages.push((path, page));
    }
    pages
}

#[test]
fn overview_links_every_page() {
    let home = Home::with(&["run", "copies"]);
    let run = recorded("run");
    home.import(&[at_hour(&run, 1, "before"), at_hour(&run, 2, "after")]);
    let server = Server::start(&home);
    let pages = crawl(&server);
    let count = |kind: &str| pages.iter().filter(|(path, _)| path.starts_with(kind)).count();
    for kind in ["/runs", "/runs/", "/benchmarks", "/benchmarks/", "/systems/"] {
        assert!(count(kind) > 0, "{kind}");
    }
    for (path, page) in pages {
        if path.contains(".json") || path.contains(".atom") {
            continue;
        }
        assert!(page.starts_with("<!DOCTYPE html>"), "{path}");
        let json = server.ask("GET", &path, &[("Accept", "application/json")]);
        let value: serde_json::Value = serde_json::from_slice(&json.body).unwrap();
        assert!(value["schema"].is_string(), "{path}: {value}");
        let link = links(&page).into_iter().find(|link| link.contains(".json"));
        assert_eq!(server.json(&link.unwrap()), value, "{path}");
    }
}

#[test]
fn future_runs_hide_no_changes() {
    let home = changed();
    let mut late = at_hour(&calls(1.2), 25, "late");
    late.info.started = "2999-01-01T00:00:00Z".to_owned();
    home.import(&[late]);
    let overview = Server::start(&home).json("/overview.json");
    let since = overview["recent"]["since"].as_str().unwrap();
    assert!(!since.is_empty() && since < "2999", "{since}");
}

#[test]
fn sites_tell_of_missing_pages() {
    let home = Home::new();
    let runs = [1, 2].map(|hour| at_hour(&calls(1.0), hour, &format!("night-{hour}")));
    home.import(&runs);
    home.ok("site public");
    let store = rusqlite::Connection::open(home.store()).unwrap();
    store.execute_batch("DELETE FROM cached_run").unwrap();
    drop(store);
    damage(&home, &runs[0].info.id);
    for _ in 0..2 {
        home.refuses("site elsewhere", "could not be made");
    }
    assert!(home.path().join("elsewhere/index.html").exists());
}

#[test]
fn damaged_sides_spoil_no_site() {
    let home = Home::new();
    let trial = sides("trial", 1, 1.2);
    home.import(&trial);
    let store = rusqlite::Connection::open(home.store()).unwrap();
    store.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).unwrap();
    let change = "UPDATE run SET gritstone = 'x' WHERE id = ?1";
    store.execute(change, [&trial[0].info.id]).unwrap();
    drop(store);
    home.refuses("site public", "could not be made");
    assert!(home.path().join("public/index.html").exists());
}

#[test]
fn page_json_equals_command_json() {
    let home = Home::with(&["run", "copies"]);
    home.import(&[at_hour(&recorded("run"), 1, "before")]);
    let server = Server::start(&home);
    let runs = home.json("runs");
    assert_eq!(server.json("/overview.json")["runs"], runs["runs"]);
    let ids: Vec<&str> =
        list(&runs["runs"]).iter().map(|run| run["id"].as_str().unwrap()).collect();
    let [a, b] = [ids[0], ids[1]];
    assert_eq!(server.json(&format!("/runs/{a}.json")), home.json(&["show", a]));
    let pair = format!("/compare.json?base={a}&run={b}");
    assert_eq!(server.json(&pair), home.json(&["compare", a, b]));
    let id = "byte/pipe";
    assert_eq!(server.json(&format!("/benchmarks/{id}.json")), home.json(&["history", id]));
    // filters leave rows out, and nothing else
    let family = server.json(&format!("{pair}&family=byte"));
    let rows = list(&family["rows"]);
    let is_byte = |row: &serde_json::Value| row["id"].as_str().unwrap().starts_with("byte/");
    assert!(!rows.is_empty() && rows.iter().all(is_byte), "{family}");
    let same = server.json(&format!("{pair}&verdict=slower"));
    assert!(list(&same["rows"]).iter().all(|row| row["verdict"] == "slower"));
    // what can be asked for by a name can be by a label
    assert_eq!(server.json("/runs/before.json")["label"], "before");
    for (path, status) in [
        ("/runs/none", 404),
        ("/systems/none", 404),
        ("/benchmarks/none/such", 404),
        ("/benchmarks/none", 404),
        ("/none", 404),
        (&format!("/compare?base={a}&run={a}"), 400),
        (&format!("/compare?base={a}&run={b}&verdict=none"), 400),
        (&format!("/compare?base={a}"), 400),
        ("/compare?base=ref:none&run=before", 404),
        ("/compare?base=ref:vax-11-780-4.1bsd&run=before", 200),
    ] {
        assert_eq!(server.get(path).status, status, "{path}");
    }
}

#[test]
fn named_benchmarks_are_found_first() {
    let home = Home::new();
    home.import(&[at_hour(&calls(1.0), 1, "night")]);
    let server = Server::start(&home);
    let found = server.json("/search.json?q=syscall");
    let first = found["benchmarks"][0]["id"].as_str().unwrap();
    assert!(first.ends_with("/syscall"), "{found}");
    let page = server.page("/search?q=byte/syscall");
    let place = |text: &str| page.find(text).unwrap();
    assert!(place("Benchmarks (") < place("Runs ("), "{page}");
    // no benchmark has this name, and runs come first
    assert!(!server.page("/search?q=night").contains("Benchmarks ("));
    let misspelled = server.get("/runs/nihgt");
    assert_eq!(misspelled.status, 404);
    let text = misspelled.text();
    assert!(text.contains("did you mean") && !text.contains("?."), "{text}");
}

#[test]
fn runs_and_benchmarks_are_listed() {
    let home = changed();
    let server = Server::start(&home);
    let runs = |query: &str| list(&server.json(&format!("/runs.json{query}"))["runs"]).len();
    assert_eq!((runs(""), runs("?newest=5")), (24, 5));
    assert_eq!(server.get("/runs?newest=0").status, 400);
    assert!(links(&server.page("/runs")).iter().any(|link| link.starts_with("/systems/")));
    assert!(links(&server.page("/benchmarks")).contains("/benchmarks/byte/syscall"));
    let listed = server.json("/benchmarks.json");
    let listed = list(&listed["benchmarks"]);
    let measured = listed.iter().filter(|benchmark| benchmark["measured"] == true);
    let measured: Vec<&str> = measured.map(|one| one["id"].as_str().unwrap()).collect();
    assert!(listed.len() > 500 && measured == ["byte/syscall", "byte/sieve"], "{measured:?}");
}

#[test]
fn scores_are_of_suites() {
    let home = Home::new();
    let mut suite = at_hour(&recorded("run"), 1, "suite");
    suite.info.settings.suite = Some("standard".to_owned());
    let mut few = at_hour(&calls(1.0), 2, "few");
    few.info.settings.suite = None;
    home.import(&[suite.clone(), few]);
    let view = Server::start(&home).json("/scores.json");
    let ids: Vec<&str> =
        list(&view["machines"]).iter().map(|machine| machine["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [suite.info.id]);
}

#[test]
fn wrong_parameters_are_named() {
    let server = Server::start(&Home::new());
    for (path, why) in [
        ("/compare?run=a", "base is missing."),
        ("/compare?base=a", "run must be given 1 to 8 times"),
        ("/compare?base=a&run=b&verdict=x", "verdict must be one of"),
        ("/benchmarks/byte/pipe?runs=1001", "runs must be a whole number from 1 to 1000"),
        ("/benchmarks/byte/pipe?from=x", "from must be a year"),
    ] {
        let page = server.get(path);
        assert_eq!(page.status, 400, "{path}");
        let text = page.text();
        // with the way to other pages
        assert!(text.contains(why) && text.contains("<nav"), "{path}: {text}");
        let json = server.ask("GET", path, &[("Accept", "application/json")]).text();
        assert!(json.contains("\"error\"") && json.contains(why), "{json}");
    }
    let none = server.get("/none");
    assert_eq!(none.status, 404);
    assert!(none.text().contains("<nav"), "{}", none.text());
}

#[test]
fn empty_stores_have_an_overview() {
    let home = Home::new();
    let server = Server::start(&home);
    assert!(server.page("/").contains("No run is stored yet"));
    assert_eq!(server.page("/health"), "ok\n");
    assert_eq!(server.get("/runs/last").status, 404);
    home.import(&[at_hour(&calls(1.0), 1, "now")]);
    assert!(server.page("/").contains("now"));
    let needed = "no benchmark has two runs of one system";
    assert!(server.page("/changes").contains(needed));
    let found = |words: &str| server.json(&format!("/search.json?q={words}"))["found"].clone();
    assert_eq!(found("now"), 1);
    let kernel = recorded("run").info.machine.facts["kernel.release"].clone();
    for words in ["1970-01-01", &kernel, "byte/syscall", "now+byte", "NOW"] {
        assert_eq!(found(words), 1, "{words}");
    }
    for words in ["never", "now+never", "%25", "_____________________________"] {
        assert_eq!(found(words), 0, "{words}");
    }
    home.import(&[at_hour(&calls(1.0), 2, "ÄRGER")]);
    for words in ["%C3%84RGER", "%C3%A4rger"] {
        assert_eq!(found(words), 1, "{words}");
    }
}

#[test]
fn changes_are_shown_everywhere() {
    let home = changed();
    let server = Server::start(&home);
    let feed = server.page("/changes.atom");
    assert!(feed.contains("byte/syscall") && feed.contains("slower"), "{feed}");
    let changes = server.json("/changes.json");
    // both benchmarks since one run: one event
    let [event] = list(&changes["events"]).as_slice() else {
        panic!("{changes}");
    };
    assert_eq!(event["started"], "1970-01-01T13:00:00Z", "{changes}");
    assert_eq!(event["worse"], true, "{changes}");
    assert_eq!(feed.matches("<entry>").count(), 1, "{feed}");
    let of_event = list(&event["changes"]);
    assert_eq!(of_event.len(), 2, "{changes}");
    for change in of_event {
        let ratio = change["ratio"].as_f64().unwrap();
        assert!((0.8..0.87).contains(&ratio), "{changes}");
    }
    // with the fact that changed, and no other
    let facts = list(&event["differ_in"]).iter().map(|fact| &fact["what"]);
    assert_eq!(facts.collect::<Vec<_>>(), ["cpu.microcode"], "{changes}");
    // it leads to the runs on either side of it
    let [before, after] = ["before", "run"].map(|side| event[side].as_str().unwrap());
    let pair = format!("/compare?base={before}&run={after}");
    eventually("the first page has it", || links(&server.page("/")).contains(&pair));
    assert_eq!(server.get(&pair).status, 200);
    let page = server.page("/benchmarks/byte/syscall");
    assert!(page.contains("<svg") && page.contains("stroke-dasharray=\"4 3\""), "no mark");
    let metrics = server.get("/metrics");
    let media = metrics.header("content-type").unwrap().to_owned();
    assert!(media.starts_with("application/openmetrics-text"), "{media}");
    let text = metrics.text();
    assert!(text.contains("gritstone_stored_runs 24\n") && text.ends_with("# EOF\n"), "{text}");
}

#[test]
fn pages_are_cached_and_compressed() {
    let home = Home::with(&["copies"]);
    let server = Server::start(&home);
    let path = format!("/runs/{}", recorded("copies").info.id);
    let plain = server.get(&path);
    let gzip = ("Accept-Encoding", "br, gzip");
    let packed = server.ask("GET", &path, &[gzip]);
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert!(packed.body.len() * 2 < plain.body.len());
    assert_eq!(packed.text(), plain.text());
    let tags = [&plain, &packed].map(|response| response.header("etag").unwrap());
    assert_ne!(tags[0], tags[1]);
    let again = server.ask("GET", &path, &[("If-None-Match", tags[0])]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(again.header("etag"), Some(tags[0]));
    let again = server.ask("GET", &path, &[gzip, ("If-None-Match", tags[1])]);
    assert_eq!(again.status, 304);
    let other = server.ask("GET", &path, &[("If-None-Match", "\"other\"")]);
    assert_eq!(other.status, 200);
    let head = server.ask("HEAD", &path, &[]);
    let length = plain.body.len().to_string();
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), Some(length.as_str()));
    let refused = server.ask("POST", "/", &[("Content-Length", "0")]);
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET,HEAD")));
}

#[test]
fn it_ends_in_order() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let home = Home::new();
        let mut server = Server::start(&home);
        // one that asks for nothing, and one that is kept open after an answer
        let mut idle = server.connect();
        let mut open = server.connect();
        let ask = format!("GET /health HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
        open.write_all(ask.as_bytes()).unwrap();
        assert!(open.read(&mut [0; 16]).unwrap() > 0);
        let start = Instant::now();
        end(&server.process.0, signal);
        let ended = server.process.0.wait().unwrap();
        assert_eq!(ended.code(), Some(0), "{signal}");
        // not after the time that connections have
        assert!(start.elapsed().as_secs() < 30, "{signal}");
        for stream in [&mut idle, &mut open] {
            stream.read_to_end(&mut vec![]).unwrap();
        }
    }
}

#[test]
fn remote_access_needs_an_option() {
    let home = Home::new();
    home.refuses("serve --listen 0.0.0.0:0", "--open-reads");
    home.refuses("serve --listen [::]:0 --behind-proxy", "--open-reads");
    home.refuses("serve --listen 0.0.0.0:0 --open-reads", "--behind-proxy");
    home.refuses("serve --behind-proxy --listen 127.0.0.1:0", "--open-reads");
    home.refuses("serve --listen localhost", "invalid");
    let server = Server::with(&home, &["--behind-proxy", "--open-reads"]);
    let named =
        server.raw(b"GET /health HTTP/1.1\r\nHost: bench.example\r\nConnection: close\r\n\r\n");
    assert_eq!(named.status, 200);
    let taken = format!("serve --listen {}", server.address);
    home.refuses(&taken, "cannot listen");
}
