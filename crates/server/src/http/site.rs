//! What routes lead to, as the server sees it.

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

/// What a site knows before it answers.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// Another one whenever a page may be another.
    pub revision: String,
    /// Valid tokens by their secret.
    pub tokens: HashMap<String, Token>,
}

/// What routes lead to. A thread has one of its own.
pub trait Site: Sized + 'static {
    /// Looks up the revision of all that is served, and the tokens of some secrets.
    ///
    /// # Errors
    /// Why nothing can be served.
    fn look(&self, secrets: &[&str]) -> Result<Look, Refused>;

    /// Answers a request that may be answered.
    ///
    /// # Errors
    /// Why there is no answer.
    fn answer(&self, route: &Route<Self>, asked: &Asked) -> Result<Answer, Refused> {
        (route.respond)(self, asked)
    }
}

/// Draws a refusal with its title and reason, as a page or as JSON.
pub type Draw = fn(&Asked, &str, &str) -> Answer;

/// Says what went wrong, to whoever keeps the log.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// A server.
pub struct Config<P: Site> {
    pub routes: &'static [&'static Route<P>],
    /// Whether everyone may read.
    pub everyone: bool,
    pub limits: Limits,
    pub policy: Policy,
    /// By what connections are encrypted; `None` for plain text.
    pub tls: Option<Tls>,
    pub make: Make<P>,
    pub draw: Draw,
    pub log: Log,
}
