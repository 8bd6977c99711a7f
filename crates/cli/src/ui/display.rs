//! Options for the output of results.

use crate::ui::settable::SetBy;
use clap::{Args, ValueEnum};

/// Heading of the options that all commands have.
pub const DISPLAY: &str = "Global options";

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct DisplayArgs {
    /// Print more: -v columns, -vv also reference workloads, settings and all notes
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = DISPLAY)]
    pub verbose: u8,
    /// Print results and errors only
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = DISPLAY)]
    pub quiet: bool,
    /// Color verdicts and flags: auto, always or never
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t, hide_possible_values = true, help_heading = DISPLAY, add = SetBy::AnyFile)]
    pub color: When,
    /// Print ASCII characters only
    #[arg(long, global = true, help_heading = DISPLAY, add = SetBy::AnyFile)]
    pub ascii: bool,
    /// Do not pass long output on a terminal to $PAGER
    #[arg(long, global = true, help_heading = DISPLAY, add = SetBy::AnyFile)]
    pub no_pager: bool,
}

#[derive(Debug, Default, Args)]
pub struct FormatArgs {
    /// Output format
    #[arg(short, long, value_enum, default_value_t, help_heading = "Output")]
    pub format: Format,
}

/// Output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables.
    #[default]
    Text,
    /// One JSON value on standard output.
    Json,
}

/// Use of color: auto, always or never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
