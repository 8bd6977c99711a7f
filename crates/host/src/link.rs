//! Network interfaces by address.

use crate::Root;
use gritstone_model::Link;
use nix::ifaddrs::getifaddrs;
use std::fs;
use std::net::{IpAddr, UdpSocket};

/// The interface of this machine with this address, if any.
pub fn with_address(address: IpAddr) -> Option<Link> {
    let found = getifaddrs().ok()?.find(|interface| {
        let storage = interface.address.as_ref();
        let four = storage.and_then(|storage| storage.as_sockaddr_in());
        let six = storage.and_then(|storage| storage.as_sockaddr_in6());
        let four = four.map(|four| IpAddr::V4(four.ip()));
        four.or(six.map(|six| IpAddr::V6(six.ip()))) == Some(address)
    })?;
    Some(read(&Root::live(), &found.interface_name))
}

/// The interface that routes to an address. Sends nothing.
pub fn toward(address: IpAddr) -> Option<Link> {
    let any = match address {
        IpAddr::V4(_) => "0.0.0.0:0",
        IpAddr::V6(_) => "[::]:0",
    };
    let socket = UdpSocket::bind(any).ok()?;
    // an unused port: connect(2) on a UDP socket only looks up the route
    socket.connect((address, 9)).ok()?;
    with_address(socket.local_addr().ok()?.ip())
}

fn read(root: &Root, interface: &str) -> Link {
    let folder = root.join("/sys/class/net").join(interface);
    let number = |name: &str| {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        // interfaces without speed report -1, 0 or nothing
        text.trim().parse().ok().filter(|n| *n > 0)
    };
    let driver = fs::read_link(folder.join("device/driver")).ok();
    let driver = driver.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    Link {
        interface: interface.to_owned(),
        speed_mbit: number("speed"),
        mtu: number("mtu"),
        driver,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SyscallResults;
    use std::net::Ipv4Addr;
    use std::os::unix::fs::symlink;

    #[test]
    fn interface_facts_are_read() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("sys/class/net/eth0");
        fs::create_dir_all(folder.join("device")).unwrap();
        fs::write(folder.join("speed"), "10000\n").unwrap();
        fs::write(folder.join("mtu"), "9000\n").unwrap();
        symlink("../drivers/ixgbe", folder.join("device/driver")).unwrap();
        let there = Root::recorded(root.path(), SyscallResults::default());
        let link = Link {
            interface: "eth0".to_owned(),
            speed_mbit: Some(10_000),
            mtu: Some(9000),
            driver: Some("ixgbe".to_owned()),
        };
        assert_eq!(read(&there, "eth0"), link);
        fs::write(folder.join("speed"), "-1\n").unwrap();
        assert_eq!(read(&there, "eth0").speed_mbit, None);
        assert_eq!(read(&there, "eth1").mtu, None);
    }

    #[test]
    fn unknown_addresses_have_no_interface() {
        assert_eq!(with_address(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 77))), None);
    }
}
