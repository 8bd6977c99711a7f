//! `gritstone push`, `gritstone pull` and `gritstone sync`: runs to and from the store of a server.

use crate::ui::candidates;
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use gritstone_model::{ListedRun, RunData, RunList, decode_text, plain_address};
use gritstone_runs::context::Context;
use gritstone_runs::listing::listed;
use gritstone_store::{Store, StoreError, UploadOutcome};
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
/// Media type of error responses.
const JSON: &str = "application/json";
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
    let store =
        context.reader()?.context("no run is stored yet: `gritstone run --quick` makes one")?;
    let known = identifiers(server.list()?);
    let ids: Vec<String> = match args.runs.as_slice() {
        [] => lacking(runs(&store)?, &known),
        names => {
            let ids = names.iter().map(|name| context.resolve(&store, name));
            ids.collect::<Result<_>>()?
        }
    };
    let mut transfer = Transfer { tolerates_removed: args.runs.is_empty(), ..Transfer::default() };
    transfer.each(&ids, "", |id| send(&server, &store, id))?;
    if ids.is_empty() {
        let url = plain_address(&args.to);
        output::remark(&format!("{url} has all runs of this store"));
    }
    transfer.end()
}

/// `gritstone pull`.
pub fn pull(context: &Context, args: &PullArgs) -> Result<Exit> {
    let server = Server::new(&args.from, &args.server)?;
    let mut store = context.writer()?;
    let here: BTreeSet<String> = identifiers(runs(&store)?);
    let mut ids = match args.runs.as_slice() {
        [] => without_removed(&store, lacking(server.list()?, &here), &args.from)?,
        ids => ids.to_vec(),
    };
    ids.retain(|id| !here.contains(id));
    let mut transfer = Transfer::default();
    transfer.each(&ids, "", |id| fetch(&server, &mut store, id))?;
    if ids.is_empty() {
        output::remark("the store already has all of these runs");
    }
    transfer.end()
}

/// `gritstone sync`.
pub fn sync(context: &Context, args: &SyncArgs) -> Result<Exit> {
    let server = Server::new(&args.with, &args.server)?;
    let mut store = context.writer()?;
    let (theirs, ours) = (server.list()?, runs(&store)?);
    let (known, here) = (identifiers(theirs.clone()), identifiers(ours.clone()));
    let ours = lacking(ours, &known);
    let theirs = lacking(theirs, &here);
    if ours.is_empty() && theirs.is_empty() {
        output::remark("both stores have the same runs");
    }
    let theirs = without_removed(&store, theirs, &args.with)?;
    let mut transfer = Transfer { tolerates_removed: true, ..Transfer::default() };
    let sent = transfer.each(&ours, "sent ", |id| send(&server, &store, id));
    transfer.each(&theirs, "fetched ", |id| fetch(&server, &mut store, id))?;
    sent?;
    transfer.end()
}

/// Transfers runs one by one.
#[derive(Default)]
struct Transfer {
    /// Whether runs may have been removed by the receiver.
    tolerates_removed: bool,
    runs: usize,
    failed: Vec<(String, anyhow::Error)>,
}

impl Transfer {
    /// Transfers the rest where a single run is refused or damaged.
    ///
    /// # Errors
    /// A failure that all others would have, too.
    fn each(
        &mut self,
        ids: &[String],
        done: &str,
        mut transfer: impl FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        for id in ids {
            self.runs += 1;
            match transfer(id) {
                Ok(()) => output::plain(&format!("{done}{id}\n"))?,
                Err(why) if self.tolerates_removed && is_gone(&why) => {
                    output::remark(&format!("{why:#}"));
                }
                Err(why) if is_general(&why) => return Err(why),
                Err(why) => self.failed.push((id.clone(), why)),
            }
        }
        Ok(())
    }

    /// # Errors
    /// When a run failed.
    fn end(mut self) -> Result<Exit> {
        if self.runs == 1
            && let Some((_, why)) = self.failed.pop()
        {
            return Err(why);
        }
        for (_, why) in &self.failed {
            output::remark(&format!("{why:#}"));
        }
        let ids: Vec<&str> = self.failed.iter().map(|(id, _)| id.as_str()).collect();
        ensure!(
            ids.is_empty(),
            "{} of {} runs not transferred: {}",
            ids.len(),
            self.runs,
            ids.join(", ")
        );
        Ok(Exit::Done)
    }
}

/// Leaves out runs that were removed from this store.
fn without_removed(store: &Store, ids: Vec<String>, url: &str) -> Result<Vec<String>> {
    let removed = store.removed()?;
    let (removed, rest): (Vec<String>, Vec<String>) =
        ids.into_iter().partition(|id| removed.contains(id));
    if let Some(id) = removed.first() {
        output::remark(&format!(
            "left out, since they were removed from this store: {} (`gritstone pull --from {} {id}` takes one again)",
            gritstone_report::plural(removed.len(), "run"),
            plain_address(url)
        ));
    }
    Ok(rest)
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
    let run = store.load(id).with_context(|| format!("run {id}"))?;
    ensure!(
        run.info.elapsed_s.is_some(),
        "run {id} has not ended: finish it with `gritstone run --resume`, then push it"
    );
    server.send(&run).with_context(|| format!("run {id}"))
}

fn fetch(server: &Server, store: &mut Store, id: &str) -> Result<()> {
    let run = server.fetch(id).with_context(|| format!("run {id}"))?;
    ensure!(run.info.id == *id, "run {id}: the server sent run {}", run.info.id);
    ensure!(run.info.elapsed_s.is_some(), "run {id} has not ended: pull it afterwards");
    match store.import_once(&run).with_context(|| format!("run {id}"))? {
        UploadOutcome::Created | UploadOutcome::Unchanged => Ok(()),
        UploadOutcome::Conflict => bail!("another run {id} is in this store already"),
    }
}

impl Server {
    fn new(url: &str, args: &ServerArgs) -> Result<Self> {
        let shown = plain_address(url);
        let uri: Uri = url.parse().with_context(|| format!("'{shown}' is not a URL"))?;
        let host = uri.host().with_context(|| format!("'{shown}' names no host"))?;
        let local = ["localhost", "127.0.0.1", "[::1]", "::1"].contains(&host);
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if local => {}
            Some("http") => bail!(
                "{shown}: token and runs would be sent unencrypted; use https, or a tunnel to 127.0.0.1"
            ),
            _ => bail!("'{shown}' begins with neither https:// nor http://"),
        }
        let variable = std::env::var("GRITSTONE_TOKEN").ok();
        let token = match &args.token_file {
            Some(path) => Some(token_of(path)?),
            None => variable.filter(|token| !token.is_empty()),
        };
        ensure!(
            token.iter().flat_map(|token| token.bytes()).all(|byte| byte.is_ascii_graphic()),
            "the token has other letters than `gritstone token create` gives"
        );
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
            .with_context(|| format!("{} is not a list of runs", plain_address(&self.runs)))?;
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
            request.header("Authorization", self.authorization()).header("Accept", JSON).call()
        })
    }

    fn send(&self, run: &RunData) -> Result<()> {
        let bundle = gritstone_exchange::write_bundle(run);
        let packed = zstd::encode_all(bundle.as_bytes(), PACKED)?;
        let sent = response_text(&self.runs, || {
            let request = self.agent.post(&self.runs);
            let request = request
                .header("Authorization", self.authorization())
                .header("Accept", JSON)
                .header("Content-Type", "application/zstd");
            request.send(&packed[..])
        });
        sent.map(drop)
    }
}

/// Error response of a server.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
struct Refusal {
    status: StatusCode,
    text: String,
}

/// Whether a server refuses a run that was removed there.
fn is_gone(why: &anyhow::Error) -> bool {
    let refusal = why.downcast_ref::<Refusal>();
    refusal.is_some_and(|refusal| refusal.status == StatusCode::GONE)
}

/// Whether other runs would fail for the same reason: the server cannot be reached or is busy, the token has no right, a store is full.
fn is_general(why: &anyhow::Error) -> bool {
    if let Some(refusal) = why.downcast_ref::<Refusal>() {
        return [401, 403, 429, 503, 507].contains(&refusal.status.as_u16());
    }
    if let Some(error) = why.downcast_ref::<StoreError>() {
        return !error.is_of_one_run();
    }
    let mut causes = why.chain().filter_map(|cause| cause.downcast_ref::<ureq::Error>());
    causes.any(|error| !is_slow(error))
}

/// Whether a server was reached, and one run took too long.
fn is_slow(error: &ureq::Error) -> bool {
    use ureq::Timeout::{Connect, Resolve};
    matches!(error, ureq::Error::Timeout(stage) if !matches!(stage, Connect | Resolve))
}

type Response = ureq::http::Response<ureq::Body>;

/// The text of a response; retries while the server is busy.
fn response_text(url: &str, ask: impl Fn() -> Result<Response, ureq::Error>) -> Result<String> {
    let url = plain_address(url);
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
    let body = response.body_mut().with_config().limit(gritstone_exchange::limits::UNPACKED);
    let text = body.read_to_string().with_context(|| format!("cannot read {url}"))?;
    if status.is_success() {
        return Ok(text);
    }
    let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    // a proxy may answer with a page
    let line = text.lines().next().filter(|line| !line.is_empty() && !line.starts_with('<'));
    let why = value["error"].as_str().or(line).unwrap_or("it says no more");
    let text = format!("{url} refused: {status}: {why}");
    Err(Refusal { status, text }.into())
}

/// The first line of a file that only its owner can read.
fn token_of(path: &Path) -> Result<String> {
    use std::os::unix::fs::MetadataExt;
    let open =
        std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(open.mode() & 0o077 == 0, "{} can be read by others: chmod 600 it", path.display());
    let file = std::fs::File::open(path);
    let mut bytes = vec![];
    let read = file.and_then(|file| file.take(LONGEST_TOKEN).read_to_end(&mut bytes));
    read.with_context(|| format!("cannot read {}", path.display()))?;
    let text = decode_text(bytes).with_context(|| path.display().to_string())?;
    Ok(text.lines().next().unwrap_or("").trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ureq::Timeout;

    #[test]
    fn slow_runs_stop_no_others() {
        let stops = |error: ureq::Error| is_general(&anyhow::Error::from(error).context("run x"));
        assert!(!stops(ureq::Error::Timeout(Timeout::Global)));
        assert!(stops(ureq::Error::Timeout(Timeout::Connect)));
        assert!(stops(ureq::Error::HostNotFound));
    }
}
