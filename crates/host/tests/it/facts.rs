//! Recorded machines, read whole.

use crate::common::{Tree, large};
use gritstone_host::{Host, choose_cpus};
use gritstone_model::CpuSet;
use std::ffi::OsStr;
use std::path::Path;

/// The facts without those of the directory and of the machine that runs the test.
fn facts(host: &Host) -> String {
    let machine = host.machine(Path::new("/proc"));
    let own = |name: &str| name.starts_with("dir.") || name == "cpu.architecture";
    machine
        .facts
        .iter()
        .filter(|(name, _)| !own(name))
        .map(|(name, value)| format!("{name} = {value}\n"))
        .collect()
}

#[test]
fn a_virtual_machine_of_two_cpus() {
    let host = Tree::recorded("virtual-machine").host();
    insta::assert_snapshot!(facts(&host));
    let machine = host.machine(Path::new("/proc"));
    assert_eq!(machine.name, "vm (AMD EPYC)");
    assert!(
        machine
            .system
            .starts_with("Debian GNU/Linux 12 (bookworm), Linux 6.18.44 ")
    );
    assert_eq!(
        machine.configuration,
        "AMD EPYC, 2 cores, 23.5 GiB of memory, proc, a virtual machine (KVM)"
    );
    assert_eq!(machine.document, None);
}

#[test]
fn one_cpu() {
    let host = Tree::recorded("one-cpu").host();
    insta::assert_snapshot!(facts(&host));
    assert_eq!(host.cpu.counts(), (1, 1, 1));
    let chosen = choose_cpus(&host.cpu).unwrap();
    assert_eq!(
        (chosen.measured, chosen.peer, chosen.watcher),
        (0, None, None)
    );
    assert!(!host.is_distinct());
}

#[test]
fn three_hundred_cpus_some_of_them_offline() {
    let host = large(300, "0-249,260-299").host();
    assert_eq!(host.cpu.online.len(), 290);
    assert_eq!(host.cpu.present, 300);
    // CPUs 250 to 259 are the second threads of cores 100 to 109, which stay
    assert_eq!(host.cpu.counts(), (2, 150, 290));
    assert_eq!(host.cpu.smt, Some(true));
    assert_eq!(host.cpu.models, ["Big One"]);
    let chosen = choose_cpus(&host.cpu).unwrap();
    assert_eq!(
        (chosen.measured, chosen.peer, chosen.watcher),
        (1, Some(2), Some(0))
    );
}

#[test]
fn every_other_of_three_hundred_cpus_is_no_list_to_read() {
    let mut tree = large(300, "0-299");
    tree.answers.allowed = Some((0..150).map(|n| 2 * n).collect());
    let host = tree.host();
    let machine = host.machine(Path::new("/proc"));
    assert_eq!(
        machine.configuration,
        "Big One, 150 cores, 300 threads, 2 sockets, of which 150 CPUs between 0 and 298 may be used, proc"
    );
    // the fact is whole
    assert!(machine.facts["cpu.allowed"].starts_with("0,2,4,6,"));
    let findings = gritstone_host::examine(&host, &[], Path::new("/"), OsStr::new(""));
    let cores = findings.iter().find(|finding| finding.name == "cores");
    assert_eq!(
        cores.unwrap().value,
        "150 cores, 300 threads, 150 CPUs between 0 and 298 may be used; measured on CPU 2, watched from CPU 0"
    );
    for finding in &findings {
        assert!(finding.value.len() < 120, "{finding:?}");
    }
}

#[test]
fn a_root_without_proc_and_sys_has_the_cpus_that_are_allowed() {
    let mut tree = Tree::new();
    tree.answers.allowed = CpuSet::parse("2-3");
    let host = tree.host();
    assert_eq!(host.cpu.counts(), (1, 2, 2));
    let chosen = choose_cpus(&host.cpu).unwrap();
    assert_eq!(
        (chosen.measured, chosen.peer, chosen.watcher),
        (2, Some(3), Some(3))
    );
}

#[test]
fn more_cpus_than_a_cpu_set_has_bits() {
    let mut tree = large(2048, "0-2047");
    tree.answers.allowed = CpuSet::parse("1500-1501,2040-2047");
    let host = tree.host();
    assert_eq!(host.cpu.counts(), (2, 1024, 2048));
    assert_eq!(host.cpu.allowed.len(), 10);
    let chosen = choose_cpus(&host.cpu).unwrap();
    assert_eq!(
        (chosen.measured, chosen.peer, chosen.watcher),
        (1500, Some(1501), Some(2040))
    );
    let machine = host.machine(Path::new("/proc"));
    assert_eq!(machine.facts["cpu.allowed"], "1500-1501,2040-2047");
}

#[test]
fn switching_cpus_off_does_not_make_another_machine() {
    assert_eq!(
        large(300, "0-299").host().id(),
        large(300, "0-149").host().id()
    );
    assert_ne!(
        large(300, "0-299").host().id(),
        large(302, "0-299").host().id()
    );
}

#[test]
fn half_a_cpu_by_version_1() {
    let cgroup = Tree::recorded("cgroup-v1-half-cpu").host().cgroup;
    assert_eq!(cgroup.version, Some(1));
    assert_eq!(cgroup.cpus, Some(0.5), "the group above is the narrower");
    assert_eq!(cgroup.memory, Some(64 << 20));
    assert_eq!(
        (cgroup.processes, cgroup.processes_left),
        (Some(100), Some(40))
    );
}

#[test]
fn half_a_cpu_by_version_2_in_a_container() {
    let host = Tree::recorded("cgroup-v2-half-cpu").host();
    assert_eq!(host.cgroup.version, Some(2));
    assert_eq!(host.cgroup.cpus, Some(0.5));
    assert_eq!((host.cgroup.memory, host.cgroup.processes), (None, None));
    assert_eq!(host.virtualisation.container.as_deref(), Some("docker"));
    let machine = host.machine(Path::new("/proc"));
    assert!(machine.configuration.contains("a quota of 0.5 CPUs"));
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
    assert_eq!(
        host.virtualisation.machine.as_deref(),
        Some("unknown hypervisor")
    );
    assert_eq!(host.virtualisation.container.as_deref(), Some("Kubernetes"));
    assert_eq!(host.cgroup, gritstone_host::Cgroup::default());
}

#[test]
fn nothing_at_all_is_read_without_panic_and_nothing_is_guessed() {
    let mut tree = Tree::new();
    tree.answers = gritstone_host::Answers::default();
    let host = tree.host();
    assert_eq!(host.cpu.counts(), (0, 0, 0));
    assert_eq!(choose_cpus(&host.cpu), None);
    assert_eq!(host.memory, gritstone_host::Memory::default());
    assert_eq!(host.load, gritstone_host::Load::default());
    let machine = host.machine(Path::new("/no/such/directory"));
    assert!(!machine.id.is_empty() && !machine.name.is_empty());
    assert!(
        machine.facts.keys().all(|name| name.starts_with("cpu.")),
        "{:?}",
        machine.facts
    );
}

/// What is recorded, by the names of the machines: together they have every file that is read.
const TREES: [(&str, &str); 3] = [
    (
        "virtual-machine",
        include_str!("../trees/virtual-machine.txt"),
    ),
    (
        "cgroup-v1-half-cpu",
        include_str!("../trees/cgroup-v1-half-cpu.txt"),
    ),
    (
        "cgroup-v2-half-cpu",
        include_str!("../trees/cgroup-v2-half-cpu.txt"),
    ),
];

#[test]
fn garbage_in_every_file_is_read_without_panic() {
    for garbage in [
        "",
        "\n",
        "\0\u{fffd}\n:=[-]/\n",
        "-1",
        "99999999999999999999999",
        "0-99999999",
        "cpu\ncpu0\ncpu1 1\n",
    ] {
        for (name, text) in TREES {
            let tree = Tree::recorded(name);
            for path in text.lines().filter_map(|line| line.strip_prefix("== ")) {
                tree.file(path, garbage);
            }
            read_whole(&tree);
        }
    }
}

#[test]
fn a_machine_cut_off_anywhere_is_read_without_panic() {
    for (_, text) in TREES {
        let lines = text.match_indices('\n').map(|(end, _)| end);
        for cut in lines.step_by(23).flat_map(|end| [end - 1, end]) {
            // a section needs its path, whole
            if text[..cut].rsplit('\n').next().unwrap().starts_with("== ") {
                continue;
            }
            read_whole(&Tree::unpacked(&text[..cut]));
        }
    }
}

/// Everything that reads a machine.
fn read_whole(tree: &Tree) {
    let host = tree.host();
    let _ = host.machine(Path::new("/proc"));
    let _ = choose_cpus(&host.cpu);
    let findings = gritstone_host::examine(&host, &[], Path::new("/proc"), OsStr::new(""));
    assert!(findings.len() > 20);
    let mut watch = gritstone_host::Watch::open(&tree.root());
    let before = watch.begin(&[0, 1]);
    let _ = watch.end(&before, 1);
}
