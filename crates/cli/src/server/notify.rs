//! Tells of new changes: JSON to a webhook, mail through the `sendmail` of this machine. What was told of is in the store, so that a server that
//! starts again tells of nothing twice, and of what came meanwhile. The first time, what is there already counts as told of.

use crate::command::push;
use crate::ui::args::ServeArgs;
use crate::ui::output::remark;
use anyhow::{Context, Result, bail, ensure};
use gritstone_document::About;
use gritstone_document::html::path;
use gritstone_model::{ChangeEvent, SCHEMA_CHANGES, escape_json};
use gritstone_runs::context::World;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time for a webhook, and for `sendmail` to take a mail.
const PATIENCE: Duration = Duration::from_secs(15);
/// What a message says unless a file says otherwise.
const TEMPLATE: &str = "{count}\n\n{events}\n\n{url}\n";
/// What may stand in braces.
const PLACES: [&str; 3] = ["{count}", "{events}", "{url}"];
/// Stands for all that was there before the first message.
const BEFORE: &str = "";
/// Where `sendmail` is, if it is not in the path of users.
const SBIN: [&str; 2] = ["/usr/sbin", "/usr/lib"];

/// Who is told.
enum To {
    Webhook(ureq::Agent, String),
    Mail(PathBuf, String),
}

/// A way to tell, and what could not be told once.
struct Channel {
    to: To,
    failed: Mutex<BTreeSet<String>>,
}

/// All ways.
pub struct Notify {
    channels: Vec<Channel>,
    template: String,
    /// Where the pages are.
    url: String,
}

impl Notify {
    /// As the command line asks for; `None` where it asks for nothing.
    ///
    /// # Errors
    /// What is wrong with an address or the template.
    pub fn of(args: &ServeArgs, address: &str) -> Result<Option<Self>> {
        let mut to = vec![];
        if let Some(url) = &args.notify_url {
            // all of it may be a secret, and what is said here is in a log
            let uri = url.parse::<ureq::http::Uri>();
            let uri = uri.context("the value of --notify-url is not a URL")?;
            ensure!(
                uri.host().is_some() && matches!(uri.scheme_str(), Some("http" | "https")),
                "the value of --notify-url begins with neither https:// nor http://"
            );
            to.push(To::Webhook(push::agent(None, PATIENCE)?, url.clone()));
        }
        if let Some(mail) = &args.notify_mail {
            let plain = |c: char| c.is_ascii_graphic() && !",;<>\"()\\".contains(c);
            ensure!(
                mail.contains('@') && !mail.starts_with('-') && mail.chars().all(plain),
                "'{mail}' is no address of mail"
            );
            to.push(To::Mail(sendmail()?, mail.clone()));
        }
        if to.is_empty() {
            return Ok(None);
        }
        let template = match &args.notify_template {
            None => TEMPLATE.to_owned(),
            Some(file) => {
                let text = std::fs::read_to_string(file)
                    .with_context(|| format!("cannot read {}", file.display()))?;
                ensure!(
                    text.contains(PLACES[1]),
                    "{} has no {{events}}, where the changes are to stand",
                    file.display()
                );
                text
            }
        };
        let url = args.public_url.as_deref().unwrap_or(address);
        let channel = |to| Channel {
            to,
            failed: Mutex::default(),
        };
        Ok(Some(Self {
            channels: to.into_iter().map(channel).collect(),
            template,
            url: url.trim_end_matches('/').to_owned(),
        }))
    }

    /// Tells of the events that are new.
    pub fn tell(&self, world: &World, events: &[ChangeEvent]) {
        for channel in &self.channels {
            if let Err(why) = self.tell_by(world, channel, events) {
                let name = channel.name();
                remark(&format!("gritstone: {name}: {why:#}"));
            }
        }
    }

    fn tell_by(&self, world: &World, channel: &Channel, events: &[ChangeEvent]) -> Result<()> {
        let Some(reader) = world.reader()? else {
            return Ok(());
        };
        let entries = reader.change_entries()?;
        drop(reader);
        let name = channel.name();
        let told: BTreeSet<&str> = entries
            .iter()
            .filter(|entry| !entry.acknowledges && entry.note == name)
            .map(|entry| entry.event.as_str())
            .collect();
        let acknowledged = |event: &ChangeEvent| {
            let mut entries = entries.iter();
            entries.any(|entry| entry.acknowledges && entry.event == event.id)
        };
        let keep = |ids: &[String]| -> Result<()> {
            let now = gritstone_runs::clock::now();
            Ok(world.writer()?.notified(ids, name, &now)?)
        };
        if !told.contains(BEFORE) {
            let ids = events.iter().map(|event| event.id.clone());
            return keep(
                &[BEFORE.to_owned()]
                    .into_iter()
                    .chain(ids)
                    .collect::<Vec<_>>(),
            );
        }
        let new = events
            .iter()
            .filter(|event| !told.contains(event.id.as_str()) && !acknowledged(event));
        let new: Vec<ChangeEvent> = new.cloned().collect();
        if new.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = new.iter().map(|event| event.id.clone()).collect();
        let sent = channel.send(&self.message(&new), &new, &self.url);
        let mut failed = channel
            .failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Err(why) = sent else {
            failed.clear();
            drop(failed);
            return keep(&ids);
        };
        // each is tried twice
        let (again, given_up): (Vec<String>, Vec<String>) =
            ids.into_iter().partition(|id| !failed.contains(id));
        let what = format!(
            "{} tried again at the next change, {} given up",
            again.len(),
            given_up.len()
        );
        failed.extend(again);
        failed.retain(|id| !given_up.contains(id));
        drop(failed);
        if !given_up.is_empty() {
            keep(&given_up)?;
        }
        Err(why.context(what))
    }

    fn message(&self, events: &[ChangeEvent]) -> String {
        let line = |event: &ChangeEvent| {
            let link = path(&About::Event(event.id.clone()));
            format!("{}\n  {}{link}", gritstone_report::event(event), self.url)
        };
        let lines: Vec<String> = events.iter().map(line).collect();
        let [count, lines, url] = [
            gritstone_report::new_events(events.len()),
            lines.join("\n"),
            format!("{}/changes", self.url),
        ];
        // in one pass: what a name of a system has in braces stays as it is
        let mut text = String::new();
        let mut rest = self.template.as_str();
        while let Some(at) = rest.find('{') {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            let place = PLACES.into_iter().zip([&count, &lines, &url]);
            let mut place = place.filter(|(place, _)| rest.starts_with(place));
            match place.next() {
                Some((place, said)) => {
                    text.push_str(said);
                    rest = &rest[place.len()..];
                }
                None => {
                    text.push('{');
                    rest = &rest[1..];
                }
            }
        }
        text + rest
    }
}

impl Channel {
    fn name(&self) -> &'static str {
        match self.to {
            To::Webhook(..) => "webhook",
            To::Mail(..) => "mail",
        }
    }

    fn send(&self, text: &str, events: &[ChangeEvent], url: &str) -> Result<()> {
        match &self.to {
            To::Webhook(agent, to) => {
                let value = serde_json::json!({
                    "schema": SCHEMA_CHANGES,
                    "text": text,
                    "url": url,
                    "events": events,
                });
                let sent = agent
                    .post(to)
                    .header("Content-Type", "application/json")
                    .send(escape_json(value.to_string()));
                // what is after the host may be a secret
                let host = to.parse::<ureq::http::Uri>().ok();
                let host = host.and_then(|uri| uri.host().map(str::to_owned));
                let host = host.unwrap_or_default();
                let sent = sent.with_context(|| format!("cannot reach {host}"))?;
                let status = sent.status();
                ensure!(status.is_success(), "{host} answers {status}");
                Ok(())
            }
            To::Mail(program, to) => {
                let count = gritstone_report::new_events(events.len());
                mail(program, to, &format!("Gritstone: {count}"), text)
            }
        }
    }
}

/// Hands a mail to `sendmail`, which has the time that it takes to put it in its queue.
fn mail(program: &PathBuf, to: &str, subject: &str, text: &str) -> Result<()> {
    let name = program.display();
    let mut child = Command::new(program)
        .args(["-i", to])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    let message = format!(
        "To: {to}\nSubject: {subject}\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\
         Content-Transfer-Encoding: 8bit\nAuto-Submitted: auto-generated\n\n{text}"
    );
    // one that does not read would keep us: a mail fits into a pipe, or waits in a thread
    let input = child.stdin.take().context("no input")?;
    std::thread::spawn(move || {
        let mut input = input;
        input.write_all(message.as_bytes())
    });
    ensure!(ended(&mut child)?, "{name} did not take the mail");
    Ok(())
}

/// Whether a child ends well in time; it is killed else.
fn ended(child: &mut Child) -> Result<bool> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    child.wait()?;
    Ok(false)
}

/// The program that takes mail.
fn sendmail() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(SBIN.map(PathBuf::from));
    let mut programs = folders.map(|folder| folder.join("sendmail"));
    match programs.find(|program| program.is_file()) {
        Some(program) => Ok(program),
        None => bail!("mail needs the program sendmail: apt-get install msmtp-mta, or postfix"),
    }
}
