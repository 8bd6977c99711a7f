//! A system: its facts, their changes, its runs.

use crate::http::{Asked, Kind, Parameter, Route};
use crate::pages::lists::{self, LISTED};
use crate::pages::{Answered, Pages, not_found};
use gritstone_document::html::Frame;
use gritstone_model::{FactChange, Machine, SCHEMA_SYSTEM, SystemView};
use gritstone_runs::changes::differences;

/// Newest runs of a system that are searched for changed facts; reading each checks its hashes.
const EXAMINED: usize = 200;

pub(crate) const ROUTE: Route<Pages> = Route {
    parameters: &[Parameter {
        name: "system",
        kind: Kind::Path,
        about: "The id of a system",
    }],
    ..Route::page(
        "/systems/{system}",
        "A system over its runs",
        SCHEMA_SYSTEM,
        system,
    )
};

fn system(pages: &Pages, asked: &Asked) -> Answered {
    let id = asked.params.text("system");
    let store = pages.stored()?;
    let mut heads = store.newest_runs(Some(id), EXAMINED)?;
    let mut changes: Vec<FactChange> = vec![];
    let mut before: Option<Machine> = None;
    let examined = heads.len();
    for head in heads.iter().rev() {
        let Ok(info) = store.info(&head.id) else {
            continue;
        };
        if let Some(before) = &before {
            let facts = differences(before, &info.machine);
            changes.extend(facts.map(|(fact, before, after)| FactChange {
                fact,
                before,
                after,
                run: head.id.clone(),
                started: head.started.clone(),
            }));
        }
        before = Some(info.machine);
    }
    changes.reverse();
    let machine = before.ok_or_else(|| not_found(format!("No stored run is of a system {id}.")))?;
    heads.truncate(LISTED);
    let view = SystemView {
        schema: SCHEMA_SYSTEM.to_owned(),
        machine,
        changes,
        examined,
        runs: lists::runs(heads),
    };
    let page = || (gritstone_report::system(&view), Frame::default());
    Ok(pages.respond(asked, &view, page)?)
}
