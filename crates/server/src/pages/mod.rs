//! The pages of a store and its API, one file each: route, parameters, view, document. Views and documents of which commands print all or
//! parts are those of `model` and `report`.

mod api_runs;
pub(crate) mod benchmark;
pub(crate) mod benchmark_list;
pub(crate) mod change_log;
pub(crate) mod compare;
mod digest;
mod fleet;
mod form_options;
pub(crate) mod lists;
mod overview;
pub(crate) mod ranking;
pub(crate) mod run;
mod run_list;
mod search;
mod service_pages;
pub(crate) mod system;
pub(crate) mod trial;

use crate::FollowFleet;
use crate::digests::Digests;
use crate::http::{
    Draw, FIRST, Form, Kind, Media, PageRequest, PageResponse, Parameter, Rejection, Route, Site,
    SiteState, Status,
};
use anyhow::Context as _;
use gritstone_document::html::{self, Files, Frame};
use gritstone_document::{About, Document};
use gritstone_model::RunView;
use gritstone_runs::context::Context;
use gritstone_store::{ResolveError, Store, StoreError};
use serde::Serialize;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The order is that of the navigation and of docs/schema.
pub(crate) const ROUTES: &[&Route<Pages>] = &[
    &overview::ROUTE,
    &run_list::ROUTE,
    &run::PAGE,
    &run::EVENTS,
    &trial::ROUTE,
    &compare::ROUTE,
    &system::ROUTE,
    &search::ROUTE,
    &benchmark_list::ROUTE,
    &benchmark::ROUTE,
    &ranking::ROUTE,
    &change_log::CHANGES,
    &change_log::CHANGE,
    &change_log::FEED,
    &change_log::TRIAGE,
    &fleet::PAGE,
    &fleet::EVENTS,
    &service_pages::METRICS,
    &service_pages::HEALTH,
    &service_pages::ICON,
    &service_pages::SCRIPT,
    &service_pages::DESCRIPTION,
    &api_runs::LIST,
    &api_runs::SEND,
    &api_runs::BUNDLE,
    &api_runs::REMOVE,
];

/// Path parameter: a run.
const RUN: Parameter = Parameter {
    name: "run",
    kind: Kind::Path,
    about: "A run: an id, a part of one, a label, last",
};

/// Answers requests from a store.
pub(crate) struct Pages {
    context: Context,
    digests: Arc<Digests>,
    follow_fleet: FollowFleet,
    /// Whether the store existed at any time.
    seen: Arc<AtomicBool>,
    /// The files of a static site; none on a server.
    site: Option<Arc<SiteFiles>>,
}

/// The files of a static site.
#[derive(Debug, Default)]
pub(crate) struct SiteFiles {
    pub(crate) files: Files,
    /// Previous run of the same system, by run.
    pub(crate) before: BTreeMap<String, String>,
    /// The systems that a system is compared with, and the pairs of runs.
    pub(crate) comparisons: BTreeMap<String, Vec<(String, [String; 2])>>,
}

type PageResult = Result<PageResponse, Rejection>;

impl Site for Pages {
    fn state(&self, secrets: &[&str]) -> Result<SiteState, Rejection> {
        let mut state = SiteState::default();
        if let Some(store) = self.store()? {
            let known = self.digests.revision();
            state.revision = format!("{} {known}", store.shown_revision()?);
            for &secret in secrets {
                if let Some(token) = store.token(secret)? {
                    state.tokens.insert(secret.to_owned(), token);
                }
            }
        }
        Ok(state)
    }

    fn answer(&self, route: &Route<Self>, request: &PageRequest) -> PageResult {
        // kept open during the answer
        let _open = self.store()?;
        (route.respond)(self, request)
    }
}

/// Renders a refusal.
pub(crate) const DRAW: Draw = |request, title, why| {
    let document = refusal(title, why);
    let error = serde_json::json!({ "error": why });
    let drawn = respond(request, &error, || (document, Frame::default()));
    drawn.unwrap_or_else(|_| page_response(Media::Text, title))
};

fn refusal(title: &str, why: &str) -> Document {
    let mut document = Document::new(title);
    document.paragraph(why);
    document
}

fn navigation() -> Vec<[&'static str; 2]> {
    let path = |path: &'static str| if path == FIRST { "/" } else { path };
    ROUTES.iter().filter_map(|route| Some([path(route.path), route.title?])).collect()
}

/// A value as JSON or as a page.
fn respond<T: Serialize>(
    request: &PageRequest,
    value: &T,
    page: impl FnOnce() -> (Document, Frame),
) -> anyhow::Result<PageResponse> {
    let (media, text) = match request.form {
        Form::Json => {
            let value = gritstone_report::json(value).context("cannot write JSON")?;
            let text = gritstone_model::escape_json(format!("{value:#}\n"));
            (Media::Json, text)
        }
        Form::Page => {
            let (document, frame) = page();
            let json = request.json();
            let text = html::served(&document, &Frame { json, pages: navigation(), ..frame });
            (Media::Html, text)
        }
    };
    Ok(page_response(media, text))
}

fn page_response(media: Media, text: impl Into<String>) -> PageResponse {
    PageResponse { status: Status::Found, media, text: text.into() }
}

fn not_found(why: impl Into<String>) -> Rejection {
    Rejection::new(Status::NotFound, why)
}

fn busy() -> Rejection {
    Rejection::new(Status::Busy, "The store is busy: try again later.")
}

impl Pages {
    /// Pages of the store at a path.
    pub(crate) fn new(
        context: Context,
        digests: Arc<Digests>,
        follow_fleet: FollowFleet,
        seen: Arc<AtomicBool>,
    ) -> Self {
        Self { context, digests, follow_fleet, seen, site: None }
    }

    /// Pages of a static site, with links to files.
    pub(crate) fn for_site(self, site: Arc<SiteFiles>) -> Self {
        Self { site: Some(site), ..self }
    }

    /// A value as JSON or as a page: on a server, or in a file.
    fn respond<T: Serialize>(
        &self,
        request: &PageRequest,
        value: &T,
        page: impl FnOnce() -> (Document, Frame),
    ) -> anyhow::Result<PageResponse> {
        let Some(site) = &self.site else {
            return respond(request, value, page);
        };
        let (document, Frame { comparisons, .. }) = page();
        let frame = Frame { pages: navigation(), comparisons, ..Frame::default() };
        let path = request.uri.to_string();
        let text = html::filed(&document, &frame, &site.files, &path);
        Ok(page_response(Media::Html, text))
    }

    /// The comparison of a run of a static site with the previous one.
    fn before(&self, id: &str) -> Vec<(String, About)> {
        let before = self.site.as_ref().and_then(|site| site.before.get(id));
        let pair = |before: &String| About::Pair([before.clone(), id.to_owned()]);
        let link = |before| ("Compare with the run before".to_owned(), pair(before));
        before.map(link).into_iter().collect()
    }

    /// Comparisons of a system of a static site with others.
    fn comparison_links(&self, system: &str) -> Vec<(String, About)> {
        let others = self.site.as_ref().and_then(|site| site.comparisons.get(system));
        let link = |(name, pair): &(String, [String; 2])| {
            let text = format!("Side by side with {name}");
            (text, About::Pair(pair.clone()))
        };
        others.into_iter().flatten().map(link).collect()
    }

    /// Page with the reason for which another page cannot be made.
    pub(crate) fn refused(
        &self,
        request: &PageRequest,
        refused: &Rejection,
    ) -> anyhow::Result<PageResponse> {
        let document = refusal(refused.status.code_and_title().1, &refused.why);
        self.respond(request, &(), || (document, Frame::default()))
    }

    /// The store; `None` if it does not exist yet.
    pub(crate) fn store(&self) -> Result<Option<Rc<Store>>, Rejection> {
        let store = self.context.reader()?;
        match &store {
            Some(_) => self.seen.store(true, Ordering::Relaxed),
            None if self.seen.load(Ordering::Relaxed) => {
                let why = "The store was moved or removed: try again later.";
                return Err(
                    Rejection::new(Status::Busy, why).fault("the store was moved or removed")
                );
            }
            None => {}
        }
        Ok(store)
    }

    /// The store, which must exist.
    fn require_store(&self) -> Result<Rc<Store>, Rejection> {
        self.store()?.ok_or_else(|| not_found("No run is stored yet."))
    }

    /// A run of the store, or a reference system: never a file.
    fn view(&self, name: &str) -> Result<RunView, Rejection> {
        if name.starts_with("ref:") {
            let found = self.context.view(name);
            return found.map_err(|why| not_found(sentence(&format!("{why:#}"))));
        }
        let store = self.require_store()?;
        let id = self.resolve(&store, name)?;
        Ok(self.context.stored(&store, &id)?)
    }

    /// Resolves the name of a run; `last` refers to the machine of the server.
    fn resolve(&self, store: &Store, name: &str) -> Result<String, Rejection> {
        match store.resolve(name, gritstone_runs::context::this_machine) {
            Ok(named) => Ok(named.id),
            Err(ResolveError::Store(error)) => Err(error.into()),
            // the message may end in a question mark
            Err(why) => Err(not_found(sentence(&why.to_string()))),
        }
    }
}

/// A text with a final period.
fn sentence(text: &str) -> String {
    match text.ends_with(['.', '?', '!']) {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}

impl From<anyhow::Error> for Rejection {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<StoreError>() {
            Ok(error) => error.into(),
            // file errors are for users who can see the file
            Err(error) => unreadable(format!("{error:#}")),
        }
    }
}

fn unreadable(fault: String) -> Rejection {
    let why = "The store cannot be read; the log of the server says why.";
    Rejection::new(Status::Broken, why).fault(fault)
}

impl From<StoreError> for Rejection {
    fn from(error: StoreError) -> Self {
        let text = error.to_string();
        match error {
            StoreError::NoSuchRun(_) => not_found(text),
            StoreError::Pruned(..) | StoreError::Removed(_) => Self::new(Status::Gone, text),
            StoreError::Full(_) => {
                Self::new(Status::Full, "No space is left where the store is.").fault(text)
            }
            StoreError::Unfit(_) => Self::new(Status::Unfit, text),
            StoreError::Locked(_) => busy(),
            StoreError::Away(..) => {
                let why = "The database server is unreachable: try again later.";
                Self::new(Status::Busy, why).fault(text)
            }
            StoreError::ReadOnly(_) | StoreError::Unsafe(..) => {
                let why = "The store cannot be written; the log of the server says why.";
                Self::new(Status::Broken, why).fault(text)
            }
            _ => unreadable(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn store_errors_have_a_status() {
        use StoreError as E;
        let path = || PathBuf::from("/srv/x.db");
        let text = || "x".to_owned();
        let expected = [
            (E::NoSuchRun(text()), 404),
            (E::Pruned(text(), text()), 410),
            (E::Removed(text()), 410),
            (E::Unfit(text()), 422),
            (E::Locked(path()), 503),
            (E::Away(path(), text()), 503),
            (E::Full(path()), 507),
            (E::NoHome, 500),
            (E::Missing(path()), 500),
            (E::Unsafe(path(), text()), 500),
            (E::Unusable(path(), text()), 500),
            (E::NotADatabase(path()), 500),
            (E::Foreign(path()), 500),
            (E::Damaged(path(), text()), 500),
            (E::Unreadable(text(), text(), text()), 500),
            (E::ReadOnly(path()), 500),
            (E::NotReadable(path()), 500),
            (E::CutOff(path()), 500),
            (E::Newer(path(), 2, 1), 500),
            (E::Before(path()), 500),
            (E::Altered(path(), text()), 500),
            (E::Disk(path(), text()), 500),
            (E::Database(path(), text()), 500),
            (E::Url(path(), text()), 500),
            (E::Refused(path(), text()), 500),
            (E::NoDatabase(path(), text()), 500),
            (E::Denied(path(), text()), 500),
            (E::Imported(text()), 500),
            (E::NotYours(text(), "x"), 500),
            (E::Exists(text()), 500),
            (E::Ended(text()), 500),
            (E::NotPruned(text(), "x"), 500),
            (E::NoToken(text()), 500),
        ];
        for (error, code) in expected {
            let text = error.to_string();
            let is_logged = matches!(error, E::Full(_) | E::Away(..)) || code == 500;
            let rejection = Rejection::from(anyhow::Error::from(error));
            assert_eq!(rejection.status.code_and_title().0, code, "{text}");
            assert_eq!(rejection.fault.is_some(), is_logged, "{text}");
        }
        let why = Rejection::from(E::ReadOnly(path())).why;
        assert!(why.contains("cannot be written"), "{why}");
    }
}
