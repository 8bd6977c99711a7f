//! Detection of virtual machines and containers.

use super::{Cpu, Kernel};
use crate::Root;
use crate::mounts;
use std::path::Path;

/// Layers between this process and the hardware. `None`: nothing was detected, which proves nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Virtualization {
    /// The hypervisor, or `unknown hypervisor`.
    pub machine: Option<String>,
    /// The kind of container, or `unknown kind` and the evidence.
    pub container: Option<String>,
}

impl Virtualization {
    pub(super) fn read(root: &Root, cpu: &Cpu, kernel: &Kernel) -> Self {
        Self { machine: machine(root, cpu, kernel), container: container(root, kernel) }
    }
}

/// Names in firmware and hypervisors, and their common names.
const HYPERVISORS: [(&str, &str); 12] = [
    ("kvm", "KVM"),
    ("qemu", "KVM or QEMU"),
    ("amazon ec2", "Amazon EC2"),
    ("google compute engine", "Google Compute Engine"),
    ("hyperv", "Hyper-V"),
    ("virtual machine", "Hyper-V"),
    ("vmware", "VMware"),
    ("virtualbox", "VirtualBox"),
    ("innotek", "VirtualBox"),
    ("parallels", "Parallels"),
    ("xen", "Xen"),
    ("bochs", "Bochs"),
];

fn hypervisor(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    HYPERVISORS.iter().find(|(sign, _)| name.contains(sign)).map(|&(_, name)| name)
}

fn machine(root: &Root, cpu: &Cpu, kernel: &Kernel) -> Option<String> {
    // hypervisors that Linux itself reports
    let known = ["/sys/hypervisor/type", "/proc/device-tree/hypervisor/compatible"];
    if let Some(kind) = known.iter().find_map(|file| root.line(file)) {
        return Some(hypervisor(&kind).map_or(kind.clone(), str::to_owned));
    }
    let product = root.line("/sys/class/dmi/id/product_name");
    // the firmware of bare metal in a cloud names the cloud too (Amazon's *.metal)
    if cpu.hypervisor == Some(false) || product.is_some_and(|name| name.ends_with(".metal")) {
        return None;
    }
    let named = ["sys_vendor", "product_name", "board_vendor", "bios_vendor"]
        .iter()
        .filter_map(|file| root.line(&format!("/sys/class/dmi/id/{file}")))
        .find_map(|value| hypervisor(&value));
    let by_clock = || kernel.clock_sources.iter().find_map(|name| hypervisor(name));
    let unnamed = || cpu.hypervisor.map(|_| by_clock().unwrap_or("unknown hypervisor"));
    named.or_else(unnamed).map(str::to_owned)
}

/// Inodes of the initial namespaces (include/linux/proc_ns.h). A container may share one with the host, but hardly
/// all.
const NAMESPACES: [(&str, &str); 3] = [
    ("/proc/self/ns/ipc", "ipc:[4026531839]"),
    ("/proc/self/ns/uts", "uts:[4026531838]"),
    ("/proc/self/ns/pid", "pid:[4026531836]"),
];

fn container(root: &Root, kernel: &Kernel) -> Option<String> {
    let release = kernel.release.as_deref().unwrap_or_default().to_lowercase();
    if release.contains("microsoft") {
        return Some("WSL".to_owned());
    }
    if let Some(kind) = root.line("/run/systemd/container") {
        return Some(kind);
    }
    // virtual machines that were built from container images keep these files, and a diskless machine may have an overlay as its root
    let in_initial_namespaces =
        NAMESPACES.iter().all(|&(file, first)| root.link(file).as_deref() == Some(first));
    if !in_initial_namespaces && root.exists("/run/.containerenv") {
        return Some("podman".to_owned());
    }
    if !in_initial_namespaces && root.exists("/.dockerenv") {
        return Some("docker".to_owned());
    }
    // outside of containers, process 1 is in the outermost group, or in one that init made
    container_of_cgroup(&root.text("/proc/1/cgroup").unwrap_or_default())
        .map(str::to_owned)
        .or_else(|| {
            let mounts = mounts::parse(&root.text("/proc/self/mountinfo")?);
            let layered = mounts::holding(&mounts, Path::new("/"))?.fs_type == "overlay";
            (layered && !in_initial_namespaces)
                .then(|| "unknown kind, by its overlay root".to_owned())
        })
}

fn container_of_cgroup(groups: &str) -> Option<&'static str> {
    const SIGNS: [(&str, &str); 6] = [
        ("kubepods", "Kubernetes"),
        ("libpod", "podman"),
        ("docker", "docker"),
        ("lxc", "LXC"),
        ("containerd", "containerd"),
        ("machine.slice", "systemd-nspawn"),
    ];
    SIGNS.iter().find(|(sign, _)| groups.contains(sign)).map(|&(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sysroot::recorded_files;

    /// By the processor flag on x86, which 64-bit Arm lacks, then by firmware, then by clocks.
    #[test]
    fn machines_leave_signs() {
        let vendor = |name| ("/sys/class/dmi/id/sys_vendor", name);
        let cloud = vendor("Amazon EC2\n");
        for (cpuinfo, firmware, clocks, kind) in [
            ("flags\t: fpu\n", cloud, &[][..], None),
            ("flags\t: fpu hypervisor\n", cloud, &[], Some("Amazon EC2")),
            ("Features\t: fp\n", cloud, &[], Some("Amazon EC2")),
            ("flags\t: fpu hypervisor\n", vendor(""), &[], Some("unknown hypervisor")),
            ("flags\t: fpu hypervisor\n", vendor(""), &["tsc", "kvm-clock"], Some("KVM")),
        ] {
            let (_kept, root) = recorded_files(&[("/proc/cpuinfo", cpuinfo), firmware]);
            let kernel = Kernel {
                clock_sources: clocks.iter().map(|&name| name.to_owned()).collect(),
                ..Kernel::default()
            };
            let found = machine(&root, &Cpu::read(&root), &kernel);
            assert_eq!(found.as_deref(), kind, "{cpuinfo}{firmware:?}");
        }
    }

    #[test]
    fn containers_leave_signs() {
        let overlay = "1 0 0:9 / / rw - overlay overlay rw,lowerdir=/a\n";
        let layered = Some("unknown kind, by its overlay root");
        for (path, content, kind) in [
            ("/.dockerenv", "", Some("docker")),
            ("/run/systemd/container", "lxc\n", Some("lxc")),
            ("/proc/1/cgroup", "4:memory:/kubepods/burstable/pod1\n", Some("Kubernetes")),
            ("/proc/1/cgroup", "0::/init.scope\n", None),
            ("/proc/self/mountinfo", overlay, layered),
        ] {
            let (_kept, root) = recorded_files(&[(path, content)]);
            let found = container(&root, &Kernel::default());
            assert_eq!(found.as_deref(), kind, "{path}");
        }
        let wsl = Kernel {
            release: Some("5.15.90.1-microsoft-standard-WSL2".to_owned()),
            ..Kernel::default()
        };
        assert_eq!(container(&recorded_files(&[]).1, &wsl).as_deref(), Some("WSL"));
        // a machine made from an image, if all namespaces are known to be initial
        let (_kept, root) = recorded_files(&[("/.dockerenv", ""), ("/proc/self/ns/x", "")]);
        for (file, first) in NAMESPACES {
            assert!(container(&root, &Kernel::default()).is_some());
            std::os::unix::fs::symlink(first, root.join(file)).unwrap();
        }
        assert_eq!(container(&root, &Kernel::default()), None);
    }
}
