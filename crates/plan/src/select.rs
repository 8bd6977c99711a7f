//! Which benchmarks are meant.

use gritstone_model::{Benchmark, Id, Selector};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// A selector that selects nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no benchmark is called '{selector}'{hint}; `gritstone list` shows all of them")]
pub struct SelectError {
    /// The selector.
    pub selector: String,
    hint: String,
}

/// The benchmarks that any of `selectors` matches, in the order of the catalog, together with the rows that a derived
/// one, a rating or a curve among them is made of. No selectors: all.
///
/// # Errors
/// The first selector that matches nothing, with the name nearest to it.
pub fn select(all: &[Benchmark], selectors: &[String]) -> Result<Vec<Benchmark>, SelectError> {
    Ok(selected(all, selectors)?.into_iter().cloned().collect())
}

/// The same where they lie.
///
/// # Errors
/// As [`select`].
pub fn selected<'a>(
    all: &'a [Benchmark],
    selectors: &[String],
) -> Result<Vec<&'a Benchmark>, SelectError> {
    if selectors.is_empty() {
        return Ok(all.iter().collect());
    }
    let mut wanted: BTreeSet<&Id> = BTreeSet::new();
    for text in selectors {
        let selector = Selector::new(text);
        let before = wanted.len();
        let mut any = false;
        for benchmark in all.iter().filter(|b| selector.matches(&b.id)) {
            any = true;
            wanted.insert(&benchmark.id);
        }
        if !any && before == wanted.len() {
            return Err(SelectError {
                selector: text.clone(),
                hint: hint(all, text),
            });
        }
    }
    // what a row is made of may itself be made of others
    let by_id: BTreeMap<&Id, &Benchmark> = all.iter().map(|b| (&b.id, b)).collect();
    let mut open: Vec<&Id> = wanted.iter().copied().collect();
    while let Some(id) = open.pop() {
        for part in by_id.get(id).iter().flat_map(|b| b.work.parts()) {
            if wanted.insert(part) {
                open.push(part);
            }
        }
    }
    Ok(all.iter().filter(|b| wanted.contains(&b.id)).collect())
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
        Some(id) => format!("; did you mean '{id}'?"),
        None => String::new(),
    }
}

/// The name that is most like `text`, if any is like it at all.
#[must_use]
pub fn nearest<'a>(text: &str, names: &[&'a str]) -> Option<&'a str> {
    names
        .iter()
        .map(|name| {
            // someone who types only the end of a name means it too
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
            derived(
                "byte/fcall-overhead",
                &["byte/fcall-empty", "byte/fcall-assign"],
            ),
            benchmark("iocall"),
        ]
    }

    fn ids(selectors: &[&str]) -> Vec<String> {
        let selectors: Vec<String> = selectors.iter().map(ToString::to_string).collect();
        let found = select(&catalogue(), &selectors).unwrap();
        found.iter().map(|b| b.id.to_string()).collect()
    }

    #[test]
    fn globs_names_and_everything() {
        assert_eq!(ids(&[]).len(), 6);
        assert_eq!(ids(&["iocall", "byte/pipe"]), ["byte/pipe", "iocall"]);
        assert_eq!(ids(&["byte/*"]).len(), 4);
        assert_eq!(ids(&["*@*"]), ["byte/pipe@cross"]);
        assert_eq!(ids(&["iocall", "iocall"]), ["iocall"]);
    }

    #[test]
    fn a_derived_row_brings_what_it_is_made_of() {
        assert_eq!(
            ids(&["byte/fcall-overhead"]),
            [
                "byte/fcall-empty",
                "byte/fcall-assign",
                "byte/fcall-overhead"
            ]
        );
    }

    #[test]
    fn an_unknown_name_gets_the_nearest() {
        let error = |text: &str| {
            select(&catalogue(), &[text.to_owned()])
                .unwrap_err()
                .to_string()
        };
        assert!(error("byte/pip").contains("did you mean 'byte/pipe'?"));
        assert!(error("byt").contains("did you mean 'byte'?"));
        assert!(error("pipes").contains("did you mean 'byte/pipe'?"));
        assert_eq!(ids(&["byte"]), ids(&["byte/*"]));
        assert!(!error("xyzzy").contains("did you mean"));
        assert!(error("xyzzy").contains("gritstone list"));
    }
}
