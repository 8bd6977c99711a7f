//! The server with a site of the tests.

#[path = "../../../../tests/common/mutation.rs"]
mod mutation;

mod clients;
mod fuzz;
mod server;
