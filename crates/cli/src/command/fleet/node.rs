//! `gritstone fleet node`: one node measures itself, into a store that goes with it, and writes its bundle.

use crate::command::job::Job;
use crate::command::run;
use crate::ui::args::FleetNodeArgs;
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context, Result};
use gritstone_exchange::write_bundle;
use gritstone_model::FleetMember;
use gritstone_runs::context::World;
use gritstone_session::local_backend::End;
use gritstone_session::undo;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use std::path::Path;

/// Measures and writes.
pub fn node(world: &World, args: &FleetNodeArgs) -> Result<Exit> {
    undo::recover();
    if let Some(cpu) = args.cpu {
        let mut only = CpuSet::new();
        let set = only
            .set(cpu as usize)
            .and_then(|()| sched_setaffinity(Pid::from_raw(0), &only));
        set.with_context(|| format!("CPU {cpu} cannot be used alone"))?;
    }
    let mut job = Job::new(world, &args.run)?;
    job.info.settings.fleet = Some(FleetMember {
        fleet: args.fleet.clone(),
        node: args.node.clone(),
        place: args.place.iter().cloned().collect(),
        of: args.of,
    });
    let id = job.info.id.clone();
    let (view, end) = job.measure(world)?;
    if end == End::Interrupted {
        return Ok(Exit::Interrupted);
    }
    let exit = run::outcome(&view)?;
    let store = world.reader()?.context("the store of this node is gone")?;
    let bundle = write_bundle(&store.load(&id)?);
    match args.output == Path::new("-") {
        true => output::plain(&bundle)?,
        false => gritstone_runs::files::write_whole(&args.output, bundle.as_bytes())?,
    }
    Ok(exit)
}
