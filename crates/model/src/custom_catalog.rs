//! A custom catalog, stored with its run so that results can be shown, reported and extended after the files have changed.

use crate::{Finding, Id, Note, hexadecimal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Hexadecimal digits of the hash that are shown.
const HASH_SHOWN: usize = 12;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CustomCatalog {
    pub name: String,
    /// SHA-256 of all its files, hexadecimal.
    pub hash: String,
    /// First parts of the identifiers of its benchmarks.
    pub families: Vec<String>,
    /// Its files by path: `mine.toml`, `mine/sum.c`.
    pub files: BTreeMap<String, CustomFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CustomFile {
    /// Whether it may be executed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
    #[serde(flatten)]
    pub contents: Contents,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Contents {
    Text(String),
    /// Any other content, hexadecimal.
    Hex(String),
}

impl Contents {
    /// A file of these bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(text),
            Err(other) => Self::Hex(hexadecimal(other.as_bytes())),
        }
    }

    /// The bytes; `None` if they are damaged.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.clone().into_bytes()),
            Self::Hex(hex) => {
                let pairs = hex.as_bytes().chunks(2);
                let byte = |pair: &[u8]| match pair {
                    [high, _] if *high != b'+' => {
                        u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()
                    }
                    _ => None,
                };
                pairs.map(byte).collect()
            }
        }
    }

    /// The content, if it is text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Hex(_) => None,
        }
    }
}

impl CustomCatalog {
    pub fn has(&self, id: &Id) -> bool {
        self.families.iter().any(|family| family == id.family())
    }

    /// Its name with the beginning of its hash, for people.
    pub fn named(&self) -> String {
        let short = self.hash.get(..HASH_SHOWN).unwrap_or(&self.hash);
        format!("{} ({short})", self.name)
    }

    /// The note on every result of its benchmarks.
    pub fn note(&self) -> Note {
        Note::new(Finding::Custom { catalog: self.named() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip() {
        for bytes in [&b""[..], b"int x;\n", b"\x7fELF\xff\x00\x80"] {
            let contents = Contents::new(bytes.to_vec());
            assert_eq!(contents.bytes().as_deref(), Some(bytes));
        }
        assert_eq!(Contents::Hex("7f4".to_owned()).bytes(), None);
        assert_eq!(Contents::Hex("zz".to_owned()).bytes(), None);
        assert_eq!(Contents::Hex("+f".to_owned()).bytes(), None);
    }
}
