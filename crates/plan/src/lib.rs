//! From benchmarks, a selection, what the host offers and a budget to what is to be done, in which order.
//!
//! Pure: the same input and seed give the same plan.
//!
//! Must not know: processes, clocks, statistics, where benchmarks
//! come from.

mod rounds;
mod select;
mod steps;

pub use rounds::{Row, adjacent, rounds, share};
pub use select::{SelectError, nearest, select, selected};
pub use steps::{Offer, add_copies, steps, why_not};
