//! Marks on options that configuration files set.

use clap::builder::ArgExt;

/// Which files may set an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SetBy {
    AnyFile,
    UserFile,
}

impl ArgExt for SetBy {}

/// Marks the options of which one that is typed replaces what files set for all.
#[derive(Clone, Copy, Debug)]
pub struct Selects;

impl ArgExt for Selects {}
