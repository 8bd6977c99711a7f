//! `gritstone bisect`: the commit that made a benchmark slower.

use crate::command::pr::{TrialArgs, comparison, show_progress};
use crate::ui::display::{Format, FormatArgs};
use crate::ui::exit::{Exit, exit_of};
use crate::ui::output;
use anyhow::{Context as _, Result};
use clap::Args;
use gritstone_pr::bisect::Bisection;
use gritstone_pr::compare::Comparison;
use gritstone_pr::git::Repository;
use gritstone_pr::steps::StepFile;
use gritstone_session::undo;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone bisect v1.2 --build make --harness google-benchmark -- ./bench
  gritstone bisect v1.2 v1.3 --harness pytest-benchmark -- pytest benches

The same command continues a search that was interrupted. --budget applies to each tested commit.
Exit codes: 0 found, 4 not slower, or several commits are left.")]
pub struct BisectArgs {
    /// Commit that was fast, among the first parents of BAD
    #[arg(value_name = "GOOD", allow_hyphen_values = true)]
    pub good: String,
    /// Commit that is slow
    #[arg(value_name = "BAD", default_value = "HEAD", allow_hyphen_values = true)]
    pub bad: String,
    #[command(flatten)]
    pub trial: TrialArgs,
    #[command(flatten)]
    pub format: FormatArgs,
}

pub fn bisect(args: &BisectArgs) -> Result<Exit> {
    let here = std::env::current_dir().context("cannot read the current directory")?;
    let repository = Repository::around(&here)?;
    undo::recover();
    let comparison =
        comparison(&args.trial, repository, Some(args.good.clone()), Some(args.bad.clone()))?;
    let sides = comparison.sides()?;
    let place = comparison.repository.common.to_string_lossy().into_owned();
    let mut search =
        vec![place.as_str(), &sides.base.commit, &sides.head.commit, comparison.harness.name()];
    search.extend(args.trial.count.map(|_| "instructions"));
    let settings = format!(
        "{:?}",
        (&comparison.margins, &comparison.carry, &comparison.directory, comparison.harness_time,)
    );
    search.extend([comparison.values.as_str(), &settings]);
    let build = comparison.build.as_ref();
    search.extend(build.map(|build| build.command.as_str()));
    search.extend(comparison.command.iter().map(String::as_str));
    let steps = StepFile::new(&search)?;
    let (_, known) = steps.read()?;
    if !known.is_empty() {
        output::remark(&format!(
            "continued after {}",
            gritstone_report::plural(known.len(), "commit")
        ));
    }
    let mut bisection = Bisection { comparison: &comparison, steps, progress: &show_progress };
    let view = match bisection.run() {
        Err(why) => {
            print_failure(args.format.format, &comparison, &why)?;
            return Err(why);
        }
        Ok(view) => view,
    };
    output::clear_line();
    output::write(args.format.format, &view, || gritstone_report::bisect(&view))?;
    Ok(match view.candidates.as_slice() {
        [_] => Exit::Done,
        _ => Exit::Inconclusive,
    })
}

/// Why nothing could be searched for, as JSON; the text is the error.
fn print_failure(format: Format, comparison: &Comparison, why: &anyhow::Error) -> Result<()> {
    if format != Format::Json || exit_of(why) != Exit::Inconclusive {
        return Ok(());
    }
    output::json(&Bisection::unsearched(comparison, &format!("{why:#}"))?)
}
