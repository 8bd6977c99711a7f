//! Exports of `gritstone bench`: the formats of hyperfine.

use crate::command::bench::args::{BenchArgs, Sort, TimeUnit};
use crate::ui::output;
use anyhow::Result;
use gritstone_exchange::Markup;
use gritstone_model::Output;
use gritstone_report::Timing;
use gritstone_runs::output_file;
use std::path::{Path, PathBuf};

pub fn unit(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Microsecond => "us",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Second => "s",
    }
}

fn is_stdout(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Fails if an export or the output of a command cannot be written, before anything is measured.
pub fn check(args: &BenchArgs) -> Result<()> {
    let all = [
        &args.export_asciidoc,
        &args.export_csv,
        &args.export_json,
        &args.export_markdown,
        &args.export_orgmode,
    ];
    let exports = all.into_iter().flatten().filter(|file| !is_stdout(file));
    let outputs = args.output.iter().filter_map(|output| match output {
        Output::File(file) => Some(Path::new(file)),
        _ => None,
    });
    exports.map(PathBuf::as_path).chain(outputs).try_for_each(output_file::check)
}

/// Writes all exports that can be written. Fails with the reason of the first that cannot.
pub fn export(args: &BenchArgs, timings: &[Timing]) -> Result<()> {
    let by_time = args.sort == Sort::MeanTime;
    let markup = |markup| {
        let reference = args.reference.is_some();
        gritstone_exchange::timings_table(
            timings,
            markup,
            args.time_unit.map(unit),
            reference,
            by_time,
        )
    };
    type Writer<'a> = (&'a Option<PathBuf>, &'a dyn Fn() -> String);
    let all: [Writer<'_>; 5] = [
        (&args.export_asciidoc, &|| markup(Markup::AsciiDoc)),
        (&args.export_csv, &|| gritstone_exchange::timings_csv(timings)),
        (&args.export_json, &|| gritstone_exchange::timings_json(timings)),
        (&args.export_markdown, &|| markup(Markup::Markdown)),
        (&args.export_orgmode, &|| markup(Markup::OrgMode)),
    ];
    let write = |(file, text): Writer<'_>| match file {
        Some(file) if is_stdout(file) => output::plain(&text()),
        Some(file) => output_file::write(file, text().as_bytes()),
        None => Ok(()),
    };
    all.map(write).into_iter().fold(Ok(()), Result::and)
}
