//! Routes: method, path, parameters and handler. The router, the parser, the API description and the navigation are
//! generated from one list.

use crate::http::params::{Kind, Parameter};
use crate::http::request::PageRequest;
use crate::http::response::{Media, PageResponse, Rejection, Status};
use gritstone_store::Scope;
use schemars::{Schema, SchemaGenerator};

/// The method of a request; GET includes HEAD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Delete,
}

/// Type of answer.
#[derive(Clone, Copy, Debug)]
pub enum Gives {
    /// A page; for programs, JSON of this schema.
    Page(&'static str),
    /// JSON of this schema.
    Json(&'static str),
    /// A JSON object with these properties, each with its type.
    Object(&'static [(&'static str, &'static str)]),
    Media(Media),
    /// Server-sent events: the answer each time it has changed, until it is [`Status::Last`].
    Events,
}

/// Generates the schema of a type.
pub type View = fn(&mut SchemaGenerator) -> Schema;

/// Body of a request.
#[derive(Clone, Copy, Debug)]
pub struct Upload {
    /// Most bytes.
    pub max: usize,
    pub media: &'static [&'static str],
    pub about: &'static str,
}

/// A route handled by a `P`.
#[derive(Debug)]
pub struct Route<P> {
    pub method: Method,
    /// Path pattern in the syntax of axum: `/runs/{run}`.
    pub path: &'static str,
    pub summary: &'static str,
    /// Title in the navigation of all pages, which a static site has too.
    pub title: Option<&'static str>,
    pub parameters: &'static [Parameter],
    /// Scopes of which a token needs one; none for public routes.
    pub scopes: &'static [Scope],
    pub gives: Gives,
    pub upload: Option<Upload>,
    /// Whether the answer to a GET depends on the store alone.
    pub cached: bool,
    /// Further statuses that the rest does not imply, with their meaning.
    pub statuses: &'static [(Status, &'static str)],
    /// Type of the JSON, where no command prints it.
    pub view: Option<View>,
    pub respond: fn(&P, &PageRequest) -> Result<PageResponse, Rejection>,
}

impl<P> Route<P> {
    /// A GET for readers, without parameters.
    pub const fn get(
        path: &'static str,
        summary: &'static str,
        gives: Gives,
        respond: fn(&P, &PageRequest) -> Result<PageResponse, Rejection>,
    ) -> Self {
        Self {
            method: Method::Get,
            path,
            summary,
            title: None,
            parameters: &[],
            scopes: &[Scope::Read],
            gives,
            upload: None,
            cached: matches!(gives, Gives::Page(_) | Gives::Json(_)),
            statuses: &[],
            view: None,
            respond,
        }
    }

    /// A page for readers, without parameters.
    pub const fn page(
        path: &'static str,
        summary: &'static str,
        schema: &'static str,
        respond: fn(&P, &PageRequest) -> Result<PageResponse, Rejection>,
    ) -> Self {
        Self::get(path, summary, Gives::Page(schema), respond)
    }

    /// Whether the answer is computed once per revision.
    pub fn is_cached(&self) -> bool {
        self.cached && self.method == Method::Get
    }

    /// Whether it has an HTML page.
    pub fn is_page(&self) -> bool {
        matches!(self.gives, Gives::Page(_))
    }

    /// Whether a path parameter may name a missing object.
    pub fn names_something(&self) -> bool {
        let mut kinds = self.parameters.iter().map(|parameter| parameter.kind);
        kinds.any(|kind| matches!(kind, Kind::Path))
    }
}
