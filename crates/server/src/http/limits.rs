//! Limits for clients.

use crate::http::budget::Budget;
use std::time::Duration;

/// Limits for clients. `*_each` is the limit of one client, which leaves the rest to others.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Simultaneous connections; others wait.
    pub connections: usize,
    pub connections_each: usize,
    /// Time to receive the head of a request.
    pub head: Duration,
    /// After this time a connection accepts no further request, and after twice the time it is cut.
    pub connection: Duration,
    /// Time for requests in progress when the server ends.
    pub end: Duration,
    /// Worker threads.
    pub threads: usize,
    pub threads_each: usize,
    /// Bytes of an uploaded run, compressed or not.
    pub body: usize,
    /// Time after which the lowest rate of a body applies.
    pub body_grace: Duration,
    /// Lowest rate of a body, bytes per second.
    pub body_rate: u32,
    /// Simultaneous uploads; others wait.
    pub uploads: usize,
    pub uploads_each: usize,
    /// Simultaneous followers of a run; others are rejected.
    pub followers: usize,
    pub followers_each: usize,
    /// Poll interval for followed runs.
    pub follow: Duration,
    /// Bytes of cached pages.
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
