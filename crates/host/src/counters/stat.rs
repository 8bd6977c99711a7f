//! /proc/stat: what each CPU did since the start, in ticks of `USER_HZ` (10 ms nearly everywhere).

use super::{cpu_name, lines, number, sum, words};

/// Ticks of a set of CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ticks {
    /// Neither idle, nor waiting for input or output, nor stolen.
    pub busy: u64,
    /// Given to others by the hypervisor.
    pub steal: u64,
}

/// The sum over `cpus`; over all where there are none. `None` when one of them is not listed: it is offline.
pub(crate) fn ticks(stat: &[u8], cpus: &[u32]) -> Option<Ticks> {
    // the sum over all CPUs is a line of its own, before the others
    let met = lines(stat)
        .map_while(columns)
        .filter_map(|(cpu, columns)| Some((cpu?, [columns.busy, columns.steal])));
    let [busy, steal] = sum(met, cpus)?;
    Some(Ticks { busy, steal })
}

/// Share of all time that was stolen, 0 to 1.
pub(crate) fn steal_share(stat: &[u8]) -> Option<f64> {
    let (name, columns) = columns(lines(stat).next()?)?;
    let total = columns
        .busy
        .checked_add(columns.steal)?
        .checked_add(columns.idle)?;
    (name.is_none() && total > 0).then(|| columns.steal as f64 / total as f64)
}

/// Processes that could run at the moment of reading.
pub(crate) fn runnable(stat: &[u8]) -> Option<u64> {
    super::keyed(stat, b"procs_running")
}

/// Where the lines of CPUs end, bytes: what follows (interrupts) is long and not needed.
pub(crate) fn cpu_lines(stat: &[u8]) -> usize {
    lines(stat)
        .take_while(|line| line.starts_with(b"cpu"))
        .map(|line| line.len() + 1)
        .sum()
}

struct Columns {
    busy: u64,
    idle: u64,
    steal: u64,
}

/// user nice system idle iowait irq softirq steal guest guest_nice: the last two are within the first two. Old kernels
/// print fewer. The CPU is `None` on the line that sums all.
fn columns(line: &[u8]) -> Option<(Option<u32>, Columns)> {
    let mut words = words(line);
    let name = words.next().filter(|name| name.starts_with(b"cpu"))?;
    let mut column = [0_u64; 8];
    let mut count = 0;
    for (slot, word) in column.iter_mut().zip(words) {
        *slot = number(word)?;
        count += 1;
    }
    let [user, nice, system, idle, iowait, irq, softirq, steal] = column;
    let busy = [user, nice, system, irq, softirq]
        .into_iter()
        .try_fold(0_u64, u64::checked_add)?;
    let columns = Columns {
        busy,
        idle: idle.checked_add(iowait)?,
        steal,
    };
    (count >= 4).then_some((cpu_name(name), columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_is_what_is_neither_idle_nor_stolen() {
        let stat = b"cpu  300 10 80 1000 20 3 7 40 5 5\ncpu0 100 10 30 500 20 1 4 10 5 5\ncpu2 200 0 50 500 0 2 3 30 0 0\nintr 28 0\n";
        assert_eq!(steal_share(stat), Some(40.0 / 1460.0));
        assert_eq!(&stat[cpu_lines(stat)..][..5], b"intr ");
        for (stat, cpus, expected) in [
            (&stat[..], &[0][..], Some((145, 10))),
            (stat, &[0, 2], Some((400, 40))),
            (stat, &[], Some((400, 40))),
            // CPU 1 is offline
            (stat, &[1], None),
            // old kernels print fewer columns
            (b"cpu 1 2 3 4\ncpu0 1 2 3 4\n", &[0], Some((6, 0))),
            (b"cpu0 1 2 3\n", &[0], None),
            (b"cpu0 1 2 x 4\n", &[0], None),
            // the line may be cut off
            (b"cpu0 1 2 3 4 5 6 7 8", &[0], None),
            (b"cpu0 18446744073709551615 1 0 0\n", &[0], None),
        ] {
            let found = ticks(stat, cpus).map(|ticks| (ticks.busy, ticks.steal));
            assert_eq!(
                found,
                expected,
                "{cpus:?} of {}",
                String::from_utf8_lossy(stat)
            );
        }
        assert_eq!(steal_share(b"cpu 0 0 0 0\n"), None);
    }
}
