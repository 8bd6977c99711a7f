//! The published results: shipped ones, and refused ones. One program: each module is a part that can be called by name.

mod malformed;
mod sanity;
mod shipped;
mod views;
