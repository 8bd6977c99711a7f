//! The gate: a thread that looks up the revision of the store and the token before a request is answered. Requests that arrive meanwhile
//! are looked up together.

use crate::http::response::Rejection;
use crate::http::site::{Site, SiteState};
use crate::http::workers::Make;
use gritstone_store::Token;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

struct Wanted {
    secret: Option<String>,
    to: oneshot::Sender<Result<Seen, Rejection>>,
}

/// Revision and token of a request.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) revision: Arc<str>,
    pub(crate) token: Option<Token>,
}

pub(crate) struct Gate(Sender<Wanted>);

impl Gate {
    /// Starts the thread, which ends with the gate.
    pub(crate) fn start<P: Site>(make: &Make<P>) -> std::io::Result<Self> {
        let (send, receive) = channel();
        let make = Arc::clone(make);
        let thread = std::thread::Builder::new().name("gate".to_owned());
        thread.spawn(move || run_gate(&receive, &make))?;
        Ok(Self(send))
    }

    /// Looks up the revision and the token of a secret, now or later.
    pub(crate) async fn state(&self, secret: Option<&str>) -> Result<Seen, Rejection> {
        let (to, seen) = oneshot::channel();
        let secret = secret.map(str::to_owned);
        let fault = || Rejection::broken("the store was not opened: a bug in Gritstone");
        self.0.send(Wanted { secret, to }).map_err(|_| fault())?;
        seen.await.map_err(|_| fault())?
    }
}

fn run_gate<P: Site>(wanted: &Receiver<Wanted>, make: &Make<P>) {
    let mut site = make();
    while let Ok(first) = wanted.recv() {
        let all: Vec<Wanted> = std::iter::once(first).chain(wanted.try_iter()).collect();
        let mut secrets: Vec<&str> =
            all.iter().filter_map(|request| request.secret.as_deref()).collect();
        secrets.sort_unstable();
        secrets.dedup();
        let Ok(state) = catch_unwind(AssertUnwindSafe(|| site.state(&secrets))) else {
            // after a panic the site may be inconsistent
            site = make();
            continue;
        };
        let state = state.map(|SiteState { revision, tokens }| (Arc::from(revision), tokens));
        for Wanted { secret, to } in all {
            let seen = |(revision, tokens): &(Arc<str>, HashMap<String, Token>)| Seen {
                revision: Arc::clone(revision),
                token: secret.and_then(|secret| tokens.get(&secret).cloned()),
            };
            // the client may have disconnected
            drop(to.send(state.as_ref().map(seen).map_err(Clone::clone)));
        }
    }
}
