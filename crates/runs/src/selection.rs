//! Resolves the words of a command to runs, systems and benchmark selectors.

use crate::context::{Context, this_machine};
use anyhow::{Context as _, Result, bail};
use gritstone_model::{RunView, Selector};
use gritstone_plan::{Selectors, select};
use std::path::Path;
use std::slice;

pub struct Selection<T = RunView> {
    /// Runs and systems, each with its word.
    pub runs: Vec<(String, T)>,
    /// Benchmarks, families and globs.
    pub selectors: Vec<String>,
}

impl Context {
    /// A word that names no run or system, or is only part of an identifier, but matches benchmarks of the catalog or of a run before it, is
    /// a selector.
    ///
    /// # Errors
    /// When a word is neither.
    pub fn select_runs(&self, words: &[String]) -> Result<Selection> {
        self.select(words, |word| self.view(word), std::slice::from_ref)
    }

    /// As [`Context::select_runs`], for words that name several runs, separated by commas. With `all_runs`, a label names every run that
    /// has it.
    ///
    /// # Errors
    /// As [`Context::select_runs`].
    pub fn select_sides(
        &self,
        words: &[String],
        all_runs: bool,
    ) -> Result<Selection<Vec<RunView>>> {
        let named = |name: &str| match all_runs {
            true => self.labeled(name),
            false => Ok(vec![self.view(name)?]),
        };
        let side = |word: &str| match named(word) {
            // labels and files may have commas
            Err(_) if word.contains(',') => {
                let runs = word.split(',').map(named);
                Ok(runs.collect::<Result<Vec<_>>>()?.concat())
            }
            runs => runs,
        };
        self.select(words, side, Vec::as_slice)
    }

    /// Every run with this label, else the run of this name.
    fn labeled(&self, name: &str) -> Result<Vec<RunView>> {
        let store = self.reader()?.filter(|_| self.is_store_name(name));
        let Some(store) = store else {
            return Ok(vec![self.view(name)?]);
        };
        let heads = store.runs()?.into_iter();
        let labeled = heads.filter(|head| head.label.as_deref() == Some(name));
        let views = labeled.map(|head| self.stored(&store, &head.id));
        match views.collect::<Result<Vec<_>>>()? {
            views if views.is_empty() => Ok(vec![self.view(name)?]),
            views => {
                // an ambiguous name is an error
                store.resolve(name, this_machine)?;
                Ok(views)
            }
        }
    }

    fn select<T>(
        &self,
        words: &[String],
        named: impl Fn(&str) -> Result<T>,
        views: impl Fn(&T) -> &[RunView],
    ) -> Result<Selection<T>> {
        let mut runs: Vec<(String, T)> = vec![];
        let mut selectors = vec![];
        for word in words {
            let selector = Selector::new(word);
            let known = self.catalogue.benchmarks.iter().map(|benchmark| &benchmark.id);
            let results = runs.iter().flat_map(|(_, named)| views(named));
            let results = results.flat_map(|view| &view.results).map(|result| &result.id);
            let is_selector = known.chain(results).any(|id| selector.matches(id));
            if is_selector && self.is_part_of_identifier(word) {
                selectors.push(word.clone());
                continue;
            }
            match named(word) {
                Ok(named) => runs.push((word.clone(), named)),
                Err(_) if is_selector => selectors.push(word.clone()),
                Err(error) => return Err(self.explain_unknown_word(word, error)),
            }
        }
        Ok(Selection { runs, selectors })
    }

    fn is_part_of_identifier(&self, word: &str) -> bool {
        let store = self.reader().ok().flatten().filter(|_| self.is_store_name(word));
        let named = store.and_then(|store| store.resolve(word, this_machine).ok());
        named.is_some_and(|named| named.by_part)
    }

    /// Suggests systems or similar benchmarks for a word that looks like an identifier.
    fn explain_unknown_word(&self, word: &str, otherwise: anyhow::Error) -> anyhow::Error {
        let file = Path::new(word).extension().is_some() || word.starts_with(['.', '/']);
        match select(&self.catalogue.benchmarks, &[word.to_owned()]) {
            Err(near) if word.contains('/') && !file && !word.starts_with("ref:") => {
                self.suggest_reference(word, near.into())
            }
            _ => otherwise,
        }
    }

    /// [`Context::select_runs`], with `last` if the words name no run.
    ///
    /// # Errors
    /// As [`Context::select_runs`], and if no run is stored.
    pub fn select_runs_or_last(&self, words: &[String]) -> Result<Selection> {
        let mut chosen = self.select_runs(words)?;
        if chosen.runs.is_empty() {
            chosen.runs.push(("last".to_owned(), self.view("last")?));
        }
        Ok(chosen)
    }

    /// The single run that the words name, else `last`, with its selected results.
    ///
    /// # Errors
    /// As [`Context::select_runs`], and if they name several runs.
    pub fn select_run(&self, words: &[String]) -> Result<(String, RunView, Vec<String>)> {
        let (name, mut view, selectors) = self.whole_run(words)?;
        retain_selected(slice::from_mut(&mut view), &selectors)?;
        Ok((name, view, selectors))
    }

    /// As [`Context::select_run`], with all results.
    ///
    /// # Errors
    /// As [`Context::select_runs`], and if they name several runs.
    pub fn whole_run(&self, words: &[String]) -> Result<(String, RunView, Vec<String>)> {
        let Selection { mut runs, selectors } = self.select_runs_or_last(words)?;
        let (name, view) = runs.pop().context("no run is named")?;
        if let Some((other, _)) = runs.pop() {
            bail!(
                "'{other}' and '{name}' are two runs, and this command takes one: `gritstone compare` takes several"
            );
        }
        Ok((name, view, selectors))
    }
}

/// No selector keeps all results.
///
/// # Errors
/// When a selector matches no result of any run.
pub fn retain_selected(views: &mut [RunView], selectors: &[String]) -> Result<()> {
    let selectors = Selectors::new(selectors);
    let ids = || {
        let results = views.iter().flat_map(|view| &view.results);
        results.map(|result| &result.id)
    };
    if let Some(selector) = selectors.unmatched(ids) {
        let runs: Vec<&str> = views.iter().map(|view| view.id.as_str()).collect();
        bail!(
            "no result matches '{selector}' in {}; `gritstone show {}` lists the results",
            runs.join(" or "),
            runs[0]
        );
    }
    for view in views {
        view.results.retain(|result| selectors.select(&result.id));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_store::Store;

    #[test]
    fn selectors_precede_parts_of_identifiers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/run.jsonl");
        let mut run = crate::files::read(fixture.as_ref()).unwrap().run;
        run.info.id = "20260101-000000-00db0000".to_owned();
        run.info.label = Some("byte".to_owned());
        Store::open(&path).unwrap().import(&run).unwrap();
        let context = Context::new(Some(path));
        let selected = |word: &str| context.select_runs(&[word.to_owned()]).unwrap();
        assert_eq!(selected("db").selectors, ["db"]);
        for word in ["00db", "byte", &run.info.id] {
            assert_eq!(selected(word).runs[0].0, word);
        }
    }
}
