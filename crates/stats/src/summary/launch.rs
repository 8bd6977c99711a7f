//! What one launch says of its row, while a run or a trial goes on.
//!
//! Must not know: what becomes of it, figures, footnotes.

use super::crowd::Floor;
use super::disturbance::Disturbance;
use super::reading::Reading;
use super::{Row, figure_of};
use crate::between::Scatter;
use crate::times::Timed;
use gritstone_model::{Benchmark, Launch};

/// What one launch says of its row, in nanoseconds an operation: what a pilot learns the scatter from. `None` when the
/// launch was not measured.
#[must_use]
pub fn launch_ns_per_op(benchmark: &Benchmark, launch: &Launch) -> Option<f64> {
    ns_per_op(benchmark, &Reading::of(launch))
}

fn ns_per_op(benchmark: &Benchmark, reading: &Reading) -> Option<f64> {
    let ns = match reading.launch.copies {
        1 => alone(benchmark).ns(reading),
        _ => reading.together_ns(),
    };
    ns.filter(|_| reading.measured())
}

/// What one launch of a trial took, given what was seen of the core until then. `None` when it was not measured.
#[must_use]
pub fn launch_timed(benchmark: &Benchmark, launch: &Launch, floor: &Floor) -> Option<Timed> {
    let mut reading = Reading::of(launch);
    reading.hold_to(held_to(benchmark, floor), figure_of(benchmark, &reading));
    let row = alone(benchmark);
    let crowded = reading.crowded;
    let ns = row.ns(&reading).filter(|_| reading.measured())?;
    Some(Timed { ns, crowded })
}

/// What one launch says of its row while the run goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learned {
    /// Nanoseconds an operation, as [`launch_ns_per_op`] has them.
    pub ns_per_op: Option<f64>,
    /// Whether the machine did too much else meanwhile: such a launch is kept, and repeated.
    pub disturbed: bool,
    /// Whether another thread of the core was busy beside it, so that the figure of the row is made of others.
    pub crowded: bool,
}

/// What one launch says, given what it and those before it have seen of the core.
#[must_use]
pub fn launch_learned(benchmark: &Benchmark, launch: &Launch, floor: &Floor) -> Learned {
    let mut reading = Reading::of(launch);
    let ns_per_op = ns_per_op(benchmark, &reading);
    reading.hold_to(held_to(benchmark, floor), figure_of(benchmark, &reading));
    Learned {
        ns_per_op,
        disturbed: Disturbance::of(benchmark.processor_bound, &reading).is_any(),
        crowded: reading.crowded,
    }
}

/// A row of which no more is known than its entry.
fn alone(benchmark: &Benchmark) -> Row<'_> {
    Row::without_launches(benchmark, Scatter::known(0.0))
}

/// Beside a load of our own the other threads of the core are busy on purpose.
pub(super) fn held_to<'a>(benchmark: &Benchmark, floor: &'a Floor) -> &'a Floor {
    static NONE: Floor = Floor::none();
    match benchmark.load().is_empty() {
        true => floor,
        false => &NONE,
    }
}
