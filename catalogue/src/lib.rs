//! What is measured: one entry each, embedded and checked.
