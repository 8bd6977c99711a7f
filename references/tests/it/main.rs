//! The published results: what is shipped, and what is refused. One program: each module is a part that can be called by name.

mod malformed;
mod sanity;
mod shipped;
mod views;
