//! Selection of benchmarks by selectors.

use gritstone_model::{Benchmark, Id, Selector};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no benchmark is called '{selector}'{hint}; `gritstone list` shows all of them")]
pub struct SelectError {
    pub selector: String,
    /// `; did you mean 'byte/pipe'?`, or empty.
    pub hint: String,
}

/// Benchmarks that any selector matches (without selectors: all), and all that these are computed from, in the order
/// of the catalog. Fails for a selector that matches nothing; the error suggests a similar name.
pub fn select(all: &[Benchmark], selectors: &[String]) -> Result<Vec<Benchmark>, SelectError> {
    Ok(select_refs(all, selectors)?.into_iter().cloned().collect())
}

/// [`select`] by reference.
pub fn select_refs<'a>(
    all: &'a [Benchmark],
    selectors: &[String],
) -> Result<Vec<&'a Benchmark>, SelectError> {
    let selectors = Selectors::new(selectors);
    if let Some(selector) = selectors.unmatched(|| all.iter().map(|b| &b.id)) {
        return Err(SelectError { selector: selector.to_owned(), hint: hint(all, selector) });
    }
    let wanted = with_parts(all, &selectors);
    Ok(all.iter().filter(|b| wanted.contains(&b.id)).collect())
}

/// Selectors of a command line. Without any, everything is selected.
pub struct Selectors(Vec<Selector>);

impl Selectors {
    pub fn new(texts: &[String]) -> Self {
        Self(texts.iter().map(|text| Selector::new(text)).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Selector> {
        self.0.iter()
    }

    pub fn select(&self, id: &Id) -> bool {
        self.is_empty() || self.0.iter().any(|selector| selector.matches(id))
    }

    /// The first selector that matches none of `ids`.
    pub fn unmatched<'a, I: Iterator<Item = &'a Id>>(&self, ids: impl Fn() -> I) -> Option<&str> {
        let matches_none = |selector: &&Selector| !ids().any(|id| selector.matches(id));
        self.0.iter().find(matches_none).map(Selector::as_str)
    }
}

/// The selected benchmarks, and all that these are computed from.
pub fn with_parts<'a>(all: &'a [Benchmark], selectors: &Selectors) -> BTreeSet<&'a Id> {
    let by_id: BTreeMap<&Id, &Benchmark> = all.iter().map(|b| (&b.id, b)).collect();
    let mut open: Vec<&Id> = by_id.keys().copied().collect();
    open.retain(|id| selectors.select(id));
    let mut wanted = BTreeSet::new();
    while let Some(id) = open.pop() {
        if wanted.insert(id) {
            open.extend(by_id.get(id).iter().flat_map(|b| b.work.parts()));
        }
    }
    wanted
}

fn hint(all: &[Benchmark], text: &str) -> String {
    let mut ids: Vec<&str> = all.iter().map(|b| b.id.as_str()).collect();
    // `byte/` of a completion, `byte/multi`
    let folder = text.trim_end_matches('/');
    if ids.iter().any(|id| id.starts_with(&format!("{folder}/"))) {
        return format!("; did you mean '{folder}/*'?");
    }
    let plain = text.replace('*', "");
    if !plain.contains('/') {
        ids.extend(all.iter().map(|b| b.id.family()));
    }
    match nearest(&plain, &ids) {
        // shorter texts resemble too many names
        Some(id) if plain.chars().count() > 2 => format!("; did you mean '{id}'?"),
        _ => String::new(),
    }
}

/// The most similar name, if any is similar.
pub fn nearest<'a>(text: &str, names: &[&'a str]) -> Option<&'a str> {
    names
        .iter()
        .map(|name| {
            // the end of a name may stand for it
            let last = name.rsplit('/').next().unwrap_or(name);
            let likeness = strsim::jaro_winkler(text, name).max(strsim::jaro_winkler(text, last));
            (likeness, *name)
        })
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(a.1)))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::tests::{benchmark, derived};

    fn catalogue() -> Vec<Benchmark> {
        vec![
            benchmark("byte/pipe"),
            benchmark("byte/pipe@cross"),
            benchmark("byte/fcall-empty"),
            benchmark("byte/fcall-assign"),
            derived("byte/fcall-overhead", &["byte/fcall-empty", "byte/fcall-assign"]),
            benchmark("iocall"),
        ]
    }

    fn ids(selectors: &[&str]) -> Vec<String> {
        let selectors: Vec<String> = selectors.iter().map(ToString::to_string).collect();
        let found = select(&catalogue(), &selectors).unwrap();
        found.iter().map(|b| b.id.to_string()).collect()
    }

    #[test]
    fn globs_and_names_select() {
        assert_eq!(ids(&[]).len(), 6);
        assert_eq!(ids(&["iocall", "byte/pipe"]), ["byte/pipe", "iocall"]);
        assert_eq!(ids(&["byte/*"]).len(), 4);
        assert_eq!(ids(&["*@*"]), ["byte/pipe@cross"]);
        assert_eq!(ids(&["iocall", "iocall"]), ["iocall"]);
    }

    #[test]
    fn derived_benchmarks_bring_their_parts() {
        assert_eq!(
            ids(&["byte/fcall-overhead"]),
            ["byte/fcall-empty", "byte/fcall-assign", "byte/fcall-overhead"]
        );
    }

    #[test]
    fn unknown_names_get_suggestions() {
        let error = |text: &str| select(&catalogue(), &[text.to_owned()]).unwrap_err().to_string();
        assert!(error("byte/pip").contains("did you mean 'byte/pipe'?"));
        assert!(error("byt").contains("did you mean 'byte'?"));
        assert!(error("pipes").contains("did you mean 'byte/pipe'?"));
        assert_eq!(ids(&["byte"]), ids(&["byte/*"]));
        for text in ["xyzzy", "x", "pi"] {
            assert!(!error(text).contains("did you mean"), "{text}");
        }
        assert!(error("xyzzy").contains("gritstone list"));
    }
}
