//! The commands that look at runs: what next, show, compare.

use crate::ui::args::{CompareArgs, ShowArgs};
use crate::ui::display::Format;
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context, Result, ensure};
use gritstone_model::CompareView;
use gritstone_report::Comparison;
use gritstone_runs::context::{World, is_kept};
use gritstone_runs::selection::{Chosen, only};

/// `gritstone` alone.
pub fn what_next(world: &World) -> Result<Exit> {
    let runs = match world.reader()? {
        Some(store) => store.runs()?,
        None => vec![],
    };
    let stored = match runs.last() {
        None => "No run is stored yet: gritstone run --quick takes a few minutes.".to_owned(),
        Some(last) => format!(
            "{} stored; the newest is {} of {} UTC{}.",
            match runs.len() {
                1 => "1 run is".to_owned(),
                many => format!("{many} runs are"),
            },
            last.id,
            last.started
                .get(..16)
                .unwrap_or(&last.started)
                .replacen('T', " ", 1),
            last.label
                .as_ref()
                .map_or_else(String::new, |label| format!(", \"{label}\""))
        ),
    };
    let next = format!(
        "\
gritstone {}: system benchmarks with confidence intervals
{stored}

  gritstone run [NAME...]   measure benchmarks
  gritstone show            newest results
  gritstone compare A B     compare two runs
  gritstone bench A B       compare two commands
  gritstone list            list benchmarks
  gritstone runs            list stored runs
  gritstone report          HTML and PDF report
  gritstone doctor          check this system
  gritstone --help          all commands
",
        env!("CARGO_PKG_VERSION")
    );
    output::plain(&next)?;
    Ok(Exit::Done)
}

/// `gritstone show`.
pub fn show(world: &World, args: &ShowArgs) -> Result<Exit> {
    let (name, view, selectors) = world.chosen_run(&args.words)?;
    let view = world.among_runs(view);
    // of one that was asked for by itself everything is told
    let one = match view.results.as_slice() {
        [one] if selectors == [one.id.as_str()] => Some(one),
        _ => None,
    };
    output::write(args.format.format, &view, || match one {
        Some(one) => {
            let data = world.data(&name).ok();
            let launches = data.iter().flat_map(|run| &run.launches);
            let launches: Vec<_> = launches.filter(|launch| launch.id == one.id).collect();
            gritstone_report::one(&view, one, &launches)
        }
        None => gritstone_report::show(&view, output::detail()),
    })?;
    Ok(Exit::Done)
}

/// `gritstone compare`.
pub fn compare(world: &World, args: &CompareArgs) -> Result<Exit> {
    // opened once for all runs, and for what it tells of their machine; where it cannot be read, the first of them says so
    let store = args.words.iter().any(|name| is_kept(name));
    let store = store.then(|| world.reader());
    let Chosen {
        mut runs,
        selectors,
    } = world.chosen(&args.words)?;
    ensure!(
        runs.len() > 1,
        "name a base and at least one run to compare with it"
    );
    for (_, run) in &mut runs {
        only(run, &selectors)?;
    }
    let (base, others) = runs.split_first().context("no run is named")?;
    let views: Vec<CompareView> = others
        .iter()
        .map(|(_, other)| world.compare(&base.1, other, args.margin))
        .collect();
    // whoever reads what follows may take their time
    drop(store);
    match (args.format.format, views.as_slice()) {
        (Format::Json, [one]) => output::json(one)?,
        (Format::Json, many) => output::json(&many)?,
        (Format::Text, many) => {
            for (i, (view, (_, other))) in many.iter().zip(others).enumerate() {
                if i > 0 {
                    output::plain("\n")?;
                }
                let shown = Comparison {
                    sides: &[&base.1, other],
                    detail: output::detail(),
                    changed: args.changed,
                };
                output::text(&gritstone_report::compare(view, shown))?;
            }
        }
    }
    Ok(Exit::Done)
}
