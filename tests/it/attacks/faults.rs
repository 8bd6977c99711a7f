//! Stores and servers whose environment is missing, full, damaged or used twice.

use crate::common::server::Server;
use crate::common::{Home, at_hour, fixture, list, needs_root, recorded, short_run as run};
use crate::disks::Private;
use crate::push::{post, token, token_file};
use gritstone_exchange::write_bundle;
use nix::mount::MsFlags;
use rusqlite::Connection;
use std::fs;

fn stored(home: &Home) -> usize {
    list(&home.json("runs")["runs"]).len()
}

/// A small file system in memory for the store of a home.
fn small(home: &Home, size: &str) -> Private {
    let folder = home.path().join("data/gritstone");
    fs::create_dir_all(&folder).unwrap();
    let options = format!("size={size},mode=0700");
    Private::mount(None, &folder, "tmpfs", MsFlags::empty(), &options)
}

#[test]
fn imports_can_be_repeated() {
    let home = Home::new();
    let mut words = vec!["import".to_owned()];
    for hour in [1, 2, 3, 1] {
        let path = home.path().join(format!("{hour}.jsonl"));
        fs::write(&path, write_bundle(&run(hour))).unwrap();
        words.push(path.display().to_string());
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for _ in 0..2 {
        home.ok(&words);
        assert_eq!(stored(&home), 3);
    }
    // of several files, a damaged one keeps all out
    let damaged = home.path().join("damaged.jsonl");
    fs::write(&damaged, "{}\n").unwrap();
    let other = Home::new();
    other.refuses(&["import", words[1], damaged.to_str().unwrap()], "damaged.jsonl");
    assert!(!other.store().exists() || stored(&other) == 0);
}

#[test]
fn removed_runs_stay_removed() {
    let (home, machine) = (Home::new(), Home::new());
    let [write, admin] = ["write", "admin"].map(|scope| token(&home, scope, scope));
    machine.import(&[run(1), run(2), run(3)]);
    let server = Server::start(&home);
    let send = |hour| {
        let body = write_bundle(&run(hour));
        post(&server, "/api/v1/runs", Some(&write), body.as_bytes())
    };
    assert_eq!(send(1).status, 201);
    assert_eq!(send(2).status, 201);
    let path = format!("/api/v1/runs/{}", run(1).info.id);
    let bearer = format!("Bearer {admin}");
    let removed = server.ask("DELETE", &path, &[("Authorization", &bearer)]);
    assert_eq!(removed.status, 200);
    home.ok(&["runs", "remove", &run(2).info.id]);
    for hour in [1, 2] {
        let response = send(hour);
        assert_eq!(response.status, 410, "{}", response.text());
        assert!(response.text().contains("was removed"));
    }
    // others of the same machine go on
    let file = token_file(&machine, &write);
    let url = format!("http://{}", server.address);
    let push = ["push", "--to", &url, "--token-file", &file];
    let (code, out, error) = machine.run(&push);
    assert_eq!((code, out.trim()), (0, &*run(3).info.id), "{error}");
    assert!(error.contains("was removed"), "{error}");
    assert_eq!(stored(&home), 1);
    // who has the store may take one again
    home.import(&[run(1)]);
    assert_eq!(send(1).status, 200);
}

#[test]
fn missing_stores_are_reported() {
    let home = Home::with(&["copies"]);
    let server = Server::start(&home);
    let (store, away) = (home.store(), home.path().join("away"));
    fs::rename(&store, &away).unwrap();
    for path in ["/health", "/", "/metrics", "/api/v1/runs"] {
        assert_eq!(server.get(path).status, 503, "{path}");
    }
    fs::rename(&away, &store).unwrap();
    assert_eq!(server.page("/health"), "ok\n");
    // before there is any, there is none to miss
    let new = Server::start(&Home::new());
    assert_eq!(new.get("/health").status, 200);
}

#[test]
fn damaged_tokens_are_void() {
    let home = Home::with(&["copies"]);
    let good = token(&home, "good", "read");
    let store = Connection::open(home.store()).unwrap();
    store
        .execute_batch("INSERT INTO token VALUES (2, 'evil', 'x', 'all', '2026-01-01T00:00:00Z')")
        .unwrap();
    drop(store);
    let (code, out, error) = home.run("token list");
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("good") && error.contains("evil"), "{out}{error}");
    let server = Server::with(&home, &["--behind-proxy"]);
    let bearer = format!("Bearer {good}");
    let page = server.ask("GET", "/api/v1/runs", &[("Authorization", &bearer)]);
    assert_eq!(page.status, 200);
    home.ok("token revoke evil");
}

#[test]
fn full_stores_answer_507_as_root() {
    needs_root();
    let home = Home::new();
    let _small = small(&home, "4m");
    let write = token(&home, "machine", "write");
    let server = Server::start(&home);
    let mut recorded = recorded("run");
    recorded.launches.truncate(200);
    let sent = (1..100).map(|hour| {
        let body = write_bundle(&at_hour(&recorded, hour, "many"));
        post(&server, "/api/v1/runs", Some(&write), body.as_bytes())
    });
    let last = sent.into_iter().find(|response| response.status != 201);
    let last = last.expect("it is full some time");
    assert_eq!(last.status, 507, "{}", last.text());
    assert!(last.text().contains("No space is left"));
    assert_eq!(server.get("/health").status, 200);
}

#[test]
fn full_disks_are_readable_as_root() {
    needs_root();
    let home = Home::new();
    let _small = small(&home, "8m");
    home.ok(&["import", fixture("copies").to_str().unwrap()]);
    let full = home.path().join("data/gritstone/full");
    fs::write(full, vec![0_u8; 16 << 20]).unwrap_err();
    home.ok("runs");
    home.ok(&["show", &recorded("copies").info.id]);
    let server = Server::start(&home);
    for path in ["/health", "/", "/api/v1/runs"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
}
