//! The network interface that has an address.

use crate::Root;
use gritstone_model::Link;
use nix::ifaddrs::getifaddrs;
use std::fs;
use std::net::{IpAddr, UdpSocket};

/// The interface of this machine that has this address; `None` where none has it, or none can be listed.
#[must_use]
pub fn with(address: IpAddr) -> Option<Link> {
    let found = getifaddrs().ok()?.find(|interface| {
        let own = interface.address.as_ref();
        let four = own.and_then(|own| own.as_sockaddr_in());
        let six = own.and_then(|own| own.as_sockaddr_in6());
        let own = four.map(|own| IpAddr::V4(own.ip()));
        own.or(six.map(|own| IpAddr::V6(own.ip()))) == Some(address)
    })?;
    Some(read(&Root::live(), &found.interface_name))
}

/// The interface through which packets to an address leave this machine. Nothing is sent.
#[must_use]
pub fn toward(address: IpAddr) -> Option<Link> {
    let any = match address {
        IpAddr::V4(_) => "0.0.0.0:0",
        IpAddr::V6(_) => "[::]:0",
    };
    let socket = UdpSocket::bind(any).ok()?;
    // a port that is never used: the kernel looks up the route, and that is all
    socket.connect((address, 9)).ok()?;
    with(socket.local_addr().ok()?.ip())
}

fn read(root: &Root, interface: &str) -> Link {
    let folder = root.join("/sys/class/net").join(interface);
    let number = |name: &str| {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        // an interface that has no speed, or none now, says -1, 0 or nothing
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
    use crate::Answers;
    use std::net::Ipv4Addr;
    use std::os::unix::fs::symlink;

    #[test]
    fn an_interface_says_what_it_knows() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("sys/class/net/eth0");
        fs::create_dir_all(folder.join("device")).unwrap();
        fs::write(folder.join("speed"), "10000\n").unwrap();
        fs::write(folder.join("mtu"), "9000\n").unwrap();
        symlink("../drivers/ixgbe", folder.join("device/driver")).unwrap();
        let there = Root::recorded(root.path(), Answers::default());
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
    fn what_no_interface_has_is_not_found() {
        assert_eq!(with(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 77))), None);
    }
}
