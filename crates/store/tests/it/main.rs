//! The store from outside. One program: each module is a part that can be called by name.

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../../tests/common/mutation.rs"]
mod mutation;
#[path = "../../../../tests/common/postgres.rs"]
mod postgresql;

mod behavior;
mod cache;
mod damage;
mod fuzz;
mod places;
mod processes;
mod pruned;
mod server;
mod tokens;
