//! Interface between the server and its pages.

use crate::http::limits::Limits;
use crate::http::policy::Policy;
use crate::http::request::PageRequest;
use crate::http::response::{PageResponse, Rejection};
use crate::http::route::Route;
use crate::http::tls::Tls;
use crate::http::workers::Make;
use gritstone_store::Token;
use std::collections::HashMap;
use std::sync::Arc;

/// Revision and tokens, read before a request is admitted.
#[derive(Clone, Debug, Default)]
pub struct SiteState {
    /// Changes whenever any page may change.
    pub revision: String,
    /// Valid tokens by their secret.
    pub tokens: HashMap<String, Token>,
}

/// Answers requests. Each thread has its own.
pub trait Site: Sized + 'static {
    /// Looks up the current revision, and the tokens of some secrets.
    ///
    /// # Errors
    /// When the site cannot be served.
    fn state(&self, secrets: &[&str]) -> Result<SiteState, Rejection>;

    /// Answers an admitted request.
    ///
    /// # Errors
    /// The error response.
    fn answer(
        &self,
        route: &Route<Self>,
        request: &PageRequest,
    ) -> Result<PageResponse, Rejection> {
        (route.respond)(self, request)
    }
}

/// Renders a refusal with title and reason, as a page or as JSON.
pub type Draw = fn(&PageRequest, &str, &str) -> PageResponse;

/// Writes an internal error to the log.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Configuration of a server.
pub struct Config<P: Site> {
    pub routes: &'static [&'static Route<P>],
    /// Whether reading needs no token.
    pub public_read: bool,
    pub limits: Limits,
    pub policy: Policy,
    /// TLS; `None` for plain text.
    pub tls: Option<Tls>,
    pub make: Make<P>,
    pub draw: Draw,
    pub log: Log,
}
