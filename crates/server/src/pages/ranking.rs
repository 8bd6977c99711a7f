//! Systems of a store by score.

use crate::http::{PageRequest, Route};
use crate::pages::{PageResult, Pages, lists};
use gritstone_document::html::Frame;
use gritstone_model::{SCHEMA_SCORES, ScoredSystem, ScoresView};
use gritstone_runs::context::Context;
use gritstone_runs::scores;
use gritstone_runs::uncached::or_warning;
use gritstone_store::{RunHead, Store};

/// Newest runs of a system that are searched for a complete one.
const EXAMINED: usize = 20;

pub(crate) const ROUTE: Route<Pages> = Route::page(
    "/scores",
    "Scores of all systems, each by its newest complete run of a suite, best first",
    SCHEMA_SCORES,
    ranking,
);

fn ranking(pages: &Pages, request: &PageRequest) -> PageResult {
    let view = ranked(&pages.context, pages.store()?.as_deref())?;
    Ok(pages.respond(request, &view, || (gritstone_report::ranking(&view), Frame::default()))?)
}

/// The systems of a store, the best first; those without a score last.
pub(crate) fn ranked(context: &Context, store: Option<&Store>) -> anyhow::Result<ScoresView> {
    let mut machines = vec![];
    for system in lists::systems(store)? {
        let Some(store) = store else { break };
        let newest = store.newest_runs(Some(&system.id), EXAMINED)?;
        let of_suite = |run: &&RunHead| lists::is_whole(run) && run.suite.is_some();
        for run in newest.iter().filter(of_suite) {
            if let Some(view) = or_warning(&run.id, context.stored(store, &run.id))? {
                machines.push(view);
                break;
            }
        }
    }
    let base = context.view(scores::base(context, machines.iter()))?;
    let mut view = scores::against(context, &machines, &base, &[])?;
    let score = |machine: &ScoredSystem| machine.one_cpu.overall.score.unwrap_or(0.0);
    view.machines.sort_by(|a, b| score(b).total_cmp(&score(a)).then_with(|| a.id.cmp(&b.id)));
    Ok(view)
}
