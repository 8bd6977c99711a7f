//! Damaged requests, answered from a small store: none is a fault, and what comes back is what it says it is.

use super::digest::Digests;
use super::mutation;
use super::pages::Pages;
use crate::world::World;
use gritstone_serve::{Answers, Asked, Key, Media, Question, Status, parse, parse_change};
use gritstone_store::{Scope, Store};
use rand::RngExt;
use std::sync::Arc;

const SECRETS: [&str; 2] = ["reads", "writes"];
const NOW: &str = "2026-11-25T12:00:00Z";
const REQUESTS: [&[u8]; 20] = [
    b"GET /",
    b"GET /overview.json",
    b"GET /runs/one",
    b"GET /runs/two.json",
    b"GET /runs/19700101-010000-00000001/events",
    b"GET /compare?base=one&run=two&family=byte&verdict=same&effect=5",
    b"GET /compare.json?base=one&run=two&run=three&run=&family=&verdict=slower",
    b"GET /compare?base=ref:vax-11-780-4.1bsd&run=last~1",
    b"GET /benchmarks/byte/pipe?runs=100",
    b"GET /benchmarks/byte/sieve.json",
    b"GET /systems/00000000000000000000000000000000",
    b"GET /search?q=linux%20pipe+6.18",
    b"GET /search.json?q=%25_!",
    b"GET /changes",
    b"GET /changes.atom",
    b"GET /changes/19700101-010000-00000001-worse",
    b"GET /fleet.json",
    b"GET /metrics",
    b"POST /api/v1/changes/19700101-010000-00000001-worse {\"note\": \"known\"}",
    b"DELETE /api/v1/runs/19700101-020000-00000002",
];

/// Three runs of one system, an hour apart.
fn store(path: &std::path::Path) {
    let text = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/fixtures/copies.jsonl"
    );
    let run = gritstone_exchange::read_bundle(&std::fs::read_to_string(text).unwrap()).unwrap();
    let mut store = Store::open(path).unwrap();
    for (hour, label) in (1..).zip(["one", "two", "three"]) {
        let mut run = run.clone();
        run.info.id = format!("19700101-0{hour}0000-0000000{hour}");
        run.info.started = format!("1970-01-01T0{hour}:00:00Z");
        run.info.label = Some(label.to_owned());
        store.import(&run).unwrap();
    }
    let scopes = [Scope::Read, Scope::Write];
    for (secret, scope) in SECRETS.into_iter().zip(scopes) {
        store.add_token(secret, secret, &[scope], NOW).unwrap();
    }
}

/// What a damaged request asks for.
fn asked(text: &str, json: bool) -> Option<Asked> {
    let mut words = text.splitn(3, ' ');
    let (method, target) = (words.next()?, words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if method.starts_with('G') {
        return parse(path, query, json);
    }
    let question = match parse_change(method, path)? {
        Question::MaySend(what) => {
            let body = words.next().unwrap_or("").to_owned();
            Question::Send(what, body.into())
        }
        other => other,
    };
    Some(Asked::by_program(question))
}

#[test]
#[ignore = "takes minutes: scripts/fuzz pages"]
fn damaged_requests_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    store(&path);
    let digests = Arc::new(Digests::new(path.clone(), None));
    let mut pages = Pages::new(World::new(Some(path)), digests, true);
    mutation::each(&REQUESTS, |bytes, random| {
        let text = String::from_utf8_lossy(bytes);
        let Some(asked) = asked(&text, random.random()) else {
            return;
        };
        let key = match random.random_range(0..4) {
            0 => Key::Token(SECRETS[1].to_owned()),
            1 => Key::Token(SECRETS[0].to_owned()),
            2 => Key::Password(text.chars().take(3).collect()),
            _ => Key::None,
        };
        let answer = pages.answer(&Asked { key, ..asked });
        assert_ne!(answer.status, Status::Broken, "{}", answer.text);
        match answer.media {
            Media::Html => assert!(answer.text.starts_with("<!DOCTYPE html>")),
            Media::Json => drop(serde_json::from_str::<serde_json::Value>(&answer.text).unwrap()),
            _ => {}
        }
    });
}
