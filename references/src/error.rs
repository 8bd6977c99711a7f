//! Errors in a file, with their place.

/// An invalid or contradictory file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("references/{file}:{line}: {what}")]
pub struct Error {
    /// Path below `references/`.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub what: String,
}

/// A file during parsing: converts offsets to lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub path: &'a str,
    pub text: &'a str,
}

impl Source<'_> {
    /// An error at a byte offset.
    pub fn error(&self, offset: usize, what: impl Into<String>) -> Error {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        Error {
            file: self.path.to_owned(),
            line: 1 + before.iter().filter(|&&byte| byte == b'\n').count(),
            what: what.into(),
        }
    }

    /// An error at a key or a value unless it holds.
    pub fn must<S: Into<String>>(
        &self,
        holds: bool,
        position: &toml::Spanned<String>,
        what: impl FnOnce() -> S,
    ) -> Result<(), Error> {
        if holds {
            return Ok(());
        }
        Err(self.error(position.span().start, what()))
    }

    /// Deserializes the text.
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, Error> {
        toml::from_str(self.text).map_err(|error: toml::de::Error| {
            let offset = error.span().map_or(0, |span| span.start);
            self.error(offset, error.message())
        })
    }
}
