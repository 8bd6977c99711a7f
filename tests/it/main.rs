//! The binary, used as a person uses it. One program: each module is a part that can be called by name.

#[path = "../common/mod.rs"]
mod common;

mod attacks;
