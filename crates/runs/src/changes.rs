//! Events of all benchmarks and systems, with the facts of the systems and the commits between.

use crate::context::Context;
use crate::history::{Extent, histories};
use anyhow::Result;
use gritstone_analysis::events::KnownEvents;
use gritstone_analysis::series::KERNEL;
use gritstone_model::{
    ChangeEvent, Commit, CommitRange, Difference, HistoryPoint, HistorySeries, HistoryView,
    Machine, Triage,
};
use gritstone_store::{ChangeEntry, EntryContent, Store};
use std::collections::{BTreeMap, BTreeSet};

/// The histories of all benchmarks that recur.
///
/// # Errors
/// When the store cannot be read.
pub fn recurring(context: &Context, store: &Store, extent: Extent<'_>) -> Result<Vec<HistoryView>> {
    histories(context, store, &store.recurring()?, extent)
}

/// Whether any series has two runs to compare.
pub fn is_compared(histories: &[HistoryView]) -> bool {
    let mut series = histories.iter().flat_map(|view| &view.series);
    series.any(|series| series.compared() > 1)
}

/// Events of histories without their triage logs, newest first.
///
/// # Errors
/// When the store cannot be read.
pub fn events(store: &Store, histories: &[HistoryView]) -> Result<Vec<ChangeEvent>> {
    let known = known_events(store)?;
    let mut events = gritstone_analysis::events::events(histories, &known);
    let commit = |run: &str| store.info(run).ok()?.settings.commit;
    for event in &mut events {
        let spans = spans(histories, event);
        let Some(span) = spans.first() else { continue };
        let branch = commit(&event.run).and_then(|commit| commit.branch);
        event.commits = commits(span, branch, &commit).map(|[good, bad]| CommitRange {
            link: Commit::link_between(&good, &bad),
            good: good.id,
            bad: bad.id,
        });
        if let [Ok(before), Ok(after)] =
            [span.before, span.last].map(|position| store.info(span.run(position)))
        {
            event.differ_in = machine_differences(&before.machine, &after.machine);
        }
        for difference in spans.iter().flat_map(Span::program_differences) {
            if !event.differ_in.contains(difference) {
                event.differ_in.push(difference.clone());
            }
        }
    }
    Ok(events)
}

/// The runs of a series over which an event may have begun: after `before`, which has the level before, and not after `last`.
struct Span<'a> {
    series: &'a HistorySeries,
    before: usize,
    last: usize,
}

impl Span<'_> {
    fn run(&self, at: usize) -> &str {
        &self.series.points[at].run
    }

    /// Marks but the kernel, which is a fact of the machine.
    fn program_differences(&self) -> impl Iterator<Item = &Difference> {
        let marks = self.series.marks.iter();
        let marks = marks.filter(|mark| mark.at > self.before && mark.at <= self.last);
        let differences = marks.flat_map(|mark| &mark.differ_in);
        differences.filter(|difference| difference.what != KERNEL)
    }
}

/// The span of an event in each of its series.
fn spans<'a>(histories: &'a [HistoryView], event: &ChangeEvent) -> Vec<Span<'a>> {
    let first = event.may_begin.first().unwrap_or(&event.run);
    let last = event.may_begin.last().unwrap_or(&event.run);
    let has = |view: &&HistoryView| event.changes.iter().any(|c| c.benchmark == view.id);
    let series = histories.iter().filter(has).flat_map(|view| &view.series);
    let span = |series: &'a HistorySeries| {
        let place = |run: &String| series.points.iter().position(|point| point.run == *run);
        let (first, last) = (place(first)?, place(last)?);
        let before = series.points[..first].iter().rposition(|point| point.value.is_some())?;
        Some(Span { series, before, last })
    };
    series.filter_map(span).collect()
}

/// The newest commit before an event and that of the last run that may have begun it, else of the next run with one; of one branch, where
/// the branches are known.
fn commits(
    span: &Span<'_>,
    branch: Option<String>,
    commit: &dyn Fn(&str) -> Option<Commit>,
) -> Option<[Commit; 2]> {
    let of_branch = |point: &HistoryPoint, branch: &Option<String>| {
        point.commit.as_ref()?;
        commit(&point.run).filter(|commit| match (&commit.branch, branch) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        })
    };
    let (before, since) = (&span.series.points[..=span.before], &span.series.points[span.last..]);
    let bad = since.iter().find_map(|point| of_branch(point, &branch))?;
    let compared = before.iter().rev().filter(|point| point.value.is_some());
    let good = compared.filter_map(|point| of_branch(point, &bad.branch)).next()?;
    (!good.is_same(&bad)).then_some([good, bad])
}

/// Identifiers of events with an entry in the log, and those that they would have where their run was removed.
fn known_events(store: &Store) -> Result<KnownEvents> {
    let replaced = store.replaced()?;
    let mut known = KnownEvents::new();
    for ChangeEntry { event, content } in store.change_entries()? {
        let benchmarks = match content {
            EntryContent::Triage(entry) => entry.benchmarks,
            EntryContent::Notified { benchmarks, .. } => benchmarks,
        };
        let next = replaced.iter().filter_map(|(run, gone)| {
            let suffix = event.strip_prefix(gone.as_str())?;
            Some(format!("{run}{suffix}"))
        });
        for id in next.chain([event.clone()]) {
            let entry = known.entry(id).or_default();
            entry.id.clone_from(&event);
            entry.benchmarks.extend(benchmarks.iter().cloned());
        }
    }
    Ok(known)
}

/// Adds their triage logs.
pub fn add_triage(events: &mut [ChangeEvent], entries: Vec<ChangeEntry>) {
    let mut triages: BTreeMap<String, Triage> = BTreeMap::new();
    for entry in entries {
        if let EntryContent::Triage(content) = entry.content {
            triages.entry(entry.event).or_default().push(content);
        }
    }
    for event in events {
        event.triage = triages.get(&event.id).cloned().unwrap_or_default();
        event.triage.cover(event.benchmarks().collect::<Vec<_>>());
    }
}

/// Changed facts: name, before, after.
pub fn differences<'a>(
    before: &'a Machine,
    after: &'a Machine,
) -> impl Iterator<Item = (String, Option<String>, Option<String>)> {
    let names: BTreeSet<&String> = before.facts.keys().chain(after.facts.keys()).collect();
    names.into_iter().filter_map(move |name| {
        let [was, is] = [before, after].map(|machine| machine.facts.get(name));
        (was != is).then(|| (name.clone(), was.cloned(), is.cloned()))
    })
}

fn machine_differences(before: &Machine, after: &Machine) -> Vec<Difference> {
    let text = |fact: Option<String>| fact.unwrap_or_default();
    differences(before, after)
        .map(|(what, was, is)| Difference { what, base: text(was), other: text(is) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A series of runs with these commits and branches.
    fn series(commits: &[(&str, &str)]) -> HistorySeries {
        let points: Vec<serde_json::Value> = commits
            .iter()
            .enumerate()
            .map(|(index, (commit, _))| {
                serde_json::json!({
                    "run": index.to_string(), "label": null, "started": "", "estimate": 1.0,
                    "interval": null, "value": 1.0, "notes": [],
                    "commit": (!commit.is_empty()).then_some(commit),
                })
            })
            .collect();
        serde_json::from_value(serde_json::json!({
            "machine": "", "name": "", "kernel": "", "compiler": "", "version": 1, "unit": "ns/op",
            "points": points, "changes": [],
        }))
        .unwrap()
    }

    /// The range of an event that began after run 2 and not after run `last`.
    fn range(all: &[(&str, &str)], last: usize) -> Option<[String; 2]> {
        let series = series(all);
        let commit = |run: &str| {
            let (id, branch) = all[run.parse::<usize>().unwrap()];
            let branch = (!branch.is_empty()).then_some(branch);
            Commit::new(id, branch, None).ok()
        };
        let branch = commit(&last.to_string()).and_then(|commit| commit.branch);
        let span = Span { series: &series, before: 2, last };
        commits(&span, branch, &commit).map(|pair| pair.map(|commit| commit.id))
    }

    #[test]
    fn commits_span_possible_beginnings() {
        let [a, b, c, d, e] = ["aaaaaaa1", "bbbbbbb1", "ccccccc1", "ddddddd1", "eeeeeee1"];
        let some = |good: &str, bad: &str| Some([good, bad].map(str::to_owned));
        let main = [a, b, c, d, e].map(|commit| (commit, "main"));
        assert_eq!(range(&main, 3), some(c, d));
        assert_eq!(range(&main, 4), some(c, e));
        // runs without a commit, and of other branches
        assert_eq!(range(&[(a, ""), (b, ""), ("", ""), ("", ""), (e, "")], 3), some(b, e));
        let branches = [(a, "main"), (b, "main"), (c, "fix"), (d, "main"), (e, "main")];
        assert_eq!(range(&branches, 3), some(b, d));
        // a short hash of the same commit
        assert_eq!(range(&[(a, ""), (b, ""), (&d[..7], ""), (d, ""), (e, "")], 3), None);
    }
}
