//! Options of `gritstone bench`: those of hyperfine 1.20, a budget and a margin.

use crate::ui::args::StoreArgs;
use crate::ui::display::{DisplayArgs, FormatArgs, When};
use crate::ui::settable::SetBy;
use crate::ui::value_parsers;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone bench 'sleep 0.3'                       one command
  gritstone bench './old input' './new input'       which is faster
  gritstone bench -w 3 -p 'make clean' -P jobs 1 8 'make -j {jobs}'
  gritstone bench -L cc gcc,clang -s '{cc} -O2 -o sum sum.c' './sum'
  gritstone bench -N --export-markdown times.md 'grep -r NOTE .' 'rg NOTE'

Commands start without a shell unless one of them has a character that means
something to a shell, or names no program: then all start by /bin/sh. The time
that a shell takes to start is measured and subtracted. Launches of all
commands are interleaved in random order until it is decided which is faster,
or the budget is spent. Only -r, -m and -M fix the number of executions. All
options of hyperfine are understood.")]
pub struct BenchArgs {
    /// Commands, each one argument: a program with arguments, or anything that a shell takes
    #[arg(value_name = "COMMAND", required_unless_present = "reference", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub commands: Vec<String>,
    /// Total time, e.g. 90s, 10m or 1h; -r and -m may exceed it [default: 30s; one command alone 3s, and ten runs at least]
    #[arg(long, value_name = "TIME", value_parser = value_parsers::duration, help_heading = "Effort", add = SetBy::AnyFile)]
    pub budget: Option<std::time::Duration>,
    /// Differences within this margin are "same"
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = value_parsers::share, help_heading = "Effort", add = SetBy::UserFile)]
    pub margin: f64,
    /// Untimed executions of each command at the start; all others are timed
    #[arg(short, long, value_name = "NUM", default_value_t = 0, value_parser = value_parsers::whole(0..=u32::MAX), help_heading = "Effort")]
    pub warmup: u32,
    /// Exactly NUM executions of each command
    #[arg(short, long, value_name = "NUM", conflicts_with_all = ["min_runs", "max_runs"], value_parser = value_parsers::whole(1..=u32::MAX), help_heading = "Effort")]
    pub runs: Option<u32>,
    /// At least NUM executions of each command
    #[arg(short, long, value_name = "NUM", value_parser = value_parsers::whole(1..=u32::MAX), help_heading = "Effort")]
    pub min_runs: Option<u32>,
    /// At most NUM executions of each command
    #[arg(short = 'M', long, value_name = "NUM", value_parser = value_parsers::whole(1..=u32::MAX), help_heading = "Effort")]
    pub max_runs: Option<u32>,
    /// Shell command before the first execution of each command; one that names a parameter runs before each launch
    #[arg(short, long, value_name = "CMD", help_heading = "Hooks")]
    pub setup: Option<String>,
    /// Untimed shell command before each execution; give it once for all commands, or once per command
    #[arg(short, long, value_name = "CMD", help_heading = "Hooks")]
    pub prepare: Vec<String>,
    /// Untimed shell command after each execution; give it once for all commands, or once per command
    #[arg(short = 'C', long, value_name = "CMD", help_heading = "Hooks")]
    pub conclude: Vec<String>,
    /// Shell command after the last execution of each command
    #[arg(short, long, value_name = "CMD", help_heading = "Hooks")]
    pub cleanup: Option<String>,
    /// Compare all commands with this one, not with the fastest
    #[arg(long, value_name = "CMD", help_heading = "Comparison")]
    pub reference: Option<String>,
    /// Name of the reference
    #[arg(long, value_name = "NAME", requires = "reference", help_heading = "Comparison")]
    pub reference_name: Option<String>,
    /// Names of the commands, in order; repeatable
    #[arg(short = 'n', long = "command-name", value_name = "NAME", help_heading = "Output")]
    pub names: Vec<String>,
    /// Put each number of a range in place of {VAR}
    #[arg(short = 'P', long, num_args = 3, value_names = ["VAR", "MIN", "MAX"], allow_hyphen_values = true, help_heading = "Parameters")]
    pub parameter_scan: Vec<String>,
    /// Step of --parameter-scan [default: 1]
    #[arg(
        short = 'D',
        long,
        value_name = "DELTA",
        requires = "parameter_scan",
        help_heading = "Parameters"
    )]
    pub parameter_step_size: Option<String>,
    /// Put each value of a comma-separated list in place of {VAR}; several give all combinations
    #[arg(short = 'L', long, num_args = 2, value_names = ["VAR", "VALUES"], allow_hyphen_values = true, conflicts_with = "parameter_scan", help_heading = "Parameters")]
    pub parameter_list: Vec<String>,
    /// Start all commands by this shell, e.g. 'bash --norc'; `default` is sh, `none` is -N
    #[arg(
        short = 'S',
        long,
        value_name = "SHELL",
        overrides_with = "shell",
        help_heading = "Execution"
    )]
    pub shell: Option<String>,
    /// Start no command by a shell, which would start all if one of them needs it
    #[arg(short = 'N', conflicts_with = "shell", help_heading = "Execution")]
    pub no_shell: bool,
    /// Also time commands that fail, by any status or signal, or with these statuses, e.g. -i=1,2
    #[arg(short, long, value_name = "STATUS,...", num_args = 0..=1, require_equals = true, default_missing_value = "all-non-zero", value_parser = statuses, help_heading = "Execution")]
    pub ignore_failure: Option<Statuses>,
    /// Leave failed executions out of the times, and count them apart; those of -i=STATUS are timed
    #[arg(long, help_heading = "Execution")]
    pub leave_out_failures: bool,
    /// Allow processes that a command leaves running; they end with the launch
    #[arg(long, help_heading = "Execution")]
    pub allow_background: bool,
    /// What commands read: null or a file [default: null]
    #[arg(
        long,
        value_name = "WHERE",
        default_value = "null",
        hide_default_value = true,
        help_heading = "Execution"
    )]
    pub input: String,
    /// Where their output goes: memory, null, pipe, inherit or ./FILE; give it once for all commands, or once per command [default: memory]
    #[arg(long, value_name = "WHERE", conflicts_with = "show_output", value_parser = output, help_heading = "Execution")]
    pub output: Vec<gritstone_model::Output>,
    /// Show the output of the commands, as --output inherit does
    #[arg(long, conflicts_with = "style", help_heading = "Output")]
    pub show_output: bool,
    /// Order of the commands: by time in the ranking and as given in tables (auto), or one of the two
    #[arg(
        long,
        value_enum,
        value_name = "METHOD",
        default_value_t,
        hide_default_value = true,
        help_heading = "Comparison",
        add = SetBy::AnyFile,
    )]
    pub sort: Sort,
    /// Command whose median time is subtracted from all, e.g. the start of a container
    #[arg(long, value_name = "CMD", value_parser = clap::builder::NonEmptyStringValueParser::new(), help_heading = "Comparison")]
    pub subtract: Option<String>,
    /// Percentiles of the executions to show, e.g. 50,95,99
    #[arg(long, value_name = "P,...", value_delimiter = ',', value_parser = percentile, help_heading = "Output")]
    pub percentiles: Vec<f64>,
    /// Unit of times, but in CSV and JSON
    #[arg(
        short = 'u',
        long,
        value_enum,
        value_name = "UNIT",
        help_heading = "Output",
        add = SetBy::AnyFile,
    )]
    pub time_unit: Option<TimeUnit>,
    /// Progress: on a terminal (auto, full, nocolor), none on a terminal (basic, color); or no output at all (none)
    #[arg(
        long,
        value_enum,
        value_name = "TYPE",
        default_value_t,
        hide_default_value = true,
        help_heading = "Output",
        add = SetBy::AnyFile,
    )]
    pub style: StyleType,
    /// Export a table in AsciiDoc; `-` is standard output, here and below
    #[arg(long, value_name = "FILE", help_heading = "Export")]
    pub export_asciidoc: Option<PathBuf>,
    /// Export a table in CSV, in seconds
    #[arg(long, value_name = "FILE", help_heading = "Export")]
    pub export_csv: Option<PathBuf>,
    /// Export JSON of hyperfine with the time of each execution, in seconds
    #[arg(long, value_name = "FILE", help_heading = "Export")]
    pub export_json: Option<PathBuf>,
    /// Export a table in Markdown
    #[arg(long, value_name = "FILE", help_heading = "Export")]
    pub export_markdown: Option<PathBuf>,
    /// Export a table for Emacs Org mode
    #[arg(long, value_name = "FILE", help_heading = "Export")]
    pub export_orgmode: Option<PathBuf>,
    /// Name of the test; its commands are stored as runs NAME-a, NAME-b, ... [default: bench-ID]
    #[arg(long, value_parser = value_parsers::label, conflicts_with = "no_store", help_heading = "Output", add = SetBy::AnyFile)]
    pub label: Option<String>,
    /// Repeat the order of an earlier test
    #[arg(long, help_heading = "Execution", value_parser = value_parsers::whole(0..=u64::MAX))]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub storing: StoreArgs,
    #[command(flatten)]
    pub format: FormatArgs,
}

/// Most executions of a launch of a short command.
const MAX_BATCH: u32 = 200;
/// The same for commands that are compared.
const COMPARED_BATCH: u32 = 20;
/// Launches of a fixed number of executions: twice as many as a verdict takes.
const MIN_COUNTED_LAUNCHES: u32 = 24;

/// Exit statuses that are not failures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statuses {
    Any,
    /// Besides 0.
    These(Vec<u8>),
}

fn statuses(text: &str) -> Result<Statuses, String> {
    if text == "all-non-zero" {
        return Ok(Statuses::Any);
    }
    let codes = text.split(',').map(|code| code.trim().parse::<u8>());
    let codes: Result<_, _> = codes.collect();
    codes
        .map(Statuses::These)
        .map_err(|_| format!("'{text}' is not a list of exit statuses from 0 to 255, such as 1,2"))
}

/// A share from a percentage.
fn percentile(text: &str) -> Result<f64, String> {
    let percent = text.trim().parse::<f64>().ok();
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    percent
        .map(|percent| percent / 100.0)
        .ok_or_else(|| format!("'{text}' is not a number from 0 to 100"))
}

fn output(text: &str) -> Result<gritstone_model::Output, String> {
    use gritstone_model::Output;
    Ok(match text {
        "memory" => Output::Memory,
        "null" => Output::File("/dev/null".to_owned()),
        "pipe" => Output::Pipe,
        "inherit" => Output::Inherit,
        folder if Path::new(folder).is_dir() => {
            return Err(format!("{folder} is a directory; name a file"));
        }
        file if file.contains('/') => Output::File(file.to_owned()),
        // else a misspelled word would be a file
        word => {
            return Err(format!("'{word}' is not one of them; a file is written ./{word}"));
        }
    })
}

/// Order of commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    #[default]
    Auto,
    Command,
    MeanTime,
}

/// Units of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimeUnit {
    Microsecond,
    Millisecond,
    Second,
}

impl StyleType {
    /// Whether it draws progress on a terminal.
    fn draws(self) -> bool {
        !matches!(self, Self::Basic | Self::Color | Self::None)
    }
}

impl BenchArgs {
    /// Whether options bound the number of executions, which then replace the sequential test.
    pub fn has_fixed_count(&self) -> bool {
        self.runs.or(self.min_runs).or(self.max_runs).is_some()
    }

    /// Executions per launch of one of `commands`: large batches amortize starts, small ones give more launches for verdicts.
    pub fn batch(&self, commands: usize) -> u32 {
        match self.max_executions() {
            Some(most) => (most / MIN_COUNTED_LAUNCHES).clamp(1, MAX_BATCH),
            None if commands == 1 => MAX_BATCH,
            None => COMPARED_BATCH,
        }
    }

    /// Whether a command shares the standard output of this program.
    pub fn inherits_output(&self) -> bool {
        self.show_output || self.output.contains(&gritstone_model::Output::Inherit)
    }

    /// Whether progress is drawn on a terminal, where the output of commands does not interfere.
    pub fn draws(&self) -> bool {
        self.style.draws() && !self.inherits_output()
    }

    pub fn max_executions(&self) -> Option<u32> {
        self.runs.or(self.max_runs)
    }

    /// How the output is displayed: a style that says whether there is color decides where --color does not.
    pub fn display(&self, display: DisplayArgs) -> DisplayArgs {
        let color = match (display.color, self.style) {
            (When::Auto, StyleType::Basic | StyleType::Nocolor) => When::Never,
            (When::Auto, StyleType::Full | StyleType::Color) => When::Always,
            (asked, _) => asked,
        };
        DisplayArgs { color, ..display }
    }
}

/// Style of progress, and color of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum StyleType {
    #[default]
    Auto,
    Basic,
    Full,
    Nocolor,
    Color,
    None,
}
