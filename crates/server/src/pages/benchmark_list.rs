//! All benchmarks, including those of custom catalogs, with links to their pages.

use crate::http::{PageRequest, Rejection, Route};
use crate::pages::{PageResult, Pages, lists};
use gritstone_document::html::Frame;
use gritstone_model::{BenchmarksView, FoundBenchmark, Id, SCHEMA_BENCHMARKS};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const ROUTE: Route<Pages> =
    Route::page("/benchmarks", "All benchmarks", SCHEMA_BENCHMARKS, benchmarks);

fn benchmarks(pages: &Pages, request: &PageRequest) -> PageResult {
    let view = BenchmarksView { schema: SCHEMA_BENCHMARKS.to_owned(), benchmarks: all(pages)? };
    let page = || (gritstone_report::benchmark_list(&view), Frame::default());
    Ok(pages.respond(request, &view, page)?)
}

/// Those of the catalog, then those that are only in the store.
pub(crate) fn all(pages: &Pages) -> Result<Vec<FoundBenchmark>, Rejection> {
    let catalogue = &pages.context.catalogue.benchmarks;
    let is_custom = |id: &Id| catalogue.iter().all(|benchmark| benchmark.id != *id);
    let (measured, titles) = match pages.store()? {
        Some(store) => (lists::benchmarks(&pages.context, &store)?, store.titles(&is_custom)?),
        None => (vec![], BTreeMap::new()),
    };
    let measured: BTreeSet<Id> = measured.into_iter().collect();
    let found = |id: &Id, title: &str| FoundBenchmark { id: id.clone(), title: title.to_owned() };
    // a static site has only pages of measured benchmarks
    let is_shown = |id: &Id| pages.site.is_none() || measured.contains(id);
    let known = catalogue.iter().filter(|benchmark| is_shown(&benchmark.id));
    let custom = measured.iter().filter(|id| is_custom(id));
    let title = |id: &Id| titles.get(id).map_or("", String::as_str);
    let known = known.map(|benchmark| found(&benchmark.id, &benchmark.title));
    Ok(known.chain(custom.map(|id| found(id, title(id)))).collect())
}
