//! Sends new changes to a webhook, as JSON. Notified events are recorded in the store, so a restarted server repeats none. Events older
//! than the first notification count as notified.

use crate::Options;
use crate::client;
use anyhow::{Context as _, Result, ensure};
use gritstone_document::html::path;
use gritstone_document::{About, Untrusted};
use gritstone_model::{ChangeEvent, Id, SCHEMA_CHANGES, decode_text, escape_json};
use gritstone_runs::context::Context;
use gritstone_store::EntryContent;
use std::collections::BTreeSet;
use std::time::Duration;
use ureq::http::StatusCode;

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
        let count = gritstone_report::new_events(new.len());
        let again = || format!("{count} to be sent again at the next change of the store");
        let status = self.send(&self.message(&new), &new).with_context(again)?;
        // sent again, they would be refused with all later ones
        let refused = is_refusal(status);
        if status.is_success() || refused {
            keep(&entries)?;
        }
        let what = if refused { format!("{count} given up") } else { again() };
        ensure!(status.is_success(), "{what}: {} answers {status}", self.host());
        Ok(())
    }

    fn message(&self, events: &[ChangeEvent]) -> String {
        let line = |event: &ChangeEvent| {
            let link = path(&About::Event(event.id.clone()));
            let sentence = Untrusted(&gritstone_report::event(event)).chat();
            format!("{sentence}\n  {}{link}", self.url)
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

    fn send(&self, text: &str, events: &[ChangeEvent]) -> Result<StatusCode> {
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
        let sent = sent.with_context(|| format!("cannot reach {}", self.host()))?;
        Ok(sent.status())
    }

    /// The host of the address, whose path may be a secret.
    fn host(&self) -> String {
        let uri = self.to.parse::<ureq::http::Uri>().ok();
        let host = uri.and_then(|uri| uri.host().map(str::to_owned));
        host.unwrap_or_default()
    }
}

/// Whether a receiver would refuse the same message again.
fn is_refusal(status: StatusCode) -> bool {
    let is_temporary = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS];
    status.is_client_error() && !is_temporary.contains(&status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digests::Digests;
    use crate::tests::fuzz;
    use gritstone_store::Store;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::path::Path;
    use std::sync::Arc;

    /// A store with a change, and the change.
    fn changed(path: &Path) -> (Context, Vec<ChangeEvent>) {
        let mut store = Store::open(path).unwrap();
        for run in fuzz::runs() {
            store.import(&run).unwrap();
        }
        let digests = Arc::new(Digests::new(path.to_owned(), None));
        let digest = digests.latest("", Duration::from_secs(60)).unwrap();
        assert!(!digest.events.is_empty());
        (Context::new(Some(path.to_owned())), digest.events.clone())
    }

    fn notify(listener: &TcpListener) -> Notify {
        Notify {
            agent: client::agent(None, TIMEOUT).unwrap(),
            to: format!("http://{}/hook", listener.local_addr().unwrap()),
            template: TEMPLATE.to_owned(),
            url: "https://bench.example".to_owned(),
        }
    }

    /// Answers a request with a status.
    fn answer(listener: &TcpListener, status: u16) {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut request, mut part) = (vec![], [0; 4096]);
        loop {
            let count = stream.read(&mut part).unwrap();
            assert!(count > 0, "a whole request");
            request.extend_from_slice(&part[..count]);
            let text = String::from_utf8_lossy(&request);
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = format!("content-length: {}", body.len());
            if head.lines().any(|line| line.eq_ignore_ascii_case(&length)) {
                break;
            }
        }
        let answer =
            format!("HTTP/1.1 {status} x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        stream.write_all(answer.as_bytes()).unwrap();
    }

    /// Whether an event counts as sent after each of these answers.
    fn sent_after<const N: usize>(statuses: [u16; N]) -> [bool; N] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let (context, events) = changed(&path);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let notify = notify(&listener);
        notify.send_new(&context, &[]);
        let is_sent = || {
            let entries = Store::open_read_only(&path).unwrap().change_entries().unwrap();
            entries.iter().any(|entry| entry.event == events[0].id)
        };
        statuses.map(|status| {
            if !is_sent() {
                std::thread::scope(|scope| {
                    scope.spawn(|| answer(&listener, status));
                    notify.send_new(&context, &events);
                });
            }
            is_sent()
        })
    }

    #[test]
    fn failed_messages_are_repeated() {
        assert_eq!(sent_after([500, 503, 408, 429, 200]), [false, false, false, false, true]);
    }

    #[test]
    fn refused_messages_are_given_up() {
        assert_eq!(sent_after([400]), [true]);
    }

    #[test]
    fn names_notify_no_channel() {
        let folder = tempfile::tempdir().unwrap();
        let (_, mut events) = changed(&folder.path().join("store.db"));
        events[0].name = "<!channel> <https://evil|see here> @all".to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let text = notify(&listener).message(&events);
        assert!(text.contains("&lt;!channel&gt; &lt;https://evil|see here&gt;"), "{text}");
        assert!(!text.contains("@all"), "{text}");
    }
}
