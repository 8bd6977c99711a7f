//! Shared context of all commands: catalog, references, store; resolves names to views, and compares views.

use crate::files;
use crate::settled::Settled;
use anyhow::{Context as _, Result, anyhow, bail};
use gritstone_analysis::summary;
use gritstone_catalogue::{Catalogue, CustomBenchmarks, Suite};
use gritstone_exchange::Opened;
use gritstone_host::{Cpu, Host, Root};
use gritstone_model::{Machine, RunData, RunView, SCHEMA_RUN, Work};
use gritstone_references::{LookupError, MEASURED, References};
use gritstone_store::{Store, StoreError, ThisMachine};
use serde::Deserialize;
use std::cell::{LazyCell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};

/// Default margin within which two results count as the same.
pub const MARGIN: f64 = 0.02;
pub struct Context {
    /// Entries of Gritstone, then those of the custom catalog. Never dropped: deallocating it costs 5% of `list`.
    pub catalogue: ManuallyDrop<LazyCell<Catalogue>>,
    /// The custom catalog of `--catalog`.
    pub custom: Option<CustomBenchmarks>,
    pub references: LazyCell<References>,
    /// Cached views of measured reference systems: summarizing one took 80% of the time of a run page of `serve`.
    baselines: RefCell<BTreeMap<String, RunView>>,
    /// Views of all printed systems.
    printed: OnceCell<Vec<RunView>>,
    store: Option<PathBuf>,
    /// Runs that this process measures are not stored; earlier ones are read.
    pub no_store: bool,
    /// Whether this process may write a database.
    serves: bool,
    /// The earlier runs, for a store that does not change.
    pub(crate) settled: Option<Settled>,
    /// The store, while a reader has it open.
    open: RefCell<Weak<Store>>,
}

impl Context {
    pub fn new(store: Option<PathBuf>) -> Self {
        // the build wrote both, and tests read them
        Self {
            catalogue: ManuallyDrop::new(LazyCell::new(|| {
                gritstone_catalogue::all().expect("built in")
            })),
            custom: None,
            references: LazyCell::new(|| gritstone_references::all().expect("built in")),
            baselines: RefCell::default(),
            printed: OnceCell::new(),
            store,
            no_store: false,
            serves: false,
            settled: None,
            open: RefCell::default(),
        }
    }

    /// # Errors
    /// When neither an option nor the environment names a path.
    pub fn store_path(&self) -> Result<PathBuf> {
        // an empty variable counts as unset, as everywhere
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        match (&self.store, variable("GRITSTONE_STORE")) {
            (Some(path), _) => Ok(path.clone()),
            (None, Some(path)) => Ok(path.into()),
            (None, None) => Ok(gritstone_store::default_path(variable)?),
        }
    }

    /// Opens the store for writing; creates a missing file. Only its server writes results to a database. Without a store, one in memory.
    ///
    /// # Errors
    /// When it cannot be created or opened, or is a database and this is not its server.
    pub fn writer(&self) -> Result<Store> {
        if self.no_store {
            return Ok(Store::in_memory()?);
        }
        let path = self.store_path()?;
        if gritstone_store::is_server(&path) && !self.serves {
            bail!(
                "{} is written by its server alone: use a file as --store, and send runs to the server with `gritstone push`",
                gritstone_store::shown(&path).display()
            );
        }
        Ok(Store::open(&path)?)
    }

    /// Opens the store, a database too, for labels, removals, tokens and acknowledgments.
    ///
    /// # Errors
    /// When it cannot be created or opened.
    pub fn administrator(&self) -> Result<Store> {
        Ok(Store::open(&self.store_path()?)?)
    }

    /// For the server of the store: may write a database.
    #[must_use]
    pub fn serving(self) -> Self {
        Self { serves: true, ..self }
    }

    /// For static pages: the variance between runs uses only runs up to the compared ones.
    #[must_use]
    pub fn settled(self) -> Self {
        Self { settled: Some(Settled::default()), ..self }
    }

    /// Opens the store for reading; `None` if there is none yet, or no place for one. Readers share one connection, which the last of them
    /// closes, so that no write-ahead log is left behind.
    ///
    /// # Errors
    /// When it exists and cannot be read.
    pub fn reader(&self) -> Result<Option<Rc<Store>>> {
        if let Some(open) = self.open.borrow().upgrade() {
            return Ok(Some(open));
        }
        let path = match self.store_path() {
            Err(error) if matches!(error.downcast_ref(), Some(StoreError::NoHome)) => {
                return Ok(None);
            }
            path => path?,
        };
        let opened = match self.serves && gritstone_store::is_server(&path) {
            true => Store::open(&path),
            false => Store::open_read_only(&path),
        };
        let store = match opened {
            Ok(store) => store,
            Err(StoreError::Missing { .. }) => return Ok(None),
            // recovers the log of a killed run
            Err(StoreError::CutOff { .. }) => Store::open(&path)?,
            Err(error) => return Err(error.into()),
        };
        let store = Rc::new(store);
        *self.open.borrow_mut() = Rc::downgrade(&store);
        Ok(Some(store))
    }

    /// The view of a name: `ref:...`, a file, `last`, `last~2`, a label, an id or its prefix.
    ///
    /// # Errors
    /// When nothing has the name; suggests similar ones.
    pub fn view(&self, name: &str) -> Result<RunView> {
        if name.starts_with("ref:") {
            return self.reference(name);
        }
        if self.is_file(name) {
            return self.view_of_file(Path::new(name));
        }
        let Some(store) = self.reader()? else {
            return Err(self.no_runs(name));
        };
        match self.resolve(&store, name) {
            Ok(id) => self.stored(&store, &id),
            Err(error) => Err(self.suggest_reference(name, error)),
        }
    }

    /// A run with all samples, from the store or a file.
    ///
    /// # Errors
    /// When nothing has the name; printed systems have no samples.
    pub fn data(&self, name: &str) -> Result<RunData> {
        if name.starts_with("ref:") {
            if let Some(run) = self.measured(self.references.machine(name)?)? {
                return Ok(run);
            }
            bail!(
                "{name} has no samples: its results were printed in a document (`gritstone show {name} --format json`)"
            );
        }
        if self.is_file(name) {
            return Ok(files::read(Path::new(name))?.run);
        }
        let Some(store) = self.reader()? else {
            return Err(self.no_runs(name));
        };
        Ok(store.load(&self.resolve(&store, name)?)?)
    }

    fn reference(&self, name: &str) -> Result<RunView> {
        let system = self.references.machine(name)?;
        if let Some(known) = self.baselines.borrow().get(&system.id) {
            return Ok(known.clone());
        }
        let Some(run) = self.measured(system)? else {
            return Ok(self.references.view(name, &self.catalogue.benchmarks)?);
        };
        let view = RunView { id: format!("ref:{}", system.id), ..self.summary(&run) };
        let mut known = self.baselines.borrow_mut();
        known.insert(system.id.clone(), view.clone());
        Ok(view)
    }

    /// The systems whose results were printed in a document.
    ///
    /// # Errors
    /// When a system cannot be read.
    pub(crate) fn printed_systems(&self) -> Result<&[RunView]> {
        if let Some(known) = self.printed.get() {
            return Ok(known);
        }
        let machines = self.references.machines.iter();
        let printed = machines.filter(|machine| machine.document.as_deref() != Some(MEASURED));
        let view =
            |machine: &Machine| self.references.view(&machine.id, &self.catalogue.benchmarks);
        let views = printed.map(view).collect::<Result<_, _>>()?;
        Ok(self.printed.get_or_init(|| views))
    }

    /// The run of a reference system; `None` for a printed one.
    fn measured(&self, system: &Machine) -> Result<Option<RunData>> {
        let Some(bundle) = gritstone_references::bundle(&system.id) else {
            return Ok(None);
        };
        let mut run = files::bundle(bundle)?;
        // never this machine, even if measured here
        run.info.machine = system.clone();
        run.info.label = None;
        Ok(Some(run))
    }

    /// The identifier of a stored run; an ambiguous label is the newest run, with a warning.
    ///
    /// # Errors
    /// When no stored run has the name; suggests similar ones.
    pub fn resolve(&self, store: &Store, name: &str) -> Result<String> {
        let named = store.resolve(name, this_machine)?;
        if named.labeled > 1 {
            log::warn!(
                "{} runs are labeled '{name}': this is the newest, {}",
                named.labeled,
                named.id
            );
        }
        Ok(named.id)
    }

    /// Selectors with the names of suites replaced by those of their benchmarks.
    pub fn with_suites_expanded(&self, selectors: &[String]) -> Vec<String> {
        let expanded = |word: &String| match self.suite(word) {
            Ok(suite) => suite.benchmarks.clone(),
            Err(_) => vec![word.clone()],
        };
        selectors.iter().flat_map(expanded).collect()
    }

    /// # Errors
    /// When no suite has this name.
    pub fn suite(&self, name: &str) -> Result<&Suite> {
        let suites = &self.catalogue.suites;
        suites.iter().find(|suite| suite.name == name).with_context(|| {
            let names: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
            format!("no suite '{name}'; there are {}", names.join(", "))
        })
    }

    pub fn summary(&self, run: &RunData) -> RunView {
        summary::summarize(run, &self.summary_options(std::slice::from_ref(run)))
    }

    /// Options of summaries: with the baselines that score entries of these runs name.
    pub fn summary_options(&self, runs: &[RunData]) -> summary::Options {
        let entries = runs.iter().flat_map(|run| &run.benchmarks);
        let named: BTreeSet<&String> = entries
            .filter_map(|benchmark| match &benchmark.work {
                Work::Score { baseline, .. } => Some(baseline),
                _ => None,
            })
            .collect();
        let viewed = named
            .into_iter()
            .filter_map(|baseline| Some((baseline.clone(), self.reference(baseline).ok()?)));
        summary::Options {
            confidence: gritstone_measure::CONFIDENCE,
            baselines: viewed.collect(),
            reference_ghz: None,
        }
    }

    /// A view written by `--format json`, or a run in another format.
    fn view_of_file(&self, path: &Path) -> Result<RunView> {
        let name = path.display();
        if path.is_dir() {
            return Ok(self.summary(&files::read(path)?.run));
        }
        let text = match files::open(path).with_context(|| name.to_string())? {
            Opened::Run(run) => return Ok(self.summary(&run)),
            Opened::Text(text) => text,
        };
        #[derive(Deserialize)]
        struct Named {
            schema: Option<String>,
        }
        match serde_json::from_str(&text).map(|Named { schema }| schema) {
            Ok(Some(schema)) if schema == SCHEMA_RUN => {
                serde_json::from_str(&text).with_context(|| format!("{name} is a damaged run"))
            }
            Ok(Some(other)) => {
                bail!("{name} has the schema '{other}', and this Gritstone reads '{SCHEMA_RUN}'")
            }
            _ => {
                let data = files::foreign(text, path).with_context(|| name.to_string())?;
                Ok(self.summary(&data))
            }
        }
    }

    /// True if the name can only refer to a stored run.
    pub fn is_store_name(&self, name: &str) -> bool {
        !name.starts_with("ref:") && !self.is_file(name)
    }

    /// Whether the name is of a file: it has the form of one, and without a file no run has it as its label. A file precedes labels,
    /// which come with imported runs too.
    fn is_file(&self, name: &str) -> bool {
        has_form_of_file(name) && (Path::new(name).exists() || !self.is_label(name))
    }

    fn is_label(&self, name: &str) -> bool {
        let store = self.reader().ok().flatten();
        store.is_some_and(|store| store.resolve(name, this_machine).is_ok())
    }

    fn no_runs(&self, name: &str) -> anyhow::Error {
        self.suggest_reference(name, anyhow!(
            "no run is stored yet: `gritstone run --quick` makes one in a few minutes; `gritstone systems` lists the reference systems"
        ))
    }

    /// Suggests `ref:` for the name of a reference system; else returns the error.
    pub(crate) fn suggest_reference(&self, name: &str, otherwise: anyhow::Error) -> anyhow::Error {
        match self.references.machine(name) {
            Ok(machine) => {
                anyhow!("no run is called '{name}'; the reference system is ref:{}", machine.id)
            }
            Err(several @ LookupError::Ambiguous { .. }) => several.into(),
            Err(_) => otherwise,
        }
    }
}

/// This host, as it is known in stores.
pub fn this_machine() -> ThisMachine {
    let root = Root::live();
    let host = Host::with_cpu(Cpu::read(&root), &root);
    ThisMachine { owner: host.private_id(), id: host.id(), now: crate::clock::now() }
}

/// True if the name has a directory or the extension of a format.
fn has_form_of_file(name: &str) -> bool {
    let ending = Path::new(name).extension();
    let endings = ["json", "jsonl", "zst"];
    name.contains('/') || ending.is_some_and(|e| endings.iter().any(|extension| e == *extension))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::Kind;

    #[test]
    fn reference_runs_match_the_catalog() {
        let context = Context::new(None);
        let measured = |m: &&Machine| m.document.as_deref() == Some(gritstone_references::MEASURED);
        let systems: Vec<&Machine> = context.references.machines.iter().filter(measured).collect();
        assert!(!systems.is_empty());
        for system in systems {
            let name = format!("ref:{}", system.id);
            let (run, view) = (context.data(&name).unwrap(), context.view(&name).unwrap());
            files::check_reference(&run, &view).unwrap();
            assert_eq!((&view.id, &view.machine.id), (&name, &system.id));
            let score = run.benchmarks.iter().find(|b| b.work.kind() == Kind::Score);
            assert_eq!(score, None, "a score of this system would be against itself");
            // results of another version are not compared: measure again, then `gritstone export --reference`
            for benchmark in &run.benchmarks {
                let all = &context.catalogue.benchmarks;
                let now = all.iter().find(|entry| entry.id == benchmark.id);
                assert_eq!(
                    now.map(|entry| entry.version),
                    Some(benchmark.version),
                    "{}",
                    benchmark.id
                );
            }
        }
    }

    #[test]
    fn readers_share_one_store_connection() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let context = Context::new(Some(path.clone()));
        assert!(context.reader().unwrap().is_none());
        drop(Store::open(&path).unwrap());
        let one = context.reader().unwrap().unwrap();
        let other = context.reader().unwrap().unwrap();
        assert!(Rc::ptr_eq(&one, &other));
        drop(one);
        assert!(Rc::ptr_eq(&other, &context.reader().unwrap().unwrap()));
        drop(other);
        let files = std::fs::read_dir(folder.path()).unwrap();
        assert_eq!(files.count(), 1, "a log is left");
    }
}
