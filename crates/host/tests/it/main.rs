//! What is read of made-up machines, and of this one. One program: each module is a part that can be called by name.

#[path = "../common/mod.rs"]
mod common;

mod doctor;
mod facts;
mod live;
mod steady;
mod watch;
