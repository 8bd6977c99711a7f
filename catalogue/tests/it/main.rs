//! The catalog: shipped entries, and refused ones. One program: each module is a part that can be called by name.

#[path = "../../../tests/common/mutation.rs"]
mod mutation;

mod faults;
mod fuzz;
mod scripts;
mod sound;
