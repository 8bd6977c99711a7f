//! Suites: named, ordered selections, in `catalogue/suites.toml`.

use crate::error::{Error, Text};
use gritstone_model::{Benchmark, Selector};
use serde::{Deserialize, Serialize};
use toml::Spanned;

/// A named selection of benchmarks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Its name, for `--suite`.
    pub name: String,
    /// Its purpose, in a few words.
    pub title: String,
    /// Selectors in the order of the budget.
    pub benchmarks: Vec<String>,
    /// Benchmarks that are also measured as simultaneous copies, one per CPU.
    #[serde(default)]
    pub all_cpus: Vec<String>,
    /// Whether the reference workloads of the documents are measured too.
    #[serde(default)]
    pub reference: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    suite: Vec<Spanned<Suite>>,
}

/// Reads the suites of these benchmarks.
///
/// # Errors
/// The first fault, with its suite: a duplicate name, a selector that matches nothing or the same as another, a benchmark that cannot run
/// as copies.
pub fn suites(name: &str, text: &str, benchmarks: &[Benchmark]) -> Result<Vec<Suite>, Error> {
    let text = Text { name, text };
    let file: File = toml::from_str(text.text).map_err(|fault| text.serde(&fault, 0..0))?;
    let mut suites: Vec<Suite> = vec![];
    for written in file.suite {
        let (span, suite) = (written.span(), written.into_inner());
        let must = |holds, what| text.must(holds, &span, || format!("{what} in '{}'", suite.name));
        let first = suites.iter().all(|known| known.name != suite.name);
        must(first, "there are two suites of one name".to_owned())?;
        let selected = |by: &str| {
            let selector = Selector::new(by);
            benchmarks.iter().filter(move |b| selector.matches(&b.id))
        };
        for (index, by) in suite.benchmarks.iter().enumerate() {
            let good = selected(by).next().is_some() && !suite.benchmarks[..index].contains(by);
            must(good, format!("'{by}' selects nothing, or is there twice"))?;
        }
        for by in &suite.all_cpus {
            let copied = selected(by).all(Benchmark::can_be_copied);
            let good = suite.benchmarks.contains(by) && copied;
            must(good, format!("'{by}' is not listed, or not a kernel on one CPU"))?;
        }
        suites.push(suite);
    }
    Ok(suites)
}
