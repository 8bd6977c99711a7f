//! Answers and their encoding: entity tag, compression if the client accepts it, 304 if the client has the same.

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::{GzDecoder, GzEncoder};
use gritstone_model::hexadecimal;
use sha2::{Digest, Sha256};
use std::io::Write as _;

/// Smallest size that is compressed, bytes.
const MIN_COMPRESSED: usize = 1024;
/// Seconds for `Retry-After`.
const AGAIN: u64 = 5;

/// Result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Found,
    NotFound,
    Gone,
    Wrong,
    Broken,
    Stored,
    /// Browsers ask for a password.
    Unknown,
    /// The token lacks the scope.
    Forbidden,
    /// A different object has the name.
    Conflict,
    /// The body is not a run.
    Unfit,
    /// Another process locks the store.
    Busy,
    TooLong,
    TooSlow,
    TooMany,
    Full,
    /// The last event of a stream.
    Last,
}

/// Media type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    Html,
    Json,
    Atom,
    OpenMetrics,
    /// Plain text.
    Text,
    Svg,
    /// A script of pages.
    Script,
    /// A bundle: one JSON value per line.
    JsonLines,
}

impl Media {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Html => "text/html; charset=utf-8",
            Self::Json => "application/json",
            Self::Atom => "application/atom+xml; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Text => "text/plain; charset=utf-8",
            Self::Svg => "image/svg+xml",
            Self::Script => "text/javascript; charset=utf-8",
            Self::JsonLines => "application/jsonl",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageResponse {
    pub status: Status,
    pub media: Media,
    pub text: String,
}

impl Status {
    /// Title of its page; empty where it is no error.
    pub(crate) fn code_and_title(self) -> (StatusCode, &'static str) {
        match self {
            Self::Found | Self::Last => (StatusCode::OK, ""),
            Self::Stored => (StatusCode::CREATED, ""),
            Self::NotFound => (StatusCode::NOT_FOUND, "Not found"),
            Self::Gone => (StatusCode::GONE, "Not there any more"),
            Self::Wrong => (StatusCode::BAD_REQUEST, "Cannot be answered"),
            Self::Broken => (StatusCode::INTERNAL_SERVER_ERROR, "Out of order"),
            Self::Unknown => (StatusCode::UNAUTHORIZED, "A token is needed"),
            Self::Forbidden => (StatusCode::FORBIDDEN, "Not allowed"),
            Self::Conflict => (StatusCode::CONFLICT, "Already there"),
            Self::Unfit => (StatusCode::UNPROCESSABLE_ENTITY, "Not taken"),
            Self::TooLong => (StatusCode::PAYLOAD_TOO_LARGE, "Too long"),
            Self::TooSlow => (StatusCode::REQUEST_TIMEOUT, "Too slow"),
            Self::TooMany => (StatusCode::TOO_MANY_REQUESTS, "Too many requests"),
            Self::Busy => (StatusCode::SERVICE_UNAVAILABLE, "Busy"),
            Self::Full => (StatusCode::INSUFFICIENT_STORAGE, "Full"),
        }
    }
}

/// An error response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    pub status: Status,
    /// Message for the client.
    pub why: String,
    /// Message for the log of the server.
    pub fault: Option<String>,
    /// Seconds for `Retry-After`.
    pub again: Option<u64>,
}

impl Rejection {
    pub fn new(status: Status, why: impl Into<String>) -> Self {
        Self {
            status,
            why: why.into(),
            fault: None,
            again: (status == Status::Busy).then_some(AGAIN),
        }
    }

    /// An internal error, for the log.
    pub(crate) fn broken(fault: impl Into<String>) -> Self {
        let why = "A bug in Gritstone; the log has details.";
        Self::new(Status::Broken, why).fault(fault)
    }

    /// Adds a message for the log of the server.
    #[must_use]
    pub fn fault(self, fault: impl Into<String>) -> Self {
        Self { fault: Some(fault.into()), ..self }
    }
}

/// A plain-text response.
pub(crate) fn plain(status: StatusCode, text: &str) -> Response {
    (status, format!("{text}\n")).into_response()
}

/// An encoded response.
#[derive(Debug)]
pub(crate) struct Packed {
    status: Status,
    media: Media,
    body: Bytes,
    gzip: bool,
    /// Unpacked size, bytes.
    length: usize,
}

impl Packed {
    pub(crate) fn new(response: PageResponse) -> Self {
        let length = response.text.len();
        let gzip = length >= MIN_COMPRESSED;
        Self {
            status: response.status,
            media: response.media,
            body: match gzip {
                true => compressed(response.text.as_bytes()),
                false => response.text.into(),
            },
            gzip,
            length,
        }
    }

    /// Whether the response to this request has an unpacked body.
    pub(crate) fn must_unpack(&self, request: &Parts) -> bool {
        self.gzip && !takes_gzip(&request.headers) && request.method != Method::HEAD
    }

    pub(crate) fn unpacked(&self) -> Self {
        Self { body: unpacked(&self.body), gzip: false, ..*self }
    }

    /// Size of the cache entry, bytes.
    pub(crate) fn len(&self) -> usize {
        self.body.len()
    }

    /// The response to this request.
    pub(crate) fn response(&self, request: &Parts) -> Response {
        let gzip = self.gzip && takes_gzip(&request.headers);
        let body = match self.must_unpack(request) {
            true => unpacked(&self.body),
            false => self.body.clone(),
        };
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status.code_and_title().0;
        let headers = response.headers_mut();
        if request.method == Method::HEAD && !gzip {
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(self.length));
        }
        let media = HeaderValue::from_static(self.media.name());
        headers.insert(header::CONTENT_TYPE, media);
        if gzip {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        if self.status == Status::Unknown {
            // a browser shows a password prompt; programs get a bearer challenge
            let how = match self.media {
                Media::Html => "Basic realm=\"gritstone\", charset=\"UTF-8\"",
                _ => "Bearer",
            };
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(how));
        }
        response
    }
}

fn compressed(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    Bytes::from(written.expect("written bytes stay in memory"))
}

fn unpacked(bytes: &[u8]) -> Bytes {
    let mut decoder = GzDecoder::new(Vec::with_capacity(4 * bytes.len()));
    let written = decoder.write_all(bytes).and_then(|()| decoder.finish());
    Bytes::from(written.expect("it was compressed here"))
}

/// The entity tag of a page, computed before the page.
pub(crate) struct Tag(String);

impl Tag {
    /// The tag of a page for a process of the server, a revision and an encoding.
    pub(crate) fn new(life: &[u8], revision: &str, page: &str, headers: &HeaderMap) -> Self {
        let hash = Sha256::new_with_prefix(life)
            .chain_update(revision)
            .chain_update(b"\0")
            .chain_update(page)
            .finalize();
        let gzip = if takes_gzip(headers) { "-gz" } else { "" };
        Self(format!("\"{}{gzip}\"", hexadecimal(&hash[..16])))
    }

    /// 304 if the client has the page.
    pub(crate) fn not_modified(&self, headers: &HeaderMap) -> Option<Response> {
        let lists = headers.get_all(header::IF_NONE_MATCH).into_iter();
        let mut lists = lists.filter_map(|list| list.to_str().ok());
        let has = lists.any(|list| {
            let mut known = list.split(',').map(str::trim);
            known.any(|known| known.trim_start_matches("W/") == self.0)
        });
        has.then(|| self.mark(StatusCode::NOT_MODIFIED.into_response()))
    }

    /// Adds the tag to a response.
    pub(crate) fn mark(&self, mut response: Response) -> Response {
        if let Ok(tag) = HeaderValue::from_str(&self.0) {
            response.headers_mut().insert(header::ETAG, tag);
        }
        response
    }
}

/// Whether the client accepts gzip.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(header::ACCEPT_ENCODING).into_iter();
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
    use axum::http::Request;

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn gzip_needs_accept_encoding() {
        let takes = |value| takes_gzip(&headers(header::ACCEPT_ENCODING, value));
        assert!(takes("gzip") && takes("br, GZIP;q=0.5") && takes("deflate,gzip"));
        assert!(!takes("") && !takes("gzip;q=0") && !takes("br") && !takes("gzip; q=0.0"));
    }

    #[test]
    fn tags_are_found_in_lists() {
        let tag = Tag("\"a\"".to_owned());
        let has = |list| tag.not_modified(&headers(header::IF_NONE_MATCH, list)).is_some();
        assert!(has("\"a\"") && has("\"b\", W/\"a\""));
        assert!(!has("\"b\"") && !has("a") && !has("") && !has("*"));
    }

    #[test]
    fn tags_differ_with_the_page() {
        let tag = |life: &[u8], revision, page, list| {
            Tag::new(life, revision, page, &headers(header::ACCEPT_ENCODING, list)).0
        };
        let one = tag(b"life", "1", "/a", "");
        assert_eq!(one, tag(b"life", "1", "/a", "br"));
        for other in [
            tag(b"next", "1", "/a", ""),
            tag(b"life", "2", "/a", ""),
            tag(b"life", "1", "/b", ""),
            tag(b"life", "1", "/a", "gzip"),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn responses_are_unpacked_if_needed() {
        let text = "page ".repeat(1000);
        let packed = Packed::new(PageResponse {
            status: Status::Found,
            media: Media::Html,
            text: text.clone(),
        });
        assert!(packed.len() < 500);
        assert_eq!(packed.unpacked().body, text.as_bytes());
        let head = |method: Method, list: &str, name: header::HeaderName| {
            let request = Request::builder().method(method).header(header::ACCEPT_ENCODING, list);
            let (parts, ()) = request.body(()).unwrap().into_parts();
            let value = packed.response(&parts).headers().get(name).cloned();
            (packed.must_unpack(&parts), value)
        };
        let value = HeaderValue::from_static;
        let encoding = |list| head(Method::GET, list, header::CONTENT_ENCODING);
        assert_eq!(encoding("gzip"), (false, Some(value("gzip"))));
        assert_eq!(encoding("br"), (true, None));
        let length = |list| head(Method::HEAD, list, header::CONTENT_LENGTH);
        assert_eq!(length("br"), (false, Some(value("5000"))));
        assert_eq!(length("gzip"), (false, None));
    }
}
