//! The published results: what is shipped, and what is refused. One program: each module is a part that can be called by name.
//!
//! Must not know: the binary.

mod malformed;
mod shipped;
mod views;
