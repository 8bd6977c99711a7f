//! What a kernel says, as bytes. One program: each module is a part that can be called by name.
//!
//! Must not know: the binary.

#[path = "../../../../tests/common/mutation.rs"]
mod mutation;

mod fuzz;
