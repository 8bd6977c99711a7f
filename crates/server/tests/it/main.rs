//! The server with answers of a test behind it.

#[path = "../../../../tests/common/mutation.rs"]
mod mutation;

mod clients;
mod fuzz;
mod server;
