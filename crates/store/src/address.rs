//! Address of a store: a path, or the URL of a server. Passwords are removed from displayed URLs.

use percent_encoding::percent_decode_str;
use std::path::{Path, PathBuf};

/// Prefixes of server URLs.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// The text of a path that is a server URL.
pub(crate) fn server_url(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    SCHEMES.iter().any(|scheme| text.starts_with(scheme)).then_some(text)
}

/// Path for display: a URL without its password.
pub fn shown(path: &Path) -> PathBuf {
    server_url(path).map_or_else(|| path.to_owned(), |url| without_password(url).into())
}

/// Whether a path is a server URL with a password.
pub fn has_password(path: &Path) -> bool {
    server_url(path).is_some_and(|url| without_password(url) != url)
}

/// Whether a path is a server URL.
pub fn is_server(path: &Path) -> bool {
    server_url(path).is_some()
}

/// Splits a URL: scheme, user and password, the rest up to the question mark, parameters.
pub(crate) fn parts(url: &str) -> [&str; 4] {
    let start = url.find("://").map_or(0, |position| position + 3);
    let (scheme, rest) = url.split_at(start);
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    // passwords may contain an unencoded at sign
    let end = rest.find('/').unwrap_or(rest.len());
    let (user, rest) = match rest[..end].rfind('@') {
        Some(position) => (&rest[..position], &rest[position + 1..]),
        None => match rest.rfind('@') {
            // or a slash
            Some(position) if rest[..position].contains(':') => {
                (&rest[..position], &rest[position + 1..])
            }
            _ => ("", rest),
        },
    };
    [scheme, user, rest, query]
}

/// The parameters except the password.
pub(crate) fn parameters(query: &str) -> impl Iterator<Item = (&str, &str)> {
    let all = query.split('&').filter(|pair| !pair.is_empty());
    all.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

pub(crate) fn without_password(url: &str) -> String {
    let [scheme, user, rest, query] = parts(url);
    // an unencoded question mark in a password: the parts cannot be separated
    if user.is_empty()
        && let (true, Some(position)) = (rest.contains(':'), query.rfind('@'))
    {
        return format!("{scheme}{}", &query[position + 1..]);
    }
    let user = user.split(':').next().unwrap_or("");
    let separator = if user.is_empty() { "" } else { "@" };
    let is_password = |name: &str| decoded(name).eq_ignore_ascii_case("password");
    let left = parameters(query).filter(|(name, _)| !is_password(name));
    let left: Vec<String> = left.map(|(name, value)| format!("{name}={value}")).collect();
    let mark = if left.is_empty() { "" } else { "?" };
    format!("{scheme}{user}{separator}{rest}{mark}{}", left.join("&"))
}

pub(crate) fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}
