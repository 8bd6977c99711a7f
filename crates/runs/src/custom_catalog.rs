//! Custom catalogs (`--catalog DIR`): their entries, sources and programs.

use crate::context::Context;
use anyhow::{Context as _, Result};
use gritstone_catalogue::{Own, folder};
use gritstone_model::{Benchmark, CustomCatalog, Plan, RunView, Settings, Work};
use std::collections::BTreeSet;
use std::path::Path;

/// # Errors
/// Says what is wrong with the catalog, and where.
pub fn read(folder: &Path) -> Result<Own> {
    let kept = folder::read(folder)?;
    of(kept).with_context(|| format!("the catalog {}", folder.display()))
}

/// # Errors
/// When the catalog is damaged, or made for another version of Gritstone.
pub fn of(kept: CustomCatalog) -> Result<Own> {
    let ours = gritstone_kernels::sources()
        .iter()
        .map(|source| source.path);
    Ok(gritstone_catalogue::own(
        kept,
        &ours.collect::<BTreeSet<_>>(),
    )?)
}

impl Context {
    /// Adds the catalog in a directory; its programs are not trusted yet.
    pub fn with_catalogue(mut self, folder: Option<&Path>) -> Result<Self> {
        if let Some(folder) = folder {
            let own = read(folder)?;
            let theirs = own.catalogue.clone();
            self.catalogue.families.extend(theirs.families);
            self.catalogue.benchmarks.extend(theirs.benchmarks);
            self.own = Some(own);
        }
        Ok(self)
    }

    /// Without selectors, all entries of the custom catalog.
    pub fn selectors(&self, given: &[String]) -> Vec<String> {
        match &self.own {
            Some(own) if given.is_empty() => {
                let rows = own.catalogue.benchmarks.iter();
                rows.map(|row| row.id.to_string()).collect()
            }
            _ => given.to_vec(),
        }
    }
}

/// The catalog as a run stores it; `None` if none of these benchmarks is custom.
pub fn used_catalog(own: Option<&Own>, rows: &[Benchmark]) -> Option<CustomCatalog> {
    let own = own?;
    let any = rows.iter().any(|row| own.kept.has(&row.id));
    any.then(|| own.kept.clone())
}

/// Sources of Gritstone and of the catalog: path, text.
pub fn sources(own: Option<&Own>) -> Vec<(&str, &str)> {
    let files = own.into_iter().flat_map(|own| &own.kept.files);
    let texts = files.filter_map(|(path, file)| Some((path.as_str(), file.contents.text()?)));
    let ours = gritstone_kernels::sources().iter();
    let ours = ours.map(|source| (source.path, source.text));
    ours.chain(texts.filter(|(path, _)| path.contains('/')))
        .collect()
}

pub fn programs(own: Option<&Own>) -> impl Iterator<Item = String> {
    let all = own.map(|own| own.compiled.iter().chain(&own.executables));
    all.into_iter().flatten().cloned()
}

/// The catalog, if the plan has benchmarks of it.
pub fn in_plan<'a>(own: Option<&'a Own>, plan: &Plan) -> Option<&'a Own> {
    own.filter(|own| plan.benchmarks.iter().any(|row| own.kept.has(&row.id)))
}

pub fn programs_of(row: &Benchmark) -> impl Iterator<Item = &String> {
    let work = match &row.work {
        Work::Kernel(work) => Some(work),
        _ => None,
    };
    work.into_iter()
        .flat_map(|work| work.uses.iter().chain([&work.program]))
}

/// The custom catalogs stored with runs; an unreadable one is a warning.
pub(crate) fn of_runs(runs: &[RunView]) -> Vec<Own> {
    let kept = runs.iter().filter_map(|run| run.settings.as_ref());
    let kept = kept.filter_map(|settings: &Settings| settings.catalogue.clone());
    let read = |kept: CustomCatalog| {
        let name = kept.named();
        of(kept).map_err(|why| {
            log::warn!(
                "the catalog {name} cannot be read, so its results are shown without descriptions: {why:#}"
            );
        })
    };
    kept.filter_map(|kept| read(kept).ok()).collect()
}
