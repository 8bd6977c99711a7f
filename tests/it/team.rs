//! A shared store on PostgreSQL: only its server stores runs in it, and acknowledged runs are stored exactly once, however often the server
//! is killed.

use crate::common::postgres::Server as Database;
use crate::common::server::Server;
use crate::common::{Home, eventually, fixture, list, mode, short_run as run};
use gritstone_exchange::write_bundle;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

fn bundle(home: &Home, store: &str, id: &str) -> String {
    home.ok(&["--store", store, "export", id, "--with-identity"])
}

/// Checks that a store has this number of runs, undamaged.
fn whole(home: &Home, store: &str, runs: usize) {
    let printed = home.ok(&["--store", store, "runs", "verify"]);
    assert_eq!(printed, format!("{runs} runs, all checksums match\n"));
}

/// A server of the pages of a database, and options of `push`, `pull` and `sync` that reach it.
pub fn served(home: &Home, store: &str) -> (Server, String, [String; 2]) {
    let words =
        ["--store", store, "token", "create", "team", "--scope", "read", "--scope", "write"];
    let token = home.path().join("token");
    fs::write(&token, home.ok(&words)).unwrap();
    mode(&token, 0o600);
    let server =
        Server::with_arguments(home, &["--store", store, "serve", "--listen", "127.0.0.1:0"]);
    let url = format!("http://{}", server.address);
    let token = ["--token-file".to_owned(), token.display().to_string()];
    (server, url, token)
}

#[test]
fn readers_accept_a_database() {
    let database = Database::start();
    let url = database.url(&database.database(), "owner");
    let (one, other) = (Home::new(), Home::new());
    let words = |words: &str| -> Vec<String> {
        let words = words.split_whitespace().map(str::to_owned);
        ["--store".to_owned(), url.clone()].into_iter().chain(words).collect()
    };
    let ok = |home: &Home, line: &str| {
        let words = words(line);
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
    let file = fixture("copies").display().to_string();
    let alone = "is written by its server alone";
    for line in ["run byte/loop --quick", "bench true", &format!("import {file}")] {
        let words = words(line);
        one.refuses(&words.iter().map(String::as_str).collect::<Vec<_>>(), alone);
    }
    let (server, address, token) = served(&one, &url);
    let sent = |home: &Home, command: &[&str]| {
        let options = [&address, &token[0], &token[1]].map(String::as_str);
        home.ok(&[command, &options[..]].concat()).lines().count()
    };
    // both ways, nothing twice
    one.import(&[run(1), run(2)]);
    assert_eq!(sent(&one, &["push", "--to"]), 2);
    assert_eq!(sent(&one, &["push", "--to"]), 0);
    assert_eq!(sent(&other, &["pull", "--from"]), 2);
    other.import(&[run(3)]);
    assert_eq!(sent(&other, &["sync"]), 1);
    assert_eq!(sent(&one, &["sync"]), 1);
    for home in [&one, &other] {
        assert_eq!(sent(home, &["sync"]), 0);
        assert_eq!(list(&home.json("runs --all")["runs"]).len(), 3);
    }
    let local = one.store().display().to_string();
    for hour in 1..4 {
        let id = run(hour).info.id;
        assert_eq!(bundle(&one, &local, &id), bundle(&other, &url, &id));
    }
    let benchmark = run(1).benchmarks[0].id.to_string();
    for line in ["show hour-1", "compare hour-1 hour-2", &format!("history {benchmark}"), "runs"] {
        assert!(!ok(&one, line).is_empty(), "{line}");
    }
    ok(&one, "report hour-1 --output brief.html");
    ok(&one, "runs label hour-1 baseline");
    assert!(ok(&other, "show baseline").contains(&benchmark));
    assert!(server.page("/").contains("baseline"));
    assert!(server.page("/runs/hour-2").contains(&benchmark));
    ok(&one, "runs remove hour-2");
    whole(&one, &url, 2);
    // what is on the command line is in /proc
    let secret = url.replace("user=owner", "user=owner&password=hidden");
    let (code, out, error) = one.run(&["--store", &secret, "runs", "-v"]);
    assert!(code == 0 && error.contains("/proc"), "{error}");
    assert!(!format!("{out}{error}").contains("hidden"));
    let config = one.path().join(".config/gritstone");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), format!("store = '{secret}'\n")).unwrap();
    assert!(one.ok("runs").contains("baseline"));
    for line in ["runs --help", "config --show"] {
        let printed = one.ok(line);
        assert!(printed.contains("store") && !printed.contains("hidden"), "{printed}");
    }
}

#[test]
fn missing_databases_set_retry_after() {
    let mut database = Database::start();
    let url = database.url(&database.database(), "owner");
    let home = Home::new();
    home.import(&[run(1)]);
    let (server, address, [option, file]) = served(&home, &url);
    home.ok(&["push", "--to", &address, &option, &file]);
    let token = fs::read_to_string(&file).unwrap();
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
        assert!(text.contains("unreachable") && !text.contains(&place), "{text}");
    }
    let sent = write_bundle(&run(2));
    assert_eq!(post(&server.address, token.trim(), &sent), Some(503));
    database.resume();
    for path in paths {
        server.page(path);
    }
    assert_eq!(post(&server.address, token.trim(), &sent), Some(201));
}

/// The status of an upload, if the server lived long enough to send it.
fn post(address: &str, token: &str, body: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
    let head = format!(
        "POST /api/v1/runs HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\nAuthorization: Bearer {token}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.split(' ').nth(1)?.parse().ok()
}

/// Twenty machines upload runs while the web server is killed twenty times.
fn nothing_acknowledged_is_lost(store: &str) {
    const KILLS: usize = 20;
    const MACHINES: u32 = 20;
    let home = Home::new();
    let token = home.ok(&["--store", store, "token", "create", "team", "--scope", "write"]);
    let token = token.trim();
    let serve = format!("--store {store} serve --listen 127.0.0.1:0");
    let (address, done) = (Mutex::new(String::new()), AtomicBool::new(false));
    let acknowledged: Mutex<BTreeMap<String, String>> = Mutex::default();
    let lost = AtomicU32::new(0);
    let machine = |number: u32| {
        let mut hour = 1 + number;
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
        for number in 0..MACHINES {
            scope.spawn(move || machine(number));
        }
        for kill in 0..KILLS {
            let server = Server::with_arguments(&home, &serve);
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
    assert!(lost.load(Ordering::Relaxed) > 0, "no upload was interrupted");
    let acknowledged = acknowledged.into_inner().unwrap();
    let runs = home.json(&["runs", "--all", "--store", store]);
    let stored: Vec<&str> =
        list(&runs["runs"]).iter().map(|run| run["id"].as_str().unwrap()).collect();
    for id in acknowledged.keys() {
        assert_eq!(stored.iter().filter(|known| *known == id).count(), 1, "{id}");
    }
    // one more of each machine may have been stored before it could be said
    assert!(stored.len() <= acknowledged.len() + MACHINES as usize);
    for (id, sent) in acknowledged.iter().step_by(10) {
        assert_eq!(bundle(&home, store, id).trim(), sent.trim(), "{id}");
    }
    whole(&home, store, stored.len());
}

#[test]
#[ignore = "long: make test-full"]
fn files_lose_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    nothing_acknowledged_is_lost(&folder.path().join("team.db").display().to_string());
}

#[test]
#[ignore = "long: make test-full"]
fn servers_lose_nothing_acknowledged() {
    let database = Database::start();
    nothing_acknowledged_is_lost(&database.url(&database.database(), "owner"));
}
