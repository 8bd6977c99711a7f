//! A trial: `ab`, `bench`, or a pull request's base and head.

use crate::http::{PageRequest, Rejection, Route, Status};
use crate::pages::{PageResult, Pages, RUN};
use gritstone_document::html::Frame;
use gritstone_model::SCHEMA_AB;

pub(crate) const ROUTE: Route<Pages> = Route {
    parameters: &[RUN],
    ..Route::page("/trials/{run}", "The trial of which a run is a side", SCHEMA_AB, page)
};

fn page(pages: &Pages, request: &PageRequest) -> PageResult {
    let store = pages.require_store()?;
    let id = pages.resolve(&store, request.params.text("run"))?;
    if store.info(&id)?.settings.trial.is_none() {
        let why = format!("Run {id} is not a side of a trial.");
        return Err(Rejection::new(Status::NotFound, why));
    }
    let view = pages.context.trial(&store, &id)?;
    Ok(pages.respond(request, &view, || (gritstone_report::ab(&view), Frame::default()))?)
}
