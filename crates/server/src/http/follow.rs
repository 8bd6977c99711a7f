//! Server-sent events: an answer is recomputed repeatedly, and sent when it changes, until the last one, a disconnect, the end of the
//! server, or the time limit of connections. Browsers reconnect by themselves.

use crate::http::places::Place;
use crate::http::request::PageRequest;
use crate::http::response::{PageResponse, Rejection, Status};
use crate::http::route::Route;
use crate::http::service::Service;
use crate::http::site::Site;
use axum::http::{HeaderName, HeaderValue};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Time before a browser reconnects.
const RETRY: Duration = Duration::from_secs(2);

/// A client that follows a resource.
struct Follower<P: Site> {
    service: Arc<Service<P>>,
    route: &'static Route<P>,
    page_request: PageRequest,
    until: Instant,
    /// The newest answer, if not sent yet.
    next: Option<PageResponse>,
    /// The last text sent.
    sent: Option<String>,
    ended: bool,
    _place: Place,
}

impl<P: Site> Service<P> {
    /// Streams changes of the answer.
    pub(crate) async fn follow(
        self: &Arc<Self>,
        route: &'static Route<P>,
        page_request: PageRequest,
    ) -> Result<Response, Rejection> {
        let first = self.ask(route, page_request.clone()).await?;
        let place = self.followers.try_take(page_request.caller.address);
        let place = place.ok_or_else(|| {
            Rejection::new(Status::Busy, "Too many clients follow events: try again later.")
        })?;
        let follower = Follower {
            service: Arc::clone(self),
            route,
            page_request,
            until: Instant::now() + self.limits.connection,
            next: Some(first),
            sent: None,
            ended: false,
            _place: place,
        };
        let events = unfold(follower, |mut follower| async move {
            let event = follower.event().await?;
            Some((Ok::<_, Infallible>(event), follower))
        });
        let mut response = Sse::new(events).into_response();
        // nginx would buffer the events
        let buffering = HeaderName::from_static("x-accel-buffering");
        let headers = response.headers_mut();
        headers.insert(buffering, HeaderValue::from_static("no"));
        Ok(response)
    }
}

impl<P: Site> Follower<P> {
    /// The next event; none after the last.
    async fn event(&mut self) -> Option<Event> {
        if self.ended {
            return None;
        }
        let mut ends = self.service.ends.clone();
        loop {
            if let Some(answer) = self.next.take() {
                self.ended = answer.status == Status::Last;
                if self.ended || self.sent.as_ref() != Some(&answer.text) {
                    let name = if self.ended { "end" } else { "progress" };
                    let event = Event::default().event(name).data(&answer.text);
                    let is_first = self.sent.replace(answer.text).is_none();
                    return Some(if is_first { event.retry(RETRY) } else { event });
                }
            }
            tokio::select! {
                _ = ends.wait_for(|end| *end) => return None,
                () = sleep(self.service.limits.follow) => {}
            }
            if Instant::now() >= self.until {
                return None;
            }
            self.next = match self.service.ask(self.route, self.page_request.clone()).await {
                Ok(answer) => Some(answer),
                // retry later
                Err(Rejection { status: Status::Busy | Status::Broken, .. }) => None,
                // the resource is gone, or the token was revoked
                Err(_) => return None,
            };
        }
    }
}
