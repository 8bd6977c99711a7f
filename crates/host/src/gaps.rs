//! Gaps: time within a sample in which the work stood still.
//!
//! What can be seen, and what cannot. A watcher on another CPU sees only its own CPU stand still, and one on the
//! measured CPU would be the disturbance that it looks for. So nothing runs beside the work; the samples
//! themselves are asked, afterwards, and at no cost:
//!
//! - *Off the CPU.* The CPU clock of the process stops whenever the kernel runs something else in its place, and
//!   while the hypervisor has the CPU if the hypervisor admits it (steal). For work that never waits, wall time
//!   minus CPU time is what was lost. It finds preemption that /proc/stat, which counts ticks, does not show.
//! - *Stalled.* A hypervisor that does not admit what it takes, system management interrupts, and interrupts (on
//!   kernels without `IRQ_TIME_ACCOUNTING`) leave the CPU clock running. They show only as samples that took
//!   more CPU time an operation than the others of the launch. Less than a tenth of a sample is taken for ordinary
//!   scatter, so a gap of 1 ms is seen in a sample of 10 ms and is not in one of 20 ms.
//! - What slows every sample of a launch alike (a busy sibling thread, a lower frequency) is no gap. The cycle probe
//!   beside the samples sees the frequency; nothing here sees the rest.
//! - Work that leaves its CPU at every operation, to wait for another process that has a part in it or to let one go first, stands still
//!   by its nature. Of such samples nothing is said.

use gritstone_model::{Event, Sample};

/// A sample is stalled when it took this much more CPU time than its operations should have.
const SCATTER: f64 = 0.1;

/// With fewer samples their median is no measure of what is usual.
const FEWEST: usize = 5;

/// Nobody is preempted so often within a sample: whoever is switched off at every other one of so many operations has asked for it
/// (`sched_yield` counts as involuntary, and so does making way for whom one wakes).
const MANY: u64 = 100;

/// Nor does whoever never waits happen to wait so often, for a page or a lock: in so many operations and at each of them.
const SEVERAL: u64 = 10;

/// The time lost within the samples of a launch of processor-bound work of one process on one CPU, ns: the `gap` of its conditions; `None`
/// when no sample tells its CPU time, or when the work leaves its CPU by itself.
#[must_use]
pub fn of(events: &[Event]) -> Option<u64> {
    let samples: Vec<&Sample> = events
        .iter()
        .filter_map(|event| match event {
            Event::Sample(sample) if sample.n > 0 && sample.usage.cpu > 0 => Some(sample.as_ref()),
            _ => None,
        })
        .filter(|sample| !leaves_its_cpu(sample))
        .collect();
    if samples.is_empty() {
        return None;
    }
    let usual = usual(&samples);
    let lost = samples.iter().map(|sample| {
        let off = sample.wall.saturating_sub(sample.usage.cpu);
        off.saturating_add(usual.map_or(0, |usual| stalled(sample, usual)))
    });
    Some(lost.fold(0, u64::saturating_add))
}

fn leaves_its_cpu(sample: &Sample) -> bool {
    let switches = sample.usage.vcsw.saturating_add(sample.usage.icsw);
    let waits = sample.n >= SEVERAL && sample.usage.vcsw >= sample.n;
    waits || (sample.n >= MANY && switches >= sample.n / 2)
}

/// CPU time an operation in the median sample, ns.
fn usual(samples: &[&Sample]) -> Option<f64> {
    if samples.len() < FEWEST {
        return None;
    }
    let mut each: Vec<f64> = samples
        .iter()
        .map(|sample| sample.usage.cpu as f64 / sample.n as f64)
        .collect();
    each.sort_by(f64::total_cmp);
    // the lower of two in the middle: half of the samples may be long ones
    Some(each[(each.len() - 1) / 2])
}

fn stalled(sample: &Sample, usual: f64) -> u64 {
    let expected = usual * sample.n as f64;
    let excess = sample.usage.cpu as f64 - expected;
    if excess > SCATTER * expected {
        excess as u64
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::Usage;

    fn sample(n: u64, wall: u64, cpu: u64, [vcsw, icsw]: [u64; 2]) -> Event {
        Event::Sample(Box::new(Sample {
            n,
            wall,
            usage: Usage {
                cpu,
                vcsw,
                icsw,
                ..Usage::default()
            },
            ..Sample::default()
        }))
    }

    /// Nine samples of a quiet launch, and one more.
    #[test]
    fn what_is_lost_is_seen_in_the_sample() {
        const MS: u64 = 1_000_000;
        for (n, wall, cpu, gap) in [
            (1000, 10 * MS, 10 * MS, 0),
            // preemption stops the CPU clock, and a silent hypervisor does not
            (1000, 14 * MS, 10 * MS, 4 * MS),
            (2000, 36 * MS, 36 * MS, 16 * MS),
            // scatter is no gap
            (1000, 109 * MS / 10, 109 * MS / 10, 0),
        ] {
            let mut events = vec![sample(1000, 10 * MS, 10 * MS, [0, 0]); 9];
            events.push(sample(n, wall, cpu, [0, 0]));
            assert_eq!(of(&events), Some(gap), "{n} in {wall} ns");
        }
        let few = [10, 10, 99].map(|time| sample(1, time, time, [0, 0]));
        assert_eq!(of(&few), Some(0), "of three none is usual");
    }

    #[test]
    fn work_that_leaves_its_cpu_stands_still_by_nature() {
        for (n, switches, gap) in [
            // waits at each operation; yields at each; is preempted now and then, once in its only operation
            (1000, [1000, 0], None),
            (1000, [0, 1000], None),
            (1000, [400, 590], None),
            (1000, [0, 40], Some(30_000_000)),
            (1, [0, 1], Some(30_000_000)),
            // one long operation that waits once, for a page that is not there; ten that wait each
            (1, [1, 0], Some(30_000_000)),
            (10, [10, 0], None),
        ] {
            let events = vec![sample(n, 10_000_000, 4_000_000, switches); 5];
            assert_eq!(of(&events), gap, "{n}, {switches:?}");
        }
        // without CPU time nothing is said
        let silent = [
            Event::Bye,
            sample(1000, 5_000_000, 0, [0; 2]),
            sample(0, 1, 1, [0; 2]),
        ];
        assert_eq!((of(&[]), of(&silent)), (None, None));
    }
}
