//! Full-text search: benchmarks, systems, runs.

use crate::http::{Kind, PageRequest, Parameter, Route};
use crate::pages::benchmark_list::{self, FoundBenchmark};
use crate::pages::lists::{self, LISTED};
use crate::pages::{PageResult, Pages};
use gritstone_document::html::Frame;
use gritstone_document::{Document, number};
use gritstone_model::{ListedRun, ListedSystem};
use gritstone_report::lists::{append_runs, append_systems};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use std::collections::BTreeSet;

const SCHEMA_SEARCH: &str = "gritstone/search/1";

pub(super) const ROUTE: Route<Pages> = Route {
    parameters: &[Parameter {
        name: "q",
        kind: Kind::Text(200),
        about: "Words, of which the first eight must be found",
    }],
    view: Some(SchemaGenerator::subschema_for::<SearchView>),
    ..Route::page("/search", "Benchmarks, systems and runs with these words", SCHEMA_SEARCH, search)
};

#[derive(Serialize, JsonSchema)]
struct SearchView {
    /// [`SCHEMA_SEARCH`].
    schema: String,
    query: String,
    benchmarks: Vec<FoundBenchmark>,
    systems: Vec<ListedSystem>,
    /// Runs with the words in id, label, date, system, facts of the system or compilers, newest first.
    runs: Vec<ListedRun>,
    /// Total number of matching runs.
    found: usize,
}

/// Words of a query that count; each takes a statement.
const MAX_WORDS: usize = 8;

/// The first distinct words of a query.
fn words(query: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![];
    for word in query.split_whitespace().map(str::to_lowercase) {
        if words.len() < MAX_WORDS && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

fn search(pages: &Pages, request: &PageRequest) -> PageResult {
    let query = request.params.text("q");
    let words = words(query);
    let has_all = |text: &str| {
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let store = pages.store()?;
    let systems = lists::systems(store.as_deref())?.into_iter();
    let systems = systems
        .filter(|system| has_all(&format!("{} {} {}", system.id, system.name, system.system)));
    let systems: Vec<ListedSystem> = systems.collect();
    let (found, runs) = match (&store, words.as_slice()) {
        (None, _) => (0, vec![]),
        (Some(store), []) => (store.count()?, lists::runs(store.newest_runs(None, LISTED)?)),
        (Some(store), [first, others @ ..]) => {
            let mut ids = store.mentioning(first)?;
            for word in others {
                let known: BTreeSet<String> = store.mentioning(word)?.into_iter().collect();
                ids.retain(|id| known.contains(id));
            }
            let newest = ids.iter().take(LISTED).map(|id| store.head(id));
            let newest = newest.collect::<Result<_, _>>()?;
            (ids.len(), lists::runs(newest))
        }
    };
    let mut benchmarks = benchmark_list::all(pages)?;
    benchmarks.retain(|benchmark| {
        !words.is_empty() && has_all(&format!("{} {}", benchmark.id, benchmark.title))
    });
    // an exact name first
    benchmarks.sort_by_key(|benchmark| !benchmark.is_named(query));
    let view = SearchView {
        schema: SCHEMA_SEARCH.to_owned(),
        query: query.to_owned(),
        benchmarks,
        systems,
        found,
        runs,
    };
    let frame = Frame { query: query.to_owned(), ..Frame::default() };
    Ok(pages.respond(request, &view, || (document(&view), frame))?)
}

fn document(view: &SearchView) -> Document {
    let mut document = Document::new("Search");
    if !view.query.is_empty() {
        document.subtitle = Some(format!("For “{}”", view.query));
    }
    if view.benchmarks.is_empty() && view.systems.is_empty() && view.runs.is_empty() {
        document.paragraph("Nothing was found.");
    }
    document.paragraph(
        "Words may be of a benchmark, a label, an id, a date (2026-11), a system, a kernel, a compiler, or a fact of a system's newest run.",
    );
    let is_named = view.benchmarks.first().is_some_and(|benchmark| benchmark.is_named(&view.query));
    if is_named {
        found_benchmarks(&mut document, &view.benchmarks);
    }
    if !view.runs.is_empty() {
        document.heading(1, format!("Runs ({})", number::count(view.found)));
        let caption = match view.found > view.runs.len() {
            true => format!("The newest {} runs", view.runs.len()),
            false => "Runs, newest first".to_owned(),
        };
        append_runs(&mut document, &caption, &view.runs);
    }
    if !view.systems.is_empty() {
        document.heading(1, format!("Systems ({})", view.systems.len()));
        append_systems(&mut document, &view.systems);
    }
    if !is_named && !view.benchmarks.is_empty() {
        found_benchmarks(&mut document, &view.benchmarks);
    }
    document
}

fn found_benchmarks(document: &mut Document, found: &[FoundBenchmark]) {
    document.heading(1, format!("Benchmarks ({})", found.len()));
    benchmark_list::append(document, "Benchmarks", found);
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn eight_distinct_words_count() {
        assert_eq!(words("A b  a B"), ["a", "b"]);
        assert_eq!(words("1 2 3 4 5 6 7 8 9").len(), 8);
    }
}
