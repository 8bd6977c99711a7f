//! What changed: change points over all benchmarks and systems, grouped into events by the run that begins them, who knows of each, and
//! what the comparison says that was made to confirm it. `gritstone changes` lists them.

use crate::command::ab;
use crate::command::history::history_of;
use crate::command::show;
use crate::runs::context::World;
use crate::ui::args::{ChangesArgs, ChangesCommand};
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context, Result, bail};
use gritstone_model::{
    Acknowledged, Change, ChangeEvent, ChangesView, Confirmation, Confirmed, Difference,
    HistoryChange, HistorySeries, HistoryView, Id, Machine, RunInfo, SCHEMA_CHANGES, Verdict,
};
use gritstone_store::{ChangeEntry, RunHead, Store, Who};
use std::collections::{BTreeMap, BTreeSet};

/// Runs in which changes are looked for.
const RUNS: usize = 100;
/// Events that are listed unless all are asked for.
const NEWEST: usize = 30;
/// Ends of the labels of the runs that are to confirm an event: the state before, and the state since.
const SIDES: [&str; 2] = ["-a", "-b"];
/// Ends of the identifiers of events, after the run that begins them.
const WAYS: [&str; 2] = ["-worse", "-better"];

/// `gritstone changes`.
pub fn changes(world: &World, args: &ChangesArgs) -> Result<Exit> {
    let store = world
        .reader()?
        .context("no run is stored yet: `gritstone run --quick` makes one")?;
    let mut events = events(world, &store)?;
    mark(&mut events, store.change_entries()?);
    drop(store);
    if let Some(ChangesCommand::Acknowledge { event, note }) = &args.command {
        let event = named(&events, event)?;
        let who = user();
        let now = now();
        let mut store = world.writer()?;
        store.acknowledge(&event.id, Who::User(&who), note, &now)?;
        output::remark(&format!("change {} is acknowledged by {who}", event.id));
        return Ok(Exit::Done);
    }
    let all = events.len();
    if !args.all {
        events.truncate(NEWEST);
    }
    let view = ChangesView {
        schema: SCHEMA_CHANGES.to_owned(),
        events,
    };
    output::write(args.format.format, &view, || {
        gritstone_report::changes(&view.events, all)
    })?;
    Ok(Exit::Done)
}

/// The event of a name, or of a part that no other has.
fn named<'a>(events: &'a [ChangeEvent], name: &str) -> Result<&'a ChangeEvent> {
    let like = events.iter().filter(|event| event.id.contains(name));
    let like: Vec<&ChangeEvent> = like.collect();
    let whole = like.iter().find(|event| event.id == name);
    match (whole, like.as_slice()) {
        (Some(event), _) => Ok(event),
        (None, [one]) => Ok(one),
        (None, []) => bail!("no change is called '{name}': `gritstone changes` lists them"),
        (None, [one, other, ..]) => {
            bail!(
                "'{name}' may be {} or {}: write more of it",
                one.id,
                other.id
            )
        }
    }
}

/// The second that it is.
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%FT%TZ").to_string()
}

/// The user that this process works for.
fn user() -> String {
    let uid = nix::unistd::getuid();
    let user = nix::unistd::User::from_uid(uid).ok().flatten();
    user.map_or_else(|| format!("user {uid}"), |user| user.name)
}

/// Changes that begin with the same run, by direction, newest first, as far as runs tell: who acknowledged them is read when it is asked for.
///
/// # Errors
/// What befalls the store.
pub fn events(world: &World, store: &Store) -> Result<Vec<ChangeEvent>> {
    world.compute_missing(store)?;
    let mut all: Vec<Change> = vec![];
    for id in store.recurring()? {
        let view = history_of(world, store, &id, RUNS)?;
        all.extend(view.iter().flat_map(of_view));
    }
    if all.is_empty() {
        return Ok(vec![]);
    }
    let mut events = grouped(all);
    for event in &mut events {
        let runs = event.before.iter().chain([&event.run]);
        let infos: Vec<RunInfo> = runs.filter_map(|run| store.info(run).ok()).collect();
        // where one cannot be read, nothing is told
        if let [before, after] = infos.as_slice() {
            event.differ_in = differ(&before.machine, &after.machine);
        }
    }
    let heads = store.runs()?;
    let labeled: BTreeMap<&str, &RunHead> = heads
        .iter()
        .filter(|head| head.elapsed_s.is_some())
        .filter_map(|head| Some((head.label.as_deref()?, head)))
        .collect();
    for event in &mut events {
        match confirmation(world, store, event, &labeled) {
            Ok(found) => event.confirmation = found,
            Err(why) => {
                output::remark(&format!("change {} is not confirmed: {why:#}", event.id));
            }
        }
    }
    Ok(events)
}

/// Whether a label says that a run is to confirm an event. It is of a state that was made for that, as the side of an A/B test is: no history has
/// it, and the event would not be what it was.
pub fn confirms(label: Option<&str>) -> bool {
    label.is_some_and(|label| {
        let event = SIDES.iter().find_map(|end| label.strip_suffix(end));
        let run = event.and_then(|event| WAYS.iter().find_map(|end| event.strip_suffix(end)));
        run.is_some_and(|run| !run.is_empty())
    })
}

/// Writes to events what is known of them.
pub fn mark(events: &mut [ChangeEvent], entries: Vec<ChangeEntry>) {
    let acknowledged = entries.into_iter().filter(|entry| entry.acknowledges);
    // the newest counts
    let mut newest: BTreeMap<String, Acknowledged> = BTreeMap::new();
    for ChangeEntry {
        event,
        who,
        note,
        at,
        ..
    } in acknowledged
    {
        newest.insert(event, Acknowledged { who, at, note });
    }
    for event in events {
        event.acknowledged = newest.get(&event.id).cloned();
    }
}

fn grouped(changes: Vec<Change>) -> Vec<ChangeEvent> {
    let mut events: BTreeMap<(String, String, bool), ChangeEvent> = BTreeMap::new();
    for change in changes {
        let (run, worse) = (change.change.run.clone(), change.change.ratio < 1.0);
        let key = (change.change.started.clone(), run.clone(), worse);
        let event = events.entry(key).or_insert_with(|| ChangeEvent {
            id: format!("{run}{}", WAYS[usize::from(!worse)]),
            run,
            started: change.change.started.clone(),
            machine: change.machine.clone(),
            name: change.name.clone(),
            worse,
            before: change.before.clone(),
            differ_in: vec![],
            acknowledged: None,
            confirmation: None,
            changes: vec![],
        });
        event.changes.push(change);
    }
    events.into_values().rev().collect()
}

/// What the comparison says that was made to confirm an event: two runs of its system, by their labels. Launches of an A/B test are compared
/// in pairs.
fn confirmation(
    world: &World,
    store: &Store,
    event: &ChangeEvent,
    labeled: &BTreeMap<&str, &RunHead>,
) -> Result<Option<Confirmation>> {
    let side = |end: &str| {
        let head = labeled.get(format!("{}{end}", event.id).as_str())?;
        (head.machine_id == event.machine).then_some(*head)
    };
    let [Some(base), Some(run)] = SIDES.map(side) else {
        return Ok(None);
    };
    let trial = |head: &RunHead| -> Result<Option<String>> {
        Ok(store.info(&head.id)?.settings.trial.map(|side| side.trial))
    };
    let of = trial(base)?;
    let interleaved = of.is_some() && of == trial(run)?;
    let verdicts: Vec<(Id, Verdict)> = if interleaved {
        let view = ab::view_of(world, store, &[base, run])?;
        let rows = view.rows.into_iter();
        rows.filter_map(|row| Some((row.id, row.comparisons.first()?.verdict)))
            .collect()
    } else {
        let [base, run] = [base, run].map(|head| world.stored(store, &head.id));
        let view = world.compare(&base?, &run?, show::MARGIN);
        let rows = view.rows.into_iter();
        rows.filter_map(|row| Some((row.id, row.verdict?)))
            .collect()
    };
    let changed: BTreeSet<&Id> = event.changes.iter().map(|of| &of.benchmark).collect();
    let wanted = match event.worse {
        true => Verdict::Slower,
        false => Verdict::Faster,
    };
    let [mut confirmed, mut refuted, mut inconclusive] = [vec![], vec![], vec![]];
    for (id, verdict) in verdicts {
        match verdict {
            _ if !changed.contains(&id) => {}
            Verdict::Inconclusive => inconclusive.push(id),
            verdict if verdict == wanted => confirmed.push(id),
            _ => refuted.push(id),
        }
    }
    let verdict = match (confirmed.len(), refuted.len()) {
        (0, 0) => Confirmed::Inconclusive,
        (0, _) => Confirmed::Refuted,
        (_, 0) => Confirmed::Confirmed,
        _ => Confirmed::Partly,
    };
    Ok(Some(Confirmation {
        verdict,
        base: base.id.clone(),
        run: run.id.clone(),
        interleaved,
        confirmed,
        refuted,
        inconclusive,
    }))
}

/// The facts of a system that are other than before: what they were, and what they are.
pub fn differences<'a>(
    before: &'a Machine,
    after: &'a Machine,
) -> impl Iterator<Item = (String, Option<String>, Option<String>)> {
    let names: BTreeSet<&String> = before.facts.keys().chain(after.facts.keys()).collect();
    names.into_iter().filter_map(move |name| {
        let [was, is] = [before, after].map(|of| of.facts.get(name));
        (was != is).then(|| (name.clone(), was.cloned(), is.cloned()))
    })
}

fn differ(before: &Machine, after: &Machine) -> Vec<Difference> {
    let told = |fact: Option<String>| fact.unwrap_or_default();
    differences(before, after)
        .map(|(what, was, is)| Difference {
            what,
            base: told(was),
            other: told(is),
        })
        .collect()
}

/// The changes of all series of a benchmark.
fn of_view(view: &HistoryView) -> impl Iterator<Item = Change> {
    let of_series = |series: &HistorySeries| {
        let change = |change: &_| of_one(view, series, change);
        series.changes.iter().map(change).collect::<Vec<_>>()
    };
    view.series.iter().flat_map(of_series)
}

fn of_one(view: &HistoryView, series: &HistorySeries, change: &HistoryChange) -> Change {
    let before = series.points[..change.at].iter().rev();
    let before = before.clone().find(|point| point.value.is_some());
    Change {
        benchmark: view.id.clone(),
        title: view.title.clone(),
        machine: series.machine.clone(),
        name: series.name.clone(),
        kernel: series.kernel.clone(),
        before: before.map(|point| point.run.clone()),
        change: change.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::confirms;

    #[test]
    fn a_label_says_what_a_run_is_for() {
        for of in ["20261123-185538-cfe385a0-worse-a", "x-better-b"] {
            assert!(confirms(Some(of)), "{of}");
        }
        for other in [
            "",
            "-worse-a",
            "main-a",
            "x-worse",
            "x-worse-c",
            "x-worse-a-1",
        ] {
            assert!(!confirms(Some(other)), "{other}");
        }
        assert!(!confirms(None));
    }
}
