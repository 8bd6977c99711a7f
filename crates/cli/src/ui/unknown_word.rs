//! Explains a word after a run that names neither a run nor a benchmark.

use anyhow::{Error, anyhow};
use gritstone_plan::select;
use gritstone_runs::context::Context;
use gritstone_store::ResolveError;

/// The error of a selection: only the first word has to be a run, so that a later one may be a benchmark that the run lacks.
pub fn explain(context: &Context, words: &[String], error: Error) -> Error {
    let Some(ResolveError::Unknown(word, None)) = error.downcast_ref() else {
        return error;
    };
    let before = words.iter().take_while(|other| *other != word);
    let Some(run) = before.into_iter().find(|run| context.view(run).is_ok()) else {
        return error;
    };
    let catalog = match select(&context.catalogue.benchmarks, std::slice::from_ref(word)) {
        Err(why) => why.hint,
        Ok(_) => String::new(),
    };
    anyhow!(
        "no run and no benchmark is called '{word}'{catalog}; `gritstone show {run}` lists the results of {run}, `gritstone runs` the runs"
    )
}
