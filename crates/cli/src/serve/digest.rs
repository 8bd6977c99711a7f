//! What takes all runs to know: what changed, and how reliable the newest run of each system is. A thread computes it after each change of
//! the store, while pages show what was known before.

use super::lists::differences;
use crate::output::remark;
use crate::past::history_of;
use crate::world::World;
use anyhow::Result;
use gritstone_analysis::reliability;
use gritstone_model::{
    Change, ChangeEvent, Difference, HistorySeries, HistoryView, Machine, Reliability, RunInfo,
    RunView,
};
use gritstone_store::Store;
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Runs in which changes are looked for.
const RUNS: usize = 100;

/// What is known of a store.
#[derive(Debug, Default)]
pub struct Digest {
    /// Of which revision.
    revision: String,
    /// What changed, newest first.
    pub events: Vec<ChangeEvent>,
    /// By system.
    pub reliability: BTreeMap<String, Reliability>,
    /// The newest run of each system.
    pub newest: Vec<RunView>,
}

#[derive(Default)]
struct State {
    known: Option<Arc<Digest>>,
    /// Whether a thread computes it.
    busy: bool,
}

/// The newest digest of a store.
pub struct Digests {
    store: PathBuf,
    state: Mutex<State>,
    computed: Condvar,
}

impl Digests {
    /// Of the store at a path.
    pub fn new(store: PathBuf) -> Self {
        Self {
            store,
            state: Mutex::default(),
            computed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of the store, at this revision or before: it is computed anew where it is of another one. Only where nothing is known is it
    /// waited for, for a time at most, since who waits keeps a thread from answering others.
    pub fn of(self: &Arc<Self>, revision: &str, patience: Duration) -> Option<Arc<Digest>> {
        let mut state = self.state();
        let known = state.known.as_ref();
        let is_due = known.is_none_or(|digest| digest.revision != revision);
        if is_due && !state.busy {
            state.busy = true;
            let all = Arc::clone(self);
            let thread = std::thread::Builder::new().name("digest".to_owned());
            if thread.spawn(move || all.compute()).is_err() {
                state.busy = false;
            }
        }
        let waited = self
            .computed
            .wait_timeout_while(state, patience, |state| state.busy && state.known.is_none());
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.known.clone()
    }

    fn compute(&self) {
        let world = World::new(Some(self.store.clone()));
        let digest = catch_unwind(AssertUnwindSafe(|| digest(&world)));
        // which goes with the process elsewhere: here one comes with every change of the store
        drop(ManuallyDrop::into_inner(world.catalogue));
        let mut state = self.state();
        match digest {
            Ok(Ok(digest)) => state.known = Some(Arc::new(digest)),
            Ok(Err(why)) => remark(&format!("gritstone: what changed is not known: {why:#}")),
            Err(_) => remark("gritstone: what changed is not known: a fault in Gritstone"),
        }
        state.busy = false;
        drop(state);
        self.computed.notify_all();
    }
}

fn digest(world: &World) -> Result<Digest> {
    let Some(store) = world.reader()? else {
        return Ok(Digest::default());
    };
    let mut digest = Digest {
        revision: store.revision()?,
        ..Digest::default()
    };
    for run in store.runs()?.iter().rev() {
        let known = &mut digest.reliability;
        if known.contains_key(&run.machine_id) {
            continue;
        }
        match world.stored(&store, &run.id) {
            Ok(view) => {
                let reliability = reliability::assess(&view).reliability;
                known.insert(run.machine_id.clone(), reliability);
                digest.newest.push(view);
            }
            Err(why) => remark(&format!("gritstone: run {} is left out: {why:#}", run.id)),
        }
    }
    world.compute_missing(&store)?;
    let mut all: Vec<Change> = vec![];
    for id in store.measured()? {
        let view = history_of(world, &store, &id, RUNS)?;
        all.extend(view.iter().flat_map(changes));
    }
    digest.events = events(&store, all);
    Ok(digest)
}

/// Changes that begin with the same run, by direction, newest first.
fn events(store: &Store, changes: Vec<Change>) -> Vec<ChangeEvent> {
    let mut events: BTreeMap<(String, String, bool), ChangeEvent> = BTreeMap::new();
    for change in changes {
        let (run, worse) = (change.change.run.clone(), change.change.ratio < 1.0);
        let key = (change.change.started.clone(), run.clone(), worse);
        let event = events.entry(key).or_insert_with(|| ChangeEvent {
            run,
            started: change.change.started.clone(),
            machine: change.machine.clone(),
            name: change.name.clone(),
            worse,
            before: change.before.clone(),
            differ_in: vec![],
            changes: vec![],
        });
        event.changes.push(change);
    }
    let mut events: Vec<ChangeEvent> = events.into_values().rev().collect();
    for event in &mut events {
        let runs = event.before.iter().chain([&event.run]);
        let infos: Vec<RunInfo> = runs.filter_map(|run| store.info(run).ok()).collect();
        // where one cannot be read, nothing is told
        if let [before, after] = infos.as_slice() {
            event.differ_in = differ(&before.machine, &after.machine);
        }
    }
    events
}

fn differ(before: &Machine, after: &Machine) -> Vec<Difference> {
    let told = |fact: Option<String>| fact.unwrap_or_default();
    differences(before, after)
        .map(|(what, was, is)| Difference {
            what,
            base: told(was),
            other: told(is),
        })
        .collect()
}

/// The changes of all series of a benchmark.
fn changes(view: &HistoryView) -> impl Iterator<Item = Change> {
    let of_series = |series: &HistorySeries| {
        let change = |change: &_| of_one(view, series, change);
        series.changes.iter().map(change).collect::<Vec<_>>()
    };
    view.series.iter().flat_map(of_series)
}

fn of_one(
    view: &HistoryView,
    series: &HistorySeries,
    change: &gritstone_model::HistoryChange,
) -> Change {
    let before = series.points[..change.at].iter().rev();
    let before = before.clone().find(|point| point.value.is_some());
    Change {
        benchmark: view.id.clone(),
        title: view.title.clone(),
        machine: series.machine.clone(),
        name: series.name.clone(),
        kernel: series.kernel.clone(),
        before: before.map(|point| point.run.clone()),
        change: change.clone(),
    }
}
