//! Options of `gritstone ab`.

use crate::ui::args::{CatalogArgs, PrivilegeArgs, StoreArgs};
use crate::ui::candidates;
use crate::ui::display::FormatArgs;
use crate::ui::settable::SetBy;
use crate::ui::value_parsers;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone ab -- ./old -- ./new        two commands; more are ranked
  gritstone ab gcc:-O2 'clang:-O3 -flto' byte         two compilers
  gritstone ab --env-b MALLOC_ARENA_MAX=1 -- ./server-test
  gritstone ab --a 'sysctl vm.swappiness=60' --b 'sysctl vm.swappiness=0' vm
  gritstone ab --parameter jobs=1,2,4 -- make -j '{jobs}' -B

Options come before the first `--`, commands after it.")]
pub struct AbArgs {
    /// Benchmarks to measure on all sides, as for `run`, without commands; COMPILER:FLAGS is short for --cc [default: 'cpu/*' with compilers]
    #[arg(value_name = "SELECTOR | COMPILER:FLAGS", conflicts_with = "commands", add = candidates::benchmarks())]
    pub words: Vec<String>,
    /// Commands, each after a `--`; a single word with blanks is run by the shell
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["catalog", "allow"])]
    pub commands: Vec<String>,
    /// Compiler with flags (without: -O2), one per side: the workloads are compiled with each
    #[arg(long, value_name = "COMPILER", conflicts_with = "commands", add = SetBy::UserFile)]
    pub cc: Vec<String>,
    /// Extra environment variables for side A
    #[arg(long, value_name = "NAME=VALUE", value_parser = value_parsers::pair)]
    pub env_a: Vec<(String, String)>,
    /// Extra environment variables for side B
    #[arg(long, value_name = "NAME=VALUE", value_parser = value_parsers::pair)]
    pub env_b: Vec<(String, String)>,
    /// Shell command before launches of side A, e.g. a machine setting
    #[arg(long, value_name = "COMMAND", requires = "b")]
    pub a: Option<String>,
    /// Shell command before launches of side B
    #[arg(long, value_name = "COMMAND", requires = "a")]
    pub b: Option<String>,
    /// Shell command that restores the machine at the end [default: the command of --a]
    #[arg(long, value_name = "COMMAND", requires = "a")]
    pub undo: Option<String>,
    /// A/A test: the same on both sides
    #[arg(long = "self", conflicts_with_all = ["cc", "a", "b", "undo", "env_a", "env_b"])]
    pub same: bool,
    /// Differences within this margin are "same"
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = value_parsers::share, add = SetBy::UserFile)]
    pub margin: f64,
    /// Total time, e.g. 90s, 10m or 1h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = value_parsers::duration, add = SetBy::AnyFile)]
    pub budget: std::time::Duration,
    /// Untimed shell command before each timed command
    #[arg(long, value_name = "COMMAND", requires = "commands")]
    pub prepare: Option<String>,
    /// Untimed shell command after each timed command
    #[arg(long, value_name = "COMMAND", requires = "commands")]
    pub conclude: Option<String>,
    /// Values of {NAME} in the commands; several parameters give all combinations
    #[arg(long, value_name = "NAME=VALUE,...", requires = "commands", value_parser = value_parsers::pair)]
    pub parameter: Vec<(String, String)>,
    /// Also time commands that fail, by any exit status or signal
    #[arg(short, long, requires = "commands")]
    pub ignore_failure: bool,
    /// Leave failed executions out of the times, and count them apart
    #[arg(long, requires = "commands", conflicts_with = "ignore_failure")]
    pub leave_out_failures: bool,
    /// Allow processes that a command leaves running; they end with the launch
    #[arg(long, requires = "commands")]
    pub allow_background: bool,
    /// Name of the test; its sides are stored as runs NAME-a, NAME-b, ... [default: ab-ID]
    #[arg(long, value_parser = value_parsers::label, conflicts_with = "no_store", add = SetBy::AnyFile)]
    pub label: Option<String>,
    /// Directory whose file system is measured [default: /var/tmp, else TMPDIR]
    #[arg(long, conflicts_with = "commands", add = SetBy::UserFile)]
    pub dir: Option<PathBuf>,
    /// Repeat the order of an earlier test
    #[arg(long, value_parser = value_parsers::whole(0..=u64::MAX))]
    pub seed: Option<u64>,
    /// Show the stored test of this name; measure nothing
    #[arg(long, value_name = "NAME", conflicts_with_all = ["words", "catalog", "commands", "no_store", "cc", "env_a", "env_b", "a", "b", "undo", "same", "margin", "budget", "label", "dir", "seed", "allow", "no_privileged"])]
    pub of: Option<String>,
    #[command(flatten)]
    pub privileges: PrivilegeArgs,
    #[command(flatten)]
    pub storing: StoreArgs,
    #[command(flatten)]
    pub custom: CatalogArgs,
    #[command(flatten)]
    pub format: FormatArgs,
}

/// Default selector with compilers.
const COMPILED_SELECTOR: &str = "cpu/*";

impl AbArgs {
    pub fn compilers(&self) -> Vec<String> {
        let words = self.words.iter().filter(|word| is_compiler(word));
        let spaced = words.map(|word| word.replacen(':', " ", 1));
        let all = self.cc.iter().cloned().chain(spaced);
        all.map(|compiler| match compiler.trim().split_once([' ', '\t', '\n']) {
            Some((name, flags)) => format!("{name} {}", flags.trim()),
            None => format!("{} {}", compiler.trim(), gritstone_session::compiler::FLAGS),
        })
        .collect()
    }

    pub fn selectors(&self) -> Vec<String> {
        let words = self.words.iter().filter(|word| !is_compiler(word));
        let mut selectors: Vec<String> = words.cloned().collect();
        let compiled = self.custom.catalog.is_none() && !self.compilers().is_empty();
        if selectors.is_empty() && compiled {
            selectors.push(COMPILED_SELECTOR.to_owned());
        }
        selectors
    }
}

/// Identifiers of benchmarks have no colon.
fn is_compiler(word: &str) -> bool {
    word.contains(':')
}
