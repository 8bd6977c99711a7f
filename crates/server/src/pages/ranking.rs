//! Systems of a store by score.

use crate::http::{Asked, Route};
use crate::pages::{Answered, Pages, lists};
use gritstone_document::html::Frame;
use gritstone_model::{RunView, SCHEMA_RATINGS};
use gritstone_runs::scores;
use gritstone_store::{Kind, RunHead};

/// Newest runs of a system that are searched for a complete one.
const EXAMINED: usize = 20;

pub(crate) const ROUTE: Route<Pages> = Route::page(
    "/scores",
    "Scores of all systems, each by its newest whole run of a suite",
    SCHEMA_RATINGS,
    ranking,
);

fn ranking(pages: &Pages, asked: &Asked) -> Answered {
    let store = pages.store()?;
    let mut machines = vec![];
    for system in lists::systems(store.as_ref())? {
        let Some(store) = &store else { break };
        let newest = store.newest_runs(Some(&system.id), EXAMINED)?;
        let is_whole = |run: &&RunHead| {
            matches!(run.kind, Kind::Run | Kind::Import) && run.elapsed_s.is_some()
        };
        let read = |run: &RunHead| {
            let view = pages.context.stored(store, &run.id);
            view.inspect_err(|why| log::warn!("run {} is left out: {why:#}", run.id))
                .ok()
        };
        let of_suite = |view: &RunView| view.settings.as_ref().is_some_and(|of| of.suite.is_some());
        let mut whole = newest.iter().filter(is_whole).filter_map(read);
        machines.extend(whole.find(of_suite));
    }
    let base = pages
        .context
        .view(scores::base(&pages.context, machines.iter()))?;
    let view = scores::against(&pages.context, &machines, &base, &[])?;
    Ok(pages.respond(asked, &view, || {
        (gritstone_report::ranking(&view), Frame::default())
    })?)
}
