//! A file as a tree of values that know their places, from which serde makes what is wanted.

use crate::error::{Error, Text};
use crate::read::Shared;
use gritstone_model::is_unprintable;
use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// A value with its place.
pub(crate) type At<T> = Spanned<T>;

/// Texts for people: line breaks count as blanks, and they must say something.
const PROSE: [&str; 15] = [
    "any",
    "document",
    "how",
    "label",
    "not_comparable",
    "operation",
    "package",
    "place",
    "remark",
    "rule",
    "stdout",
    "title",
    "what",
    "why",
    "work",
];

/// What serde makes of a value.
pub(crate) fn made<T: DeserializeOwned>(
    text: Text<'_>,
    value: At<DeValue<'_>>,
) -> Result<T, Error> {
    let whole = value.span();
    T::deserialize(ValueDeserializer::from(value))
        .map_err(|fault| text.error(&fault.span().unwrap_or(whole), fault.message()))
}

/// Joins the lines of prose, and finds what says nothing or has letters that nobody sees.
pub(crate) fn texts(file: Text<'_>, key: &str, value: &mut At<DeValue<'_>>) -> Result<(), Error> {
    let at = value.span();
    match value.as_mut() {
        DeValue::String(text) => {
            if PROSE.contains(&key) {
                *text = text.split_whitespace().collect::<Vec<_>>().join(" ").into();
                if text.is_empty() {
                    return Err(file.error(&at, format!("{key} is empty: say it")));
                }
            }
            // a word for a program may have lines
            let meant = |c| key != "params" && matches!(c, '\n' | '\t');
            printable(file, key, text, &at, meant)
        }
        DeValue::Array(items) => items.iter_mut().try_for_each(|item| texts(file, key, item)),
        // what is in files is not ours to judge
        DeValue::Table(_) if key == "files" => Ok(()),
        DeValue::Table(table) => table.iter_mut().try_for_each(|(name, value)| {
            printable(file, "this key", name.get_ref(), &name.span(), |_| false)?;
            // params have any names
            let name = if key == "params" { key } else { name.get_ref() };
            texts(file, name, value)
        }),
        _ => Ok(()),
    }
}

fn printable(
    file: Text<'_>,
    key: &str,
    text: &str,
    at: &Range<usize>,
    meant: impl Fn(char) -> bool,
) -> Result<(), Error> {
    match text.chars().find(|&c| is_unprintable(c) && !meant(c)) {
        Some(c) => {
            let what = format!(
                "{key} has the letter U+{:04X}, which is for terminals and not for readers: take it away",
                u32::from(c)
            );
            Err(file.error(at, what))
        }
        None => Ok(()),
    }
}

/// An entry or a variant as a tree.
pub(crate) struct Entry<'a> {
    pub shared: &'a Shared<'a>,
    pub at: Range<usize>,
    pub table: DeTable<'a>,
}

/// The items of a list.
pub(crate) fn list<'a>(
    shared: &Shared<'_>,
    value: At<DeValue<'a>>,
) -> Result<Vec<At<DeValue<'a>>>, Error> {
    let at = value.span();
    match value.into_inner() {
        DeValue::Array(items) => Ok(items.into_iter().collect()),
        _ => Err(shared.text.error(
            &at,
            "this is a list: write [[...]] before its keys, or [...] around its items",
        )),
    }
}

impl<'a> Entry<'a> {
    pub fn of(shared: &'a Shared<'a>, tree: At<DeValue<'a>>) -> Result<Self, Error> {
        let at = tree.span();
        match tree.into_inner() {
            DeValue::Table(table) => Ok(Self { shared, at, table }),
            _ => Err(shared
                .text
                .error(&at, "this is a table: write its keys in { ... }")),
        }
    }

    /// Where something stands, such as `curve.points.1.0`; what is not there stands where the whole does.
    pub fn at(&self, path: &str) -> Range<usize> {
        let mut parts = path.split('.');
        let mut found = parts.next().and_then(|key| self.table.get(key));
        for part in parts {
            let value = found.map(Spanned::get_ref);
            let next = value.and_then(|value| match part.parse::<usize>() {
                Ok(index) => value.get(index),
                Err(_) => value.get(part),
            });
            found = next.or(found);
        }
        found.map_or(self.at.clone(), Spanned::span)
    }

    /// A fault there.
    pub fn fault(&self, path: &str, what: impl Into<String>) -> Error {
        self.shared.text.error(&self.at(path), what)
    }

    /// A fault there unless it holds.
    pub fn must(&self, holds: bool, path: &str, what: impl Display) -> Result<(), Error> {
        if holds {
            Ok(())
        } else {
            Err(self.fault(path, what.to_string()))
        }
    }
}
