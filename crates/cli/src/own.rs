//! `--catalogue DIR`: benchmarks of one's own beside ours, and what a run of them needs: their programs, a bound, trust.
//!
//! Must not know: what is in a file of entries, how a program is compiled or started.

use crate::args::CatalogueArgs;
use crate::compiler::{self, FLAGS, Toolchain};
use crate::site::Site;
use crate::trust;
use crate::world::World;
use anyhow::{Context, Result};
use gritstone_catalogue::{Own, folder};
use gritstone_exec::Executor;
use gritstone_exec::rebuild::Rebuilt;
use gritstone_model::{Benchmark, OwnCatalogue, Plan, RunView, Settings, Work};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The catalogue in a folder.
///
/// # Errors
/// Says what is wrong with it, and where.
pub fn read(folder: &Path) -> Result<Own> {
    let kept = folder::read(folder)?;
    of(kept).with_context(|| format!("the catalogue {}", folder.display()))
}

/// The catalogue that a run has kept.
///
/// # Errors
/// When it is damaged, or made for another version of Gritstone.
pub fn of(kept: OwnCatalogue) -> Result<Own> {
    let ours = gritstone_kernels::sources()
        .iter()
        .map(|source| source.path);
    Ok(gritstone_catalogue::own(
        kept,
        &ours.collect::<BTreeSet<_>>(),
    )?)
}

impl World {
    /// With the catalogue that the options name, for looking only.
    pub fn with_catalogue(mut self, args: &CatalogueArgs) -> Result<Self> {
        if let Some(folder) = &args.catalogue {
            self.add(read(folder)?);
        }
        Ok(self)
    }

    /// With the catalogue that the options name, for running its programs.
    pub fn with_programs(self, args: &CatalogueArgs) -> Result<Self> {
        let world = self.with_catalogue(args)?;
        if let Some(own) = &world.own {
            trust::ensure(own, args.trust)?;
        }
        Ok(world)
    }

    /// Adds the rows and families of a catalogue of the user's own to ours.
    pub fn add(&mut self, own: Own) {
        let theirs = own.catalogue.clone();
        self.catalogue.families.extend(theirs.families);
        self.catalogue.benchmarks.extend(theirs.benchmarks);
        self.own = Some(own);
    }

    /// What is meant where nothing is selected: with a catalogue of one's own, all of that.
    pub fn selectors(&self, given: &[String]) -> Vec<String> {
        match &self.own {
            Some(own) if given.is_empty() => {
                let rows = own.catalogue.benchmarks.iter();
                rows.map(|row| row.id.to_string()).collect()
            }
            _ => given.to_vec(),
        }
    }
}

/// What a run of these rows keeps of the catalogue: nothing where all of them are ours.
pub fn kept(own: Option<&Own>, rows: &[Benchmark]) -> Option<OwnCatalogue> {
    let own = own?;
    let any = rows.iter().any(|row| own.kept.has(&row.id));
    any.then(|| own.kept.clone())
}

/// All sources that can be compiled here, path and text.
pub fn sources(own: Option<&Own>) -> Vec<(&str, &str)> {
    let files = own.into_iter().flat_map(|own| &own.kept.files);
    let texts = files.filter_map(|(path, file)| Some((path.as_str(), file.contents.text()?)));
    let ours = compiler::sources().into_iter();
    ours.chain(texts.filter(|(path, _)| path.contains('/')))
        .collect()
}

/// The names of its programs.
pub fn programs(own: Option<&Own>) -> impl Iterator<Item = String> {
    let all = own.map(|own| own.compiled.iter().chain(&own.executables));
    all.into_iter().flatten().cloned()
}

/// The part of a catalogue that a plan has rows of, if it has any.
pub fn in_plan<'a>(own: Option<&'a Own>, plan: &Plan) -> Option<&'a Own> {
    own.filter(|own| plan.benchmarks.iter().any(|row| own.kept.has(&row.id)))
}

/// Makes the programs of the user's own rows in a plan known to an executor. Rows whose programs do not compile here are taken
/// out, with the reason.
///
/// # Errors
/// When programs cannot be written, or the user asks to stop.
pub fn prepare(
    own: Option<&Own>,
    site: &Site,
    plan: &mut Plan,
    executor: &mut Executor,
) -> Result<()> {
    let Some(own) = in_plan(own, plan) else {
        return Ok(());
    };
    if !own.executables.is_empty() {
        executor.add_executables(&own.kept.files, &own.executables)?;
    }
    let programs = compiled(own, site, plan, executor)?;
    executor.add_programs(programs);
    Ok(())
}

/// The programs of another version of the catalogue that an executor knows, of the same names. Rows that do not compile in
/// it are taken out, with the reason.
///
/// # Errors
/// When programs cannot be written, or the user asks to stop.
pub fn another(
    own: &Own,
    site: &Site,
    plan: &mut Plan,
    executor: &mut Executor,
) -> Result<BTreeMap<String, Rebuilt>> {
    let mut programs = compiled(own, site, plan, executor)?;
    if !own.executables.is_empty() {
        programs.extend(executor.executables(&own.kept.files, &own.executables)?);
    }
    Ok(programs)
}

/// Whether a row has a program that is compiled from the catalogue.
pub fn is_compiled(own: &Own, row: &Benchmark) -> bool {
    programs_of(row).any(|program| own.compiled.contains(program))
}

/// The programs of ours or of the catalogue that a row executes.
pub fn programs_of(row: &Benchmark) -> impl Iterator<Item = &String> {
    let work = match &row.work {
        Work::Kernel(work) => Some(work),
        _ => None,
    };
    work.into_iter()
        .flat_map(|work| work.uses.iter().chain([&work.program]))
}

/// Compiles the programs of the user's own rows in a plan; rows whose programs do not compile here are taken out.
fn compiled(
    own: &Own,
    site: &Site,
    plan: &mut Plan,
    executor: &mut Executor,
) -> Result<BTreeMap<String, Rebuilt>> {
    let rows = plan.benchmarks.iter().filter(|row| is_compiled(own, row));
    let rows: Vec<Benchmark> = rows.cloned().collect();
    if rows.is_empty() {
        return Ok(BTreeMap::new());
    }
    let Some(cc) = compiler::usual(site) else {
        let why = "Its program is compiled here, and there is no C compiler on PATH: apt-get install gcc.";
        for row in rows {
            compiler::leave_out(plan, row.id, why);
        }
        return Ok(BTreeMap::new());
    };
    let (c, fortran) = Toolchain::find(site, cc, None)?.with(FLAGS);
    let theirs = Plan {
        benchmarks: rows,
        ..Plan::default()
    };
    let mut builds = compiler::build(executor, &theirs, c, fortran, &sources(Some(own)))?;
    // a program of ours that one of theirs uses is as it travels in this binary
    builds.retain(|name, _| own.compiled.contains(name));
    Ok(compiler::accept(plan, builds))
}

/// The catalogues of their own that runs have kept, read again; one that cannot be is told and left out.
pub fn of_runs(runs: &[RunView]) -> Vec<Own> {
    let kept = runs.iter().filter_map(|run| run.settings.as_ref());
    let kept = kept.filter_map(|settings: &Settings| settings.catalogue.clone());
    let read = |kept: OwnCatalogue| {
        let name = kept.named();
        of(kept).map_err(|why| {
            crate::output::remark(&format!(
                "of the catalogue {name} the figures are shown, but not what it says of them: {why:#}"
            ));
        })
    };
    kept.filter_map(|kept| read(kept).ok()).collect()
}
