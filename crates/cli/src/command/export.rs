//! `gritstone export`: a run as a bundle, or in the format of another program.

use crate::ui::args::IdentityArgs;
use crate::ui::candidates;
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::unknown_word;
use crate::ui::value_parsers;
use anyhow::{Result, ensure};
use clap::Args;
use clap::builder::TypedValueParser;
use gritstone_exchange::{self as exchange, EXPORT_FORMATS, ExportFormat, Exported, Writer};
use gritstone_model::{Id, Kind, RunData};
use gritstone_plan::{Selectors, with_parts};
use gritstone_runs::context::Context;
use gritstone_runs::files;
use gritstone_runs::selection::retain_selected;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::slice;

/// zstd level of reference bundles.
const REFERENCE_LEVEL: i32 = 19;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone export last -o run.jsonl
  gritstone export main 'byte/*' --format csv")]
pub struct ExportArgs {
    /// Run, then benchmarks, families or globs [default: last]
    #[arg(value_name = "RUN | SELECTOR", add = candidates::subjects())]
    pub words: Vec<String>,
    /// Output format
    #[arg(short, long, value_parser = format(), default_value = EXPORT_FORMATS[0].name)]
    pub format: &'static ExportFormat,
    /// Output file [default: standard output]
    #[arg(short, long = "output", value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub identity: IdentityArgs,
    /// Write a run of suite standard as a reference system, for references/measured
    #[arg(long, value_name = "ID", conflicts_with_all = ["format", "with_identity"])]
    pub reference: Option<String>,
}

fn format() -> impl TypedValueParser<Value = &'static ExportFormat> {
    let formats = EXPORT_FORMATS.iter().map(|format| (format, format.help));
    value_parsers::named(|format: &ExportFormat| format.name, formats)
}

pub fn export(context: &Context, args: &ExportArgs) -> Result<Exit> {
    let selected = context.select_run(&args.words);
    let (name, _, selectors) =
        selected.map_err(|why| unknown_word::explain(context, &args.words, why))?;
    let mut data = context.data(&name)?;
    if let Some(id) = &args.reference {
        ensure!(selectors.is_empty(), "--reference takes a whole run, without selectors");
        return export_reference(context, &data, id, args.out.as_deref());
    }
    if let Writer::Results(_) = args.format.write {
        data.info.settings.reference_ghz = context.view(&name)?.reference_ghz;
    }
    retain_benchmarks(&mut data, &selectors);
    if !args.identity.with_identity {
        data = exchange::anonymous_run(&data, files::home().as_deref())?;
    }
    let exported = match args.format.write {
        Writer::Run(write) => Exported { text: write(&data), left_out: vec![] },
        Writer::Results(write) => {
            let mut view = context.summary(&data);
            retain_selected(slice::from_mut(&mut view), &selectors)?;
            write(&data, &view)
        }
    };
    match &args.out {
        Some(path) => gritstone_runs::output_file::write(path, exported.text.as_bytes())?,
        None => output::plain(&exported.text)?,
    }
    for (id, why) in &exported.left_out {
        output::remark(&format!("left out: {id}: {why}"));
    }
    Ok(Exit::Done)
}

/// Writes the compressed, anonymous bundle of a reference system.
fn export_reference(
    context: &Context,
    run: &RunData,
    id: &str,
    out: Option<&Path>,
) -> Result<Exit> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    let begins = id.starts_with(|c: char| plain(c) && c.is_ascii_alphanumeric());
    ensure!(
        begins && id.chars().all(plain),
        "--reference {id}: an id is made of a-z, 0-9, '-' and '.', such as amd-epyc-9654-2026"
    );
    let mut run = exchange::anonymous_run(run, files::home().as_deref())?;
    // a reference system has no scores: they would be against itself
    run.benchmarks.retain(|benchmark| benchmark.work.kind() != Kind::Score);
    files::check_reference(&run, &context.summary(&run))?;
    let bytes = zstd::encode_all(exchange::write_bundle(&run).as_bytes(), REFERENCE_LEVEL)?;
    let name = PathBuf::from(format!("{id}.jsonl.zst"));
    let path = out.unwrap_or(&name);
    gritstone_runs::output_file::write(path, &bytes)?;
    output::plain(&format!("{}\n", path.display()))?;
    Ok(Exit::Done)
}

/// Keeps selected benchmarks and their parts; all without selectors.
fn retain_benchmarks(run: &mut RunData, selectors: &[String]) {
    let selected = with_parts(&run.benchmarks, &Selectors::new(selectors));
    let selected: BTreeSet<Id> = selected.into_iter().cloned().collect();
    run.benchmarks.retain(|benchmark| selected.contains(&benchmark.id));
    run.programs.retain(|id, _| selected.contains(id));
    run.skips.retain(|skip| selected.contains(&skip.id));
    run.launches.retain(|launch| selected.contains(&launch.id));
}
