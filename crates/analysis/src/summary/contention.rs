//! Contention during a run: slowdown of its launches against the estimates, which are those of an undisturbed machine, and its causes by
//! the probes and the hypervisor.

use super::reading::{Reading, median};
use super::smt_contention::{Floor, floor_for};
use super::{Launched, event_time_ns};
use gritstone_model::{Contention, Id, Measurement};
use gritstone_stats::descriptive;
use std::collections::BTreeMap;

/// Points of the time course.
const COURSE_POINTS: usize = 20;
/// Fewest launches for a time course.
const MIN_LAUNCHES: usize = 20;

/// `None` if no launch has a cycle probe.
pub(super) fn run_contention(
    by_id: &BTreeMap<&Id, Launched>,
    results: &BTreeMap<&Id, Measurement>,
    floor: &Floor,
) -> Option<Contention> {
    let mut slowdowns: Vec<(u64, f64)> = vec![];
    let (mut busy, mut samples) = (0.0, 0.0);
    let (mut stolen, mut time) = (0.0, 0.0);
    for (id, launched) in by_id {
        let cycles = results.get(id).and_then(|result| result.cycles());
        let floor = floor_for(launched.benchmark, floor);
        for launch in launched.launches.iter().filter(|launch| launch.measured()) {
            // samples have other work than operations that are timed one by one
            let whole = cycles.filter(|_| event_time_ns(launched.benchmark, launch).is_none());
            slowdowns.extend(
                whole.and_then(|cycles| {
                    Some((launch.launch.start, slowdown(launch, cycles.value)?))
                }),
            );
            if floor.floor_of_launch(launch.launch).is_some() {
                busy += launch.weights.iter().filter(|weight| **weight < 0.5).count() as f64;
                samples += launch.weights.len() as f64;
            }
            let conditions = &launch.launch.conditions;
            if let Some(steal) = conditions.steal {
                stolen += steal as f64;
                time += conditions.wall as f64 * f64::from(conditions.cpus.max(1));
            }
        }
    }
    let sorted = descriptive::sorted(slowdowns.iter().map(|(_, by)| by));
    (!sorted.is_empty()).then(|| Contention {
        slowdown: descriptive::median(&sorted),
        between: [0.1, 0.9].map(|share| descriptive::quantile(&sorted, share)),
        siblings_busy: (samples > 0.0).then(|| busy / samples),
        steal: (time > 0.0).then(|| stolen / time),
        course: course(slowdowns),
    })
}

/// Share by which all samples of a launch were slower than the estimate, in core cycles, at the median.
fn slowdown(launch: &Reading, cycles: f64) -> Option<f64> {
    let ghz = launch.ghz()?;
    (cycles > 0.0).then_some(())?;
    launch.ns_as_ran().map(|ns| (ns * ghz / cycles - 1.0).max(0.0))
}

/// The median in each of [`COURSE_POINTS`] pieces with as many launches.
fn course(mut slowdowns: Vec<(u64, f64)>) -> Vec<f64> {
    if slowdowns.len() < MIN_LAUNCHES {
        return vec![];
    }
    slowdowns.sort_by_key(|(start, _)| *start);
    let size = slowdowns.len().div_ceil(COURSE_POINTS);
    let pieces = slowdowns.chunks(size);
    pieces.filter_map(|piece| median(piece.iter().map(|(_, by)| *by))).collect()
}
