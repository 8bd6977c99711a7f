//! `gritstone serve`: the store in the browser.

mod api;
mod digest;
mod lists;
mod pages;

use crate::args::ServeArgs;
use crate::failure::Exit;
use crate::output;
use crate::signals;
use crate::world::World;
use anyhow::{Context, Result, ensure};
use digest::Digests;
use gritstone_report::html;
use gritstone_serve::{Answers, Limits, Make, Policy};
use gritstone_store::{Scope, Token};
use pages::Pages;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// `gritstone serve`.
pub fn serve(world: &World, args: &ServeArgs) -> Result<Exit> {
    let public = !args.listen.ip().is_loopback() || args.behind_proxy;
    let store = world.store_path()?;
    // what is wrong with it is said before the first page is asked for
    let tokens = match world.reader()? {
        Some(reader) => reader.tokens()?,
        None => vec![],
    };
    let everyone = !public || args.open_reads;
    let reads = |token: &Token| token.revoked.is_none() && token.scopes.contains(&Scope::Read);
    ensure!(
        everyone || tokens.iter().any(reads),
        "{} can be reached by others than this machine: create a token to read by (`gritstone token create NAME --scope read`), \
         or let everyone read everything with --open-reads",
        args.listen
    );
    ensure!(
        !public || args.behind_proxy,
        "{} can be reached by others than this machine, and nothing on the way would be encrypted: put a proxy with TLS before it, and say --behind-proxy",
        args.listen
    );
    let stop = signals::end_as_stream().context("cannot catch signals")?;
    let listener = TcpListener::bind(args.listen)
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    let address = format!("http://{}/", listener.local_addr()?);
    let digests = Arc::new(Digests::new(store.clone()));
    let make: Make = Arc::new(move || -> Box<dyn Answers> {
        let world = World::new(Some(store.clone()));
        Box::new(Pages::new(world, Arc::clone(&digests), everyone))
    });
    let log = Arc::new(|text: &str| output::remark(&format!("gritstone: {text}")));
    output::plain(&format!("{address}\n"))?;
    if args.open {
        open(&address);
    }
    let policy = Policy::new(!public, &html::inline());
    gritstone_serve::serve(listener, stop, Limits::default(), policy, &make, log)
        .context("cannot serve")?;
    Ok(Exit::Done)
}

/// Has the desktop show a page; who has none opens it by hand.
fn open(address: &str) {
    let quiet = || Stdio::null();
    let started = Command::new("xdg-open")
        .arg(address)
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet())
        .spawn();
    match started {
        // it ends by itself, and is waited for, so that it does not stay
        Ok(mut browser) => drop(std::thread::spawn(move || browser.wait())),
        Err(why) => output::remark(&format!("cannot start xdg-open: {why}; open {address}")),
    }
}
