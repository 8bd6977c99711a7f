//! HTTP for a store: connections with their limits, which request asks for what, and the policies that every response carries.
//!
//! What is asked is a [`Question`], which [`parse`] reads from a path: pure, and fuzzed. What is answered comes from an
//! [`Answers`], of which each worker thread makes its own: this crate knows neither stores nor pages.

mod connection;
mod follow;
mod policy;
mod question;
mod rate;
mod response;
mod service;
mod tls;
mod workers;

pub use connection::{Config, Limits, serve};
pub use policy::Policy;
pub use question::{Asked, Compared, Form, History, Key, Question, Sent, parse, parse_change};
pub use rate::Rate;
pub use response::{Answer, Media, Status};
pub use tls::Tls;
pub use workers::{Answers, Make};

/// Says what went wrong, to whoever keeps the log.
pub type Log = std::sync::Arc<dyn Fn(&str) + Send + Sync>;
