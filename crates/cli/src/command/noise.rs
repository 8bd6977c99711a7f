//! `gritstone noise`: runs of the same, one after another, against each other.

use crate::command::run::Job;
use crate::runs::context::World;
use crate::session::local_backend::{End, random};
use crate::session::undo;
use crate::ui::args::{NoiseArgs, RunArgs};
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context, Result, bail, ensure};
use gritstone_analysis::noise;
use gritstone_model::{RunView, SelftestView};
use gritstone_store::RunHead;
use std::collections::BTreeSet;

/// Measures the runs, or finds them; compares and shows.
pub fn selftest(world: &World, args: &NoiseArgs) -> Result<Exit> {
    undo::recover();
    let runs = if args.of.is_empty() {
        match measured(world, args)? {
            Some(runs) => runs,
            None => return Ok(Exit::Interrupted),
        }
    } else {
        stored(world, &args.of)?
    };
    let views: Vec<&RunView> = runs.iter().collect();
    let view = noise::selftest(&runs, &world.past(&views));
    output::write(args.format.format, &view, || {
        gritstone_report::selftest(&view)
    })?;
    outcome(&view)
}

/// Runs one after another; `None` when the user asked to stop.
fn measured(world: &World, args: &NoiseArgs) -> Result<Option<Vec<RunView>>> {
    let trial = gritstone_store::new_id(jiff::Timestamp::now(), random());
    let mut runs = vec![];
    for number in 1..=args.runs {
        output::remark(&format!("noise: run {number} of {}", args.runs));
        let asked = RunArgs {
            selectors: args.selectors.clone(),
            budget: args.budget,
            privileges: args.privileges.clone(),
            label: Some(format!("noise-{trial}-{number}")),
            ..RunArgs::default()
        };
        let mut job = Job::new(world, &asked)?;
        job.info.settings.noise = true;
        let (view, end) = job.measure(world)?;
        if end == End::Interrupted {
            output::remark(&format!(
                "the runs before it are complete: `gritstone noise --of noise-{trial}` compares them, if there are two"
            ));
            return Ok(None);
        }
        runs.push(view);
    }
    Ok(Some(runs))
}

/// The runs that are asked for, in the order of time.
fn stored(world: &World, names: &[String]) -> Result<Vec<RunView>> {
    let store = world.reader()?.context(
        "no run is stored yet: `gritstone noise` without --of measures the runs that it compares",
    )?;
    let heads = store.runs()?;
    let mut wanted: BTreeSet<String> = BTreeSet::new();
    for name in names {
        let mut labeled: Vec<&RunHead> = heads.iter().filter(|head| belongs(head, name)).collect();
        if labeled.is_empty() {
            let id = world.resolve(&store, name)?;
            labeled.extend(heads.iter().filter(|head| head.id == id));
        }
        for head in labeled {
            if head.elapsed_s.is_some() {
                wanted.insert(head.id.clone());
            } else {
                output::remark(&format!("run {} was interrupted and is left out", head.id));
            }
        }
    }
    let own: Vec<&RunHead> = heads.iter().filter(|h| wanted.contains(&h.id)).collect();
    ensure!(
        own.len() >= 2,
        "one run cannot be compared with itself: name two or more, or a label that several have"
    );
    if let Some(other) = own.iter().find(|head| head.machine_id != own[0].machine_id) {
        let of = |head: &RunHead| format!("{} of {} ({})", head.id, head.machine, head.machine_id);
        let (one, other) = (of(own[0]), of(other));
        bail!("run {one} and run {other}: an A/A test is of one system");
    }
    let own = own.iter();
    own.map(|head| world.stored(&store, &head.id)).collect()
}

/// Whether a run has the label, or the label and a number.
fn belongs(head: &RunHead, name: &str) -> bool {
    let label = head.label.as_deref();
    let rest = label.and_then(|label| label.strip_prefix(name));
    let number = rest.and_then(|rest| rest.strip_prefix('-'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    rest == Some("") || number.is_some_and(is_number)
}

fn outcome(view: &SelftestView) -> Result<Exit> {
    if view.rows.is_empty() {
        let what = "no benchmark is in all runs, so nothing was compared";
        return Err(Exit::NothingMeasured.because(what));
    }
    if view.passed {
        return Ok(Exit::Done);
    }
    let missed = [
        (
            Some(view.pairs.passed),
            "too often the same is called different",
        ),
        (
            view.median.map(|median| median.passed),
            "the median benchmark varies too much between runs",
        ),
        (
            view.p90.map(|p90| p90.passed),
            "one benchmark in ten varies too much between runs",
        ),
    ];
    let missed = missed.iter().filter(|(passed, _)| *passed == Some(false));
    let missed: Vec<&str> = missed.map(|(_, what)| *what).collect();
    Err(Exit::CheckFailed.because(format!(
        "{}; `gritstone doctor` looks for the cause",
        missed.join(", and ")
    )))
}
