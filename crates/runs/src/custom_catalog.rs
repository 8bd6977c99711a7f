//! Custom catalogs (`--catalog DIR`): their entries, sources and programs.

use crate::context::Context;
use anyhow::{Context as _, Result};
use gritstone_catalogue::{CustomBenchmarks, folder};
use gritstone_model::{Benchmark, CustomCatalog, Plan, RunView, Settings, Work};
use std::collections::BTreeSet;
use std::path::Path;

/// # Errors
/// When the catalog is invalid: what is wrong, and where.
pub fn read(folder: &Path) -> Result<CustomBenchmarks> {
    let catalog = folder::read(folder)?;
    parse_catalog(catalog).with_context(|| format!("the catalog {}", folder.display()))
}

/// # Errors
/// When the catalog is damaged, or made for another version of Gritstone.
pub fn parse_catalog(catalog: CustomCatalog) -> Result<CustomBenchmarks> {
    let shipped = gritstone_kernels::sources().iter().map(|source| source.path);
    Ok(gritstone_catalogue::check_custom(catalog, &shipped.collect::<BTreeSet<_>>())?)
}

impl Context {
    /// Adds the catalog in a directory; its programs are not trusted yet.
    pub fn with_catalog(mut self, folder: Option<&Path>) -> Result<Self> {
        if let Some(folder) = folder {
            let custom = read(folder)?;
            let catalogue = custom.catalogue.clone();
            self.catalogue.families.extend(catalogue.families);
            self.catalogue.benchmarks.extend(catalogue.benchmarks);
            self.custom = Some(custom);
        }
        Ok(self)
    }

    /// The given selectors; by default, all benchmarks of the custom catalog.
    pub fn selectors(&self, given: &[String]) -> Vec<String> {
        match &self.custom {
            Some(custom) if given.is_empty() => {
                let benchmarks = custom.catalogue.benchmarks.iter();
                benchmarks.map(|benchmark| benchmark.id.to_string()).collect()
            }
            _ => given.to_vec(),
        }
    }
}

/// The catalog to store with a run; `None` if none of its benchmarks is custom.
pub fn used_catalog(
    custom: Option<&CustomBenchmarks>,
    benchmarks: &[Benchmark],
) -> Option<CustomCatalog> {
    let custom = custom?;
    let any = benchmarks.iter().any(|benchmark| custom.stored.has(&benchmark.id));
    any.then(|| custom.stored.clone())
}

/// Sources of Gritstone and of the catalog: path, text.
pub fn sources(custom: Option<&CustomBenchmarks>) -> Vec<(&str, &str)> {
    let files = custom.into_iter().flat_map(|custom| &custom.stored.files);
    let texts = files.filter_map(|(path, file)| Some((path.as_str(), file.contents.text()?)));
    let shipped = gritstone_kernels::sources().iter();
    let shipped = shipped.map(|source| (source.path, source.text));
    shipped.chain(texts.filter(|(path, _)| path.contains('/'))).collect()
}

pub fn programs(custom: Option<&CustomBenchmarks>) -> impl Iterator<Item = String> {
    let all = custom.map(|custom| custom.compiled.iter().chain(&custom.executables));
    all.into_iter().flatten().cloned()
}

/// The catalog, if the plan has benchmarks of it.
pub fn catalog_in_plan<'a>(
    custom: Option<&'a CustomBenchmarks>,
    plan: &Plan,
) -> Option<&'a CustomBenchmarks> {
    custom.filter(|custom| plan.benchmarks.iter().any(|benchmark| custom.stored.has(&benchmark.id)))
}

pub fn programs_of(benchmark: &Benchmark) -> impl Iterator<Item = &String> {
    let work = match &benchmark.work {
        Work::Kernel(work) => Some(work),
        _ => None,
    };
    work.into_iter().flat_map(|work| work.uses.iter().chain([&work.program]))
}

/// The custom catalogs stored with runs; an unreadable one is a warning.
pub(crate) fn stored_catalogs(runs: &[RunView]) -> Vec<CustomBenchmarks> {
    let settings = runs.iter().filter_map(|run| run.settings.as_ref());
    let catalogs = settings.filter_map(|settings: &Settings| settings.catalogue.clone());
    let read = |catalog: CustomCatalog| {
        let name = catalog.named();
        parse_catalog(catalog).map_err(|why| {
            log::warn!(
                "the catalog {name} cannot be read, so its results are shown without descriptions: {why:#}"
            );
        })
    };
    catalogs.filter_map(|catalog| read(catalog).ok()).collect()
}
