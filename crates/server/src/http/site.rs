//! Interface between the server and its pages.

use crate::http::limits::Limits;
use crate::http::policy::Policy;
use crate::http::request::Asked;
use crate::http::response::{Answer, Refused};
use crate::http::route::Route;
use crate::http::tls::Tls;
use crate::http::workers::Make;
use gritstone_store::Token;
use std::collections::HashMap;
use std::sync::Arc;

/// State of a site before an answer.
#[derive(Clone, Debug, Default)]
pub struct Look {
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
    fn look(&self, secrets: &[&str]) -> Result<Look, Refused>;

    /// Answers an admitted request.
    ///
    /// # Errors
    /// The error response.
    fn answer(&self, route: &Route<Self>, asked: &Asked) -> Result<Answer, Refused> {
        (route.respond)(self, asked)
    }
}

/// Renders a refusal with title and reason, as a page or as JSON.
pub type Draw = fn(&Asked, &str, &str) -> Answer;

/// Writes an internal error to the log.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Configuration of a server.
pub struct Config<P: Site> {
    pub routes: &'static [&'static Route<P>],
    /// Whether reading needs no token.
    pub everyone: bool,
    pub limits: Limits,
    pub policy: Policy,
    /// TLS; `None` for plain text.
    pub tls: Option<Tls>,
    pub make: Make<P>,
    pub draw: Draw,
    pub log: Log,
}
