//! Rules for every request and every response: allowed hosts, client addresses, security headers.

use crate::http::response::plain;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::net::IpAddr;

#[derive(Clone, Debug)]
pub struct Policy {
    /// `Host` must name this machine, which prevents DNS rebinding.
    pub own_names_only: bool,
    /// Trust the last address in `X-Forwarded-For`.
    forwarded: bool,
    /// Content security policy.
    content: HeaderValue,
}

impl Policy {
    /// Allows exactly this style and these scripts, and fetches only from this server.
    pub fn new(own_names_only: bool, style: &str, scripts: &[String]) -> Self {
        let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
        let scripts: Vec<String> = scripts.iter().map(|script| hash(script)).collect();
        let content = format!(
            "default-src 'none'; style-src {}; script-src 'self' {}; connect-src 'self'; img-src 'self'; form-action 'self'; \
             base-uri 'none'; frame-ancestors 'none'",
            hash(style),
            scripts.join(" ")
        );
        Self {
            own_names_only,
            forwarded: false,
            content: HeaderValue::from_str(&content).expect("base64 may stand in a header"),
        }
    }

    /// Trusts the client addresses of a proxy.
    #[must_use]
    pub fn behind_proxy(self, forwarded: bool) -> Self {
        Self { forwarded, ..self }
    }

    /// The address of the client. The last one in `X-Forwarded-For` is from our own proxy; earlier ones are claims of the client.
    pub(crate) fn client(&self, headers: &HeaderMap, peer: IpAddr) -> IpAddr {
        let mut lists = headers.get_all("x-forwarded-for").into_iter();
        let last = lists.next_back().filter(|_| self.forwarded);
        let last = last.and_then(|list| list.to_str().ok()?.rsplit(',').next());
        last.and_then(|last| last.trim().parse().ok()).unwrap_or(peer)
    }

    /// Response to a request that is rejected regardless of its route.
    pub(crate) fn refuses(&self, parts: &Parts) -> Option<Response> {
        let mut hosts = parts.headers.get_all(header::HOST).into_iter();
        let host = match (hosts.next().map(HeaderValue::to_str), hosts.next()) {
            (Some(Ok(host)), None) => host,
            _ => return Some(plain(StatusCode::BAD_REQUEST, "one Host is needed")),
        };
        // a request through a proxy has a host in its URI, too
        let named = parts.uri.authority().map(|name| name.as_str());
        let is_local = [Some(host), named].into_iter().flatten().all(is_own);
        (self.own_names_only && !is_local).then(|| {
            let why = "This address serves only names of this machine: open http://127.0.0.1 with the port of the server.";
            plain(StatusCode::MISDIRECTED_REQUEST, why)
        })
    }

    /// Adds the headers of all responses.
    pub(crate) fn stamp(&self, response: &mut Response) {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_SECURITY_POLICY, self.content.clone());
        let fixed: [(HeaderName, &'static str); 6] = [
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            // revalidated each time by the tag
            (header::CACHE_CONTROL, "private, no-cache"),
            (header::VARY, "Accept, Accept-Encoding, Authorization"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        ];
        for (name, value) in fixed {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
}

/// True for `localhost:8484`, `127.0.0.1`, `[::1]:8484`.
fn is_own(host: &str) -> bool {
    let (name, port) = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((name, port)) => (name, port),
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let port = match port.strip_prefix(':') {
        Some(port) => port.parse::<u16>().is_ok(),
        None => port.is_empty(),
    };
    let address = name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    port && (address || name.eq_ignore_ascii_case("localhost"))
}

#[cfg(test)]
mod tests {
    use super::is_own;

    #[test]
    fn names_of_this_machine() {
        for name in
            ["localhost", "LOCALHOST:8484", "127.0.0.1", "127.0.0.2:80", "[::1]:8484", "[::1]"]
        {
            assert!(is_own(name), "{name}");
        }
        let others = "evil.example evil.example:8484 127.0.0.1.evil.example \
                      localhost.evil.example:8484 localhost:x localhost:8484:1 10.0.0.1:8484 \
                      [::1]x [::2]:8484 [localhost user@localhost";
        for other in others.split(' ').chain([""]) {
            assert!(!is_own(other), "{other}");
        }
    }
}
