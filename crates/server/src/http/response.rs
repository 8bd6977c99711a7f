//! What is answered, and how it goes out: with an entity tag, compressed where the client takes it, or not at all where it has the same.

use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::Full;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};
use sha2::{Digest, Sha256};
use std::convert::Infallible;
use std::fmt::Write as _;
use std::io::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// Less is not compressed.
const WORTH: usize = 1024;

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Here it is.
    Found,
    /// There is no such thing.
    NotFound,
    /// It was there, and is not any more.
    Gone,
    /// The question cannot be answered as it stands.
    Wrong,
    /// The store cannot be read.
    Broken,
    /// It is stored now.
    Stored,
    /// A token is needed; of a browser, as a password.
    Unknown,
    /// The token is for something else.
    Forbidden,
    /// Something else of that name is there.
    Conflict,
    /// What was sent is no run.
    Unfit,
    /// Another process keeps the store busy.
    Busy,
    /// There is no space left for it.
    Full,
    /// Here it is, and nothing follows on it.
    Last,
}

/// What an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// A page.
    Html,
    /// JSON.
    Json,
    /// Atom.
    Atom,
    /// OpenMetrics.
    OpenMetrics,
    /// Plain text.
    Text,
    /// A drawing.
    Svg,
    /// A bundle: a JSON value a line.
    JsonLines,
}

impl Media {
    fn name(self) -> &'static str {
        match self {
            Self::Html => "text/html; charset=utf-8",
            Self::Json => "application/json",
            Self::Atom => "application/atom+xml; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Text => "text/plain; charset=utf-8",
            Self::Svg => "image/svg+xml",
            Self::JsonLines => "application/jsonl",
        }
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How it went.
    pub status: Status,
    /// What it is.
    pub media: Media,
    /// The whole of it.
    pub text: String,
}

/// What a response has.
pub(crate) enum Content {
    /// All of it.
    Whole(Full<Bytes>),
    /// Events, as they come.
    Events(mpsc::Receiver<Bytes>),
}

impl From<Bytes> for Content {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(Full::new(bytes))
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(whole) => Pin::new(whole).poll_frame(context),
            Self::Events(events) => {
                let next = events.poll_recv(context);
                next.map(|next| next.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(whole) => whole.is_end_stream(),
            Self::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(whole) => whole.size_hint(),
            Self::Events(_) => SizeHint::default(),
        }
    }
}

/// A response to a client.
pub(crate) type Sent = Response<Content>;

/// Events, as they come.
pub(crate) fn events(events: mpsc::Receiver<Bytes>) -> Sent {
    let mut response = Response::new(Content::Events(events));
    let headers = response.headers_mut();
    let media = HeaderValue::from_static("text/event-stream");
    headers.insert(header::CONTENT_TYPE, media);
    // nginx would wait for more
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// After how many seconds who finds a server busy is to ask again.
pub(crate) const AGAIN: u64 = 5;

/// Plain words with a status, and after how many seconds to ask again.
pub(crate) fn later(status: StatusCode, text: &str, seconds: u64) -> Sent {
    let mut response = plain(status, text);
    let headers = response.headers_mut();
    headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Plain words with a status.
pub(crate) fn plain(status: StatusCode, text: &str) -> Sent {
    let mut response = Response::new(Bytes::from(format!("{text}\n")).into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(Media::Text.name()),
    );
    response
}

/// The answer as this client takes it.
pub(crate) fn of(answer: Answer, asked: &HeaderMap) -> Sent {
    let status = match answer.status {
        Status::Found | Status::Last => StatusCode::OK,
        Status::NotFound => StatusCode::NOT_FOUND,
        Status::Gone => StatusCode::GONE,
        Status::Wrong => StatusCode::BAD_REQUEST,
        Status::Broken => StatusCode::INTERNAL_SERVER_ERROR,
        Status::Stored => StatusCode::CREATED,
        Status::Unknown => StatusCode::UNAUTHORIZED,
        Status::Forbidden => StatusCode::FORBIDDEN,
        Status::Conflict => StatusCode::CONFLICT,
        Status::Unfit => StatusCode::UNPROCESSABLE_ENTITY,
        Status::Busy => StatusCode::SERVICE_UNAVAILABLE,
        Status::Full => StatusCode::INSUFFICIENT_STORAGE,
    };
    let html = answer.media == Media::Html;
    let gzip = answer.text.len() >= WORTH && takes_gzip(asked);
    let tag = tag(&answer, gzip);
    let same = status == StatusCode::OK && has(asked, &tag);
    let body = match (same, gzip) {
        (true, _) => Bytes::new(),
        (false, true) => compressed(answer.text.as_bytes()),
        (false, false) => Bytes::from(answer.text),
    };
    let mut response = Response::new(body.into());
    *response.status_mut() = if same {
        StatusCode::NOT_MODIFIED
    } else {
        status
    };
    let headers = response.headers_mut();
    if !same {
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static(answer.media.name()),
        );
        if gzip {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
    }
    if status == StatusCode::UNAUTHORIZED {
        // a browser asks for a password; a program knows what to send
        let how = if html {
            "Basic realm=\"gritstone\", charset=\"UTF-8\""
        } else {
            "Bearer"
        };
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(how));
    }
    if answer.status == Status::Busy {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(AGAIN));
    }
    if status == StatusCode::OK
        && let Ok(tag) = HeaderValue::from_str(&tag)
    {
        headers.insert(header::ETAG, tag);
    }
    response
}

fn compressed(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    Bytes::from(written.expect("memory takes what is written to it"))
}

/// One that differs with the bytes that are sent, their form and their encoding.
fn tag(answer: &Answer, gzip: bool) -> String {
    let hash = Sha256::new_with_prefix(answer.media.name())
        .chain_update(&answer.text)
        .finalize();
    let mut tag = String::from("\"");
    for byte in &hash[..16] {
        let _ = write!(tag, "{byte:02x}");
    }
    tag + if gzip { "-gz\"" } else { "\"" }
}

/// Whether the client has what this tag stands for.
fn has(asked: &HeaderMap, tag: &str) -> bool {
    let lists = asked.get_all(header::IF_NONE_MATCH).into_iter();
    let mut lists = lists.filter_map(|list| list.to_str().ok());
    lists.any(|list| {
        let mut known = list.split(',').map(str::trim);
        known.any(|known| known == "*" || known.trim_start_matches("W/") == tag)
    })
}

/// Whether the client decodes gzip.
fn takes_gzip(asked: &HeaderMap) -> bool {
    let lists = asked.get_all(header::ACCEPT_ENCODING).into_iter();
    let mut lists = lists.filter_map(|list| list.to_str().ok());
    lists.any(|list| {
        list.split(',').any(|one| {
            let (name, weight) = one.split_once(';').unwrap_or((one, ""));
            let weight = weight.trim().strip_prefix("q=").map(str::parse::<f32>);
            let refused = matches!(weight, Some(Ok(weight)) if weight <= 0.0);
            name.trim().eq_ignore_ascii_case("gzip") && !refused
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn gzip_is_sent_to_who_takes_it() {
        let takes = |value| takes_gzip(&asked(header::ACCEPT_ENCODING, value));
        assert!(takes("gzip") && takes("br, GZIP;q=0.5") && takes("deflate,gzip"));
        assert!(!takes("") && !takes("gzip;q=0") && !takes("br") && !takes("gzip; q=0.0"));
    }

    #[test]
    fn a_tag_is_found_in_a_list() {
        let has = |list| super::has(&asked(header::IF_NONE_MATCH, list), "\"a\"");
        assert!(has("\"a\"") && has("\"b\", W/\"a\"") && has("*"));
        assert!(!has("\"b\"") && !has("a") && !has(""));
    }
}
