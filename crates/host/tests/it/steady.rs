//! What could be steadied, on machines that are made up.

use crate::common::Tree;
use gritstone_host::Chosen;
use gritstone_host::steady::{Aim, Setting, aims, real_time};
use gritstone_model::CpuSet;

const CHOSEN: Chosen = Chosen {
    measured: 2,
    peer: Some(1),
    watcher: Some(0),
};

fn look(tree: &Tree, online: &str) -> Vec<Aim> {
    aims(&tree.root(), &CpuSet::parse(online).unwrap(), &CHOSEN)
}

fn setting(of: &str, path: &str, value: &str) -> Setting {
    Setting {
        of: of.to_owned(),
        path: path.to_owned(),
        value: value.to_owned(),
    }
}

#[test]
fn every_policy_and_the_switch_of_the_driver() {
    let tree = Tree::new();
    const DIRECTORY: &str = "/sys/devices/system/cpu/cpufreq";
    for (policy, governor) in [("policy0", "powersave"), ("policy2", "performance")] {
        tree.file(&format!("{DIRECTORY}/{policy}/scaling_governor"), governor);
        let offered = "performance powersave\n";
        tree.file(
            &format!("{DIRECTORY}/{policy}/scaling_available_governors"),
            offered,
        );
    }
    tree.file("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    let found = look(&tree, "0-3");
    assert_eq!(found[0].name, "governor performance");
    let governors = ["policy0", "policy2"].map(|p| {
        setting(
            p,
            &format!("{DIRECTORY}/{p}/scaling_governor"),
            "performance",
        )
    });
    assert_eq!(found[0].settings, Ok(governors.to_vec()));
    let turbo = setting(
        "turbo",
        "/sys/devices/system/cpu/intel_pstate/no_turbo",
        "1",
    );
    assert_eq!(found[1].settings, Ok(vec![turbo]));
    // other drivers have another switch, and it is the other way round
    tree.remove("/sys/devices/system/cpu/intel_pstate/no_turbo");
    tree.file(&format!("{DIRECTORY}/boost"), "1\n");
    let turbo = setting("turbo", &format!("{DIRECTORY}/boost"), "0");
    assert_eq!(look(&tree, "0-3")[1].settings, Ok(vec![turbo]));
    // a policy that cannot
    tree.file(
        &format!("{DIRECTORY}/policy2/scaling_available_governors"),
        "schedutil\n",
    );
    let why = look(&tree, "0-3")[0].settings.clone().unwrap_err();
    assert_eq!(why, "policy2 offers 'schedutil' and not 'performance'");
}

#[test]
fn a_machine_that_shows_nothing_has_a_reason_for_everything() {
    for aim in look(&Tree::new(), "0-3") {
        let why = aim.settings.unwrap_err();
        assert!(why.starts_with("there is no"), "{}: {why}", aim.name);
    }
}

#[test]
fn interrupts_of_devices_leave_the_measured_cpu() {
    let tree = Tree::new();
    for (number, device, cpus) in [
        (5, Some("timer"), "0-3"),
        (24, Some("virtio0-config"), "2"),
        (25, Some("nvme0q1"), "0-1,3"),
        (26, None, "0-3"),
        (100, Some("eth0"), "1-2"),
    ] {
        tree.file(
            &format!("/proc/irq/{number}/smp_affinity_list"),
            &format!("{cpus}\n"),
        );
        if let Some(device) = device {
            tree.file(&format!("/proc/irq/{number}/{device}/name"), "");
        }
    }
    tree.file("/proc/irq/default_smp_affinity", "f\n");
    let found = look(&tree, "0-3").pop().unwrap();
    assert_eq!(found.name, "interrupts away from CPU 2");
    let path = |number: u32| format!("/proc/irq/{number}/smp_affinity_list");
    assert_eq!(
        found.settings,
        Ok(vec![
            setting("interrupt 5 (timer)", &path(5), "0-1,3"),
            setting("interrupt 24 (virtio0-config)", &path(24), "0-1,3"),
            setting("interrupt 100 (eth0)", &path(100), "1"),
        ])
    );
    let why = look(&tree, "2").pop().unwrap().settings.unwrap_err();
    assert_eq!(why, "there is no other CPU for them");
}

#[test]
fn real_time_only_where_the_kernel_lets_it_run_and_somebody_else_can_stop_it() {
    let tree = Tree::new();
    let file = "/proc/sys/kernel/sched_rt_runtime_us";
    let why = real_time(&tree.root(), &CHOSEN).unwrap_err();
    assert!(why.contains("cannot be read"), "{why}");
    tree.file(file, "950000\n");
    let why = real_time(&tree.root(), &CHOSEN).unwrap_err();
    assert!(
        why.contains("for 50 ms in every 1000 ms") && why.contains("sysctl -w"),
        "{why}"
    );
    tree.file(file, "-1\n");
    assert_eq!(real_time(&tree.root(), &CHOSEN), Ok(()));
    let alone = Chosen {
        measured: 0,
        peer: None,
        watcher: None,
    };
    assert!(
        real_time(&tree.root(), &alone)
            .unwrap_err()
            .contains("one CPU")
    );
}
