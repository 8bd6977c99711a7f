//! What the commands work on: the catalogue, the references, the store; names of runs and machines turned into views, and
//! two views into a comparison that knows what the store tells of their machines.
//!
//! Must not know: how a view is shown.

use crate::output::remark;
use anyhow::{Context, Result, anyhow};
use gritstone_catalogue::Catalogue;
use gritstone_model::{CompareView, RunView, SCHEMA_RUN};
use gritstone_references::References;
use gritstone_stats::between::{self, Past};
use gritstone_stats::{compare, summary};
use gritstone_store::{ResolveError, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Most bytes of a run that is read from a file; what is cut off there is no JSON any more. All there is today makes
/// less than one MiB.
const LONGEST: u64 = 256 << 20;

/// Everything that is known before a command begins.
pub struct World {
    /// What can be measured.
    pub catalogue: Catalogue,
    /// What was published.
    pub references: References,
    store: Option<PathBuf>,
}

impl World {
    /// Reads what is built in.
    ///
    /// # Errors
    /// When it is damaged; a test reads all of it, so that would be a damaged binary.
    pub fn new(store: Option<PathBuf>) -> Result<Self> {
        Ok(Self {
            catalogue: gritstone_catalogue::all().context("the catalogue in this binary")?,
            references: gritstone_references::all().context("the references in this binary")?,
            store,
        })
    }

    /// Where runs are kept.
    ///
    /// # Errors
    /// When neither an option nor the environment says where.
    pub fn store_path(&self) -> Result<PathBuf> {
        match &self.store {
            Some(path) => Ok(path.clone()),
            None => Ok(gritstone_store::default_path(|name| {
                std::env::var_os(name)
            })?),
        }
    }

    /// The store, for reading; `None` when there is none yet.
    ///
    /// # Errors
    /// When there is one that cannot be read.
    pub fn reader(&self) -> Result<Option<Store>> {
        let path = self.store_path()?;
        match Store::open_read_only(&path) {
            Ok(store) => Ok(Some(store)),
            Err(StoreError::Missing { .. }) => Ok(None),
            // an older schema is brought up to date, a log that a killed run left is worked in
            Err(StoreError::Older { .. } | StoreError::CutOff { .. }) => {
                Ok(Some(Store::open(&path)?))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The run or machine of that name: `ref:...`, a file, `last`, `last~2`, a label, an id or the beginning of one.
    ///
    /// # Errors
    /// Says why it is none, with what is near.
    pub fn view(&self, name: &str) -> Result<RunView> {
        if name.starts_with("ref:") {
            return Ok(self.references.view(name, &self.catalogue.benchmarks)?);
        }
        if name.contains('/') || Path::new(name).extension().is_some_and(|e| e == "json") {
            return from_file(Path::new(name));
        }
        let Some(store) = self.reader()? else {
            return Err(self.no_runs(name));
        };
        match store.resolve(name) {
            Ok(id) => self.stored(&store, &id),
            Err(error) => self.machine_after_all(name, error),
        }
    }

    /// A stored run, recomputed from its launches.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn stored(&self, store: &Store, id: &str) -> Result<RunView> {
        let data = store.load(id)?;
        Ok(summary::summarise(&data, &self.summary_options()))
    }

    /// A comparison, with the scatter between runs as far as the store tells it of the machines of both.
    pub fn compare(&self, base: &RunView, other: &RunView, margin: f64) -> CompareView {
        let options = compare::Options {
            margin,
            between_run: between::learn(&self.past(&[base, other]), base, other),
            ..compare::Options::default()
        };
        compare::compare(base, other, &options)
    }

    /// What the newest runs in the store tell of the machines of these views, begun before the last of them. Printed machines
    /// have no runs, and where one is among the views there is nothing to tell. A store or a run that cannot be read
    /// tells nothing either, with a remark: views may come from files.
    pub fn past(&self, views: &[&RunView]) -> Vec<Past> {
        if views.iter().any(|view| view.settings.is_none()) {
            return vec![];
        }
        self.earlier(views).unwrap_or_else(|error| {
            remark(&format!(
                "the store tells nothing of the scatter between runs: {error:#}"
            ));
            vec![]
        })
    }

    fn earlier(&self, views: &[&RunView]) -> Result<Vec<Past>> {
        let Some(store) = self.reader()? else {
            return Ok(vec![]);
        };
        let last = views.iter().map(|view| &view.started).max();
        let mut heads = store.runs()?;
        heads.retain(|head| Some(&head.started) <= last);
        let mut ids: Vec<String> = vec![];
        let machines: BTreeSet<&String> = views.iter().map(|view| &view.machine.id).collect();
        for machine in machines {
            let own = heads.iter().rev().filter(|h| h.machine_id == *machine);
            let others = own.filter(|head| views.iter().all(|view| view.id != head.id));
            // one side of a trial has settings that are not in what runs are told apart by; what cannot be read is told below
            let others = others.filter(|head| {
                let info = store.info(&head.id);
                info.map_or(true, |info| info.settings.trial.is_none())
            });
            ids.extend(others.take(between::MOST_RUNS).map(|head| head.id.clone()));
        }
        let read = |id: &String| match store.samples(id) {
            Ok(data) => Some(summary::past(&data)),
            Err(error) => {
                remark(&format!(
                    "run {id} tells nothing of the scatter between runs: {error}"
                ));
                None
            }
        };
        Ok(ids.iter().filter_map(read).collect())
    }

    /// How summaries are computed.
    pub fn summary_options(&self) -> summary::Options {
        let named = self.catalogue.benchmarks.iter().filter_map(|benchmark| {
            let gritstone_model::Work::Rating { baseline, .. } = &benchmark.work else {
                return None;
            };
            let view = self.references.view(baseline, &self.catalogue.benchmarks);
            Some((baseline.clone(), view.ok()?))
        });
        summary::Options {
            confidence: crate::session::CONFIDENCE,
            baselines: named.collect::<BTreeMap<_, _>>(),
        }
    }

    fn no_runs(&self, name: &str) -> anyhow::Error {
        match self.references.machine(name) {
            Ok(machine) => anyhow!(
                "no run is called '{name}'; the machine is ref:{}",
                machine.id
            ),
            Err(_) => anyhow!(
                "there is no run yet: `gritstone run --quick` makes one in two minutes; `gritstone machines` lists the reference machines"
            ),
        }
    }

    /// Someone who forgot the `ref:` is told so.
    fn machine_after_all(&self, name: &str, error: ResolveError) -> Result<RunView> {
        match self.references.machine(name) {
            Ok(machine) => Err(anyhow!(
                "no run is called '{name}'; the machine is ref:{}",
                machine.id
            )),
            Err(_) => Err(error.into()),
        }
    }
}

/// A view that `--format json` has written.
fn from_file(path: &Path) -> Result<RunView> {
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(LONGEST).read_to_string(&mut text))
        .with_context(|| format!("cannot read the run in {}", path.display()))?;
    let value: serde_json::Value =
        serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?;
    match value.get("schema").and_then(serde_json::Value::as_str) {
        Some(SCHEMA_RUN) => {}
        Some(other) => {
            return Err(anyhow!(
                "{} has the schema '{other}', and this Gritstone reads '{SCHEMA_RUN}'",
                path.display()
            ));
        }
        None => {
            return Err(anyhow!(
                "{} is not a run: write one with `gritstone show --format json`",
                path.display()
            ));
        }
    }
    serde_json::from_value(value).with_context(|| format!("{} is a damaged run", path.display()))
}
