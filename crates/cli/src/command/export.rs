//! `gritstone export` and `gritstone import`: runs to files of other programs, and files to runs.

use crate::ui::args::{ExportArgs, ExportFormat, ImportArgs};
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Result, anyhow, ensure};
use gritstone_exchange::{self as exchange, Exported};
use gritstone_model::{Id, Kind, RunData, RunView};
use gritstone_plan::{Selectors, with_parts};
use gritstone_runs::context::World;
use gritstone_runs::files;
use gritstone_runs::selection::only;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Compression level of reference bundles.
const HARDEST: i32 = 19;

/// Writes a run to standard output or a file.
pub fn export(world: &World, args: &ExportArgs) -> Result<Exit> {
    let (name, _, selectors) = world.chosen_run(&args.words)?;
    let mut data = world.data(&name)?;
    if let Some(id) = &args.reference {
        ensure!(
            selectors.is_empty(),
            "--reference takes a whole run, without selectors"
        );
        return reference(world, &data, id, args.out.as_deref());
    }
    keep(&mut data, &selectors);
    if !args.identity.with_identity {
        data = exchange::anonymous_run(&data, files::home().as_deref());
    }
    let view = || -> Result<RunView> {
        let mut view = world.summary(&data);
        only(&mut view, &selectors)?;
        Ok(view)
    };
    let whole = |text: String| Exported {
        text,
        left_out: vec![],
    };
    let exported = match args.format {
        ExportFormat::Jsonl => whole(exchange::write_bundle(&data)),
        ExportFormat::Csv => whole(exchange::csv(&view()?)),
        ExportFormat::Markdown => whole(exchange::markdown(&view()?)),
        ExportFormat::Gbench => exchange::gbench(&data, &view()?),
        ExportFormat::Bmf => exchange::bencher(&view()?),
        ExportFormat::Gha => exchange::github(&view()?),
        ExportFormat::Openmetrics => exchange::openmetrics(&view()?),
        ExportFormat::Hyperfine => exchange::hyperfine(&data, &view()?),
        ExportFormat::Phoronix => exchange::phoronix(&view()?),
    };
    match &args.out {
        Some(path) => files::write_whole(path, exported.text.as_bytes())?,
        None => output::plain(&exported.text)?,
    }
    for (id, why) in &exported.left_out {
        output::remark(&format!("left out: {id}: {why}"));
    }
    Ok(Exit::Done)
}

/// Writes a run as the bundle of a reference system of that name, compressed, without names of hosts and users.
fn reference(world: &World, run: &RunData, id: &str, out: Option<&Path>) -> Result<Exit> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    let begins = id.starts_with(|c: char| plain(c) && c.is_ascii_alphanumeric());
    ensure!(
        begins && id.chars().all(plain),
        "--reference {id}: an id is made of a-z, 0-9, '-' and '.', such as amd-epyc-9654-2026"
    );
    let mut run = exchange::anonymous_run(run, files::home().as_deref());
    // scores are against a reference system, and one would be against itself
    run.benchmarks
        .retain(|benchmark| benchmark.work.kind() != Kind::Rating);
    files::check_reference(&run, &world.summary(&run))?;
    let bytes = zstd::encode_all(exchange::write_bundle(&run).as_bytes(), HARDEST)?;
    let name = PathBuf::from(format!("{id}.jsonl.zst"));
    let path = out.unwrap_or(&name);
    files::write_whole(path, &bytes)?;
    output::plain(&format!("{}\n", path.display()))?;
    Ok(Exit::Done)
}

/// Keeps of a run what is selected, and what that is made of; all where nothing is.
fn keep(run: &mut RunData, selectors: &[String]) {
    let kept = with_parts(&run.benchmarks, &Selectors::new(selectors));
    let kept: BTreeSet<Id> = kept.into_iter().cloned().collect();
    run.benchmarks
        .retain(|benchmark| kept.contains(&benchmark.id));
    run.programs.retain(|id, _| kept.contains(id));
    run.skips.retain(|skip| kept.contains(&skip.id));
    run.launches.retain(|launch| kept.contains(&launch.id));
}

/// Keeps the runs of files in the store, all of them or none.
pub fn import(world: &World, args: &ImportArgs) -> Result<Exit> {
    let runs: Vec<RunData> = args
        .files
        .iter()
        .map(|path| files::read(path))
        .collect::<Result<_>>()?;
    let mut store = world.writer()?;
    for run in &runs {
        if store.info(&run.info.id).is_ok() {
            return Err(anyhow!("run {} is in the store already", run.info.id));
        }
    }
    for mut run in runs {
        if let Some(label) = &args.label {
            run.info.label = Some(label.clone());
        }
        if let Some(host) = &args.host {
            exchange::name_machine(&mut run, host)?;
        }
        store.import(&run)?;
        world.computed(&store, &run)?;
        output::plain(&format!("{}\n", run.info.id))?;
    }
    Ok(Exit::Done)
}
