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

use crate::args::PeerArgs;
use anyhow::{Result, ensure};
pub use far::far_end;
use frame::Hello;
use gritstone_exec::FarEnd;
use gritstone_host::link;
use gritstone_model::Peer;
use relay::Relay;
pub use rows::give;
use session::Session;

/// The name of the command that is not in the help: this binary on a peer.
pub const FAR_END: &str = "far-end";

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
pub fn reach(host: &str, args: &PeerArgs) -> Result<Result<Reached, String>> {
    ensure!(
        crate::ssh::is_host(host),
        "--peer {host}: a host as OpenSSH knows it, of letters, digits and . _ - @"
    );
    let (session, hello) = match Session::open(host, args)? {
        Ok(opened) => opened,
        Err(why) => return Ok(Err(why)),
    };
    if let Err(why) = agrees(&hello) {
        return Ok(Err(format!("{host}: {why}")));
    }
    let peer = Peer {
        host: host.to_owned(),
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

/// Both ends are of one version and of the same sources, and the far one has the address.
fn agrees(hello: &Hello) -> Result<(), String> {
    let own = Hello::version();
    if hello.version != own.version || hello.sources != own.sources {
        return Err(format!(
            "its Gritstone is version {} with workloads {}, and this is {} with {}",
            hello.version,
            &hello.sources[..12.min(hello.sources.len())],
            own.version,
            &own.sources[..12]
        ));
    }
    if hello.link.is_none() {
        return Err(format!(
            "none of its interfaces has the address {}: give one that it has with --peer-address",
            hello.address
        ));
    }
    Ok(())
}
