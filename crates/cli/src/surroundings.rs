//! The machine around one launch: looked at before it and after it.
//!
//! Must not know: why the row is launched, what becomes of what was seen.

use crate::clock::Clock;
use gritstone_exec::Launched;
use gritstone_host::{Before, Watch, gaps};
use gritstone_model::{Benchmark, Conditions, Placement};

/// The machine before a row is launched, and the time since.
pub struct Begun {
    before: Before,
    clock: Clock,
}

/// Looks at the machine before a row is launched on these CPUs.
pub fn begin(watch: &mut Watch, benchmark: &Benchmark, cpus: &[u32]) -> Begun {
    let clock = Clock::start();
    let before = if !benchmark.load().is_empty() {
        watch.begin_beside_load(std::process::id())
    } else if benchmark.processor_bound {
        watch.begin(cpus)
    } else {
        watch.begin_with_the_kernel(cpus)
    };
    Begun { before, clock }
}

/// What went on while a row was launched.
pub fn conditions(
    watch: &mut Watch,
    begun: &Begun,
    benchmark: &Benchmark,
    launched: &Launched,
) -> Conditions {
    let mut conditions = watch.end(&begun.before, launched.cpu);
    // not longer for a Ctrl-Z; what others did meanwhile is held against the shorter time
    let wall = u64::try_from(begun.clock.elapsed().as_nanos()).unwrap_or(u64::MAX);
    conditions.wall = conditions.wall.min(wall);
    // only work that never waits shows by standing still that it was made to
    if benchmark.processor_bound && benchmark.placement == Placement::OneCpu {
        conditions.gap = gaps::of(&launched.events).map(|gaps| gaps.total());
    }
    conditions
}
