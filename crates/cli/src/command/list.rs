//! `gritstone list`: benchmarks, their sources, and whether they run here.

use crate::ui::candidates;
use crate::ui::display::{Format, FormatArgs};
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::settable::SetBy;
use anyhow::Result;
use clap::Args;
use gritstone_document::{Column, Document, Style, unit_text};
use gritstone_exec::privileged::Permits;
use gritstone_model::{Benchmark, Id, SCHEMA_LIST, Selector, grouped};
use gritstone_plan::{Selectors, select_refs, why_not};
use gritstone_report::{Detail, lists};
use gritstone_runs::context::Context;
use gritstone_session::host_context::HostContext;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// Flag of a benchmark that is skipped here, as in tables of results.
const SKIPPED: &str = "-";
/// Width below which the column of sources is dropped.
const SOURCE_WIDTH: usize = 40;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone list              families and suites
  gritstone list byte         benchmarks of a family; -v with variants
  gritstone list standard     benchmarks of a suite
  gritstone list '*/pipe*'")]
pub struct ListArgs {
    /// Families, suites, identifiers or globs [default: all families and suites]
    #[arg(value_name = "SELECTOR", add = candidates::benchmarks(), add = SetBy::AnyFile)]
    pub selectors: Vec<String>,
    /// Add the custom benchmarks in DIR; without a selector, list only these
    #[arg(long, value_name = "DIR", add = SetBy::UserFile)]
    pub catalog: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArgs,
}

/// Output of `list`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct List<'a> {
    schema: &'static str,
    benchmarks: Vec<Listed<'a>>,
}

/// One line of `list`.
#[derive(Serialize, JsonSchema)]
struct Listed<'a> {
    id: &'a Id,
    title: &'a str,
    unit: &'a str,
    source: String,
    /// The custom catalog that it is of; absent for benchmarks of Gritstone.
    #[serde(skip_serializing_if = "Option::is_none")]
    catalogue: Option<String>,
    #[serde(skip)]
    catalogue_name: Option<&'a str>,
    needs: Vec<&'a String>,
    runnable: bool,
    why_not: Option<String>,
}

pub fn list(context: Context, args: &ListArgs) -> Result<Exit> {
    let context = context.with_catalog(args.catalog.as_deref())?;
    let words = context.with_suites_expanded(&context.selectors(&args.selectors));
    if words.is_empty() && args.format.format == Format::Text {
        output::text(&families(&context)?)?;
        return Ok(Exit::Done);
    }
    // parts of a score are not listed with it
    select_refs(&context.catalogue.benchmarks, &words)?;
    let selectors = Selectors::new(&words);
    let variants = output::detail() > Detail::Results;
    let listed = |benchmark: &&Benchmark| {
        let of_stem = |selector: &Selector| {
            selector.matches_text(benchmark.id.stem()) || selector.as_str() == benchmark.id.family()
        };
        let plain = || variants && selectors.iter().any(of_stem);
        selectors.select(&benchmark.id) || plain()
    };
    let wanted: Vec<&Benchmark> = context.catalogue.benchmarks.iter().filter(listed).collect();
    let custom = context.custom.as_ref();
    let wanted = wanted.iter().copied();
    let offer = HostContext::probe(None)?.offer(wanted.clone(), Permits::default(), custom, false);
    let listed = wanted.map(|benchmark| {
        let custom = custom.filter(|custom| custom.stored.has(&benchmark.id));
        let why_not = why_not(benchmark, &offer);
        Listed {
            id: &benchmark.id,
            title: &benchmark.title,
            unit: benchmark.unit.as_str(),
            source: benchmark.source_text(),
            catalogue: custom.map(|custom| custom.stored.named()),
            catalogue_name: custom.map(|custom| custom.stored.name.as_str()),
            needs: benchmark.needs.iter().map(|need| &need.name).collect(),
            runnable: why_not.is_none(),
            why_not,
        }
    });
    let list = List { schema: SCHEMA_LIST, benchmarks: listed.collect() };
    output::write(args.format.format, &list, || benchmarks(&list, &words))?;
    Ok(Exit::Done)
}

fn families(context: &Context) -> Result<Document> {
    let benchmarks = &context.catalogue.benchmarks;
    let rows = context.catalogue.families.iter().map(|family| {
        let members = benchmarks.iter().filter(|b| b.id.family() == family.name);
        let variants = members.clone().filter(|b| b.id.variant().is_some()).count();
        let count = members.count() - variants;
        [family.name.clone(), count.to_string(), variants.to_string(), family.title.clone()]
    });
    let columns = [
        ("family", Style::Code),
        ("benchmarks", Style::Number),
        ("variants", Style::Number),
        ("what", Style::Text),
    ];
    let mut document = lists::table("", columns, rows.collect());
    let suites = context.catalogue.suites.iter().map(|suite| {
        let members = select_refs(benchmarks, &suite.benchmarks)?;
        Ok([suite.name.clone(), members.len().to_string(), suite.title.clone()])
    });
    let columns = [("suite", Style::Code), ("benchmarks", Style::Number), ("what", Style::Text)];
    lists::append(&mut document, "Suites", columns, suites.collect::<Result<_>>()?);
    document.paragraph(
        "gritstone list NAME lists the benchmarks of a family or suite; gritstone info BENCHMARK describes one.",
    );
    Ok(document)
}

/// Hides variants, unless a selector names one or `-v` is given.
fn benchmarks(list: &List, selectors: &[String]) -> Document {
    let more = output::detail() > Detail::Results;
    let variants = more || selectors.iter().any(|text| text.contains('@'));
    let shown =
        list.benchmarks.iter().filter(|benchmark| variants || benchmark.id.variant().is_none());
    let rows = shown.clone().map(|benchmark| {
        let title = match benchmark.catalogue_name {
            Some(name) => format!("{} (custom, of {name})", benchmark.title),
            None => benchmark.title.to_owned(),
        };
        let source = if more { benchmark.source.clone() } else { String::new() };
        [
            benchmark.id.to_string(),
            unit_text(benchmark.unit),
            title,
            if benchmark.runnable { "" } else { SKIPPED }.to_owned(),
            source,
        ]
    });
    let columns = [
        Column::new("benchmark", Style::Code),
        Column::new("unit", Style::Text),
        Column::new("what", Style::Text),
        Column::new("", Style::Code),
        Column::new("source", Style::Text).rank(1).min_width(SOURCE_WIDTH),
    ];
    let mut document = lists::table("", columns, rows.collect());
    let skipped = grouped(
        shown.filter_map(|benchmark| Some((benchmark.why_not.as_deref()?, benchmark.id.as_str()))),
    );
    let count: usize = skipped.iter().map(|(_, ids)| ids.len()).sum();
    if more {
        document.list(
            skipped.iter().map(|(why, ids)| format!("skipped here: {}: {why}", ids.join(", "))),
        );
    } else if count > 0 {
        document.paragraph(format!("{SKIPPED} skipped here: {count}; -v gives the reasons."));
    }
    document
}
