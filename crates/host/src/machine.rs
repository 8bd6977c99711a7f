//! Identifier and facts of this machine.

use crate::filesystem::{self, FileSystem};
use crate::{Host, UNLIMITED, text};
use gritstone_model::{Cache, CpuSet, Machine, hexadecimal, short_processor};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

impl Host {
    /// This machine, with files measured in `dir`. Without facts that change by the minute (load, free space).
    pub fn machine(&self, dir: &Path) -> Machine {
        let place = filesystem::containing(dir).ok();
        Machine {
            id: self.id(),
            name: self.name(),
            system: self.system_line(),
            document: None,
            year: None,
            configuration: self.configuration(place.as_ref()),
            facts: self.facts(place.as_ref()),
        }
    }

    /// Twelve hexadecimal digits that identify the machine: a hash of its machine-id (else of a serial number, or the
    /// names in its firmware) and of its processors' models and number, offline ones included. Independent of
    /// frequency, memory, host name and kernel. The machine-id cannot be recovered from it.
    pub fn id(&self) -> String {
        self.hash("gritstone machine")[..12].to_owned()
    }

    /// Full hash with another key. No exported document has it, and it cannot be computed from [`Host::id`], which
    /// they have.
    pub fn private_id(&self) -> String {
        self.hash("gritstone owner")
    }

    fn hash(&self, key: &str) -> String {
        let system = &self.system;
        let identity = match &system.identity {
            Some(identity) => vec!["identity", identity],
            None => ["firmware"]
                .into_iter()
                .chain(system.vendor.as_deref())
                .chain(system.product.as_deref())
                .collect(),
        };
        let present = self.cpu.present.to_string();
        let mut models: Vec<&str> = self.cpu.models.iter().map(String::as_str).collect();
        models.sort_unstable();
        let mut hash = Sha256::new();
        hash.update(key);
        for part in identity.into_iter().chain(models).chain([present.as_str()]) {
            // the length separates "ab" + "c" from "a" + "bc"
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hexadecimal(hash.finalize())
    }

    /// True if something distinguishes this machine from others of the same model.
    pub(crate) fn is_distinct(&self) -> bool {
        self.system.identity.is_some()
    }

    fn name(&self) -> String {
        match &self.system.host_name {
            Some(name) if name != "(none)" && name != "localhost" => {
                format!("{name} ({})", short_processor(&self.cpu.model()))
            }
            _ => short_processor(&self.cpu.model()),
        }
    }

    fn system_line(&self) -> String {
        let release = self.kernel.release.as_deref();
        let release = release.unwrap_or("of unknown release");
        let kernel = format!("Linux {release} {}", self.cpu.architecture);
        let distribution = self.system.distribution.as_ref();
        distribution.map_or(kernel.clone(), |name| format!("{name}, {kernel}"))
    }

    fn configuration(&self, place: Option<&FileSystem>) -> String {
        let Self { cpu, cgroup, virtualization, .. } = self;
        let (sockets, cores, threads) = cpu.counts();
        let several = |number, least, noun| (number > least).then(|| text::count(number, noun));
        let allowed = (cpu.allowed.len() < threads).then(|| text::cpus(&cpu.allowed));
        let machine = virtualization.machine.as_ref();
        let container = virtualization.container.as_ref();
        let parts = [
            Some(cpu.model()),
            Some(text::count(cores, "core")),
            several(threads, cores, "thread"),
            several(sockets, 1, "socket"),
            allowed.map(|cpus| format!("of which {cpus} may be used")),
            cgroup.cpus.map(|cpus| format!("a quota of {cpus} CPUs")),
            (self.memory.total).map(|total| format!("{} of memory", text::bytes(total))),
            (cgroup.memory).map(|limit| format!("of which {} may be used", text::bytes(limit))),
            place.map(FileSystem::describe),
            machine.map(|kind| format!("a virtual machine ({kind})")),
            container.map(|kind| format!("in a container ({kind})")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Facts that do not change by themselves, by name.
    fn facts(&self, place: Option<&FileSystem>) -> BTreeMap<String, String> {
        let mut facts = Facts::default();
        self.processor_facts(&mut facts);
        self.kernel_facts(&mut facts);
        self.system_facts(&mut facts);
        if let Some(place) = place {
            facts.add("dir.filesystem", Some(place.describe()));
            facts.add("dir.mount_point", Some(place.mount_point.display()));
            facts.add("dir.options", Some(place.options.join(",")));
            facts.add("dir.rotational", place.rotational.map(yes_no));
        }
        facts.0
    }

    fn processor_facts(&self, facts: &mut Facts) {
        let cpu = &self.cpu;
        let (sockets, cores, threads) = cpu.counts();
        facts.add("cpu.model", Some(cpu.model()));
        facts.add("cpu.architecture", Some(&cpu.architecture));
        facts.add("cpu.microcode", cpu.microcode.as_ref());
        facts.add("cpu.sockets", Some(sockets));
        facts.add("cpu.cores", Some(cores));
        facts.add("cpu.threads", Some(threads));
        facts.add("cpu.present", Some(cpu.present));
        facts.add("cpu.online", some_of(&cpu.online));
        facts.add(Machine::ALLOWED_CPUS, some_of(&cpu.allowed));
        facts.add("cpu.smt", cpu.smt.map(on_off));
        facts.add("cpu.turbo", cpu.turbo.map(|turbo| on_off(turbo.on)));
        facts.add("cpu.frequency_driver", cpu.driver.as_ref());
        let governors: Vec<&str> = cpu.governors.iter().map(String::as_str).collect();
        facts.add("cpu.governor", Some(governors.join(",")));
        facts.add("cpu.max_mhz", cpu.max_khz.map(|khz| khz / 1000));
        for cache in &cpu.caches {
            facts.add(&cache.name(), Some(worded(cache)));
        }
        facts.add("memory.total", self.memory.total.map(text::bytes));
        facts.add("memory.nodes", self.memory.nodes);
        let swap = |size| match size {
            0 => "none".to_owned(),
            size => text::bytes(size),
        };
        facts.add("memory.swap", self.memory.swap.map(swap));
    }

    fn kernel_facts(&self, facts: &mut Facts) {
        let kernel = &self.kernel;
        facts.add("kernel.release", kernel.release.as_ref());
        facts.add("kernel.version", kernel.version.as_ref());
        facts.add("kernel.parameters", Some(kernel.parameters.join(" ")));
        facts.add("kernel.hz", kernel.hz());
        facts.add("kernel.huge_pages", kernel.huge_pages.as_ref());
        facts.add("kernel.aslr", kernel.aslr);
        facts.add("kernel.tcp_congestion_control", kernel.congestion_control.as_ref());
        facts.add("clock.source", kernel.clock_source.as_ref());
        facts.add("clock.resolution_ns", kernel.resolution);
        for (name, state) in &kernel.mitigations {
            facts.add(&format!("mitigation.{name}"), Some(state));
        }
    }

    fn system_facts(&self, facts: &mut Facts) {
        let system = &self.system;
        facts.add("system.distribution", system.distribution.as_ref());
        facts.add("system.libc", system.libc.as_ref());
        facts.add("host.name", system.host_name.as_ref());
        facts.add("host.vendor", system.vendor.as_ref());
        facts.add("host.product", system.product.as_ref());
        facts.add("virtual.machine", self.virtualization.machine.as_ref());
        facts.add("virtual.container", self.virtualization.container.as_ref());
        facts.add("cgroup.version", self.cgroup.version);
        facts.add("cgroup.cpus", self.cgroup.cpus);
        facts.add("cgroup.memory", self.cgroup.memory.map(text::bytes));
        facts.add("cgroup.processes", self.cgroup.processes);
        let limit = |limit: Option<u64>, show: fn(u64) -> String| match limit {
            Some(UNLIMITED) => Some("unlimited".to_owned()),
            limit => limit.map(show),
        };
        let plain = |number: u64| number.to_string();
        let limits = &self.limits;
        facts.add("limit.processes", limit(limits.processes, plain));
        facts.add("limit.files", limit(limits.files, plain));
        let room = limit(limits.address_space, text::bytes);
        facts.add("limit.address_space", room);
    }
}

/// Known, nonempty facts by name.
#[derive(Default)]
struct Facts(BTreeMap<String, String>);

impl Facts {
    fn add(&mut self, name: &str, value: Option<impl ToString>) {
        let value = value.map(|value| value.to_string());
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.0.insert(name.to_owned(), value);
        }
    }
}

/// In the format of [`Machine::caches`].
fn worded(cache: &Cache) -> String {
    match cache.shared_by {
        1 => text::bytes(cache.bytes),
        several => format!("{}, shared by {several} CPUs", text::bytes(cache.bytes)),
    }
}

fn some_of(set: &CpuSet) -> Option<&CpuSet> {
    (!set.is_empty()).then_some(set)
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn yes_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cpu, System};
    use gritstone_model::CacheKind;

    fn host(identity: Option<&str>, models: &[&str], present: usize) -> Host {
        Host {
            cpu: Cpu {
                models: models.iter().map(|&model| model.to_owned()).collect(),
                present,
                ..Cpu::default()
            },
            system: System {
                identity: identity.map(str::to_owned),
                vendor: Some("Maker".to_owned()),
                ..System::default()
            },
            ..Host::default()
        }
    }

    #[test]
    fn identifier_is_stable() {
        let one = host(Some("abc"), &["A", "B"], 8);
        let mut later = one.clone();
        later.system.host_name = Some("renamed".to_owned());
        later.kernel.release = Some("7.0".to_owned());
        later.memory.total = Some(1);
        later.cpu.max_khz = Some(1);
        later.cpu.online = CpuSet::parse("0-3").unwrap();
        later.cpu.models.reverse();
        assert_eq!(one.id(), later.id());
        assert_eq!(one.id().len(), 12);
        let ids = [
            one,
            host(Some("abd"), &["A", "B"], 8),
            host(Some("abc"), &["AB"], 8),
            host(Some("abc"), &["A", "B"], 9),
            host(None, &["A", "B"], 8),
            host(None, &["A"], 8),
        ];
        let distinct: std::collections::BTreeSet<String> = ids.iter().map(Host::id).collect();
        assert_eq!(distinct.len(), ids.len());
    }

    #[test]
    fn clean_text_is_stable() {
        let mut host = host(None, &["A"], 8);
        host.cpu.allowed = CpuSet::parse("0-3,7").unwrap();
        let caches = [
            (1, CacheKind::Data, 48 << 10, 2),
            (1, CacheKind::Instruction, 500, 1),
            (2, CacheKind::Unified, 5 << 19, 1),
            (3, CacheKind::Unified, 1 << 30, 8),
        ];
        let caches =
            caches.map(|(level, kind, bytes, shared_by)| Cache { level, kind, bytes, shared_by });
        host.cpu.caches = caches.to_vec();
        let machine = host.machine(Path::new("/"));
        assert_eq!(machine.caches(), host.cpu.caches);
        assert_eq!(machine.allowed_cpus(), Some(host.cpu.allowed));
    }
}
