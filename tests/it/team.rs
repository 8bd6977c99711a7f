//! One store for a team on PostgreSQL: every command works on it, a run outlives its server, and what was acknowledged is there once, however
//! often who stores it is killed.

use crate::common::postgres::Server as Database;
use crate::common::server::Server;
use crate::common::{Home, alone, at_hour, end, eventually, list, recorded, start};
use gritstone_exchange::{read_bundle, write_bundle};
use gritstone_model::RunData;
use nix::sys::signal::Signal;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

fn run(hour: u32) -> RunData {
    let mut run = recorded("copies");
    run.launches.truncate(4);
    at_hour(&run, hour, &format!("hour-{hour}"))
}

fn bundle(home: &Home, store: &str, id: &str) -> String {
    home.ok(&["--store", store, "export", id, "--with-identity"])
}

/// That a store has this number of runs, undamaged.
fn whole(home: &Home, store: &str, runs: usize) {
    let said = home.ok(&["--store", store, "runs", "verify"]);
    assert_eq!(said, format!("{runs} runs, all checksums match\n"));
}

#[test]
#[ignore = "measures: make test-full"]
fn every_command_works_on_a_server() {
    let database = Database::start();
    let url = database.url(&database.database(), "owner");
    let (one, other) = (Home::new(), Home::new());
    let on = |words: &str| -> Vec<String> {
        let words = words.split_whitespace().map(str::to_owned);
        ["--store".to_owned(), url.clone()]
            .into_iter()
            .chain(words)
            .collect()
    };
    let ok = |home: &Home, words: &str| {
        let words = on(words);
        home.ok(&words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    // nothing is there yet, and to look makes nothing
    assert_eq!(list(&one.json(&["runs", "--store", &url])["runs"]).len(), 0);
    assert_eq!(
        database.sql(
            url.split(['/', '?']).nth(3).unwrap(),
            "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        ),
        "0"
    );
    let _turn = alone();
    ok(&one, "run byte/loop --quick --budget 3s --label first");
    ok(&one, "run byte/loop --quick --budget 3s --label second");
    for words in [
        "show last",
        "compare first second",
        "history byte/loop",
        "runs",
        "report --output brief.html",
    ] {
        let said = ok(&one, words);
        assert!(words.starts_with("report") || !said.is_empty(), "{words}");
    }
    assert!(ok(&one, "show second").contains("byte/loop"));
    ok(&one, "runs label first baseline");
    assert!(
        ok(&other, "show baseline").contains("byte/loop"),
        "from another system"
    );
    // both ways, nothing twice
    one.import(&[run(1), run(2)]);
    assert_eq!(one.ok(&["push", "--to", &url]).lines().count(), 2);
    assert_eq!(one.ok(&["push", "--to", &url]), "");
    assert_eq!(other.ok(&["pull", "--from", &url]).lines().count(), 4);
    other.import(&[run(3)]);
    assert_eq!(other.ok(&["sync", &url]).lines().count(), 1);
    assert_eq!(one.ok(&["sync", &url]).lines().count(), 3);
    for home in [&one, &other] {
        assert_eq!(home.ok(&["sync", &url]), "");
        let runs = home.json("runs --all");
        assert_eq!(list(&runs["runs"]).len(), 5);
    }
    let local = one.store().display().to_string();
    for hour in 1..4 {
        let id = run(hour).info.id;
        assert_eq!(bundle(&one, &local, &id), bundle(&other, &url, &id));
    }
    // the pages, by the variable
    let words = on("token create team --scope write");
    let token = one.ok(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let server = Server::of(&one, &format!("--store {url} serve --listen 127.0.0.1:0"));
    assert!(server.page("/").contains("baseline"));
    assert!(server.page("/runs/second").contains("byte/loop"));
    let sent = post(&server.address, token.trim(), &write_bundle(&run(4)));
    assert_eq!(sent, Some(201));
    ok(&one, "runs remove second");
    whole(&one, &url, 5);
    // what is on the command line is in /proc
    let secret = url.replace("user=owner", "user=owner&password=hidden");
    let (code, out, error) = one.run(&["--store", &secret, "runs", "-v"]);
    assert!(code == 0 && error.contains("/proc"), "{error}");
    assert!(!format!("{out}{error}").contains("hidden"));
    let config = one.path().join(".config/gritstone");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), format!("store = '{secret}'\n")).unwrap();
    assert!(one.ok("runs").contains("baseline"));
    for words in ["runs --help", "config --show"] {
        let said = one.ok(words);
        assert!(said.contains("store") && !said.contains("hidden"), "{said}");
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn a_run_goes_on_without_its_server() {
    let _turn = alone();
    let mut database = Database::start();
    let name = database.database();
    let url = database.url(&name, "owner");
    let home = Home::new();
    let store = ["--store", &url];
    let words = "run byte/loop byte/pipe byte/syscall --budget 15s --precision 0.01% --quick";
    let words: Vec<&str> = store.into_iter().chain(words.split(' ')).collect();
    let mut process = start(&home, &words, &[]);
    let launches = "SELECT count(*) FROM launch";
    eventually("launches are at the server", || {
        let found = database.psql(&name, launches);
        String::from_utf8_lossy(&found.stdout)
            .trim()
            .parse()
            .is_ok_and(|count: u32| count >= 3)
    });
    database.kill();
    let status = process.wait().unwrap();
    let (mut out, mut error) = (String::new(), String::new());
    process
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    process
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut error)
        .unwrap();
    assert!(status.success(), "{error}");
    assert!(
        out.contains("byte/syscall") && error.contains("does not answer"),
        "{out}{error}"
    );
    let refused = home.fails(2, &["--store", &url, "sync"], "cannot be reached");
    assert!(refused.contains("1 runs are kept in"), "{refused}");
    // kept here, whole
    let unsent = home.path().join("data/gritstone/unsent");
    let file = fs::read_dir(&unsent)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let file = file.display().to_string();
    let kept = home.ok(&["--store", &file, "export", "last", "--with-identity"]);
    let measured = read_bundle(&kept).unwrap().launches.len();
    database.resume();
    // the kill fell into the run: the server has its beginning, some of its launches, no end
    let had: usize = database.sql(&name, launches).parse().unwrap();
    assert!((3..measured).contains(&had), "{had} of {measured}");
    assert_eq!(database.sql(&name, "SELECT count(*) FROM run_end"), "0");
    home.ok(&["--store", &url, "sync"]);
    assert_eq!(database.sql(&name, launches), measured.to_string());
    assert_eq!(
        home.ok(&["--store", &url, "export", "last", "--with-identity"]),
        kept
    );
    assert_eq!(
        list(&home.json(&["runs", "--store", &file])["runs"]).len(),
        0
    );
    // a run that was interrupted is gone on with
    let words = "run byte/loop byte/pipe --budget 10s --precision 0.01% --quick";
    let words: Vec<&str> = store.into_iter().chain(words.split(' ')).collect();
    let mut process = start(&home, &words, &[]);
    let unended = "SELECT count(*) FROM launch WHERE run NOT IN (SELECT run FROM run_end)";
    eventually("launches are at the server", || {
        database.sql(&name, unended) != "0"
    });
    end(&process, Signal::SIGINT);
    process.wait().unwrap();
    home.ok(&["--store", &url, "run", "--resume"]);
    assert_eq!(database.sql(&name, unended), "0");
    whole(&home, &url, 2);
}

#[test]
#[ignore = "measures: make test-full"]
fn pages_say_when_to_ask_again_while_their_database_is_away() {
    let mut database = Database::start();
    let url = database.url(&database.database(), "owner");
    let home = Home::new();
    home.import(&[run(1)]);
    home.ok(&["push", "--to", &url]);
    let words = ["token", "create", "team", "--scope", "write"];
    let token = home.ok(&[&["--store", &url], &words[..]].concat());
    let server = Server::of(&home, &format!("--store {url} serve --listen 127.0.0.1:0"));
    let paths = ["/health", "/", "/overview.json", "/runs/hour-1", "/metrics"];
    for path in paths {
        server.page(path);
    }
    database.kill();
    for path in paths {
        let response = server.get(path);
        let text = response.text();
        assert_eq!(response.status, 503, "{path}: {text}");
        assert_eq!(response.header("retry-after"), Some("5"), "{path}");
        let place = database.folder().display().to_string();
        assert!(text.contains("away") && !text.contains(&place), "{text}");
    }
    let sent = write_bundle(&run(2));
    assert_eq!(post(&server.address, token.trim(), &sent), Some(503));
    database.resume();
    for path in paths {
        server.page(path);
    }
    assert_eq!(post(&server.address, token.trim(), &sent), Some(201));
}

/// The status of a run that was sent, if the server lived long enough to say it.
fn post(address: &str, token: &str, body: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .ok()?;
    let head = format!(
        "POST /api/v1/runs HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\nAuthorization: Bearer {token}\r\n\r\n",
        body.len()
    );
    stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body.as_bytes()))
        .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.split(' ').nth(1)?.parse().ok()
}

/// Twenty machines send runs while the server of pages is killed twenty times.
fn nothing_acknowledged_is_lost(store: &str) {
    const KILLS: usize = 20;
    const MACHINES: u32 = 20;
    let home = Home::new();
    let token = home.ok(&[
        "--store", store, "token", "create", "team", "--scope", "write",
    ]);
    let token = token.trim();
    let serve = format!("--store {store} serve --listen 127.0.0.1:0");
    let (address, done) = (Mutex::new(String::new()), AtomicBool::new(false));
    let acknowledged: Mutex<BTreeMap<String, String>> = Mutex::default();
    let lost = AtomicU32::new(0);
    let machine = |at: u32| {
        let mut hour = 1 + at;
        let mut sent = write_bundle(&run(hour));
        while !done.load(Ordering::Relaxed) {
            let address = address.lock().unwrap().clone();
            match post(&address, token, &sent) {
                // the answer to one that was stored before may have been lost
                Some(200 | 201) => {
                    acknowledged.lock().unwrap().insert(run(hour).info.id, sent);
                    hour += MACHINES;
                    sent = write_bundle(&run(hour));
                }
                Some(503) => {}
                Some(other) => panic!("{other}"),
                None => {
                    lost.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for at in 0..MACHINES {
            scope.spawn(move || machine(at));
        }
        for kill in 0..KILLS {
            let server = Server::of(&home, &serve);
            address.lock().unwrap().clone_from(&server.address);
            // whatever time a machine takes, each server gets some
            let before = acknowledged.lock().unwrap().len();
            eventually("a run is acknowledged", || {
                acknowledged.lock().unwrap().len() > before + kill % 7
            });
            std::thread::sleep(Duration::from_millis(7 * kill as u64));
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(lost.load(Ordering::Relaxed) > 0, "nobody was interrupted");
    let acknowledged = acknowledged.into_inner().unwrap();
    let runs = home.json(&["runs", "--all", "--store", store]);
    let stored: Vec<&str> = list(&runs["runs"])
        .iter()
        .map(|run| run["id"].as_str().unwrap())
        .collect();
    for id in acknowledged.keys() {
        assert_eq!(
            stored.iter().filter(|known| *known == id).count(),
            1,
            "{id}"
        );
    }
    // one more of each machine may have been stored before it could be said
    assert!(stored.len() <= acknowledged.len() + MACHINES as usize);
    for (id, sent) in acknowledged.iter().step_by(10) {
        assert_eq!(bundle(&home, store, id).trim(), sent.trim(), "{id}");
    }
    whole(&home, store, stored.len());
}

#[test]
#[ignore = "measures: make test-full"]
fn nothing_acknowledged_is_lost_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    nothing_acknowledged_is_lost(&folder.path().join("team.db").display().to_string());
}

#[test]
#[ignore = "measures: make test-full"]
fn nothing_acknowledged_is_lost_on_a_server() {
    let database = Database::start();
    nothing_acknowledged_is_lost(&database.url(&database.database(), "owner"));
}
