//! `gritstone run --resume`: resumes an interrupted run on the same machine with the same programs.

use crate::command::run::args::RunArgs;
use crate::command::run::job::{self, Job};
use crate::ui::confirm;
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use gritstone_catalogue::CustomBenchmarks;
use gritstone_model::{Benchmark, Machine, Owner, Peer, RunData, RunInfo, Skip};
use gritstone_peer::ConnectedPeer;
use gritstone_plan::steps;
use gritstone_runs::context::Context;
use gritstone_runs::custom_catalog;
use gritstone_session::bounds::Bounds;
use gritstone_session::host_context::HostContext;
use gritstone_session::param_overrides;
use gritstone_session::resumption;
use gritstone_session::trust;
use gritstone_session::undo;
use gritstone_store::{Resumable, Store};
use std::path::Path;

pub fn job(context: &Context, name: &str, args: &RunArgs) -> Result<Job> {
    let (trusted, permits) = (args.custom.trust, args.privileges.permits());
    let data = find_interrupted(context, name, &HostContext::probe(None)?.owner())?.into_data();
    let (id, settings) = (&data.info.id, &data.info.settings);
    let host = HostContext::probe(Some(Path::new(&settings.dir)))?;
    check_same_machine(&data.info, &host.machine())?;
    let custom = settings.catalogue.clone().map(custom_catalog::parse_catalog).transpose();
    let custom = custom.with_context(|| format!("the catalog that is stored with run {id}"))?;
    if let Some(custom) = &custom {
        trust::ensure(custom, trusted, confirm::run_it)?;
    }
    check_same_benchmarks(&data, &current_entries(context, custom.as_ref(), &data)?)?;
    let peer = settings.peer.as_ref();
    let peer = peer.map(|then| check_same_peer(id, then, args.peer.options())).transpose()?;
    let again = settings.compilers.is_some();
    let mut offer = host.offer(&data.benchmarks, permits, custom.as_ref(), again);
    if peer.is_some() {
        // refused when the run began
        let skips = data.skips.iter();
        offer.refused.extend(skips.map(|skip| (skip.id.clone(), skip.reason.clone())));
    }
    let suite = settings.suite.as_ref().map(|name| context.suite(name));
    let mut plan = steps(data.benchmarks, &offer);
    check_same_permits(&data.skips, &plan.skips)?;
    job::add_copies(&mut plan, &offer, settings, suite.transpose()?);
    Ok(Job {
        plan,
        host,
        bounds: Bounds {
            tune: !settings.tuned.is_empty(),
            wait: args.wait,
            reference: settings.reference,
            ..Bounds::new(permits)
        },
        custom,
        peer,
        info: data.info,
        earlier: Some(data.launches),
    })
}

/// Permissions come from the command line, never from the run, so benchmarks may be skipped now that were measured before.
fn check_same_permits(before: &[Skip], now: &[Skip]) -> Result<()> {
    let is_new = |skip: &&Skip| before.iter().all(|then| then.id != skip.id);
    if let Some(Skip { id, reason }) = now.iter().find(is_new) {
        bail!("{id} was measured before, and would be skipped now: {reason}");
    }
    Ok(())
}

/// The named run, or the newest interrupted one.
fn find_interrupted(context: &Context, name: &str, owner: &Owner) -> Result<Resumable> {
    let store = context.reader()?.context("no run is stored yet, so none can be resumed")?;
    let id = match name {
        "" => newest_interrupted(&store, owner)?.context(
            "no run of this user on this system was interrupted: `gritstone run` starts a new one",
        )?,
        name => context.resolve(&store, name)?,
    };
    resumption::check_unmeasured(&id, None)?;
    let run = store.resume(&id, owner)?;
    ensure!(
        run.data().info.settings.trial.is_none(),
        "run {id} is a side of an A/B test, which cannot be resumed: start a new one with `gritstone ab`"
    );
    Ok(run)
}

/// Skips sides of trials, and runs that are being measured.
fn newest_interrupted(store: &Store, owner: &Owner) -> Result<Option<String>> {
    let measuring = undo::measuring(None);
    for run in store.resumable(owner)?.into_iter().rev() {
        if !measuring.contains_key(&run.id) && store.info(&run.id)?.settings.trial.is_none() {
            return Ok(Some(run.id));
        }
    }
    Ok(None)
}

fn allowed_cpus(machine: &Machine) -> &str {
    machine.facts.get(Machine::ALLOWED_CPUS).map_or("unknown", String::as_str)
}

/// Results of two machines, systems or sets of CPUs are never mixed in one run.
fn check_same_machine(before: &RunInfo, here: &Machine) -> Result<()> {
    let (id, then) = (&before.id, &before.machine);
    ensure!(
        here.id == then.id && here.system == then.system,
        "run {id} was begun on {} under {}, and this is {} under {}: start a new one",
        then.name,
        then.system,
        here.name,
        here.system
    );
    let (allowed, now) = (allowed_cpus(then), allowed_cpus(here));
    ensure!(
        allowed == now,
        "run {id} was begun on CPUs {allowed}, and this process may use {now}: resume it by `taskset -c {allowed} gritstone run --resume={id}`, or start a new one"
    );
    Ok(())
}

fn check_same_peer(
    id: &str,
    then: &Peer,
    mut options: gritstone_peer::Options,
) -> Result<ConnectedPeer> {
    options.address = options.address.or(then.address.parse().ok());
    let reached = gritstone_peer::connect(&then.host, &options)?.map_err(|why| anyhow!(why))?;
    let now = &reached.peer;
    ensure!(
        now.path() == then.path() && now.machine.system == then.machine.system,
        "run {id} was begun with far ends on {}, and now they would be on {}: start a new one",
        gritstone_report::peer(then),
        gritstone_report::peer(now)
    );
    Ok(reached)
}

fn check_same_benchmarks(before: &RunData, now: &[Benchmark]) -> Result<()> {
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

/// Current entries of the benchmarks of a run, with its parameters.
fn current_entries(
    context: &Context,
    custom: Option<&CustomBenchmarks>,
    data: &RunData,
) -> Result<Vec<Benchmark>> {
    let mut catalogue = context.catalogue.benchmarks.clone();
    catalogue.extend(custom.iter().flat_map(|custom| custom.catalogue.benchmarks.clone()));
    let mut now = catalogue.clone();
    now.retain(|benchmark| data.benchmarks.iter().any(|then| then.id == benchmark.id));
    param_overrides::apply(&catalogue, &mut now, &data.info.settings.params)?;
    if data.info.settings.peer.is_some() {
        gritstone_peer::move_far_ends(&mut now);
    }
    Ok(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_cpus_are_refused() {
        let mut before = gritstone_testkit::run(vec![], vec![]).info;
        before.machine.facts.insert(Machine::ALLOWED_CPUS.to_owned(), "8".to_owned());
        let mut here = before.machine.clone();
        assert!(check_same_machine(&before, &here).is_ok());
        here.facts.insert(Machine::ALLOWED_CPUS.to_owned(), "0-15".to_owned());
        let why = check_same_machine(&before, &here).unwrap_err().to_string();
        assert!(why.contains("may use 0-15: resume it by `taskset -c 8 gritstone"), "{why}");
    }
}
