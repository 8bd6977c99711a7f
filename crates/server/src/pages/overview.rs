//! Overview of the store.

use crate::http::{Asked, Route};
use crate::pages::lists;
use crate::pages::{Answered, Pages};
use gritstone_document::html::Frame;
use gritstone_model::{OverviewView, Recent, SCHEMA_OVERVIEW};
use gritstone_runs::clock;
use std::time::Duration;

/// Days before the newest run in which changes are recent.
const RECENT: u32 = 7;
/// Longest wait for changes.
const SOON: Duration = Duration::from_millis(300);

pub(crate) const ROUTE: Route<Pages> = Route::page(
    "/overview",
    "The store at a glance",
    SCHEMA_OVERVIEW,
    overview,
);

fn overview(pages: &Pages, asked: &Asked) -> Answered {
    let digest = pages.digest_within(SOON)?;
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
    let since = runs.iter().map(|run| run.started.as_str()).max();
    let since = since.and_then(|newest| clock::days_before(newest, RECENT.into()));
    let view = OverviewView {
        schema: SCHEMA_OVERVIEW.to_owned(),
        stored: systems.iter().map(|system| system.runs).sum(),
        events,
        trends,
        recent: Recent {
            days: RECENT,
            since: since.unwrap_or_default(),
        },
        runs,
        systems,
    };
    let page = || (gritstone_report::overview(&view), Frame::default());
    Ok(pages.respond(asked, &view, page)?)
}
