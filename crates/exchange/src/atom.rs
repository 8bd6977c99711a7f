//! Changes as a feed: Atom (RFC 4287), an entry for each.

use crate::xml::{element, escaped};
use gritstone_model::Change;
use gritstone_report::document::About;
use gritstone_report::html::{encoded, path};
use std::fmt::Write as _;

/// The feed, the newest change first; its links are paths of the server that sends it.
#[must_use]
pub fn atom(changes: &[Change]) -> String {
    let newest = changes.iter().map(|of| of.change.started.as_str()).max();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n{}{}{}\
         <link rel=\"self\" href=\"/changes.atom\"/><link href=\"/\"/><author>{}</author>\n",
        element("id", "urn:gritstone:changes"),
        element("title", "Gritstone: what changed"),
        element("updated", newest.unwrap_or("1970-01-01T00:00:00Z")),
        element("name", "Gritstone"),
    );
    for of in changes {
        let [title, said] = gritstone_report::change(of);
        let parts = [of.machine.as_str(), of.benchmark.as_str(), &of.change.run];
        let id = parts.map(encoded).join(":");
        let about = match &of.before {
            Some(before) => About::Pair([before.clone(), of.change.run.clone()]),
            None => About::Benchmark(of.benchmark.to_string()),
        };
        let _ = writeln!(
            text,
            "<entry>{}{}{}<link href=\"{}\"/>{}</entry>",
            element("id", &format!("urn:gritstone:change:{id}")),
            element("title", &title),
            element("updated", &of.change.started),
            escaped(&path(&about)),
            element("summary", &said),
        );
    }
    text + "</feed>\n"
}
