//! Arguments, configuration, help, and output of the command line.

pub mod ab_progress;
pub mod args;
pub mod completions;
pub mod config;
pub mod confirm;
pub mod display;
pub mod exit;
pub mod help;
pub mod man;
pub mod output;
pub mod progress;
#[cfg(test)]
pub mod reference;
#[cfg(test)]
pub mod schemas;
pub mod skips;
pub mod value_parsers;
