//! The store at a glance.

use crate::http::{Asked, Route};
use crate::pages::lists::{self, LISTED};
use crate::pages::{Answered, Pages};
use gritstone_document::html::Frame;
use gritstone_model::{OverviewView, SCHEMA_OVERVIEW};
use std::time::Duration;

/// The page waits at most so long for what changed.
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
    let events = match digest {
        Some(digest) => Some(pages.acknowledged(&digest.events, LISTED)?),
        None => None,
    };
    let view = OverviewView {
        schema: SCHEMA_OVERVIEW.to_owned(),
        stored: systems.iter().map(|of| of.runs).sum(),
        events,
        runs: lists::newest(pages.store()?.as_ref())?,
        systems,
    };
    let page = || (gritstone_report::overview(&view), Frame::default());
    Ok(pages.respond(asked, &view, page)?)
}
