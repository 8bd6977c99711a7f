//! From a request to a response.

use crate::response::{self, Sent, plain};
use crate::workers::{NoAnswer, Workers};
use crate::{Log, Policy, question};
use http_body_util::Full;
use hyper::body::{Body, Bytes};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, StatusCode};
use std::time::Duration;

/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// What answers requests.
pub(crate) struct Service {
    pub(crate) policy: Policy,
    pub(crate) workers: Workers,
    pub(crate) log: Log,
}

impl Service {
    /// Answers a request, whatever it is.
    pub(crate) async fn answer<B: Body>(&self, request: Request<B>) -> Sent {
        let mut response = match self.policy.refuses(&request) {
            Some(refused) => refused,
            None => self.respond(&request).await,
        };
        self.policy.stamp(&mut response);
        if request.method() == Method::HEAD {
            let length = response.body().size_hint().exact().unwrap_or(0);
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
            *response.body_mut() = Full::new(Bytes::new());
        }
        response
    }

    async fn respond<B: Body>(&self, request: &Request<B>) -> Sent {
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD");
            let allowed = HeaderValue::from_static("GET, HEAD");
            refused.headers_mut().insert(header::ALLOW, allowed);
            return refused;
        }
        let uri = request.uri();
        let json = prefers_json(request.headers());
        let Some(asked) = question::parse(uri.path(), uri.query().unwrap_or(""), json) else {
            return plain(StatusCode::NOT_FOUND, "There is no such page.");
        };
        let answer = tokio::time::timeout(PATIENCE, self.workers.ask(asked)).await;
        match answer {
            Ok(Ok(answer)) => response::of(answer, request.headers()),
            Ok(Err(NoAnswer::Lost)) => {
                (self.log)(&format!("no answer to {uri}: a fault in Gritstone"));
                plain(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "A fault in Gritstone; its log has more.",
                )
            }
            Ok(Err(NoAnswer::Busy)) | Err(_) => {
                let mut busy = plain(StatusCode::SERVICE_UNAVAILABLE, "Busy: ask again later.");
                let after = HeaderValue::from_static("5");
                busy.headers_mut().insert(header::RETRY_AFTER, after);
                busy
            }
        }
    }
}

/// Whether a client asks for JSON and not for pages.
fn prefers_json(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(header::ACCEPT).into_iter();
    let lists: Vec<&str> = lists.filter_map(|list| list.to_str().ok()).collect();
    let has = |name| lists.iter().any(|list| list.contains(name));
    has("application/json") && !has("text/html")
}
