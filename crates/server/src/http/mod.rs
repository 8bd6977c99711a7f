//! HTTP for a store: connections with their limits, routes with their parameters, and the policies that every response carries.
//!
//! A [`Route`] defines the parameters and the handler of a path, and [`PageRequest`] is a parsed request. A [`Site`] answers; each worker
//! thread makes its own. This module knows no pages, and of stores only the tokens.

mod budget;
mod cache;
mod connection;
mod connections;
mod follow;
mod gate;
mod limits;
mod openapi;
mod params;
mod places;
mod policy;
mod request;
mod response;
mod route;
mod service;
mod site;
mod tls;
mod upload;
mod workers;

pub use budget::Budget;
pub use connection::serve;
pub use limits::Limits;
pub use openapi::description;
pub use params::{Kind, Parameter, Params};
pub use policy::Policy;
pub(crate) use request::FIRST;
pub use request::{Form, Key, PageRequest};
pub use response::{Media, PageResponse, Rejection, Status};
pub use route::{Gives, Method, Route, Upload, View};
#[cfg(test)]
pub(crate) use service::{Service, routed, router};
pub use site::{Config, Draw, Log, Site, SiteState};
pub use tls::Tls;
pub use workers::Make;
