//! What clients may take.

use crate::http::rate::Rate;
use std::time::Duration;

/// What clients may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once; others wait.
    pub connections: usize,
    /// Time for the head of a request, from the first moment that it could come.
    pub head: Duration,
    /// After this time a connection takes no further request, and after as much again it is cut.
    pub connection: Duration,
    /// Time for what is being answered when the server is to end.
    pub end: Duration,
    /// Threads that answer.
    pub threads: usize,
    /// Bytes of a run that is sent, packed or not.
    pub body: usize,
    /// Runs that are received at once; others wait.
    pub uploads: usize,
    /// Clients that follow a run at once; others are turned away.
    pub followers: usize,
    /// After how long a run that is followed is looked at again.
    pub follow: Duration,
    /// How often a client may ask; `None` for as often as it likes.
    pub rate: Option<Rate>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            head: Duration::from_secs(10),
            connection: Duration::from_secs(60),
            end: Duration::from_secs(5),
            threads: 2,
            body: 64 << 20,
            uploads: 4,
            followers: 32,
            follow: Duration::from_secs(1),
            rate: None,
        }
    }
}
