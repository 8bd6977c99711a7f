//! Read-through cache of results.

use crate::context::Context;
use crate::uncached::{Uncached, or_warning};
use anyhow::{Context as _, Result, bail};
use gritstone_analysis::VERSION;
use gritstone_analysis::fleet::NodeRun;
use gritstone_analysis::run_summary::RunSummary;
use gritstone_model::{AbView, Id, Machine, Measurement, RunData, RunView, Settings};
use gritstone_store::{Pruned, RUNS_PER_QUERY, Results, Store};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Cache key: references and texts change with the version of Gritstone.
fn analysis() -> String {
    format!("{VERSION} {}", env!("CARGO_PKG_VERSION"))
}

impl Context {
    /// # Errors
    /// When the run cannot be read.
    pub fn stored(&self, store: &Store, id: &str) -> Result<RunView> {
        let Some(stored) = store.results(id, &analysis())? else {
            return self.computed(store, &store.load(id)?);
        };
        match (view(&stored), &stored.pruned) {
            (Ok(view), _) => Ok(view),
            // another build of this version cached it in another format
            (Err(_), None) => self.computed(store, &store.load(id)?),
            (Err(why), Some(Pruned { time, analysis, .. })) => bail!(
                "the raw samples of run {id} were pruned on {time}, and its results were kept by Gritstone {analysis} in a form that this one ({}) cannot read: {why}. Read it with that version or a newer one",
                env!("CARGO_PKG_VERSION")
            ),
        }
    }

    /// Views of several runs with the result of one benchmark and the facts that circumstances compare.
    ///
    /// # Errors
    /// When the store cannot be read; inside, per run, as [`Context::stored`].
    pub(crate) fn stored_results(
        &self,
        store: &Store,
        uncached: &Uncached,
        ids: &[&str],
        benchmark: &Id,
    ) -> Result<Vec<Result<RunView>>> {
        let slim = |stored: Results| {
            let results = stored.results.iter().map(|(_, text)| parsed(text));
            let view = parsed::<Slim>(&stored.view)?.with(results.collect::<Option<_>>()?);
            Some(with_later_changes(view, stored.pruned.as_ref()))
        };
        map_cached(store, ids, Some(benchmark), |id, stored| {
            let stored = stored.or_else(|| uncached.result(id, Some(benchmark)));
            match stored.and_then(slim) {
                Some(view) => Ok(view),
                None => self.stored(store, id),
            }
        })
    }

    /// Inputs of the variance between runs.
    ///
    /// # Errors
    /// As [`Context::stored_results`].
    pub fn stored_summaries(
        &self,
        store: &Store,
        uncached: &Uncached,
        ids: &[&str],
    ) -> Result<Vec<Result<RunSummary>>> {
        map_cached(store, ids, None, |id, stored| {
            let stored = stored.or_else(|| uncached.result(id, None));
            match stored.and_then(|stored| parsed(&stored.past)) {
                Some(past) => Ok(past),
                None => Ok(RunSummary::new(&self.stored(store, id)?)),
            }
        })
    }

    /// # Errors
    /// As [`Context::stored_results`].
    pub fn stored_nodes(&self, store: &Store, ids: &[&str]) -> Result<Vec<Result<NodeRun>>> {
        map_cached(store, ids, None, |id, stored| self.node(store, id, stored))
    }

    fn node(&self, store: &Store, id: &str, stored: Option<Results>) -> Result<NodeRun> {
        let node = stored.and_then(|stored| parsed::<CachedNode>(&stored.past)?.node);
        if let Some(node) = node {
            return Ok(node);
        }
        let run = store.load(id)?;
        let view = self.computed(store, &run)?;
        Ok(NodeRun::new(&run, &view))
    }

    /// Results at the reference frequency that other runs of the system have.
    fn summary_in(&self, store: &Store, uncached: &Uncached, run: &RunData) -> Result<RunView> {
        let machine = &run.info.machine.id;
        let cached = machine_probes(store, machine)?.reference_ghz;
        let options = gritstone_analysis::summary::Options {
            reference_ghz: cached.or_else(|| uncached.reference_ghz.get(machine).copied()),
            ..self.summary_options(std::slice::from_ref(run))
        };
        Ok(gritstone_analysis::summary::summarize(run, &options))
    }

    /// Extremes of a machine's probes in stored runs; none, with a warning, if they cannot be read.
    pub fn machine_probes(&self, machine: &str) -> MachineProbes {
        let read = self.reader().and_then(|store| match store {
            Some(store) => machine_probes(&store, machine),
            None => Ok(MachineProbes::default()),
        });
        read.unwrap_or_else(|error| {
            log::warn!("cannot read the probes of earlier runs from the store: {error:#}");
            MachineProbes::default()
        })
    }

    /// Computes the results of a run, and caches them if it has ended: others may still be measured.
    ///
    /// # Errors
    /// When they cannot be serialized.
    pub fn computed(&self, store: &Store, run: &RunData) -> Result<RunView> {
        let view = self.summary_in(store, &Uncached::default(), run)?;
        if run.info.elapsed_s.is_some() {
            store.cache(&run.info.id, &analysis(), run.launches.len(), &cached(run, &view)?);
        }
        Ok(view)
    }

    /// Hashes of the cached results of runs.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn result_hashes(&self, store: &Store) -> Result<BTreeMap<String, String>> {
        Ok(store.cached_seals(&analysis())?)
    }

    /// Fills the cache before results of many runs are read. Warns of unreadable runs.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn compute_missing_results(&self, store: &Store) -> Result<Uncached> {
        let mut uncached = Uncached::default();
        for id in store.not_cached(&analysis())? {
            let Some(run) = or_warning(&id, store.load(&id).map_err(Into::into))? else {
                uncached.unreadable.insert(id);
                continue;
            };
            let view = self.summary_in(store, &uncached, &run)?;
            let results = cached(&run, &view)?;
            if !store.cache(&id, &analysis(), run.launches.len(), &results) {
                if let Some(ghz) = view.reference_ghz {
                    uncached.reference_ghz.insert(view.machine.id, ghz);
                }
                uncached.results.insert(id, results);
            }
        }
        Ok(uncached)
    }
}

impl Context {
    /// Deletes the launches of a run; keeps its results, inputs of fleet reports, and the trial of which it is a side.
    ///
    /// # Errors
    /// When the run is unchanged.
    pub fn prune(
        &self,
        store: &mut Store,
        run: &RunData,
        test: Option<&AbView>,
        now: &str,
    ) -> Result<()> {
        let view = self.summary_in(store, &Uncached::default(), run)?;
        let extras = CachedExtras {
            past: RunSummary::new(&view),
            node: Some(NodeRun::new(run, &view)),
            test: test.cloned(),
        };
        let stored = results(&view, &extras)?;
        Ok(store.prune(&run.info.id, &analysis(), run.launches.len(), &stored, now)?)
    }

    /// The trial that was stored with a pruned side.
    ///
    /// # Errors
    /// As [`Context::stored`].
    pub fn pruned_trial(&self, store: &Store, id: &str) -> Result<AbView> {
        #[derive(Deserialize)]
        struct CachedTrial {
            test: AbView,
        }
        let stored = store.result(id, &analysis(), None)?;
        let stored = stored.with_context(|| format!("run {id} has no stored results"))?;
        let extras: CachedTrial = serde_json::from_str(&stored.past)
            .with_context(|| format!("the A/B test that run {id} has kept cannot be read"))?;
        Ok(extras.test)
    }
}

/// Maps over cached results in batches, to bound memory.
fn map_cached<T>(
    store: &Store,
    ids: &[&str],
    benchmark: Option<&Id>,
    read: impl Fn(&str, Option<Results>) -> Result<T>,
) -> Result<Vec<Result<T>>> {
    let mut all = vec![];
    for ids in ids.chunks(RUNS_PER_QUERY) {
        let stored = store.results_of_each(ids, &analysis(), benchmark)?;
        all.extend(ids.iter().zip(stored).map(|(id, stored)| read(id, stored?)));
    }
    Ok(all)
}

/// Extremes of a machine's probes in earlier runs.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct MachineProbes {
    /// Smallest ratio of SMT probe to cycle probe per CPU.
    #[serde(default)]
    pub smt_floors: BTreeMap<u32, f64>,
    pub reference_ghz: Option<f64>,
}

/// Newest runs whose probes are known.
const RUNS_OF_PROBES: usize = 20;

/// From the newest cached runs of a machine.
fn machine_probes(store: &Store, machine: &str) -> Result<MachineProbes> {
    let now = crate::clock::now();
    let mut known = MachineProbes::default();
    let ids = store.runs_of(machine, &now, RUNS_OF_PROBES, &|_| true)?;
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    for stored in store.results_of_each(&ids, &analysis(), None)? {
        let Some(probes) = stored?.and_then(|stored| parsed::<MachineProbes>(&stored.view)) else {
            continue;
        };
        known.reference_ghz = known.reference_ghz.or(probes.reference_ghz);
        for (cpu, floor) in probes.smt_floors {
            let least = known.smt_floors.entry(cpu).or_insert(floor);
            *least = least.min(floor);
        }
    }
    Ok(known)
}

/// Inputs of comparisons and fleet reports, stored beside the results.
#[derive(Serialize)]
struct CachedExtras {
    #[serde(flatten)]
    past: RunSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<NodeRun>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<AbView>,
}

#[derive(Deserialize)]
struct CachedNode {
    node: Option<NodeRun>,
}

fn cached(run: &RunData, view: &RunView) -> Result<Results> {
    let extras = CachedExtras {
        past: RunSummary::new(view),
        node: (run.info.settings.fleet.as_ref()).map(|_| NodeRun::new(run, view)),
        test: None,
    };
    results(view, &extras)
}

fn results(view: &RunView, extras: &CachedExtras) -> Result<Results> {
    let mut head = view.clone();
    let results = std::mem::take(&mut head.results);
    let results =
        results.iter().map(|result| Ok((result.id.clone(), serde_json::to_string(result)?)));
    Ok(Results {
        view: serde_json::to_string(&head)?,
        past: serde_json::to_string(extras)?,
        results: results.collect::<Result<_>>()?,
        pruned: None,
    })
}

fn view(stored: &Results) -> serde_json::Result<RunView> {
    let mut view: RunView = serde_json::from_str(&stored.view)?;
    let results = stored.results.iter();
    view.results =
        results.map(|(_, text)| serde_json::from_str(text)).collect::<serde_json::Result<_>>()?;
    Ok(with_later_changes(view, stored.pruned.as_ref()))
}

/// Applies changes since pruning: its time, and a new label.
fn with_later_changes(view: RunView, pruned: Option<&Pruned>) -> RunView {
    match pruned {
        None => view,
        Some(pruned) => RunView {
            pruned: Some(pruned.time.clone()),
            label: pruned.label.clone().or(view.label),
            ..view
        },
    }
}

/// A view without unused facts: parsing them took a third of the time of a history of a thousand runs.
#[derive(Deserialize)]
struct Slim {
    schema: String,
    id: String,
    label: Option<String>,
    started: String,
    machine: SlimMachine,
    settings: Option<Settings>,
    reference_ghz: Option<f64>,
}

#[derive(Deserialize)]
struct SlimMachine {
    id: String,
    name: String,
    system: String,
    facts: Facts,
}

/// Facts that [`ComparisonKey`](gritstone_analysis::comparability::ComparisonKey) compare.
#[derive(Deserialize)]
struct Facts {
    #[serde(rename = "kernel.release")]
    release: Option<String>,
}

impl Slim {
    fn with(self, results: Vec<Measurement>) -> RunView {
        let release = self.machine.facts.release;
        let release = release.map(|release| ("kernel.release".to_owned(), release));
        RunView {
            schema: self.schema,
            id: self.id,
            label: self.label,
            started: self.started,
            machine: Machine {
                id: self.machine.id,
                name: self.machine.name,
                system: self.machine.system,
                facts: release.into_iter().collect(),
                ..Machine::default()
            },
            settings: self.settings,
            reference_ghz: self.reference_ghz,
            results,
            ..RunView::default()
        }
    }
}

fn parsed<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_analysis::series;
    use gritstone_model::Event;

    fn bundle() -> RunData {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/run.jsonl");
        let text = std::fs::read_to_string(path).unwrap();
        gritstone_exchange::read_bundle(text.as_bytes()).unwrap()
    }

    /// The same work at a lower frequency, in the same time.
    fn slowed(run: &RunData) -> RunData {
        let mut run = run.clone();
        run.info.id = format!("{}-slowed", run.info.id);
        let events = run.launches.iter_mut().flat_map(|launch| &mut launch.events);
        for event in events {
            if let Event::Sample(sample) = event {
                sample.cycle_probe += sample.cycle_probe / 4;
            }
        }
        run
    }

    #[test]
    fn systems_share_reference_frequency() {
        let first = bundle();
        let runs = [first.clone(), slowed(&first)];
        let ratios = |order: [usize; 2], at_once: bool| -> Vec<f64> {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("store.db");
            let context = Context::new(Some(path.clone()));
            let mut store = Store::open(&path).unwrap();
            for index in order {
                store.import(&runs[index]).unwrap();
                if !at_once {
                    context.compute_missing_results(&store).unwrap();
                }
            }
            let [a, b] = [0, 1].map(|index: usize| {
                let id = &runs[index].info.id;
                context.stored(&store, id).unwrap()
            });
            assert!(a.reference_ghz.is_some() && a.reference_ghz == b.reference_ghz);
            let both = a.results.iter().zip(&b.results);
            let paced = both.filter(|(a, _)| a.cycles().is_some());
            paced.map(|(a, b)| a.value().unwrap() / b.value().unwrap()).collect()
        };
        let forwards = ratios([0, 1], false);
        assert!(!forwards.is_empty());
        for other in [ratios([1, 0], false), ratios([0, 1], true), ratios([1, 0], true)] {
            for (one, other) in forwards.iter().zip(&other) {
                assert!((one / other - 1.0).abs() < 1e-9, "{one} {other}");
            }
        }
    }

    #[test]
    fn cached_results_equal_computed_results() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let context = Context::new(Some(path.clone()));
        let run = bundle();
        let mut store = Store::open(&path).unwrap();
        store.import(&run).unwrap();
        let id = run.info.id.as_str();
        let computed = context.summary(&run);
        let none = Uncached::default();
        assert_eq!(store.not_cached(&analysis()).unwrap(), [id]);
        assert_eq!(context.stored(&store, id).unwrap(), computed);
        assert!(store.not_cached(&analysis()).unwrap().is_empty());
        let stored = store.results(id, &analysis()).unwrap().unwrap();
        assert_eq!(view(&stored).unwrap(), computed);
        assert_eq!(
            context.stored_summaries(&store, &none, &[id]).unwrap().remove(0).unwrap(),
            RunSummary::new(&computed)
        );
        let one = computed.results[3].clone();
        let results = context.stored_results(&store, &none, &[id], &one.id).unwrap();
        let found = results.into_iter().next().unwrap().unwrap();
        let history = |view| series::history(&one.id, [view], &series::Systems::default()).unwrap();
        assert_eq!(history(&found), history(&computed));
        assert_eq!(found.results, std::slice::from_ref(&one));
        assert!(store.results(id, "another").unwrap().is_none());
    }
}
