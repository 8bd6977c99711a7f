//! The command line: the one definition from which help, manual page and completions are made.

mod ab;

pub use ab::AbArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Measures this machine the way the UNIX benchmarks of 1981 to 1987 did, so that every figure can be trusted.
#[derive(Debug, Parser)]
#[command(name = "gritstone", version)]
pub struct Cli {
    /// Where runs are kept [default: $GRITSTONE_STORE, else $XDG_DATA_HOME/gritstone/gritstone.db]
    #[arg(long, global = true, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Print the licenses of Gritstone and of everything in this binary
    #[arg(long)]
    pub licenses: bool,
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
    Run(Box<RunArgs>),
    /// What can be measured, where it comes from, and whether it would run here
    List(ListArgs),
    /// A benchmark of your own to begin with: an entry and a program in a folder, for --catalogue
    New(NewArgs),
    /// The tables of a run or of a reference machine
    Show(ShowArgs),
    /// Ratios, intervals and verdicts of runs or machines against a base
    Compare(CompareArgs),
    /// Machines rated by environment against a run or machine, and for their price
    Rate(RateArgs),
    /// The performance brief, as HTML and as PDF
    Brief(BriefArgs),
    /// Runs of the same against each other: how far this machine scatters, and the smallest change that it can show
    Selftest(SelftestArgs),
    /// Reference machines, and those in the store
    Machines(FormatArgs),
    /// Is this machine fit to be measured, what is missing, and what mends it
    Doctor(DoctorArgs),
    /// Undoes what a run has made and changed when it is killed; runs start it themselves
    #[command(name = crate::registry::WATCHDOG, hide = true)]
    Watch {
        base: PathBuf,
        below: PathBuf,
        journal: std::ffi::OsString,
    },
    /// Manual pages, and completions for bash, zsh and fish
    #[command(hide = true)]
    Generate { directory: PathBuf },
    /// One benchmark over the runs of the store, with the points where it changed
    History(HistoryArgs),
    /// The gate for continuous integration: is a run surely not slower than is allowed
    Check(CheckArgs),
    /// A run in a format that other programs read; jsonl has all samples, and comes back with `import`
    Export(ExportArgs),
    /// Keep runs from files: bundles of `export`, JSON of hyperfine and Google Benchmark, reports of UnixBench
    Import(ImportArgs),
    /// Is it different: commands, compilers, environments or settings, interleaved until it is decided
    Ab(Box<AbArgs>),
    /// Compilers against each other: the rows 'cpu/*', or those selected, compiled by each and measured in turn
    Compilers(CompilersArgs),
    /// Do the benchmarks do what they claim, as shipped and as the compilers here make them
    Audit(AuditArgs),
}

#[derive(Debug, Default, Args)]
pub struct FormatArgs {
    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Benchmarks of one's own.
#[derive(Clone, Debug, Default, Args)]
pub struct CatalogueArgs {
    /// A folder with benchmarks of your own beside ours; where nothing is selected, all of them and none of ours
    #[arg(long, value_name = "DIR")]
    pub catalogue: Option<PathBuf>,
    /// Run what the catalogue has to run without asking; what was trusted once is asked again when a file of it has changed
    #[arg(long)]
    pub trust: bool,
}

/// What a run may do to the machine.
#[derive(Clone, Debug, Default, Args)]
pub struct PrivilegeArgs {
    /// Permit what is not done unasked; swap: a swap file, for benchmarks of paging
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub allow: Vec<Allow>,
    /// Do nothing that takes privileges, and skip the benchmarks that need it
    #[arg(long, conflicts_with = "allow")]
    pub no_privileged: bool,
}

/// What is not done unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Allow {
    /// A swap file: the memory of other processes may go there too
    Swap,
}

#[derive(Debug, Args)]
pub struct NewArgs {
    /// Its name, such as mine/sum
    #[arg(value_name = "FAMILY/NAME")]
    pub name: String,
    /// The folder of the catalogue, which need not be there yet [default: ./FAMILY]
    #[arg(long, value_name = "DIR")]
    pub catalogue: Option<PathBuf>,
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
    /// Also run single-CPU kernels as N simultaneous copies, such as 2,4,8
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=256))]
    pub copies: Vec<u32>,
    /// A parameter of the selected rows' programs in place of their own, such as tty=/dev/ttyS0; once for each
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = crate::amounts::pair)]
    pub params: Vec<(String, String)>,
    /// Repeats the order of an earlier run
    #[arg(long)]
    pub seed: Option<u64>,
    /// Hold the machine still meanwhile: governor, turbo, interrupts, layout of memory, as far as permitted; all is put back
    #[arg(long)]
    pub steady: bool,
    #[command(flatten)]
    pub privileges: PrivilegeArgs,
    /// Measure nothing, and list the benchmarks and all that the run would do to the machine
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub compilers: CompilerArgs,
    /// Go on with a run that was cut off: the newest, or the one that is named
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "",
          conflicts_with_all = ["selectors", "catalogue", "quick", "budget", "precision", "label", "dir", "params", "seed", "steady", "copies", "cc", "cflags", "fc", "fflags"])]
    pub resume: Option<String>,
    #[command(flatten)]
    pub own: CatalogueArgs,
    #[command(flatten)]
    pub format: FormatArgs,
}

/// Compilers with which the kernels are compiled again, here, instead of those that this binary was built with.
#[derive(Clone, Debug, Default, Args)]
pub struct CompilerArgs {
    /// Compile the kernels again with this C compiler [with --cflags: cc]
    #[arg(long, value_name = "PROGRAM")]
    pub cc: Option<String>,
    /// Its flags [default: -O2]
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub cflags: Option<String>,
    /// The Fortran compiler [default: flang beside clang where it is there, else gfortran]
    #[arg(long, value_name = "PROGRAM")]
    pub fc: Option<String>,
    /// Its flags [default: those of C]
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub fflags: Option<String>,
}

#[derive(Debug, Args)]
pub struct CompilersArgs {
    /// Compilers with flags, the base first, such as gcc:-O2 'clang:-O3 -march=native'; then what to measure [default: 'cpu/*']
    #[arg(value_name = "COMPILER:FLAGS | SELECTOR", required = true)]
    pub words: Vec<String>,
    /// Time for everything [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = crate::amounts::duration)]
    pub budget: Option<std::time::Duration>,
    /// Half-width of the intervals that is asked for [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = crate::amounts::share)]
    pub precision: Option<f64>,
    #[command(flatten)]
    pub privileges: PrivilegeArgs,
    #[command(flatten)]
    pub own: CatalogueArgs,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Identifiers or globs; nothing means everything
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    /// A folder with benchmarks of your own beside ours; where nothing is selected, all of them and none of ours
    #[arg(long, value_name = "DIR")]
    pub catalogue: Option<PathBuf>,
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
pub struct RateArgs {
    /// The runs or machines that are rated
    #[arg(default_value = "last")]
    pub run: Vec<String>,
    /// The run or machine that is 1
    #[arg(long, value_name = "RUN|MACHINE", default_value = crate::rate::BASE)]
    pub against: String,
    /// Rate by these rows alone, whatever is missing or in doubt among them: identifiers, globs, or a rating such as app/ratings@cpu
    #[arg(long, value_name = "SELECTOR", num_args = 1..)]
    pub by: Vec<String>,
    /// What each machine costs, such as 0.42/h or 1999: performance for the money; once for each RUN, in their order
    #[arg(long, value_name = "PRICE", value_parser = crate::amounts::price)]
    pub price: Vec<gritstone_model::Price>,
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
    #[arg(long, value_name = "RUN", num_args = 1.., conflicts_with_all = ["selectors", "catalogue", "runs", "budget"])]
    pub of: Vec<String>,
    #[command(flatten)]
    pub privileges: PrivilegeArgs,
    #[command(flatten)]
    pub own: CatalogueArgs,
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
    pub privileges: PrivilegeArgs,
    #[command(flatten)]
    pub own: CatalogueArgs,
    #[command(flatten)]
    pub format: FormatArgs,
}

/// Formats of other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// JSON Lines with all samples: the whole run
    Jsonl,
    /// A table for spreadsheets and data frames
    Csv,
    /// A table for a page
    Markdown,
    /// JSON of Google Benchmark, for its compare.py
    Gbench,
    /// Bencher Metric Format
    Bmf,
    /// customSmallerIsBetter of github-action-benchmark
    Gha,
    /// OpenMetrics text, for Prometheus and its kin
    Openmetrics,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Which run
    #[arg(default_value = "last")]
    pub run: String,
    /// For which program
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    pub format: ExportFormat,
    /// Where to write it [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// A name for the runs
    #[arg(long)]
    pub label: Option<String>,
}

#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Which benchmark
    pub benchmark: String,
    /// The newest runs that are looked at
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Write the drawing of the newest series to this file, too
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Which run
    #[arg(default_value = "last")]
    pub run: String,
    /// The run, label or file to compare with [default: earlier runs on its machine; exit 4 until five are stored]
    #[arg(long, value_name = "RUN")]
    pub against: Option<String>,
    /// A slowdown up to this is allowed
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = crate::amounts::share)]
    pub max_slowdown: f64,
    #[command(flatten)]
    pub format: FormatArgs,
}
