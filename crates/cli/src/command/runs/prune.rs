//! `gritstone runs prune`: removes the raw samples of old runs, and keeps their results.

use crate::ui::exit::Exit;
use crate::ui::output::{plain, remark};
use crate::ui::value_parsers;
use anyhow::{Context as _, Result};
use clap::Args;
use gritstone_model::{AbView, RunData};
use gritstone_runs::context::Context;
use gritstone_runs::{clock, trials};
use gritstone_store::{RunHead, Samples, Shrunk, SideName, Store};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone runs prune --keep-samples 90d --dry-run
  gritstone runs prune --keep-samples 12w

Results, comparisons, histories and reports stay. Exports, push and pull need samples.")]
pub struct PruneArgs {
    /// Keep those of runs that began in this time, e.g. 90d, 12w or 36h, and of runs that have not ended
    #[arg(long, value_name = "TIME", value_parser = value_parsers::age)]
    pub keep_samples: Duration,
    /// Say how much would be pruned, and prune nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Prunes, or reports what would be pruned.
pub fn prune(context: &Context, args: &PruneArgs) -> Result<Exit> {
    let now = Timestamp::now();
    let before = SignedDuration::try_from(args.keep_samples)
        .ok()
        .and_then(|keep| now.checked_sub(keep).ok())
        .context("--keep-samples goes back beyond all calendars")?;
    if args.dry_run {
        let Some(store) = context.reader()? else {
            return print_samples("to prune", 0, Samples::default());
        };
        let heads = store.runs()?;
        let prunable = Prunable::find(&store, &heads, before)?;
        let mut all = Samples::default();
        for (_, samples) in &prunable.runs {
            add(&mut all, *samples);
        }
        return print_samples("to prune", prunable.runs.len(), all);
    }
    let mut store = context.administrator()?;
    let heads = store.runs()?;
    let prunable = Prunable::find(&store, &heads, before)?;
    let now = clock::rfc3339(now);
    let (mut runs, mut all) = (0, Samples::default());
    let mut tests = BTreeMap::new();
    for (head, samples) in &prunable.runs {
        let read = prunable.read(context, &store, head, &mut tests);
        // a damaged run is skipped; a failed write ends the command
        let (run, test) = match read {
            Ok(read) => read,
            Err(why) => {
                remark(&format!("run {} keeps its samples: {why:#}", head.id));
                continue;
            }
        };
        context.prune(&mut store, &run, test.as_ref(), &now)?;
        runs += 1;
        add(&mut all, *samples);
    }
    print_samples("pruned", runs, all)?;
    let freed = store.shrink();
    say_freed(freed.context("the samples are pruned, but their space is not given back")?);
    Ok(Exit::Done)
}

/// Runs to be pruned.
struct Prunable<'a> {
    /// Runs with the size of their samples.
    runs: Vec<(&'a RunHead, Samples)>,
    /// The sides of each trial, by their names.
    sides: BTreeMap<&'a str, BTreeMap<&'a str, &'a RunHead>>,
}

impl<'a> Prunable<'a> {
    /// Finds ended runs before a time. Trials are compared launch by launch, so all sides are pruned together, once two are stored.
    fn find(store: &Store, heads: &'a [RunHead], before: Timestamp) -> Result<Self> {
        let sides = trials::sides(heads);
        let old = |head: &RunHead| {
            let began = head.started.parse::<Timestamp>();
            head.elapsed_s.is_some() && began.is_ok_and(|began| began < before)
        };
        let is_old_trial = |side: &SideName| {
            let sides = &sides[side.trial.as_str()];
            sides.len() > 1 && sides.values().all(|side| old(side))
        };
        let is_prunable = |head: &&RunHead| {
            old(head) && head.pruned.is_none() && head.side.as_ref().is_none_or(is_old_trial)
        };
        let mut runs = vec![];
        for head in heads.iter().filter(is_prunable) {
            let samples = store.samples(&head.id)?;
            // a run without measured launches has no samples
            if samples.measured > 0 {
                runs.push((head, samples));
            }
        }
        Ok(Self { runs, sides })
    }

    /// The results of a run and of its trial. A trial is computed from all sides before the first of them is pruned, and then added to
    /// `trials`.
    fn read(
        &self,
        context: &Context,
        store: &Store,
        head: &RunHead,
        trials: &mut BTreeMap<String, AbView>,
    ) -> Result<(RunData, Option<AbView>)> {
        let run = store.load(&head.id)?;
        let Some(SideName { trial, .. }) = &head.side else {
            return Ok((run, None));
        };
        if !trials.contains_key(trial) {
            let sides: Vec<&RunHead> = self.sides[trial.as_str()].values().copied().collect();
            trials.insert(trial.clone(), context.stored_trial(store, &sides)?);
        }
        Ok((run, trials.get(trial).cloned()))
    }
}

fn add(all: &mut Samples, samples: Samples) {
    all.launches += samples.launches;
    all.measured += samples.measured;
    all.bytes += samples.bytes;
}

fn print_samples(what: &str, runs: usize, samples: Samples) -> Result<Exit> {
    let size = gritstone_report::samples(runs, samples.launches as usize, samples.bytes);
    plain(&format!("{what}: {size}\n"))?;
    Ok(Exit::Done)
}

fn say_freed(freed: Shrunk) {
    let size = gritstone_report::bytes;
    remark(&match freed {
        Shrunk::To(bytes) => format!("the store has {} now", size(bytes)),
        Shrunk::Little(bytes) => {
            format!("{} are free in the store, for the next runs", size(bytes))
        }
        Shrunk::InUse(bytes) => format!(
            "{} are free in the store, which another process has open: the same command gives them back to the system later",
            size(bytes)
        ),
        Shrunk::Server => "the server reuses their space after its next VACUUM".to_owned(),
    });
}
