//! A machine: this one, one in a store, or one of those in the documents.

use crate::CpuSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The measured system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Short name that selects it: `vax-11-780-4.1bsd`, or a hash of constant facts of a live system.
    pub id: String,
    pub name: String,
    pub system: String,
    /// The document that published its results; `None` for a system measured by Gritstone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    /// Memory, disks, and the like, in a sentence.
    pub configuration: String,
    /// Facts by name (`cpu.model`, `kernel.release`, ...), which `compare` lists if they differ.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
}

/// Facts that anonymized exports omit.
pub const PRIVATE_FACTS: [&str; 2] = ["host.name", "dir.mount_point"];

/// A cache of the CPU that reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// 1, 2, 3, ...
    pub level: u8,
    pub kind: CacheKind,
    pub bytes: u64,
    /// Number of CPUs that share it.
    pub shared_by: usize,
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CacheKind {
    /// Data and instructions.
    Unified,
    Data,
    Instruction,
}

/// The model of a processor without trademarks, frequency and filler: "Intel Xeon Gold 6148".
pub fn short_processor(model: &str) -> String {
    let model = model.replace("(R)", "").replace("(TM)", "");
    let model = model.split(" @ ").next().unwrap_or(&model);
    let words = model.split_whitespace();
    let words: Vec<&str> = words.filter(|w| !["CPU", "Processor"].contains(w)).collect();
    words.join(" ")
}

impl Machine {
    /// The fact with the CPUs that the process may use.
    pub const ALLOWED_CPUS: &str = "cpu.allowed";

    /// CPUs that the process may use; empty if unknown, `None` if unreadable.
    pub fn allowed_cpus(&self) -> Option<CpuSet> {
        CpuSet::parse(self.facts.get(Self::ALLOWED_CPUS).map_or("", String::as_str))
    }

    /// Whether two threads may share a core: with SMT, and on a virtual machine, which cannot know.
    pub fn may_share_cores(&self) -> bool {
        let smt = self.facts.get("cpu.smt").is_some_and(|state| state == "on");
        smt || self.facts.contains_key("virtual.machine")
    }

    /// Caches by level; unreadable ones are omitted.
    pub fn caches(&self) -> Vec<Cache> {
        let facts = self.facts.iter();
        let read = facts.filter_map(|(name, value)| Cache::read(name, value));
        let mut caches: Vec<Cache> = read.collect();
        caches.sort_by_key(|cache| (cache.level, cache.kind));
        caches
    }
}

impl Cache {
    /// The name of its fact: `cache.l1d`, `cache.l3`.
    pub fn name(&self) -> String {
        let kind = match self.kind {
            CacheKind::Unified => "",
            CacheKind::Data => "d",
            CacheKind::Instruction => "i",
        };
        format!("cache.l{}{kind}", self.level)
    }

    /// `cache.l3` and `32 MiB, shared by 8 CPUs`, or `cache.l1d` and `32 KiB`.
    fn read(name: &str, value: &str) -> Option<Self> {
        let level = name.strip_prefix("cache.l")?;
        let (level, kind) = match level.strip_suffix(['d', 'i']) {
            Some(data) if level.ends_with('d') => (data, CacheKind::Data),
            Some(instructions) => (instructions, CacheKind::Instruction),
            None => (level, CacheKind::Unified),
        };
        let (size, shared_by) = match value.split_once(", shared by ") {
            Some((size, cpus)) => (size, cpus.strip_suffix(" CPUs")?.parse().ok()?),
            None => (value, 1),
        };
        let (amount, unit) = size.split_once(' ')?;
        let units = ["bytes", "KiB", "MiB", "GiB"];
        let power = units.iter().position(|name| *name == unit)?;
        let bytes = amount.parse::<f64>().ok()? * 1024_f64.powi(power as i32);
        Some(Self {
            level: level.parse().ok()?,
            kind,
            bytes: (bytes >= 1.0 && bytes.is_finite()).then_some(bytes as u64)?,
            shared_by,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn machine(facts: &[(&str, &str)]) -> Machine {
        let fact = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Machine { facts: facts.iter().map(fact).collect(), ..Machine::default() }
    }

    #[test]
    fn textual_facts_are_parsed() {
        let machine = machine(&[
            ("cache.l1d", "32 KiB"),
            ("cache.l1i", "512 bytes, shared by 2 CPUs"),
            ("cache.l2", "1.5 MiB"),
            ("cache.l3", "32 MiB, shared by 8 CPUs"),
            ("cpu.allowed", "0-2,7"),
        ]);
        let cache = |level, kind, bytes, shared_by| Cache { level, kind, bytes, shared_by };
        let expected = [
            cache(1, CacheKind::Data, 32 << 10, 1),
            cache(1, CacheKind::Instruction, 512, 2),
            cache(2, CacheKind::Unified, 3 << 19, 1),
            cache(3, CacheKind::Unified, 32 << 20, 8),
        ];
        assert_eq!(machine.caches(), expected);
        assert_eq!(machine.allowed_cpus(), CpuSet::parse("0-2,7"));
    }

    #[test]
    fn unknown_facts_stay_unknown() {
        assert_eq!(Machine::default().allowed_cpus(), Some(CpuSet::default()));
        assert_eq!(machine(&[("cpu.allowed", "all")]).allowed_cpus(), None);
        for bad in [
            "",
            "32",
            "32KiB",
            "x KiB",
            "-1 KiB",
            "0 KiB",
            "inf GiB",
            "NaN MiB",
            "2 MiB, shared by all",
        ] {
            assert_eq!(machine(&[("cache.l2", bad)]).caches(), [], "{bad}");
        }
        for bad in ["cache.", "cache.l", "cache.ld", "cache.l2x", "cpu.cache.l2"] {
            assert_eq!(machine(&[(bad, "2 MiB")]).caches(), [], "{bad}");
        }
    }

    #[test]
    fn short_processors_lack_trademarks() {
        for (name, short) in [
            ("Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz", "Intel Xeon Gold 6148"),
            ("AMD EPYC 9654 96-Core Processor", "AMD EPYC 9654 96-Core"),
        ] {
            assert_eq!(short_processor(name), short);
        }
    }

    proptest! {
        #[test]
        fn arbitrary_facts_never_panic(name in "cache\\.l(0|[1-9][0-9]?)[di]?", value in "[0-9.e]{0,9} [KMG]iB(, shared by [0-9]{0,30} CPUs)?|.{0,40}") {
            for cache in machine(&[(&name, &value)]).caches() {
                prop_assert_eq!(cache.name(), name.clone());
            }
        }
    }
}
