//! From a request to a response: the router of all routes, and what happens around each of them.

use crate::http::limits::Limits;
use crate::http::rate::{Buckets, Client};
use crate::http::request::{Asked, JsonPath, Key, canonical};
use crate::http::response::{Answer, Refused, Status, plain, sent};
use crate::http::route::{Gives, Method, Route};
use crate::http::workers::{NoAnswer, Workers};
use crate::http::{Log, Make, Policy, Tls};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use http_body_util::{BodyExt, Limited};
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// What routes lead to.
pub trait Site: Sized + 'static {
    /// Gives a request the token of its key, where the route may be asked by it.
    ///
    /// # Errors
    /// Why it may not.
    fn admit(&self, route: &Route<Self>, asked: &mut Asked) -> Result<(), Refused>;

    /// Answers a request that was admitted.
    ///
    /// # Errors
    /// Why there is no answer.
    fn answer(&self, route: &Route<Self>, asked: &Asked) -> Result<Answer, Refused> {
        (route.respond)(self, asked)
    }
}

/// Draws a refusal with its title and reason, as a page or as JSON.
pub type Draw = fn(&Asked, &str, &str) -> Answer;

/// A server.
pub struct Config<P: Site> {
    pub routes: &'static [&'static Route<P>],
    /// What clients may take.
    pub limits: Limits,
    /// Who is answered.
    pub policy: Policy,
    /// By what connections are encrypted; `None` for plain text.
    pub tls: Option<Tls>,
    /// Makes what answers.
    pub make: Make<P>,
    pub draw: Draw,
    /// Is told what went wrong.
    pub log: Log,
}

/// What answers requests.
pub(crate) struct Service<P: 'static> {
    pub(crate) routes: &'static [&'static Route<P>],
    pub(crate) policy: Policy,
    pub(crate) workers: Workers<P>,
    pub(crate) draw: Draw,
    pub(crate) log: Log,
    pub(crate) limits: Limits,
    /// Bodies that are read at once.
    pub(crate) uploads: Semaphore,
    /// Clients that follow something.
    pub(crate) followers: Arc<Semaphore>,
    pub(crate) rate: Option<Buckets>,
    /// Whether the server ends.
    pub(crate) ends: watch::Receiver<bool>,
}

/// The address of a client, in the extensions of its requests.
#[derive(Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The router of a service.
pub(crate) fn router<P: Site>(service: Arc<Service<P>>) -> Router {
    let mut router = Router::new();
    for &route in service.routes {
        let respond = move |State(service): State<Arc<Service<P>>>,
                            path: RawPathParams,
                            request| async move {
            service.respond(route, &path, request).await
        };
        let method = match route.method {
            Method::Get => MethodFilter::GET,
            Method::Post => MethodFilter::POST,
            Method::Delete => MethodFilter::DELETE,
        };
        router = router.route(route.path, on(method, respond));
    }
    router
        .fallback(|State(service): State<Arc<Service<P>>>, request: Request| async move {
            let (parts, _) = request.into_parts();
            let refused = Refused::new(Status::NotFound, format!("There is no page {}.", parts.uri.path()));
            service.refuse(refused, &Asked::bare(true, &parts), &parts)
        })
        .method_not_allowed_fallback(|| async {
            let why = "Nothing here is asked for by this method: the header Allow has those that there are.";
            plain(StatusCode::METHOD_NOT_ALLOWED, why)
        })
        .layer(from_fn_with_state(Arc::clone(&service), admit))
        .with_state(service)
}

/// A request as the router knows it.
pub(crate) fn routed(request: Request, peer: IpAddr) -> Request {
    let (mut parts, body) = request.into_parts();
    let (uri, json) = canonical(parts.uri);
    parts.uri = uri;
    if json {
        parts.extensions.insert(JsonPath);
    }
    parts.extensions.insert(Peer(peer));
    Request::from_parts(parts, body)
}

/// What holds for every request and every response.
async fn admit<P: Site>(
    State(service): State<Arc<Service<P>>>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let mut response = match service.policy.refuses(&parts) {
        Some(refused) => refused,
        None => match service.too_many(&parts) {
            Some(refused) => service.refuse(refused, &Asked::bare(true, &parts), &parts),
            None => next.run(Request::from_parts(parts, body)).await,
        },
    };
    service.policy.stamp(&mut response);
    response
}

impl<P: Site> Service<P> {
    /// Starts the workers of a server.
    pub(crate) fn start(config: Config<P>, ends: watch::Receiver<bool>) -> std::io::Result<Self> {
        let limits = config.limits;
        Ok(Self {
            routes: config.routes,
            policy: config.policy,
            workers: Workers::start(limits.threads, &config.make)?,
            draw: config.draw,
            log: config.log,
            limits,
            uploads: Semaphore::new(limits.uploads),
            followers: Arc::new(Semaphore::new(limits.followers)),
            rate: limits.rate.map(Buckets::new),
            ends,
        })
    }

    /// Says when to ask again, where a client asks too often: by its address, and by its token.
    fn too_many(&self, parts: &Parts) -> Option<Refused> {
        let rate = self.rate.as_ref()?;
        let now = Instant::now();
        let Peer(peer) = *parts.extensions.get()?;
        let address = Client::at(self.policy.client(&parts.headers, peer));
        let key = Key::of(&parts.headers);
        let token = key
            .secret()
            .map(|secret| Client::Token(Sha256::digest(secret).into()));
        let taken = rate.take(address, now);
        let taken = taken.and_then(|()| token.map_or(Ok(()), |token| rate.take(token, now)));
        let wait = taken.err()?.as_secs_f64().ceil();
        Some(Refused {
            again: Some(wait as u64),
            ..Refused::new(Status::TooMany, "Too many requests: ask again later.")
        })
    }

    fn refuse(&self, refused: Refused, asked: &Asked, parts: &Parts) -> Response {
        if let Some(fault) = &refused.fault {
            (self.log)(fault);
        }
        let answer = Answer {
            status: refused.status,
            ..(self.draw)(asked, refused.status.title(), &refused.why)
        };
        let mut response = sent(&answer, &parts.headers);
        if let Some(seconds) = refused.again {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }

    async fn respond(
        self: &Arc<Self>,
        route: &'static Route<P>,
        path: &RawPathParams,
        request: Request,
    ) -> Response {
        let (parts, body) = request.into_parts();
        let bare = || Asked::bare(route.is_page(), &parts);
        let json = parts.extensions.get::<JsonPath>().is_some();
        let asked = match json && matches!(route.gives, Gives::Media(_) | Gives::Events) {
            true => Err(Refused::new(
                Status::NotFound,
                format!("{} is in one form alone: leave out .json.", route.path),
            )),
            false => Asked::parse(route.parameters, route.is_page(), path, &parts)
                .map_err(|why| Refused::new(Status::Wrong, why)),
        };
        let done = match asked {
            Ok(asked) => self.admitted(route, asked, body, &parts).await,
            Err(refused) => Err(refused),
        };
        done.unwrap_or_else(|refused| self.refuse(refused, &bare(), &parts))
    }

    async fn admitted(
        self: &Arc<Self>,
        route: &'static Route<P>,
        asked: Asked,
        body: Body,
        parts: &Parts,
    ) -> Result<Response, Refused> {
        if let Gives::Events = route.gives {
            return self.follow(route, asked).await;
        }
        let body = self.receive(route, &asked, body).await?;
        let answer = self.ask(route, Asked { body, ..asked }).await?;
        Ok(sent(&answer, &parts.headers))
    }

    /// Reads a body after the client may send one, as far as there is room.
    async fn receive(
        &self,
        route: &'static Route<P>,
        asked: &Asked,
        body: Body,
    ) -> Result<Bytes, Refused> {
        let Some(upload) = route.upload else {
            return Ok(Bytes::new());
        };
        let most = upload.most.min(self.limits.body);
        let too_long = || {
            Refused::new(
                Status::TooLong,
                format!("More than {most} bytes are not taken."),
            )
        };
        if http_body::Body::size_hint(&body).lower() > most as u64 {
            return Err(too_long());
        }
        let mut may = asked.clone();
        self.run(asked.uri.path(), move |site| site.admit(route, &mut may))
            .await?;
        let place = timeout(PATIENCE, self.uploads.acquire()).await;
        let Ok(Ok(_place)) = place else {
            return Err(busy());
        };
        match Limited::new(body, most).collect().await {
            Ok(body) => Ok(body.to_bytes()),
            Err(why) if why.is::<http_body_util::LengthLimitError>() => Err(too_long()),
            // it has gone, or sends what is no HTTP
            Err(_) => Err(Refused::new(Status::Wrong, "The body is cut off.")),
        }
    }

    /// The answer of a worker.
    pub(crate) async fn ask(
        &self,
        route: &'static Route<P>,
        mut asked: Asked,
    ) -> Result<Answer, Refused> {
        let path = asked.uri.path().to_owned();
        self.run(&path, move |site| {
            site.admit(route, &mut asked)?;
            site.answer(route, &asked)
        })
        .await
    }

    async fn run<T: Send + 'static>(
        &self,
        path: &str,
        job: impl FnOnce(&P) -> Result<T, Refused> + Send + 'static,
    ) -> Result<T, Refused> {
        match timeout(PATIENCE, self.workers.run(job)).await {
            Ok(Ok(done)) => done,
            Ok(Err(NoAnswer::Panicked)) => {
                let fault = format!("no answer to {path}: a fault in Gritstone");
                Err(
                    Refused::new(Status::Broken, "A fault in Gritstone; its log has more.")
                        .fault(fault),
                )
            }
            Ok(Err(NoAnswer::Busy)) | Err(_) => Err(busy()),
        }
    }
}

fn busy() -> Refused {
    Refused::new(Status::Busy, "Busy: ask again later.")
}
