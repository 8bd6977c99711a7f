//! Shared options, configuration, help, and output of the command line.

pub mod ab_progress;
pub mod args;
pub mod candidates;
pub mod commit;
pub mod config;
pub mod confirm;
pub mod display;
pub mod exit;
pub mod gate;
pub mod help;
pub mod output;
pub mod parameters;
pub mod progress;
pub mod settable;
pub mod skips;
pub mod step_summary;
pub mod suggestions;
pub mod unknown_word;
pub mod value_parsers;
mod warnings;
