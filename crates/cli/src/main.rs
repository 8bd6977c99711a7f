//! The composer.
fn main() {}
