//! `gritstone run --peer`: far ends of network benchmarks on another host, by ssh.
//!
//! One ssh connection lasts as long as the run. It copies a binary to a private directory and starts it ([`session`]); then frames
//! ([`frame`]) request far ends, and carry their output ([`far`]). Each launch requests its far end at a local socket ([`relay`]). The
//! measured traffic goes directly from host to host.

mod eligible;
mod far;
mod frame;
mod relay;
mod session;

use anyhow::{Context as _, Result};
pub use eligible::move_far_ends;
pub use far::far_end;
use frame::Hello;
use gritstone_exec::{ExecError, FarEnd};
use gritstone_host::link;
use gritstone_model::{Benchmark, Id, Peer};
use gritstone_session::NothingMeasured;
use gritstone_session::ssh::Host;
use relay::Relay;
use session::Session;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

/// Hidden command: this binary on a peer.
pub const FAR_END: &str = "far-end";

/// Connection to a peer.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// As OpenSSH knows it; `None`: no peer.
    pub host: Option<String>,
    /// Address at which far ends listen; by default the one that ssh connected to.
    pub address: Option<IpAddr>,
    /// Binary for the peer; by default this one.
    pub binary: Option<PathBuf>,
    /// Command of the ssh client.
    pub ssh: String,
}

/// A connected peer, until this is dropped.
pub struct ConnectedPeer {
    /// Facts about it.
    pub peer: Peer,
    relay: Relay,
}

impl ConnectedPeer {
    /// Its data for an executor.
    pub fn far_end(&self) -> FarEnd {
        self.relay.far_end.clone()
    }
}

/// Connects to a host; the inner error is the reason for which it cannot have far ends.
///
/// # Errors
/// When it cannot be connected to.
pub fn connect(host: &str, args: &Options) -> Result<Result<ConnectedPeer, String>> {
    let host: Host = host.parse().context("--peer")?;
    let (session, hello) = match Session::open(&host, args)? {
        Ok(opened) => opened,
        Err(why) => return Ok(Err(why)),
    };
    if let Err(why) = check_hello(&hello) {
        return Ok(Err(why));
    }
    let peer = Peer {
        host: host.to_string(),
        address: hello.address.to_string(),
        machine: hello.machine,
        near: link::toward(hello.address),
        far: hello.link,
    };
    Ok(Ok(ConnectedPeer { relay: Relay::start(session, &peer)?, peer }))
}

/// Applies `--peer`: moves the far ends of eligible benchmarks to the peer, and connects to it unless benchmarks are only listed. Returns
/// the ineligible benchmarks with reasons.
///
/// # Errors
/// When the peer cannot be connected to.
pub fn place_far_ends(
    args: &Options,
    dry: bool,
    wanted: &mut [Benchmark],
) -> Result<(BTreeMap<Id, String>, Option<ConnectedPeer>)> {
    let Some(host) = &args.host else {
        return Ok((BTreeMap::new(), None));
    };
    let mut refused = move_far_ends(wanted);
    if dry {
        return Ok((refused, None));
    }
    let connected = connect(host, args).map_err(|why| match why.is::<ExecError>() {
        true => why,
        false => NothingMeasured(format!("{why:#}")).into(),
    });
    match connected? {
        Ok(peer) => Ok((refused, Some(peer))),
        Err(why) => {
            for benchmark in wanted {
                refused.entry(benchmark.id.clone()).or_insert_with(|| why.clone());
            }
            Ok((refused, None))
        }
    }
}

/// Its first 12 digits.
fn short_hash(hash: &str) -> String {
    hash.chars().take(12).collect()
}

/// Checks that both ends have one version and the same sources, and that the peer has the address.
fn check_hello(hello: &Hello) -> Result<(), String> {
    let local = Hello::version();
    if hello.version != local.version || hello.sources != local.sources {
        return Err(format!(
            "the Gritstone of the peer is version {} with workloads {}, and this is {} with {}",
            hello.version,
            short_hash(&hello.sources),
            local.version,
            short_hash(&local.sources)
        ));
    }
    if hello.link.is_none() {
        return Err(format!(
            "no interface of the peer has the address {}: give one that it has with --peer-address",
            hello.address
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::Link;

    #[test]
    fn unsuitable_peers_are_refused() {
        let here = || Hello { link: Some(Link::default()), ..Hello::version() };
        assert_eq!(check_hello(&here()), Ok(()));
        let version = Hello { version: "0.0.9".to_owned(), ..here() };
        assert!(check_hello(&version).unwrap_err().contains("version 0.0.9"));
        let sources = Hello { sources: "é".to_owned(), ..here() };
        assert!(check_hello(&sources).unwrap_err().contains("workloads é"));
        let nowhere = Hello { link: None, ..here() };
        assert!(check_hello(&nowhere).unwrap_err().contains("--peer-address"));
    }
}
