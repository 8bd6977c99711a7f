//! All benchmarks, including those of custom catalogs, with links to their pages.

use crate::http::{PageRequest, Rejection, Route};
use crate::pages::{PageResult, Pages, lists};
use gritstone_document::html::Frame;
use gritstone_document::{Document, Style, number};
use gritstone_model::Id;
use gritstone_report::plural;
use gritstone_report::table::{Cell, Columns};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

const SCHEMA_BENCHMARKS: &str = "gritstone/benchmarks/1";

pub(crate) const ROUTE: Route<Pages> = Route {
    title: Some("Benchmarks"),
    view: Some(SchemaGenerator::subschema_for::<BenchmarksView>),
    ..Route::page("/benchmarks", "All benchmarks", SCHEMA_BENCHMARKS, benchmarks)
};

/// A benchmark that matches a search.
#[derive(Serialize, JsonSchema)]
pub(super) struct FoundBenchmark {
    pub(super) id: Id,
    pub(super) title: String,
    /// Whether a run of the store has a result.
    pub(super) measured: bool,
}

impl FoundBenchmark {
    /// Whether a text is its id, or its id without family or variant, ignoring case.
    pub(super) fn is_named(&self, text: &str) -> bool {
        let stem = self.id.stem();
        let name = stem.split_once('/').map_or(stem, |(_, name)| name);
        let mut names = [self.id.as_str(), stem, name].into_iter();
        names.any(|name| name.eq_ignore_ascii_case(text.trim()))
    }
}

/// The benchmarks with a page on a server.
#[derive(Serialize, JsonSchema)]
struct BenchmarksView {
    /// [`SCHEMA_BENCHMARKS`].
    schema: String,
    /// In the order of the catalog.
    benchmarks: Vec<FoundBenchmark>,
}

fn benchmarks(pages: &Pages, request: &PageRequest) -> PageResult {
    let view = BenchmarksView { schema: SCHEMA_BENCHMARKS.to_owned(), benchmarks: all(pages)? };
    Ok(pages.respond(request, &view, || (document(&view), Frame::default()))?)
}

/// Those of the catalog, then those that are only in the store.
pub(super) fn all(pages: &Pages) -> Result<Vec<FoundBenchmark>, Rejection> {
    let catalogue = &pages.context.catalogue.benchmarks;
    let is_custom = |id: &Id| catalogue.iter().all(|benchmark| benchmark.id != *id);
    let (measured, titles) = match pages.store()? {
        Some(store) => (lists::benchmarks(&pages.context, &store)?, store.titles(&is_custom)?),
        None => (vec![], BTreeMap::new()),
    };
    let measured: BTreeSet<Id> = measured.into_iter().collect();
    let found = |id: &Id, title: &str| FoundBenchmark {
        id: id.clone(),
        title: title.to_owned(),
        measured: measured.contains(id),
    };
    // a static site has only pages of measured benchmarks
    let is_shown = |id: &Id| pages.site.is_none() || measured.contains(id);
    let known = catalogue.iter().filter(|benchmark| is_shown(&benchmark.id));
    let custom = measured.iter().filter(|id| is_custom(id));
    let title = |id: &Id| titles.get(id).map_or("", String::as_str);
    let known = known.map(|benchmark| found(&benchmark.id, &benchmark.title));
    Ok(known.chain(custom.map(|id| found(id, title(id)))).collect())
}

fn document(view: &BenchmarksView) -> Document {
    let mut document = Document::new("Benchmarks");
    let (measured, others): (Vec<&FoundBenchmark>, Vec<_>) =
        view.benchmarks.iter().partition(|benchmark| benchmark.measured);
    let number = plural(view.benchmarks.len(), "benchmark");
    document.subtitle = Some(format!("{number}, {} measured", number::count(measured.len())));
    for family in measured.chunk_by(|a, b| a.id.family() == b.id.family()) {
        let name = family[0].id.family();
        document.heading(1, name);
        append(&mut document, &format!("Benchmarks of {name}"), family.iter().copied());
    }
    if !others.is_empty() {
        document.heading(1, "Not measured");
        append(&mut document, "Benchmarks without a result in this store", others);
    }
    document
}

pub(super) fn append<'a>(
    document: &mut Document,
    caption: &str,
    found: impl IntoIterator<Item = &'a FoundBenchmark>,
) {
    Columns::<&FoundBenchmark>::key("Benchmark", Style::Code, |found| Cell::benchmark(&found.id))
        .text("What", |benchmark| benchmark.title.as_str())
        .table(document, caption, found);
}
