//! `gritstone show`: the results of a run or of a reference system.

use crate::ui::candidates;
use crate::ui::display::FormatArgs;
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::unknown_word;
use anyhow::Result;
use clap::Args;
use gritstone_runs::context::Context;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone show                  the newest run
  gritstone show last byte        one family; -v adds columns, -vv everything
  gritstone show last byte/pipe   all about one benchmark
  gritstone show ref:vax-11-780-4.1bsd

To share a run without host and user names: `gritstone report --share` writes one HTML file and prints a summary.")]
pub struct ShowArgs {
    /// A run (last, last~2, a label, part of an id, a file) or a system (ref:NAME), then benchmarks, families or globs [default: last]
    #[arg(value_name = "RUN | SELECTOR", add = candidates::subjects())]
    pub words: Vec<String>,
    #[command(flatten)]
    pub format: FormatArgs,
}

pub fn show(context: &Context, args: &ShowArgs) -> Result<Exit> {
    let selected = context.select_run(&args.words);
    let (name, view, selectors) =
        selected.map_err(|why| unknown_word::explain(context, &args.words, why))?;
    let view = context.with_run_variance(view);
    // a single benchmark is shown in full
    let one = match view.results.as_slice() {
        [one] if selectors == [one.id.as_str()] => Some(one),
        _ => None,
    };
    output::write(args.format.format, &view, || match one {
        Some(one) => {
            let data = context.data(&name).ok();
            let launches = data.iter().flat_map(|run| &run.launches);
            let launches: Vec<_> = launches.filter(|launch| launch.id == one.id).collect();
            gritstone_report::one(&view, one, &launches)
        }
        None => gritstone_report::show(&view, output::detail()),
    })?;
    Ok(Exit::Done)
}
