//! Stored trials: the runs of their sides, compared.

use crate::context::Context;
use crate::uncached::or_warning;
use anyhow::{Context as _, Result};
use gritstone_model::{AbView, RunData};
use gritstone_store::{RunHead, Store};
use std::collections::BTreeMap;

/// The sides of each stored trial, by their names.
pub fn sides(heads: &[RunHead]) -> BTreeMap<&str, BTreeMap<&str, &RunHead>> {
    let mut trials: BTreeMap<&str, BTreeMap<&str, &RunHead>> = BTreeMap::new();
    for head in heads {
        if let Some(side) = &head.side {
            trials.entry(&side.trial).or_default().insert(&side.side, head);
        }
    }
    trials
}

impl Context {
    /// The trial of which a run is a side.
    ///
    /// # Errors
    /// When the run is not a side of a trial, or a side cannot be read.
    pub fn trial(&self, store: &Store, run: &str) -> Result<AbView> {
        let trial = store.info(run)?.settings.trial;
        let trial = trial
            .with_context(|| format!("{run} is not an A/B test: `gritstone show {run}` shows it"))?
            .trial;
        let heads = store.runs()?;
        let mut readable = vec![];
        for head in sides(&heads).remove(trial.as_str()).unwrap_or_default().into_values() {
            if or_warning(&head.id, store.info(&head.id).map_err(Into::into))?.is_some() {
                readable.push(head);
            }
        }
        self.stored_trial(store, &readable)
    }

    /// The trial of these runs, one per side in the order of names: from their launches, or from the cache if they are pruned.
    ///
    /// # Errors
    /// When a run cannot be read.
    pub fn stored_trial(&self, store: &Store, sides: &[&RunHead]) -> Result<AbView> {
        let Some(pruned) = sides.iter().find(|head| head.pruned.is_some()) else {
            let runs = sides.iter().map(|head| Ok(store.load(&head.id)?));
            return Ok(self.trial_of_runs(&runs.collect::<Result<Vec<_>>>()?));
        };
        let mut view = self.pruned_trial(store, &pruned.id)?;
        for side in &mut view.sides {
            // labels may change after pruning
            if let Some(head) = sides.iter().find(|head| head.id == side.run) {
                side.label.clone_from(&head.label);
            }
        }
        Ok(view)
    }

    pub fn trial_of_runs(&self, sides: &[RunData]) -> AbView {
        gritstone_analysis::ab::view(sides, &self.summary_options(sides))
    }
}
