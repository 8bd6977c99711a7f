//! Damaged requests, answered from a small store: none is a fault, and what comes back is what it says it is.

use crate::http::{Answer, Answers, Asked, Key, Media, Question, Status, parse, parse_change};
use crate::mutation;
use crate::pages::Pages;
use crate::summary_worker::Digests;
use gritstone_model::{Conditions, Event, RunData};
use gritstone_runs::context::Context;
use gritstone_store::{Scope, Store};
use rand::RngExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const SECRETS: [&str; 3] = ["reads", "writes", "admin"];
const NOW: &str = "2026-11-25T12:00:00Z";
const ACKNOWLEDGE: &[u8] =
    b"POST /api/v1/changes/19700101-130000-00000013-worse {\"note\": \"known\"}";
const REMOVE: &[u8] = b"DELETE /api/v1/runs/19700101-020000-00000002";
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
    b"GET /changes/19700101-130000-00000013-worse",
    b"GET /fleet.json",
    b"GET /metrics",
    ACKNOWLEDGE,
    REMOVE,
];

/// Runs of one system, an hour apart, which take a fifth longer from the 13th on.
fn runs() -> Vec<RunData> {
    let text = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/fixtures/copies.jsonl"
    );
    let run = gritstone_exchange::read_bundle(&std::fs::read(text).unwrap()[..]).unwrap();
    let of_hour = |hour: usize| {
        let level = if hour < 13 { 1.0 } else { 1.2 };
        let times = level * (1.0 + 0.002 * (hour * 7 % 5) as f64);
        let mut run = run.clone();
        run.info.id = format!("19700101-{hour:02}0000-{hour:08}");
        run.info.started = format!("1970-01-01T{hour:02}:00:00Z");
        let labels = ["one", "two", "three"];
        run.info.label = labels.get(hour - 1).map(|&label| label.to_owned());
        // on a machine that has nothing else to do, at one frequency
        for launch in &mut run.launches {
            launch.conditions = Conditions {
                wall: launch.conditions.wall,
                ..Conditions::default()
            };
            for (at, event) in (0..).zip(&mut launch.events) {
                if let Event::Sample(sample) = event {
                    sample.wall = (sample.wall as f64 * times) as u64;
                    (sample.pace, sample.wide) = (300_000 + at % 3, 100_000);
                }
            }
        }
        run
    };
    (1..24).map(of_hour).collect()
}

fn store(path: &Path, runs: &[RunData]) {
    let mut store = Store::open(path).unwrap();
    for run in runs {
        store.import(run).unwrap();
    }
    let scopes = [Scope::Read, Scope::Write, Scope::Admin];
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

/// A store, its pages, and what is removed put back.
struct Fuzzed {
    path: std::path::PathBuf,
    runs: Vec<RunData>,
    pages: Pages,
}

impl Fuzzed {
    fn of(folder: &Path) -> Self {
        let path = folder.join("store.db");
        let runs = runs();
        store(&path, &runs);
        let digests = Arc::new(Digests::new(path.clone(), None));
        // one that has no event yet knows none, and says so
        assert!(digests.of("", Duration::from_secs(60)).is_some());
        let pages = Pages::new(
            Context::new(Some(path.clone())),
            digests,
            true,
            |_, _| Ok(None),
            Arc::default(),
        );
        Self { path, runs, pages }
    }

    fn answer(&mut self, asked: &Asked) -> Answer {
        let answer = self.pages.answer(asked);
        if let (Question::Remove(id), Status::Found) = (&asked.question, answer.status) {
            let run = self.runs.iter().find(|run| run.info.id == *id).unwrap();
            Store::open(&self.path).unwrap().import(run).unwrap();
        }
        answer
    }
}

#[test]
#[ignore = "takes minutes: scripts/fuzz pages"]
fn damaged_requests_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let mut fuzzed = Fuzzed::of(folder.path());
    // undamaged, they do what they are to reach
    for (request, status) in [(ACKNOWLEDGE, Status::Stored), (REMOVE, Status::Found)] {
        let asked = asked(&String::from_utf8_lossy(request), true).unwrap();
        let key = Key::Token(SECRETS[2].to_owned());
        let answer = fuzzed.answer(&Asked { key, ..asked });
        assert_eq!(answer.status, status, "{}", answer.text);
    }
    mutation::each(&REQUESTS, |bytes, random| {
        let text = String::from_utf8_lossy(bytes);
        let Some(asked) = asked(&text, random.random()) else {
            return;
        };
        let key = match random.random_range(0..5) {
            at @ 0..3 => Key::Token(SECRETS[at].to_owned()),
            3 => Key::Password(text.chars().take(3).collect()),
            _ => Key::None,
        };
        let answer = fuzzed.answer(&Asked { key, ..asked });
        assert_ne!(answer.status, Status::Broken, "{}", answer.text);
        match answer.media {
            Media::Html => assert!(answer.text.starts_with("<!DOCTYPE html>")),
            Media::Json => drop(serde_json::from_str::<serde_json::Value>(&answer.text).unwrap()),
            _ => {}
        }
    });
}
