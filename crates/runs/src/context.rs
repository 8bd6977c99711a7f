//! What the commands work on: the catalog, the references, the store; names of runs and machines turned into views, and
//! two views into a comparison that knows what the store tells of their machines.

use crate::files;
use anyhow::{Context as _, Result, anyhow, bail};
use gritstone_analysis::comparability::Circumstances;
use gritstone_analysis::run_variance::{self, Past};
use gritstone_analysis::{compare, summary};
use gritstone_catalogue::{Catalogue, Own, Suite};
use gritstone_host::{Cpu, Host, Root};
use gritstone_model::{CompareView, Machine, RunData, RunInfo, RunView, SCHEMA_RUN, Work};
use gritstone_references::{LookupError, References};
use gritstone_store::{Store, StoreError};
use std::cell::{LazyCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};

/// Two figures within this share of each other count as the same, unless asked otherwise.
pub const MARGIN: f64 = 0.02;
/// Runs that are asked what a launch takes and how launches scatter.
const RUNS_LIKE: usize = 5;

/// Everything that is known before a command begins.
pub struct Context {
    /// What can be measured: ours, then that of the user's own. Read when it is first asked for: to show a run takes none of it. It goes
    /// with the process: to take it apart took a twentieth of the time of `list`.
    pub catalogue: ManuallyDrop<LazyCell<Catalogue>>,
    /// The catalog of the user's own that the command names.
    pub own: Option<Own>,
    /// What was published, read when it is first asked for.
    pub references: LazyCell<References>,
    /// Reference systems that were measured, as their runs say. A run page of `serve` has scores against one, and to read and summarize its
    /// run was four fifths of the time of the page.
    baselines: RefCell<BTreeMap<String, RunView>>,
    store: Option<PathBuf>,
    /// The store, while somebody reads it.
    open: RefCell<Weak<Store>>,
}

impl Context {
    /// What is built in, and where runs are kept.
    pub fn new(store: Option<PathBuf>) -> Self {
        // the build wrote both, and tests read them
        Self {
            catalogue: ManuallyDrop::new(LazyCell::new(|| {
                gritstone_catalogue::all().expect("it is as it was built in")
            })),
            own: None,
            references: LazyCell::new(|| {
                gritstone_references::all().expect("they are as they were built in")
            }),
            baselines: RefCell::default(),
            store,
            open: RefCell::default(),
        }
    }

    /// Where runs are kept.
    ///
    /// # Errors
    /// When neither an option nor the environment says where.
    pub fn store_path(&self) -> Result<PathBuf> {
        // as everywhere, a variable that is empty is not set
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        match (&self.store, variable("GRITSTONE_STORE")) {
            (Some(path), _) => Ok(path.clone()),
            (None, Some(path)) => Ok(path.into()),
            (None, None) => Ok(gritstone_store::default_path(variable)?),
        }
    }

    /// The store, for runs that are to be kept; made where there is none yet.
    ///
    /// # Errors
    /// When it cannot be made or opened.
    pub fn writer(&self) -> Result<Store> {
        let store = Store::open(&self.store_path()?)?;
        warn_unsent(&store);
        Ok(store)
    }

    /// The store, for reading; `None` when there is none yet. Whoever asks while another still reads it has the same: it is closed with
    /// the last of them, so that a run leaves no log behind.
    ///
    /// # Errors
    /// When there is one that cannot be read.
    pub fn reader(&self) -> Result<Option<Rc<Store>>> {
        if let Some(open) = self.open.borrow().upgrade() {
            return Ok(Some(open));
        }
        let path = self.store_path()?;
        let store = match Store::open_read_only(&path) {
            Ok(store) => store,
            Err(StoreError::Missing { .. }) => return Ok(None),
            // a log that a killed run left is worked in
            Err(StoreError::CutOff { .. }) => Store::open(&path)?,
            Err(error) => return Err(error.into()),
        };
        warn_unsent(&store);
        let store = Rc::new(store);
        *self.open.borrow_mut() = Rc::downgrade(&store);
        Ok(Some(store))
    }

    /// The run or machine of that name: `ref:...`, a file, `last`, `last~2`, a label, an id or the beginning of one.
    ///
    /// # Errors
    /// Says why it is none, with what is near.
    pub fn view(&self, name: &str) -> Result<RunView> {
        if name.starts_with("ref:") {
            return self.reference(name);
        }
        if is_file(name) {
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

    /// A run with all its samples: of the store, or of a file.
    ///
    /// # Errors
    /// Says why it is none; printed machines have no samples.
    pub fn data(&self, name: &str) -> Result<RunData> {
        if name.starts_with("ref:") {
            if let Some(run) = self.measured(self.references.machine(name)?)? {
                return Ok(run);
            }
            bail!(
                "{name} has no samples: its results were printed in a document (`gritstone show {name} --format json`)"
            );
        }
        if is_file(name) {
            return files::read(Path::new(name));
        }
        let Some(store) = self.reader()? else {
            return Err(self.no_runs(name));
        };
        Ok(store.load(&self.resolve(&store, name)?)?)
    }

    /// A reference system: as it was printed, or as its run says.
    fn reference(&self, name: &str) -> Result<RunView> {
        let system = self.references.machine(name)?;
        if let Some(known) = self.baselines.borrow().get(&system.id) {
            return Ok(known.clone());
        }
        let Some(run) = self.measured(system)? else {
            return Ok(self.references.view(name, &self.catalogue.benchmarks)?);
        };
        let view = RunView {
            id: format!("ref:{}", system.id),
            ..self.summary(&run)
        };
        let mut known = self.baselines.borrow_mut();
        known.insert(system.id.clone(), view.clone());
        Ok(view)
    }

    /// The run of a reference system; none of a system that was printed.
    fn measured(&self, system: &Machine) -> Result<Option<RunData>> {
        let Some(bundle) = gritstone_references::bundle(&system.id) else {
            return Ok(None);
        };
        let mut run = gritstone_exchange::read_bundle(&files::unpacked(bundle)?)?;
        // it is not this machine, even where it was
        run.info.machine = system.clone();
        run.info.label = None;
        Ok(Some(run))
    }

    /// The identifier of the run in the store that has a name. A label that several have is said to be the newest's.
    ///
    /// # Errors
    /// Says why it is none, with what is near.
    pub fn resolve(&self, store: &Store, name: &str) -> Result<String> {
        let named = store.resolve(name, here)?;
        if named.labeled > 1 {
            log::warn!(
                "{} runs are labeled '{name}': this is the newest, {}",
                named.labeled,
                named.id
            );
        }
        Ok(named.id)
    }

    /// A comparison, with the scatter between runs as far as the store tells it of the machines of both.
    pub fn compare(&self, base: &RunView, other: &RunView, margin: f64) -> CompareView {
        let options = compare::Options {
            margin,
            between_run: run_variance::estimate(&self.past(&[base, other]), base, other),
            ..compare::Options::default()
        };
        compare::compare(base, other, &options)
    }

    /// The run with what the store tells of the runs of its system.
    pub fn with_run_variance(&self, mut view: RunView) -> RunView {
        run_variance::add_to(&self.past(&[&view]), &mut view);
        view
    }

    /// What the newest runs in the store that are like one of these views tell of their machines, begun before the last of them. Printed machines
    /// have no runs, and where one is among the views there is nothing to tell. A store or a run that cannot be read
    /// tells nothing either, with a remark: views may come from files.
    pub fn past(&self, views: &[&RunView]) -> Vec<Past> {
        if views.iter().any(|view| view.settings.is_none()) {
            return vec![];
        }
        self.earlier(views).unwrap_or_else(|error| {
            log::warn!("cannot read the variance between runs from the store: {error:#}");
            vec![]
        })
    }

    fn earlier(&self, views: &[&RunView]) -> Result<Vec<Past>> {
        let Some(store) = self.reader()? else {
            return Ok(vec![]);
        };
        let Some(last) = views.iter().map(|view| &view.started).max() else {
            return Ok(vec![]);
        };
        let mut ids: Vec<String> = vec![];
        for view in views {
            let like = Circumstances::new(&view.machine, view.settings.as_ref());
            let wanted = |info: &RunInfo| {
                // one side of a trial has settings that are not in what runs are told apart by
                info.settings.trial.is_none()
                    && views.iter().all(|view| view.id != info.id)
                    && Circumstances::new(&info.machine, Some(&info.settings)) == like
            };
            // views may be alike
            for id in store.runs_of(&like.machine, last, run_variance::MOST_RUNS, &wanted)? {
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
        }
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let told = |(id, past): (&&str, Result<Past>)| {
            let untold = |why: &anyhow::Error| {
                log::warn!("run {id} does not count for the variance between runs: {why:#}");
            };
            past.inspect_err(untold).ok()
        };
        let read = self.stored_pasts(&store, &ids)?;
        Ok(ids.iter().zip(read).filter_map(told).collect())
    }

    /// The suite of that name.
    ///
    /// # Errors
    /// When there is none.
    pub fn suite(&self, name: &str) -> Result<&Suite> {
        let suites = &self.catalogue.suites;
        suites
            .iter()
            .find(|suite| suite.name == name)
            .with_context(|| {
                let names: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
                format!("no suite '{name}'; there are {}", names.join(", "))
            })
    }

    /// The newest runs in the store under the circumstances of this one, the newest first; those that cannot be read tell nothing.
    pub fn runs_like(&self, run: &RunInfo) -> Vec<RunData> {
        let like = Circumstances::new(&run.machine, Some(&run.settings));
        let wanted = |info: &RunInfo| {
            info.id != run.id
                && info.settings.trial.is_none()
                && Circumstances::new(&info.machine, Some(&info.settings)) == like
        };
        let Ok(Some(store)) = self.reader() else {
            return vec![];
        };
        let ids = store.runs_of(&like.machine, &run.started, RUNS_LIKE, &wanted);
        let runs = ids.unwrap_or_default().into_iter();
        let runs: Vec<RunData> = runs.filter_map(|id| store.load(&id).ok()).collect();
        runs
    }

    /// A run as its readers see it.
    pub fn summary(&self, run: &RunData) -> RunView {
        summary::summarize(run, &self.summary_options(std::slice::from_ref(run)))
    }

    /// How summaries of these runs are computed: with the machines against which their own entries rate.
    pub fn summary_options(&self, runs: &[RunData]) -> summary::Options {
        let entries = runs.iter().flat_map(|run| &run.benchmarks);
        let named: BTreeSet<&String> = entries
            .filter_map(|benchmark| match &benchmark.work {
                Work::Rating { baseline, .. } => Some(baseline),
                _ => None,
            })
            .collect();
        let viewed = named
            .into_iter()
            .filter_map(|baseline| Some((baseline.clone(), self.reference(baseline).ok()?)));
        summary::Options {
            confidence: gritstone_measure::CONFIDENCE,
            baselines: viewed.collect(),
        }
    }

    /// A view that `--format json` has written, or a run in another format.
    fn view_of_file(&self, path: &Path) -> Result<RunView> {
        let (text, name) = (files::text(path)?, path.display());
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        match value.get("schema").and_then(|schema| schema.as_str()) {
            Some(SCHEMA_RUN) => {
                serde_json::from_value(value).with_context(|| format!("{name} is a damaged run"))
            }
            Some(other) => {
                bail!("{name} has the schema '{other}', and this Gritstone reads '{SCHEMA_RUN}'")
            }
            None => {
                let data = files::run(&text, path).with_context(|| name.to_string())?;
                Ok(self.summary(&data))
            }
        }
    }

    fn no_runs(&self, name: &str) -> anyhow::Error {
        self.suggest_reference(name, anyhow!(
            "no run is stored yet: `gritstone run --quick` makes one in a few minutes; `gritstone systems` lists the reference systems"
        ))
    }

    /// Someone who left out the `ref:` is told so; everyone else what was wrong.
    pub fn suggest_reference(&self, name: &str, otherwise: anyhow::Error) -> anyhow::Error {
        match self.references.machine(name) {
            Ok(machine) => anyhow!(
                "no run is called '{name}'; the reference system is ref:{}",
                machine.id
            ),
            Err(several @ LookupError::Ambiguous { .. }) => several.into(),
            Err(_) => otherwise,
        }
    }
}

/// Says what waits here for a server that does not take it.
fn warn_unsent(store: &Store) {
    let Some(unsent) = store.unsent() else {
        return;
    };
    match unsent.runs.len() {
        0 => log::warn!("{}; runs are kept here until it is", unsent.why),
        waiting => log::warn!(
            "{waiting} runs are not at the server yet, and are kept in {}: {}",
            unsent.file.display(),
            unsent.why
        ),
    }
}

/// The system that this process is on, as stores know it.
pub fn here() -> String {
    let root = Root::live();
    Host::with_cpu(Cpu::read(&root), &root).private_id()
}

/// Whether a name is that of a run in the store, if of anything.
pub fn is_store_name(name: &str) -> bool {
    !name.starts_with("ref:") && !is_file(name)
}

/// Whether a name is that of a file: it has a folder in it, or an ending that is a format's.
fn is_file(name: &str) -> bool {
    let ending = Path::new(name).extension();
    let endings = ["json", "jsonl", "zst"];
    name.contains('/') || ending.is_some_and(|e| endings.iter().any(|of| e == *of))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::Kind;

    #[test]
    fn measured_systems_are_sound_and_measured_what_is_measured_now() {
        let context = Context::new(None);
        let measured = |m: &&Machine| m.document.as_deref() == Some(gritstone_references::MEASURED);
        let systems: Vec<&Machine> = context
            .references
            .machines
            .iter()
            .filter(measured)
            .collect();
        assert!(!systems.is_empty());
        for system in systems {
            let name = format!("ref:{}", system.id);
            let (run, view) = (context.data(&name).unwrap(), context.view(&name).unwrap());
            files::check_reference(&run, &view).unwrap();
            assert_eq!((&view.id, &view.machine.id), (&name, &system.id));
            let score = run
                .benchmarks
                .iter()
                .find(|b| b.work.kind() == Kind::Rating);
            assert_eq!(
                score, None,
                "a score of this system would be against itself"
            );
            // of another version nothing is compared: measure again, and `gritstone export --reference`
            for benchmark in &run.benchmarks {
                let all = &context.catalogue.benchmarks;
                let now = all.iter().find(|of| of.id == benchmark.id);
                assert_eq!(
                    now.map(|of| of.version),
                    Some(benchmark.version),
                    "{}",
                    benchmark.id
                );
            }
        }
    }

    #[test]
    fn the_store_is_open_as_long_as_somebody_reads_it() {
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
