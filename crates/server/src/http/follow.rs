//! Server-sent events: a question that is asked again and again, whose answers go out as they change, until one is the last, the client or
//! the server goes away, or a connection has lasted long enough. A browser connects again by itself.

use crate::http::question::Asked;
use crate::http::response::{self, Answer, Sent, Status};
use crate::http::service::{Service, busy};
use hyper::body::Bytes;
use hyper::header::HeaderMap;
use std::sync::Arc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::{Instant, sleep};

/// Events that wait for a client; it misses more than that, which is no loss: each says all.
const WAITING: usize = 4;
/// When a browser connects again after the end of a connection, ms.
const RETRY: &str = "retry: 2000\n\n";

impl Service {
    /// Tells how the answer to a question changes.
    pub(crate) async fn follow(self: &Arc<Self>, asked: Asked, headers: &HeaderMap) -> Sent {
        let first = match self.ask(asked.clone()).await {
            Ok(first) if goes_on(&first) => first,
            Ok(refused) => return response::of(refused, headers),
            Err(none) => return none,
        };
        let Ok(place) = Arc::clone(&self.followers).try_acquire_owned() else {
            return busy();
        };
        let (to, events) = channel(WAITING);
        let service = Arc::clone(self);
        tokio::spawn(async move {
            service.tell(asked, first, to).await;
            drop(place);
        });
        response::events(events)
    }

    async fn tell(&self, asked: Asked, first: Answer, to: Sender<Bytes>) {
        let until = Instant::now() + self.limits.connection;
        let mut ends = self.ends.clone();
        let mut told = String::new();
        let mut next = Some(first);
        let _ = to.try_send(Bytes::from_static(RETRY.as_bytes()));
        loop {
            if let Some(answer) = next {
                let last = answer.status == Status::Last;
                if last || answer.text != told {
                    let name = if last { "end" } else { "progress" };
                    let event = format!("event: {name}\ndata: {}\n\n", answer.text);
                    if let Err(TrySendError::Closed(_)) = to.try_send(event.into()) {
                        return;
                    }
                    told = answer.text;
                }
                if last {
                    return;
                }
            }
            tokio::select! {
                _ = ends.wait_for(|end| *end) => return,
                () = to.closed() => return,
                () = sleep(self.limits.follow) => {}
            }
            if Instant::now() >= until {
                return;
            }
            next = match self.ask(asked.clone()).await {
                Ok(answer) if goes_on(&answer) => Some(answer),
                // busy, or being written: later
                Ok(answer) if matches!(answer.status, Status::Busy | Status::Broken) => None,
                Err(_) => None,
                // it is gone, or the token was revoked
                Ok(_) => return,
            };
        }
    }
}

fn goes_on(answer: &Answer) -> bool {
    matches!(answer.status, Status::Found | Status::Last)
}
