//! What the gate compares a run with: stored runs before it, or one other run.

use crate::brief::check_different;
use crate::context::{Context, this_machine};
use crate::earlier_runs::MAX_RUNS;
use crate::uncached::{Uncached, or_warning};
use anyhow::Result;
use gritstone_analysis::check::{self, Accepted, ExpectedChange};
use gritstone_analysis::comparability::ComparisonKey;
use gritstone_analysis::run_summary::RunSummary;
use gritstone_model::{CheckView, Finding, Id, RunInfo, RunView, SameFact, Selector};
use gritstone_store::{RunHead, Store};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// Which earlier runs of the machine a run is compared with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    /// Only those whose label matches.
    pub label: Option<&'a str>,
    /// Only those of commits on this branch.
    pub branch: Option<&'a str>,
    /// Only those that share these facts with the run.
    pub same: &'a [SameFact],
}

/// Checks a run, stored or not, against the comparable stored runs before it.
///
/// # Errors
/// When the store cannot be read.
pub fn against_history(
    context: &Context,
    run: &RunView,
    filter: &Filter,
    max_slowdown: f64,
) -> Result<CheckView> {
    let store = context.reader()?;
    let (past, why_none) = match &store {
        Some(store) => earlier(context, store, run, filter, MAX_RUNS)?,
        None => (vec![], None),
    };
    let accepted = match &store {
        Some(store) => Accepted {
            by_name: store.accepted()?.into_iter().collect(),
            by_event: expected(store, &run.machine.id)?,
        },
        None => Accepted::default(),
    };
    let mut view = check::against_history(run, &past, max_slowdown, &accepted);
    for row in &mut view.rows {
        let notes = row.row.notes.iter_mut();
        let of_none = notes.filter(|note| note.finding == Finding::NoHistory {});
        if let Some(why) = &why_none {
            of_none.for_each(|note| note.finding = why.clone());
        }
        if let Some(began) = &row.since_run {
            let info = store.as_ref().and_then(|store| store.info(began).ok());
            let settings = match *began == run.id {
                true => run.settings.as_ref(),
                false => info.as_ref().map(|info| &info.settings),
            };
            let commit = settings.and_then(|settings| settings.commit.as_ref());
            row.since_commit = commit.map(|commit| commit.id.clone());
        }
    }
    Ok(view)
}

/// The expected changes of a machine; a run that the store lacks is on none.
fn expected(store: &Store, machine: &str) -> Result<Vec<ExpectedChange>> {
    let mut starts: BTreeMap<String, Option<String>> = BTreeMap::new();
    let start = |run: &str| {
        let info = store.info(run).ok().filter(|info| info.machine.id == machine)?;
        Some(info.started)
    };
    let changes = store.expected()?.into_iter().filter_map(|(run, benchmark)| {
        let started = starts.entry(run.clone()).or_insert_with(|| start(&run)).clone()?;
        Some(ExpectedChange { run, started, benchmark })
    });
    Ok(changes.collect())
}

/// Its newest comparable runs, and the newest ones of each benchmark that these seldom have, oldest first; why there is none.
fn earlier(
    context: &Context,
    store: &Store,
    run: &RunView,
    filter: &Filter,
    max: usize,
) -> Result<(Vec<RunSummary>, Option<Finding>)> {
    let uncached = context.compute_missing_results(store)?;
    let circumstances = ComparisonKey::new(&run.machine, run.settings.as_ref());
    let second = |time: &str| time.get(..19).unwrap_or(time).to_owned();
    let (filtered, elsewhere) = (Cell::new(0), Cell::new(0));
    let count = |runs: &Cell<usize>| runs.set(runs.get() + 1);
    let wanted = |info: &RunInfo| {
        let is_earlier = info.id != run.id && second(&info.started) <= second(&run.started);
        if !is_earlier || info.settings.trial.is_some() {
            return false;
        }
        if ComparisonKey::new(&info.machine, Some(&info.settings)) != circumstances {
            count(&elsewhere);
            return false;
        }
        let passes = filter.passes(info);
        if !passes {
            count(&filtered);
        }
        passes
    };
    let machine = &circumstances.machine;
    let newest = store.runs_of(machine, &run.started, max, &wanted)?;
    let mut past = summaries(context, store, &uncached, newest.iter())?;
    if newest.len() == max {
        let runs_with = |id: &Id| past.iter().filter(|past| past.values.contains_key(id)).count();
        let ids = run.results.iter().map(|result| result.id.clone());
        let rare: Vec<Id> = ids.filter(|id| runs_with(id) < max / 2).collect();
        let more = store.runs_with(machine, &rare, max, &wanted)?;
        let newest: BTreeSet<String> = newest.into_iter().collect();
        past.extend(summaries(context, store, &uncached, more.difference(&newest))?);
    }
    let all = past.len();
    RunSummary::restrict(&mut past, &RunSummary::new(run), filter.same);
    past.sort_by(|a, b| (&a.started, &a.run).cmp(&(&b.started, &b.run)));
    let why_none = match (all, filtered.get(), elsewhere.get()) {
        _ if !past.is_empty() => None,
        (1.., ..) => Some(Finding::NoRunPasses { runs: all, filter: filter.same_option() }),
        (0, 1.., _) => {
            Some(Finding::NoRunPasses { runs: filtered.get(), filter: filter.options() })
        }
        (0, 0, 1..) => Some(Finding::OtherCircumstances { runs: elsewhere.get() }),
        (0, 0, 0) => None,
    };
    Ok((past, why_none))
}

fn summaries<'a>(
    context: &Context,
    store: &Store,
    uncached: &Uncached,
    runs: impl Iterator<Item = &'a String>,
) -> Result<Vec<RunSummary>> {
    let runs = uncached.readable(runs.cloned().collect());
    let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
    let read = context.stored_summaries(store, uncached, &runs)?;
    let read = runs.iter().zip(read).map(|(run, past)| or_warning(run, past));
    Ok(read.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

impl Filter<'_> {
    fn passes(&self, info: &RunInfo) -> bool {
        let label = info.label.as_deref();
        let commit = info.settings.commit.as_ref();
        self.label.is_none_or(|pattern| {
            label.is_some_and(|label| Selector::new(pattern).matches_text(label))
        }) && self.branch.is_none_or(|branch| commit.is_some_and(|commit| commit.is_on(branch)))
    }

    /// As on the command line.
    fn options(&self) -> String {
        let label = self.label.map(|label| format!("--base-label {label}"));
        let branch = self.branch.map(|branch| format!("--base-branch {branch}"));
        label.into_iter().chain(branch).collect::<Vec<_>>().join(" ")
    }

    fn same_option(&self) -> String {
        let facts: Vec<&str> = self.same.iter().map(|fact| fact.as_str()).collect();
        format!("--same {}", facts.join(","))
    }
}

/// The run of a name to compare a run with. Of a label it is the newest other run before this one, else the newest other.
///
/// # Errors
/// When nothing else has the name.
pub fn other_run(context: &Context, name: &str, run: &RunView) -> Result<RunView> {
    let store = context.reader()?.filter(|_| context.is_store_name(name));
    if let Some(store) = store {
        let heads = store.runs()?.into_iter();
        let is_other = |head: &RunHead| head.label.as_deref() == Some(name) && head.id != run.id;
        let others: Vec<RunHead> = heads.filter(is_other).collect();
        let mut before = others.iter().filter(|head| head.started <= run.started);
        if let Some(head) = before.next_back().or(others.last()) {
            // an ambiguous name is an error
            store.resolve(name, this_machine)?;
            if others.len() > 1 {
                log::warn!("{} other runs are labeled '{name}': this is {}", others.len(), head.id);
            }
            return context.stored(&store, &head.id);
        }
    }
    let base = context.view(name)?;
    check_different(&base, run)?;
    Ok(base)
}

/// The newest stored run of a machine, if it starts later than now: its clock was wrong.
///
/// # Errors
/// When the store cannot be read.
pub fn later_than_now(context: &Context, machine: &str) -> Result<Option<RunHead>> {
    let Some(store) = context.reader()? else {
        return Ok(None);
    };
    let newest = store.newest_runs(Some(machine), 1)?.pop();
    let now = crate::clock::now();
    Ok(newest.filter(|head| head.started.get(..19) > now.get(..19)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::{Commit, RunData};

    /// Runs an hour apart, of which every fourth has all benchmarks, and the others one.
    fn stored(path: &std::path::Path) -> (Context, Vec<RunData>) {
        let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/run.jsonl");
        let recorded = crate::files::read(fixture.as_ref()).unwrap().run;
        let mut store = Store::open(path).unwrap();
        let runs = (0..20_u32).map(|hour| {
            let mut run = recorded.clone();
            run.info.started = format!("2026-01-01T{hour:02}:00:00Z");
            run.info.id = format!("20260101-{hour:02}0000-000000{hour:02}");
            run.info.label = Some("main".to_owned());
            let commit = Commit::new("0123abc", Some("origin/main"), None).unwrap();
            run.info.settings.commit = Some(commit);
            if hour % 4 != 3 {
                let is_first = |id: &Id| id.as_str() == "byte/syscall";
                run.benchmarks.retain(|benchmark| is_first(&benchmark.id));
                run.launches.retain(|launch| is_first(&launch.id));
                run.programs.retain(|id, _| is_first(id));
                run.skips.clear();
            }
            store.import(&run).unwrap();
            run
        });
        let runs = runs.collect();
        (Context::new(Some(path.to_owned())), runs)
    }

    #[test]
    fn rare_benchmarks_keep_their_history() {
        let folder = tempfile::tempdir().unwrap();
        let (context, runs) = stored(&folder.path().join("store.db"));
        let store = context.reader().unwrap().unwrap();
        let view = context.stored(&store, &runs[19].info.id).unwrap();
        let (past, _) = earlier(&context, &store, &view, &Filter::default(), 4).unwrap();
        let begun: Vec<&str> = past.iter().map(|past| &past.started[11..13]).collect();
        assert_eq!(begun, ["03", "07", "11", "15", "16", "17", "18"]);
    }

    #[test]
    fn empty_filters_name_themselves() {
        let folder = tempfile::tempdir().unwrap();
        let (context, runs) = stored(&folder.path().join("store.db"));
        let mut view = context.view(&runs[19].info.id).unwrap();
        let why = |view: &RunView, filter: &Filter| {
            let store = context.reader().unwrap().unwrap();
            earlier(&context, &store, view, filter, 100).unwrap().1
        };
        let on = |branch| Filter { branch: Some(branch), ..Filter::default() };
        assert_eq!(why(&view, &on("main")), None);
        let none = Finding::NoRunPasses { runs: 19, filter: "--base-branch mian".to_owned() };
        assert_eq!(why(&view, &on("mian")), Some(none));
        view.settings.as_mut().unwrap().dir = "/mnt".to_owned();
        let none = Some(Finding::OtherCircumstances { runs: 19 });
        assert_eq!(why(&view, &Filter::default()), none);
    }

    #[test]
    fn labels_name_another_run() {
        let folder = tempfile::tempdir().unwrap();
        let (context, runs) = stored(&folder.path().join("store.db"));
        let view = |index: usize| context.view(&runs[index].info.id).unwrap();
        let other = |index: usize| other_run(&context, "main", &view(index)).unwrap().id;
        assert_eq!(
            [19, 5, 0].map(other),
            [18, 4, 19].map(|index: usize| runs[index].info.id.clone())
        );
        let itself = other_run(&context, &runs[19].info.id, &view(19)).unwrap_err();
        assert!(itself.to_string().contains("with itself"), "{itself}");
        let mut store = Store::open(&folder.path().join("store.db")).unwrap();
        store.label(&runs[3].info.id, "00000007").unwrap();
        let both = other_run(&context, "00000007", &view(19)).unwrap_err();
        assert!(both.to_string().contains("may be any of"), "{both}");
    }
}
