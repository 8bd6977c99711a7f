//! A trial: `ab`, `bench`, or a pull request's base and head.

use crate::http::{Asked, Refused, Route, Status};
use crate::pages::{Answered, Pages, RUN};
use gritstone_document::html::Frame;
use gritstone_model::SCHEMA_AB;

pub(crate) const ROUTE: Route<Pages> = Route {
    parameters: &[RUN],
    ..Route::page(
        "/trials/{run}",
        "The trial of which a run is a side",
        SCHEMA_AB,
        page,
    )
};

fn page(pages: &Pages, asked: &Asked) -> Answered {
    let store = pages.stored()?;
    let id = pages.resolve(&store, asked.params.text("run"))?;
    if store.info(&id)?.settings.trial.is_none() {
        let why = format!("Run {id} is not a side of a trial.");
        return Err(Refused::new(Status::NotFound, why));
    }
    let view = pages.context.trial(&store, &id)?;
    Ok(pages.respond(asked, &view, || {
        (gritstone_report::ab(&view), Frame::default())
    })?)
}
