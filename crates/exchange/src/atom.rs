//! Changes as an Atom feed (RFC 4287), one entry per event.

use crate::xml::element;
use gritstone_document::html::{encoded, path};
use gritstone_document::{About, Untrusted};
use gritstone_model::ChangeEvent;
use std::fmt::Write as _;

/// The feed, newest event first; its links are paths on the server that sends it.
pub fn atom(events: &[ChangeEvent]) -> String {
    let newest = events.iter().map(updated).max();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n{}{}{}\
         <link rel=\"self\" href=\"/changes.atom\"/><link href=\"/\"/><author>{}</author>\n",
        element("id", "urn:gritstone:changes"),
        element("title", "Gritstone: what changed"),
        element("updated", newest.unwrap_or("1970-01-01T00:00:00Z")),
        element("name", "Gritstone"),
    );
    for event in events {
        let id = [event.machine.as_str(), &event.id].map(encoded).join(":");
        let known = gritstone_report::newest_entry(event).into_iter();
        let lines = known.chain(gritstone_report::event_lines(event));
        let lines = lines.collect::<Vec<_>>().join("; ");
        let _ = writeln!(
            text,
            "<entry>{}{}{}<link href=\"{}\"/>{}</entry>",
            element("id", &format!("urn:gritstone:change:{id}")),
            element("title", &gritstone_report::event(event)),
            element("updated", updated(event)),
            Untrusted(&path(&About::Event(event.id.clone()))).markup(),
            element("summary", &lines),
        );
    }
    text + "</feed>\n"
}

/// Time of the last triage entry, else of the event.
fn updated(event: &ChangeEvent) -> &str {
    let known = event.triage.log.last().map(|entry| entry.at.as_str());
    known.map_or(&event.started, |time| time.max(&event.started))
}
