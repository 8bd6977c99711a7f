//! Resolves the words of a command to runs, systems and benchmark selectors.

use crate::context::Context;
use anyhow::{Context as _, Result, bail};
use gritstone_model::{RunView, Selector};
use gritstone_plan::{Selectors, select};
use std::path::Path;

pub struct Selection {
    /// Runs and systems, each with its word.
    pub runs: Vec<(String, RunView)>,
    /// Benchmarks, families and globs.
    pub selectors: Vec<String>,
}

impl Context {
    /// A word that names no run or system, but matches benchmarks of the catalog or of a run before it, is a selector.
    ///
    /// # Errors
    /// When a word is neither.
    pub fn select_runs(&self, words: &[String]) -> Result<Selection> {
        let (mut runs, mut selectors) = (vec![], vec![]);
        for word in words {
            match self.view(word) {
                Ok(view) => runs.push((word.clone(), view)),
                Err(error) => {
                    let selector = Selector::new(word);
                    let known = self.catalogue.benchmarks.iter().map(|row| &row.id);
                    let results = runs
                        .iter()
                        .flat_map(|(_, view): &(_, RunView)| &view.results);
                    let mut known = known.chain(results.map(|result| &result.id));
                    if !known.any(|id| selector.matches(id)) {
                        return Err(self.explain_unknown_word(word, error));
                    }
                    selectors.push(word.clone());
                }
            }
        }
        Ok(Selection { runs, selectors })
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
        let Selection {
            mut runs,
            selectors,
        } = self.select_runs_or_last(words)?;
        let (name, mut view) = runs.pop().context("no run is named")?;
        if let Some((other, _)) = runs.pop() {
            bail!(
                "'{other}' and '{name}' are two runs, and this command takes one: `gritstone compare` takes several"
            );
        }
        retain_selected(&mut view, &selectors)?;
        Ok((name, view, selectors))
    }
}

/// No selector keeps all results.
///
/// # Errors
/// When a selector matches no result.
pub fn retain_selected(view: &mut RunView, selectors: &[String]) -> Result<()> {
    let selectors = Selectors::new(selectors);
    let ids = || view.results.iter().map(|result| &result.id);
    if let Some(selector) = selectors.unmatched(ids) {
        bail!(
            "{} has no result that matches '{selector}'; `gritstone show {}` lists its results",
            view.id,
            view.id
        );
    }
    view.results.retain(|result| selectors.select(&result.id));
    Ok(())
}
