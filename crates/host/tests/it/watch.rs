//! Conditions on recorded machines whose counters are moved by hand, so that every figure is known.

use crate::common::{Tree, large};
use gritstone_host::Watch;

const MS: u64 = 1_000_000;

#[test]
fn ticks_are_time_and_the_launchs_own_is_taken_off() {
    let tree = Tree::recorded("cgroup-v2-half-cpu");
    tree.remove("/proc/schedstat");
    let mut watch = Watch::open(&tree.root());
    let before = watch.begin(&[1]);
    tree.file(
        "/proc/stat",
        "cpu  900 0 0 9000 0 0 0 9 0 0\ncpu0 600 0 0 4500 0 0 0 5 0 0\ncpu1 205 2 3 4600 9 1 1 4 0 0\n",
    );
    let conditions = watch.end(&before, 100 * MS);
    // 12 ticks of 10 ms were busy: iowait and steal are not
    assert_eq!(conditions.others, Some(20 * MS));
    assert_eq!(conditions.grain, Some(20 * MS));
    assert_eq!(conditions.steal, Some(40 * MS));
    assert_eq!(conditions.waited, None);
    assert_eq!(conditions.gap, None);
}

#[test]
fn schedstat_is_finer_than_ticks() {
    let tree = Tree::recorded("cgroup-v2-half-cpu");
    let mut watch = Watch::open(&tree.root());
    let (one, both) = (watch.begin(&[1]), watch.begin(&[]));
    tree.file(
        "/proc/schedstat",
        "version 15\ntimestamp 1\ncpu0 0 0 0 0 0 0 1000000500 5000007 7\ncpu1 0 0 0 0 0 0 2000003000 6000100 9\n",
    );
    let conditions = watch.end(&one, 1000);
    assert_eq!(conditions.others, Some(2000));
    assert_eq!(conditions.grain, Some(4 * MS));
    assert_eq!(conditions.waited, Some(100));
    let conditions = watch.end(&both, 1000);
    assert_eq!(conditions.others, Some(2500));
    assert_eq!(conditions.grain, Some(8 * MS));
    assert_eq!(conditions.waited, Some(107));

    // a spinner that had run for ten seconds when the launch came
    let before = watch.begin(&[1]);
    tree.file(
        "/proc/schedstat",
        "version 15\ntimestamp 1\ncpu0 0 0 0 0 0 0 1000000500 5000007 7\ncpu1 0 0 0 0 0 0 12000003000 6000100 9\n",
    );
    let conditions = watch.end(&before, 0);
    assert_eq!(conditions.others, Some(conditions.wall));
}

#[test]
fn the_outermost_cpuacct_is_finest_and_a_containers_is_not_used() {
    let tree = Tree::recorded("cgroup-v1-half-cpu");
    let usage = "/sys/fs/cgroup/cpu,cpuacct/cpuacct.usage_percpu";
    let mut watch = Watch::open(&tree.root());
    let before = watch.begin(&[1]);
    tree.file(usage, "1000000 2000700 \n");
    assert_eq!(watch.end(&before, 200).others, Some(500));

    tree.remove("/sys/fs/cgroup/cpu,cpuacct/release_agent");
    let mut watch = Watch::open(&tree.root());
    let before = watch.begin(&[1]);
    tree.file(usage, "1000000 99999999 \n");
    let conditions = watch.end(&before, 200);
    assert_eq!(
        conditions.others,
        Some(0),
        "by /proc/stat, which did not move"
    );
    assert_eq!(conditions.grain, Some(20 * MS));
}

#[test]
fn throttling_counts_on_every_level_with_a_quota() {
    let tree = Tree::recorded("cgroup-v1-half-cpu");
    let mut watch = Watch::open(&tree.root());
    let before = watch.begin(&[0]);
    let level = "/sys/fs/cgroup/cpu,cpuacct/jobs";
    tree.file(&format!("{level}/cpu.stat"), "throttled_time 250000900\n");
    tree.file(&format!("{level}/one/cpu.stat"), "throttled_time 11\n");
    tree.file("/sys/fs/cgroup/memory/jobs/one/memory.failcnt", "10\n");
    let conditions = watch.end(&before, 0);
    assert_eq!(conditions.throttled, Some(911));
    assert_eq!(conditions.memory_limit, Some(7));

    let tree = Tree::recorded("cgroup-v2-half-cpu");
    tree.file("/sys/fs/cgroup/memory.max", "1048576\n");
    let mut watch = Watch::open(&tree.root());
    let before = watch.begin(&[0]);
    tree.file(
        "/sys/fs/cgroup/cpu.stat",
        "usage_usec 100\nthrottled_usec 1700\n",
    );
    tree.file(
        "/sys/fs/cgroup/memory.events",
        "low 0\nhigh 0\nmax 11\noom 0\n",
    );
    tree.file(
        "/proc/pressure/cpu",
        "some avg10=1.00 avg60=3.56 avg300=1.60 total=1500\nfull avg10=0 total=0\n",
    );
    let conditions = watch.end(&before, 0);
    assert_eq!(conditions.throttled, Some(MS));
    assert_eq!(conditions.memory_limit, Some(2));
    assert_eq!(conditions.pressure, Some(500_000));
}

#[test]
fn one_file_tells_of_every_level_where_the_kernel_has_it() {
    let tree = Tree::recorded("cgroup-v2-half-cpu");
    let local = "/sys/fs/cgroup/cpu.stat.local";
    tree.file(local, "throttled_usec 5\n");
    let mut watch = Watch::open(&tree.root());
    let before = watch.begin(&[0]);
    tree.file(local, "throttled_usec 8\n");
    tree.file("/sys/fs/cgroup/cpu.stat", "throttled_usec 9999\n");
    assert_eq!(watch.end(&before, 0).throttled, Some(3000));
}

#[test]
fn what_the_other_cpus_did_is_a_mean_over_them() {
    let tree = large(4, "0-3");
    let stat = |busy: [u32; 4]| -> String {
        let cpus = busy.iter().enumerate();
        let lines = cpus.map(|(cpu, busy)| format!("cpu{cpu} {busy} 0 0 1000 0 0 0 0 0 0\n"));
        std::iter::once("cpu  0 0 0 1 0 0 0 0 0 0\n".to_owned())
            .chain(lines)
            .collect()
    };
    tree.file("/proc/stat", &stat([0; 4]));
    let mut watch = Watch::open(&tree.root());
    let (one, all) = (watch.begin(&[1]), watch.begin(&[]));
    tree.file("/proc/stat", &stat([5, 9, 0, 1]));
    assert_eq!(watch.end(&one, 0).elsewhere, Some(20 * MS));
    assert_eq!(watch.end(&all, 0).elsewhere, None);
}

/// PF_KTHREAD and another flag.
const KERNEL_THREAD: u64 = 0x0020_0040;

#[test]
fn the_kernels_threads_are_none_of_the_others_where_they_work_for_the_launch() {
    let tree = large(4, "0-3");
    let stat = |own: u32, other: u32| {
        format!(
            "cpu  0 0 0 1 0 0 0 0 0 0\ncpu0 {other} 0 0 1 0 0 0 0 0 0\ncpu1 {own} 0 0 1 0 0 0 0 0 0\n"
        )
    };
    // flags, ticks, and the CPU that it was on last
    let process = |pid: u32, flags: u64, ticks: u32, cpu: u32| {
        let between = "0 ".repeat(23);
        let stat = format!("{pid} (a) S 2 0 0 0 0 {flags} 0 0 0 0 {ticks} 0 {between}{cpu} 0\n");
        tree.file(&format!("/proc/{pid}/stat"), &stat);
    };
    tree.file("/proc/stat", &stat(0, 0));
    process(40, KERNEL_THREAD, 5, 1);
    process(41, KERNEL_THREAD, 5, 0);
    process(42, 64, 5, 1);
    let mut watch = Watch::open(&tree.root());
    let (plain, with) = (watch.begin(&[1]), watch.begin_with_the_kernel(&[1]));
    tree.file("/proc/stat", &stat(9, 12));
    process(40, KERNEL_THREAD, 9, 1);
    process(41, KERNEL_THREAD, 11, 0);
    process(42, 64, 25, 1);
    let conditions = watch.end(&plain, 10 * MS);
    assert_eq!(conditions.others, Some(80 * MS));
    assert_eq!(conditions.elsewhere, Some(40 * MS));
    let conditions = watch.end(&with, 10 * MS);
    assert_eq!(conditions.others, Some(40 * MS));
    assert_eq!(conditions.elsewhere, Some(20 * MS));
    // what the counter alone may make is nobody's: they are not asked
    let with = watch.begin_with_the_kernel(&[1]);
    tree.file("/proc/stat", &stat(11, 12));
    process(40, KERNEL_THREAD, 11, 1);
    let conditions = watch.end(&with, 0);
    assert_eq!(conditions.others, Some(20 * MS));
    assert_eq!(conditions.grain, Some(20 * MS));
    assert_eq!(conditions.elsewhere, Some(0));
    // nor for a tick on three CPUs beside a launch that is many ticks long
    let with = watch.begin_with_the_kernel(&[1]);
    tree.file("/proc/stat", &stat(11, 15));
    process(41, KERNEL_THREAD, 14, 0);
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(watch.end(&with, 0).elsewhere, Some(10 * MS));
}

#[test]
fn hot_cpus_of_the_launch_count() {
    let tree = Tree::recorded("virtual-machine");
    let file =
        |cpu: u32| format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle/core_throttle_count");
    tree.file(&file(0), "5\n");
    tree.file(&file(1), "7\n");
    let mut watch = Watch::open(&tree.root());
    let before = watch.begin(&[1]);
    tree.file(&file(0), "50\n");
    tree.file(&file(1), "9\n");
    assert_eq!(watch.end(&before, 0).overheated, Some(2));
}

#[test]
fn three_hundred_cpus() {
    let tree = large(300, "0-249,260-299");
    let mut watch = Watch::open(&tree.root());
    let (high, off) = (watch.begin(&[299]), watch.begin(&[255]));
    let longer: String = std::iter::once("cpu  0 0 0 1 0 0 0 0 0 0\n".to_owned())
        .chain((0..300).map(|cpu| format!("cpu{cpu} {} 0 0 1000 0 0 0 3 0 0\n", cpu + 7)))
        .collect();
    tree.file("/proc/stat", &longer);
    let conditions = watch.end(&high, 0);
    assert_eq!(
        (conditions.others, conditions.steal),
        (Some(70 * MS), Some(20 * MS))
    );
    let conditions = watch.end(&off, 0);
    assert_eq!(
        (conditions.others, conditions.steal),
        (None, None),
        "CPU 255 was offline"
    );
}

#[test]
fn what_goes_back_or_is_not_there_is_not_known() {
    let tree = Tree::recorded("virtual-machine");
    tree.remove("/sys/fs/cgroup/cpuacct/release_agent");
    let mut watch = Watch::open(&tree.root());
    let before = watch.begin(&[0, 1]);
    tree.file("/proc/stat", "cpu0 1 0 0 1 0 0 0 0\ncpu1 1 0 0 1 0 0 0 0\n");
    tree.file("/proc/pressure/cpu", "");
    let conditions = watch.end(&before, 0);
    assert_eq!((conditions.others, conditions.grain), (None, None));
    assert_eq!((conditions.steal, conditions.pressure), (None, None));

    let empty = Tree::new();
    let mut watch = Watch::open(&empty.root());
    let before = watch.begin(&[0]);
    let conditions = watch.end(&before, 5);
    let nothing = gritstone_model::Conditions {
        wall: conditions.wall,
        ..Default::default()
    };
    assert_eq!(conditions, nothing);
}
