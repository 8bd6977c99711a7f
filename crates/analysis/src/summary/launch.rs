//! What one launch says of its row, while a run or a trial goes on.

use super::crowd::Floor;
use super::disturbance::Disturbance;
use super::reading::Reading;
use super::{Row, figure_of};
use gritstone_model::{Benchmark, Launch};
use gritstone_stats::scatter::Scatter;
use gritstone_stats::times::Timed;

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

/// What one launch says of its row while the measuring goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learned {
    /// Nanoseconds an operation, of the samples that had the core to themselves where there are any. `None` when the launch was not
    /// measured.
    pub ns_per_op: Option<f64>,
    /// Whether the machine did too much else meanwhile: such a launch is kept, and repeated.
    pub disturbed: bool,
    /// Whether another thread of the core was busy beside it, so that the figure of the row is made of others.
    pub crowded: bool,
}

impl Learned {
    /// The same as a time that is compared with others.
    #[must_use]
    pub fn timed(&self) -> Option<Timed> {
        let crowded = self.crowded;
        self.ns_per_op.map(|ns| Timed { ns, crowded })
    }
}

/// Reads launches one after another, each by what was seen of its cores until then.
#[derive(Clone, Debug, Default)]
pub struct Reader(Floor);

impl Reader {
    /// Takes in what a launch saw of its cores. Of several copies each has the others beside it, so that they show nothing.
    pub fn see(&mut self, launch: &Launch) {
        if launch.copies == 1 {
            self.0.see(launch);
        }
    }

    /// Takes a launch in, and says what it took.
    pub fn learn(&mut self, benchmark: &Benchmark, launch: &Launch) -> Learned {
        self.see(launch);
        let mut reading = Reading::of(launch);
        let figure = figure_of(benchmark, &reading);
        reading.hold_to(held_to(benchmark, &self.0), figure);
        Learned {
            ns_per_op: ns_per_op(benchmark, &reading),
            disturbed: Disturbance::of(&reading).is_any(),
            crowded: reading.crowded,
        }
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
