//! `gritstone run --peer`: far ends of network benchmarks on another host, which ssh reaches.
//!
//! One connection of ssh lasts as long as the run. Over it a binary goes to a private directory there and is started ([`session`]); then
//! frames ([`frame`]) say which far end is to be started, and bring what that says ([`far`]). Each launch asks for its far end at a
//! socket here ([`relay`]). What is measured goes directly from one host to the other.

mod far;
mod frame;
mod relay;
mod rows;
mod session;

use anyhow::{Context as _, Result};
pub use far::far_end;
use frame::Hello;
use gritstone_exec::{ExecError, FarEnd};
use gritstone_host::link;
use gritstone_model::{Benchmark, Id, Peer};
use gritstone_session::NothingMeasured;
use gritstone_session::ssh::Host;
use relay::Relay;
pub use rows::give;
use session::Session;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

/// The name of the command that is not in the help: this binary on a peer.
pub const FAR_END: &str = "far-end";

/// How a peer is reached.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// As OpenSSH knows it; none measures on this host alone.
    pub host: Option<String>,
    /// Address at which far ends listen; by default the one at which ssh has reached the host.
    pub address: Option<IpAddr>,
    /// Program for the peer; by default this one.
    pub binary: Option<PathBuf>,
    /// Command of the ssh client.
    pub ssh: String,
}

/// A host that can have far ends, until this is dropped.
pub struct Reached {
    /// What is known of it.
    pub peer: Peer,
    relay: Relay,
}

impl Reached {
    /// What an executor must know of it.
    pub fn far_end(&self) -> FarEnd {
        self.relay.far_end.clone()
    }
}

/// Reaches a host; the inner error is a reason why it can have no far ends, though it was reached.
///
/// # Errors
/// When it cannot be reached.
pub fn reach(host: &str, args: &Options) -> Result<Result<Reached, String>> {
    let host: Host = host.parse().context("--peer")?;
    let (session, hello) = match Session::open(&host, args)? {
        Ok(opened) => opened,
        Err(why) => return Ok(Err(why)),
    };
    if let Err(why) = agrees(&hello) {
        return Ok(Err(why));
    }
    let peer = Peer {
        host: host.to_string(),
        address: hello.address.to_string(),
        machine: hello.machine,
        near: link::toward(hello.address),
        far: hello.link,
    };
    Ok(Ok(Reached {
        relay: Relay::start(session, &peer)?,
        peer,
    }))
}

/// What `--peer` asks for: gives the rows that can have one a far end there, and reaches the host unless that is only listed. The rows that have
/// none, with the reason.
///
/// # Errors
/// When the host cannot be reached.
pub fn asked(
    args: &Options,
    dry: bool,
    wanted: &mut [Benchmark],
) -> Result<(BTreeMap<Id, String>, Option<Reached>)> {
    let Some(host) = &args.host else {
        return Ok((BTreeMap::new(), None));
    };
    let mut refused = give(wanted);
    if dry {
        return Ok((refused, None));
    }
    let reached = reach(host, args).map_err(|why| match why.is::<ExecError>() {
        true => why,
        false => NothingMeasured(format!("{why:#}")).into(),
    });
    match reached? {
        Ok(reached) => Ok((refused, Some(reached))),
        Err(why) => {
            for row in wanted {
                refused.entry(row.id.clone()).or_insert_with(|| why.clone());
            }
            Ok((refused, None))
        }
    }
}

/// Enough of a hash to tell it from another.
fn beginning(hash: &str) -> String {
    hash.chars().take(12).collect()
}

/// Both ends are of one version and of the same sources, and the far one has the address.
fn agrees(hello: &Hello) -> Result<(), String> {
    let own = Hello::version();
    if hello.version != own.version || hello.sources != own.sources {
        return Err(format!(
            "the Gritstone of the peer is version {} with workloads {}, and this is {} with {}",
            hello.version,
            beginning(&hello.sources),
            own.version,
            beginning(&own.sources)
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
        let here = || Hello {
            link: Some(Link::default()),
            ..Hello::version()
        };
        assert_eq!(agrees(&here()), Ok(()));
        let version = Hello {
            version: "0.0.9".to_owned(),
            ..here()
        };
        assert!(agrees(&version).unwrap_err().contains("version 0.0.9"));
        let sources = Hello {
            sources: "é".to_owned(),
            ..here()
        };
        assert!(agrees(&sources).unwrap_err().contains("workloads é"));
        let nowhere = Hello {
            link: None,
            ..here()
        };
        assert!(agrees(&nowhere).unwrap_err().contains("--peer-address"));
    }
}
