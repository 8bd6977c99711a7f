//! Undo journals: their directory, recovery, and the watchdog.

use anyhow::{Context, Result};
use gritstone_exec::{Journal, Registry, StateDir};
use gritstone_host::Root;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Hidden command: this binary as its own watchdog.
pub const WATCHDOG: &str = "watch-over-a-run";
/// Root of simulated settings, set by tests only.
const SETTINGS_ROOT: &str = "GRITSTONE_SETTINGS_ROOT";

fn settings_directory() -> PathBuf {
    std::env::var_os(SETTINGS_ROOT).map_or_else(|| PathBuf::from("/"), PathBuf::from)
}

pub(crate) fn settings_root() -> Root {
    Root::recorded(&settings_directory(), Root::live().syscall_results().clone())
}

/// `$XDG_STATE_HOME/gritstone`, or its default
pub fn state() -> Option<StateDir> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let below = |base, below: &str| StateDir { base, below: below.into() };
    absolute("XDG_STATE_HOME")
        .map(|base| below(base, "gritstone"))
        .or_else(|| absolute("HOME").map(|base| below(base, ".local/state/gritstone")))
}

/// Undoes the changes of killed runs.
pub fn recover() {
    for line in state().iter().flat_map(gritstone_exec::recover) {
        log::warn!("{line}");
    }
}

/// Without a journal a run continues, but changes no settings.
pub fn begin() -> Option<Journal> {
    let begun = state().context("neither XDG_STATE_HOME nor HOME says where").and_then(|state| {
        let journal = Journal::begin(Registry {
            root: settings_directory(),
            // this very binary, even if another has taken its name since
            watchdog: vec!["/proc/self/exe".into(), WATCHDOG.into()],
            report: |line| log::warn!("{line}"),
            state: state.clone(),
        });
        journal.with_context(|| format!("in {}", state.path().display()))
    });
    match begun {
        Ok(journal) => Some(journal),
        Err(why) => {
            log::warn!(
                "no undo journal: if this run is killed, its directories stay until the next start, or for good after a reboot, and what needs a journal is skipped: {why:#}"
            );
            None
        }
    }
}

/// Claims a run for this process, so that no other resumes it.
pub(crate) fn measures(journal: Option<&Journal>, run: &str) {
    if let Some(Err(why)) = journal.map(|journal| journal.measures(run)) {
        log::warn!(
            "cannot mark run {run} as being measured, so another process may resume it: {why}"
        );
    }
}

/// Runs that other processes of this user measure now, with their pids.
pub fn measuring(journal: Option<&Journal>) -> BTreeMap<String, u32> {
    state().map_or_else(BTreeMap::new, |state| gritstone_exec::measuring(&state, journal))
}

pub fn watch(state: &StateDir, journal: &OsStr) -> Result<()> {
    for line in gritstone_exec::watch(state, journal)? {
        log::warn!("gritstone: {line}");
    }
    Ok(())
}
