//! Which CPUs to measure on, and which to watch from.

use crate::{Core, Cpu};

/// The CPUs of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Where what is measured runs.
    pub measured: u32,
    /// Where the second process of a row across CPUs runs: on another core where there is one.
    pub peer: Option<u32>,
    /// Where Gritstone itself runs meanwhile. On two CPUs this is the peer too; on one CPU there is none.
    pub watcher: Option<u32>,
}

/// Chooses among the CPUs that are online and that this process may use; `None` when it may use none.
///
/// The measured CPU is one of the fastest kind, and not CPU 0 nor a sibling of it where there is a choice, since
/// interrupts and the kernel's own work prefer CPU 0. The peer is another core, of the same socket and kind if
/// possible, so that a row across CPUs tells of two equal cores and not of the way between sockets. The watcher
/// keeps off the measured core and off the peer's as far as there are others. The choice depends on the machine
/// alone: the next run makes the same.
#[must_use]
pub fn choose_cpus(cpu: &Cpu) -> Option<Chosen> {
    let place = |number: u32| {
        cpu.cores.get(&number).copied().unwrap_or(Core {
            socket: 0,
            core: u64::from(number),
        })
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
    Some(Chosen {
        measured,
        peer,
        watcher,
    })
}

impl Chosen {
    /// All CPUs that may be used, in the order in which copies take them: first those that are chosen.
    #[must_use]
    pub fn in_turn(&self, cpu: &Cpu) -> Vec<u32> {
        let first: Vec<u32> = [self.measured].into_iter().chain(self.peer).collect();
        let others = cpu
            .allowed
            .iter()
            .filter(|number| cpu.online.contains(*number));
        let others = others.filter(|number| !first.contains(number));
        first.iter().copied().chain(others).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::CpuSet;

    /// Machines by (CPU, socket, core).
    fn machine(places: &[(u32, i64, u64)]) -> Cpu {
        let all: CpuSet = places.iter().map(|&(cpu, ..)| cpu).collect();
        Cpu {
            cores: places
                .iter()
                .map(|&(cpu, socket, core)| (cpu, Core { socket, core }))
                .collect(),
            online: all.clone(),
            allowed: all,
            ..Cpu::default()
        }
    }

    fn chosen(cpu: &Cpu) -> (u32, Option<u32>, Option<u32>) {
        let chosen = choose_cpus(cpu).unwrap();
        (chosen.measured, chosen.peer, chosen.watcher)
    }

    #[test]
    fn one_and_two_cpus() {
        assert_eq!(chosen(&machine(&[(0, 0, 0)])), (0, None, None));
        assert_eq!(
            chosen(&machine(&[(0, 0, 0), (1, 0, 1)])),
            (1, Some(0), Some(0))
        );
    }

    #[test]
    fn siblings_of_cpu_0_are_avoided() {
        // 0 and 1 share a core, 2 and 3 the other
        let cpu = machine(&[(0, 0, 0), (1, 0, 0), (2, 0, 2), (3, 0, 2)]);
        assert_eq!(chosen(&cpu), (2, Some(0), Some(1)));
        // one core of two threads: nothing better than the sibling
        assert_eq!(
            chosen(&machine(&[(0, 0, 0), (1, 0, 0)])),
            (1, Some(0), Some(0))
        );
    }

    #[test]
    fn peer_on_the_same_socket_and_watcher_on_a_third_core() {
        let two_sockets: Vec<(u32, i64, u64)> = (0..8)
            .map(|n| (n, i64::from(n % 2), u64::from(n)))
            .collect();
        assert_eq!(chosen(&machine(&two_sockets)), (1, Some(3), Some(0)));
    }

    #[test]
    fn only_what_is_allowed_and_online() {
        let mut cpu = machine(&(0..300).map(|n| (n, 0, u64::from(n))).collect::<Vec<_>>());
        cpu.allowed = CpuSet::parse("0,250-299").unwrap();
        cpu.online = CpuSet::parse("0-249,256-2000").unwrap();
        assert_eq!(chosen(&cpu), (256, Some(257), Some(0)));
        cpu.allowed = CpuSet::default();
        assert_eq!(choose_cpus(&cpu), None);
    }

    #[test]
    fn the_fastest_kind_of_core() {
        let mut cpu = machine(&(0..6).map(|n| (n, 0, u64::from(n))).collect::<Vec<_>>());
        cpu.capacity = (0..6)
            .map(|n| (n, if n < 4 { 400 } else { 1024 }))
            .collect();
        assert_eq!(chosen(&cpu), (4, Some(5), Some(0)));
    }
}
