//! What clients may take.

use crate::http::budget::Budget;
use std::time::Duration;

/// What clients may take. `*_each` is what one client may, so that the rest is left for others.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once; others wait.
    pub connections: usize,
    pub connections_each: usize,
    /// Time for the head of a request, from the first moment that it could come.
    pub head: Duration,
    /// After this time a connection takes no further request, and after as much again it is cut.
    pub connection: Duration,
    /// Time for what is being answered when the server is to end.
    pub end: Duration,
    /// Threads that answer.
    pub threads: usize,
    pub threads_each: usize,
    /// Bytes of a run that is sent, packed or not.
    pub body: usize,
    /// Time after which a body has to come at its lowest rate.
    pub body_grace: Duration,
    /// Lowest rate of a body, bytes per second.
    pub body_rate: u32,
    /// Bodies that are received at once; others wait.
    pub uploads: usize,
    pub uploads_each: usize,
    /// Clients that follow a run at once; others are turned away.
    pub followers: usize,
    pub followers_each: usize,
    /// After how long a run that is followed is looked at again.
    pub follow: Duration,
    /// Bytes of pages that are kept.
    pub cache: usize,
    /// How much work a client may ask for; `None` for as much as it likes.
    pub budget: Option<Budget>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            connections_each: 512,
            head: Duration::from_secs(10),
            connection: Duration::from_secs(60),
            end: Duration::from_secs(5),
            threads: 2,
            threads_each: 2,
            body: 64 << 20,
            body_grace: Duration::from_secs(10),
            body_rate: 16 << 10,
            uploads: 4,
            uploads_each: 2,
            followers: 32,
            followers_each: 16,
            follow: Duration::from_secs(1),
            cache: 64 << 20,
            budget: None,
        }
    }
}
