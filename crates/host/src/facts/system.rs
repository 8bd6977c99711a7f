//! Names of the system, and the identity of the machine.

use super::libc;
use crate::Root;
use crate::text;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct System {
    /// `Debian GNU/Linux 12 (bookworm)`.
    pub distribution: Option<String>,
    /// Packages are installed by apt.
    pub debian: bool,
    /// C library of the system's programs.
    pub libc: Option<String>,
    pub host_name: Option<String>,
    /// Vendor by the firmware.
    pub vendor: Option<String>,
    /// Product by the firmware.
    pub product: Option<String>,
    /// Root with all capabilities.
    pub privileged: bool,
    /// Distinguishes this machine from others of its model. For hashing only: never shown, never stored.
    pub(crate) identity: Option<String>,
}

impl System {
    pub(super) fn read(root: &Root) -> Self {
        let release = ["/etc/os-release", "/usr/lib/os-release"]
            .iter()
            .find_map(|file| root.text(file))
            .unwrap_or_default();
        let status = root.text("/proc/self/status").unwrap_or_default();
        Self {
            distribution: text::assignment(&release, "PRETTY_NAME")
                .or_else(|| text::assignment(&release, "NAME")),
            debian: is_debian(&release),
            libc: libc::read(root),
            host_name: root.line("/proc/sys/kernel/hostname"),
            vendor: root.line("/sys/class/dmi/id/sys_vendor"),
            product: root
                .line("/sys/class/dmi/id/product_name")
                .or_else(|| root.line("/proc/device-tree/model")),
            privileged: effective_user(&status) == Some(0),
            identity: identity(root),
        }
    }
}

fn is_debian(release: &str) -> bool {
    ["ID", "ID_LIKE"]
        .iter()
        .filter_map(|key| text::assignment(release, key))
        .any(|value| value.split(' ').any(|word| word == "debian"))
}

/// `Uid:` of /proc/self/status: real, effective, saved, file system.
fn effective_user(status: &str) -> Option<u32> {
    text::field(status, "Uid", ':')?.split_whitespace().nth(1)?.parse().ok()
}

/// Only what every user can read, so that root sees the same machine: the machine-id, or a serial number that the
/// firmware shows to all. Never the host name, which is new in each container.
fn identity(root: &Root) -> Option<String> {
    [
        "/etc/machine-id",
        "/var/lib/dbus/machine-id",
        "/sys/hypervisor/uuid",
        "/proc/device-tree/serial-number",
    ]
    .iter()
    .filter_map(|file| root.line(file))
    // systemd's placeholder until the first boot is over
    .find(|value| value != "uninitialized")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debian_derivatives_use_apt() {
        assert!(is_debian("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"));
        assert!(!is_debian("ID=fedora\nVERSION_ID=debian\n"));
    }
}
