//! Memory, limits of this process, and the current load.

use crate::Root;
use crate::counters::{keyed, steal_share};
use crate::text;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Bytes managed by the kernel.
    pub total: Option<u64>,
    /// Bytes available without swapping.
    pub available: Option<u64>,
    /// Bytes.
    pub swap: Option<u64>,
    /// Number of memory nodes.
    pub nodes: Option<usize>,
}

impl Memory {
    pub(super) fn read(root: &Root) -> Self {
        let info = root.text("/proc/meminfo").unwrap_or_default();
        Self {
            total: text::kilobytes(&info, "MemTotal"),
            available: text::kilobytes(&info, "MemAvailable"),
            swap: text::kilobytes(&info, "SwapTotal"),
            nodes: root.cpus("/sys/devices/system/node/online").map(|set| set.len()),
        }
    }
}

/// Soft limits of this process, which its children inherit; `None` if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Processes and threads of the user, `RLIMIT_NPROC`; root is exempt.
    pub processes: Option<u64>,
    /// `RLIMIT_NOFILE`.
    pub files: Option<u64>,
    /// Bytes, `RLIMIT_AS`.
    pub address_space: Option<u64>,
}

impl Limits {
    pub(super) fn read(root: &Root) -> Self {
        let table = root.text("/proc/self/limits").unwrap_or_default();
        Self {
            processes: limit(&table, "Max processes"),
            files: limit(&table, "Max open files"),
            address_space: limit(&table, "Max address space"),
        }
    }
}

/// `RLIM_INFINITY`.
pub const UNLIMITED: u64 = u64::MAX;

fn limit(table: &str, name: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.strip_prefix(name))?;
    match line.split_whitespace().next()? {
        "unlimited" => Some(UNLIMITED),
        number => number.parse().ok(),
    }
}

/// Current load, no fact of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Load average over a minute.
    pub one: Option<f64>,
    /// Load average over five minutes.
    pub five: Option<f64>,
    /// Load average over fifteen minutes.
    pub fifteen: Option<f64>,
    /// Runnable processes, this one included.
    pub runnable: Option<u64>,
    /// `None` without a battery.
    pub on_battery: Option<bool>,
    /// Share of the time since boot that was stolen, 0 to 1.
    pub steal: Option<f64>,
}

impl Load {
    pub(super) fn read(root: &Root) -> Self {
        let averages = root.line("/proc/loadavg").unwrap_or_default();
        let mut words = averages.split(' ');
        let mut average = || {
            let load: f64 = words.next()?.parse().ok()?;
            (load.is_finite() && load >= 0.0).then_some(load)
        };
        let (one, five, fifteen) = (average(), average(), average());
        let stat = root.bytes("/proc/stat").unwrap_or_default();
        Self {
            one,
            five,
            fifteen,
            runnable: keyed(&stat, b"procs_running"),
            on_battery: on_battery(root),
            steal: steal_share(&stat),
        }
    }
}

/// True if any battery of the machine, and not of a mouse or headset, is discharging.
fn on_battery(root: &Root) -> Option<bool> {
    const SUPPLIES: &str = "/sys/class/power_supply";
    let line = |supply: &String, file: &str| root.line(&format!("{SUPPLIES}/{supply}/{file}"));
    let supplies = root.names(SUPPLIES);
    let batteries = supplies
        .iter()
        .filter(|s| line(s, "type").as_deref() == Some("Battery"))
        .filter(|s| line(s, "scope").as_deref() != Some("Device"));
    let states: Vec<Option<String>> = batteries.map(|s| line(s, "status")).collect();
    let emptied = |state: &Option<String>| state.as_deref() == Some("Discharging");
    (!states.is_empty()).then(|| states.iter().any(emptied))
}
