//! Options of `gritstone run`.

use crate::ui::args::{CatalogArgs, PrivilegeArgs, StoreArgs};
use crate::ui::candidates;
use crate::ui::commit::CommitArgs;
use crate::ui::display::FormatArgs;
use crate::ui::settable::{Selects, SetBy};
use crate::ui::value_parsers;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Default, Args)]
#[command(after_help = "Examples:
  gritstone run --quick byte          a family in about 20 seconds
  gritstone run byte/pipe 'event/*' --budget 5m
  gritstone run --budget 1h --label v6.19")]
pub struct RunArgs {
    /// Identifiers or globs, e.g. 'byte/*' ('*' stops at '@'; 'byte/*@*' are the variants) [default: suite standard]
    #[arg(value_name = "SELECTOR", add = candidates::benchmarks(), add = SetBy::AnyFile, add = Selects)]
    pub selectors: Vec<String>,
    /// Measure a suite, in addition to any SELECTOR: standard, applications (current programs), classic (benchmarks published from 1982 to 1987, with reference workloads) or full
    #[arg(long, value_name = "NAME", help_heading = "Selection", add = SetBy::AnyFile, add = Selects)]
    pub suite: Option<String>,
    /// Launch each benchmark six times, instead of ten times or more
    #[arg(long, help_heading = "Effort")]
    pub quick: bool,
    /// Measure as many benchmarks as fit into this time, in suite order, e.g. 90s, 10m or 1h [default: all of them, with more launches for up to 5m]
    #[arg(long, value_name = "TIME", value_parser = value_parsers::duration, help_heading = "Effort", add = SetBy::AnyFile)]
    pub budget: Option<std::time::Duration>,
    /// Also measure the reference workloads of the publications of 1982 to 1987 [default: with --suite classic and --against ref:SYSTEM]
    #[arg(long, help_heading = "Selection")]
    pub reference: bool,
    /// Target half-width of the confidence intervals [default: 2%, with --quick 5%]
    #[arg(long, value_name = "SHARE", value_parser = value_parsers::share, help_heading = "Effort", add = SetBy::UserFile)]
    pub precision: Option<f64>,
    /// Name of this run
    #[arg(long, value_parser = value_parsers::label, help_heading = "Run", add = SetBy::AnyFile)]
    pub label: Option<String>,
    #[command(flatten)]
    pub commit: CommitArgs,
    /// Compare the result with this run or system
    #[arg(long, value_name = "RUN|SYSTEM", help_heading = "Run", add = candidates::runs_and_systems(), add = SetBy::UserFile)]
    pub against: Option<String>,
    /// Directory whose file system is measured [default: /var/tmp, else TMPDIR]
    #[arg(long, help_heading = "System", add = SetBy::UserFile)]
    pub dir: Option<PathBuf>,
    /// Also run single-CPU workloads as N simultaneous copies, e.g. 2,4,8
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = value_parsers::whole(1..=256_u32), help_heading = "Selection")]
    pub copies: Vec<u32>,
    /// Override a parameter of the selected workloads, e.g. tty=/dev/ttyS0; repeatable
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = value_parsers::pair, help_heading = "Selection")]
    pub params: Vec<(String, String)>,
    /// Repeat the order of an earlier run
    #[arg(long, help_heading = "Run", value_parser = value_parsers::whole(0..=u64::MAX))]
    pub seed: Option<u64>,
    /// Tune the machine during the run (governor, turbo, IRQ affinity, ASLR); settings are restored
    #[arg(long, help_heading = "System", add = SetBy::UserFile)]
    pub tune: bool,
    /// Wait until no other run measures on this machine
    #[arg(long, help_heading = "System", add = SetBy::UserFile)]
    pub wait: bool,
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
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "", group = "far_host",
          conflicts_with_all = ["selectors", "catalog", "suite", "reference", "quick", "budget", "precision", "label", "commit", "branch", "repository", "dir", "params", "seed", "tune", "copies", "cc", "cflags", "fc", "fflags", "no_store"], help_heading = "Run", add = candidates::runs())]
    pub resume: Option<String>,
    #[command(flatten)]
    pub storing: StoreArgs,
    #[command(flatten)]
    pub custom: CatalogArgs,
    #[command(flatten)]
    pub format: FormatArgs,
}

/// Far ends of network benchmarks on another host.
#[derive(Clone, Debug, Default, Args)]
pub struct PeerArgs {
    /// Measure network benchmarks with their far ends on this host, started by ssh, instead of in a network namespace
    #[arg(
        long = "peer",
        value_name = "HOST",
        conflicts_with = "resume",
        group = "far_host",
        help_heading = "Network"
    )]
    pub host: Option<String>,
    /// Address of the peer at which far ends listen [default: the one at which ssh reaches it]
    #[arg(
        long = "peer-address",
        value_name = "ADDRESS",
        requires = "far_host",
        help_heading = "Network"
    )]
    pub address: Option<std::net::IpAddr>,
    /// Program for the peer, such as dist/gritstone of `make dist` [default: this program]
    #[arg(long, value_name = "FILE", requires = "host", help_heading = "Network")]
    pub binary: Option<PathBuf>,
    /// Command of OpenSSH's client, with its options [default: ssh]
    #[arg(
        long,
        value_name = "COMMAND",
        default_value = "ssh",
        hide_default_value = true,
        requires = "far_host",
        help_heading = "Network"
    )]
    pub ssh: String,
}

impl PeerArgs {
    /// Access to the peer.
    pub fn options(&self) -> gritstone_peer::Options {
        gritstone_peer::Options {
            host: self.host.clone(),
            address: self.address,
            binary: self.binary.clone(),
            ssh: self.ssh.clone(),
        }
    }
}

/// Compilers for the workloads, which replace the shipped builds.
#[derive(Clone, Debug, Default, Args)]
pub struct CompilerArgs {
    /// Compile the workloads with this C compiler [with --cflags: cc]
    #[arg(long, value_name = "PROGRAM", help_heading = "Compilers", add = SetBy::UserFile)]
    pub cc: Option<String>,
    /// Its flags [default: -O2]
    #[arg(
        long,
        value_name = "FLAGS",
        allow_hyphen_values = true,
        help_heading = "Compilers",
        add = SetBy::UserFile,
    )]
    pub cflags: Option<String>,
    /// Fortran compiler [default: flang with clang if installed, else gfortran]
    #[arg(long, value_name = "PROGRAM", help_heading = "Compilers", add = SetBy::UserFile)]
    pub fc: Option<String>,
    /// Its flags [default: those of C]
    #[arg(
        long,
        value_name = "FLAGS",
        allow_hyphen_values = true,
        help_heading = "Compilers",
        add = SetBy::UserFile,
    )]
    pub fflags: Option<String>,
}

impl CompilerArgs {
    /// The compilers of the command line, if any.
    pub fn compilers(&self) -> Option<gritstone_model::Compilers> {
        let compilers = gritstone_model::Compilers {
            cc: self.cc.as_deref().map(gritstone_session::compiler::absolute_compiler),
            cflags: self.cflags.clone(),
            fc: self.fc.as_deref().map(gritstone_session::compiler::absolute_compiler),
            fflags: self.fflags.clone(),
        };
        Some(compilers).filter(|compilers| *compilers != gritstone_model::Compilers::default())
    }
}
