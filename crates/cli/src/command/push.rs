//! `gritstone push`, `gritstone pull` and `gritstone sync`: runs to and from the store of a server.

use crate::ui::candidates;
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use gritstone_model::{ListedRun, RunData, RunList, decode_text};
use gritstone_runs::context::Context;
use gritstone_runs::listing::listed;
use gritstone_store::{Store, UploadOutcome};
use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use ureq::Agent;
use ureq::http::{StatusCode, Uri};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone push --to https://bench.example --token-file ~/.config/gritstone/token
  gritstone push last --to http://127.0.0.1:8484")]
pub struct PushArgs {
    /// Runs [default: all that have ended and that the server does not have]
    #[arg(value_name = "RUN", add = candidates::runs())]
    pub runs: Vec<String>,
    /// The server: https (http only on this machine)
    #[arg(long, value_name = "URL")]
    pub to: String,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone pull --from https://bench.example --token-file ~/.config/gritstone/token")]
pub struct PullArgs {
    /// Runs, by their whole identifiers [default: all that are not in this store]
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// The server: https (http only on this machine)
    #[arg(long, value_name = "URL")]
    pub from: String,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone sync https://bench.example --token-file ~/.config/gritstone/token")]
pub struct SyncArgs {
    /// The server: https (http only on this machine)
    #[arg(value_name = "URL")]
    pub with: String,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Access to a server.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// File with the token, which only its user can read [default: $GRITSTONE_TOKEN]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Certificates that are trusted, as PEM [default: $SSL_CERT_FILE, else those of the system]
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
}

/// Time limit of a request.
const WHOLE: Duration = Duration::from_secs(120);
/// Attempts at a busy server, and the longest wait between them.
const TRIES: usize = 10;
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// Most bytes of a file with a token.
const LONGEST_TOKEN: u64 = 4096;
/// zstd level of uploaded bundles.
const PACKED: i32 = 3;

/// A server, and the client with its credential.
struct Server {
    agent: Agent,
    runs: String,
    token: Option<String>,
}

/// `gritstone push`.
pub fn push(context: &Context, args: &PushArgs) -> Result<Exit> {
    let server = Server::new(&args.to, &args.server)?;
    let store = context
        .reader()?
        .context("no run is stored yet: `gritstone run --quick` makes one")?;
    let known = identifiers(server.list()?);
    let ids: Vec<String> = match args.runs.as_slice() {
        [] => lacking(runs(&store)?, &known),
        names => {
            let ids = names.iter().map(|name| context.resolve(&store, name));
            ids.collect::<Result<_>>()?
        }
    };
    for id in &ids {
        match send(&server, &store, id) {
            Err(why) if args.runs.is_empty() && is_gone(&why) => {
                output::remark(&format!("{why:#}"))
            }
            sent => {
                sent?;
                output::plain(&format!("{id}\n"))?;
            }
        }
    }
    if ids.is_empty() {
        output::remark(&format!("{} has all runs of this store", args.to));
    }
    Ok(Exit::Done)
}

/// `gritstone pull`.
pub fn pull(context: &Context, args: &PullArgs) -> Result<Exit> {
    let server = Server::new(&args.from, &args.server)?;
    let mut store = context.writer()?;
    let here: BTreeSet<String> = identifiers(runs(&store)?);
    let mut ids = match args.runs.as_slice() {
        [] => lacking(server.list()?, &here),
        ids => ids.to_vec(),
    };
    ids.retain(|id| !here.contains(id));
    for id in &ids {
        fetch(&server, &mut store, id)?;
        output::plain(&format!("{id}\n"))?;
    }
    if ids.is_empty() {
        output::remark("the store already has all of these runs");
    }
    Ok(Exit::Done)
}

/// `gritstone sync`.
pub fn sync(context: &Context, args: &SyncArgs) -> Result<Exit> {
    let server = Server::new(&args.with, &args.server)?;
    let mut store = context.writer()?;
    let (theirs, ours) = (server.list()?, runs(&store)?);
    let (known, here) = (identifiers(theirs.clone()), identifiers(ours.clone()));
    let mut none = true;
    for id in lacking(ours, &known) {
        match send(&server, &store, &id) {
            Err(why) if is_gone(&why) => output::remark(&format!("{why:#}")),
            sent => {
                sent?;
                output::plain(&format!("sent {id}\n"))?;
            }
        }
        none = false;
    }
    for id in lacking(theirs, &here) {
        fetch(&server, &mut store, &id)?;
        output::plain(&format!("fetched {id}\n"))?;
        none = false;
    }
    if none {
        output::remark("both stores have the same runs");
    }
    Ok(Exit::Done)
}

/// Ended runs that another store lacks. Pruned runs are left out.
fn lacking(runs: Vec<ListedRun>, known: &BTreeSet<String>) -> Vec<String> {
    let ended = runs.into_iter().filter(|run| run.elapsed_s.is_some());
    let new = ended.filter(|run| !known.contains(&run.id));
    let (pruned, whole): (Vec<ListedRun>, Vec<ListedRun>) =
        new.partition(|run| run.pruned.is_some());
    if !pruned.is_empty() {
        output::remark(&format!(
            "left out, since the raw samples were pruned: {}",
            gritstone_report::plural(pruned.len(), "run")
        ));
    }
    identifiers(whole)
}

/// The runs of a store, oldest first.
fn runs(store: &Store) -> Result<Vec<ListedRun>> {
    Ok(store.runs()?.into_iter().map(listed).collect())
}

fn identifiers<C: FromIterator<String>>(runs: Vec<ListedRun>) -> C {
    runs.into_iter().map(|run| run.id).collect()
}

fn send(server: &Server, store: &Store, id: &str) -> Result<()> {
    let run = store.load(id)?;
    ensure!(
        run.info.elapsed_s.is_some(),
        "run {id} has not ended: finish it with `gritstone run --resume`, then push it"
    );
    server.send(&run).with_context(|| format!("run {id}"))
}

fn fetch(server: &Server, store: &mut Store, id: &str) -> Result<()> {
    let run = server.fetch(id).with_context(|| format!("run {id}"))?;
    ensure!(
        run.info.id == *id,
        "run {id}: the server sent run {}",
        run.info.id
    );
    ensure!(
        run.info.elapsed_s.is_some(),
        "run {id} has not ended: pull it afterwards"
    );
    match store.import_once(&run)? {
        UploadOutcome::Created | UploadOutcome::Unchanged => Ok(()),
        UploadOutcome::Conflict => bail!("another run {id} is in this store already"),
    }
}

impl Server {
    fn new(url: &str, args: &ServerArgs) -> Result<Self> {
        let uri: Uri = url.parse().with_context(|| format!("'{url}' is no URL"))?;
        let host = uri
            .host()
            .with_context(|| format!("'{url}' names no host"))?;
        let local = ["localhost", "127.0.0.1", "[::1]", "::1"].contains(&host);
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if local => {}
            Some("http") => bail!(
                "{url}: token and runs would be sent unencrypted; use https, or a tunnel to 127.0.0.1"
            ),
            _ => bail!("'{url}' begins with neither https:// nor http://"),
        }
        let variable = std::env::var("GRITSTONE_TOKEN").ok();
        let token = match &args.token_file {
            Some(path) => Some(token_of(path)?),
            None => variable.filter(|token| !token.is_empty()),
        };
        Ok(Self {
            agent: gritstone_server::client::agent(args.ca_file.as_deref(), WHOLE)?,
            runs: format!("{}/api/v1/runs", url.trim_end_matches('/')),
            token,
        })
    }

    fn authorization(&self) -> String {
        let token = self.token.as_deref();
        token.map_or_else(String::new, |token| format!("Bearer {token}"))
    }

    /// Runs of the server, oldest first.
    fn list(&self) -> Result<Vec<ListedRun>> {
        let list: RunList = serde_json::from_str(&self.get(&self.runs)?)
            .with_context(|| format!("{} is not a list of runs", self.runs))?;
        Ok(list.runs.into_iter().rev().collect())
    }

    fn fetch(&self, id: &str) -> Result<RunData> {
        let id = gritstone_document::html::encoded(id);
        let bundle = self.get(&format!("{}/{id}", self.runs))?;
        Ok(gritstone_exchange::read_bundle(bundle.as_bytes())?)
    }

    fn get(&self, url: &str) -> Result<String> {
        response_text(url, || {
            let request = self.agent.get(url);
            request.header("Authorization", self.authorization()).call()
        })
    }

    fn send(&self, run: &RunData) -> Result<()> {
        let bundle = gritstone_exchange::write_bundle(run);
        let packed = zstd::encode_all(bundle.as_bytes(), PACKED)?;
        let sent = response_text(&self.runs, || {
            let request = self.agent.post(&self.runs);
            let request = request
                .header("Authorization", self.authorization())
                .header("Content-Type", "application/zstd");
            request.send(&packed[..])
        });
        sent.map(drop)
    }
}

/// Error response of a server.
#[derive(Debug)]
struct Refusal {
    status: StatusCode,
    text: String,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Refusal {}

/// Whether a server refuses a run that was removed there.
fn is_gone(why: &anyhow::Error) -> bool {
    let refusal = why.downcast_ref::<Refusal>();
    refusal.is_some_and(|refusal| refusal.status == StatusCode::GONE)
}

type Response = ureq::http::Response<ureq::Body>;

/// The text of a response; retries while the server is busy.
fn response_text(url: &str, ask: impl Fn() -> Result<Response, ureq::Error>) -> Result<String> {
    let again = |response: &Response| [429, 503].contains(&response.status().as_u16());
    let mut response = ask().with_context(|| format!("cannot reach {url}"))?;
    for _ in 0..TRIES {
        if !again(&response) {
            break;
        }
        let after = response.headers().get("Retry-After");
        let after = after.and_then(|value| value.to_str().ok()?.parse().ok());
        std::thread::sleep(Duration::from_secs(after.unwrap_or(1)).min(LONGEST_WAIT));
        response = ask().with_context(|| format!("cannot reach {url}"))?;
    }
    let status = response.status();
    let body = response
        .body_mut()
        .with_config()
        .limit(gritstone_exchange::limits::UNPACKED);
    let text = body
        .read_to_string()
        .with_context(|| format!("cannot read {url}"))?;
    if status.is_success() {
        return Ok(text);
    }
    let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let line = text.lines().next().filter(|line| !line.is_empty());
    let why = value["error"]
        .as_str()
        .or(line)
        .unwrap_or("it says no more");
    let text = format!("{url} refused: {status}: {why}");
    Err(Refusal { status, text }.into())
}

/// The first line of a file that only its owner can read.
fn token_of(path: &Path) -> Result<String> {
    use std::os::unix::fs::MetadataExt;
    let open =
        std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(
        open.mode() & 0o077 == 0,
        "{} can be read by others: chmod 600 it",
        path.display()
    );
    let file = std::fs::File::open(path);
    let mut bytes = vec![];
    let read = file.and_then(|file| file.take(LONGEST_TOKEN).read_to_end(&mut bytes));
    read.with_context(|| format!("cannot read {}", path.display()))?;
    let text = decode_text(bytes).with_context(|| path.display().to_string())?;
    Ok(text.lines().next().unwrap_or("").trim().to_owned())
}
