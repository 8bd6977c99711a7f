//! The newest runs.

use crate::http::{Kind, PageRequest, Parameter, Route};
use crate::pages::{PageResult, Pages, lists};
use gritstone_document::Document;
use gritstone_document::html::{self, Choice, Frame};
use gritstone_model::{ListedRun, RunList, SCHEMA_RUNS};
use gritstone_report::lists::append_runs;
use gritstone_report::plural;

/// Offered numbers of runs.
const NEWEST: [u32; 3] = [100, 300, MAX];
const MAX: u32 = 1000;

pub(super) const ROUTE: Route<Pages> = Route {
    title: Some("Runs"),
    parameters: &[Parameter {
        name: "newest",
        kind: Kind::Number { min: 1, max: MAX, otherwise: 100 },
        about: "Runs at most",
    }],
    ..Route::page("/runs", "The newest runs", SCHEMA_RUNS, runs)
};

fn runs(pages: &Pages, request: &PageRequest) -> PageResult {
    let newest = match pages.site {
        Some(_) => MAX,
        None => request.params.number("newest"),
    };
    let (stored, heads) = match pages.store()? {
        Some(store) => (store.count()?, store.newest_runs(None, newest as usize)?),
        None => (0, vec![]),
    };
    let view = RunList { schema: SCHEMA_RUNS.to_owned(), runs: lists::runs(heads) };
    let choice = |n: u32| (n.to_string(), format!("newest {n}"));
    let form = html::Form {
        to: "/runs".to_owned(),
        button: "Show",
        hidden_inputs: vec![],
        choices: vec![Choice {
            name: "newest",
            label: "Runs",
            options: NEWEST.map(choice).into(),
            chosen: newest.to_string(),
        }],
    };
    let frame = Frame { form: (stored > NEWEST[0] as usize).then_some(form), ..Frame::default() };
    Ok(pages.respond(request, &view, || (document(&view.runs, stored), frame))?)
}

fn document(newest: &[ListedRun], stored: usize) -> Document {
    let mut document = Document::new("Runs");
    document.subtitle = Some(format!("{} of {}", newest.len(), plural(stored, "run")));
    append_runs(&mut document, "Runs, newest first", newest);
    document
}
