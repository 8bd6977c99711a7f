//! Suites: selections that have a name and an order, in `catalogue/suites.toml`.

use crate::error::{Error, Text};
use gritstone_model::{Benchmark, Selector};
use serde::{Deserialize, Serialize};
use toml::Spanned;

/// A selection with a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suite {
    /// Its name, for `--suite`.
    pub name: String,
    /// What it answers, in a few words.
    pub title: String,
    /// Selectors, in the order in which a budget reaches what they select.
    pub benchmarks: Vec<String>,
    /// Those of its benchmarks that are also measured as one copy on each CPU, all at once.
    pub all_cpus: Vec<String>,
    /// Whether the reference workloads of the documents are measured too.
    pub reference: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    suite: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: Spanned<String>,
    title: String,
    benchmarks: Vec<Spanned<String>>,
    #[serde(default)]
    all_cpus: Vec<Spanned<String>>,
    #[serde(default)]
    reference: bool,
}

/// Reads the suites of these benchmarks.
///
/// # Errors
/// The first fault, with its place: a name that is there twice, a selector that selects nothing or the same as another, a benchmark that
/// cannot be measured as copies.
pub fn suites(name: &str, text: &str, benchmarks: &[Benchmark]) -> Result<Vec<Suite>, Error> {
    let text = Text { name, text };
    let file: File = toml::from_str(text.text).map_err(|fault| text.serde(&fault, 0..0))?;
    let mut suites: Vec<Suite> = vec![];
    for written in file.suite {
        let of = written.name.as_ref();
        text.must(
            suites.iter().all(|suite| suite.name != *of),
            &written.name.span(),
            || format!("there are two suites '{of}'"),
        )?;
        let selected = |by: &str| {
            let selector = Selector::new(by);
            benchmarks.iter().filter(move |b| selector.matches(&b.id))
        };
        for (at, by) in written.benchmarks.iter().enumerate() {
            let earlier = &written.benchmarks[..at];
            let twice = earlier.iter().any(|other| other.as_ref() == by.as_ref());
            let any = selected(by.as_ref()).next().is_some();
            text.must(any && !twice, &by.span(), || {
                format!("'{}' selects nothing, or is there twice", by.as_ref())
            })?;
        }
        for by in &written.all_cpus {
            let listed = written
                .benchmarks
                .iter()
                .any(|id| id.as_ref() == by.as_ref());
            let copied = selected(by.as_ref()).all(Benchmark::can_be_copied);
            text.must(listed && copied, &by.span(), || {
                format!(
                    "'{}' is not in the suite, or no kernel on one CPU",
                    by.as_ref()
                )
            })?;
        }
        let plain = |list: Vec<Spanned<String>>| list.into_iter().map(Spanned::into_inner);
        suites.push(Suite {
            name: written.name.into_inner(),
            title: written.title,
            benchmarks: plain(written.benchmarks).collect(),
            all_cpus: plain(written.all_cpus).collect(),
            reference: written.reference,
        });
    }
    Ok(suites)
}
