//! Changes: all events, one event, their feed, and their triage logs.

use crate::http::{
    Gives, Kind, Media, Method, PageRequest, PageResponse, Parameter, Rejection, Route, Status,
    Upload,
};
use crate::pages::{PageResult, Pages, not_found, page_response};
use gritstone_document::html::{self, Frame, TriageForm};
use gritstone_model::{ChangeEvent, ChangeState, ChangesView, SCHEMA_CHANGES};
use gritstone_store::{NewTriageEntry, Scope, Who};
use serde::Deserialize;
use std::slice;

pub(crate) const MAX_EVENTS: usize = 200;

const EVENT: Parameter = Parameter {
    name: "event",
    kind: Kind::Path,
    about: "Changes in one direction since one run: its id, and -worse or -better",
};

pub(super) const CHANGES: Route<Pages> = Route {
    title: Some("Changes"),
    ..Route::page("/changes", "What changed, newest first", SCHEMA_CHANGES, changes)
};
pub(crate) const CHANGE: Route<Pages> = Route {
    parameters: &[EVENT],
    ..Route::page(
        "/changes/{event}",
        "Changes that belong together, with their triage log",
        SCHEMA_CHANGES,
        change,
    )
};
pub(super) const FEED: Route<Pages> = Route {
    cached: true,
    ..Route::get("/changes.atom", "Changes, as a feed", Gives::Media(Media::Atom), feed)
};
pub(super) const TRIAGE: Route<Pages> = Route {
    method: Method::Post,
    parameters: &[EVENT],
    scopes: &[Scope::Write, Scope::Admin],
    upload: Some(Upload {
        max: 16 << 10,
        media: &["application/json"],
        about: "{\"state\": STATE, \"note\": TEXT, \"assignee\": NAME}. A state is new, assigned, acknowledged, expected or fixed; \
                a note is a line of 1000 letters at most; assigned needs a name, the other states a note",
    }),
    statuses: &[
        (Status::Stored, "The new state"),
        (Status::Unfit, "A note or a name is missing, or one has several lines"),
    ],
    ..Route::get(
        "/api/v1/changes/{event}",
        "Set the state of a change. The newest entry counts",
        Gives::Object(&[("event", "string"), ("triage", "object")]),
        triage,
    )
};

fn view(events: Vec<ChangeEvent>) -> ChangesView {
    ChangesView { schema: SCHEMA_CHANGES.to_owned(), events }
}

fn changes(pages: &Pages, request: &PageRequest) -> PageResult {
    let digest = pages.digest()?;
    let mut events = digest.events.clone();
    pages.add_triage(&mut events)?;
    let newest = view(events.iter().take(MAX_EVENTS).cloned().collect());
    Ok(pages.respond(request, &newest, || {
        let document = gritstone_report::changes(&events, MAX_EVENTS, digest.compared);
        (document, Frame::default())
    })?)
}

fn change(pages: &Pages, request: &PageRequest) -> PageResult {
    let event = find_event(pages, request.params.text("event"))?;
    let document = gritstone_report::change(&event);
    let frame = Frame {
        triage: Some(TriageForm {
            to: format!("/api/v1/changes/{}", html::encoded(&event.id)),
            states: ChangeState::ALL.map(ChangeState::as_str).into(),
            state: event.triage.state.as_str(),
            assignee: event.triage.assignee.clone().unwrap_or_default(),
        }),
        ..Frame::default()
    };
    let page = || (document, frame);
    Ok(pages.respond(request, &view(vec![event]), page)?)
}

fn feed(pages: &Pages, _: &PageRequest) -> PageResult {
    let digest = pages.digest()?;
    let mut events: Vec<ChangeEvent> = digest.events.iter().take(MAX_EVENTS).cloned().collect();
    pages.add_triage(&mut events)?;
    Ok(page_response(Media::Atom, gritstone_exchange::atom(&events)))
}

/// An event with its triage log.
fn find_event(pages: &Pages, id: &str) -> Result<ChangeEvent, Rejection> {
    let digest = pages.digest()?;
    let found = digest.events.iter().find(|event| event.id == id).cloned();
    let mut found = found.ok_or_else(|| not_found(format!("There is no change {id}.")))?;
    pages.add_triage(slice::from_mut(&mut found))?;
    Ok(found)
}

fn triage(pages: &Pages, request: &PageRequest) -> PageResult {
    #[derive(Deserialize)]
    struct Message {
        state: ChangeState,
        #[serde(default)]
        note: String,
        assignee: Option<String>,
    }
    let message: Message = serde_json::from_slice(&request.body).map_err(|why| {
        let why = format!("The body is not JSON with a state and a note: {why}.");
        Rejection::new(Status::Unfit, why)
    })?;
    let by = request.by()?;
    let mut event = find_event(pages, request.params.text("event"))?;
    let (mut store, now) = (pages.context.writer()?, gritstone_runs::clock::now());
    let benchmarks: Vec<_> = event.benchmarks().collect();
    let entry = NewTriageEntry {
        benchmarks: &benchmarks,
        state: message.state,
        assignee: message.assignee.as_deref(),
        note: &message.note,
    };
    store.triage(&event.id, Who::Token(by), &entry, &now)?;
    drop(store);
    // later runs may have moved the change point
    pages.add_triage(slice::from_mut(&mut event))?;
    let (id, state, name) = (&event.id, message.state.as_str(), &by.name);
    log::info!("gritstone: change {id} is {state}, says {name}");
    let value = serde_json::json!({ "event": id, "triage": event.triage });
    let answer = pages.respond(request, &value, Default::default)?;
    Ok(PageResponse { status: Status::Stored, ..answer })
}
