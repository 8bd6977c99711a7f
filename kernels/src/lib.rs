//! The programs that do the work, compiled when this crate is built.
