//! Conditions on recorded machines whose counters are changed by hand, so that all results are known.

use super::tree::{Tree, large, plain, using};
use gritstone_host::Watch;
use gritstone_model::{Benchmark, Conditions, CpuSet};

const MS: u64 = 1_000_000;

/// Conditions of a launch on `cpus` that used `used` ns, during which files of the machine change.
fn watched(tree: &Tree, cpus: &[u32], used: u64, changes: &[(&str, &str)]) -> Conditions {
    let mut watch = Watch::open(&tree.root());
    let before = watch.begin(&plain(), cpus, 1);
    for (path, content) in changes {
        tree.file(path, content);
    }
    watch.end(&before, used)
}

#[test]
fn launch_time_is_subtracted() {
    let tree = Tree::recorded("cgroup-v2-half-cpu");
    tree.remove("/proc/schedstat");
    let stat = "cpu  900 0 0 9000 0 0 0 9 0 0\ncpu0 600 0 0 4500 0 0 0 5 0 0\ncpu1 205 2 3 4600 9 1 1 4 0 0\n";
    let seen = watched(&tree, &[1], 100 * MS, &[("/proc/stat", stat)]);
    // 12 ticks of 10 ms were busy: iowait and steal are not
    let expected = Conditions {
        wall: seen.wall,
        others: Some(20 * MS),
        grain: Some(20 * MS),
        steal: Some(40 * MS),
        cpus: 1,
        ..seen
    };
    assert_eq!(seen, expected);
}

#[test]
fn schedstat_is_finer_than_ticks() {
    let schedstat = |run: u64| {
        format!(
            "version 15\ntimestamp 1\ncpu0 0 0 0 0 0 0 1000000500 5000007 7\ndomain0 MC 3 0 1\ncpu1 0 0 0 0 0 0 {run} 6000100 9\n"
        )
    };
    for (cpus, run, others, count) in [
        (&[1][..], 2_000_003_000, Some(2000), 1),
        (&[], 2_000_003_000, Some(2500), 2),
        // a spinner that had run for ten seconds when the launch began
        (&[1], 12_000_003_000, None, 1),
    ] {
        let tree = Tree::recorded("cgroup-v2-half-cpu");
        let seen = watched(&tree, cpus, 1000, &[("/proc/schedstat", &schedstat(run))]);
        let all = Some(seen.wall - 1000);
        assert_eq!(seen.others, others.or(all), "{cpus:?}");
        let grain = Some(u64::from(count) * 4 * MS);
        assert_eq!((seen.grain, seen.cpus), (grain, count));
    }
}

#[test]
fn other_cpus_are_ignored() {
    let mut tree = Tree::recorded("cgroup-v2-half-cpu");
    tree.syscall_results.allowed = CpuSet::parse("1");
    let schedstat = "version 15\ntimestamp 1\ncpu0 0 0 0 0 0 0 9000000500 5000007 7\ndomain0 MC 3 0 1\ncpu1 0 0 0 0 0 0 2000003000 6000100 9\n";
    let seen = watched(&tree, &[], 1000, &[("/proc/schedstat", schedstat)]);
    assert_eq!((seen.others, seen.cpus), (Some(2000), 1));
}

#[test]
fn cpus_are_counted_without_sys() {
    for (allowed, cpus) in [("0-3", 4), ("1-2", 2)] {
        let mut tree = large(4, "0-3");
        tree.syscall_results.allowed = CpuSet::parse(allowed);
        tree.remove("/sys/devices/system/cpu/online");
        tree.remove("/sys/devices/system/cpu/possible");
        assert_eq!(watched(&tree, &[], 0, &[]).cpus, cpus);
    }
}

#[test]
fn only_outermost_cpuacct_is_used() {
    let tree = Tree::recorded("cgroup-v1-half-cpu");
    let usage = "/sys/fs/cgroup/cpu,cpuacct/cpuacct.usage_percpu";
    let seen = watched(&tree, &[1], 200, &[(usage, "1000000 2000700 \n")]);
    assert_eq!(seen.others, Some(500));
    tree.remove("/sys/fs/cgroup/cpu,cpuacct/release_agent");
    let seen = watched(&tree, &[1], 200, &[(usage, "1000000 99999999 \n")]);
    // by /proc/stat, which did not change
    assert_eq!((seen.others, seen.grain), (Some(0), Some(20 * MS)));
}

#[test]
fn throttling_counts_on_all_levels() {
    let level = |file: &str| format!("/sys/fs/cgroup/cpu,cpuacct/jobs/{file}");
    let changes = [
        (&*level("cpu.stat"), "throttled_time 250000900\n"),
        (&*level("one/cpu.stat"), "throttled_time 11\n"),
        ("/sys/fs/cgroup/memory/jobs/one/memory.failcnt", "10\n"),
    ];
    let seen = watched(&Tree::recorded("cgroup-v1-half-cpu"), &[0], 0, &changes);
    assert_eq!((seen.throttled, seen.memory_limit), (Some(911), Some(7)));

    let tree = Tree::recorded("cgroup-v2-half-cpu");
    tree.file("/sys/fs/cgroup/memory.max", "1048576\n");
    let stat = "/sys/fs/cgroup/cpu.stat";
    let changes = [
        (stat, "usage_usec 100\nthrottled_usec 1700\n"),
        ("/sys/fs/cgroup/memory.events", "low 0\nhigh 0\nmax 11\noom 0\n"),
    ];
    let seen = watched(&tree, &[0], 0, &changes);
    assert_eq!((seen.throttled, seen.memory_limit), (Some(MS), Some(2)));
    // one file includes every level where the kernel has it
    let local = "/sys/fs/cgroup/cpu.stat.local";
    tree.file(local, "throttled_usec 5\n");
    let changes = [(local, "throttled_usec 8\n"), (stat, "throttled_usec 9999\n")];
    assert_eq!(watched(&tree, &[0], 0, &changes).throttled, Some(3000));
}

/// PF_KTHREAD and another flag.
const KERNEL_THREAD: u64 = 0x0020_0040;

/// A machine of four CPUs with these busy ticks.
fn busy(tree: &Tree, ticks: [u32; 4]) {
    let mut stat = String::from("cpu  0 0 0 1 0 0 0 0 0 0\n");
    for (cpu, busy) in ticks.iter().enumerate() {
        stat += &format!("cpu{cpu} {busy} 0 0 1000 0 0 0 0 0 0\n");
    }
    tree.file("/proc/stat", &stat);
}

/// A process: parent, flags, ticks of its own and of its children, and its last CPU.
fn process(tree: &Tree, pid: u32, parent: u32, flags: u64, [ticks, children]: [u32; 2], cpu: u32) {
    let stat = format!(
        "{pid} (a b) c) S {parent} 1 1 0 -1 {flags} 0 0 0 0 {ticks} 0 {children} 0 {}{cpu} 0\n",
        "0 ".repeat(21)
    );
    tree.file(&format!("/proc/{pid}/stat"), &stat);
}

#[test]
fn kernel_threads_can_be_excluded() {
    let tree = large(4, "0-3");
    let kernel = |pid, ticks, cpu| process(&tree, pid, 2, KERNEL_THREAD, [ticks, 0], cpu);
    let fine =
        |pid: u32, ns: u64| tree.file(&format!("/proc/{pid}/schedstat"), &format!("{ns} 5 6\n"));
    busy(&tree, [0; 4]);
    kernel(40, 5, 1);
    kernel(41, 5, 0);
    process(&tree, 42, 2, 64, [5, 0], 1);
    let mut watch = Watch::open(&tree.root());
    let written_back = Benchmark { kernel_threads: true, ..plain() };
    let mut begin = |benchmark: &Benchmark| watch.begin(benchmark, &[1], 1);
    let (alone, with) = (begin(&plain()), begin(&written_back));
    busy(&tree, [12, 9, 0, 0]);
    kernel(40, 9, 1);
    kernel(41, 11, 0);
    process(&tree, 42, 2, 64, [25, 0], 1);
    // 40 ms of a kernel thread, and 40 ms of a process
    assert_eq!(watch.end(&alone, 10 * MS).others, Some(80 * MS));
    assert_eq!(watch.end(&with, 10 * MS).others, Some(40 * MS));
    // below the grain, kernel threads are not read
    let with = watch.begin(&written_back, &[1], 1);
    busy(&tree, [12, 11, 0, 0]);
    kernel(40, 11, 1);
    let seen = watch.end(&with, 0);
    assert_eq!((seen.others, seen.grain), (Some(20 * MS), Some(20 * MS)));
    // ns if the kernel counts them; a new thread counts from 0, and its pid may be reused
    fine(40, 1000);
    let with = watch.begin(&written_back, &[1], 1);
    busy(&tree, [15, 31, 0, 0]);
    fine(40, 1700);
    kernel(43, 3, 1);
    process(&tree, 41, 2, 64, [900, 0], 1);
    assert_eq!(watch.end(&with, 0).others, Some(170 * MS - 700));
}

#[test]
fn background_load_is_not_others() {
    let tree = large(4, "0-3");
    process(&tree, 1, 0, 0x0040_0100, [1, 100], 0);
    process(&tree, 7, 2, KERNEL_THREAD, [9000, 0], 0);
    process(&tree, 20, 1, 0x0040_0100, [10, 20], 0);
    let ours = |ticks| {
        process(&tree, 30, 1, 0x0040_0100, [ticks, 0], 0);
        process(&tree, 31, 30, 0x0040_0100, [ticks, ticks], 0);
        process(&tree, 32, 31, 0x0040_0100, [ticks, 0], 0);
    };
    ours(700);
    let mut watch = Watch::open(&tree.root());
    let loaded = using(&["load/users"]);
    let mut begin = |harness| watch.begin(&loaded, &[1], harness);
    let (beside, of_another) = (begin(30), begin(99));
    ours(800);
    process(&tree, 7, 2, KERNEL_THREAD, [9900, 0], 0);
    process(&tree, 20, 1, 0x0040_0100, [11, 22], 0);
    let seen = watch.end(&beside, 0);
    assert_eq!((seen.others, seen.cpus), (Some(30 * MS), 4));
    assert_eq!(watch.end(&of_another, 0).others, Some(4030 * MS));
}

#[test]
fn hidden_processes_leave_others_unknown() {
    let tree = large(4, "0-3");
    busy(&tree, [0; 4]);
    process(&tree, 30, 1, 64, [5, 0], 1);
    let mut watch = Watch::open(&tree.root());
    let written_back = Benchmark { kernel_threads: true, ..plain() };
    let before = [&written_back, &using(&["load/users"]), &plain()]
        .map(|benchmark| watch.begin(benchmark, &[1], 30));
    busy(&tree, [9; 4]);
    let others = before.each_ref().map(|before| watch.end(before, 0).others);
    assert_eq!(others, [None, None, Some(90 * MS)]);
    // below the grain, kernel threads do not matter
    let before = watch.begin(&written_back, &[1], 30);
    busy(&tree, [11; 4]);
    assert_eq!(watch.end(&before, 0).others, Some(20 * MS));
}

#[test]
fn three_hundred_cpus() {
    for (cpu, others, steal) in [
        (299, Some(70 * MS), Some(20 * MS)),
        // it was offline
        (255, None, None),
    ] {
        let tree = large(300, "0-249,260-299");
        let mut longer = String::from("cpu  0 0 0 1 0 0 0 0 0 0\n");
        for cpu in 0..300 {
            longer += &format!("cpu{cpu} {} 0 0 1000 0 0 0 3 0 0\n", cpu + 7);
        }
        let seen = watched(&tree, &[cpu], 0, &[("/proc/stat", &longer)]);
        assert_eq!((seen.others, seen.steal), (others, steal), "CPU {cpu}");
    }
}

#[test]
fn broken_counters_are_unknown() {
    let tree = Tree::recorded("virtual-machine");
    tree.remove("/sys/fs/cgroup/cpuacct/release_agent");
    let back = "cpu0 1 0 0 1 0 0 0 0\ncpu1 1 0 0 1 0 0 0 0\n";
    let seen = watched(&tree, &[0, 1], 0, &[("/proc/stat", back)]);
    assert_eq!((seen.others, seen.grain), (None, None));
    assert_eq!(seen.steal, None);

    let seen = watched(&Tree::new(), &[0], 5, &[]);
    let nothing = Conditions { wall: seen.wall, cpus: 1, ..Conditions::default() };
    assert_eq!(seen, nothing);
}

#[test]
fn energy_sums_packages_and_wraps() {
    let zone = |zone: &str, file: &str| format!("/sys/class/powercap/{zone}/{file}");
    let seen = |packages: &[(&str, &str, [u64; 2])]| {
        let tree = Tree::new();
        for (package, name, [before, _]) in packages {
            tree.file(&zone(package, "name"), &format!("{name}\n"));
            tree.file(&zone(package, "energy_uj"), &format!("{before}\n"));
            tree.file(&zone(package, "max_energy_range_uj"), "262143328850\n");
        }
        let after = packages.iter().map(|(package, _, [_, after])| {
            let path = zone(package, "energy_uj");
            (path, format!("{after}\n"))
        });
        let after: Vec<(String, String)> = after.collect();
        let changes: Vec<(&str, &str)> =
            after.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
        watched(&tree, &[0], 0, &changes).energy_uj
    };
    let [one, core, two, board, again] = [
        ("intel-rapl:0", "package-0", [5_000_000, 7_500_000]),
        ("intel-rapl:0:0", "core", [1, 1_000_000]),
        ("intel-rapl:1", "package-1", [262_143_328_000, 1150]),
        ("intel-rapl:2", "psys", [1, 9_000_000]),
        ("intel-rapl-mmio:0", "package-0", [5_000_000, 7_500_000]),
    ];
    assert_eq!(seen(&[one, core, two, board, again]), Some(2_500_000 + 2000));
    assert_eq!(seen(&[core, board]), None, "neither is a package");
    assert_eq!(seen(&[]), None);
}
