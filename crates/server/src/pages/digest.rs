//! What takes all runs to know, for the pages that show it.

use crate::http::Refused;
use crate::pages::{Pages, busy, lists};
use crate::summary_worker::Digest;
use gritstone_model::{ChangeEvent, ListedSystem};
use gritstone_runs::changes;
use std::sync::Arc;
use std::time::Duration;

/// A page waits at most so long for what takes all runs to know.
const LATER: Duration = Duration::from_secs(10);

impl Pages {
    /// What is known, perhaps of an older revision of the store; waits where nothing is.
    pub(super) fn digest_within(&self, patience: Duration) -> Result<Option<Arc<Digest>>, Refused> {
        let revision = match self.store()? {
            Some(store) => store.revision()?,
            None => String::new(),
        };
        Ok(self.digests.of(&revision, patience))
    }

    /// What is known: a page that shows nothing else.
    pub(super) fn digest(&self) -> Result<Arc<Digest>, Refused> {
        self.digest_within(LATER)?.ok_or_else(busy)
    }

    /// The first events, with what was said of them.
    pub(super) fn triaged(
        &self,
        events: &[ChangeEvent],
        most: usize,
    ) -> Result<Vec<ChangeEvent>, Refused> {
        let mut events: Vec<ChangeEvent> = events.iter().take(most).cloned().collect();
        if let Some(store) = self.store()? {
            changes::add_triage(&mut events, store.change_entries()?);
        }
        Ok(events)
    }

    /// All systems, with the reliability and contention of their newest runs.
    pub(super) fn systems(&self, digest: Option<&Digest>) -> Result<Vec<ListedSystem>, Refused> {
        let mut systems = lists::systems(self.store()?.as_ref())?;
        for system in &mut systems {
            let known = digest.and_then(|digest| digest.reliability.get(&system.id));
            system.reliability = known.copied();
            let newest = digest.and_then(|digest| {
                let mut newest = digest.newest.iter();
                newest.find(|view| view.machine.id == system.id)
            });
            system.contention = newest.and_then(|view| view.contention.clone());
        }
        Ok(systems)
    }
}
