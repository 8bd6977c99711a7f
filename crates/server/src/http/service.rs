//! From a request to a response: the router of all routes, and the checks around each of them.

use crate::http::budget::{Budgets, Caller, Client};
use crate::http::cache::Cache;
use crate::http::gate::Gate;
use crate::http::limits::Limits;
use crate::http::places::{Place, Places};
use crate::http::policy::Policy;
use crate::http::request::{JsonPath, PageRequest, Peer, caller, canonical};
use crate::http::response::{Packed, PageResponse, Rejection, Status, Tag, plain};
use crate::http::route::{Gives, Method, Route};
use crate::http::site::{Config, Draw, Log, Site};
use crate::http::upload::{receive, too_long};
use crate::http::workers::Workers;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;
use tokio::time::timeout;

/// Timeout of each stage of a request.
const PATIENCE: Duration = Duration::from_secs(60);
/// Smallest charge of a request.
const MIN_WORK: Duration = Duration::from_micros(100);

/// Shared state of the router.
pub(crate) struct Service<P: 'static> {
    routes: &'static [&'static Route<P>],
    public_read: bool,
    policy: Policy,
    gate: Gate,
    workers: Workers<P>,
    cache: Cache,
    /// Identifies this process, so that entity tags of another one are invalid.
    life: [u8; 16],
    draw: Draw,
    pub(crate) log: Log,
    pub(crate) limits: Limits,
    /// Concurrency limit of answers, per client.
    work: Places<Client>,
    /// Concurrency limit of uploads, per client.
    uploads: Places<Client>,
    /// Concurrency limit of event streams, per client.
    pub(crate) followers: Places<Client>,
    budgets: Option<Arc<Budgets>>,
    /// Becomes true when the server ends.
    pub(crate) ends: watch::Receiver<bool>,
}

/// The router of a service.
pub(crate) fn router<P: Site>(service: Arc<Service<P>>) -> Router {
    let mut router = Router::new();
    for &route in service.routes {
        let respond =
            move |State(service): State<Arc<Service<P>>>,
                  path: Result<RawPathParams, RawPathParamsRejection>,
                  request| async move { service.respond(route, path, request).await };
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
            let why = format!("There is no page {}.", parts.uri.path());
            let refused = Rejection::new(Status::NotFound, why);
            service.refuse(refused, &PageRequest::bare(true, &parts), &parts)
        })
        .method_not_allowed_fallback(|| async {
            let why = "This method is not allowed here: the header Allow lists the allowed ones.";
            plain(StatusCode::METHOD_NOT_ALLOWED, why)
        })
        .layer(from_fn_with_state(Arc::clone(&service), admit))
        .with_state(service)
}

/// Normalizes a request for the router.
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

/// Middleware of every request and every response.
async fn admit<P: Site>(
    State(service): State<Arc<Service<P>>>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    if let Some(Peer(peer)) = parts.extensions.get().copied() {
        // the client's address is another one behind a proxy
        let client = service.policy.client(&parts.headers, peer);
        parts.extensions.insert(Peer(client));
    }
    let caller = caller(&parts);
    let mut response = match service.policy.refuses(&parts) {
        Some(refused) => refused,
        None => match service.too_many(&caller) {
            Some(refused) => service.refuse(refused, &PageRequest::bare(true, &parts), &parts),
            None => next.run(Request::from_parts(parts, body)).await,
        },
    };
    service.policy.stamp(&mut response);
    response
}

impl<P: Site> Service<P> {
    /// Starts the threads of a server.
    pub(crate) fn start(config: Config<P>, ends: watch::Receiver<bool>) -> std::io::Result<Self> {
        let limits = config.limits;
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Ok(Self {
            routes: config.routes,
            public_read: config.public_read,
            policy: config.policy,
            gate: Gate::start(&config.make)?,
            workers: Workers::start(limits.threads, &config.make)?,
            cache: Cache::new(limits.cache),
            life: now.unwrap_or_default().as_nanos().to_le_bytes(),
            draw: config.draw,
            log: config.log,
            limits,
            work: Places::new(limits.threads, limits.threads_each),
            uploads: Places::new(limits.uploads, limits.uploads_each),
            followers: Places::new(limits.followers, limits.followers_each),
            budgets: limits.budget.map(Budgets::new).map(Arc::new),
            ends,
        })
    }

    /// The refusal for a client over its budget; checking is charged, too.
    fn too_many(&self, caller: &Caller) -> Option<Rejection> {
        let budgets = self.budgets.as_ref()?;
        let now = Instant::now();
        let wait = budgets.check(caller, now).err();
        budgets.charge(caller, MIN_WORK, now);
        Some(Rejection {
            again: Some(wait?.as_secs_f64().ceil() as u64),
            ..Rejection::new(Status::TooMany, "Too many requests: try again later.")
        })
    }

    fn refuse(&self, refused: Rejection, page_request: &PageRequest, parts: &Parts) -> Response {
        if let Some(fault) = &refused.fault {
            (self.log)(fault);
        }
        let answer = PageResponse {
            status: refused.status,
            ..(self.draw)(page_request, refused.status.code_and_title().1, &refused.why)
        };
        let mut response = Packed::new(answer).response(parts);
        if let Some(seconds) = refused.again {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }

    async fn respond(
        self: &Arc<Self>,
        route: &'static Route<P>,
        path: Result<RawPathParams, RawPathParamsRejection>,
        request: Request,
    ) -> Response {
        let (parts, body) = request.into_parts();
        let json = parts.extensions.get::<JsonPath>().is_some();
        let page_request = match json && matches!(route.gives, Gives::Media(_) | Gives::Events) {
            true => {
                let why = format!("{} has no JSON form: leave out .json.", parts.uri.path());
                Err(Rejection::new(Status::NotFound, why))
            }
            false => path
                .map_err(|_| "The path is not UTF-8.".to_owned())
                .and_then(|path| {
                    PageRequest::parse(route.parameters, route.is_page(), &path, &parts)
                })
                .map_err(|why| Rejection::new(Status::Wrong, why)),
        };
        let response = match page_request {
            Ok(page_request) => self.answer(route, page_request, body, &parts).await,
            Err(refused) => Err(refused),
        };
        response.unwrap_or_else(|refused| {
            self.refuse(refused, &PageRequest::bare(route.is_page(), &parts), &parts)
        })
    }

    async fn answer(
        self: &Arc<Self>,
        route: &'static Route<P>,
        page_request: PageRequest,
        body: Body,
        parts: &Parts,
    ) -> Result<Response, Rejection> {
        let (page_request, revision) = self.admit(route, page_request).await?;
        if let Gives::Events = route.gives {
            return self.follow(route, page_request).await;
        }
        if route.is_cached() {
            let page = page_request.page();
            let tag = Tag::new(&self.life, &revision, &page, &parts.headers);
            if let Some(known) = tag.not_modified(&parts.headers) {
                return Ok(known);
            }
            let caller = page_request.caller;
            let rendered = self.run(route, page_request);
            // bounds both waiting for another request that renders this page, and rendering it if that one fails
            let rendered = timeout(PATIENCE, self.cache.get(&revision, &page, rendered));
            let page = rendered.await.map_err(|_| busy())??;
            return Ok(tag.mark(self.encode(page, caller, parts).await?));
        }
        // the upload slot is held until the response, to bound the memory of received bodies
        let (body, _place) = self.receive(route, &page_request, body).await?;
        let caller = page_request.caller;
        let answer = self.run(route, PageRequest { body, ..page_request }).await?;
        self.encode(Arc::new(answer), caller, parts).await
    }

    /// The response to a client, which a worker unpacks if needed.
    async fn encode(
        &self,
        page: Arc<Packed>,
        caller: Caller,
        parts: &Parts,
    ) -> Result<Response, Rejection> {
        if !page.must_unpack(parts) {
            return Ok(page.response(parts));
        }
        let unpacked = self.work(caller, parts.uri.path(), move |_| Ok(page.unpacked())).await?;
        Ok(unpacked.response(parts))
    }

    /// Authorizes a request: adds the token of its secret if the scopes of the route permit it. Returns the store's revision.
    async fn admit(
        &self,
        route: &Route<P>,
        page_request: PageRequest,
    ) -> Result<(PageRequest, Arc<str>), Rejection> {
        let seen = timeout(PATIENCE, self.gate.state(page_request.key.secret())).await;
        let seen = seen.map_err(|_| busy())??;
        let page_request = page_request.admit(route.scopes, self.public_read, seen.token)?;
        Ok((page_request, seen.revision))
    }

    async fn receive(
        &self,
        route: &Route<P>,
        page_request: &PageRequest,
        body: Body,
    ) -> Result<(Bytes, Option<Place>), Rejection> {
        let Some(upload) = route.upload else {
            return Ok((Bytes::new(), None));
        };
        let max = upload.max.min(self.limits.body);
        if http_body::Body::size_hint(&body).lower() > max as u64 {
            return Err(too_long(max));
        }
        let client = page_request.caller.token.unwrap_or(page_request.caller.address);
        let place = timeout(PATIENCE, self.uploads.take(client)).await;
        let place = place.map_err(|_| busy())?;
        let body = receive(body, max, &self.limits).await?;
        Ok((body, Some(place)))
    }

    /// Authorizes a followed request again, and answers it from the current revision.
    pub(crate) async fn ask(
        &self,
        route: &'static Route<P>,
        page_request: PageRequest,
    ) -> Result<PageResponse, Rejection> {
        let (page_request, _) = self.admit(route, page_request).await?;
        let path = page_request.uri.path().to_owned();
        let caller = page_request.caller;
        self.work(caller, &path, move |site| site.answer(route, &page_request)).await
    }

    /// The encoded answer to an admitted request.
    async fn run(
        &self,
        route: &'static Route<P>,
        page_request: PageRequest,
    ) -> Result<Packed, Rejection> {
        let path = page_request.uri.path().to_owned();
        let caller = page_request.caller;
        let job = move |site: &P| site.answer(route, &page_request).map(Packed::new);
        self.work(caller, &path, job).await
    }

    /// Runs a job on a worker. Its caller holds a place and is charged until the end of the job, even after a disconnect.
    async fn work<T: Send + 'static>(
        &self,
        caller: Caller,
        path: &str,
        job: impl FnOnce(&P) -> Result<T, Rejection> + Send + 'static,
    ) -> Result<T, Rejection> {
        let done = timeout(PATIENCE, async {
            let place = self.work.take(caller.address).await;
            let budgets = self.budgets.clone();
            let job = move |site: &P| {
                let _charged = Charged { budgets, caller, start: Instant::now(), _place: place };
                job(site)
            };
            self.workers.run(job).await
        });
        done.await.map_err(|_| busy())?.ok_or_else(|| {
            Rejection::broken(format!("no response to {path}: a bug in Gritstone"))
        })?
    }
}

/// Charges for a job on drop, so also after a panic.
struct Charged {
    budgets: Option<Arc<Budgets>>,
    caller: Caller,
    start: Instant,
    _place: Place,
}

impl Drop for Charged {
    fn drop(&mut self) {
        if let Some(budgets) = &self.budgets {
            budgets.charge(&self.caller, self.start.elapsed(), Instant::now());
        }
    }
}

fn busy() -> Rejection {
    Rejection::new(Status::Busy, "Busy: try again later.")
}
