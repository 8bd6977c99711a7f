//! Arguments, configuration, help, and output of the command line.

pub mod ab_progress;
pub mod args;
pub mod completions;
pub mod config;
pub mod exit;
pub mod help;
pub mod man;
pub mod output;
pub mod progress;
#[cfg(test)]
pub mod reference;
pub mod rlimits;
#[cfg(test)]
pub mod schemas;
pub mod signals;
pub mod value_parsers;
