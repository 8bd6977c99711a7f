//! The kernel: release, settings that affect results, and clocks.

use crate::Root;
use crate::text;
use std::collections::BTreeMap;

/// Words of the kernel's command line that affect results; the rest (devices, consoles, keys) is private.
const PARAMETERS: &str = "\
    amd_pstate clocksource cpuidle.off default_hugepagesz hugepages hugepagesz idle \
    intel_idle.max_cstate intel_pstate irqaffinity isolcpus maxcpus mitigations nohz nohz_full \
    nokaslr nopti nosmt numa_balancing preempt processor.max_cstate rcu_nocbs skew_tick \
    threadirqs transparent_hugepage";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// `uname -r`.
    pub release: Option<String>,
    /// `uname -v`.
    pub version: Option<String>,
    /// Words of its command line that affect results.
    pub parameters: Vec<String>,
    /// Period of the scheduler tick, ns.
    pub tick: Option<u64>,
    /// In use.
    pub clock_source: Option<String>,
    /// Available.
    pub clock_sources: Vec<String>,
    /// Of the clock that times samples, ns.
    pub resolution: Option<u64>,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub huge_pages: Option<String>,
    /// 0 none, 1 without the heap, 2 full.
    pub aslr: Option<u8>,
    /// Of TCP. BBR uses pacing: between two network namespaces, small messages have a third of CUBIC's rate.
    pub congestion_control: Option<String>,
    /// State of mitigations by hardware vulnerability.
    pub mitigations: BTreeMap<String, String>,
}

impl Kernel {
    pub(super) fn read(root: &Root) -> Self {
        const CLOCK: &str = "/sys/devices/system/clocksource/clocksource0";
        Self {
            release: root.line("/proc/sys/kernel/osrelease"),
            version: root.line("/proc/sys/kernel/version"),
            parameters: parameters(&root.text("/proc/cmdline").unwrap_or_default()),
            tick: root.syscall_results().tick,
            clock_source: root.line(&format!("{CLOCK}/current_clocksource")),
            clock_sources: root
                .line(&format!("{CLOCK}/available_clocksource"))
                .map(|line| line.split(' ').map(str::to_owned).collect())
                .unwrap_or_default(),
            resolution: root.syscall_results().resolution,
            huge_pages: root
                .line("/sys/kernel/mm/transparent_hugepage/enabled")
                .and_then(|line| text::chosen(&line).map(str::to_owned)),
            aslr: root.number("/proc/sys/kernel/randomize_va_space"),
            congestion_control: root.line("/proc/sys/net/ipv4/tcp_congestion_control"),
            mitigations: mitigations(root),
        }
    }

    /// Ticks per second, rounded.
    pub(crate) fn hz(&self) -> Option<u64> {
        let tick = self.tick.filter(|&tick| tick > 0)?;
        Some((1_000_000_000 + tick / 2) / tick)
    }
}

fn parameters(command_line: &str) -> Vec<String> {
    command_line
        .split_whitespace()
        .filter(|word| {
            let name = word.split_once('=').map_or(*word, |(name, _)| name);
            PARAMETERS.split(' ').any(|known| known == name)
        })
        .filter_map(text::clean)
        .collect()
}

fn mitigations(root: &Root) -> BTreeMap<String, String> {
    const DIRECTORY: &str = "/sys/devices/system/cpu/vulnerabilities";
    root.names(DIRECTORY)
        .into_iter()
        .filter_map(|name| {
            let state = root.line(&format!("{DIRECTORY}/{name}"))?;
            Some((text::clean(&name)?, state))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_is_filtered() {
        let line = "root=UUID=1234 mitigations=off quiet nosmt isolcpus=2-3 password=x\n";
        let expected = ["mitigations=off", "nosmt", "isolcpus=2-3"];
        assert_eq!(parameters(line), expected);
    }
}
