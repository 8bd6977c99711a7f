//! From benchmarks, selectors and the host to a plan. Pure: the same input gives the same plan.

mod select;
mod steps;

pub use select::{SelectError, Selectors, nearest, select, select_refs, with_parts};
pub use steps::{Offer, add_copies, in_order, steps, why_not};
