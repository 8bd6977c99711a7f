//! Digest of the whole store: changes, and the newest run of each system. A thread recomputes it after each change of the store; pages show
//! the old one meanwhile.

use crate::http::Rejection;
use crate::notify::Notify;
use crate::system_comparison;
use anyhow::Result;
use gritstone_model::{ChangeEvent, FleetView, RunView, SystemTrend};
use gritstone_runs::changes;
use gritstone_runs::context::Context;
use gritstone_runs::earlier_runs::MAX_RUNS;
use gritstone_runs::history::Extent;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Pause after a failure, unless the store changes.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);

/// Digest of a store.
#[derive(Debug)]
pub struct Digest {
    /// Revision of the store.
    revision: String,
    /// Changes, newest first.
    pub events: Vec<ChangeEvent>,
    /// Whether any series has two runs to compare.
    pub compared: bool,
    pub trends: Vec<SystemTrend>,
    /// The newest complete run of each system.
    pub newest: Vec<RunView>,
    /// The systems compared with each other.
    pub fleet: FleetView,
}

struct Failure {
    /// Revision of the store.
    revision: String,
    time: Instant,
    why: Rejection,
}

#[derive(Default)]
struct State {
    latest: Option<Arc<Digest>>,
    /// The last attempt, if it failed.
    failure: Option<Failure>,
    /// Whether a thread is computing.
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
    /// For the store at a path; `notify` gets new changes.
    pub fn new(store: PathBuf, notify: Option<Notify>) -> Self {
        Self { store, notify, state: Mutex::default(), computed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The digest of this or an earlier revision; an outdated one is recomputed in the background. Waits only if there is none, at most for
    /// `patience`, since the caller occupies a worker thread.
    pub fn latest(self: &Arc<Self>, revision: &str, patience: Duration) -> Option<Arc<Digest>> {
        let mut state = self.state();
        let known = state.latest.as_ref();
        let is_due = known.is_none_or(|digest| digest.revision != revision);
        let has_failed = state.failure.as_ref().is_some_and(|failure| {
            failure.revision == revision && failure.time.elapsed() < RETRY_INTERVAL
        });
        if is_due && !has_failed && !state.busy {
            state.busy = true;
            state.failure = None;
            let (all, revision) = (Arc::clone(self), revision.to_owned());
            let thread = std::thread::Builder::new().name("digest".to_owned());
            if thread.spawn(move || all.compute(revision)).is_err() {
                state.busy = false;
            }
        }
        let waited = self
            .computed
            .wait_timeout_while(state, patience, |state| state.busy && state.latest.is_none());
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.latest.clone()
    }

    /// The revision of the digest; empty if there is none.
    pub fn revision(&self) -> String {
        let state = self.state();
        let known = state.latest.as_ref();
        known.map_or_else(String::new, |digest| digest.revision.clone())
    }

    /// Why the last attempt failed.
    pub fn failure(&self) -> Option<Rejection> {
        self.state().failure.as_ref().map(|failure| failure.why.clone())
    }

    fn compute(&self, revision: String) {
        let context = Context::new(Some(self.store.clone())).serving();
        let digest = catch_unwind(AssertUnwindSafe(|| digest(&context)));
        let mut new = None;
        match digest {
            Ok(Ok(digest)) => {
                new = Some(Arc::new(digest));
                let mut state = self.state();
                state.latest.clone_from(&new);
                state.failure = None;
                drop(state);
                self.computed.notify_all();
            }
            Ok(Err(why)) => {
                log::warn!("gritstone: cannot compute changes: {why:#}");
                self.fail(revision, why.into());
            }
            Err(_) => {
                let why = "cannot compute changes: a bug in Gritstone";
                log::warn!("gritstone: {why}");
                self.fail(revision, Rejection::broken(why));
            }
        }
        // before notifications, which may take long
        if let (Some(notify), Some(digest)) = (&self.notify, &new) {
            let send = AssertUnwindSafe(|| notify.send_new(&context, &digest.events));
            if catch_unwind(send).is_err() {
                log::warn!("gritstone: no notification of changes: internal error");
            }
        }
        // leaked elsewhere until the process ends; here one is made per change of the store
        drop(ManuallyDrop::into_inner(context.catalogue));
        self.state().busy = false;
        self.computed.notify_all();
    }

    fn fail(&self, revision: String, why: Rejection) {
        self.state().failure = Some(Failure { revision, time: Instant::now(), why });
    }
}

fn digest(context: &Context) -> Result<Digest> {
    let Some(store) = context.reader()? else {
        return Ok(Digest {
            revision: String::new(),
            events: vec![],
            compared: false,
            trends: vec![],
            newest: vec![],
            fleet: gritstone_analysis::fleet::report("", &[], 0.0),
        });
    };
    let revision = store.revision()?;
    let extent = Extent { runs: MAX_RUNS, branch: None, same: &[] };
    let histories = changes::recurring(context, &store, extent)?;
    let (fleet, newest) = system_comparison::compare(context, &store, &store.runs()?)?;
    Ok(Digest {
        revision,
        events: changes::events(&store, &histories)?,
        compared: changes::is_compared(&histories),
        trends: gritstone_analysis::trends::trends(&histories),
        newest,
        fleet,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Status;

    #[test]
    fn failures_last_until_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        std::fs::write(&path, "x".repeat(4096)).unwrap();
        let digests = Arc::new(Digests::new(path.clone(), None));
        let latest = |revision| digests.latest(revision, Duration::from_secs(60));
        assert!(latest("1").is_none());
        assert_eq!(digests.failure().unwrap().status, Status::Broken);
        std::fs::remove_file(&path).unwrap();
        assert!(latest("1").is_none());
        assert!(latest("2").is_some());
        assert_eq!(digests.failure(), None);
    }
}
