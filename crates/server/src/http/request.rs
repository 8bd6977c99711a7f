//! A parsed request: route, format and token.

use crate::http::budget::{Caller, Client};
use crate::http::params::{Parameter, Params};
use crate::http::response::{Rejection, Status};
use axum::body::Bytes;
use axum::extract::RawPathParams;
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, Uri, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gritstone_store::{Scope, Token};
use sha2::{Digest, Sha256};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

/// Credential of a client.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Key {
    #[default]
    None,
    /// A bearer token.
    Token(String),
    /// A token as a password, which browsers send automatically: permits only reading.
    Password(String),
}

// keeps secrets out of logs
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Token(_) => "Token",
            Self::Password(_) => "Password",
        })
    }
}

impl Key {
    pub(crate) fn from_headers(headers: &HeaderMap) -> Self {
        let shown = headers.get(header::AUTHORIZATION);
        let Some((how, what)) = shown.and_then(|v| v.to_str().ok()?.split_once(' ')) else {
            return Self::None;
        };
        if how.eq_ignore_ascii_case("bearer") {
            return Self::Token(what.trim().to_owned());
        }
        let password = || {
            let pair = String::from_utf8(STANDARD.decode(what.trim()).ok()?).ok()?;
            Some(pair.split_once(':')?.1.to_owned())
        };
        match how.eq_ignore_ascii_case("basic") {
            true => password().map_or(Self::None, Self::Password),
            false => Self::None,
        }
    }

    /// The secret, of either kind.
    pub fn secret(&self) -> Option<&str> {
        match self {
            Self::Token(secret) | Self::Password(secret) => Some(secret),
            Self::None => None,
        }
    }
}

/// Format of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For people.
    Page,
    /// For programs.
    Json,
}

/// A parsed request.
#[derive(Clone, Debug)]
pub struct PageRequest {
    pub params: Params,
    pub form: Form,
    /// URI of the page, without `.json`.
    pub uri: Uri,
    pub key: Key,
    pub(crate) caller: Caller,
    /// The valid token of the credential, if any.
    pub token: Option<Token>,
    pub body: Bytes,
}

/// Path of the first page, which `/` names too.
pub(crate) const FIRST: &str = "/overview";

/// Request extension: the path ended in `.json`.
#[derive(Clone, Copy)]
pub(crate) struct JsonPath;

impl PageRequest {
    /// Parses a routed request.
    ///
    /// # Errors
    /// Names an invalid parameter.
    pub(crate) fn parse(
        declared: &'static [Parameter],
        is_page: bool,
        path: &RawPathParams,
        parts: &Parts,
    ) -> Result<Self, String> {
        let query = parts.uri.query().unwrap_or("");
        Ok(Self {
            params: Params::parse(declared, path.iter(), query)?,
            ..Self::bare(is_page, parts)
        })
    }

    /// A request by this process, which writes the page to a file.
    pub(crate) fn internal(params: Params, uri: Uri) -> Self {
        Self {
            params,
            form: Form::Page,
            uri,
            key: Key::None,
            caller: Caller { address: Client::Others, token: None },
            token: None,
            body: Bytes::new(),
        }
    }

    /// Cache key of its page.
    pub(crate) fn page(&self) -> String {
        format!("{:?} {}", self.form, self.uri)
    }

    /// Adds the token, if the scopes of the route permit the request.
    pub(crate) fn admit(
        mut self,
        scopes: &[Scope],
        public_read: bool,
        token: Option<Token>,
    ) -> Result<Self, Rejection> {
        let reads = scopes.contains(&Scope::Read);
        let unknown = |why: &str| Err(Rejection::new(Status::Unknown, why));
        match &self.key {
            _ if scopes.is_empty() => return Ok(self),
            Key::Token(_) => {}
            // a browser would send it with requests forged by other sites
            Key::Password(_) if reads => {}
            _ if reads && public_read => return Ok(self),
            _ => return unknown("A token is needed."),
        }
        let Some(token) = token else {
            return unknown("The token is unknown or revoked.");
        };
        let permitted = scopes.iter().any(|scope| token.scopes.contains(scope));
        let needless = reads && public_read;
        if !permitted && !needless {
            let why = "The token lacks the scope.";
            return Err(Rejection::new(Status::Forbidden, why));
        }
        self.token = Some(token);
        Ok(self)
    }

    /// The token that authorizes a change.
    ///
    /// # Errors
    /// Without a token, which a route with write scopes does not admit.
    pub fn by(&self) -> Result<&Token, Rejection> {
        let none = || Rejection::new(Status::Unknown, "A token is needed.");
        self.token.as_ref().ok_or_else(none)
    }

    /// The path of the JSON form, with its query.
    pub fn json(&self) -> String {
        match self.uri.query() {
            None | Some("") => format!("{}.json", self.uri.path()),
            Some(query) => format!("{}.json?{query}", self.uri.path()),
        }
    }

    /// A request without parameters.
    pub(crate) fn bare(is_page: bool, parts: &Parts) -> Self {
        let json = parts.extensions.get::<JsonPath>().is_some() || prefers_json(&parts.headers);
        Self {
            params: Params::default(),
            form: match is_page && !json {
                true => Form::Page,
                false => Form::Json,
            },
            uri: parts.uri.clone(),
            key: Key::from_headers(&parts.headers),
            caller: caller(parts),
            token: None,
            body: Bytes::new(),
        }
    }
}

/// Request extension: address of the client.
#[derive(Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The caller of a request.
pub(crate) fn caller(parts: &Parts) -> Caller {
    let Peer(peer) = parts.extensions.get().copied().unwrap_or(Peer(Ipv4Addr::UNSPECIFIED.into()));
    let key = Key::from_headers(&parts.headers);
    let token = key.secret().map(|secret| Client::Token(Sha256::digest(secret).into()));
    Caller { address: Client::from_address(peer), token }
}

/// The URI of the page of a URI in `.json`, and whether it was one; the first page has a name too.
pub(crate) fn canonical(uri: Uri) -> (Uri, bool) {
    let path = uri.path();
    let (plain, json) = match path.strip_suffix(".json") {
        Some(plain) if plain.len() > 1 => (plain, true),
        _ => (path, false),
    };
    let plain = if plain == "/" { FIRST } else { plain };
    if plain == path {
        return (uri, json);
    }
    let text = match uri.query() {
        Some(query) => format!("{plain}?{query}"),
        None => plain.to_owned(),
    };
    let Ok(target) = PathAndQuery::try_from(text) else {
        return (uri, false);
    };
    let mut parts = uri.into_parts();
    parts.path_and_query = Some(target);
    let uri = Uri::from_parts(parts).expect("only the path differs");
    (uri, json)
}

/// Whether a client prefers JSON to HTML.
fn prefers_json(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(header::ACCEPT).into_iter();
    let lists: Vec<&str> = lists.filter_map(|list| list.to_str().ok()).collect();
    let has = |name| lists.iter().any(|list| list.contains(name));
    has("application/json") && !has("text/html")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_paths_name_pages() {
        for (path, page, json) in [
            ("/", "/overview", false),
            ("/overview.json", "/overview", true),
            ("/runs/a.json?x=y", "/runs/a?x=y", true),
            ("/runs/a", "/runs/a", false),
            ("/benchmarks/a%2Ejson", "/benchmarks/a%2Ejson", false),
            ("/benchmarks/a%2Ejson.json", "/benchmarks/a%2Ejson", true),
            ("/.json", "/.json", false),
            ("http://localhost/?q=a", "http://localhost/overview?q=a", false),
        ] {
            let (uri, is_json) = canonical(path.parse().unwrap());
            assert_eq!((uri.to_string(), is_json), (page.to_owned(), json), "{path}");
        }
        let json = |path: &str| {
            let (uri, _) = canonical(path.parse().unwrap());
            let (parts, ()) = axum::http::Request::get(uri).body(()).unwrap().into_parts();
            PageRequest::bare(true, &parts).json()
        };
        assert_eq!(json("/"), "/overview.json");
        assert_eq!(json("/search?q=a"), "/search.json?q=a");
    }

    #[test]
    fn secrets_are_not_shown() {
        let headers =
            |value: &str| HeaderMap::from_iter([(header::AUTHORIZATION, value.parse().unwrap())]);
        let token = Key::from_headers(&headers("Bearer secret"));
        let password = Key::from_headers(&headers("Basic bWU6c2VjcmV0"));
        assert_eq!((token.secret(), password.secret()), (Some("secret"), Some("secret")));
        assert_eq!(format!("{token:?} {password:?}"), "Token Password");
        assert_eq!(Key::from_headers(&headers("Basic ?")), Key::None);
    }
}
