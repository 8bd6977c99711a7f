//! Runs to bytes and back. One program: each module is a part that can be called by name.

#[path = "../../../../tests/common/mutation.rs"]
mod mutation;

mod exchange;
mod fuzz;
mod programs;
