//! Whether this is a virtual machine, and whether this process lives in a container.

use super::{Cpu, Kernel};
use crate::Root;
use crate::mounts;
use std::path::Path;

/// What lies between this process and the hardware. `None`: nothing was seen, which is no proof that there is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Virtualisation {
    /// The hypervisor, or `unknown hypervisor`.
    pub machine: Option<String>,
    /// The kind of container, or `unknown kind` and what gave it away.
    pub container: Option<String>,
}

impl Virtualisation {
    pub(super) fn read(root: &Root, cpu: &Cpu, kernel: &Kernel) -> Self {
        Self {
            machine: machine(root, cpu, kernel),
            container: container(root, kernel),
        }
    }
}

/// What firmware and hypervisors call themselves, and what people call them.
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
    HYPERVISORS
        .iter()
        .find(|(sign, _)| name.contains(sign))
        .map(|&(_, name)| name)
}

fn machine(root: &Root, cpu: &Cpu, kernel: &Kernel) -> Option<String> {
    // hypervisors that Linux itself has made known
    if let Some(kind) = root.line("/sys/hypervisor/type") {
        return Some(hypervisor(&kind).map_or(kind.clone(), str::to_owned));
    }
    if let Some(compatible) = root.line("/proc/device-tree/hypervisor/compatible") {
        return Some(hypervisor(&compatible).map_or(compatible.clone(), str::to_owned));
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
    let by_clock = || {
        kernel
            .clock_sources
            .iter()
            .find_map(|name| hypervisor(name))
    };
    let unnamed = || {
        cpu.hypervisor
            .map(|_| by_clock().unwrap_or("unknown hypervisor"))
    };
    named.or_else(unnamed).map(str::to_owned)
}

/// The namespaces that the kernel makes first have fixed numbers (include/linux/proc_ns.h). A container may share one with
/// the machine outside, but hardly all.
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
    // images of containers that were made into machines keep these files
    let outermost = NAMESPACES
        .iter()
        .all(|&(file, first)| root.link(file).as_deref() == Some(first));
    if !outermost && root.exists("/run/.containerenv") {
        return Some("podman".to_owned());
    }
    if !outermost && root.exists("/.dockerenv") {
        return Some("docker".to_owned());
    }
    // outside of containers the first process is in the outermost group, or in one that init made
    by_group(&root.text("/proc/1/cgroup").unwrap_or_default())
        .map(str::to_owned)
        .or_else(|| {
            let mounts = mounts::parse(&root.text("/proc/self/mountinfo")?);
            let layered = mounts::holding(&mounts, Path::new("/"))?.fs_type == "overlay";
            layered.then(|| "unknown kind, by its overlay root".to_owned())
        })
}

fn by_group(groups: &str) -> Option<&'static str> {
    const SIGNS: [(&str, &str); 6] = [
        ("kubepods", "Kubernetes"),
        ("libpod", "podman"),
        ("docker", "docker"),
        ("lxc", "LXC"),
        ("containerd", "containerd"),
        ("machine.slice", "systemd-nspawn"),
    ];
    SIGNS
        .iter()
        .find(|(sign, _)| groups.contains(sign))
        .map(|&(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let directory = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let root = Root::recorded(directory.path(), crate::Answers::default());
        (directory, root)
    }

    /// The kind of machine of these files, one of which is of the processors.
    fn kind_of(cpuinfo: &str, files: &[(&str, &str)], kernel: &Kernel) -> Option<String> {
        let files = [files, &[("proc/cpuinfo", cpuinfo)]].concat();
        let (_kept, root) = tree(&files);
        machine(&root, &Cpu::read(&root), kernel)
    }

    #[test]
    fn the_flag_decides_on_x86() {
        let kind = |cpuinfo| {
            let cloud = [("sys/class/dmi/id/sys_vendor", "Amazon EC2\n")];
            kind_of(cpuinfo, &cloud, &Kernel::default())
        };
        assert_eq!(kind("flags\t: fpu\n"), None, "bare metal of a cloud");
        let guest = kind("flags\t: fpu hypervisor\n");
        assert_eq!(guest.as_deref(), Some("Amazon EC2"));
        // 64-bit Arm has no such flag
        assert_eq!(kind("Features\t: fp\n").as_deref(), Some("Amazon EC2"));
    }

    #[test]
    fn without_firmware_the_clocks_tell() {
        let mut kernel = Kernel::default();
        let kind = |kernel: &Kernel| {
            let cpuinfo = "processor\t: 0\nflags\t: fpu hypervisor\n";
            kind_of(cpuinfo, &[], kernel)
        };
        assert_eq!(kind(&kernel).as_deref(), Some("unknown hypervisor"));
        kernel.clock_sources = vec!["tsc".to_owned(), "kvm-clock".to_owned()];
        assert_eq!(kind(&kernel).as_deref(), Some("KVM"));
    }

    #[test]
    fn containers_leave_signs() {
        let kernel = Kernel::default();
        let kind = |path: &str, content: &str| {
            let (_kept, root) = tree(&[(path, content)]);
            container(&root, &kernel)
        };
        assert_eq!(kind(".dockerenv", "").as_deref(), Some("docker"));
        assert_eq!(
            kind("run/systemd/container", "lxc\n").as_deref(),
            Some("lxc")
        );
        let (kept, root) = tree(&[(".dockerenv", ""), ("proc/self/ns/x", "")]);
        for (file, first) in NAMESPACES {
            assert!(
                container(&root, &kernel).is_some(),
                "not all are known to be the first"
            );
            std::os::unix::fs::symlink(first, root.join(file)).unwrap();
        }
        assert_eq!(
            container(&root, &kernel),
            None,
            "a machine made from an image"
        );
        drop(kept);
        assert_eq!(
            kind("proc/1/cgroup", "4:memory:/kubepods/burstable/pod1\n").as_deref(),
            Some("Kubernetes")
        );
        assert_eq!(kind("proc/1/cgroup", "0::/init.scope\n"), None);
        let overlay = "1 0 0:9 / / rw - overlay overlay rw,lowerdir=/a\n";
        assert_eq!(
            kind("proc/self/mountinfo", overlay).as_deref(),
            Some("unknown kind, by its overlay root")
        );
        let wsl = Kernel {
            release: Some("5.15.90.1-microsoft-standard-WSL2".to_owned()),
            ..Kernel::default()
        };
        assert_eq!(container(&tree(&[]).1, &wsl).as_deref(), Some("WSL"));
    }
}
