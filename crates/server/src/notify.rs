//! Sends new changes to a webhook, as JSON. Notified events are recorded in the store, so a restarted server repeats none. Events older
//! than the first notification count as notified.

use crate::Options;
use crate::client;
use anyhow::{Context as _, Result, ensure};
use gritstone_document::About;
use gritstone_document::html::path;
use gritstone_model::{ChangeEvent, Id, SCHEMA_CHANGES, decode_text, escape_json};
use gritstone_runs::context::Context;
use gritstone_store::EntryContent;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Time for a webhook.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Default text of a message.
const TEMPLATE: &str = "{count}\n\n{events}\n\n{url}\n";
/// Placeholders of a template.
const PLACEHOLDERS: [&str; 3] = ["{count}", "{events}", "{url}"];
/// Channel name that marks events older than the first notification.
const BASELINE_MARK: &str = "";

/// Name of the webhook in the store.
const NAME: &str = "webhook";

/// A webhook.
pub struct Notify {
    agent: ureq::Agent,
    to: String,
    /// Events whose first delivery failed.
    failed: Mutex<BTreeSet<String>>,
    template: String,
    /// Address of the pages.
    url: String,
}

impl Notify {
    /// From the command line; `None` without a webhook.
    ///
    /// # Errors
    /// When an address or the template is invalid.
    pub fn from_options(options: &Options, address: &str) -> Result<Option<Self>> {
        let Some(to) = &options.notify_url else {
            return Ok(None);
        };
        // the whole URL may be a secret, and messages go to a log
        let uri = to.parse::<ureq::http::Uri>();
        let uri = uri.context("the address of notifications is not a URL")?;
        ensure!(
            uri.host().is_some() && matches!(uri.scheme_str(), Some("http" | "https")),
            "the address of notifications begins with neither https:// nor http://"
        );
        let template = match &options.notify_template {
            None => TEMPLATE.to_owned(),
            Some(file) => {
                let bytes = std::fs::read(file)
                    .with_context(|| format!("cannot read {}", file.display()))?;
                let text = decode_text(bytes).with_context(|| file.display().to_string())?;
                ensure!(
                    text.contains(PLACEHOLDERS[1]),
                    "{} has no {{events}}, where the changes are to stand",
                    file.display()
                );
                text
            }
        };
        let url = options.public_url.as_deref().unwrap_or(address);
        Ok(Some(Self {
            agent: client::agent(None, TIMEOUT)?,
            to: to.clone(),
            failed: Mutex::default(),
            template,
            url: url.trim_end_matches('/').to_owned(),
        }))
    }

    /// Sends new events; a failure is a warning.
    pub fn send_new(&self, context: &Context, events: &[ChangeEvent]) {
        if let Err(why) = self.try_send_new(context, events) {
            log::warn!("gritstone: {NAME}: {why:#}");
        }
    }

    fn try_send_new(&self, context: &Context, events: &[ChangeEvent]) -> Result<()> {
        let Some(reader) = context.reader()? else {
            return Ok(());
        };
        let entries = reader.change_entries()?;
        drop(reader);
        let notified: BTreeSet<&str> = entries
            .iter()
            .filter(
                |entry| matches!(&entry.content, EntryContent::Notified { channel, .. } if channel == NAME),
            )
            .map(|entry| entry.event.as_str())
            .collect();
        let is_known = |event: &ChangeEvent| {
            let mut entries = entries.iter();
            entries.any(|entry| {
                matches!(entry.content, EntryContent::Triage(_)) && entry.event == event.id
            })
        };
        let keep = |sent: &[(String, Vec<Id>)]| -> Result<()> {
            let now = gritstone_runs::clock::now();
            Ok(context.writer()?.notified(sent, NAME, &now)?)
        };
        let entry = |event: &ChangeEvent| (event.id.clone(), event.benchmarks().collect());
        if !notified.contains(BASELINE_MARK) {
            let mark = (BASELINE_MARK.to_owned(), vec![]);
            return keep(&[mark].into_iter().chain(events.iter().map(entry)).collect::<Vec<_>>());
        }
        let new =
            events.iter().filter(|event| !notified.contains(event.id.as_str()) && !is_known(event));
        let new: Vec<ChangeEvent> = new.cloned().collect();
        if new.is_empty() {
            return Ok(());
        }
        let entries: Vec<(String, Vec<Id>)> = new.iter().map(entry).collect();
        let sent = self.send(&self.message(&new), &new);
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let Err(why) = sent else {
            failed.clear();
            drop(failed);
            return keep(&entries);
        };
        // each event is sent at most twice
        let (again, given_up): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|(id, _)| !failed.contains(id));
        let what =
            format!("{} tried again at the next change, {} given up", again.len(), given_up.len());
        failed.extend(again.into_iter().map(|(id, _)| id));
        failed.retain(|id| !given_up.iter().any(|(event, _)| event == id));
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
        // in one pass, so that braces in names of systems stay
        let mut parts = self.template.split('{');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let mut places = PLACEHOLDERS.into_iter().zip([count.as_str(), &lines, &url]);
            match places.find_map(|(place, value)| Some((value, part.strip_prefix(&place[1..])?))) {
                Some((value, rest)) => text.extend([value, rest]),
                None => text.extend(["{", part]),
            }
        }
        text
    }

    fn send(&self, text: &str, events: &[ChangeEvent]) -> Result<()> {
        let value = serde_json::json!({
            "schema": SCHEMA_CHANGES,
            "text": text,
            "url": self.url,
            "events": events,
        });
        let sent = self
            .agent
            .post(&self.to)
            .header("Content-Type", "application/json")
            .send(escape_json(value.to_string()));
        // the path may be a secret
        let host = self.to.parse::<ureq::http::Uri>().ok();
        let host = host.and_then(|uri| uri.host().map(str::to_owned));
        let host = host.unwrap_or_default();
        let sent = sent.with_context(|| format!("cannot reach {host}"))?;
        let status = sent.status();
        ensure!(status.is_success(), "{host} answers {status}");
        Ok(())
    }
}
