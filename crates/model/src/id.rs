//! Identifiers of benchmarks, and the selectors that match them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// `family[/name[/case]][@variant]`, for instance `kernel/pipeback/512@cross`.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String")]
pub struct Id(String);

/// An index of PostgreSQL takes 2,700.
const MAX_BYTES: usize = 200;
/// Bytes of a longer one in its error.
const QUOTED: usize = 40;

/// Why a text is not an identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not an identifier: {why} (the form is family[/name[/case]][@variant])")]
pub struct IdError {
    text: String,
    why: &'static str,
}

impl Id {
    /// Reads an identifier of at most 200 letters: one to three parts of `a-z 0-9 . _ -`, then perhaps `@` and a variant of the same
    /// letters.
    ///
    /// # Errors
    /// The violated rule.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let no = |why| {
            let text = match text.len() > MAX_BYTES {
                true => format!("{}…", &text[..text.floor_char_boundary(QUOTED)]),
                false => text.to_owned(),
            };
            Err(IdError { text, why })
        };
        if text.len() > MAX_BYTES {
            return no("more than 200 letters");
        }
        let (path, variant) =
            text.split_once('@').map_or((text, None), |(path, variant)| (path, Some(variant)));
        let parts: Vec<&str> = path.split('/').collect();
        if parts.len() > 3 {
            return no("more than three parts");
        }
        for part in parts.into_iter().chain(variant) {
            if part.is_empty() {
                return no("an empty part");
            }
            if !part.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit()) {
                return no("a part must begin with a-z or 0-9");
            }
            let plain = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '.' | '_' | '-');
            if !part.chars().all(plain) {
                return no("a letter other than a-z 0-9 . _ -");
            }
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part before the first `/` or `@`.
    pub fn family(&self) -> &str {
        self.0.split(['/', '@']).next().unwrap_or(&self.0)
    }

    /// The part before `@`, which variants share.
    pub fn stem(&self) -> &str {
        self.0.split('@').next().unwrap_or(&self.0)
    }

    /// The part after `@`, if any.
    pub fn variant(&self) -> Option<&str> {
        self.0.split_once('@').map(|(_, variant)| variant)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for Id {
    type Error = IdError;
    fn try_from(text: String) -> Result<Self, IdError> {
        Self::parse(&text)
    }
}

/// A glob on identifiers: `*` matches any letters and `/`, `?` one letter; neither matches `@`, so that `byte/*` selects the published
/// benchmarks and `byte/*@*` their variants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector(String);

impl Selector {
    /// Any text is valid; the caller reports selectors without a match.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The text it was made from.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `id` is selected: by the pattern, or by the name of its family as by `family/*`.
    pub fn matches(&self, id: &Id) -> bool {
        self.matches_text(id.as_str()) || id.family() == self.0 && !id.as_str().contains('@')
    }

    /// Whether a label, or any other text, is selected.
    pub fn matches_text(&self, text: &str) -> bool {
        glob(self.0.as_bytes(), text.as_bytes())
    }
}

/// Linear in the pattern, so that it is never exponential.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let is_wild = |p: &u8| matches!(p, b'*' | b'?');
    let (literal, pattern) =
        pattern.split_at(pattern.iter().position(is_wild).unwrap_or(pattern.len()));
    let Some(text) = text.strip_prefix(literal) else {
        return false;
    };
    // whether the pattern so far matches the first t letters of the text, for each t
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    for &p in pattern {
        let mut next = vec![p == b'*' && reached[0]];
        for (t, &c) in text.iter().enumerate() {
            next.push(match p {
                b'*' => reached[t + 1] || next[t] && c != b'@',
                b'?' => reached[t] && c != b'@',
                _ => reached[t] && c == p,
            });
        }
        reached = next;
    }
    reached[text.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifier_parts_are_checked() {
        for good in [
            "iocall",
            "byte/pipe",
            "byte/multi/1",
            "kernel/pipeback/512@cross",
            "iocall@hp",
            "cpu/dhrystone-1.1/reg",
        ] {
            assert_eq!(Id::parse(good).unwrap().as_str(), good);
        }
        for bad in
            ["", "/", "byte/", "a/b/c/d", "Byte", "a b", "a@", "@a", "a@b@c", "-a", "ä", "a/../b"]
        {
            assert!(Id::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn long_identifiers_are_refused() {
        assert!(Id::parse(&"x".repeat(MAX_BYTES)).is_ok());
        let why = Id::parse(&"é".repeat(9000)).unwrap_err().to_string();
        assert!(why.contains(&MAX_BYTES.to_string()) && why.len() < 200, "{why}");
    }

    #[test]
    fn family_and_variant() {
        let id = Id::parse("byte/multi/1@one-cpu").unwrap();
        assert_eq!((id.family(), id.variant()), ("byte", Some("one-cpu")));
        assert_eq!(Id::parse("iocall@hp").unwrap().family(), "iocall");
    }

    #[test]
    fn wildcards_stop_at_variants() {
        let hit = |pattern: &str, id: &str| Selector::new(pattern).matches(&Id::parse(id).unwrap());
        assert!(hit("byte/*", "byte/pipe"));
        assert!(hit("byte/*", "byte/multi/6"));
        assert!(!hit("byte/*", "byte/multi/6@one-cpu"));
        assert!(hit("byte/*@*", "byte/multi/6@one-cpu"));
        assert!(!hit("byte/*@*", "byte/multi/6"));
        assert!(hit("*", "iocall"));
        assert!(!hit("*", "iocall@hp"));
        assert!(hit("iocall@hp", "iocall@hp"));
        assert!(hit("byte/multi/?", "byte/multi/6"));
        assert!(!hit("byte/multi/?", "byte/multi/16"));
        assert!(hit("*pipe*512*", "kernel/pipeback/512"));
        assert!(hit("**", "byte/pipe"));
        assert!(!hit("", "byte/pipe"));
        assert!(hit("byte", "byte/pipe"));
        assert!(!hit("byte", "byte/multi/6@one-cpu"));
        assert!(!hit("byt", "byte/pipe"));
    }
}
