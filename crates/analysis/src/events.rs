//! Change points of all benchmarks, grouped into events by the runs that may have begun them.

use crate::series::KERNEL;
use crate::summary::reading::median;
use gritstone_model::{
    Change, ChangeEvent, HistoryChange, HistoryPoint, HistorySeries, HistoryView, Id, Triage,
};
use statrs::distribution::{Binomial, DiscreteCDF};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::slice;

/// Runs on either side of a change's range, and the share of changes that began with a run outside it.
pub(crate) const MARGIN_RUNS: usize = 2;
const MISSED_SHARE: f64 = 0.05;
/// Runs after the first of a level that may still identify its event: earlier ones may be stored late.
const MAX_LATE_RUNS: usize = 10;
/// Suffixes of event identifiers, after the id of the first run.
const EVENT_SUFFIXES: [&str; 2] = ["-worse", "-better"];

/// Identifiers that events may have, with the events that are known by them.
pub type KnownEvents = BTreeMap<String, KnownEvent>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownEvent {
    pub id: String,
    /// Benchmarks that it had; empty if they are unknown.
    pub benchmarks: BTreeSet<Id>,
}

/// Events of histories, newest first. They keep the identifiers under which they are known, although further or removed runs may have
/// moved their first run.
pub fn events(histories: &[HistoryView], known: &KnownEvents) -> Vec<ChangeEvent> {
    let mut events = group(histories.iter().enumerate().flat_map(changes_in).collect());
    keep_identifiers(&mut events, known);
    events.into_iter().map(|(event, _)| event).collect()
}

/// A change and the runs that may have begun it.
struct Located {
    change: Change,
    /// Positions of its history and its series.
    series: [usize; 2],
    may_begin: Vec<String>,
    /// These and [`MARGIN_RUNS`] more on either side: the change joins events that began with one of them.
    joins: Vec<String>,
    /// The next runs of the new level.
    next: Vec<String>,
}

impl Located {
    fn is_worse(&self) -> bool {
        self.change.change.ratio < 1.0
    }
}

/// Changes of one system in one direction that may have begun with the same run form one event, the largest first. Changes aside of it join,
/// unless they are too many to have been located wrongly. With the next runs of the new level.
fn group(mut left: Vec<Located>) -> Vec<(ChangeEvent, Vec<String>)> {
    left.sort_by(|a, b| {
        let begun = |located: &Located| {
            (located.change.change.started.clone(), located.change.benchmark.clone())
        };
        begun(a).cmp(&begun(b))
    });
    let mut events = vec![];
    while let Some(first) = likeliest(&left) {
        let number = |joins: &dyn Fn(&&Located) -> bool| {
            let series = left.iter().filter(joins).map(|located| located.series);
            series.collect::<BTreeSet<_>>().len()
        };
        let began = number(&|located| first.begins(located));
        let joined = number(&|located| first.joins(located));
        let join = may_be_missed(joined - began, joined);
        // two steps of one series are two events
        let mut series = BTreeSet::new();
        let mut is_first_of = |located: &Located| series.insert(located.series);
        let mut members: Vec<Located> =
            left.extract_if(.., |located| first.begins(located) && is_first_of(located)).collect();
        let aside = |located: &mut Located| join && first.joins(located) && is_first_of(located);
        members.extend(left.extract_if(.., aside));
        events.push(event(&first, members));
    }
    events
        .sort_by(|(a, _), (b, _): &(ChangeEvent, _)| (&b.started, &b.id).cmp(&(&a.started, &a.id)));
    events
}

/// A run that may have begun changes of a system in one direction.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Beginning {
    machine: String,
    worse: bool,
    run: String,
}

impl Beginning {
    fn is_alike(&self, located: &Located) -> bool {
        self.machine == located.change.machine && self.worse == located.is_worse()
    }

    fn begins(&self, located: &Located) -> bool {
        self.is_alike(located) && located.may_begin.contains(&self.run)
    }

    fn joins(&self, located: &Located) -> bool {
        self.is_alike(located) && located.joins.contains(&self.run)
    }
}

/// Whether chance misplaces `missed` or more of `all` changes that began with one run, in one of twenty cases.
fn may_be_missed(missed: usize, all: usize) -> bool {
    let chance =
        Binomial::new(MISSED_SHARE, all as u64).map_or(1.0, |all| match missed.checked_sub(1) {
            Some(fewer) => all.sf(fewer as u64),
            None => 1.0,
        });
    chance >= 0.05
}

/// The run with most changes; among equals the one that most begin with, then the first.
fn likeliest(all: &[Located]) -> Option<Beginning> {
    let mut counts: BTreeMap<Beginning, (BTreeSet<[usize; 2]>, usize)> = BTreeMap::new();
    let mut order = vec![];
    for located in all {
        for run in &located.may_begin {
            let beginning = Beginning {
                machine: located.change.machine.clone(),
                worse: located.is_worse(),
                run: run.clone(),
            };
            let count = counts.entry(beginning.clone()).or_insert_with(|| {
                order.push(beginning);
                Default::default()
            });
            count.0.insert(located.series);
            count.1 += usize::from(located.change.change.run == *run);
        }
    }
    let number = |beginning: &Beginning| (counts[beginning].0.len(), counts[beginning].1);
    order.into_iter().rev().max_by_key(number)
}

/// Begins with a run that may have begun most of its changes.
fn event(first: &Beginning, members: Vec<Located>) -> (ChangeEvent, Vec<String>) {
    let begins =
        |run: &String| members.iter().filter(|member| member.may_begin.contains(run)).count();
    let longest = members.iter().map(|member| &member.joins);
    let widest = longest.max_by_key(|runs| runs.len()).cloned();
    let may_begin = widest.unwrap_or_default().into_iter();
    let of_first = members.iter().find(|member| member.change.change.run == first.run);
    let Located { change, next, .. } = of_first.unwrap_or(&members[0]);
    let next = next.clone();
    let event = ChangeEvent {
        id: String::new(),
        run: change.change.run.clone(),
        started: change.change.started.clone(),
        before: change.before.clone(),
        may_begin: may_begin.filter(|run| 10 * begins(run) >= 7 * members.len()).collect(),
        machine: first.machine.clone(),
        name: change.name.clone(),
        worse: first.worse,
        differ_in: vec![],
        commits: None,
        triage: Triage::default(),
        changes: members.into_iter().map(|member| member.change).collect(),
    };
    (event, next)
}

/// Gives events the identifiers under which they are known: by runs that may have begun them, else by the next ones, which were the first
/// before others were stored late. Each identifier goes to one event, that with most changes.
fn keep_identifiers(events: &mut [(ChangeEvent, Vec<String>)], known: &KnownEvents) {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut left: Vec<&mut (ChangeEvent, Vec<String>)> = events.iter_mut().collect();
    left.sort_by_key(|(event, _)| Reverse(event.changes.len()));
    let first = |event: &ChangeEvent| [slice::from_ref(&event.run), &event.may_begin].concat();
    // whether there is none
    let keep = |event: &mut ChangeEvent, free: Option<&KnownEvent>| {
        if let Some(known) = free {
            event.id.clone_from(&known.id);
        }
        free.is_none()
    };
    left.retain_mut(|(event, _)| {
        let mut by_first = identifiers(event, &first(event)).filter_map(|id| known.get(&id));
        let free = by_first.find(|known| taken.insert(known.id.clone()));
        keep(event, free)
    });
    left.retain_mut(|(event, next)| {
        let shares = |known: &&KnownEvent| {
            let mut benchmarks = event.benchmarks();
            known.benchmarks.is_empty() || benchmarks.any(|id| known.benchmarks.contains(&id))
        };
        let by_next = identifiers(event, next).filter_map(|id| known.get(&id));
        let free = by_next.filter(shares).find(|known| taken.insert(known.id.clone()));
        keep(event, free)
    });
    for (event, next) in left {
        let unknown = [&first(event)[..], next].concat();
        let mut unknown = identifiers(event, &unknown).filter(|id| !known.contains_key(id));
        if let Some(id) = unknown.find(|id| taken.insert(id.clone())) {
            event.id = id;
        }
    }
}

/// Those that an event has by these runs.
fn identifiers(event: &ChangeEvent, runs: &[String]) -> std::vec::IntoIter<String> {
    let suffix = EVENT_SUFFIXES[usize::from(!event.worse)];
    let ids: Vec<String> = runs.iter().map(|run| format!("{run}{suffix}")).collect();
    ids.into_iter()
}

fn changes_in((index, view): (usize, &HistoryView)) -> impl Iterator<Item = Located> {
    let of_series = move |(position, series): (usize, &HistorySeries)| {
        let located = |change: &_| change_of_series(view, [index, position], change);
        series.changes.iter().map(located).collect::<Vec<_>>()
    };
    view.series.iter().enumerate().flat_map(of_series)
}

fn change_of_series(view: &HistoryView, place: [usize; 2], change: &HistoryChange) -> Located {
    let series = &view.series[place[1]];
    let before = series.points[..change.at].iter().rev();
    let before = before.clone().find(|point| point.value.is_some());
    let starts = || series.changes.iter().map(|change| change.at);
    let start = starts().filter(|start| *start < change.at).max().unwrap_or(0);
    let end = starts().filter(|end| *end > change.at).min();
    let end = end.unwrap_or(series.points.len());
    let [first, last] = change.between;
    let runs = |first: usize, last: usize| {
        let points = series.points.iter().take(last + 1).skip(first);
        points.map(|point| point.run.clone()).collect()
    };
    Located {
        series: place,
        may_begin: runs(first, last),
        joins: runs(first.saturating_sub(MARGIN_RUNS), last + MARGIN_RUNS),
        next: runs(change.at + 1, (change.at + MAX_LATE_RUNS).min(end - 1)),
        change: Change {
            benchmark: view.id.clone(),
            title: view.title.clone(),
            machine: series.machine.clone(),
            name: series.name.clone(),
            kernel: kernel(series, change.at),
            before: before.map(|point| point.run.clone()),
            unit: series.unit.clone(),
            better: view.better,
            value_before: level(&series.points[start..change.at]),
            value_since: level(&series.points[change.at..end]),
            change: change.clone(),
        },
    }
}

/// Linux release of a run: that before the next mark, if there is one.
fn kernel(series: &HistorySeries, at: usize) -> String {
    let later = series.marks.iter().filter(|mark| mark.at > at);
    let mut differences = later.flat_map(|mark| &mark.differ_in);
    let next = differences.find(|difference| difference.what == KERNEL);
    next.map_or_else(|| series.kernel.clone(), |next| next.base.clone())
}

/// Median of the values that count.
fn level(points: &[HistoryPoint]) -> Option<f64> {
    median(points.iter().filter_map(|point| point.value))
}
