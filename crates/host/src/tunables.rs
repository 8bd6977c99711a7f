//! Settings that would fix the frequency and keep interrupts away from measured CPUs.

use crate::facts;
use crate::{Chosen, Root};
use gritstone_model::CpuSet;

/// One effect to achieve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunable {
    /// `governor performance`.
    pub name: String,
    /// All settings that it needs, also those that are right already; or the reason for which it is impossible.
    pub settings: Result<Vec<Setting>, String>,
}

/// A setting of the machine, and its wanted value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// `policy0`, `interrupt 24 (virtio0)`.
    pub owner: String,
    /// Absolute path of its file.
    pub path: String,
    pub value: String,
}

/// Possible tunings for measurements on `chosen`, on a machine with these online CPUs.
pub fn tunables(root: &Root, online: &CpuSet, chosen: &Chosen) -> Vec<Tunable> {
    vec![
        Tunable { name: "governor performance".to_owned(), settings: governor(root) },
        Tunable { name: "turbo off".to_owned(), settings: turbo(root) },
        Tunable {
            name: format!("interrupts away from CPU {}", chosen.measured),
            settings: interrupts(root, online, chosen.measured),
        },
    ]
}

fn governor(root: &Root) -> Result<Vec<Setting>, String> {
    const WANTED: &str = "performance";
    const DIRECTORY: &str = "/sys/devices/system/cpu/cpufreq";
    let policies = root.names(DIRECTORY);
    let policies = policies.iter().filter(|name| name.starts_with("policy"));
    let mut settings = vec![];
    for policy in policies {
        let offered = root.line(&format!("{DIRECTORY}/{policy}/scaling_available_governors"));
        // a policy of offline CPUs cannot be read
        let Some(offered) = offered else { continue };
        if !offered.split_whitespace().any(|name| name == WANTED) {
            return Err(format!("{policy} offers '{offered}' and not '{WANTED}'"));
        }
        settings.push(Setting {
            owner: policy.clone(),
            path: format!("{DIRECTORY}/{policy}/scaling_governor"),
            value: WANTED.to_owned(),
        });
    }
    if settings.is_empty() {
        return Err(format!(
            "no governor in {DIRECTORY}: the hypervisor or the firmware sets the frequency"
        ));
    }
    Ok(settings)
}

fn turbo(root: &Root) -> Result<Vec<Setting>, String> {
    let switch = facts::turbo(root).ok_or(
        "no turbo switch in /sys/devices/system/cpu (intel_pstate/no_turbo, cpufreq/boost): the hypervisor or the firmware decides",
    )?;
    Ok(vec![Setting {
        owner: "turbo".to_owned(),
        path: switch.file.to_owned(),
        value: switch.off.to_owned(),
    }])
}

/// The interrupts that may come to the measured CPU, each with the other CPUs.
fn interrupts(root: &Root, online: &CpuSet, measured: u32) -> Result<Vec<Setting>, String> {
    const DIRECTORY: &str = "/proc/irq";
    let without = |cpus: &CpuSet| cpus.iter().filter(|&cpu| cpu != measured).collect();
    let elsewhere: CpuSet = without(online);
    if elsewhere.is_empty() {
        return Err("no other CPU can take them".to_owned());
    }
    let mut numbers: Vec<u32> =
        root.names(DIRECTORY).iter().filter_map(|name| name.parse().ok()).collect();
    if numbers.is_empty() {
        return Err(format!("no interrupts in {DIRECTORY}"));
    }
    numbers.sort_unstable();
    let mut settings = vec![];
    for number in numbers {
        let directory = format!("{DIRECTORY}/{number}");
        // a device that uses the interrupt has a directory there; without one it never comes
        let Some(device) = root
            .names(&directory)
            .into_iter()
            .find(|name| root.join(&format!("{directory}/{name}")).is_dir())
        else {
            continue;
        };
        let path = format!("{directory}/smp_affinity_list");
        let Some(cpus) = root.cpus(&path).filter(|cpus| cpus.contains(measured)) else {
            continue;
        };
        let left: CpuSet = without(&cpus);
        let left = if left.is_empty() { &elsewhere } else { &left };
        settings.push(Setting {
            owner: format!("interrupt {number} ({device})"),
            path,
            value: left.to_string(),
        });
    }
    Ok(settings)
}

/// Checks that real-time priority helps measurements on `chosen`, and does no harm. The error has the reason and a
/// remedy.
pub fn real_time(root: &Root, chosen: &Chosen) -> Result<(), String> {
    const FILE: &str = "/proc/sys/kernel/sched_rt_runtime_us";
    if chosen.watcher.is_none() {
        return Err(
            "with one CPU, a real-time program that hangs would block the system".to_owned()
        );
    }
    match root.number::<i64>(FILE) {
        Some(-1) => Ok(()),
        Some(runtime) => {
            let period: i64 =
                root.number("/proc/sys/kernel/sched_rt_period_us").unwrap_or(1_000_000);
            Err(format!(
                "the kernel stops real-time programs for {} ms in every {} ms, which would be in the samples; \
                 `sysctl -w kernel.sched_rt_runtime_us=-1` lifts that, and with it the guard against one that hangs",
                (period - runtime) / 1000,
                period / 1000
            ))
        }
        None => Err(format!(
            "{FILE} cannot be read, so it is not known whether the kernel stops real-time programs at times"
        )),
    }
}
