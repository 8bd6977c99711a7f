//! The command line: the one definition from which help, manual page and completions are made.
//!
//! Must not know: what any command does.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Measures this machine the way the UNIX benchmarks of 1981 to 1987 did, so that every figure can be trusted.
#[derive(Debug, Parser)]
#[command(name = "gritstone", version, disable_help_subcommand = true)]
pub struct Cli {
    /// Where runs are kept (default: $XDG_DATA_HOME/gritstone/gritstone.db)
    #[arg(long, global = true, value_name = "FILE", env = "GRITSTONE_STORE")]
    pub store: Option<PathBuf>,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// How a result is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for people.
    #[default]
    Text,
    /// One JSON value on standard output.
    Json,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure, and show what was measured
    Run(RunArgs),
    /// What can be measured, where it comes from, and whether it would run here
    List(ListArgs),
    /// The tables of a run or of a reference machine
    Show(ShowArgs),
    /// Ratios, intervals and verdicts of runs or machines against a base
    Compare(CompareArgs),
    /// The performance brief, as HTML and as PDF
    Brief(BriefArgs),
    /// Runs of the same against each other: how far this machine scatters, and the smallest change that it can show
    Selftest(SelftestArgs),
    /// Reference machines, and those in the store
    Machines(FormatArgs),
    /// Is this machine fit to be measured, what is missing, and what mends it
    Doctor(DoctorArgs),
    /// Puts settings back when the run of this journal is killed; runs start it themselves
    #[command(name = crate::registry::WATCHDOG, hide = true)]
    Watch { journal: PathBuf },
    /// Do the benchmarks do what they claim, as shipped and as the compilers here make them
    Audit(AuditArgs),
}

#[derive(Debug, Default, Args)]
pub struct FormatArgs {
    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

#[derive(Debug, Default, Args)]
pub struct RunArgs {
    /// What to measure: identifiers or globs such as 'byte/*' ('*' stops at '@'; 'byte/*@*' are the variants); nothing means everything
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    /// Two minutes and intervals of 5 %, instead of ten and 1 %
    #[arg(long)]
    pub quick: bool,
    /// Time for everything, such as 90s, 10m or 1h [default: 10m, with --quick 2m]
    #[arg(long, value_name = "TIME", value_parser = crate::amounts::duration)]
    pub budget: Option<std::time::Duration>,
    /// Half-width of the intervals that is asked for, such as 1% [default: 1%, with --quick 5%]
    #[arg(long, value_name = "SHARE", value_parser = crate::amounts::share)]
    pub precision: Option<f64>,
    /// A name for this run
    #[arg(long)]
    pub label: Option<String>,
    /// Afterwards, compare with this run or machine
    #[arg(long, value_name = "RUN|MACHINE")]
    pub against: Option<String>,
    /// Directory in whose file system files are measured [default: /var/tmp, else TMPDIR]
    #[arg(long)]
    pub dir: Option<PathBuf>,
    /// Repeats the order of an earlier run
    #[arg(long)]
    pub seed: Option<u64>,
    /// Hold the machine still meanwhile: governor, turbo, interrupts, layout of memory, as far as it may be; all is put back
    #[arg(long)]
    pub steady: bool,
    /// Go on with a run that was cut off: the newest, or the one that is named
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "",
          conflicts_with_all = ["selectors", "quick", "budget", "precision", "label", "dir", "seed", "steady"])]
    pub resume: Option<String>,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Identifiers or globs; nothing means everything
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// last, last~2, a label, an id, a file, or a machine such as ref:vax-11-780-4.1bsd
    #[arg(default_value = "last")]
    pub run: String,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The run or machine that is 1
    pub base: String,
    /// The runs or machines that are compared with it
    #[arg(required = true)]
    pub other: Vec<String>,
    /// Two figures within this share of each other count as the same
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = crate::amounts::share)]
    pub margin: f64,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
pub struct BriefArgs {
    /// Which run; several stand side by side
    #[arg(value_name = "RUN", default_value = "last")]
    pub runs: Vec<String>,
    /// The run or machine that they are held against
    #[arg(
        long,
        value_name = "RUN|MACHINE",
        default_value = "ref:vax-11-780-4.1bsd"
    )]
    pub against: String,
    /// Where to write it: a name that ends in .html or .pdf; may be given for both [default: gritstone-brief-RUN, as both]
    #[arg(long, value_name = "FILE")]
    pub out: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct SelftestArgs {
    /// What to measure, as of `run`
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    /// How many runs, one after another; they are kept like all others, as selftest-ID-1 and so on
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=100))]
    pub runs: u32,
    /// Time for each run [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = crate::amounts::duration)]
    pub budget: Option<std::time::Duration>,
    /// Measure nothing, and look at these runs: identifiers, labels that several runs have, or the common beginning of labels that
    /// end in -1, -2 and so on
    #[arg(long, value_name = "RUN", num_args = 1.., conflicts_with_all = ["selectors", "runs", "budget"])]
    pub of: Vec<String>,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Install the missing programs with the command that is shown
    #[arg(long)]
    pub install: bool,
    /// Directory in whose file system files would be measured
    #[arg(long)]
    pub dir: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
pub struct AuditArgs {
    /// Identifiers or globs; nothing means everything
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    #[command(flatten)]
    pub format: FormatArgs,
}
