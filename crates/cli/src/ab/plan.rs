//! What a trial launches: rows, programs and environment of each side.
//!
//! Must not know: the store, when it is enough.

use super::sides::{Side, Sides};
use crate::args::AbArgs;
use crate::compiler::{Toolchain, is_compiled};
use crate::failure::{Exit, Failure};
use crate::site::Site;
use crate::world::World;
use crate::{audit, output, own};
use anyhow::{Context, Result, bail, ensure};
use gritstone_exec::Executor;
use gritstone_exec::rebuild::{RebuildError, Rebuilt};
use gritstone_model::{Benchmark, CommandWork, Figure, Plan, Step, Work};
use gritstone_plan::{select, steps};
use std::collections::BTreeMap;

/// What is launched: commands, or the rows of the catalogue that have a time of their own.
pub fn plan(world: &World, args: &AbArgs, site: &Site, sides: &Sides) -> Result<Plan> {
    let commands = &sides.sides[0].commands;
    if !commands.is_empty() {
        let step = |row: &Benchmark| Step {
            id: row.id.clone(),
            cpus: vec![],
            copies: 1,
        };
        return Ok(Plan {
            steps: commands.iter().map(step).collect(),
            benchmarks: commands.clone(),
            skips: vec![],
        });
    }
    let selectors = world.selectors(&args.selectors);
    let mut wanted = select(&world.catalogue.benchmarks, &selectors)?;
    wanted.retain(timed);
    let mut offer = site.offer(&wanted);
    offer.kernels.extend(own::programs(world.own.as_ref()));
    let plan = steps(wanted, &offer);
    if plan.steps.is_empty() {
        let why = plan
            .skips
            .first()
            .map_or_else(String::new, |skip| format!(": {}", skip.footnote.why));
        return Err(Failure {
            exit: Exit::NothingMeasured,
            what: format!("none of these rows has a time that could be measured here{why}"),
        }
        .into());
    }
    Ok(plan)
}

/// Whether a row is launched, and its figure is a time.
fn timed(benchmark: &Benchmark) -> bool {
    match &benchmark.work {
        Work::Kernel(_) => true,
        Work::Command(CommandWork { figure, .. }) | Work::Scenario(CommandWork { figure, .. }) => {
            *figure == Figure::Time
        }
        Work::Derived { .. } | Work::Rating { .. } => false,
    }
}

/// The programs of each side, compiled where it has a compiler.
pub fn builds(
    site: &Site,
    executor: &mut Executor,
    plan: &Plan,
    sides: &Sides,
    sources: &[(&str, &str)],
) -> Result<Vec<BTreeMap<String, Rebuilt>>> {
    let names = audit::programs(plan);
    let names = names.iter().map(String::as_str);
    let names: Vec<&str> = names.filter(|name| is_compiled(sources, name)).collect();
    let mut all = vec![];
    for side in &sides.sides {
        let Some((name, flags)) = &side.compiler else {
            all.push(BTreeMap::new());
            continue;
        };
        ensure!(
            !names.is_empty(),
            "none of these rows is compiled by us, so that --cc changes nothing"
        );
        let (c, fortran) = Toolchain::find(site, name, None)?.with(&flags.join(" "));
        output::remark(&format!(
            "compiling {} programs: {}",
            names.len(),
            side.what
        ));
        let built = match executor.workshop(c, fortran)?.build(sources, &names) {
            Ok(built) => built,
            Err(RebuildError::Refused(why)) => {
                bail!("with {} nothing can be compiled here: {why}", side.what)
            }
            Err(RebuildError::Exec(error)) => return Err(error.into()),
        };
        let build = |(program, built): (String, Result<Rebuilt, String>)| {
            let built = built.map_err(anyhow::Error::msg);
            Ok((
                program.clone(),
                built
                    .with_context(|| format!("{program} cannot be compiled; leave its rows out"))?,
            ))
        };
        all.push(built.into_iter().map(build).collect::<Result<_>>()?);
    }
    Ok(all)
}

/// Everything that a child of this side finds in its environment.
pub fn environment(site: &Site, commands: bool, side: &Side) -> BTreeMap<String, String> {
    let mut environment = match commands {
        // a name or value that is no UTF-8 is not passed on
        true => std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        false => site.environment(),
    };
    environment.extend(side.environment.iter().cloned());
    environment
}
