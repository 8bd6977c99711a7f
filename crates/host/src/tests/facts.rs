//! Recorded machines, read whole.

use super::tree::{Tree, large, plain};
use gritstone_host::{Cgroup, Host, Load, Memory, SyscallResults, Watch, choose_cpus, examine};
use gritstone_model::{CpuSet, Machine};
use std::ffi::OsStr;
use std::path::Path;

fn machine(host: &Host) -> Machine {
    host.machine(Path::new("/proc"))
}

/// Without the facts of the directory and of the host of the test.
fn facts(host: &Host) -> String {
    let facts = machine(host).facts;
    let is_local = |name: &str| name.starts_with("dir.") || name == "cpu.architecture";
    let others = facts.iter().filter(|(name, _)| !is_local(name));
    others.map(|(name, value)| format!("{name} = {value}\n")).collect()
}

fn chosen(host: &Host) -> Vec<u32> {
    let chosen = choose_cpus(&host.cpu).unwrap();
    [Some(chosen.measured), chosen.peer, chosen.watcher].into_iter().flatten().collect()
}

#[test]
fn virtual_machine_with_two_cpus() {
    let host = Tree::recorded("virtual-machine").host();
    insta::assert_snapshot!(facts(&host));
    let machine = machine(&host);
    assert_eq!(machine.name, "vm (AMD EPYC)");
    let system = "Debian GNU/Linux 12 (bookworm), Linux 6.18.44 ";
    assert!(machine.system.starts_with(system));
    let description = "AMD EPYC, 2 cores, 23.5 GiB of memory, proc, a virtual machine (KVM)";
    assert_eq!(machine.configuration, description);
}

#[test]
fn one_cpu() {
    let host = Tree::recorded("one-cpu").host();
    insta::assert_snapshot!(facts(&host));
    assert_eq!(host.cpu.counts(), (1, 1, 1));
    assert_eq!(chosen(&host), [0]);
    assert!(!host.is_distinct());
}

/// Machines by CPUs, online CPUs and permitted CPUs: sockets, cores and threads, and the chosen CPUs.
#[test]
fn large_machines_and_bare_ones() {
    for (cpus, online, allowed, counts, choice) in [
        // CPUs 250 to 259 are the second threads of cores 100 to 109, which stay
        (300, "0-249,260-299", None, (2, 150, 290), [1, 2, 0]),
        // more than the bits of a cpu_set_t
        (2048, "0-2047", Some("1500-1501,2040-2047"), (2, 1024, 2048), [1500, 1501, 2040]),
        // a root without /proc and /sys has the permitted CPUs
        (0, "", Some("2-3"), (1, 2, 2), [2, 3, 3]),
    ] {
        let mut tree = match cpus {
            0 => Tree::new(),
            cpus => large(cpus, online),
        };
        tree.syscall_results.allowed = allowed.map(|list| CpuSet::parse(list).unwrap());
        let host = tree.host();
        assert_eq!(host.cpu.counts(), counts, "{online}");
        assert_eq!(chosen(&host), choice, "{online}");
        let facts = machine(&host).facts;
        let known = allowed.unwrap_or("0-299");
        assert_eq!(facts[Machine::ALLOWED_CPUS], known, "{online}");
    }
    let id = |cpus, online| large(cpus, online).host().id();
    assert_eq!(id(300, "0-299"), id(300, "0-149"), "some are switched off");
    assert_ne!(id(300, "0-299"), id(302, "0-299"));
}

#[test]
fn long_cpu_lists_are_summarized() {
    let mut tree = large(300, "0-299");
    tree.syscall_results.allowed = Some((0..150).map(|n| 2 * n).collect());
    let host = tree.host();
    let machine = machine(&host);
    let description = "Big One, 150 cores, 300 threads, 2 sockets, of which 150 CPUs between 0 and 298 may be used, proc";
    assert_eq!(machine.configuration, description);
    // the fact is complete
    assert!(machine.facts[Machine::ALLOWED_CPUS].starts_with("0,2,4,6,"));
    let findings = examine(&host, &[], Path::new("/"), OsStr::new(""));
    let cores = findings.iter().find(|finding| finding.name == "cores");
    let description = "150 cores, 300 threads, 150 CPUs between 0 and 298 may be used; benchmarks on CPU 2, harness on CPU 0";
    assert_eq!(cores.unwrap().value, description);
    let short = |value: &str| value.len() < 120;
    assert!(findings.iter().all(|finding| short(&finding.value)));
}

#[test]
fn cpu_quota_in_both_versions() {
    let first = Tree::recorded("cgroup-v1-half-cpu").host();
    let expected = Cgroup {
        version: Some(1),
        // the group above has the lower limit
        cpus: Some(0.5),
        memory: Some(64 << 20),
        processes: Some(100),
        processes_left: Some(40),
    };
    assert_eq!(first.cgroup, expected);
    let second = Tree::recorded("cgroup-v2-half-cpu").host();
    let expected = Cgroup { version: Some(2), cpus: Some(0.5), ..Cgroup::default() };
    assert_eq!(second.cgroup, expected);
    let container = second.virtualization.container.as_deref();
    assert_eq!(container, Some("docker"));
    let description = machine(&second).configuration;
    assert!(description.contains("a quota of 0.5 CPUs"), "{description}");
}

#[test]
fn a_container_without_sys() {
    let host = Tree::recorded("container-without-sys").host();
    assert_eq!(host.cpu.counts(), (1, 2, 4));
    assert_eq!(host.cpu.smt, Some(true));
    assert_eq!(host.cpu.online.to_string(), "0-3");
    assert_eq!(host.cpu.allowed.to_string(), "1-3");
    assert!(host.cpu.governors.is_empty() && host.cpu.turbo.is_none());
    assert!(host.kernel.clock_source.is_none() && host.kernel.mitigations.is_empty());
    let kinds = (host.virtualization.machine.as_deref(), host.virtualization.container.as_deref());
    assert_eq!(kinds, (Some("unknown hypervisor"), Some("Kubernetes")));
    assert_eq!(host.cgroup, Cgroup::default());
}

#[test]
fn diskless_machines_are_no_containers() {
    let tree = Tree::new();
    tree.file("/proc/self/mountinfo", "22 1 0:20 / / rw - overlay overlay rw");
    let container = || tree.host().virtualization.container;
    assert_eq!(container().as_deref(), Some("unknown kind, by its overlay root"));
    // the initial namespaces (include/linux/proc_ns.h)
    let namespaces = [("ipc", 4_026_531_839_u32), ("uts", 4_026_531_838), ("pid", 4_026_531_836)];
    for (name, inode) in namespaces {
        tree.link(&format!("/proc/self/ns/{name}"), &format!("{name}:[{inode}]"));
    }
    assert_eq!(container(), None);
}

#[test]
fn empty_root_yields_no_guesses() {
    let mut tree = Tree::new();
    tree.syscall_results = SyscallResults::default();
    let host = tree.host();
    assert_eq!(host.cpu.counts(), (0, 0, 0));
    assert_eq!(choose_cpus(&host.cpu), None);
    assert_eq!(host.memory, Memory::default());
    assert_eq!(host.load, Load::default());
    let machine = host.machine(Path::new("/no/such/directory"));
    assert!(!machine.id.is_empty() && !machine.name.is_empty());
    let mut names = machine.facts.keys();
    assert!(names.all(|name| name.starts_with("cpu.")), "{machine:?}");
}

/// Garbage in every file, and truncated recordings: together these machines have every file that is read.
#[test]
fn broken_files_do_not_panic() {
    for name in ["virtual-machine", "cgroup-v1-half-cpu", "cgroup-v2-half-cpu"] {
        let text = Tree::text(name);
        for garbage in [
            "",
            "\n",
            "\0\u{fffd}\n:=[-]/\n",
            "-1",
            "99999999999999999999999",
            "0-99999999",
            "cpu\ncpu0\ncpu1 1\n",
        ] {
            let tree = Tree::unpacked(&text);
            for path in text.lines().filter_map(|line| line.strip_prefix("== ")) {
                tree.file(path, garbage);
            }
            read_whole(&tree);
        }
        let lines = text.match_indices('\n').map(|(end, _)| end);
        for cut in lines.step_by(23).flat_map(|end| [end - 1, end]) {
            // a section needs its whole path
            if !text[..cut].rsplit('\n').next().unwrap().starts_with("== ") {
                read_whole(&Tree::unpacked(&text[..cut]));
            }
        }
    }
}

fn read_whole(tree: &Tree) {
    let host = tree.host();
    let _ = machine(&host);
    let _ = choose_cpus(&host.cpu);
    let findings = examine(&host, &[], Path::new("/proc"), OsStr::new(""));
    assert!(findings.len() > 20);
    let mut watch = Watch::open(&tree.root());
    let before = watch.begin(&plain(), &[0, 1], 1);
    let _ = watch.end(&before, 1);
}
