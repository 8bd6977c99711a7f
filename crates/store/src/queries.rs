//! Queries of runs: all, by machine, by benchmark, by text.

use crate::engine::{Engine, FromRow, IndexedTable, Row, column, last_entry, query, snapshot};
use crate::error::{Fault, ResolveError, StoreError};
use crate::ledger::{Entry, all_found, complete, exists, origin};
use crate::row_codec::row;
use crate::run_head::Kind;
use crate::run_name::{LocalRuns, Named};
use crate::{RunHead, Store, change_log, read, row_codec, run_name, sql};
use gritstone_model::{FleetMember, Id, Origin, RunInfo};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

impl Store {
    /// The heads of all runs, newest last.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn runs(&self) -> Result<Vec<RunHead>, StoreError> {
        let mut runs = self.newest_runs(None, usize::MAX)?;
        runs.reverse();
        Ok(runs)
    }

    /// The heads of the newest runs of one machine or of all, newest first, at most `max`.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn newest_runs(
        &self,
        machine: Option<&str>,
        max: usize,
    ) -> Result<Vec<RunHead>, StoreError> {
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        self.at(snapshot(self.engine(), |engine| {
            complete(engine)?;
            engine.check_indices(&[IndexedTable::Benchmark])?;
            let rows = match machine {
                None => {
                    let rows = engine.all(sql::SELECT_HEADS, row![max])?;
                    all_found(engine, rows.len() as u64, max, "time")?;
                    rows
                }
                Some(machine) => engine.all(sql::SELECT_HEADS_OF, row![machine.to_owned(), max])?,
            };
            rows.iter().map(|row| head(engine, row)).collect()
        }))
    }

    /// The head of a run.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], and I/O errors of the store.
    pub fn head(&self, run_id: &str) -> Result<RunHead, StoreError> {
        self.at(snapshot(self.engine(), |engine| {
            let row = engine.all(sql::SELECT_HEAD, row![run_id.to_owned()])?.pop();
            head(engine, &row.ok_or_else(|| StoreError::NoSuchRun(run_id.into()))?)
        }))
    }

    /// The newest run of each system with the number of its runs, newest first.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn systems(&self) -> Result<Vec<(RunHead, u64)>, StoreError> {
        self.at(snapshot(self.engine(), |engine| {
            complete(engine)?;
            engine.check_indices(&[IndexedTable::Benchmark])?;
            let rows = engine.all(sql::SELECT_SYSTEMS, vec![])?;
            let system = |row: &Row| -> Result<_, Fault> {
                Ok((head(engine, row)?, column::<i64>(row, 15)?.unsigned_abs()))
            };
            let systems = rows.iter().map(system).collect::<Result<Vec<_>, _>>()?;
            let found: u64 = systems.iter().map(|(_, runs)| runs).sum();
            all_found(engine, found, i64::MAX, "machine")?;
            Ok(systems)
        }))
    }

    /// Number of runs.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn count(&self) -> Result<usize, StoreError> {
        let counted = query::<(i64,)>(self.engine(), sql::COUNT_RUNS, vec![]);
        Ok(self.at(counted)?[0].0.unsigned_abs() as usize)
    }

    /// Runs of fleet nodes, newest first.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn members(&self) -> Result<Vec<Member>, StoreError> {
        self.at(snapshot(self.engine(), |engine| {
            complete(engine)?;
            type FleetRow = (String, String, String, Option<f64>);
            let rows: Vec<FleetRow> = query(engine, sql::SELECT_FLEETS, vec![])?;
            let member = |(run, started, settings, elapsed_s): FleetRow| {
                Some(Member {
                    run,
                    started,
                    ended: elapsed_s.is_some(),
                    member: row_codec::member(&settings)?,
                })
            };
            Ok(rows.into_iter().filter_map(member).collect())
        }))
    }

    /// Identifiers of at most `max` wanted runs of a machine that began no later than the second of `started`, newest
    /// first. A run with an unreadable head counts as wanted: [`Store::load`] reports what is wrong.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn runs_of(
        &self,
        machine: &str,
        started: &str,
        max: usize,
        wanted: &dyn Fn(&RunInfo) -> bool,
    ) -> Result<Vec<String>, StoreError> {
        let second = started.get(..19).unwrap_or(started);
        self.at(snapshot(self.engine(), |engine| {
            complete(engine)?;
            let mut found = vec![];
            let mut numbers = BTreeSet::new();
            let parameters = row![machine.to_owned(), second.to_owned()];
            engine.each(sql::SELECT_RUNS_OF, parameters, &mut |row| {
                if found.len() == max {
                    return Ok(ControlFlow::Break(()));
                }
                let (id, run): (String, i64) = (column(&row, 0)?, column(&row, 1)?);
                // by an index that names it more than once
                if !numbers.insert(run) {
                    return Err(Fault::Damaged(format!("run {id} is found twice")));
                }
                if read::unsealed(engine, &id, run).map_or(true, |info| wanted(&info)) {
                    found.push(id);
                }
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(found)
        }))
    }

    /// Identifiers of the wanted runs of a machine that are among the newest `max` of these with one of the benchmarks. A run with an
    /// unreadable head counts as wanted.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn runs_with(
        &self,
        machine: &str,
        benchmarks: &[Id],
        max: usize,
        wanted: &dyn Fn(&RunInfo) -> bool,
    ) -> Result<BTreeSet<String>, StoreError> {
        self.at(snapshot(self.engine(), |engine| {
            complete(engine)?;
            engine.check_indices(&[IndexedTable::Benchmark, IndexedTable::CachedResult])?;
            let mut runs = BTreeSet::new();
            let mut known: BTreeMap<i64, bool> = BTreeMap::new();
            for benchmark in benchmarks {
                let mut count = 0;
                let parameters = row![benchmark.to_string()];
                engine.each(sql::SELECT_RUNS_WITH, parameters, &mut |row| {
                    let (id, number, of): (String, i64, String) = FromRow::from_row(&row)?;
                    let is_wanted =
                        || read::unsealed(engine, &id, number).map_or(true, |info| wanted(&info));
                    if of == machine && *known.entry(number).or_insert_with(is_wanted) {
                        runs.insert(id);
                        count += 1;
                    }
                    Ok(match count < max {
                        true => ControlFlow::Continue(()),
                        false => ControlFlow::Break(()),
                    })
                })?;
            }
            Ok(runs)
        }))
    }

    /// For each benchmark the newest runs of each machine that have it, at most `max` of one, of commits on a branch if it is given,
    /// oldest first, for histories. Sides of trials are left out, since they differ in settings that histories do not distinguish.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn newest(
        &self,
        benchmarks: &[Id],
        max: usize,
        branch: Option<&str>,
    ) -> Result<Vec<Vec<String>>, StoreError> {
        self.at(snapshot(self.engine(), |engine| {
            complete(engine)?;
            engine.check_indices(&[IndexedTable::Benchmark, IndexedTable::CachedResult])?;
            let machines = Machines::all(engine, branch)?;
            let newest = |benchmark: &Id| {
                let parameters = row![benchmark.to_string()];
                machines.newest(engine, sql::SELECT_RUNS_WITH, parameters, max)
            };
            benchmarks.iter().map(newest).collect()
        }))
    }

    /// The newest runs of each of these machines, as [`Store::newest`] has those of a benchmark.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn newest_of(
        &self,
        machines: &BTreeSet<String>,
        max: usize,
        branch: Option<&str>,
    ) -> Result<Vec<String>, StoreError> {
        self.at(snapshot(self.engine(), |engine| {
            complete(engine)?;
            engine.check_indices(&[IndexedTable::Run])?;
            let machines = Machines { names: Some(machines), ..Machines::all(engine, branch)? };
            machines.newest(engine, sql::SELECT_RUNS, vec![], max)
        }))
    }

    /// Changes with every run that begins, ends, is labeled or removed.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn revision(&self) -> Result<String, StoreError> {
        let last = self.at(last_entry(self.engine()))?;
        Ok(last.map_or(String::new(), |(_, seal)| seal))
    }

    /// Changes with runs, labels, launches and triage entries, so with all that pages show of runs; not with cached results.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn shown_revision(&self) -> Result<String, StoreError> {
        self.at(snapshot(self.engine(), |engine| {
            let (_, seal) = last_entry(engine)?.unwrap_or_default();
            let launches = engine.last_launch()?;
            let entry = change_log::next(engine)?;
            Ok(format!("{seal} {launches} {entry}"))
        }))
    }

    /// All benchmarks of all runs, and whether a run that is no side of a trial has them.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn benchmarks(&self) -> Result<Vec<(Id, bool)>, StoreError> {
        let rows: Vec<(String, i64)> = self.at(snapshot(self.engine(), |engine| {
            complete(engine)?;
            engine.check_indices(&[IndexedTable::Benchmark, IndexedTable::CachedResult])?;
            query(engine, sql::SELECT_ALL_BENCHMARKS, vec![])
        }))?;
        let rows = rows.into_iter();
        let read = |(id, has_history): (String, i64)| Some((Id::parse(&id).ok()?, has_history > 0));
        Ok(rows.filter_map(read).collect())
    }

    /// Titles of the wanted benchmarks, by the entries that were stored last.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn titles(&self, wanted: &dyn Fn(&Id) -> bool) -> Result<BTreeMap<Id, String>, StoreError> {
        #[derive(Deserialize)]
        struct Entry {
            title: String,
        }
        let rows = query(self.engine(), sql::SELECT_LAST_ENTRIES, vec![]);
        let rows: Vec<(String, String)> = self.at(rows)?;
        let read = |(id, entry): (String, String)| {
            let id = Id::parse(&id).ok().filter(wanted)?;
            let Entry { title } = serde_json::from_str(&entry).ok()?;
            Some((id, title))
        };
        Ok(rows.into_iter().filter_map(read).collect())
    }

    /// Benchmarks of at least two runs: no others can have changed.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn recurring(&self) -> Result<Vec<Id>, StoreError> {
        let ids: Vec<(String,)> = self.at(snapshot(self.engine(), |engine| {
            engine.check_indices(&[IndexedTable::Benchmark, IndexedTable::CachedResult])?;
            query(engine, sql::SELECT_RECURRING, vec![])
        }))?;
        Ok(ids.iter().filter_map(|(id,)| Id::parse(id).ok()).collect())
    }

    /// Identifiers of the runs that contain a text, ignoring case, in label, identifier, start, version, name of
    /// machine or system (with the kernel), benchmarks, compilers, flags, or the facts of the newest run of their
    /// machine; newest first.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn mentioning(&self, text: &str) -> Result<Vec<String>, StoreError> {
        let mut pattern = String::from("%");
        for c in text.chars() {
            if matches!(c, '%' | '_' | '!') {
                pattern.push('!');
            }
            pattern.push(c);
        }
        pattern.push('%');
        let ids = query(self.engine(), sql::SELECT_MENTIONING, row![pattern]);
        let ids: Vec<(String,)> = self.at(ids)?;
        Ok(ids.into_iter().map(|(id,)| id).collect())
    }

    /// Resolves a name, in this order: `last`, `last~2`, an identifier, a label (its newest run), part of one
    /// identifier. `last` is the newest run of machine `here` with results: no side of a trial or A/A test, and none that starts later than
    /// now as long as there is another.
    ///
    /// # Errors
    /// [`ResolveError`] has the reason, with the nearest name or all candidates.
    pub fn resolve(
        &self,
        name: &str,
        here: impl FnOnce() -> ThisMachine,
    ) -> Result<Named, ResolveError> {
        // a whole identifier is found whatever else is damaged
        if self.at(exists(self.engine(), name))? {
            return Ok(Named::alone(name));
        }
        let names: Vec<(String, Option<String>)> = self.at(snapshot(self.engine(), |engine| {
            complete(engine)?;
            query(engine, sql::SELECT_NAMES, vec![])
        }))?;
        match run_name::back(name) {
            Some(back) => {
                let local = self.at(self.local_runs(here()))?;
                run_name::last(name, back, &local, &names)
            }
            None => run_name::pick(name, &names),
        }
    }

    /// The runs of this machine, newest first.
    fn local_runs(&self, machine: ThisMachine) -> Result<LocalRuns, Fault> {
        let row = row![machine.owner, machine.id];
        let mut runs: Vec<(String, String, String)> = query(self.engine(), sql::SELECT_HERE, row)?;
        runs.sort_by_key(|(_, _, started)| *started > machine.now);
        let (runs, trials): (Vec<_>, Vec<_>) =
            runs.into_iter().partition(|(_, settings, _)| row_codec::kind(settings) == Kind::Run);
        Ok(LocalRuns {
            runs: runs.into_iter().map(|(id, ..)| id).collect(),
            trial: trials.into_iter().next().map(|(id, ..)| id),
        })
    }
}

/// Runs of all machines in a history, unless each has no more than [`MIN_RUNS_OF_MACHINE`].
const MAX_RUNS: usize = 4000;
/// In a history, however many machines there are.
const MIN_RUNS_OF_MACHINE: usize = 20;

struct Machines<'a> {
    /// None: all of them.
    names: Option<&'a BTreeSet<String>>,
    count: usize,
    /// Numbers of runs that are sides of trials, or of other branches.
    left_out: BTreeSet<i64>,
}

impl Machines<'_> {
    fn all(engine: &dyn Engine, branch: Option<&str>) -> Result<Self, Fault> {
        let sides: Vec<(i64,)> = query(engine, sql::SELECT_SIDES, vec![])?;
        let mut left_out: BTreeSet<i64> = sides.into_iter().map(|(number,)| number).collect();
        if let Some(branch) = branch {
            let runs: Vec<(i64, String)> = query(engine, sql::SELECT_ALL_SETTINGS, vec![])?;
            let others = runs.iter().filter(|(_, settings)| !row_codec::is_on(settings, branch));
            left_out.extend(others.map(|(number, _)| *number));
        }
        let count = query::<(i64,)>(engine, sql::COUNT_MACHINES, vec![])?[0].0;
        Ok(Self { names: None, count: count.unsigned_abs() as usize, left_out })
    }

    /// Their newest runs of those that a statement selects.
    fn newest(
        &self,
        engine: &dyn Engine,
        statement: &'static str,
        parameters: Row,
        max: usize,
    ) -> Result<Vec<String>, Fault> {
        let count = self.names.map_or(self.count, BTreeSet::len);
        let mut newest = NewestRuns::new(max, count);
        engine.each(statement, parameters, &mut |row| {
            let (id, number, machine): (String, i64, String) = FromRow::from_row(&row)?;
            let is_named = self.names.is_none_or(|names| names.contains(&machine));
            Ok(match is_named && !self.left_out.contains(&number) {
                true => newest.add(id, machine),
                false => ControlFlow::Continue(()),
            })
        })?;
        Ok(newest.oldest_first())
    }
}

/// Collects the newest runs of each machine.
struct NewestRuns {
    max: usize,
    /// Machines of the store, and those with enough runs.
    machines: usize,
    full: usize,
    runs: Vec<(String, String)>,
    count: BTreeMap<String, usize>,
}

impl NewestRuns {
    fn new(max: usize, machines: usize) -> Self {
        Self { max, machines, full: 0, runs: vec![], count: BTreeMap::new() }
    }

    /// Adds the next older run.
    fn add(&mut self, id: String, machine: String) -> ControlFlow<()> {
        let count = self.count.entry(machine.clone()).or_default();
        if *count < self.max {
            *count += 1;
            self.full += usize::from(*count == self.max);
            self.runs.push((id, machine));
        }
        match self.full >= self.machines {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// The runs, the same number of each machine if there are many.
    fn oldest_first(self) -> Vec<String> {
        let share = (MAX_RUNS / self.count.len().max(1)).max(MIN_RUNS_OF_MACHINE);
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        let is_all = self.runs.len() <= MAX_RUNS;
        let newest = self.runs.into_iter().filter(|(_, machine)| {
            let count = count.entry(machine.clone()).or_default();
            *count += 1;
            is_all || *count <= share
        });
        let mut newest: Vec<String> = newest.map(|(id, _)| id).collect();
        newest.reverse();
        newest
    }
}

/// This machine, as it is known in stores.
#[derive(Clone, Debug)]
pub struct ThisMachine {
    /// Owner of the runs that it measured.
    pub owner: String,
    /// Its identifier in bundles, for imported runs.
    pub id: String,
    /// Its time, RFC 3339, UTC, whole seconds.
    pub now: String,
}

/// A run of a fleet node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub run: String,
    /// RFC 3339, UTC.
    pub started: String,
    pub ended: bool,
    pub member: FleetMember,
}

/// The number of benchmarks of a run: positions have no gap, and only a run with its seal has none.
fn benchmarks(engine: &dyn Engine, id: &str, row: &Row) -> Result<u64, Fault> {
    let (count, end): (i64, i64) = (column(row, 12)?, column(row, 14)?);
    if count != end {
        let what = format!("run {id} has {end} benchmarks, of which {count} are found");
        return Err(Fault::Damaged(what));
    }
    if count == 0 {
        read::check_head(engine, id)?;
    }
    Ok(count.unsigned_abs())
}

fn head(engine: &dyn Engine, row: &Row) -> Result<RunHead, Fault> {
    let origin = origin(column(row, 8)?, column(row, 9)?, column(row, 10)?)?;
    let settings: String = column(row, 11)?;
    let id: String = column(row, 0)?;
    Ok(RunHead {
        benchmarks: benchmarks(engine, &id, row)?,
        id,
        label: column(row, 1)?,
        started: column(row, 2)?,
        elapsed_s: column(row, 3)?,
        gritstone: column(row, 4)?,
        machine_id: column(row, 5)?,
        machine: column(row, 6)?,
        system: column(row, 7)?,
        kind: match (row_codec::kind(&settings), &origin) {
            (Kind::Run, Origin::Imported) => Kind::Import,
            (kind, _) => kind,
        },
        side: row_codec::side(&settings),
        suite: row_codec::suite(&settings),
        pruned: column::<Option<String>>(row, 13)?
            .map(|entry| Entry::parse(&entry))
            .transpose()?
            .map(|entry| entry.time),
        origin,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_share_a_history() {
        let newest = |machines: usize, runs: usize| {
            let mut newest = NewestRuns::new(400, machines);
            for run in 0..runs {
                for machine in 0..machines {
                    let _ = newest.add(format!("{machine} {run}"), machine.to_string());
                }
            }
            newest.oldest_first()
        };
        assert_eq!(newest(1, 1000).len(), 400);
        assert_eq!(newest(100, 10).len(), 1000);
        let many = newest(100, 100);
        assert_eq!(many.len(), MAX_RUNS);
        assert_eq!(many[0], "99 39");
        assert_eq!(newest(1000, 30).len(), 1000 * MIN_RUNS_OF_MACHINE);
    }
}
