//! From benchmarks, a selection and what the host offers to what is to be done. Pure: the same input gives the same plan.

mod select;
mod steps;

pub use select::{SelectError, nearest, select, selected};
pub use steps::{Offer, add_copies, in_order, steps, why_not};
