//! Overview of the store.

use crate::http::{PageRequest, Route};
use crate::pages::lists;
use crate::pages::{PageResult, Pages};
use gritstone_document::html::Frame;
use gritstone_model::{OverviewView, Recent, SCHEMA_OVERVIEW};
use gritstone_runs::clock;
use schemars::SchemaGenerator;

/// Changes in the last days before the newest run until now count as recent.
const RECENT_DAYS: u32 = 7;

pub(super) const ROUTE: Route<Pages> = Route {
    title: Some("Gritstone"),
    view: Some(SchemaGenerator::subschema_for::<OverviewView>),
    ..Route::page("/overview", "The store at a glance", SCHEMA_OVERVIEW, overview)
};

fn overview(pages: &Pages, request: &PageRequest) -> PageResult {
    let digest = pages.known_digest()?;
    let systems = pages.systems(digest.as_deref())?;
    let (events, trends) = match digest {
        Some(digest) => {
            let mut events = digest.events.clone();
            pages.add_triage(&mut events)?;
            (Some(events), digest.trends.clone())
        }
        None => (None, vec![]),
    };
    let runs = lists::newest(pages.store()?.as_ref())?;
    let now = clock::now();
    let starts = runs.iter().map(|run| run.started.as_str());
    let newest = starts.filter(|started| *started <= now.as_str()).max();
    let since = newest.and_then(|newest| clock::days_before(newest, RECENT_DAYS.into()));
    let view = OverviewView {
        schema: SCHEMA_OVERVIEW.to_owned(),
        stored: systems.iter().map(|system| system.runs).sum(),
        events,
        trends,
        recent: Recent { days: RECENT_DAYS, since: since.unwrap_or_default() },
        runs,
        systems,
    };
    Ok(pages.respond(request, &view, || (gritstone_report::overview(&view), Frame::default()))?)
}
