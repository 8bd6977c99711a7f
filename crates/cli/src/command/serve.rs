//! `gritstone serve`: the store in the browser.

use crate::ui::args::ServeArgs;
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::Result;
use gritstone_runs::context::World;
use gritstone_server::Options;

/// `gritstone serve`.
pub fn serve(world: &World, args: &ServeArgs) -> Result<Exit> {
    let options = Options {
        listen: args.listen,
        open: args.open,
        open_reads: args.open_reads,
        behind_proxy: args.behind_proxy,
        tls_cert: args.tls_cert.clone(),
        tls_key: args.tls_key.clone(),
        notify_url: args.notify_url.clone(),
        notify_template: args.notify_template.clone(),
        public_url: args.public_url.clone(),
    };
    gritstone_server::serve(world, &options, |address| {
        output::plain(&format!("{address}\n"))
    })?;
    Ok(Exit::Done)
}
