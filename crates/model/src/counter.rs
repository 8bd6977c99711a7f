//! Counts per operation, and explanations of differences.

use crate::names::names;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

names! {
    /// A counter. It includes kernel work unless its name says otherwise.
    #[derive(PartialOrd, Ord, Hash, JsonSchema)]
    pub enum Counter {
        Instructions = "instructions",
        /// Instructions in user mode.
        UserInstructions = "user_instructions",
        /// Core cycles.
        Cycles = "cycles",
        /// Core cycles in user mode. If these are counted, misses are of user mode too.
        UserCycles = "user_cycles",
        /// Mispredicted branches.
        BranchMisses = "branch_misses",
        /// Accesses that missed the last level of cache.
        CacheMisses = "cache_misses",
        /// Loads that missed the first level of the TLB for data.
        TlbMisses = "tlb_misses",
        /// Page walks for data.
        PageWalks = "page_walks",
        ContextSwitches = "context_switches",
        PageFaults = "page_faults",
        /// Energy of the processor packages, uJ.
        EnergyUj = "energy_uj",
    }
}

pub type Counts<T> = BTreeMap<Counter, T>;

/// Hardware counters that the launches of a run could use.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// None: the kernel refuses them, or there are none.
    #[default]
    Nothing,
    /// Counters of user mode only.
    User,
    Everything,
}

impl Counting {
    /// The most that any of these counts implies.
    pub fn from_counts<'a>(counts: impl Iterator<Item = &'a Counts<f64>>) -> Self {
        let one = |counts: &Counts<f64>| {
            if counts.contains_key(&Counter::Cycles) {
                Self::Everything
            } else if counts.contains_key(&Counter::UserCycles) {
                Self::User
            } else {
                Self::Nothing
            }
        };
        counts.map(one).max().unwrap_or_default()
    }
}

/// One counter on both sides of a comparison, per operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CounterChange {
    pub counter: Counter,
    pub base: f64,
    pub other: f64,
    /// Whether both are equal, to 0.5%.
    pub same: bool,
}

/// Explanation of a difference by the counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// Whether the work changed: null unless instructions were counted alike on both sides.
    pub instructions: Option<CounterChange>,
    /// Core cycles: by the counter, else by the cycle probe; null without either.
    pub cycles: Option<CounterChange>,
    /// Counters that changed with the cycles that the instructions do not explain, and could explain them, the largest part first.
    pub causes: Vec<CounterChange>,
}
