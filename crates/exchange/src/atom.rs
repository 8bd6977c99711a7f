//! Changes as a feed: Atom (RFC 4287), an entry for each.

use crate::xml::{element, escaped};
use gritstone_model::ChangeEvent;
use gritstone_report::document::About;
use gritstone_report::html::{encoded, path};
use std::fmt::Write as _;

/// The feed, the newest event first; its links are paths of the server that sends it.
#[must_use]
pub fn atom(events: &[ChangeEvent]) -> String {
    let newest = events.iter().map(|of| of.started.as_str()).max();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n{}{}{}\
         <link rel=\"self\" href=\"/changes.atom\"/><link href=\"/\"/><author>{}</author>\n",
        element("id", "urn:gritstone:changes"),
        element("title", "Gritstone: what changed"),
        element("updated", newest.unwrap_or("1970-01-01T00:00:00Z")),
        element("name", "Gritstone"),
    );
    for of in events {
        let way = if of.worse { "worse" } else { "better" };
        let id = [of.machine.as_str(), &of.run, way].map(encoded).join(":");
        let about = match &of.before {
            Some(before) => About::Pair([before.clone(), of.run.clone()]),
            None => About::Run(of.run.clone()),
        };
        let lines = gritstone_report::event_lines(of).join("\n");
        let _ = writeln!(
            text,
            "<entry>{}{}{}<link href=\"{}\"/>{}</entry>",
            element("id", &format!("urn:gritstone:change:{id}")),
            element("title", &gritstone_report::event(of)),
            element("updated", &of.started),
            escaped(&path(&about)),
            element("summary", &lines),
        );
    }
    text + "</feed>\n"
}
