//! Continues a stored run: checks that it is the same run, and that no other process measures it.

use crate::local_backend::LocalBackend;
use crate::undo;
use anyhow::{Result, bail, ensure};
use gritstone_exec::Journal;
use gritstone_model::{Id, Launch, Program, RunData, RunInfo};
use std::collections::BTreeMap;
use std::time::Duration;

/// # Errors
/// When another process measures the run.
pub fn check_unmeasured(run: &str, journal: Option<&Journal>) -> Result<()> {
    if let Some(process) = undo::measuring(journal).get(run) {
        bail!("run {run} is not interrupted: process {process} is measuring it");
    }
    Ok(())
}

/// End of the last launch, from the start of the run.
pub(crate) fn spent(launches: &[Launch]) -> Duration {
    let end =
        |launch: &Launch| Duration::from_nanos(launch.start.saturating_add(launch.conditions.wall));
    launches.iter().map(end).max().unwrap_or_default()
}

/// Claims a run, then checks that it is unchanged: of two processes that resume simultaneously, only the claim shows each the other.
pub(crate) fn begin(
    local: &mut LocalBackend<'_>,
    earlier: &[Launch],
    journal: Option<&Journal>,
) -> Result<()> {
    let sides = local.sides;
    let run = &sides[0].info.id;
    undo::measures(journal, run);
    check_unmeasured(run, journal)?;
    let stored = local.store.load(run)?;
    ensure!(
        stored.info.elapsed_s.is_none() && stored.launches.len() == earlier.len(),
        "another process has resumed run {run}: `gritstone show {run}` shows it"
    );
    same_programs(&stored, &local.programs(0))
}

/// Results of two programs are never mixed in one run.
fn same_programs(before: &RunData, now: &BTreeMap<Id, Program>) -> Result<()> {
    let run = &before.info.id;
    for (id, program) in &before.programs {
        match now.get(id) {
            Some(now) if now == program => (),
            Some(now) if now.compiler != program.compiler => bail!(
                "run {run} was begun with programs of {}, and this is {}: start a new run",
                program.compiler,
                now.compiler
            ),
            Some(_) => bail!(
                "the program of {id} is not the one with which run {run} began: start a new run"
            ),
            None => bail!(
                "the program of {id}, with which run {run} began, cannot be made any more: start a new run"
            ),
        }
    }
    Ok(())
}

pub fn check_same_tuning(before: &RunInfo, now: &[String]) -> Result<()> {
    let text = |settings: &[String]| match settings {
        [] => "nothing".to_owned(),
        some => some.join("; "),
    };
    ensure!(
        before.settings.tuned == now,
        "run {} began with these settings tuned ({}), and now these can be ({}): start a new run",
        before.id,
        text(&before.settings.tuned),
        text(now)
    );
    Ok(())
}
