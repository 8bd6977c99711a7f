//! A run: its report, a form for comparisons, and its progress.

use crate::http::{Form, Gives, Media, PageRequest, PageResponse, Route, Status};
use crate::pages::form_options::option;
use crate::pages::{PageResult, Pages, RUN, lists, page_response};
use gritstone_document::html::{self, Choice, Frame};
use gritstone_document::{About, Document};
use gritstone_model::{Origin, RunInfo, SCHEMA_RUN};
use gritstone_report::{Brief, plural};
use gritstone_runs::clock::end_of_budget;
use gritstone_runs::{brief, scores};
use gritstone_store::{Progress, RunHead};

/// Runs offered for comparison.
const CHOICES: usize = 20;

pub(crate) const PAGE: Route<Pages> =
    Route { parameters: &[RUN], ..Route::page("/runs/{run}", "A run", SCHEMA_RUN, page) };
pub(super) const EVENTS: Route<Pages> = Route {
    parameters: &[RUN],
    ..Route::get(
        "/runs/{run}/events",
        "Progress of a run, as server-sent events: `progress` while it is measured, `end` when it has ended, each with launches \
         and benchmark as JSON, `progress` also with said. A stream ends within a minute; clients reconnect",
        Gives::Events,
        progress,
    )
};

fn page(pages: &Pages, request: &PageRequest) -> PageResult {
    let store = pages.require_store()?;
    let id = pages.resolve(&store, request.params.text("run"))?;
    let view = pages.context.stored(&store, &id)?;
    if request.form == Form::Json {
        let view = pages.context.with_run_variance(view);
        return Ok(pages.respond(request, &view, || (Document::default(), Frame::default()))?);
    }
    let base = scores::base(&pages.context, std::iter::once(&view));
    let parts = brief::parts(&pages.context, &view, base)?;
    let document = gritstone_report::brief(&Brief { run: &view, parts: &parts });
    let head = store.head(&id)?;
    // an imported run accepts no launches
    let live = match head.elapsed_s.is_none() && head.origin != Origin::Imported {
        true => {
            let run = html::path(&About::Run(id.clone()));
            Some([progress_text(&store.progress(&id)?, &store.info(&id)?), format!("{run}/events")])
        }
        false => None,
    };
    let is_other = |run: &RunHead| run.side.is_none() && run.id != id;
    let others = lists::newest_where(&store, Some(&view.machine.id), CHOICES, is_other)?;
    let options: Vec<_> = others.into_iter().map(option).collect();
    let form = (!options.is_empty()).then(|| html::Form {
        to: "/compare".to_owned(),
        button: "Compare",
        hidden_inputs: vec![("run", id.clone())],
        choices: vec![Choice { name: "base", label: "Against", options, chosen: String::new() }],
    });
    let frame = Frame { form, live, comparisons: pages.before(&id), ..Frame::default() };
    Ok(pages.respond(request, &view, || (document, frame))?)
}

fn progress_text(so_far: &Progress, run: &RunInfo) -> String {
    let count = plural(usize::try_from(so_far.launches).unwrap_or(usize::MAX), "launch");
    let last = so_far.last.as_ref().map_or_else(String::new, |id| format!(", the last of {id}"));
    let end = end_of_budget(&run.started, run.settings.budget_s);
    let end = end.as_deref().and_then(|end| end.get(11..16));
    let end = end.map_or_else(String::new, |end| format!(" Its time ends at {end} UTC."));
    format!("This run has not ended: {count} so far{last}.{end}")
}

fn progress(pages: &Pages, request: &PageRequest) -> PageResult {
    let store = pages.require_store()?;
    let id = pages.resolve(&store, request.params.text("run"))?;
    let so_far = store.progress(&id)?;
    let mut value = serde_json::json!({
        "launches": so_far.launches,
        "benchmark": so_far.last,
    });
    let status = match so_far.ended {
        true => Status::Last,
        false => {
            value["said"] = progress_text(&so_far, &store.info(&id)?).into();
            Status::Found
        }
    };
    let text = gritstone_model::escape_json(value.to_string());
    Ok(PageResponse { status, ..page_response(Media::Json, text) })
}
