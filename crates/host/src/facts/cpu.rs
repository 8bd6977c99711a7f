//! Processors: models, number, permitted CPUs, and frequency settings.

use super::topology::{self, Core};
use crate::Root;
use crate::text;
use gritstone_model::{Cache, CacheKind, CpuSet};
use std::collections::{BTreeMap, BTreeSet};

const SYS: &str = "/sys/devices/system/cpu";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Distinct models; several with big and little cores.
    pub models: Vec<String>,
    /// Revision.
    pub microcode: Option<String>,
    /// Instruction set of this program: `x86_64`, `aarch64`, ...
    pub architecture: String,
    /// Number of CPUs, offline ones included.
    pub present: usize,
    pub online: CpuSet,
    /// Permitted for this process.
    pub allowed: CpuSet,
    /// By online CPU.
    pub cores: BTreeMap<u32, Core>,
    /// Relative speed of each CPU if the kernel reports it (1024 is the fastest).
    pub capacity: BTreeMap<u32, u32>,
    /// Caches of the first online CPU.
    pub caches: Vec<Cache>,
    /// Current governors.
    pub governors: BTreeSet<String>,
    pub driver: Option<String>,
    /// Maximum frequency.
    pub max_khz: Option<u64>,
    pub turbo: Option<Turbo>,
    /// Threads share cores.
    pub smt: Option<bool>,
    /// /sys lets SMT be switched.
    pub smt_control: bool,
    /// The processor reports a hypervisor; only x86 has such a flag.
    pub hypervisor: Option<bool>,
}

/// Switch for frequencies above the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turbo {
    pub on: bool,
    pub file: &'static str,
    /// Value that switches it off.
    pub off: &'static str,
}

impl Cpu {
    /// Unreadable facts are `None` or empty; nothing is guessed.
    pub fn read(root: &Root) -> Self {
        let cpuinfo = &root.text("/proc/cpuinfo").unwrap_or_default();
        let online = online(root, cpuinfo);
        let cores = topology::read(root, cpuinfo, &online);
        let (_, core_count, threads) = topology::counts(&cores);
        let smt = match root.line(&format!("{SYS}/smt/active")).as_deref() {
            Some(active) => Some(active == "1"),
            None => (threads > 0).then_some(threads > core_count),
        };
        let allowed = allowed(root).unwrap_or_else(|| online.clone());
        // what is measured runs on one of these, and cores may differ
        let usable = allowed.iter().find(|&cpu| online.contains(cpu));
        let first = usable.or(online.iter().next()).unwrap_or(0);
        let frequency = format!("{SYS}/cpu{first}/cpufreq");
        Self {
            models: models(cpuinfo),
            microcode: text::field(cpuinfo, "microcode", ':').and_then(text::clean),
            architecture: std::env::consts::ARCH.to_owned(),
            present: root
                .cpus(&format!("{SYS}/present"))
                .map_or(online.len(), |set| set.len().max(online.len())),
            allowed,
            capacity: capacity(root, &online),
            caches: caches(root, first),
            governors: governors(root),
            driver: root.line(&format!("{frequency}/scaling_driver")),
            max_khz: root.number(&format!("{frequency}/cpuinfo_max_freq")),
            turbo: turbo(root),
            smt,
            smt_control: root
                .line(&format!("{SYS}/smt/control"))
                .is_some_and(|control| control == "on" || control == "off"),
            hypervisor: text::field(cpuinfo, "flags", ':')
                .map(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
            cores,
            online,
        }
    }

    /// All models in one line.
    pub(crate) fn model(&self) -> String {
        if self.models.is_empty() {
            format!("unnamed {} processor", self.architecture)
        } else {
            self.models.join(" + ")
        }
    }

    /// Sockets, cores and hardware threads online.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        topology::counts(&self.cores)
    }
}

/// Without /sys by /proc/cpuinfo, else the permitted CPUs.
pub(crate) fn online(root: &Root, cpuinfo: &str) -> CpuSet {
    let listed: CpuSet = processors(cpuinfo).collect();
    root.cpus(&format!("{SYS}/online"))
        .filter(|set| !set.is_empty())
        .or_else(|| Some(listed).filter(|set| !set.is_empty()))
        // a root without files: the kernel permits no offline CPU
        .or_else(|| root.syscall_results().allowed.clone())
        .unwrap_or_default()
}

/// `sched_getaffinity`, else /proc.
fn allowed(root: &Root) -> Option<CpuSet> {
    root.syscall_results().allowed.clone().or_else(|| {
        let status = root.text("/proc/self/status")?;
        CpuSet::parse(text::field(&status, "Cpus_allowed_list", ':')?)
    })
}

fn processors(cpuinfo: &str) -> impl Iterator<Item = u32> + '_ {
    cpuinfo
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(key, _)| key.trim() == "processor")
        .filter_map(|(_, number)| number.trim().parse().ok())
}

/// Distinct models in the order of the CPUs. The key differs by architecture, and 64-bit Arm has only codes.
fn models(cpuinfo: &str) -> Vec<String> {
    let mut models = Vec::new();
    let mut implementer = None;
    for line in cpuinfo.lines() {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let model = match key.trim() {
            // "model name" x86, 32-bit Arm, LoongArch; "cpu" POWER; "cpu model" MIPS; "uarch" RISC-V
            "model name" | "Model Name" | "cpu" | "cpu model" | "uarch" => text::clean(value),
            "CPU implementer" => {
                implementer = text::clean(value);
                None
            }
            "CPU part" => implementer
                .as_ref()
                .zip(text::clean(value))
                .map(|(implementer, part)| format!("Arm {implementer}/{part}")),
            _ => None,
        };
        models.extend(model.filter(|model| !models.contains(model)));
    }
    models
}

fn capacity(root: &Root, online: &CpuSet) -> BTreeMap<u32, u32> {
    online
        .iter()
        .filter_map(|cpu| Some((cpu, root.number(&format!("{SYS}/cpu{cpu}/cpu_capacity"))?)))
        .collect()
}

fn caches(root: &Root, cpu: u32) -> Vec<Cache> {
    let directory = format!("{SYS}/cpu{cpu}/cache");
    let names = root.names(&directory);
    let mut caches: Vec<Cache> = names
        .iter()
        .filter(|name| name.starts_with("index"))
        .filter_map(|name| cache(root, &format!("{directory}/{name}")))
        .collect();
    caches.sort_by_key(|cache| (cache.level, cache.kind));
    caches
}

fn cache(root: &Root, directory: &str) -> Option<Cache> {
    let shared = root.cpus(&format!("{directory}/shared_cpu_list"));
    Some(Cache {
        level: root.number(&format!("{directory}/level"))?,
        kind: match root.line(&format!("{directory}/type"))?.as_str() {
            "Data" => CacheKind::Data,
            "Instruction" => CacheKind::Instruction,
            _ => CacheKind::Unified,
        },
        bytes: size(&root.line(&format!("{directory}/size"))?)?,
        shared_by: shared.map_or(1, |set| set.len().max(1)),
    })
}

/// `32K`, `8M`.
fn size(text: &str) -> Option<u64> {
    let (number, factor) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(number) if text.ends_with('K') => (number, 1 << 10),
        Some(number) if text.ends_with('M') => (number, 1 << 20),
        Some(number) => (number, 1 << 30),
        None => (text, 1),
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

fn governors(root: &Root) -> BTreeSet<String> {
    let directory = format!("{SYS}/cpufreq");
    root.names(&directory)
        .iter()
        .filter(|name| name.starts_with("policy"))
        .filter_map(|name| root.line(&format!("{directory}/{name}/scaling_governor")))
        .collect()
}

/// The turbo switch of the frequency driver.
pub(crate) fn turbo(root: &Root) -> Option<Turbo> {
    const INTEL: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
    const OTHERS: &str = "/sys/devices/system/cpu/cpufreq/boost";
    let switch = |file, off: &'static str| {
        let value = root.line(file)?;
        matches!(value.as_str(), "0" | "1").then(|| Turbo { on: value != off, file, off })
    };
    switch(INTEL, "1").or_else(|| switch(OTHERS, "0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_architecture_names_its_models() {
        assert_eq!(models("model name\t: AMD EPYC\nmodel name\t: AMD EPYC\n"), ["AMD EPYC"]);
        assert_eq!(models("cpu\t\t: POWER9, altivec supported\n"), ["POWER9, altivec supported"]);
        let arm = "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n";
        assert_eq!(models(arm), ["Arm 0x41/0xd0c", "Arm 0x41/0xd05"]);
        assert!(models("CPU part\t: 0xd0c\n").is_empty());
    }

    #[test]
    fn sizes() {
        assert_eq!(size("32K"), Some(32 << 10));
        assert_eq!(size("8M"), Some(8 << 20));
        assert_eq!(size("64"), Some(64));
        for bad in ["", "K", "-1K", "99999999999999999999G", "18446744073709551615G"] {
            assert_eq!(size(bad), None, "{bad}");
        }
    }
}
