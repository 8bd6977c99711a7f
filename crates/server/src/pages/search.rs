//! Full-text search: benchmarks, systems, runs.

use crate::http::{Kind, PageRequest, Parameter, Route};
use crate::pages::lists::{self, LISTED};
use crate::pages::{PageResult, Pages, benchmark_list};
use gritstone_document::html::Frame;
use gritstone_model::{ListedSystem, SCHEMA_SEARCH, SearchView};
use std::collections::BTreeSet;

pub(super) const ROUTE: Route<Pages> = Route {
    parameters: &[Parameter {
        name: "q",
        kind: Kind::Text(200),
        about: "Words, of which the first eight must be found",
    }],
    ..Route::page("/search", "Benchmarks, systems and runs with these words", SCHEMA_SEARCH, search)
};

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
        (Some(store), []) => {
            (store.count()? as usize, lists::runs(store.newest_runs(None, LISTED)?))
        }
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
    Ok(pages.respond(request, &view, || (gritstone_report::search(&view), frame))?)
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
