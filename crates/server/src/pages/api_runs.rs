//! API for runs: list, upload, fetch, remove.

use crate::http::{
    Gives, Kind, Media, Method, PageRequest, PageResponse, Parameter, Rejection, Route, Status,
    Upload,
};
use crate::pages::{PageResult, Pages, page_response};
use anyhow::Context as _;
use gritstone_model::{RunList, SCHEMA_RUNS, escape_json};
use gritstone_runs::listing::listed;
use gritstone_store::{Scope, UploadOutcome};

const RUN: Parameter =
    Parameter { name: "run", kind: Kind::Path, about: "A run: its whole identifier" };

pub(super) const LIST: Route<Pages> = Route {
    // a sender needs the list of stored runs
    scopes: &[Scope::Read, Scope::Write],
    ..Route::get("/api/v1/runs", "All runs, newest first", Gives::Json(SCHEMA_RUNS), list)
};
pub(super) const SEND: Route<Pages> = Route {
    method: Method::Post,
    scopes: &[Scope::Write],
    upload: Some(Upload {
        max: 64 << 20,
        media: &["application/jsonl", "application/zstd"],
        about: "A bundle as gritstone export writes it, of a run that has ended; perhaps compressed by zstd",
    }),
    statuses: &[
        (Status::Stored, "Stored"),
        (Status::Found, "It was stored already"),
        (Status::Conflict, "Another run with that identifier exists"),
        (Status::Gone, "It was removed here"),
        (Status::Unfit, "The body is not a bundle of a finished run"),
        (Status::Full, "No space is left"),
    ],
    ..Route::get(
        "/api/v1/runs",
        "Store a run; storing it again changes nothing",
        Gives::Object(&[("run", "string"), ("stored", "boolean")]),
        send,
    )
};
pub(super) const BUNDLE: Route<Pages> = Route {
    parameters: &[RUN],
    statuses: &[(Status::Gone, "Its raw samples were pruned")],
    ..Route::get(
        "/api/v1/runs/{run}",
        "A run with all its launches: a bundle",
        Gives::Media(Media::JsonLines),
        bundle,
    )
};
pub(super) const REMOVE: Route<Pages> = Route {
    method: Method::Delete,
    parameters: &[RUN],
    scopes: &[Scope::Admin],
    ..Route::get(
        "/api/v1/runs/{run}",
        "Remove a whole run",
        Gives::Object(&[("removed", "string")]),
        remove,
    )
};

fn list(pages: &Pages, _: &PageRequest) -> PageResult {
    let heads = match pages.store()? {
        Some(store) => store.runs()?,
        None => vec![],
    };
    let list = RunList {
        schema: SCHEMA_RUNS.to_owned(),
        runs: heads.into_iter().rev().map(listed).collect(),
    };
    // without notes, which other views have: collecting them for thousands of runs took most of the time
    let text = serde_json::to_string_pretty(&list).context("cannot write JSON")?;
    Ok(page_response(Media::Json, escape_json(text + "\n")))
}

fn bundle(pages: &Pages, request: &PageRequest) -> PageResult {
    let run = pages.require_store()?.load(request.params.text("run"))?;
    let text = gritstone_exchange::write_bundle(&run);
    Ok(page_response(Media::JsonLines, text))
}

fn send(pages: &Pages, request: &PageRequest) -> PageResult {
    let unfit = |why: String| Rejection::new(Status::Unfit, why);
    let run = gritstone_runs::files::bundle(&request.body);
    let run = run.map_err(|why| unfit(format!("{why:#}")))?;
    if run.info.elapsed_s.is_none() {
        return Err(unfit("The run has not ended: send it afterwards.".to_owned()));
    }
    let by = request.by()?;
    let mut store = pages.context.writer()?;
    let sent = store.receive(by, &run, &gritstone_runs::clock::now())?;
    let id = &run.info.id;
    let status = match sent {
        UploadOutcome::Created => Status::Stored,
        UploadOutcome::Unchanged => Status::Found,
        UploadOutcome::Conflict => {
            let why = format!("Another run {id} is in the store already.");
            return Err(Rejection::new(Status::Conflict, why));
        }
    };
    if sent == UploadOutcome::Created {
        log::info!("gritstone: run {id} was sent by {}", by.name);
    }
    let value = serde_json::json!({ "run": id, "stored": status == Status::Stored });
    let answer = pages.respond(request, &value, Default::default)?;
    Ok(PageResponse { status, ..answer })
}

fn remove(pages: &Pages, request: &PageRequest) -> PageResult {
    let (by, id) = (request.by()?, request.params.text("run"));
    let mut store = pages.context.writer()?;
    store.remove_by(by, id, &gritstone_runs::clock::now())?;
    log::info!("gritstone: run {id} was removed by {}", by.name);
    let value = serde_json::json!({ "removed": id });
    Ok(pages.respond(request, &value, Default::default)?)
}
