//! The command line: the one definition from which help, manual page and completions are made.

mod ab;
mod bench;
mod fleet;
mod prune;

use crate::ui::display::{DisplayArgs, FormatArgs};
pub use ab::AbArgs;
pub use bench::{BenchArgs, Sort, Statuses, StyleType, TimeUnit};
use clap::{Args, Parser, Subcommand, ValueEnum};
pub use fleet::{
    FleetArgs, FleetCheckArgs, FleetCommand, FleetFormat, FleetNodeArgs, FleetReportArgs,
    FleetRunArgs,
};
pub use prune::PruneArgs;
use std::path::PathBuf;

/// Benchmark this Linux system: results with confidence intervals and proof of work, comparable with systems of 1982 to 2009.
#[derive(Debug, Parser)]
#[command(name = "gritstone", version)]
pub struct Cli {
    /// Store of runs, a file or postgres://USER@HOST/DATABASE [default: $GRITSTONE_STORE, else $XDG_DATA_HOME/gritstone/gritstone.db]
    #[arg(long, global = true, value_name = "FILE|URL", help_heading = DISPLAY)]
    pub store: Option<PathBuf>,
    #[command(flatten)]
    pub display: DisplayArgs,
    /// Print the licenses of Gritstone and of everything in this binary
    #[arg(long)]
    pub licenses: bool,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Heading of the options that all commands have.
const DISPLAY: &str = "Global options";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure benchmarks and show their results
    Run(Box<RunArgs>),
    /// Time commands and find the fastest (interleaved, sequential)
    Bench(Box<BenchArgs>),
    /// List benchmarks, their sources, and whether they run here
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
    /// List stored runs, label or remove one, or prune the raw samples of old ones
    Runs(RunsArgs),
    /// Describe a benchmark: work, claims, source; if it runs here
    Info(InfoArgs),
    /// Check whether this system is ready, and how to fix what is not
    Doctor(DoctorArgs),
    /// Undo the changes of a killed run; runs start it themselves
    #[command(name = gritstone_session::undo::WATCHDOG, hide = true)]
    Watch {
        base: PathBuf,
        below: PathBuf,
        journal: std::ffi::OsString,
    },
    /// Start the far ends of network benchmarks, as the near host says on standard input; `run --peer` starts it
    #[command(name = gritstone_peer::FAR_END, hide = true)]
    FarEnd {
        directory: PathBuf,
        address: std::net::IpAddr,
    },
    /// Print what may stand at the cursor of a shell
    #[command(name = COMPLETER, hide = true)]
    Complete {
        #[arg(last = true)]
        words: Vec<String>,
    },
    /// Print shell completions: commands, benchmarks, runs, systems
    #[command(after_help = "Examples:
  gritstone completions bash > ~/.local/share/bash-completion/completions/gritstone
  gritstone completions zsh > ~/.zfunc/_gritstone
  gritstone completions fish > ~/.config/fish/completions/gritstone.fish")]
    Completions {
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print a manual page, or write all of them
    #[command(after_help = "Examples:
  gritstone man run | man -l -
  gritstone man --output ~/.local/share/man/man1")]
    Man {
        /// Command [default: the page of the program]
        command: Option<String>,
        /// Write all pages to this directory
        #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
        output: Option<PathBuf>,
    },
    /// Show one benchmark over the stored runs, with its change points
    History(HistoryArgs),
    /// List what changed over the stored runs, or acknowledge it
    Changes(ChangesArgs),
    /// CI gate: fail if a run may be slower than the allowed margin
    Check(CheckArgs),
    /// Show the defaults from configuration files, and their source
    #[command(after_help = "Examples:
  gritstone config --show
  printf '[run]\\nbudget = \"3m\"\\n' > gritstone.toml     default of `run` here")]
    Config {
        /// Show them; the default
        #[arg(long)]
        show: bool,
    },
    /// Find the nodes of a fleet that are not like the others
    Fleet(FleetArgs),
    /// Export a run; jsonl has all samples and can be imported
    Export(ExportArgs),
    /// Import runs: bundles, hyperfine, Google Benchmark, UnixBench
    Import(ImportArgs),
    /// Send runs to the store of a server (`serve`)
    Push(PushArgs),
    /// Fetch runs from the store of a server
    Pull(PullArgs),
    /// Send and fetch what another store lacks, or send what waits
    Sync(SyncArgs),
    /// Create, list and revoke the tokens of a server (`serve`)
    #[command(after_help = "Examples:
  gritstone token create node-17 --scope write
  gritstone token revoke node-17")]
    Token {
        #[command(subcommand)]
        command: TokenCommand,
    },
    /// Show the store in a browser: runs, comparisons, histories
    Serve(ServeArgs),
    /// A/B test commands, compilers, environments or settings
    Ab(Box<AbArgs>),
    /// Prove the work checks, as shipped and with the compilers here
    Audit(AuditArgs),
}

impl Command {
    /// Whether it prints what is known and does nothing else, so that a pager may show it.
    pub fn only_looks(&self) -> bool {
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

/// The far ends of network benchmarks on another host.
#[derive(Clone, Debug, Default, Args)]
pub struct PeerArgs {
    /// Measure network benchmarks with their far ends on this host, started by ssh, instead of in a network namespace
    #[arg(
        long = "peer",
        value_name = "[USER@]HOST",
        conflicts_with = "resume",
        help_heading = "Network"
    )]
    pub host: Option<String>,
    /// Address of the peer at which far ends listen [default: the one at which ssh reaches it]
    #[arg(
        long = "peer-address",
        value_name = "ADDRESS",
        help_heading = "Network"
    )]
    pub address: Option<std::net::IpAddr>,
    /// Program for the peer, such as dist/gritstone of `make dist` [default: this program]
    #[arg(long, value_name = "FILE", help_heading = "Network")]
    pub binary: Option<PathBuf>,
    /// Command of OpenSSH's client, with its options [default: ssh]
    #[arg(
        long,
        value_name = "COMMAND",
        default_value = "ssh",
        hide_default_value = true,
        help_heading = "Network"
    )]
    pub ssh: String,
}

/// Custom benchmarks.
#[derive(Clone, Debug, Default, Args)]
pub struct CatalogueArgs {
    /// Add the custom benchmarks in DIR; without a selector, measure only these
    #[arg(
        long = "catalog",
        value_name = "DIR",
        help_heading = "Custom benchmarks"
    )]
    pub catalogue: Option<PathBuf>,
    /// Run the programs of the catalog without asking (asked once, and again if a file has changed)
    #[arg(long, help_heading = "Custom benchmarks")]
    pub trust: bool,
}

/// What a run may do to the machine.
#[derive(Clone, Debug, Default, Args)]
pub struct PrivilegeArgs {
    /// Allow an action that is off by default
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        value_delimiter = ',',
        help_heading = "Privileges"
    )]
    pub allow: Vec<Allow>,
    /// Do nothing that requires privileges; skip benchmarks that need it
    #[arg(long, conflicts_with = "allow", help_heading = "Privileges")]
    pub no_privileged: bool,
}

/// Actions that are off by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Allow {
    /// A swap file, for paging benchmarks; memory of other processes may be paged to it
    Swap,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone init mine/sum             writes ./mine/mine.toml and a program
  gritstone run --catalog mine")]
pub struct InitArgs {
    /// Its name, e.g. mine/sum
    #[arg(value_name = "FAMILY/NAME")]
    pub name: String,
    /// Directory of the catalog, created if missing [default: ./FAMILY]
    #[arg(long = "catalog", value_name = "DIR")]
    pub catalogue: Option<PathBuf>,
    /// Time this shell command, instead of generating a program in C
    #[arg(long, value_name = "CMD", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub command: Option<String>,
}

#[derive(Debug, Default, Args)]
#[command(after_help = "Examples:
  gritstone run --quick byte          a family in two minutes
  gritstone run byte/pipe 'event/*' --budget 5m
  gritstone run --budget 1h --label v6.19")]
pub struct RunArgs {
    /// Identifiers or globs, e.g. 'byte/*' ('*' stops at '@'; 'byte/*@*' are the variants) [default: suite standard]
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    /// Measure a suite, in addition to any SELECTOR: standard, applications (programs of today), classic (the documents of 1982 to 1987, with reference workloads) or full
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    pub suite: Option<String>,
    /// Launch each benchmark six times, instead of ten times or more
    #[arg(long, help_heading = "Effort")]
    pub quick: bool,
    /// Measure as many benchmarks, in their order, as fit into this time, e.g. 90s, 10m or 1h [default: all of them]
    #[arg(long, value_name = "TIME", value_parser = crate::ui::value_parsers::duration, help_heading = "Effort")]
    pub budget: Option<std::time::Duration>,
    /// Also measure the reference workloads of the documents [default: with --suite classic and --against ref:SYSTEM]
    #[arg(long, help_heading = "Selection")]
    pub reference: bool,
    /// Wanted half-width of the intervals [default: 2%, with --quick 5%]
    #[arg(long, value_name = "SHARE", value_parser = crate::ui::value_parsers::share, help_heading = "Effort")]
    pub precision: Option<f64>,
    /// Name of this run
    #[arg(long, help_heading = "Run")]
    pub label: Option<String>,
    /// Compare the result with this run or system
    #[arg(long, value_name = "RUN|SYSTEM", help_heading = "Run")]
    pub against: Option<String>,
    /// Directory whose file system is measured [default: /var/tmp, else TMPDIR]
    #[arg(long, help_heading = "System")]
    pub dir: Option<PathBuf>,
    /// Also run single-CPU workloads as N simultaneous copies, e.g. 2,4,8
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=256), help_heading = "Selection")]
    pub copies: Vec<u32>,
    /// Override a parameter of the selected workloads, e.g. tty=/dev/ttyS0; repeatable
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = crate::ui::value_parsers::pair, help_heading = "Selection")]
    pub params: Vec<(String, String)>,
    /// Repeat the order of an earlier run
    #[arg(long, help_heading = "Run")]
    pub seed: Option<u64>,
    /// Tune the machine during the run (governor, turbo, IRQ affinity, ASLR); settings are restored
    #[arg(long = "tune", help_heading = "System")]
    pub steady: bool,
    #[command(flatten)]
    pub peer: PeerArgs,
    #[command(flatten)]
    pub privileges: PrivilegeArgs,
    /// List the benchmarks and every change to the machine; measure nothing
    #[arg(long, help_heading = "Run")]
    pub dry_run: bool,
    #[command(flatten)]
    pub compilers: CompilerArgs,
    /// Resume an interrupted run: the newest, or RUN
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "",
          conflicts_with_all = ["selectors", "catalogue", "suite", "reference", "quick", "budget", "precision", "label", "dir", "params", "seed", "steady", "copies", "cc", "cflags", "fc", "fflags"], help_heading = "Run")]
    pub resume: Option<String>,
    #[command(flatten)]
    pub own: CatalogueArgs,
    #[command(flatten)]
    pub format: FormatArgs,
}

/// Compilers for the workloads, in place of those that this binary was built with.
#[derive(Clone, Debug, Default, Args)]
pub struct CompilerArgs {
    /// Compile the workloads with this C compiler [with --cflags: cc]
    #[arg(long, value_name = "PROGRAM", help_heading = "Compilers")]
    pub cc: Option<String>,
    /// Its flags [default: -O2]
    #[arg(
        long,
        value_name = "FLAGS",
        allow_hyphen_values = true,
        help_heading = "Compilers"
    )]
    pub cflags: Option<String>,
    /// Fortran compiler [default: flang with clang if installed, else gfortran]
    #[arg(long, value_name = "PROGRAM", help_heading = "Compilers")]
    pub fc: Option<String>,
    /// Its flags [default: those of C]
    #[arg(
        long,
        value_name = "FLAGS",
        allow_hyphen_values = true,
        help_heading = "Compilers"
    )]
    pub fflags: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone list              families
  gritstone list byte         benchmarks of a family; -v with variants
  gritstone list '*/pipe*'")]
pub struct ListArgs {
    /// Families, identifiers or globs [default: all families]
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    /// Add the custom benchmarks in DIR; without a selector, measure only these
    #[arg(long = "catalog", value_name = "DIR")]
    pub catalogue: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone show                  the newest run
  gritstone show last byte        one family; -v adds columns, -vv everything
  gritstone show last byte/pipe   all about one benchmark
  gritstone show ref:vax-11-780-4.1bsd")]
pub struct ShowArgs {
    /// A run (last, last~2, a label, part of an id, a file) or a system (ref:NAME), then benchmarks, families or globs [default: last]
    #[arg(value_name = "RUN | SELECTOR")]
    pub words: Vec<String>,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone compare before after
  gritstone compare before after 'byte/*' --changed
  gritstone compare ref:vax-11-780-4.1bsd last")]
pub struct CompareArgs {
    /// Base, then the runs or systems to compare with it, then benchmarks, families or globs
    #[arg(required = true, num_args = 2.., value_name = "RUN | SELECTOR")]
    pub words: Vec<String>,
    /// Show only what is faster or slower
    #[arg(short, long)]
    pub changed: bool,
    /// Differences within this margin are "same"
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = crate::ui::value_parsers::share)]
    pub margin: f64,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone score
  gritstone score before after --against before
  gritstone score classic --against ref:vax-11-780-4.1bsd
  gritstone score last cpu app/ratings@today-unix
  gritstone score new --against old --profile build")]
pub struct ScoreArgs {
    /// Runs or systems, then benchmarks, families, globs or a score (app/ratings@today-cpu): only these are scored, missing and doubtful ones included [default: last]
    #[arg(value_name = "RUN | SELECTOR")]
    pub words: Vec<String>,
    /// Baseline run or system [default: ref:amd-epyc-kvm-2026; with all environments of app/ratings measured, their baseline]
    #[arg(long, value_name = "RUN|SYSTEM")]
    pub against: Option<String>,
    /// Score what you do: build, desktop, science, or weights of your own in a file (docs/how-to/my-work.md)
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub profile: Option<String>,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone report
  gritstone report last byte memory
  gritstone report before after -o both.html")]
pub struct ReportArgs {
    /// Run, or two runs (what changed from the first to the second), then benchmarks, families or globs [default: last]
    #[arg(value_name = "RUN | SELECTOR")]
    pub words: Vec<String>,
    /// Baseline of scores and of the overview of one run [default: as of score]
    #[arg(long, value_name = "RUN|SYSTEM")]
    pub against: Option<String>,
    /// Write all of it to PDF, not the data sheet alone
    #[arg(long)]
    pub full: bool,
    /// Output file, .html or .pdf; repeatable [default: gritstone-brief-RUN, both]
    #[arg(short, long = "output", value_name = "FILE")]
    pub out: Vec<PathBuf>,
    #[command(flatten)]
    pub identity: IdentityArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone systems           documents with the number of their systems
  gritstone systems vax       systems with this word in name, document, ...")]
pub struct SystemsArgs {
    /// List the systems that have this word [default: their documents]
    #[arg(value_name = "WORD")]
    pub word: Option<String>,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  gritstone runs                          the newest 30
  gritstone runs label 55387f54 baseline
  gritstone runs remove 55387f54
  gritstone runs prune --keep-samples 90d
  gritstone runs verify"
)]
pub struct RunsArgs {
    /// List all of them [default: the newest 30]
    #[arg(short, long)]
    pub all: bool,
    #[command(flatten)]
    pub format: FormatArgs,
    #[command(subcommand)]
    pub command: Option<RunsCommand>,
}

#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// Label a run
    Label {
        /// The run
        run: String,
        /// Its new label
        label: String,
    },
    /// Remove a whole run; the store records that it was there
    Remove {
        /// The run, by its id or a part of it
        run: String,
    },
    /// Remove the raw samples of old runs, and keep their results
    Prune(PruneArgs),
    /// Read the whole store, and compare every checksum
    Verify,
}

#[derive(Debug, Args)]
#[command(after_help = "Example: gritstone info byte/pipe")]
pub struct InfoArgs {
    /// Benchmark
    #[arg(value_name = "BENCHMARK")]
    pub benchmark: String,
    /// Add the custom benchmarks in DIR
    #[arg(long = "catalog", value_name = "DIR")]
    pub catalogue: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone doctor
  gritstone doctor --install
  gritstone doctor --install applications")]
pub struct DoctorArgs {
    /// Install the missing programs of these benchmarks; lists them, and asks on a terminal unless CI=true
    #[arg(long)]
    pub install: bool,
    /// Benchmarks or suites to install programs for [default: all]
    #[arg(value_name = "BENCHMARK|SUITE", requires = "install")]
    pub benchmarks: Vec<String>,
    /// Directory whose file system would be measured
    #[arg(long)]
    pub dir: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone audit byte")]
pub struct AuditArgs {
    /// Identifiers or globs [default: everything]
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    #[command(flatten)]
    pub privileges: PrivilegeArgs,
    #[command(flatten)]
    pub own: CatalogueArgs,
    #[command(flatten)]
    pub format: FormatArgs,
}

/// Export formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// JSON Lines with all samples: the complete run
    Jsonl,
    /// CSV table
    Csv,
    /// Markdown table
    Markdown,
    /// Google Benchmark JSON, for its compare.py
    Gbench,
    /// Bencher Metric Format
    Bmf,
    /// customSmallerIsBetter of github-action-benchmark
    Gha,
    /// OpenMetrics text, for Prometheus
    Openmetrics,
    /// JSON of hyperfine, with the time of each sample
    Hyperfine,
    /// XML result file of the Phoronix Test Suite
    Phoronix,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone export last -o run.jsonl
  gritstone export main 'byte/*' --format csv")]
pub struct ExportArgs {
    /// Run, then benchmarks, families or globs [default: last]
    #[arg(value_name = "RUN | SELECTOR")]
    pub words: Vec<String>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = ExportFormat::Jsonl)]
    pub format: ExportFormat,
    /// Output file [default: standard output]
    #[arg(short, long = "output", value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub identity: IdentityArgs,
    /// Write a run of suite standard as a reference system, for references/measured
    #[arg(long, value_name = "ID", conflicts_with_all = ["format", "with_identity"])]
    pub reference: Option<String>,
}

/// What is made to be shared.
#[derive(Debug, Args)]
pub struct IdentityArgs {
    /// Keep host and user names, values of the environment and paths of home directories
    #[arg(long)]
    pub with_identity: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone import run.jsonl
  gritstone import hyperfine.json --label main")]
pub struct ImportArgs {
    /// Files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Name of the runs
    #[arg(long)]
    pub label: Option<String>,
    /// Name of the measured system, where the file does not say
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone history byte/pipe
  gritstone history byte              a line for each benchmark
  gritstone history byte/pipe --svg pipe.svg")]
pub struct HistoryArgs {
    /// Benchmark; families, globs and several benchmarks have a line each
    #[arg(value_name = "BENCHMARK | SELECTOR", required = true)]
    pub benchmarks: Vec<String>,
    /// Number of newest runs
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Also write the chart of the newest series to FILE
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  gritstone changes                       the newest 30
  gritstone changes acknowledge cfe385a0-worse --note 'microcode 0x1000066, accepted'"
)]
pub struct ChangesArgs {
    /// List all of them [default: the newest 30]
    #[arg(short, long)]
    pub all: bool,
    #[command(flatten)]
    pub format: FormatArgs,
    #[command(subcommand)]
    pub command: Option<ChangesCommand>,
}

#[derive(Debug, Subcommand)]
pub enum ChangesCommand {
    /// Say that a change is known, and what it is
    Acknowledge {
        /// The change, by its id or a part of it
        event: String,
        /// What it is, in a line
        #[arg(long, value_name = "TEXT")]
        note: String,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone serve --open
  gritstone serve --listen 127.0.0.1:9000")]
pub struct ServeArgs {
    /// Address and port; port 0 takes any that is free
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8484")]
    pub listen: std::net::SocketAddr,
    /// Open the first page in the browser
    #[arg(long)]
    pub open: bool,
    /// Let everyone read who reaches an address other than this machine's own
    #[arg(long)]
    pub open_reads: bool,
    /// A proxy with TLS stands before it; this or a certificate is required with an address other than this machine's own
    #[arg(long)]
    pub behind_proxy: bool,
    /// Certificate of the server and those between it and its root, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Its key, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Send new changes to this URL, as JSON
    #[arg(long, value_name = "URL", help_heading = "Notifications")]
    pub notify_url: Option<String>,
    /// What a notification says, with {count}, {events} and {url}
    #[arg(long, value_name = "FILE", help_heading = "Notifications")]
    pub notify_template: Option<PathBuf>,
    /// Address of the pages in notifications [default: that of --listen]
    #[arg(long, value_name = "URL", help_heading = "Notifications")]
    pub public_url: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone check                     against earlier runs of this machine
  gritstone check --against main --max-slowdown 3%")]
pub struct CheckArgs {
    /// Run, then benchmarks, families or globs [default: last]
    #[arg(value_name = "RUN | SELECTOR")]
    pub words: Vec<String>,
    /// Run, label or file to compare with [default: earlier runs of this system; exit 4 until five are stored]
    #[arg(long, value_name = "RUN")]
    pub against: Option<String>,
    /// Allowed slowdown
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = crate::ui::value_parsers::share)]
    pub max_slowdown: f64,
    /// Only runs whose label matches are compared with, e.g. 'main-*'
    #[arg(long, value_name = "LABEL", conflicts_with = "against")]
    pub base_label: Option<String>,
    /// Accept the new level of BENCHMARK, which RUN shows: later runs are compared with it
    #[arg(long, value_name = "BENCHMARK", conflicts_with = "against")]
    pub accept: Vec<String>,
    /// Exit code of an inconclusive run: 4 or 0
    #[arg(long, value_name = "OUTCOME", default_value = "fail")]
    pub inconclusive: OnInconclusive,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: CheckFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone push --to https://bench.example --token-file ~/.config/gritstone/token
  gritstone push last --to http://127.0.0.1:8484
  gritstone push --to postgres://machine@db.example/bench")]
pub struct PushArgs {
    /// Runs [default: all that have ended and that the server does not have]
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// The server: https (http only on this machine), or a store on PostgreSQL
    #[arg(long, value_name = "URL")]
    pub to: String,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone pull --from https://bench.example --token-file ~/.config/gritstone/token")]
pub struct PullArgs {
    /// Runs, by their whole identifiers [default: all that are not in this store]
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// The server: https (http only on this machine), or a store on PostgreSQL
    #[arg(long, value_name = "URL")]
    pub from: String,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone sync https://bench.example --token-file ~/.config/gritstone/token
  gritstone sync postgres://machine@db.example/bench
  gritstone sync --store postgres://machine@db.example/bench")]
pub struct SyncArgs {
    /// The other store, as push and pull take it [default: send what waits for the server of --store]
    #[arg(value_name = "URL")]
    pub with: Option<String>,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// How a server is reached.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// File with the token, which only its user can read [default: $GRITSTONE_TOKEN]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Certificates that are trusted, as PEM [default: $SSL_CERT_FILE, else those of the system]
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Create a token and print it, once
    Create {
        /// Of which machine or person
        name: String,
        /// What it is for
        #[arg(long, value_enum, value_delimiter = ',', required = true)]
        scope: Vec<TokenScope>,
    },
    /// List the tokens, without their secrets
    List,
    /// Revoke a token, for good
    Revoke {
        /// Its name
        name: String,
    },
}

/// What a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TokenScope {
    /// Read all runs
    Read,
    /// Send runs
    Write,
    /// Remove runs
    Admin,
}

/// What a gate says, and to whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Tables
    #[default]
    Text,
    /// One JSON value
    Json,
    /// JUnit XML: a test case per benchmark
    Junit,
    /// Annotations of GitHub Actions, and a summary where GITHUB_STEP_SUMMARY names a file
    Github,
}

/// What becomes of an inconclusive run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnInconclusive {
    /// Exit with 4
    Fail,
    /// Exit with 0
    Pass,
}

impl PrivilegeArgs {
    /// What is allowed beyond the default, as the command line has it.
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

impl CompilerArgs {
    /// What the kernels are to be compiled again with, if with anything.
    pub fn asked(&self) -> Option<gritstone_model::Compilers> {
        let asked = gritstone_model::Compilers {
            cc: self
                .cc
                .as_deref()
                .map(gritstone_session::compiler::from_anywhere),
            cflags: self.cflags.clone(),
            fc: self
                .fc
                .as_deref()
                .map(gritstone_session::compiler::from_anywhere),
            fflags: self.fflags.clone(),
        };
        Some(asked).filter(|asked| *asked != gritstone_model::Compilers::default())
    }
}

impl PeerArgs {
    /// How the peer is reached.
    pub fn options(&self) -> gritstone_peer::Options {
        gritstone_peer::Options {
            host: self.host.clone(),
            address: self.address,
            binary: self.binary.clone(),
            ssh: self.ssh.clone(),
        }
    }
}

/// The command that scripts call.
pub const COMPLETER: &str = "__complete";

/// Shells that there is a script for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}
