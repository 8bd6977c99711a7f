//! The host of the far ends of network benchmarks, if not the measured one.

use crate::Machine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A host with far ends, and the path to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Peer {
    /// The host as the user named it to OpenSSH.
    pub host: String,
    /// Address at which far ends listened.
    pub address: String,
    /// The system of the host.
    pub machine: Machine,
    /// Interface of the measured system toward the address; null if unknown.
    pub near: Option<Link>,
    /// Interface of the host with the address; null if unknown.
    pub far: Option<Link>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    pub interface: String,
    /// Speed by its driver, Mbit/s; null if not reported.
    pub speed_mbit: Option<u64>,
    /// Largest packet, bytes.
    pub mtu: Option<u64>,
    /// Kernel module of its driver; null for an interface without a device.
    pub driver: Option<String>,
}

/// Comparable runs share one peer host over one path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerPath {
    /// Short name of the host's system.
    pub machine: String,
    /// Name of the host, since virtual machines of one image may share the short name; empty if anonymized.
    pub host: String,
    pub near: Option<Link>,
    pub far: Option<Link>,
}

impl Peer {
    /// Identity of the peer, without its user.
    pub fn path(&self) -> PeerPath {
        let host = self.host.rsplit('@').next().unwrap_or_default();
        PeerPath {
            machine: self.machine.id.clone(),
            host: host.to_owned(),
            near: self.near.clone(),
            far: self.far.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_host_and_link() {
        let peer = |host: &str, mtu| Peer {
            host: host.to_owned(),
            far: Some(Link { interface: "eth0".to_owned(), mtu: Some(mtu), ..Link::default() }),
            ..Peer::default()
        };
        let path = peer("db1", 1500).path();
        assert_eq!(peer("root@db1", 1500).path(), path);
        assert_ne!(peer("db1", 9000).path(), path);
        assert_ne!(peer("db2", 1500).path(), path);
    }
}
