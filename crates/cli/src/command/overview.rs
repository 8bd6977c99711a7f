//! `gritstone` without a command: the newest run, and the commands to begin with.

use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::Result;
use gritstone_report::minute;
use gritstone_runs::context::Context;
use gritstone_store::{Kind, RunHead};

pub fn print_overview(context: &Context) -> Result<Exit> {
    let runs = match context.reader()? {
        Some(store) => store.runs()?,
        None => vec![],
    };
    let runs: Vec<RunHead> = (runs.into_iter()).filter(|run| run.kind != Kind::Ab).collect();
    let stored = match runs.last() {
        None => "No run is stored yet: gritstone run --quick takes a few minutes.".to_owned(),
        Some(last) => format!(
            "{} stored; the newest is {} of {} UTC{}.",
            match runs.len() {
                1 => "1 run is".to_owned(),
                many => format!("{many} runs are"),
            },
            last.id,
            minute(&last.started),
            last.label.as_ref().map_or_else(String::new, |label| format!(", \"{label}\""))
        ),
    };
    let next = format!(
        "\
gritstone {}: system benchmarks that you can act on
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
    output::lines(next.trim_end())?;
    Ok(Exit::Done)
}
