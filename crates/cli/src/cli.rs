//! The command line: the one definition from which help, manual pages, completions and the reference are made.

use crate::command::ab::args::AbArgs;
use crate::command::audit::AuditArgs;
use crate::command::bench::args::BenchArgs;
use crate::command::bisect::BisectArgs;
use crate::command::changes::ChangesArgs;
use crate::command::check::CheckArgs;
use crate::command::compare::CompareArgs;
use crate::command::completions::CompletionsArgs;
use crate::command::config::ConfigArgs;
use crate::command::doctor::DoctorArgs;
use crate::command::export::ExportArgs;
#[cfg(feature = "fleet")]
use crate::command::fleet::FleetArgs;
use crate::command::history::HistoryArgs;
use crate::command::import::ImportArgs;
use crate::command::info::InfoArgs;
use crate::command::init::InitArgs;
use crate::command::list::ListArgs;
use crate::command::man::ManArgs;
use crate::command::pr::PrArgs;
#[cfg(feature = "server")]
use crate::command::push::{PullArgs, PushArgs, SyncArgs};
use crate::command::report::ReportArgs;
use crate::command::run::args::RunArgs;
use crate::command::runs::RunsArgs;
use crate::command::score::ScoreArgs;
#[cfg(feature = "server")]
use crate::command::serve::ServeArgs;
use crate::command::show::ShowArgs;
#[cfg(feature = "server")]
use crate::command::site::SiteArgs;
use crate::command::systems::SystemsArgs;
#[cfg(feature = "server")]
use crate::command::token::TokenArgs;
use crate::command::verify::VerifyArgs;
use crate::ui::display::{DISPLAY, DisplayArgs};
use crate::ui::settable::SetBy;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// System benchmarks that you can act on: confidence intervals, proof of work, and verdicts between runs.
#[derive(Debug, Parser)]
#[command(name = "gritstone", version)]
pub struct Cli {
    /// Store of runs, a file or postgres://USER@HOST/DATABASE [default: $GRITSTONE_STORE, else $XDG_DATA_HOME/gritstone/gritstone.db]
    #[arg(long, global = true, value_name = "FILE|URL", help_heading = DISPLAY, add = SetBy::UserFile)]
    pub store: Option<PathBuf>,
    #[command(flatten)]
    pub display: DisplayArgs,
    /// Print the licenses of Gritstone and of everything in this binary
    #[arg(long)]
    pub licenses: bool,
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure benchmarks and show their results
    Run(Box<RunArgs>),
    /// Compare commands and find the fastest
    Bench(Box<BenchArgs>),
    /// List families, suites and benchmarks
    List(ListArgs),
    /// Create a custom benchmark: a catalog entry and a program
    Init(InitArgs),
    /// Show the results of a run or of a reference system
    Show(ShowArgs),
    /// Compare runs or systems with a base: ratios, intervals, verdicts
    Compare(CompareArgs),
    /// Score runs or systems by environment
    Score(ScoreArgs),
    /// Write the report ("Performance brief") as HTML and PDF
    Report(ReportArgs),
    /// List reference systems and those in the store
    Systems(SystemsArgs),
    /// List, label, remove or prune stored runs
    Runs(RunsArgs),
    /// Describe a benchmark: work, claims, sources, requirements
    Info(InfoArgs),
    /// Check whether this system is ready, and how to fix what is not
    Doctor(DoctorArgs),
    /// Undo the changes of a killed run; runs start it themselves
    #[command(name = gritstone_session::undo::WATCHDOG, hide = true)]
    Watch { base: PathBuf, below: PathBuf, journal: std::ffi::OsString },
    /// Start the far ends of network benchmarks, as the near host says on standard input; `run --peer` starts it
    #[command(name = gritstone_peer::FAR_END, hide = true)]
    FarEnd { directory: PathBuf, address: std::net::IpAddr },
    /// Print shell completions: commands, benchmarks, runs, systems
    Completions(CompletionsArgs),
    /// Print a manual page, or write all of them
    Man(ManArgs),
    /// Show one benchmark over the stored runs, with its change points
    History(HistoryArgs),
    /// List what changed over the stored runs, or acknowledge it
    Changes(ChangesArgs),
    /// CI gate: fail if a run is slower than the allowed margin
    Check(CheckArgs),
    /// Show the defaults from configuration files, and their source
    Config(ConfigArgs),
    /// Find the nodes of a fleet that are not like the others
    #[cfg(feature = "fleet")]
    Fleet(FleetArgs),
    /// Export a run; jsonl has all samples and can be imported
    Export(ExportArgs),
    /// Import runs: bundles, and output of other programs
    Import(ImportArgs),
    /// Check contributed bundles: complete, plausible, nothing private
    Verify(VerifyArgs),
    /// Send runs to the store of a server (`serve`)
    #[cfg(feature = "server")]
    Push(PushArgs),
    /// Fetch runs from the store of a server
    #[cfg(feature = "server")]
    Pull(PullArgs),
    /// Exchange runs with the store of a server
    #[cfg(feature = "server")]
    Sync(SyncArgs),
    /// Create, list and revoke the tokens of a server (`serve`)
    #[cfg(feature = "server")]
    Token(TokenArgs),
    /// Show the store in a browser: runs, comparisons, histories
    #[cfg(feature = "server")]
    Serve(ServeArgs),
    /// Write the pages of the store as files, for hosts of static pages
    #[cfg(feature = "server")]
    Site(SiteArgs),
    /// A/B test commands, compilers, environments or settings
    Ab(Box<AbArgs>),
    /// Compare a pull request with its base, by the project's benchmarks
    Pr(Box<PrArgs>),
    /// Find the commit that made a benchmark slower
    Bisect(Box<BisectArgs>),
    /// Prove the work checks, as shipped and with the compilers here
    Audit(AuditArgs),
}

impl Command {
    /// Whether the runs that the command measures are dropped at its end.
    pub fn stores_nothing(&self) -> bool {
        match self {
            Self::Run(args) => args.storing.no_store,
            Self::Bench(args) => args.storing.no_store,
            Self::Ab(args) => args.storing.no_store,
            Self::Pr(args) => args.storing.no_store,
            _ => false,
        }
    }

    /// Whether the command only prints, so that a pager may show its output.
    pub fn is_read_only(&self) -> bool {
        matches!(
            self,
            Self::List(_)
                | Self::Show(_)
                | Self::Compare(_)
                | Self::Score(_)
                | Self::Systems(_)
                | Self::Runs(_)
                | Self::Info(_)
                | Self::History(_)
                | Self::Changes(_)
        )
    }
}
