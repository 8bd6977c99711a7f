//! Where the journals of runs are kept, and who is told what comes of them.

use anyhow::{Context, Result};
use gritstone_exec::{Journal, Registry, State};
use gritstone_host::Root;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;

/// The name of the command that is not in the help: this binary as its own watchdog.
pub const WATCHDOG: &str = "watch-over-a-run";
/// Where a made-up machine's settings lie, for tests; they are the only ones who set it.
const SETTINGS_ROOT: &str = "GRITSTONE_SETTINGS_ROOT";

/// Below which the machine's settings lie.
fn settings_directory() -> PathBuf {
    std::env::var_os(SETTINGS_ROOT).map_or_else(|| PathBuf::from("/"), PathBuf::from)
}

/// To read the machine's settings by.
pub fn settings_root() -> Root {
    Root::recorded(&settings_directory(), Root::live().answers().clone())
}

/// `$XDG_STATE_HOME/gritstone`, where programs keep what must outlive them but is not worth carrying to another machine.
pub fn state() -> Option<State> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let below = |base, below: &str| State {
        base,
        below: below.into(),
    };
    absolute("XDG_STATE_HOME")
        .map(|base| below(base, "gritstone"))
        .or_else(|| absolute("HOME").map(|base| below(base, ".local/state/gritstone")))
}

/// Undoes what runs that were killed have left, and says so.
pub fn recover() {
    for line in state().iter().flat_map(gritstone_exec::recover) {
        log::warn!("{line}");
    }
}

/// The journal of this run; without one a run goes on, but can steady nothing.
pub fn begin() -> Option<Journal> {
    let begun = state()
        .context("neither XDG_STATE_HOME nor HOME says where")
        .and_then(|state| {
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
                "no undo journal: if this run is killed, only the next start removes its directories, and what needs a journal is skipped: {why:#}"
            );
            None
        }
    }
}

/// Writes down that this process measures a run, so that no other goes on with it meanwhile.
pub fn measures(journal: Option<&Journal>, run: &str) {
    if let Some(Err(why)) = journal.map(|journal| journal.measures(run)) {
        log::warn!(
            "run {run} cannot be marked as being measured, so another process may resume it: {why}"
        );
    }
}

/// The runs that other processes of this user measure at this moment, with the process: all but that of our own journal.
pub fn measuring(own: Option<&Journal>) -> BTreeMap<String, u32> {
    state().map_or_else(BTreeMap::new, |state| {
        gritstone_exec::measuring(&state, own)
    })
}

/// The life of the watchdog of a run.
pub fn watch(state: &State, journal: &OsStr) -> Result<()> {
    for line in gritstone_exec::watch(state, journal)? {
        log::warn!("gritstone: {line}");
    }
    Ok(())
}
