//! Access of pages to the digest.

use crate::digests::Digest;
use crate::http::{Rejection, Status};
use crate::pages::{Pages, lists};
use gritstone_analysis::reliability;
use gritstone_model::{ChangeEvent, ListedSystem};
use gritstone_runs::changes;
use std::sync::Arc;
use std::time::Duration;

/// Longest wait for the first digest, which occupies a worker and is charged to the client.
const DIGEST_TIMEOUT: Duration = Duration::from_millis(300);

impl Pages {
    /// The digest, possibly of an older revision of the store; waits shortly if there is none.
    pub(super) fn known_digest(&self) -> Result<Option<Arc<Digest>>, Rejection> {
        let revision = match self.store()? {
            Some(store) => store.revision()?,
            None => String::new(),
        };
        Ok(self.digests.latest(&revision, DIGEST_TIMEOUT))
    }

    /// The digest for a page that shows nothing else.
    pub(super) fn digest(&self) -> Result<Arc<Digest>, Rejection> {
        let why = "Changes are being computed: try again later.";
        let busy = || Rejection::new(Status::Busy, why);
        self.known_digest()?.ok_or_else(|| self.digests.failure().unwrap_or_else(busy))
    }

    /// Adds the triage of events.
    pub(super) fn add_triage(&self, events: &mut [ChangeEvent]) -> Result<(), Rejection> {
        if let Some(store) = self.store()? {
            changes::add_triage(events, store.change_entries()?);
        }
        Ok(())
    }

    /// All systems, with the reliability and contention of their newest runs.
    pub(super) fn systems(&self, digest: Option<&Digest>) -> Result<Vec<ListedSystem>, Rejection> {
        let mut systems = lists::systems(self.store()?.as_deref())?;
        let known = digest.map_or(&[][..], |digest| &digest.newest);
        for system in &mut systems {
            if let Some(view) = known.iter().find(|view| view.machine.id == system.id) {
                system.reliability = Some(reliability::assess(view).reliability);
                system.contention.clone_from(&view.contention);
            }
        }
        Ok(systems)
    }
}
