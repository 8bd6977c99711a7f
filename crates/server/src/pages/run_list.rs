//! The newest runs.

use crate::http::{Kind, PageRequest, Parameter, Route};
use crate::pages::{PageResult, Pages, lists};
use gritstone_document::html::{self, Choice, Frame};
use gritstone_model::{RunList, SCHEMA_RUNS};

/// Offered numbers of runs.
const NEWEST: [u32; 3] = [100, 300, 1000];

pub(crate) const ROUTE: Route<Pages> = Route {
    parameters: &[Parameter {
        name: "newest",
        kind: Kind::Number { min: 1, max: 1000, otherwise: 100 },
        about: "Runs at most",
    }],
    ..Route::page("/runs", "The newest runs", SCHEMA_RUNS, runs)
};

fn runs(pages: &Pages, request: &PageRequest) -> PageResult {
    let newest = request.params.number("newest");
    let (stored, heads) = match pages.store()? {
        Some(store) => (store.count()? as usize, store.newest_runs(None, newest as usize)?),
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
    Ok(pages.respond(request, &view, || (gritstone_report::run_list(&view.runs, stored), frame))?)
}
