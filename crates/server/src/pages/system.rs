//! A system: its facts, their changes, its runs.

use crate::http::{Form, Kind, PageRequest, Parameter, Route};
use crate::pages::lists::{self, LISTED};
use crate::pages::{PageResult, Pages, not_found};
use gritstone_document::html::{self, Choice, Frame};
use gritstone_model::{FactChange, Machine, SCHEMA_SYSTEM, SystemView};
use gritstone_runs::changes::differences;
use gritstone_store::{RunHead, Store, StoreError};

/// Newest runs of a system that are searched for changed facts; reading each checks its hashes.
const EXAMINED: usize = 200;
/// Systems with the newest runs, which it can be compared with by a choice.
const CHOICES: usize = 100;

pub(crate) const ROUTE: Route<Pages> = Route {
    parameters: &[Parameter { name: "system", kind: Kind::Path, about: "The id of a system" }],
    ..Route::page("/systems/{system}", "A system over its runs", SCHEMA_SYSTEM, system)
};

fn system(pages: &Pages, request: &PageRequest) -> PageResult {
    let id = request.params.text("system");
    let store = pages.require_store()?;
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
    let form = match request.form {
        Form::Page => form(&store, &heads)?,
        Form::Json => None,
    };
    let machine = before.ok_or_else(|| not_found(format!("No stored run is of a system {id}.")))?;
    heads.truncate(LISTED);
    let view = SystemView {
        schema: SCHEMA_SYSTEM.to_owned(),
        machine,
        changes,
        examined,
        runs: lists::runs(heads),
    };
    let frame = Frame { form, comparisons: pages.comparison_links(id), ..Frame::default() };
    let page = || (gritstone_report::system(&view), frame);
    Ok(pages.respond(request, &view, page)?)
}

/// Sets the newest run of a system beside that of another one.
fn form(store: &Store, heads: &[RunHead]) -> Result<Option<html::Form>, StoreError> {
    let Some(latest) = heads.iter().find(|run| lists::is_whole(run)) else {
        return Ok(None);
    };
    let others = store.systems()?.into_iter().map(|(newest, _)| newest);
    let others = others.filter(|run| lists::is_whole(run) && run.machine_id != latest.machine_id);
    let options: Vec<_> = others.take(CHOICES).map(|run| (run.id, run.machine)).collect();
    Ok((!options.is_empty()).then(|| html::Form {
        to: "/compare".to_owned(),
        button: "Compare",
        hidden_inputs: vec![("run", latest.id.clone())],
        choices: vec![Choice {
            name: "base",
            label: "Side by side with",
            options,
            chosen: String::new(),
        }],
    }))
}
