//! `gritstone run --resume`: goes on with a run that was cut off, if this is still the machine and these the programs.

use crate::command::run;
use crate::command::run::Job;
use crate::peer::{self, Reached};
use crate::runs::context::World;
use crate::session::custom_catalog;
use crate::session::host_context::Site;
use crate::session::local_backend::Local;
use crate::session::measuring::Bounds;
use crate::session::param_overrides;
use crate::session::trust;
use crate::session::undo;
use crate::ui::args::{PeerArgs, RunArgs};
use anyhow::{Context, Result, anyhow, bail, ensure};
use gritstone_catalogue::Own;
use gritstone_exec::Journal;
use gritstone_model::{
    Benchmark, Id, Launch, Machine, Owner, Peer, Program, RunData, RunInfo, Skip,
};
use gritstone_plan::steps;
use gritstone_store::{Resumable, Store};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The rest of a run: the newest that was cut off, or the one that is named.
pub fn job(world: &World, name: &str, args: &RunArgs) -> Result<Job> {
    let (trusted, permits) = (args.own.trust, args.privileges.permits());
    let data = cut_off(world, name, &Site::look(None)?.owner())?.into_data();
    let (id, settings) = (&data.info.id, &data.info.settings);
    let site = Site::look(Some(Path::new(&settings.dir)))?;
    same_machine(&data.info, &site.machine())?;
    let own = settings
        .catalogue
        .clone()
        .map(custom_catalog::of)
        .transpose();
    let own = own.with_context(|| format!("what run {id} has kept of its catalog"))?;
    if let Some(own) = &own {
        trust::ensure(own, trusted)?;
    }
    same_benchmarks(&data, &as_given(world, own.as_ref(), &data)?)?;
    let peer = settings.peer.as_ref();
    let peer = peer
        .map(|then| same_peer(id, then, &args.peer))
        .transpose()?;
    let again = settings.compilers.is_some();
    let mut offer = site.offer(&data.benchmarks, permits, own.as_ref(), again);
    if peer.is_some() {
        // they were refused when it began, and have not changed
        let skips = data.skips.iter();
        offer
            .refused
            .extend(skips.map(|skip| (skip.id.clone(), skip.reason.clone())));
    }
    let suite = settings.suite.as_ref().map(|name| world.suite(name));
    let mut plan = steps(data.benchmarks, &offer);
    same_permits(&data.skips, &plan.skips)?;
    run::add_copies(&mut plan, &offer, settings, suite.transpose()?);
    Ok(Job {
        plan,
        site,
        bounds: Bounds {
            steady: !settings.steady.is_empty(),
            reference: settings.reference,
            ..Bounds::new(permits)
        },
        own,
        peer,
        info: data.info,
        earlier: Some(data.launches),
    })
}

/// What was measured before is measured to the end, and what was skipped stays so: permissions are given anew, never read from a run.
fn same_permits(before: &[Skip], now: &[Skip]) -> Result<()> {
    let is_new = |skip: &&Skip| before.iter().all(|then| then.id != skip.id);
    if let Some(Skip { id, reason }) = now.iter().find(is_new) {
        bail!("{id} was measured before, and would be skipped now: {reason}");
    }
    Ok(())
}

/// The run of that name, or the newest that is not whole.
fn cut_off(world: &World, name: &str, owner: &Owner) -> Result<Resumable> {
    let store = world
        .reader()?
        .context("no run is stored yet, so there is none to resume")?;
    let id = match name {
        "" => newest_cut_off(&store, owner)?.context(
            "no run of this user on this system was interrupted: `gritstone run` starts a new one",
        )?,
        name => world.resolve(&store, name)?,
    };
    nobody_measures(&id, None)?;
    let run = store.resume(&id, owner)?;
    ensure!(
        run.data().info.settings.trial.is_none(),
        "run {id} is a side of an A/B test, which cannot be resumed: start a new one with `gritstone ab`"
    );
    Ok(run)
}

fn nobody_measures(run: &str, own: Option<&Journal>) -> Result<()> {
    if let Some(process) = undo::measuring(own).get(run) {
        bail!("run {run} is not interrupted: process {process} is measuring it");
    }
    Ok(())
}

/// Sides of trials are cut off on purpose, and what is being measured is not cut off.
fn newest_cut_off(store: &Store, owner: &Owner) -> Result<Option<String>> {
    let measuring = undo::measuring(None);
    for run in store.resumable(owner)?.into_iter().rev() {
        if !measuring.contains_key(&run.id) && store.info(&run.id)?.settings.trial.is_none() {
            return Ok(Some(run.id));
        }
    }
    Ok(None)
}

/// Figures of two machines are never mixed in one run, nor those of two systems.
fn same_machine(before: &RunInfo, here: &Machine) -> Result<()> {
    let (id, then) = (&before.id, &before.machine);
    ensure!(
        here.id == then.id && here.system == then.system,
        "run {id} was begun on {} under {}, and this is {} under {}: start a new one",
        then.name,
        then.system,
        here.name,
        here.system
    );
    Ok(())
}

/// Nor those of far ends on two hosts.
fn same_peer(id: &str, then: &Peer, args: &PeerArgs) -> Result<Reached> {
    let mut args = args.clone();
    let address = then.address.parse().ok();
    args.address = args.address.or(address);
    let reached = peer::reach(&then.host, &args)?.map_err(|why| anyhow!(why))?;
    let now = &reached.peer;
    ensure!(
        now.path() == then.path() && now.machine.system == then.machine.system,
        "run {id} was begun with far ends on {}, and now they would be on {}: start a new one",
        gritstone_report::peer(then),
        gritstone_report::peer(now)
    );
    Ok(reached)
}

/// Nor those of two benchmarks under one name.
fn same_benchmarks(before: &RunData, now: &[Benchmark]) -> Result<()> {
    for benchmark in &before.benchmarks {
        ensure!(
            now.contains(benchmark),
            "{} is not the benchmark that it was when run {} began (Gritstone {} then, {} now): start a new run",
            benchmark.id,
            before.info.id,
            before.info.gritstone,
            env!("CARGO_PKG_VERSION")
        );
    }
    Ok(())
}

/// The entries of a run as they are now, with the parameters that it was given.
fn as_given(world: &World, own: Option<&Own>, data: &RunData) -> Result<Vec<Benchmark>> {
    let mut catalogue = world.catalogue.benchmarks.clone();
    catalogue.extend(own.iter().flat_map(|own| own.catalogue.benchmarks.clone()));
    let mut now = catalogue.clone();
    now.retain(|row| data.benchmarks.iter().any(|then| then.id == row.id));
    param_overrides::give(&catalogue, &mut now, &data.info.settings.params)?;
    if data.info.settings.peer.is_some() {
        peer::give(&mut now);
    }
    Ok(now)
}

/// A run is steadied in one way from its beginning to its end.
pub fn same_steadying(before: &RunInfo, now: &[String]) -> Result<()> {
    let told = |steady: &[String]| match steady {
        [] => "nothing".to_owned(),
        some => some.join("; "),
    };
    ensure!(
        before.settings.steady == now,
        "run {} began with these settings tuned ({}), and now these can be ({}): start a new run",
        before.id,
        told(&before.settings.steady),
        told(now)
    );
    Ok(())
}

/// When the last of these launches ended, from the start of the run.
pub fn spent(launches: &[Launch]) -> Duration {
    let end =
        |launch: &Launch| Duration::from_nanos(launch.start.saturating_add(launch.conditions.wall));
    launches.iter().map(end).max().unwrap_or_default()
}

/// Begins to go on with a run, if it is stored now as it was looked at before: two processes that began at the same time could not see
/// each other until this one had written down that it measures the run.
pub fn begin(local: &mut Local<'_>, earlier: &[Launch], journal: Option<&Journal>) -> Result<()> {
    let sides = local.sides;
    let run = &sides[0].info.id;
    undo::measures(journal, run);
    nobody_measures(run, journal)?;
    let stored = local.store.load(run)?;
    ensure!(
        stored.info.elapsed_s.is_none() && stored.launches.len() == earlier.len(),
        "another process has resumed run {run}: `gritstone show {run}` shows it"
    );
    same_programs(&stored, &local.programs(0))
}

/// Figures of two programs are never mixed in one run.
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
