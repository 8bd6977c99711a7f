//! HTTP for a store: connections with their limits, routes with their parameters, and the policies that every response carries.
//!
//! A [`Route`] says what may be asked for and what answers it, and [`Asked`] is such a request, parsed. The answer comes from a
//! [`Site`], of which each worker thread makes its own: this module knows no pages, and of stores their tokens alone.

mod connection;
mod follow;
mod limits;
mod openapi;
mod params;
mod policy;
mod rate;
mod request;
mod response;
mod route;
mod service;
mod tls;
mod workers;

pub use connection::serve;
pub use limits::Limits;
pub use openapi::description;
pub use params::{Kind, Parameter, Params};
pub use policy::Policy;
pub use rate::Rate;
pub use request::{Asked, Form, Key};
pub use response::{Answer, Media, Refused, Status};
pub use route::{Gives, Method, Route, Upload};
pub use service::{Config, Draw, Site};
#[cfg(test)]
pub(crate) use service::{Service, routed, router};
pub use tls::Tls;
pub use workers::Make;

/// Says what went wrong, to whoever keeps the log.
pub type Log = std::sync::Arc<dyn Fn(&str) + Send + Sync>;
