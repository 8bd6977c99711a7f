//! The end of a run while another process has the store locked: a backup of minutes cuts no run off.
//!
//! Must not know: what is measured.

use crate::{output, signals};
use anyhow::{Context, Result};
use gritstone_store::{Store, StoreError};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long the end of a run waits for the store.
const LONGEST: Duration = Duration::from_secs(600);

/// Does something with the store as soon as no other process has it locked. The user may end the wait by asking to stop, once more where
/// that was asked already.
///
/// # Errors
/// What befalls the store; when it stays locked, how many launches are lost.
pub fn when_free(
    store: &mut Store,
    mut act: impl FnMut(&mut Store) -> Result<(), StoreError>,
) -> Result<()> {
    let start = Instant::now();
    let mut done = act(store);
    if let Err(StoreError::Locked(path)) = &done {
        output::remark(&format!(
            "{path} is locked by another process ('fuser {path}' says which): waiting until it is free; {} launches are in memory, and lost if you stop this now",
            store.waiting(),
            path = path.display()
        ));
        let stop = signals::end_of_run().context("cannot catch signals")?;
        while matches!(done, Err(StoreError::Locked { .. }))
            && start.elapsed() < LONGEST
            && !stop.load(Ordering::Relaxed)
        {
            done = act(store);
        }
    }
    match (done, store.waiting()) {
        (Err(error), lost @ 1..) => Err(error).with_context(|| format!("{lost} launches are lost")),
        (done, _) => Ok(done?),
    }
}
