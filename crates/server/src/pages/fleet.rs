//! The page of the systems as a fleet.

use crate::http::{Form, Gives, Media, PageRequest, PageResponse, Route, Status};
use crate::pages::{PageResult, Pages, page_response};
use gritstone_document::html::{self, Frame};
use gritstone_document::{About, Document};
use gritstone_model::{FleetNodeState, FleetProgress, FleetView, ListedSystem, SCHEMA_FLEET};
use gritstone_report::lists::append_systems;
use gritstone_report::{Detail, plural};
use std::rc::Rc;

pub(super) const PAGE: Route<Pages> = Route {
    title: Some("Fleet"),
    // the progress of a fleet run is not in the store
    cached: false,
    ..Route::page(
        "/fleet",
        "All systems against each other, by their newest results",
        SCHEMA_FLEET,
        page,
    )
};
pub(super) const EVENTS: Route<Pages> = Route::get(
    "/fleet/events",
    "Progress of the newest unfinished fleet run, as server-sent events: `progress` while it is measured, `end` when it has ended or \
     there is none, each with fleet, of, done, measuring, failed and said as JSON, or null. A stream ends within a minute; clients \
     reconnect",
    Gives::Events,
    events,
);

fn progress(pages: &Pages) -> anyhow::Result<Option<FleetProgress>> {
    let store = pages.context.reader()?;
    (pages.follow_fleet)(&pages.context, store.as_ref().map(Rc::as_ref))
}

fn page(pages: &Pages, request: &PageRequest) -> PageResult {
    let digest = pages.digest()?;
    let systems = pages.systems(Some(&digest))?;
    let view = digest.fleet.clone();
    let progress = match request.form {
        Form::Json => None,
        Form::Page => progress(pages)?,
    };
    let page = || {
        let document = document(&view, &systems, progress.as_ref());
        let live = progress.as_ref().filter(|progress| !progress.ended).map(|progress| {
            let path = format!("{}/events", html::path(&About::Fleet));
            [gritstone_report::fleet_progress(progress), path]
        });
        let frame = Frame { live, ..Frame::default() };
        (document, frame)
    };
    Ok(pages.respond(request, &view, page)?)
}

fn document(view: &FleetView, all: &[ListedSystem], progress: Option<&FleetProgress>) -> Document {
    let mut document = gritstone_report::fleet(view, Detail::Everything);
    document.title = "Fleet".to_owned();
    document.subtitle = Some(format!(
        "Newest results of {}, {}",
        plural(view.nodes.len(), "system"),
        plural(view.benchmarks.len(), "benchmark")
    ));
    document.heading(1, "Systems");
    append_systems(&mut document, all);
    let compared = std::mem::take(&mut document.blocks);
    document.paragraph(
        "Each system is one node, by its newest results. `gritstone fleet report` compares the nodes of a fleet run, also those of one system.",
    );
    if let Some(progress) = progress {
        gritstone_report::nodes(&mut document, progress);
    }
    document.blocks.extend(compared);
    document
}

fn events(pages: &Pages, _: &PageRequest) -> PageResult {
    let progress = progress(pages)?;
    let value = progress.as_ref().map(|progress| {
        let count = |state| progress.nodes.iter().filter(|node| node.state == state).count();
        serde_json::json!({
            "fleet": progress.fleet,
            "of": progress.of,
            "done": count(FleetNodeState::Done),
            "measuring": count(FleetNodeState::Measuring),
            "failed": count(FleetNodeState::Failed),
            "said": gritstone_report::fleet_progress(progress),
        })
    });
    let text = gritstone_model::escape_json(value.unwrap_or_default().to_string());
    let status = match progress {
        Some(progress) if !progress.ended => Status::Found,
        _ => Status::Last,
    };
    Ok(PageResponse { status, ..page_response(Media::Json, text) })
}
