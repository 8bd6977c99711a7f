//! A system: its facts, their changes, its runs.

use crate::http::{Form, Kind, PageRequest, Parameter, Route};
use crate::pages::lists::{self, LISTED};
use crate::pages::{PageResult, Pages, not_found};
use gritstone_document::html::{self, Choice, Frame};
use gritstone_document::{Column, Document, Style};
use gritstone_model::{ListedRun, Machine};
use gritstone_report::lists::append_runs;
use gritstone_report::table::{Cell, Columns};
use gritstone_report::{fact_name, minute, plural};
use gritstone_runs::changes::differences;
use gritstone_store::{RunHead, Store, StoreError};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;

const SCHEMA_SYSTEM: &str = "gritstone/system/1";
/// Newest runs of a system that are searched for changed facts; reading each checks its hashes.
const EXAMINED: usize = 200;
/// Systems with the newest runs, which it can be compared with by a choice.
const CHOICES: usize = 100;

pub(crate) const ROUTE: Route<Pages> = Route {
    parameters: &[Parameter { name: "system", kind: Kind::Path, about: "The id of a system" }],
    view: Some(SchemaGenerator::subschema_for::<SystemView>),
    ..Route::page("/systems/{system}", "A system over its runs", SCHEMA_SYSTEM, system)
};

/// A changed fact of a system.
#[derive(Serialize, JsonSchema)]
struct FactChange {
    fact: String,
    /// Old value; null if not recorded.
    before: Option<String>,
    /// New value; null if not recorded.
    after: Option<String>,
    /// The first run with it.
    run: String,
    /// Start of that run, RFC 3339.
    started: String,
}

/// A system and its runs.
#[derive(Serialize, JsonSchema)]
struct SystemView {
    /// [`SCHEMA_SYSTEM`].
    schema: String,
    /// The system as of its newest run.
    machine: Machine,
    /// Facts that changed, newest first.
    changes: Vec<FactChange>,
    /// Number of newest runs that were searched.
    examined: usize,
    /// Its runs, newest first.
    runs: Vec<ListedRun>,
}

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
        Form::Page => form(&store, id)?,
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
    Ok(pages.respond(request, &view, || (document(&view), frame))?)
}

fn document(view: &SystemView) -> Document {
    let machine = &view.machine;
    let name = match machine.name.trim() {
        "" => &machine.id,
        name => name,
    };
    let mut document = Document::new(name);
    document.subtitle = Some(format!("System {}", machine.id));
    document.heading(1, "Facts that changed");
    if view.changes.is_empty() {
        document.paragraph("No recorded fact changed from run to run.");
    }
    Columns::<&FactChange>::key("Fact", Style::Text, |change| fact_name(&change.fact))
        .text("Before", |change| change.before.clone())
        .text("Since", |change| change.after.clone())
        .column(Column::new("First run", Style::Code), |change| Cell::run(&change.run))
        .column(Column::new("Date (UTC)", Style::Code), |change| minute(&change.started))
        .table(
            &mut document,
            format!("Changes in the newest {}, newest first", plural(view.examined, "run")),
            &view.changes,
        );
    document.heading(1, "Runs");
    append_runs(&mut document, "Runs, newest first", &view.runs);
    document.heading(1, "Facts in the newest run");
    let facts = machine.facts.iter();
    let facts = facts.map(|(name, value)| (fact_name(name), value.clone()));
    let terms = [
        ("operating system".to_owned(), machine.system.clone()),
        ("configuration".to_owned(), machine.configuration.clone()),
    ];
    document.terms(terms.into_iter().chain(facts));
    document
}

/// Sets the newest whole run of a system beside that of another one.
fn form(store: &Store, system: &str) -> Result<Option<html::Form>, StoreError> {
    let newest = |system: &str| -> Result<Option<RunHead>, StoreError> {
        Ok(lists::newest_where(store, Some(system), 1, RunHead::is_whole)?.pop())
    };
    let Some(latest) = newest(system)? else {
        return Ok(None);
    };
    let mut options = vec![];
    for (other, _) in store.systems()? {
        if other.machine_id == system || options.len() == CHOICES {
            continue;
        }
        let whole = match other.is_whole() {
            true => Some(other),
            false => newest(&other.machine_id)?,
        };
        options.extend(whole.map(|run| (run.id, run.machine)));
    }
    Ok((!options.is_empty()).then(|| html::Form {
        to: "/compare".to_owned(),
        button: "Compare",
        hidden_inputs: vec![("run", latest.id)],
        choices: vec![Choice {
            name: "base",
            label: "Side by side with",
            options,
            chosen: String::new(),
        }],
    }))
}
