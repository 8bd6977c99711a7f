//! Endpoints for monitors and programs: metrics, health, API description, favicon.

use crate::http::{Gives, Kind, Media, PageRequest, Parameter, Route, description};
use crate::pages::{PageResult, Pages, ROUTES, not_found, page_response};
use anyhow::Context as _;
use gritstone_document::html;
use gritstone_model::RunView;

pub(super) const METRICS: Route<Pages> = Route {
    cached: true,
    ..Route::get(
        "/metrics",
        "Newest results of every system, as OpenMetrics",
        Gives::Media(Media::OpenMetrics),
        metrics,
    )
};
pub(super) const HEALTH: Route<Pages> = Route {
    scopes: &[],
    cached: true,
    ..Route::get(
        "/health",
        "Whether the store can be read",
        Gives::Media(Media::Text),
        // the gate has read the store
        |_, _| Ok(page_response(Media::Text, "ok\n")),
    )
};
pub(super) const ICON: Route<Pages> = Route {
    scopes: &[],
    cached: true,
    ..Route::get("/favicon.ico", "The icon of the pages", Gives::Media(Media::Svg), |_, _| {
        Ok(page_response(Media::Svg, include_str!("../icon.svg")))
    })
};
pub(super) const SCRIPT: Route<Pages> = Route {
    parameters: &[Parameter { name: "script", kind: Kind::Path, about: "charts.js or triage.js" }],
    scopes: &[],
    cached: true,
    ..Route::get(
        "/assets/{script}",
        "A script of the pages",
        Gives::Media(Media::Script),
        |_, request| {
            let path = format!("/assets/{}", request.params.text("script"));
            let script = html::script(&path);
            let script = script.ok_or_else(|| not_found(format!("There is no {path}.")))?;
            Ok(page_response(Media::Script, script))
        },
    )
};
pub(super) const DESCRIPTION: Route<Pages> = Route {
    scopes: &[],
    cached: true,
    ..Route::get("/api/v1/openapi", "This document", Gives::Media(Media::Json), |_, _| {
        let text = serde_json::to_string_pretty(&description(ROUTES));
        Ok(page_response(Media::Json, text.context("cannot write JSON")? + "\n"))
    })
};

fn metrics(pages: &Pages, _: &PageRequest) -> PageResult {
    let stored = match pages.store()? {
        Some(store) => store.count()?,
        None => 0,
    };
    let digest = pages.digest()?;
    let views: Vec<&RunView> = digest.newest.iter().collect();
    let text = gritstone_exchange::scraped(&views, stored);
    Ok(page_response(Media::OpenMetrics, text))
}
