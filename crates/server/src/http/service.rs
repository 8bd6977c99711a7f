//! From a request to a response.

use crate::http::question::{self, Asked, Key, Question};
use crate::http::rate::{Buckets, Client};
use crate::http::response::{self, Answer, Sent, Status, plain};
use crate::http::workers::{NoAnswer, Workers};
use crate::http::{Limits, Log, Policy};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, StatusCode};
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of a note at most.
const NOTE: usize = 16 << 10;

/// What answers requests.
pub(crate) struct Service {
    pub(crate) policy: Policy,
    pub(crate) workers: Workers,
    pub(crate) log: Log,
    pub(crate) limits: Limits,
    /// Bodies that are read at once.
    pub(crate) uploads: Semaphore,
    /// Clients that follow something.
    pub(crate) followers: Arc<Semaphore>,
    pub(crate) rate: Option<Buckets>,
    /// Whether the server ends.
    pub(crate) ends: watch::Receiver<bool>,
}

impl Service {
    /// Answers a request, whatever it is.
    pub(crate) async fn answer(self: &Arc<Self>, request: Request<Incoming>, peer: IpAddr) -> Sent {
        let is_head = request.method() == Method::HEAD;
        let refused = self.policy.refuses(&request);
        let mut response = match refused.or_else(|| self.too_many(&request, peer)) {
            Some(refused) => refused,
            None => self.respond(request).await,
        };
        self.policy.stamp(&mut response);
        if is_head {
            if let Some(length) = response.body().size_hint().exact() {
                let headers = response.headers_mut();
                headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
            }
            *response.body_mut() = Bytes::new().into();
        }
        response
    }

    /// Says when to ask again, where a client asks too often: by its address, and by its token.
    fn too_many(&self, request: &Request<Incoming>, peer: IpAddr) -> Option<Sent> {
        let rate = self.rate.as_ref()?;
        let now = Instant::now();
        let address = Client::at(self.policy.client(request, peer));
        let token = match key(request.headers()) {
            Key::Token(shown) | Key::Password(shown) => {
                Some(Client::Token(Sha256::digest(shown).into()))
            }
            Key::None => None,
        };
        let taken = rate.take(address, now);
        let taken = taken.and_then(|()| token.map_or(Ok(()), |token| rate.take(token, now)));
        let wait = taken.err()?.as_secs_f64().ceil();
        let why = "Too many requests: ask again later.";
        Some(response::later(
            StatusCode::TOO_MANY_REQUESTS,
            why,
            wait as u64,
        ))
    }

    async fn respond(self: &Arc<Self>, request: Request<Incoming>) -> Sent {
        let uri = request.uri().clone();
        let headers = request.headers().clone();
        let key = key(&headers);
        if [Method::GET, Method::HEAD].contains(request.method()) {
            let json = prefers_json(&headers);
            let asked = question::parse(uri.path(), uri.query().unwrap_or(""), json);
            let Some(asked) = asked else {
                return plain(StatusCode::NOT_FOUND, "There is no such page.");
            };
            let asked = Asked { key, ..asked };
            if let Question::Follow(_) | Question::FollowFleet = asked.question {
                return self.follow(asked, &headers).await;
            }
            let said = self.ask(asked).await;
            return said.map_or_else(|none| none, |answer| response::of(answer, &headers));
        }
        let asked = question::parse_change(request.method().as_str(), uri.path());
        let asked = match asked {
            Some(question) => Asked {
                key,
                ..Asked::by_program(question)
            },
            None => {
                let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD");
                let allowed = HeaderValue::from_static("GET, HEAD");
                refused.headers_mut().insert(header::ALLOW, allowed);
                return refused;
            }
        };
        let said = match asked.question {
            Question::MaySend(ref what) => {
                let what = what.clone();
                self.receive(asked, what, request.into_body()).await
            }
            _ => self.ask(asked).await,
        };
        said.map_or_else(|none| none, |answer| response::of(answer, &headers))
    }

    /// Reads a body after the client may send one, as far as there is room.
    async fn receive(
        &self,
        asked: Asked,
        what: question::Sent,
        body: Incoming,
    ) -> Result<Answer, Sent> {
        let most = match what {
            question::Sent::Run => self.limits.body,
            question::Sent::Note(_) => NOTE,
        };
        let too_long = || {
            let why = format!("More than {most} bytes are not taken.");
            plain(StatusCode::PAYLOAD_TOO_LARGE, &why)
        };
        if body.size_hint().lower() > most as u64 {
            return Err(too_long());
        }
        let allowed = self.ask(asked.clone()).await?;
        if allowed.status != Status::Found {
            return Ok(allowed);
        }
        let place = timeout(PATIENCE, self.uploads.acquire()).await;
        let Ok(Ok(_place)) = place else {
            return Err(busy());
        };
        let body = match Limited::new(body, most).collect().await {
            Ok(body) => body.to_bytes(),
            Err(why) if why.is::<http_body_util::LengthLimitError>() => return Err(too_long()),
            // it has gone, or sends what is no HTTP
            Err(_) => return Err(plain(StatusCode::BAD_REQUEST, "the body is cut off")),
        };
        let question = Question::Send(what, body);
        self.ask(Asked { question, ..asked }).await
    }

    pub(crate) async fn ask(&self, asked: Asked) -> Result<Answer, Sent> {
        let what = match &asked.question {
            Question::Send(what, body) => format!("{what:?} of {} bytes", body.len()),
            question => format!("{question:?}"),
        };
        match timeout(PATIENCE, self.workers.ask(asked)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(NoAnswer::Lost)) => {
                (self.log)(&format!("no answer to {what}: a fault in Gritstone"));
                let why = "A fault in Gritstone; its log has more.";
                Err(plain(StatusCode::INTERNAL_SERVER_ERROR, why))
            }
            Ok(Err(NoAnswer::Busy)) | Err(_) => Err(busy()),
        }
    }
}

pub(crate) fn busy() -> Sent {
    let why = "Busy: ask again later.";
    response::later(StatusCode::SERVICE_UNAVAILABLE, why, response::AGAIN)
}

/// What the client shows.
fn key(headers: &HeaderMap) -> Key {
    let shown = headers.get(header::AUTHORIZATION);
    let Some((how, what)) = shown.and_then(|v| v.to_str().ok()?.split_once(' ')) else {
        return Key::None;
    };
    if how.eq_ignore_ascii_case("bearer") {
        return Key::Token(what.trim().to_owned());
    }
    let password = || {
        let pair = String::from_utf8(STANDARD.decode(what.trim()).ok()?).ok()?;
        Some(pair.split_once(':')?.1.to_owned())
    };
    match how.eq_ignore_ascii_case("basic") {
        true => password().map_or(Key::None, Key::Password),
        false => Key::None,
    }
}

/// Whether a client asks for JSON and not for pages.
fn prefers_json(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(header::ACCEPT).into_iter();
    let lists: Vec<&str> = lists.filter_map(|list| list.to_str().ok()).collect();
    let has = |name| lists.iter().any(|list| list.contains(name));
    has("application/json") && !has("text/html")
}
