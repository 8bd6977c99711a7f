//! Options that several commands share.

use crate::ui::display::DISPLAY;
use crate::ui::settable::SetBy;
use crate::ui::value_parsers;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use gritstone_model::SameFact;
use gritstone_runs::history::Extent;
use std::path::PathBuf;

/// Custom benchmarks.
#[derive(Clone, Debug, Default, Args)]
pub struct CatalogArgs {
    /// Add the custom benchmarks in DIR; without a selector, measure only these
    #[arg(
        long,
        value_name = "DIR",
        help_heading = "Custom benchmarks",
        add = SetBy::UserFile,
    )]
    pub catalog: Option<PathBuf>,
    /// Run the programs of the catalog without asking (asked once, and again if a file has changed)
    #[arg(long, requires = "catalog", help_heading = "Custom benchmarks")]
    pub trust: bool,
}

/// Permitted actions.
#[derive(Clone, Debug, Default, Args)]
pub struct PrivilegeArgs {
    /// Allow an action that is off by default
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        value_delimiter = ',',
        help_heading = "Privileges",
        add = SetBy::UserFile,
    )]
    pub allow: Vec<Allow>,
    /// Do nothing that requires privileges; skip benchmarks that need it
    #[arg(long, conflicts_with = "allow", help_heading = "Privileges", add = SetBy::UserFile)]
    pub no_privileged: bool,
}

impl PrivilegeArgs {
    /// Permitted actions beyond the default, as on the command line.
    pub fn allowed(&self) -> Vec<String> {
        let values = self.allow.iter().filter_map(ValueEnum::to_possible_value);
        values.map(|value| value.get_name().to_owned()).collect()
    }

    /// What the user permits.
    pub fn permits(&self) -> gritstone_exec::privileged::Permits {
        gritstone_exec::privileged::Permits {
            nothing: self.no_privileged,
            swap: self.allow.contains(&Allow::Swap),
        }
    }
}

/// Actions that are off by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Allow {
    /// A swap file, for paging benchmarks; memory of other processes may be paged to it
    Swap,
}

/// Where measured runs go.
#[derive(Clone, Debug, Default, Args)]
pub struct StoreArgs {
    /// Show and export the result, but store nothing; stored runs are still read
    #[arg(long, help_heading = DISPLAY)]
    pub no_store: bool,
}

/// Facts that runs share.
#[derive(Clone, Debug, Default, Args)]
pub struct SameArgs {
    /// Only runs with the same FACT as the newest one; the compiler with its flags
    #[arg(long, value_name = "FACT", global = true, value_delimiter = ',', value_parser = value_parsers::named(SameFact::as_str, SameFact::ALL.map(|fact| (fact, None::<&str>))))]
    pub same: Vec<SameFact>,
}

/// Filter of the runs in a history.
#[derive(Clone, Debug, Default, Args)]
pub struct HistoryFilterArgs {
    /// Only runs of commits on this branch
    #[arg(long, value_name = "NAME", global = true, value_parser = NonEmptyStringValueParser::new())]
    pub branch: Option<String>,
    #[command(flatten)]
    pub same: SameArgs,
}

impl HistoryFilterArgs {
    pub fn extent(&self, runs: u32) -> Extent<'_> {
        Extent { runs: runs as usize, branch: self.branch.as_deref(), same: &self.same.same }
    }
}

/// Identity in shared output.
#[derive(Debug, Args)]
pub struct IdentityArgs {
    /// Keep host and user names, values of the environment and paths of home directories
    #[arg(long)]
    pub with_identity: bool,
}

/// Exit code of an inconclusive run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnInconclusive {
    /// Exit with 4
    Fail,
    /// Exit with 0
    Pass,
}
