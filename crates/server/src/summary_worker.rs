//! What takes all runs to know: what changed, and the newest run of each system. A thread computes it after each change of
//! the store, while pages show what was known before.

use crate::notify::Notify;
use crate::system_comparison;
use anyhow::Result;
use gritstone_model::{ChangeEvent, FleetView, RunView, SystemTrend};
use gritstone_runs::changes;
use gritstone_runs::context::Context;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What is known of a store.
#[derive(Debug)]
pub struct Digest {
    /// Of which revision.
    revision: String,
    /// What changed, newest first.
    pub events: Vec<ChangeEvent>,
    pub trends: Vec<SystemTrend>,
    /// The newest complete run of each system.
    pub newest: Vec<RunView>,
    /// The systems against each other.
    pub fleet: FleetView,
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
    notify: Option<Notify>,
    state: Mutex<State>,
    computed: Condvar,
}

impl Digests {
    /// Of the store at a path, of the changes of which others may be told.
    pub fn new(store: PathBuf, notify: Option<Notify>) -> Self {
        Self {
            store,
            notify,
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

    /// The revision of what is known; empty where nothing is.
    pub fn revision(&self) -> String {
        let state = self.state();
        let known = state.known.as_ref();
        known.map_or_else(String::new, |digest| digest.revision.clone())
    }

    fn compute(&self) {
        let context = Context::new(Some(self.store.clone())).serving();
        let digest = catch_unwind(AssertUnwindSafe(|| digest(&context)));
        let mut new = None;
        match digest {
            Ok(Ok(digest)) => {
                new = Some(Arc::new(digest));
                self.state().known.clone_from(&new);
                self.computed.notify_all();
            }
            Ok(Err(why)) => log::warn!("gritstone: what changed is not known: {why:#}"),
            Err(_) => log::warn!("gritstone: what changed is not known: a fault in Gritstone"),
        }
        // pages have it while others are told, which may take its time
        if let (Some(notify), Some(digest)) = (&self.notify, &new) {
            let tell = AssertUnwindSafe(|| notify.tell(&context, &digest.events));
            if catch_unwind(tell).is_err() {
                log::warn!("gritstone: others are not told of changes: a fault in Gritstone");
            }
        }
        // which goes with the process elsewhere: here one comes with every change of the store
        drop(ManuallyDrop::into_inner(context.catalogue));
        self.state().busy = false;
        self.computed.notify_all();
    }
}

fn digest(context: &Context) -> Result<Digest> {
    let Some(store) = context.reader()? else {
        return Ok(Digest {
            revision: String::new(),
            events: vec![],
            trends: vec![],
            newest: vec![],
            fleet: gritstone_analysis::fleet::report("", &[], 0.0),
        });
    };
    let revision = store.revision()?;
    context.compute_missing_results(&store)?;
    let (fleet, newest) = system_comparison::compare(context, &store, &store.runs()?);
    let histories = changes::recurring(context, &store)?;
    Ok(Digest {
        revision,
        events: changes::events(&store, &histories)?,
        trends: gritstone_analysis::trends::trends(&histories),
        newest,
        fleet,
    })
}
