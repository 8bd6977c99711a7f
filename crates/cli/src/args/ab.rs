//! What `gritstone ab` is told: sides, what sets them apart, and when it is enough.

use super::{CatalogueArgs, FormatArgs, PrivilegeArgs};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "gritstone ab -- ./old -- ./new                  two commands; more are ranked, one alone is timed
gritstone ab --cc 'gcc -O2' --cc 'clang -O2' 'byte/*'
gritstone ab mine/sum --catalogue old --catalogue-b new
gritstone ab --env-b MALLOC_ARENA_MAX=1 -- ./server-test
gritstone ab --a 'sysctl -q vm.swappiness=60' --b 'sysctl -q vm.swappiness=0' 'byte/*'
gritstone ab --parameter n=1,2,4 -- make -j '{n}' -B"
)]
pub struct AbArgs {
    /// Rows that are measured on both sides, as of `run`, where no commands are given
    #[arg(value_name = "SELECTOR", conflicts_with = "commands")]
    pub selectors: Vec<String>,
    /// The commands, each after a `--`; a single word with blanks in it is for the shell
    #[arg(last = true, value_name = "COMMAND")]
    pub commands: Vec<String>,
    /// A compiler with its flags, once for each side: the rows are compiled again
    #[arg(long, value_name = "COMPILER", requires = "selectors")]
    pub cc: Vec<String>,
    /// What the environment of the first side has besides
    #[arg(long, value_name = "NAME=VALUE", value_parser = crate::amounts::pair)]
    pub env_a: Vec<(String, String)>,
    /// What the environment of the second side has besides
    #[arg(long, value_name = "NAME=VALUE", value_parser = crate::amounts::pair)]
    pub env_b: Vec<(String, String)>,
    /// A command for the shell before launches of the first side: a setting of the machine
    #[arg(long, value_name = "COMMAND", requires = "b")]
    pub a: Option<String>,
    /// The same for the second side
    #[arg(long, value_name = "COMMAND", requires = "a")]
    pub b: Option<String>,
    /// What puts the machine back at the end, whatever ends it [default: the command of --a]
    #[arg(long, value_name = "COMMAND", requires = "a")]
    pub undo: Option<String>,
    /// The same against the same: a trial of the comparison itself
    #[arg(long = "self", conflicts_with_all = ["cc", "a", "b", "undo", "env_a", "env_b"])]
    pub same: bool,
    /// Two sides within this share of each other count as the same
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = crate::amounts::share)]
    pub margin: f64,
    /// Time for everything, such as 90s, 10m or 1h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = crate::amounts::duration)]
    pub budget: std::time::Duration,
    /// A command for the shell, untimed, before each time that a command is timed
    #[arg(long, value_name = "COMMAND", requires = "commands")]
    pub prepare: Option<String>,
    /// The same after each time
    #[arg(long, value_name = "COMMAND", requires = "commands")]
    pub cleanup: Option<String>,
    /// Values that take the place of {NAME} in the commands; several parameters make all combinations
    #[arg(long, value_name = "NAME=VALUE,...", requires = "commands", value_parser = crate::amounts::pair)]
    pub parameter: Vec<(String, String)>,
    /// Time commands that end with a status other than 0 too
    #[arg(long, requires = "commands")]
    pub ignore_failure: bool,
    /// A name for the trial; its sides are kept as runs NAME-a, NAME-b and so on [default: ab-ID]
    #[arg(long)]
    pub label: Option<String>,
    /// Directory in whose file system rows measure files [default: /var/tmp, else TMPDIR]
    #[arg(long, conflicts_with = "commands")]
    pub dir: Option<PathBuf>,
    /// Repeats the order of an earlier trial
    #[arg(long)]
    pub seed: Option<u64>,
    /// Measure nothing, and show the trial of this name again
    #[arg(long, value_name = "NAME", conflicts_with_all = ["selectors", "catalogue", "commands"])]
    pub of: Option<String>,
    #[command(flatten)]
    pub privileges: PrivilegeArgs,
    #[command(flatten)]
    pub own: CatalogueArgs,
    /// Another version of the catalogue, whose programs are those of the second side: entries must be alike but for their programs
    #[arg(long, value_name = "DIR", requires = "catalogue", conflicts_with_all = ["cc", "same", "commands"])]
    pub catalogue_b: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArgs,
}
