//! What a run may do to the machine.

use gritstone_exec::privileged::Permits;
use std::time::Duration;

/// How long a launch of a benchmark may take before it counts as hung.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// What may be done to the machine, and for how long a launch may last.
#[derive(Clone, Copy)]
pub struct Bounds {
    pub permits: Permits,
    /// Whether the machine is to be held still.
    pub steady: bool,
    /// Whether the reference workloads are measured too.
    pub reference: bool,
    pub deadline: Duration,
}

impl Bounds {
    /// Of launches of the catalog, with a machine left as it is.
    pub fn new(permits: Permits) -> Self {
        Self {
            permits,
            steady: false,
            reference: false,
            deadline: DEADLINE,
        }
    }
}
