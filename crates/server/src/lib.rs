//! A store in the browser, and the store of a team: pages, an API with tokens, notifications.

pub mod client;
mod digests;
pub mod http;
mod notify;
mod pages;
pub mod static_site;
mod system_comparison;
#[cfg(test)]
mod tests;

use anyhow::{Context as _, Result, ensure};
use digests::Digests;
use gritstone_document::html;
use gritstone_model::FleetProgress;
use gritstone_runs::context::Context;
use gritstone_store::{Scope, Store, Token};
use http::{Budget, Config, Gives, Limits, Policy, Tls, View};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use notify::Notify;
use pages::{DRAW, Pages, ROUTES};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Budget of a client on addresses other than loopback: half of one of two threads.
const BUDGET: Budget = Budget { per_second: 0.5, burst: 10.0 };
/// Connections of an address if the server listens on addresses other than loopback.
const CONNECTIONS_EACH: usize = 64;
/// Open files reserved for the store and the answers.
const FILES: u64 = 64;
/// Interval of checks for changes that need notifications.
const WATCH: Duration = Duration::from_secs(5);

/// Looks up the progress of the newest fleet run.
pub type FollowFleet = fn(&Context, Option<&Store>) -> Result<Option<FleetProgress>>;

/// Names of the schemas of all JSON, with the types of what no command prints.
pub fn views() -> impl Iterator<Item = (&'static str, Option<View>)> {
    ROUTES.iter().filter_map(|route| match route.gives {
        Gives::Page(schema) | Gives::Json(schema) => Some((schema, route.view)),
        _ => None,
    })
}

/// How a store is served.
#[derive(Clone, Debug)]
pub struct Options {
    pub listen: SocketAddr,
    /// Opens the first page in the browser.
    pub open: bool,
    /// Allows reads without a token on other addresses than loopback.
    pub open_reads: bool,
    /// TLS is terminated by a reverse proxy.
    pub behind_proxy: bool,
    pub tls_cert: Option<PathBuf>,
    pub tls_key: Option<PathBuf>,
    /// Webhook for new changes.
    pub notify_url: Option<String>,
    pub notify_template: Option<PathBuf>,
    /// Address of the pages in notifications.
    pub public_url: Option<String>,
    pub follow_fleet: FollowFleet,
}

/// Serves the store until `stop` becomes readable; `ready` is called with the address of the pages.
///
/// # Errors
/// When the options contradict each other, or the address cannot be listened on.
pub fn serve(
    context: &Context,
    options: &Options,
    stop: UnixStream,
    ready: impl FnOnce(&str) -> Result<()>,
) -> Result<()> {
    let public = !options.listen.ip().is_loopback() || options.behind_proxy;
    let store = context.store_path()?;
    // reports an unreadable store before the first request
    let reader = context.reader()?;
    let seen = Arc::new(AtomicBool::new(reader.is_some()));
    let tokens = match reader {
        Some(reader) => reader.tokens()?,
        None => vec![],
    };
    let public_read = !public || options.open_reads;
    check_tokens(options, public_read, &tokens)?;
    let tls = encryption(options, public)?;
    let listener = TcpListener::bind(options.listen)
        .with_context(|| format!("cannot listen on {}", options.listen))?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let address = format!("{scheme}://{}/", listener.local_addr()?);
    let notify = Notify::from_options(options, &address)?;
    let watched = notify.is_some();
    let digests = Arc::new(Digests::new(store.clone(), notify));
    if watched {
        watch(store.clone(), Arc::clone(&digests))?;
    }
    let follow_fleet = options.follow_fleet;
    let make = Arc::new(move || {
        Pages::new(
            Context::new(Some(store.clone())).serving(),
            Arc::clone(&digests),
            follow_fleet,
            Arc::clone(&seen),
        )
    });
    let log = Arc::new(|text: &str| log::warn!("gritstone: {text}"));
    ready(&address)?;
    if options.open {
        open(&address);
    }
    let (style, scripts) = html::inline();
    let config = Config {
        routes: ROUTES,
        public_read,
        limits: limits(public, options.behind_proxy),
        policy: Policy::new(!public, &style, &scripts).behind_proxy(options.behind_proxy),
        tls,
        make,
        draw: DRAW,
        log,
    };
    http::serve(listener, stop, config).context("cannot serve")?;
    Ok(())
}

/// Warns of damaged tokens. Fails if everyone needs a token to read, and there is none.
fn check_tokens(options: &Options, public_read: bool, tokens: &[Token]) -> Result<()> {
    for damage in tokens.iter().filter_map(|token| token.damage.as_ref()) {
        log::warn!("gritstone: {damage}");
    }
    let reads = |token: &Token| token.revoked.is_none() && token.scopes.contains(&Scope::Read);
    ensure!(
        public_read || tokens.iter().any(reads),
        "{} is reachable from other machines{}: create a token for reading (`gritstone token create NAME --scope read`), \
         or let everyone read everything with --open-reads",
        options.listen,
        if options.behind_proxy { " through the proxy" } else { "" }
    );
    Ok(())
}

/// Computes the digest after each change of the store, even without requests, until the process ends.
fn watch(store: PathBuf, digests: Arc<Digests>) -> Result<()> {
    let look = move |context: &Context| -> Result<()> {
        // a missing store has no changes
        if let Some(store) = context.reader()? {
            digests.latest(&store.revision()?, Duration::ZERO);
        }
        Ok(())
    };
    let watch = move || {
        let context = Context::new(Some(store)).serving();
        loop {
            if let Err(why) = look(&context) {
                log::warn!("gritstone: {why:#}");
            }
            std::thread::sleep(WATCH);
        }
    };
    let thread = std::thread::Builder::new().name("watch".to_owned());
    thread.spawn(watch).context("cannot start a thread")?;
    Ok(())
}

/// Limits for clients. Loopback has no budget, and the limit per address does not apply to a proxy.
fn limits(public: bool, behind_proxy: bool) -> Limits {
    let all = Limits::default();
    let connections = open_files().map_or(all.connections, |files| {
        // reserves descriptors for the store
        let left = files - FILES.min(files / 2);
        all.connections.min(usize::try_from(left).unwrap_or(usize::MAX))
    });
    if connections < all.connections {
        log::warn!(
            "gritstone: at most {connections} connections at once, for there may be few open files (ulimit -n)"
        );
    }
    let (connections_each, threads_each) = match (public, behind_proxy) {
        (false, _) => (connections, all.threads),
        (true, false) => (CONNECTIONS_EACH, all.threads - 1),
        (true, true) => (connections, all.threads - 1),
    };
    Limits { connections, connections_each, threads_each, budget: public.then_some(BUDGET), ..all }
}

/// Limit of open files, after raising it to the maximum.
fn open_files() -> Option<u64> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    match setrlimit(Resource::RLIMIT_NOFILE, hard, hard) {
        Ok(()) => Some(hard),
        Err(_) => Some(soft),
    }
}

/// TLS, if configured. Fails if other users can read the key, or if connections of other machines would be unencrypted.
fn encryption(options: &Options, public: bool) -> Result<Option<Tls>> {
    let (Some(certificate), Some(key)) = (&options.tls_cert, &options.tls_key) else {
        ensure!(
            !public || options.behind_proxy,
            "{} is reachable from other machines, and connections would be unencrypted: name a certificate with --tls-cert \
             and --tls-key, or put a proxy with TLS before it and say --behind-proxy",
            options.listen
        );
        return Ok(None);
    };
    let open = std::fs::metadata(key).with_context(|| format!("cannot read {}", key.display()))?;
    ensure!(open.mode() & 0o007 == 0, "{} can be read by everybody: chmod 600 it", key.display());
    let tls = Tls::from_files(certificate, key).map_err(anyhow::Error::msg)?;
    Ok(Some(tls))
}

/// Opens a page in the browser of the desktop; errors are ignored.
fn open(address: &str) {
    let quiet = || Stdio::null();
    let started = Command::new("xdg-open")
        .arg(address)
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet())
        .spawn();
    match started {
        // waits for the child, so that no zombie stays
        Ok(mut browser) => drop(std::thread::spawn(move || browser.wait())),
        Err(why) => log::warn!("cannot start xdg-open: {why}; open {address}"),
    }
}
