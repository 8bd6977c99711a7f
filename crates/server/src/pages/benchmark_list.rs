//! All benchmarks, each with its page.

use crate::http::{Asked, Route};
use crate::pages::{Answered, Pages, respond};
use gritstone_document::html::Frame;
use gritstone_model::{BenchmarksView, FoundBenchmark, SCHEMA_BENCHMARKS};

pub(super) const ROUTE: Route<Pages> = Route::page(
    "/benchmarks",
    "All benchmarks",
    SCHEMA_BENCHMARKS,
    benchmarks,
);

fn benchmarks(pages: &Pages, asked: &Asked) -> Answered {
    let all = pages.context.catalogue.benchmarks.iter();
    let found = |id: &gritstone_model::Id, title: &str| FoundBenchmark {
        id: id.clone(),
        title: title.to_owned(),
    };
    let view = BenchmarksView {
        schema: SCHEMA_BENCHMARKS.to_owned(),
        benchmarks: all.map(|of| found(&of.id, &of.title)).collect(),
    };
    let page = || (gritstone_report::benchmark_list(&view), Frame::default());
    Ok(respond(asked, &view, page)?)
}
