//! What changed: all events, one of them, their feed, and their acknowledgment.

use crate::http::{
    Answer, Asked, Gives, Kind, Media, Method, Parameter, Refused, Route, Status, Upload,
};
use crate::pages::{Answered, Pages, not_found, plain};
use gritstone_document::html::Frame;
use gritstone_model::{Acknowledged, ChangeEvent, ChangesView, SCHEMA_CHANGES};
use gritstone_store::{Scope, Who};
use serde::Deserialize;

/// Events at most.
pub(crate) const MOST: usize = 200;

const EVENT: Parameter = Parameter {
    name: "event",
    kind: Kind::Path,
    about: "Changes in one direction since one run: its id, and -worse or -better",
};

pub(crate) const ALL: Route<Pages> = Route::page(
    "/changes",
    "What changed, newest first",
    SCHEMA_CHANGES,
    all,
);
pub(crate) const ONE: Route<Pages> = Route {
    parameters: &[EVENT],
    ..Route::page(
        "/changes/{event}",
        "Changes that belong together, with their acknowledgments",
        SCHEMA_CHANGES,
        one,
    )
};
pub(super) const FEED: Route<Pages> = Route {
    cached: true,
    ..Route::get(
        "/changes.atom",
        "What changed, as a feed",
        Gives::Media(Media::Atom),
        feed,
    )
};
pub(super) const ACKNOWLEDGE: Route<Pages> = Route {
    method: Method::Post,
    parameters: &[EVENT],
    scopes: &[Scope::Write, Scope::Admin],
    upload: Some(Upload {
        most: 16 << 10,
        media: &["application/json"],
        about: "{\"note\": TEXT}: what it is, in a line of 1000 letters at most",
    }),
    statuses: &[
        (Status::Stored, "It is acknowledged now"),
        (Status::Unfit, "It has no note, or one of several lines"),
    ],
    ..Route::get(
        "/api/v1/changes/{event}",
        "Acknowledge a change. The newest note counts",
        Gives::Object(&[("event", "string"), ("acknowledged", "object")]),
        acknowledge,
    )
};

fn view(events: Vec<ChangeEvent>) -> ChangesView {
    ChangesView {
        schema: SCHEMA_CHANGES.to_owned(),
        events,
    }
}

fn all(pages: &Pages, asked: &Asked) -> Answered {
    let digest = pages.digest()?;
    let view = view(pages.acknowledged(&digest.events, MOST)?);
    Ok(pages.respond(asked, &view, || {
        let all = digest.events.len();
        let document = gritstone_report::changes(&view.events, all);
        (document, Frame::default())
    })?)
}

fn one(pages: &Pages, asked: &Asked) -> Answered {
    let event = known(pages, asked.params.text("event"))?;
    let document = gritstone_report::change(&event);
    let page = || (document, Frame::default());
    Ok(pages.respond(asked, &view(vec![event]), page)?)
}

fn feed(pages: &Pages, _: &Asked) -> Answered {
    let events = pages.acknowledged(&pages.digest()?.events, MOST)?;
    Ok(plain(Media::Atom, gritstone_exchange::atom(&events)))
}

/// An event, with its acknowledgments.
fn known(pages: &Pages, id: &str) -> Result<ChangeEvent, Refused> {
    let digest = pages.digest()?;
    let found = digest.events.iter().filter(|event| event.id == id);
    let found: Vec<ChangeEvent> = found.cloned().collect();
    let found = pages.acknowledged(&found, 1)?.pop();
    found.ok_or_else(|| not_found(format!("There is no change {id}.")))
}

fn acknowledge(pages: &Pages, asked: &Asked) -> Answered {
    #[derive(Deserialize)]
    struct Note {
        note: String,
    }
    let note: Note = serde_json::from_slice(&asked.body).map_err(|why| {
        let why = format!("This is no JSON with a note: {why}.");
        Refused::new(Status::Unfit, why)
    })?;
    let by = asked.by()?;
    let event = known(pages, asked.params.text("event"))?;
    let (mut store, now) = (pages.context.writer()?, gritstone_runs::clock::now());
    store.acknowledge(&event.id, Who::Token(by), &note.note, &now)?;
    let (id, name) = (&event.id, &by.name);
    log::warn!("gritstone: change {id} is acknowledged by {name}");
    let value = serde_json::json!({
        "event": id,
        "acknowledged": Acknowledged {
            who: name.clone(),
            at: now,
            note: note.note.trim().to_owned(),
        },
    });
    let answer = pages.respond(asked, &value, Default::default)?;
    Ok(Answer {
        status: Status::Stored,
        ..answer
    })
}
