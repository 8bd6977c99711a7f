//! Choice of CPUs to measure on.

use crate::{Core, Cpu};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The measured CPU.
    pub measured: u32,
    /// The CPU of the second process of benchmarks across CPUs: on another core if there is one.
    pub peer: Option<u32>,
    /// The CPU of Gritstone itself. With two CPUs it is the peer; with one there is none.
    pub watcher: Option<u32>,
}

/// Chooses among the online CPUs that this process may use, if there are any.
///
/// The measured CPU is one of the fastest kind, and not CPU 0 or its sibling if possible, since interrupts and the
/// kernel's own work prefer CPU 0. The peer is another core, of the same socket and kind if possible, so that a
/// benchmark across CPUs measures two equal cores and not the path between sockets. The watcher avoids the measured
/// core and the peer's if possible. The choice depends on the machine alone, so that runs agree.
pub fn choose_cpus(cpu: &Cpu) -> Option<Chosen> {
    let place = |number: u32| {
        cpu.cores.get(&number).copied().unwrap_or(Core { socket: 0, core: u64::from(number) })
    };
    let slowness = |number| u32::MAX - cpu.capacity.get(&number).copied().unwrap_or(0);
    let best = |rank: &dyn Fn(u32) -> [u32; 5]| {
        cpu.allowed
            .iter()
            .filter(|&number| cpu.online.contains(number))
            .min_by_key(|&number| (rank(number), number))
    };
    let yes = u32::from;
    let zero = place(0);
    let measured = best(&|number| {
        let beside_zero = place(number) == zero;
        [slowness(number), yes(beside_zero), yes(number == 0), 0, 0]
    })?;
    let home = place(measured);
    let peer = best(&|number| {
        let there = place(number);
        [
            yes(number == measured),
            yes(there == home),
            yes(there.socket != home.socket),
            slowness(number),
            yes(there == zero),
        ]
    })
    .filter(|&number| number != measured);
    let watcher = best(&|number| {
        let there = place(number);
        [
            yes(number == measured),
            yes(there == home),
            yes(Some(number) == peer),
            yes(peer.is_some_and(|peer| there == place(peer))),
            0,
        ]
    })
    .filter(|&number| number != measured);
    Some(Chosen { measured, peer, watcher })
}

impl Chosen {
    /// All permitted CPUs in the order in which copies take them: the chosen ones first.
    pub fn in_turn(&self, cpu: &Cpu) -> Vec<u32> {
        let first: Vec<u32> = [self.measured].into_iter().chain(self.peer).collect();
        let others = cpu.allowed.iter().filter(|number| cpu.online.contains(*number));
        let others = others.filter(|number| !first.contains(number));
        first.iter().copied().chain(others).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::CpuSet;

    /// By socket and core of each CPU.
    fn machine(places: impl IntoIterator<Item = (i64, u64)>) -> Cpu {
        let cores = (0..).zip(places);
        let cores = cores.map(|(cpu, (socket, core))| (cpu, Core { socket, core }));
        let cores: std::collections::BTreeMap<u32, Core> = cores.collect();
        let all: CpuSet = cores.keys().copied().collect();
        Cpu { cores, online: all.clone(), allowed: all, ..Cpu::default() }
    }

    #[test]
    fn the_machine_decides() {
        let mut confined = machine((0..300).map(|n| (0, n)));
        confined.allowed = CpuSet::parse("0,250-299").unwrap();
        confined.online = CpuSet::parse("0-249,256-2000").unwrap();
        let mut mixed = machine((0..6).map(|n| (0, n)));
        let speed = |n| (n, if n < 4 { 400 } else { 1024 });
        mixed.capacity = (0..6).map(speed).collect();
        for (cpu, expected) in [
            (machine([(0, 0)]), (0, None, None)),
            (machine([(0, 0), (0, 1)]), (1, Some(0), Some(0))),
            // siblings of CPU 0 are avoided
            (machine([(0, 0), (0, 0), (0, 2), (0, 2)]), (2, Some(0), Some(1))),
            // one core of two threads: only the sibling is left
            (machine([(0, 0), (0, 0)]), (1, Some(0), Some(0))),
            // peer on the same socket, watcher on a third core
            (machine((0..8).map(|n| (n % 2, n as u64))), (1, Some(3), Some(0))),
            // only permitted, online CPUs
            (confined, (256, Some(257), Some(0))),
            // the fastest kind of core
            (mixed, (4, Some(5), Some(0))),
        ] {
            let chosen = choose_cpus(&cpu).unwrap();
            let found = (chosen.measured, chosen.peer, chosen.watcher);
            assert_eq!(found, expected, "{:?}", cpu.cores);
        }
        assert_eq!(choose_cpus(&Cpu::default()), None);
    }
}
