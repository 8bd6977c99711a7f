//! Sends damaged requests to a server of a small store: no response is an internal error, and each body has its declared media type.

use super::mutation;
use crate::digests::Digests;
use crate::http::{Config, Kind, Limits, Make, Method, Policy, Service, routed, router};
use crate::pages::{DRAW, Pages, ROUTES};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use gritstone_model::{Conditions, Event, RunData};
use gritstone_runs::context::Context;
use gritstone_store::{Scope, Store};
use http_body_util::BodyExt;
use rand::RngExt;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tower_service::Service as _;

const SECRETS: [&str; 3] = ["reads", "writes", "admin"];
const NOW: &str = "2026-11-25T12:00:00Z";
const ACKNOWLEDGE: &[u8] =
    b"POST /api/v1/changes/19700101-130000-00000013-worse {\"state\": \"acknowledged\", \"note\": \"known\"}";
const REMOVE: &[u8] = b"DELETE /api/v1/runs/19700101-020000-00000002";
/// Besides [`seeds`].
const REQUESTS: [&[u8]; 8] = [
    b"GET /",
    b"GET /runs/two.json",
    b"GET /compare.json?base=one&run=two&run=three&run=&family=&verdict=slower",
    b"GET /compare?base=ref:vax-11-780-4.1bsd&run=last~1",
    b"GET /benchmarks/byte/sieve.json",
    b"GET /search.json?q=%25_!",
    ACKNOWLEDGE,
    REMOVE,
];

/// A GET of each route, with all its parameters.
fn seeds() -> Vec<String> {
    let gets = ROUTES.iter().filter(|route| route.method == Method::Get);
    gets.map(|route| {
        let path = route
            .path
            .replace("{run}", "one")
            .replace("{*benchmark}", "byte/pipe")
            .replace("{system}", "00000000000000000000000000000000")
            .replace("{event}", "19700101-130000-00000013-worse")
            .replace("{script}", "charts.js");
        let query = route.parameters.iter().filter_map(|parameter| {
            let value = match parameter.kind {
                Kind::Path => return None,
                Kind::Text(_) => "linux%20pipe+6.18".to_owned(),
                Kind::Needed => "one".to_owned(),
                Kind::Several(_) => "two".to_owned(),
                Kind::Date => "1970-01".to_owned(),
                Kind::Number { otherwise, .. } => otherwise.to_string(),
                Kind::Word(words) => words[0].to_owned(),
            };
            Some(format!("{}={value}", parameter.name))
        });
        format!("GET {path}?{}", query.collect::<Vec<_>>().join("&"))
    })
    .collect()
}

/// Runs of one system, an hour apart, which take a fifth longer from the 13th on.
pub(crate) fn runs() -> Vec<RunData> {
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/copies.jsonl");
    let run = gritstone_exchange::read_bundle(&std::fs::read(text).unwrap()[..]).unwrap();
    let of_hour = |hour: usize| {
        let level = if hour < 13 { 1.0 } else { 1.2 };
        let times = level * (1.0 + 0.002 * (hour * 7 % 5) as f64);
        let mut run = run.clone();
        run.info.id = format!("19700101-{hour:02}0000-{hour:08}");
        run.info.started = format!("1970-01-01T{hour:02}:00:00Z");
        let labels = ["one", "two", "three"];
        run.info.label = labels.get(hour - 1).map(|&label| label.to_owned());
        // on an idle machine, at one frequency
        for launch in &mut run.launches {
            launch.conditions =
                Conditions { wall: launch.conditions.wall, ..Conditions::default() };
            for (index, event) in (0..).zip(&mut launch.events) {
                if let Event::Sample(sample) = event {
                    sample.wall = (sample.wall as f64 * times) as u64;
                    (sample.cycle_probe, sample.smt_probe) = (300_000 + index % 3, 100_000);
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

/// A damaged request, for the router.
fn request(text: &str, json: bool, secret: Option<&str>) -> Option<Request> {
    let mut words = text.splitn(3, ' ');
    let (method, target) = (words.next()?, words.next()?);
    let mut request = Request::builder().method(method).uri(target);
    request = request.header("Host", "localhost");
    if json {
        request = request.header("Accept", "application/json");
    }
    if let Some(secret) = secret {
        request = request.header("Authorization", format!("Bearer {secret}"));
    }
    let body = words.next().unwrap_or("").to_owned();
    request.body(Body::from(body)).ok()
}

/// A store and its router; removed runs are restored.
struct Fuzzed {
    path: PathBuf,
    runs: Vec<RunData>,
    runtime: Runtime,
    router: Router,
}

/// A response.
struct PageResult {
    status: u16,
    media: String,
    text: String,
}

impl Fuzzed {
    fn new(folder: &Path) -> Self {
        let path = folder.join("store.db");
        let runs = runs();
        store(&path, &runs);
        let digests = Arc::new(Digests::new(path.clone(), None));
        // waits for the digest, so that events are known
        assert!(digests.latest("", Duration::from_secs(60)).is_some());
        let site = path.clone();
        let make: Make<Pages> = Arc::new(move || {
            let context = Context::new(Some(site.clone()));
            Pages::new(context, Arc::clone(&digests), |_, _| Ok(None), Arc::default())
        });
        let config = Config {
            routes: ROUTES,
            public_read: true,
            limits: Limits::default(),
            policy: Policy::new(true, "", &[]),
            tls: None,
            make,
            draw: DRAW,
            log: Arc::new(|text| panic!("{text}")),
        };
        let (_, ends) = watch::channel(false);
        Self {
            path,
            runs,
            runtime: Builder::new_current_thread().enable_time().build().unwrap(),
            router: router(Arc::new(Service::start(config, ends).unwrap())),
        }
    }

    fn answer(&mut self, request: Request) -> PageResult {
        let path = request.uri().path().to_owned();
        let removes = request.method() == "DELETE";
        let peer = Ipv4Addr::LOCALHOST.into();
        let router = &mut self.router;
        let answered = self.runtime.block_on(async {
            let response = router.call(routed(request, peer)).await.unwrap();
            let media = response.headers().get("content-type");
            let media = media.map_or("", |media| media.to_str().unwrap()).to_owned();
            let status = response.status().as_u16();
            // event streams do not end
            let text = match media.as_str() {
                "text/event-stream" => String::new(),
                _ => {
                    let body = response.into_body().collect().await.unwrap();
                    String::from_utf8(body.to_bytes().into()).unwrap()
                }
            };
            PageResult { status, media, text }
        });
        if removes && answered.status == 200 {
            let run = self.runs.iter().find(|run| path.ends_with(&run.info.id));
            Store::open(&self.path).unwrap().import(run.unwrap()).unwrap();
        }
        answered
    }
}

#[test]
#[ignore = "takes minutes: scripts/fuzz pages"]
fn damaged_requests_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let mut fuzzed = Fuzzed::new(folder.path());
    // undamaged requests succeed
    for (text, status) in [(ACKNOWLEDGE, 201), (REMOVE, 200)] {
        let text = String::from_utf8_lossy(text);
        let request = request(&text, true, Some(SECRETS[2])).unwrap();
        let answered = fuzzed.answer(request);
        assert_eq!(answered.status, status, "{}", answered.text);
    }
    let seeds = seeds();
    let seeds = seeds.iter().map(String::as_bytes);
    let inputs: Vec<&[u8]> = REQUESTS.into_iter().chain(seeds).collect();
    mutation::each(&inputs, |bytes, random| {
        let text = String::from_utf8_lossy(bytes);
        let secret = SECRETS.get(random.random_range(0..5));
        let Some(request) = request(&text, random.random(), secret.copied()) else {
            return;
        };
        let PageResult { status, media, text } = fuzzed.answer(request);
        assert!(status < 500, "{text}");
        match media.as_str() {
            "application/json" => drop(serde_json::from_str::<serde_json::Value>(&text).unwrap()),
            media if media.starts_with("text/html") => assert!(text.starts_with("<!DOCTYPE html>")),
            _ => {}
        }
    });
}
