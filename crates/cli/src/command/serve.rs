//! `gritstone serve`: the store in the browser.

use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use gritstone_runs::context::Context;
use gritstone_server::Options;
use gritstone_session::signals;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone serve --open
  gritstone serve --listen 127.0.0.1:9000")]
pub struct ServeArgs {
    /// Address and port; port 0 takes any that is free
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8484")]
    pub listen: std::net::SocketAddr,
    /// Open the first page in the browser
    #[arg(long)]
    pub open: bool,
    /// Let everyone read who reaches an address other than this machine's own
    #[arg(long)]
    pub open_reads: bool,
    /// A proxy with TLS stands before it; this or a certificate is required with an address other than this machine's own
    #[arg(long)]
    pub behind_proxy: bool,
    /// Certificate of the server and those between it and its root, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Its key, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Send new changes to this URL, as JSON [default: $GRITSTONE_NOTIFY_URL]
    #[arg(long, value_name = "URL", help_heading = "Notifications")]
    pub notify_url: Option<String>,
    /// What a notification says, with {count}, {events} and {url}
    #[arg(long, value_name = "FILE", help_heading = "Notifications")]
    pub notify_template: Option<PathBuf>,
    /// Address of the pages in notifications [default: that of --listen]
    #[arg(long, value_name = "URL", value_parser = web_address, help_heading = "Notifications")]
    pub public_url: Option<String>,
}

/// `https://bench.example/gritstone`: where links lead.
/// No query and no fragment.
fn web_address(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.and_then(|rest| rest.split('/').next()).unwrap_or_default();
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !"?#\"<>\\".contains(c);
    match !host.is_empty() && !host.starts_with(':') && text.chars().all(is_plain) {
        true => Ok(text.to_owned()),
        false => Err("an absolute URL is expected, such as https://bench.example".to_owned()),
    }
}

pub fn serve(context: &Context, args: &ServeArgs) -> Result<Exit> {
    let variable = std::env::var("GRITSTONE_NOTIFY_URL").ok().filter(|url| !url.is_empty());
    let notify_url = args.notify_url.clone().or(variable);
    ensure!(
        notify_url.is_some() || (args.notify_template.is_none() && args.public_url.is_none()),
        "--notify-template and --public-url need --notify-url or GRITSTONE_NOTIFY_URL"
    );
    let options = Options {
        listen: args.listen,
        open: args.open,
        open_reads: args.open_reads,
        behind_proxy: args.behind_proxy,
        tls_cert: args.tls_cert.clone(),
        tls_key: args.tls_key.clone(),
        notify_url,
        notify_template: args.notify_template.clone(),
        public_url: args.public_url.clone(),
        #[cfg(feature = "fleet")]
        follow_fleet: gritstone_fleet::progress,
        #[cfg(not(feature = "fleet"))]
        follow_fleet: |_, _| Ok(None),
    };
    let stop = signals::stop_stream().context("cannot catch signals")?;
    gritstone_server::serve(context, &options, stop, |address| {
        output::plain(&format!("{address}\n"))
    })?;
    Ok(Exit::Done)
}
