//! `gritstone pr`: compares base and head of a git repository by the benchmarks of the project.

use crate::ui::args::StoreArgs;
use crate::ui::exit::{Exit, exit_of};
use crate::ui::gate::{self, GateFormat};
use crate::ui::output;
use crate::ui::step_summary;
use crate::ui::value_parsers;
use anyhow::{Context as _, Result, anyhow, ensure};
use clap::{Args, ValueEnum};
use gritstone_exchange as exchange;
use gritstone_exchange::harness;
use gritstone_model::{CheckOutcome, PrQuantity};
use gritstone_pr::compare::{Answer, Comparison, HARNESS_TIME, check_command};
use gritstone_pr::git::Repository;
use gritstone_pr::project::{FILE, Project};
use gritstone_pr::trial::Margins;
use gritstone_pr::turns::Progress;
use gritstone_pr::work_trees::Build;
use gritstone_runs::context::Context;
use gritstone_session::local_backend::random;
use gritstone_session::undo;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

const BUDGET: Duration = Duration::from_secs(300);
const MAX_SLOWDOWN: f64 = 0.02;
/// Margin for instructions, which are more exact than times.
const MAX_MORE_INSTRUCTIONS: f64 = 0.005;
const HARNESS: &str = "command";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone pr --build 'cmake --build build' --harness google-benchmark -- build/bench
  gritstone pr --base v1.2 --head v1.3 --harness pytest-benchmark -- pytest benches
  gritstone pr --build 'go test -c -o b.test .' --harness go -- ./b.test
  gritstone pr --build make --count instructions --same-output -- ./convert input

Exit codes: 0 no evidence of a slowdown beyond the margin, 1 a slowdown (or another output), 4 inconclusive, not comparable, or a side failed.")]
pub struct PrArgs {
    #[command(flatten)]
    pub trial: TrialArgs,
    /// Revision to compare with [default: merge base with the branch that GitHub or GitLab names, else with the default branch]
    #[arg(long, value_name = "REVISION", allow_hyphen_values = true)]
    pub base: Option<String>,
    /// Revision to judge [default: the files here as they are, ignored ones excepted]
    #[arg(long, value_name = "REVISION", allow_hyphen_values = true)]
    pub head: Option<String>,
    /// Build each side N times with different code layouts, and decide over the builds: 4 to 64; 12 are enough for most [default: 1]
    #[arg(long, value_name = "N", value_parser = layouts)]
    pub layouts: Option<usize>,
    /// Fail when a plain command prints something else on one side
    #[arg(long)]
    pub same_output: bool,
    #[command(flatten)]
    pub storing: StoreArgs,
    /// Output format
    #[arg(short, long, value_enum, default_value_t)]
    pub format: GateFormat,
}

/// Benchmarks and build of a trial.
#[derive(Debug, Args)]
pub struct TrialArgs {
    /// Program that measures, with its arguments; options for output, time and filter are added [default: `command` of gritstone-pr.toml]
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Shell command that builds each revision
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<String>,
    /// File or folder that the base takes from the head, such as new benchmarks
    #[arg(long, value_name = "PATH")]
    pub carry: Vec<PathBuf>,
    /// Kind of COMMAND [default: command, whose wall time is measured]
    #[arg(long, value_name = "NAME", value_parser = harness_names())]
    pub harness: Option<String>,
    /// JSON pointer of the values, for --harness json
    #[arg(long, value_name = "POINTER")]
    pub values: Option<String>,
    /// Compare instructions, not time: of a plain command that does a fixed amount of work
    #[arg(long, value_enum, value_name = "QUANTITY")]
    pub count: Option<Count>,
    /// Time for measuring, builds excluded [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = value_parsers::duration)]
    pub budget: Option<Duration>,
    /// Measuring time of a benchmark in each launch [default: 10ms]
    #[arg(long, value_name = "TIME", value_parser = value_parsers::duration)]
    pub harness_time: Option<Duration>,
    /// Allowed slowdown [default: 2%; of instructions 0.5%]
    #[arg(long, value_name = "SHARE", value_parser = value_parsers::share)]
    pub max_slowdown: Option<f64>,
    /// Execute the commands of gritstone-pr.toml (in CI they always are)
    #[arg(long)]
    pub trust: bool,
    /// Seed of the order of launches
    #[arg(long, value_name = "N", value_parser = value_parsers::whole(0..=u64::MAX))]
    pub seed: Option<u64>,
    /// Parent directory of the work trees [default: /var/tmp]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Count {
    /// In user mode, by the processor's counter, else by valgrind
    Instructions,
}

/// With fewer than four builds nothing can be decided.
const LAYOUTS: std::ops::RangeInclusive<usize> = 4..=64;

fn layouts(text: &str) -> Result<usize, String> {
    let number = text.parse().ok();
    let number = number.filter(|number| *number == 1 || LAYOUTS.contains(number));
    number.ok_or_else(|| format!("must be 1, or from {} to {}", LAYOUTS.start(), LAYOUTS.end()))
}

fn check_layouts(comparison: &Comparison) -> Result<()> {
    let several = comparison.layouts > 1;
    ensure!(
        !several || comparison.build.is_some(),
        "--layouts is a number of builds: give --build"
    );
    ensure!(
        !several || comparison.quantity == PrQuantity::Time,
        "--layouts is for times: instructions do not depend on the layout of the code"
    );
    Ok(())
}

fn harness_names() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(harness::all("").map(|harness| harness.name()))
}

pub fn pr(context: &Context, args: &PrArgs) -> Result<Exit> {
    let here = std::env::current_dir().context("cannot read the current directory")?;
    let repository = Repository::around(&here)?;
    if args.format == GateFormat::Github {
        step_summary::check()?;
    }
    undo::recover();
    let mut comparison = comparison(&args.trial, repository, args.base.clone(), args.head.clone())?;
    ensure!(
        !args.same_output || comparison.harness.name() == HARNESS,
        "--same-output compares the output of a plain command; that of --harness {} has times",
        comparison.harness.name()
    );
    comparison.same_output = args.same_output;
    comparison.layouts = args.layouts.unwrap_or(comparison.layouts);
    check_layouts(&comparison)?;
    let mut store = context.writer()?;
    let answer = match comparison.run(&show_progress) {
        Err(why) => {
            print_failure(args.format, &comparison, &why)?;
            return Err(why);
        }
        Ok(answer) => answer,
    };
    let Answer { view, complete, runs } = answer;
    // printing may end this process, and a full store must not hide the answer
    let runs = runs.unwrap_or_else(|why| {
        log::warn!("the answer is not stored: {why}");
        vec![]
    });
    let stored = (|| {
        for run in runs.iter().filter(|_| !context.no_store) {
            store.import(run)?;
            // caches the results
            context.computed(&store, run)?;
        }
        anyhow::Ok(())
    })();
    output::clear_line();
    let gate_output = exchange::pr_output(&view);
    gate::print(args.format, &view, &gate_output, Some(gritstone_report::pr(&view)))?;
    stored.context("the answer is not stored")?;
    let labels: Vec<&str> = runs.iter().filter_map(|run| run.info.label.as_deref()).collect();
    let trial = labels.first().and_then(|label| label.strip_suffix("-a"));
    // a unit of neither time nor rate is not stored
    let has_launches = runs.iter().any(|run| !run.launches.is_empty());
    if let Some(trial) = trial.filter(|_| has_launches && !context.no_store) {
        output::remark(&format!(
            "stored: `gritstone ab --of {trial}` shows it, `gritstone push {}` sends it",
            labels.join(" ")
        ));
    }
    if !complete {
        output::remark("interrupted");
    }
    Ok(match view.outcome {
        _ if !complete => Exit::Interrupted,
        CheckOutcome::Passed => Exit::Done,
        CheckOutcome::Regressed => Exit::CheckFailed,
        CheckOutcome::Inconclusive => Exit::Inconclusive,
    })
}

/// The command line, completed by the file of the repository.
///
/// # Errors
/// When the file is invalid, or names untrusted commands.
pub fn comparison(
    args: &TrialArgs,
    repository: Repository,
    base: Option<String>,
    head: Option<String>,
) -> Result<Comparison> {
    let project = Project::read(&repository.root)?;
    check_trust(args, &project)?;
    let or = |given: &[String], default: &[String]| match given {
        [] => default.to_vec(),
        given => given.to_vec(),
    };
    let command = or(&args.command, &project.command);
    check_command(&command, &repository)?;
    let name = args.harness.as_deref().or(project.harness.as_deref()).unwrap_or(HARNESS);
    check_harness_options(args, name)?;
    let quantity = match args.count {
        None => PrQuantity::Time,
        Some(Count::Instructions) => PrQuantity::Instructions,
    };
    let pointer = args.values.as_deref().or(project.values.as_deref()).unwrap_or("");
    let unknown_harness = || anyhow!("{FILE}: no harness '{name}'; gritstone help pr lists them");
    let time = |given: Option<Duration>, text: &Option<String>| match (given, text) {
        (None, Some(text)) => {
            let time = value_parsers::duration(text);
            time.map(Some).map_err(|why| anyhow!("{FILE}: '{text}': {why}"))
        }
        (given, _) => Ok(given),
    };
    let carry = match args.carry.as_slice() {
        [] => project.carry.clone(),
        given => given.iter().map(|path| repository.below_root(path)).collect(),
    };
    let directory = match args.command.is_empty() {
        true => PathBuf::new(),
        false => repository.prefix.clone(),
    };
    // the file's layouts are for times
    let from_file = project.layouts.filter(|_| quantity == PrQuantity::Time);
    let from_file = from_file.map(|number| layouts(&number.to_string())).transpose();
    Ok(Comparison {
        layouts: from_file.map_err(|why| anyhow!("{FILE}: layouts: {why}"))?.unwrap_or(1),
        harness: harness::named(name, pointer).ok_or_else(unknown_harness)?,
        values: pointer.to_owned(),
        budget: time(args.budget, &project.budget)?.unwrap_or(BUDGET),
        harness_time: time(args.harness_time, &project.harness_time)?.unwrap_or(HARNESS_TIME),
        margins: margins(args, &project, quantity)?,
        quantity,
        same_output: false,
        build: build(args, &project, &repository.prefix),
        directory,
        seed: args.seed.unwrap_or_else(|| u64::from(random())),
        dir: args.dir.clone(),
        repository,
        base,
        head,
        carry,
        command,
    })
}

/// Refuses commands of the file that the user neither typed nor trusts.
fn check_trust(args: &TrialArgs, project: &Project) -> Result<()> {
    let uses_file_commands = args.command.is_empty() && !project.command.is_empty()
        || args.build.is_none() && project.build.is_some();
    let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    ensure!(
        !uses_file_commands || args.trust || in_ci,
        "{FILE} names commands that would run as you ({}): inspect them, and give --trust",
        quoted_commands(project)
    );
    Ok(())
}

fn quoted_commands(project: &Project) -> String {
    let command = project.command.join(" ");
    let all = project.build.iter().chain([&command]).filter(|text| !text.is_empty());
    all.map(|text| format!("'{text}'")).collect::<Vec<_>>().join(", ")
}

fn check_harness_options(args: &TrialArgs, harness: &str) -> Result<()> {
    ensure!(
        args.count.is_none() || harness == HARNESS,
        "--count instructions is for a plain command that does a fixed amount of work; {harness} repeats benchmarks by the clock, so that its instructions say nothing of them"
    );
    ensure!(
        args.values.is_none() || harness == "json",
        "--values is the pointer of --harness json; {harness} has values of its own format"
    );
    ensure!(
        args.harness_time.is_none() || harness != HARNESS,
        "--harness-time is for a --harness: a plain command takes its own time"
    );
    Ok(())
}

/// A typed command is executed below the root as here, one of the file at the root.
fn build(args: &TrialArgs, project: &Project, prefix: &Path) -> Option<Build> {
    let (command, directory) = match &args.build {
        Some(typed) => (typed, prefix),
        None => (project.build.as_ref()?, Path::new("")),
    };
    Some(Build { command: command.clone(), directory: directory.to_owned() })
}

fn margins(args: &TrialArgs, project: &Project, quantity: PrQuantity) -> Result<Margins> {
    let default = match quantity {
        PrQuantity::Time => MAX_SLOWDOWN,
        PrQuantity::Instructions => MAX_MORE_INSTRUCTIONS,
    };
    let share = |text: &String| {
        value_parsers::share(text).map_err(|why| anyhow!("{FILE}: '{text}': {why}"))
    };
    let from_file = project.max_slowdown.as_ref().map(share).transpose()?;
    // the margins of the file are for time
    let is_time = quantity == PrQuantity::Time;
    let from_file = from_file.filter(|_| is_time);
    let by_name = project.margins.iter().filter(|_| is_time);
    let by_name: Result<BTreeMap<String, f64>> =
        by_name.map(|(name, text)| Ok((name.clone(), share(text)?))).collect();
    Ok(Margins { default: args.max_slowdown.or(from_file).unwrap_or(default), by_name: by_name? })
}

/// Redraws the progress line.
pub fn show_progress(progress: Progress<'_>) {
    if !output::shows_progress() || !output::is_terminal() {
        return;
    }
    output::redraw(&match progress {
        Progress::Building(side) => format!("building {side}"),
        Progress::Measuring { rounds, decided, benchmarks, elapsed, budget } => format!(
            "round {}: {decided} of {benchmarks} decided, {} s of at most {} s",
            rounds + 1,
            elapsed.as_secs(),
            budget.as_secs()
        ),
    });
}

/// Why there is no answer, in the formats that a machine or a reader of the pull request takes.
fn print_failure(format: GateFormat, comparison: &Comparison, why: &anyhow::Error) -> Result<()> {
    let outcome = match exit_of(why) {
        Exit::CheckFailed => CheckOutcome::Regressed,
        Exit::Interrupted => return Ok(()),
        _ => CheckOutcome::Inconclusive,
    };
    let why = format!("{why:#}");
    let view = comparison.failed_view(&why, outcome).ok();
    // no revisions, no value
    if format == GateFormat::Json && view.is_none() {
        return Ok(());
    }
    let output = exchange::pr_failure(outcome, comparison.quantity, &why);
    gate::print(format, &view, &output, None)
}
