//! Explains a difference by hardware counters; only counted causes are named.

use gritstone_model::{Counter, CounterChange, Counts, Explanation, Measurement};

/// Counts per operation that differ by less count as equal: kernel work and ends of regions change them by as much (docs/method.md).
const EQUAL_WITHIN: f64 = 0.005;
/// A cause must be able to explain this share of the cycles that instructions do not explain.
const SHARE: f64 = 0.5;

/// Upper bounds of the cost of each event, cycles, from publications on current processors. A miss of memory takes up
/// to 150 ns, a switch with cold caches up to 10 us.
const COSTS: [(Counter, f64); 6] = [
    (Counter::ContextSwitches, 40_000.0),
    (Counter::PageFaults, 20_000.0),
    (Counter::BranchMisses, 30.0),
    (Counter::CacheMisses, 600.0),
    (Counter::TlbMisses, 50.0),
    (Counter::PageWalks, 200.0),
];
/// Software counters, which every kernel has; hardware counters are compared only if cycles were counted in the same modes.
const SOFTWARE_COUNTERS: usize = 2;

/// Counts per operation of one side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side<'a> {
    pub counters: &'a Counts<f64>,
    /// Frequency by the cycle probe.
    pub probed: Option<f64>,
}

impl<'a> Side<'a> {
    pub fn new(result: &'a Measurement) -> Self {
        Self {
            counters: result.counters(),
            probed: result.cycles().filter(|_| result.processor_bound).map(|cycles| cycles.value),
        }
    }
}

/// `None` without comparable counters.
pub(crate) fn explain(base: Side<'_>, other: Side<'_>) -> Option<Explanation> {
    let counted =
        |counter| change(counter, *base.counters.get(&counter)?, *other.counters.get(&counter)?);
    let instructions =
        counted(Counter::Instructions).or_else(|| counted(Counter::UserInstructions));
    let probed = || change(Counter::Cycles, base.probed?, other.probed?);
    let hardware = counted(Counter::Cycles).or_else(|| counted(Counter::UserCycles));
    let costs = match hardware {
        Some(_) => &COSTS[..],
        None => &COSTS[..SOFTWARE_COUNTERS],
    };
    let cycles = hardware.or_else(probed);
    let changes = costs.iter().filter_map(|(counter, cost)| Some((counted(*counter)?, *cost)));
    let causes = cycles.map_or(vec![], |cycles| causes(instructions, cycles, changes));
    let known = instructions.is_some() || !causes.is_empty();
    known.then_some(Explanation { instructions, cycles, causes })
}

/// `None` unless a side is above 0.
fn change(counter: Counter, base: f64, other: f64) -> Option<CounterChange> {
    let larger = base.max(other);
    (larger > 0.0).then(|| CounterChange {
        counter,
        base,
        other,
        same: (other - base).abs() <= EQUAL_WITHIN * larger,
    })
}

/// Counters that changed with the cycles beyond the change of instructions, and could explain their share of them.
fn causes(
    instructions: Option<CounterChange>,
    cycles: CounterChange,
    changes: impl Iterator<Item = (CounterChange, f64)>,
) -> Vec<CounterChange> {
    let work = instructions.filter(|i| !i.same && i.base > 0.0);
    let work = work.map_or(1.0, |i| i.other / i.base);
    let beyond = cycles.other - cycles.base * work;
    if beyond.abs() <= EQUAL_WITHIN * cycles.base {
        return vec![];
    }
    let could_cause = |(change, cost): (CounterChange, f64)| {
        let share = (change.other - change.base) * cost / beyond;
        (share >= SHARE && !change.same).then_some((share, change))
    };
    let mut found: Vec<(f64, CounterChange)> = changes.filter_map(could_cause).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().map(|(_, change)| change).collect()
}

#[cfg(test)]
mod tests;
