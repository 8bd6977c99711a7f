//! Permissions and limits of a run.

use gritstone_exec::privileged::Permits;
use std::time::Duration;

/// Time after which a launch counts as hung.
pub const DEADLINE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy)]
pub struct Bounds {
    pub permits: Permits,
    /// `--tune`
    pub tune: bool,
    /// Also measure reference workloads.
    pub reference: bool,
    pub deadline: Duration,
    /// Wait until no other run measures on this machine.
    pub wait: bool,
}

impl Bounds {
    pub fn new(permits: Permits) -> Self {
        Self { permits, tune: false, reference: false, deadline: DEADLINE, wait: false }
    }
}
