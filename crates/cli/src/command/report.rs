//! `gritstone report`: the performance brief of one run, or of a comparison of two, as HTML and as PDF.

use crate::ui::args::IdentityArgs;
use crate::ui::candidates;
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::settable::SetBy;
use crate::ui::unknown_word;
use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use gritstone_document::Document;
use gritstone_model::RunView;
use gritstone_report::{Brief, Classic, Pair};
use gritstone_runs::context::Context;
use gritstone_runs::selection::{Selection, retain_selected};
use gritstone_runs::{brief, scores};
use std::path::{Path, PathBuf};
use std::slice;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone report
  gritstone report last byte memory
  gritstone report before after -o both.html
  gritstone report --classic
  gritstone report --share > comment.md")]
pub struct ReportArgs {
    /// Run, or two runs (what changed from the first to the second), then benchmarks, families or globs [default: last]
    #[arg(value_name = "RUN | SELECTOR", add = candidates::subjects())]
    pub words: Vec<String>,
    /// Baseline of scores and of the overview of one run [default: as of score]
    #[arg(long, value_name = "RUN|SYSTEM", add = candidates::runs_and_systems(), add = SetBy::UserFile)]
    pub against: Option<String>,
    /// Write all of it to PDF, not the data sheet alone
    #[arg(long)]
    pub full: bool,
    /// In the order of HP's Performance Brief of 1987, its tables and figures with the run in them, all of it in both formats
    #[arg(long, conflicts_with = "full")]
    pub classic: bool,
    /// Write one HTML file of a run, and print a Markdown summary for an issue or a chat, without names of hosts and users; labels and commands stay
    #[arg(long, conflicts_with_all = ["with_identity", "full", "classic"])]
    pub share: bool,
    /// Output file, .html or .pdf; repeatable [default: gritstone-brief-RUN, both]
    #[arg(short, long = "output", value_name = "FILE")]
    pub out: Vec<PathBuf>,
    #[command(flatten)]
    pub identity: IdentityArgs,
}

pub fn report(context: &Context, args: &ReportArgs) -> Result<Exit> {
    // reports a wrong file name before computing
    for path in &args.out {
        is_pdf(path)?;
    }
    let pdfs = args.out.iter().filter(|path| is_pdf(path).unwrap_or(false)).count();
    ensure!(
        !args.full || args.out.is_empty() || pdfs > 0,
        "--full is for PDF, and HTML has all of it: leave it out, or name a file that ends in .pdf"
    );
    let selected = context.select_runs_or_last(&args.words);
    let Selection { runs, selectors } =
        selected.map_err(|why| unknown_word::explain(context, &args.words, why))?;
    ensure!(
        !args.full || runs.len() == 1,
        "--full is for one run: the report of two is whole in both formats"
    );
    let runs: Vec<RunView> = runs
        .into_iter()
        .map(|(_, mut view)| {
            retain_selected(slice::from_mut(&mut view), &selectors)?;
            Ok(match args.identity.with_identity {
                true => view,
                false => gritstone_exchange::anonymous_view(
                    &view,
                    gritstone_runs::files::home().as_deref(),
                )?,
            })
        })
        .collect::<Result<_>>()?;
    let [sheet, whole] = documents(context, args, &runs)?;
    if args.share {
        return share(&runs, &whole, &args.out);
    }
    let out = match args.out.as_slice() {
        [] => &["html", "pdf"].map(|end| default_name(&runs).with_extension(end)),
        paths => paths,
    };
    for path in out {
        let document = match is_pdf(path)? && !args.full {
            true => &sheet,
            false => &whole,
        };
        write(document, path)?;
    }
    Ok(Exit::Done)
}

/// The data sheet, and the whole report.
fn documents(context: &Context, args: &ReportArgs, runs: &[RunView]) -> Result<[Document; 2]> {
    Ok(match (runs, args.against.as_deref()) {
        ([run], base) if args.classic => {
            let document = report_classic(context, run, base)?;
            [document.clone(), document]
        }
        (_, _) if args.classic => bail!("--classic takes one run"),
        ([run], Some(base)) => report_run(context, run, base)?,
        ([run], None) => report_run(context, run, scores::base(context, std::iter::once(run)))?,
        ([base, other], None) => {
            let document = report_pair(context, base, other)?;
            [document.clone(), document]
        }
        ([_, _], Some(_)) => {
            bail!(
                "a report of two runs compares the second with the first; leave out --against, which a configuration file may set too"
            )
        }
        _ => bail!(
            "a report is of one run, or of two: write one for each pair, e.g. `gritstone report {} {} -o 1.html`; `gritstone compare` prints several at once",
            runs[0].id,
            runs[1].id
        ),
    })
}

/// A single file, and its summary.
fn share(runs: &[RunView], document: &Document, out: &[PathBuf]) -> Result<Exit> {
    let [run] = runs else {
        bail!("--share is of one run; name one");
    };
    let path = match out {
        [] => default_name(runs).with_extension("html"),
        [path] if !is_pdf(path)? => path.clone(),
        _ => bail!("--share writes one HTML file: give one --output, or none"),
    };
    write_file(document, &path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    output::plain(&gritstone_exchange::share_markdown(run, &name))?;
    output::remark(&format!("attach {}", absolute(&path)));
    Ok(Exit::Done)
}

/// The data sheet of a run, and its whole report.
fn report_run(context: &Context, run: &RunView, base: &str) -> Result<[Document; 2]> {
    let parts = &brief::parts(context, run, base)?;
    let input = &Brief { run, parts };
    Ok([gritstone_report::data_sheet(input), gritstone_report::brief(input)])
}

fn report_classic(context: &Context, run: &RunView, base: Option<&str>) -> Result<Document> {
    let base = base.unwrap_or_else(|| scores::base(context, std::iter::once(run)));
    let parts = &brief::parts(context, run, base)?;
    let chapters = &context.catalogue.chapters;
    Ok(gritstone_report::classic(&Classic {
        brief: Brief { run, parts },
        chapters,
        printed: &brief::printed(context, chapters)?,
    }))
}

fn report_pair(context: &Context, base: &RunView, other: &RunView) -> Result<Document> {
    brief::check_different(base, other)?;
    let compared = context.compare(base, other, gritstone_runs::context::MARGIN);
    let scores = scores::side_by_side(context, [base, other])?;
    Ok(gritstone_report::pair(&Pair { base, other, compared: &compared, scores: scores.as_ref() }))
}

/// PDF or HTML, by the extension.
pub fn is_pdf(path: &Path) -> Result<bool> {
    let end = path.extension().map(|e| e.to_ascii_lowercase());
    match end.as_ref().and_then(|e| e.to_str()) {
        Some("html" | "htm") => Ok(false),
        Some("pdf") => Ok(true),
        _ => bail!(
            "--output {}: the report is HTML or PDF; end the name in .html or .pdf",
            path.display()
        ),
    }
}

#[cfg(feature = "pdf")]
fn pdf(document: &Document) -> Result<Vec<u8>> {
    let pdf = gritstone_pdf::render(document)?;
    if !pdf.replaced.is_empty() {
        let words = pdf.replaced.join(", ");
        output::remark(&format!(
            "the fonts of the PDF lack characters, which show as '?', in: {words}"
        ));
    }
    Ok(pdf.bytes)
}

#[cfg(not(feature = "pdf"))]
fn pdf(_: &Document) -> Result<Vec<u8>> {
    bail!("this gritstone was built without the feature `pdf`: name a file that ends in .html")
}

/// Writes a document, and prints its path.
pub fn write(document: &Document, path: &Path) -> Result<()> {
    write_file(document, path)?;
    output::plain(&format!("{}\n", absolute(path)))
}

fn write_file(document: &Document, path: &Path) -> Result<()> {
    let page = match is_pdf(path)? {
        false => gritstone_document::html::render(document).into_bytes(),
        true => pdf(document)?,
    };
    gritstone_runs::output_file::write(path, &page).context("name another file with --output")
}

fn absolute(path: &Path) -> String {
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    full.display().to_string()
}

/// Removes the extension of a format only: names may have dots.
fn default_name(runs: &[RunView]) -> PathBuf {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || "-_".contains(c) => c,
        _ => '-',
    };
    let mut ids = runs.iter().map(|run| run.id.chars().map(plain).collect());
    let first: String = ids.next().unwrap_or_default();
    PathBuf::from(match ids.len() {
        0 => format!("gritstone-brief-{first}"),
        more => format!("gritstone-brief-{first}-and-{more}-more"),
    })
}
