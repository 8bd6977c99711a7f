//! Parsers of the kernel's counters that do not allocate, so that reading has a small constant cost.

pub(crate) fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0_u64, |sum, &digit| {
        let digit = digit.checked_sub(b'0').filter(|&digit| digit < 10)?;
        sum.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// Words between blanks and line ends.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Complete lines: the last number of a truncated line may be truncated too.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = text.iter().rposition(|&c| c == b'\n').unwrap_or(0);
    text[..end].split(|&c| c == b'\n')
}

/// The number after `key` at the start of a line, as in cpu.stat and memory.events.
pub(crate) fn keyed(text: &[u8], key: &[u8]) -> Option<u64> {
    lines(text).find_map(|line| {
        let mut words = words(line);
        (words.next()? == key).then(|| number(words.next()?))?
    })
}

/// Sums `each` over `cpus` (empty: all). `None` unless each of `cpus` occurs exactly once.
fn sum<const N: usize>(
    met: impl Iterator<Item = (u32, [u64; N])>,
    cpus: &[u32],
) -> Option<[u64; N]> {
    let mut total = [0_u64; N];
    let mut count = 0;
    for (cpu, values) in met {
        if cpus.is_empty() || cpus.contains(&cpu) {
            count += 1;
            for (sum, value) in total.iter_mut().zip(values) {
                *sum = sum.checked_add(value)?;
            }
        }
    }
    let complete = if cpus.is_empty() { count > 0 } else { count == cpus.len() };
    complete.then_some(total)
}

/// 17 for `cpu17`.
fn cpu_name(word: &[u8]) -> Option<u32> {
    number(word.strip_prefix(b"cpu")?).and_then(|cpu| u32::try_from(cpu).ok())
}

/// Busy and stolen time of `cpus` (empty: all) in /proc/stat, in ticks of `USER_HZ` (nearly always 10 ms). Busy is
/// neither idle, nor waiting for I/O, nor stolen. `None` if one of them is offline.
pub(crate) fn ticks(stat: &[u8], cpus: &[u32]) -> Option<[u64; 2]> {
    // the sum over all CPUs is a line of its own, before the others
    let met = lines(stat)
        .map_while(columns)
        .filter_map(|(cpu, [busy, _, steal])| Some((cpu?, [busy, steal])));
    sum(met, cpus)
}

/// Share of all time that was stolen, 0 to 1.
pub(crate) fn steal_share(stat: &[u8]) -> Option<f64> {
    let (name, columns) = columns(lines(stat).next()?)?;
    let total = columns.into_iter().try_fold(0, u64::checked_add)?;
    (name.is_none() && total > 0).then(|| columns[2] as f64 / total as f64)
}

/// End of the lines of CPUs, bytes: interrupts follow, which are long and not needed.
pub(crate) fn cpu_lines(stat: &[u8]) -> usize {
    lines(stat).take_while(|line| line.starts_with(b"cpu")).map(|line| line.len() + 1).sum()
}

/// Busy, idle and stolen, from the columns user nice system idle iowait irq softirq steal guest guest_nice; the last
/// two are included in the first two. Old kernels have fewer. The CPU is `None` on the line of totals.
fn columns(line: &[u8]) -> Option<(Option<u32>, [u64; 3])> {
    let mut words = words(line);
    let name = words.next().filter(|name| name.starts_with(b"cpu"))?;
    let mut column = [0_u64; 8];
    let mut count = 0;
    for (slot, word) in column.iter_mut().zip(words) {
        *slot = number(word)?;
        count += 1;
    }
    let [user, nice, system, idle, iowait, irq, softirq, steal] = column;
    let busy = [user, nice, system, irq, softirq];
    let busy = busy.into_iter().try_fold(0, u64::checked_add)?;
    let columns = [busy, idle.checked_add(iowait)?, steal];
    (count >= 4).then_some((cpu_name(name), columns))
}

/// /proc/schedstat: nanoseconds for which the CPUs ran tasks, counted when a task leaves the CPU. Debian, Ubuntu and
/// Fedora enable it, some small kernels do not. Summed as [`ticks`].
pub(crate) fn schedule(schedstat: &[u8], cpus: &[u32]) -> Option<u64> {
    let met = lines(schedstat).filter_map(|line| {
        let mut words = words(line);
        let cpu = cpu_name(words.next()?)?;
        // the seventh number, in all versions since Linux 2.6.23
        Some((cpu, [number(words.nth(6)?)?]))
    });
    sum(met, cpus).map(|[total]| total)
}

/// `cpuacct.usage_percpu` of cgroup v1: nanoseconds for which tasks ran, one column for each of the `possible` CPUs.
/// Summed as [`ticks`].
pub(crate) fn usage(usage: &[u8], possible: &[u32], cpus: &[u32]) -> Option<u64> {
    if words(usage).count() != possible.len() {
        return None;
    }
    let met = words(usage).zip(possible).filter_map(|(word, &cpu)| Some((cpu, [number(word)?])));
    sum(met, cpus).map(|[total]| total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_that_fit() {
        assert_eq!(number(b"0042"), Some(42));
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        for bad in [&b""[..], b"18446744073709551616", b"-1", b"1.5", b"x"] {
            assert_eq!(number(bad), None);
        }
    }

    #[test]
    fn keys_are_whole_words() {
        let text = b"usage_usec 5\nthrottled_usec 1234\nempty\nthrottled_us";
        assert_eq!(keyed(text, b"throttled_usec"), Some(1234));
        assert_eq!(keyed(text, b"throttled_us"), None);
        assert_eq!(keyed(text, b"empty"), None);
    }

    #[test]
    fn sums_need_every_cpu() {
        let met = || [(0, [1, 10]), (1, [2, 20]), (7, [4, 40])].into_iter();
        assert_eq!(sum(met(), &[1, 7]), Some([6, 60]));
        assert_eq!(sum(met(), &[]), Some([7, 70]));
        assert_eq!(sum(met(), &[1, 2]), None);
        assert_eq!(sum([(0, [u64::MAX]), (1, [1])].into_iter(), &[]), None);
    }

    #[test]
    fn busy_excludes_idle_and_stolen() {
        let stat = b"cpu  300 10 80 1000 20 3 7 40 5 5\ncpu0 100 10 30 500 20 1 4 10 5 5\ncpu2 200 0 50 500 0 2 3 30 0 0\nintr 28 0\n";
        assert_eq!(steal_share(stat), Some(40.0 / 1460.0));
        assert_eq!(&stat[cpu_lines(stat)..][..5], b"intr ");
        for (stat, cpus, expected) in [
            (&stat[..], &[0][..], Some([145, 10])),
            (stat, &[0, 2], Some([400, 40])),
            (stat, &[], Some([400, 40])),
            // CPU 1 is offline
            (stat, &[1], None),
            // old kernels have fewer columns
            (b"cpu 1 2 3 4\ncpu0 1 2 3 4\n", &[0], Some([6, 0])),
            (b"cpu0 1 2 3\n", &[0], None),
            (b"cpu0 1 2 x 4\n", &[0], None),
            // the line may be truncated
            (b"cpu0 1 2 3 4 5 6 7 8", &[0], None),
            (b"cpu0 18446744073709551615 1 0 0\n", &[0], None),
        ] {
            assert_eq!(
                ticks(stat, cpus),
                expected,
                "{cpus:?} of {}",
                String::from_utf8_lossy(stat)
            );
        }
        assert_eq!(steal_share(b"cpu 0 0 0 0\n"), None);
        // a column more than CPUs, and a CPU without one
        assert_eq!(usage(b"100 200 300 \n", &[0, 1, 4], &[4]), Some(300));
        assert_eq!(usage(b"100 200 300 \n", &[0, 1], &[0]), None);
        assert_eq!(usage(b"100 200 300 \n", &[0, 1, 4], &[2]), None);
    }
}
