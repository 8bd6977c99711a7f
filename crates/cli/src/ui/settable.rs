//! Marks on options that configuration files set.

use clap::builder::ArgExt;

/// Which files may set an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SetBy {
    AnyFile,
    UserFile,
}

impl ArgExt for SetBy {}

/// Marks options that select: a typed one replaces all that files set.
#[derive(Clone, Copy, Debug)]
pub struct Selects;

impl ArgExt for Selects {}
