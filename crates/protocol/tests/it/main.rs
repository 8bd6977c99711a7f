//! What a kernel says, as bytes. One program: each module is a part that can be called by name.

#[path = "../../../../tests/common/mutation.rs"]
mod mutation;

mod fuzz;
