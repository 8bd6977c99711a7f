//! Counts per operation, from the launches with counters.

use super::Launched;
use super::reading::{Reading, median};
use gritstone_model::{Counter, Counts, Event, Sample};
use std::collections::BTreeMap;

/// The median over launches of each counter, per operation.
pub(super) fn per_op(launched: &Launched, launches: &[&Reading]) -> Counts<f64> {
    let mut values: BTreeMap<Counter, Vec<f64>> = BTreeMap::new();
    for launch in launches {
        for (counter, value) in counted(launch).chain(used(launch)).chain(energy(launched, launch))
        {
            values.entry(counter).or_default().push(value);
        }
    }
    let middle = |(counter, values)| Some((counter, median(values)?));
    values.into_iter().filter_map(middle).collect()
}

fn counted<'a>(launch: &Reading<'a>) -> impl Iterator<Item = (Counter, f64)> + use<'a> {
    let events = launch.launch.events.iter();
    let lines = events.filter_map(|event| match event {
        Event::Counters { n, counts } if *n > 0 => Some((*n as f64, counts)),
        _ => None,
    });
    lines.flat_map(|(n, counts)| {
        let counts = counts.iter();
        counts.map(move |(counter, count)| (*counter, *count as f64 / n))
    })
}

/// Switches and faults of the samples themselves, which getrusage(2) always counts.
fn used(launch: &Reading) -> impl Iterator<Item = (Counter, f64)> {
    let sum = |value: fn(&Sample) -> f64| launch.samples.iter().map(|s| value(s)).sum::<f64>();
    let n = sum(|s| s.n as f64);
    let switches = sum(|s| s.usage.vcsw as f64 + s.usage.icsw as f64);
    let faults = sum(|s| s.usage.minflt as f64 + s.usage.majflt as f64);
    let sums = [(Counter::ContextSwitches, switches), (Counter::PageFaults, faults)];
    let each = sums.map(|(counter, sum)| (counter, sum / n));
    each.into_iter().filter(move |_| n > 0.0)
}

/// Package energy per operation: power during the launch times the duration of an operation.
fn energy(launched: &Launched, launch: &Reading) -> Option<(Counter, f64)> {
    let conditions = &launch.launch.conditions;
    let energy = conditions.energy_uj.filter(|_| conditions.wall > 0)?;
    let each = energy as f64 / conditions.wall as f64 * launched.ns(launch)?;
    Some((Counter::EnergyUj, each))
}
