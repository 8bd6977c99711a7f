//! Tunings of fake machines.

use super::tree::Tree;
use gritstone_host::Chosen;
use gritstone_host::tunables::{Setting, real_time, tunables};
use gritstone_model::CpuSet;

const CHOSEN: Chosen = Chosen { measured: 2, peer: Some(1), watcher: Some(0) };

const CPUFREQ: &str = "/sys/devices/system/cpu/cpufreq";
const TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";

/// Of each tunable, in the order of `tunables`.
type Settings = Result<Vec<(String, String, String)>, String>;

fn look(tree: &Tree, online: &str) -> [Settings; 3] {
    let tunables = tunables(&tree.root(), &CpuSet::parse(online).unwrap(), &CHOSEN);
    let names: Vec<&str> = tunables.iter().map(|tunable| tunable.name.as_str()).collect();
    let expected = ["governor performance", "turbo off", "interrupts away from CPU 2"];
    assert_eq!(names, expected);
    let plain = |Setting { owner, path, value }| (owner, path, value);
    let settings = tunables.into_iter().map(|tunable| {
        let settings = tunable.settings?;
        Ok(settings.into_iter().map(plain).collect())
    });
    settings.collect::<Vec<_>>().try_into().unwrap()
}

fn setting(owner: &str, path: &str, value: &str) -> (String, String, String) {
    (owner.to_owned(), path.to_owned(), value.to_owned())
}

#[test]
fn governors_and_turbo_are_tuned() {
    let tree = Tree::new();
    let file = |policy: &str, name: &str| format!("{CPUFREQ}/{policy}/{name}");
    for (policy, governor) in [("policy0", "powersave"), ("policy2", "performance")] {
        tree.file(&file(policy, "scaling_governor"), governor);
        let offered = "performance powersave\n";
        tree.file(&file(policy, "scaling_available_governors"), offered);
    }
    tree.file(TURBO, "0\n");
    let [governor, turbo, _] = look(&tree, "0-3");
    let performance = |policy| setting(policy, &file(policy, "scaling_governor"), "performance");
    assert_eq!(governor, Ok(["policy0", "policy2"].map(performance).to_vec()));
    assert_eq!(turbo, Ok(vec![setting("turbo", TURBO, "1")]));
    // other drivers have another switch, with the opposite sense
    tree.remove(TURBO);
    let boost = format!("{CPUFREQ}/boost");
    tree.file(&boost, "1\n");
    assert_eq!(look(&tree, "0-3")[1], Ok(vec![setting("turbo", &boost, "0")]));
    // a policy of offline CPUs
    tree.file(&file("policy3", "scaling_governor"), "powersave");
    assert_eq!(look(&tree, "0-3")[0], governor);
    // a policy without it
    tree.file(&file("policy2", "scaling_available_governors"), "schedutil\n");
    let why = look(&tree, "0-3")[0].clone().unwrap_err();
    assert_eq!(why, "policy2 offers 'schedutil' and not 'performance'");
    for why in look(&Tree::new(), "0-3") {
        assert!(why.unwrap_err().starts_with("no "));
    }
}

#[test]
fn interrupts_leave_the_measured_cpu() {
    let tree = Tree::new();
    let path = |number: u32| format!("/proc/irq/{number}/smp_affinity_list");
    for (number, device, cpus) in [
        (5, Some("timer"), "0-3"),
        (24, Some("virtio0-config"), "2"),
        (25, Some("nvme0q1"), "0-1,3"),
        (26, None, "0-3"),
        (100, Some("eth0"), "1-2"),
    ] {
        tree.file(&path(number), cpus);
        if let Some(device) = device {
            tree.file(&format!("/proc/irq/{number}/{device}/name"), "");
        }
    }
    tree.file("/proc/irq/default_smp_affinity", "f\n");
    let expected = [
        setting("interrupt 5 (timer)", &path(5), "0-1,3"),
        setting("interrupt 24 (virtio0-config)", &path(24), "0-1,3"),
        setting("interrupt 100 (eth0)", &path(100), "1"),
    ];
    assert_eq!(look(&tree, "0-3")[2], Ok(expected.to_vec()));
    let why = look(&tree, "2")[2].clone().unwrap_err();
    assert_eq!(why, "no other CPU can take them");
}

#[test]
fn real_time_needs_a_watcher() {
    let tree = Tree::new();
    let alone = Chosen { measured: 0, peer: None, watcher: None };
    let why = |chosen| real_time(&tree.root(), chosen).unwrap_err();
    assert!(why(&CHOSEN).contains("cannot be read"));
    let file = "/proc/sys/kernel/sched_rt_runtime_us";
    tree.file(file, "950000\n");
    let description = why(&CHOSEN);
    assert!(description.contains("for 50 ms in every 1000 ms"), "{description}");
    tree.file(file, "-1\n");
    assert_eq!(real_time(&tree.root(), &CHOSEN), Ok(()));
    assert!(why(&alone).contains("one CPU"));
}
