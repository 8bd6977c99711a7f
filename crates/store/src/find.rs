//! Looks runs up: all of them, those of a machine, the newest that have a benchmark.

use crate::error::{Fault, ResolveError, StoreError};
use crate::head::Kind;
use crate::name::Named;
use crate::read::query;
use crate::{LaunchCounts, RunHead, Store, name, read, rows, sql};
use gritstone_model::{FleetMember, Id, Origin, RunInfo};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};

impl Store {
    /// The heads of all runs, newest last.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn runs(&self) -> Result<Vec<RunHead>, StoreError> {
        self.at(heads(&self.connection))
    }

    /// The runs of nodes of fleets, newest first: identifier, start, whether it has ended, and the node.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn members(&self) -> Result<Vec<Member>, StoreError> {
        let search = || -> Result<Vec<Member>, Fault> {
            let snapshot = self.connection.unchecked_transaction()?;
            complete(&snapshot)?;
            type Row = (String, String, String, Option<f64>);
            let rows: Vec<Row> = query(&snapshot, sql::SELECT_FLEETS, [])?;
            let member = |(run, started, settings, elapsed_s): Row| {
                Some(Member {
                    run,
                    started,
                    ended: elapsed_s.is_some(),
                    member: rows::member(&settings)?,
                })
            };
            Ok(rows.into_iter().filter_map(member).collect())
        };
        self.at(search())
    }

    /// The identifiers of the runs of a machine that began no later than the second of `started` and are wanted, newest first, `most`
    /// at most. A run whose head cannot be read is wanted: [`Store::load`] says what is wrong with it.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn runs_of(
        &self,
        machine: &str,
        started: &str,
        most: usize,
        wanted: &dyn Fn(&RunInfo) -> bool,
    ) -> Result<Vec<String>, StoreError> {
        let second = started.get(..19).unwrap_or(started);
        let search = || -> Result<Vec<String>, Fault> {
            let snapshot = self.connection.unchecked_transaction()?;
            complete(&snapshot)?;
            let mut statement = snapshot.prepare_cached(sql::SELECT_RUNS_OF)?;
            let mut runs = statement.query([machine, second])?;
            let mut found = vec![];
            while found.len() < most
                && let Some(row) = runs.next()?
            {
                let (id, run): (String, i64) = row.try_into()?;
                if read::unsealed(&snapshot, &id, run).map_or(true, |info| wanted(&info)) {
                    found.push(id);
                }
            }
            Ok(found)
        };
        self.at(search())
    }

    /// The newest runs that are wanted and have any of these benchmarks, `most` at most for each, oldest first; each with the
    /// benchmarks that it is among the newest for: what many histories are made of. Sides of a trial are not among them. To want every
    /// run reads the head of none.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn newest(
        &self,
        benchmarks: &[Id],
        most: usize,
        wanted: Option<&dyn Fn(&RunInfo) -> bool>,
    ) -> Result<Vec<(String, Vec<Id>)>, StoreError> {
        let search = || -> Result<Vec<(String, Vec<Id>)>, Fault> {
            let snapshot = self.connection.unchecked_transaction()?;
            complete(&snapshot)?;
            let mut judged: BTreeMap<i64, bool> = BTreeMap::new();
            let mut runs: BTreeMap<(String, i64), (String, Vec<Id>)> = BTreeMap::new();
            for benchmark in benchmarks {
                let mut statement = snapshot.prepare_cached(sql::SELECT_RUNS_WITH)?;
                let mut having = statement.query([benchmark.as_str()])?;
                let mut found = 0;
                while found < most
                    && let Some(row) = having.next()?
                {
                    // what sets the side of a trial apart is in nothing that runs are told apart by
                    if rows::kind(row.get_ref(3)?.as_str().unwrap_or_default()) == Kind::Ab {
                        continue;
                    }
                    let (id, run, second): (String, i64, String) =
                        (row.get(0)?, row.get(1)?, row.get(2)?);
                    if let Some(wanted) = wanted {
                        let judged = match judged.get(&run) {
                            Some(known) => *known,
                            None => {
                                let is = wanted(&read::unsealed(&snapshot, &id, run)?);
                                *judged.entry(run).or_insert(is)
                            }
                        };
                        if !judged {
                            continue;
                        }
                    }
                    found += 1;
                    let (_, of) = runs.entry((second, run)).or_insert((id, vec![]));
                    of.push(benchmark.clone());
                }
            }
            Ok(runs.into_values().collect())
        };
        self.at(search())
    }

    /// What changes with every run that begins, ends, is labeled or removed.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn revision(&self) -> Result<String, StoreError> {
        let last = query(&self.connection, sql::LAST_ENTRY, []).map_err(Fault::from);
        let last: Vec<(i64, String)> = self.at(last)?;
        Ok(last.into_iter().next().map_or(String::new(), |(_, s)| s))
    }

    /// The benchmarks that have results, as far as these were computed.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn measured(&self) -> Result<Vec<Id>, StoreError> {
        let ids = query(&self.connection, sql::SELECT_MEASURED, []).map_err(Fault::from);
        let ids: Vec<(String,)> = self.at(ids)?;
        Ok(ids.iter().filter_map(|(id,)| Id::parse(id).ok()).collect())
    }

    /// The runs that have a text, whatever its letters' size, in what is recorded of them: identifier, start, facts of the system,
    /// benchmarks, compilers and flags.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn mentioning(&self, text: &str) -> Result<BTreeSet<String>, StoreError> {
        let mut pattern = String::from("%");
        for c in text.to_lowercase().chars() {
            if matches!(c, '%' | '_' | '!') {
                pattern.push('!');
            }
            pattern.push(c);
        }
        pattern.push('%');
        let ids = query(&self.connection, sql::SELECT_MENTIONING, [pattern]);
        let ids: Vec<(String,)> = self.at(ids.map_err(Fault::from))?;
        Ok(ids.into_iter().map(|(id,)| id).collect())
    }

    /// The run that `name` stands for: `last`, `last~2`, an identifier, a label (the newest run that has it), or a part of one
    /// identifier, in this order. `last` is the newest run of the machine `here` that has results: no side of a trial, no run of an A/A
    /// test, and none that comes from elsewhere.
    ///
    /// # Errors
    /// [`ResolveError`] says why it is none, with the nearest name or all candidates.
    pub fn resolve(
        &self,
        name: &str,
        here: impl FnOnce() -> String,
    ) -> Result<Named, ResolveError> {
        // a whole identifier is found however damaged the rest is
        if self.at(exists(&self.connection, name))? {
            return Ok(Named::alone(name));
        }
        let names = || -> Result<Vec<(String, Option<String>)>, Fault> {
            let snapshot = self.connection.unchecked_transaction()?;
            complete(&snapshot)?;
            Ok(query(&snapshot, sql::SELECT_NAMES, [])?)
        };
        let names = self.at(names())?;
        match name::back(name) {
            Some(back) => {
                let own = self.at(self.own(&here()))?;
                name::last(name, back, &own, &names)
            }
            None => name::pick(name, &names),
        }
    }

    /// The runs that `last` counts, newest first.
    fn own(&self, here: &str) -> Result<Vec<String>, Fault> {
        let runs: Vec<(String, String)> = query(&self.connection, sql::SELECT_HERE, [here])?;
        let ordinary = runs
            .into_iter()
            .filter(|(_, settings)| rows::kind(settings) == Kind::Run);
        Ok(ordinary.map(|(id, _)| id).collect())
    }
}

/// A run of a node of a fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Identifier of the run.
    pub run: String,
    /// Its start, RFC 3339, UTC.
    pub started: String,
    /// Whether it was measured to its end.
    pub ended: bool,
    /// The fleet and the node.
    pub member: FleetMember,
}

/// A run, without what it measured.
pub(crate) struct Found {
    pub(crate) number: i64,
    pub(crate) origin: Origin,
    /// Of its head.
    pub(crate) seal: String,
    pub(crate) ended: bool,
}

/// The run of an identifier.
pub(crate) fn run(connection: &Connection, id: &str) -> Result<Found, Fault> {
    let found = query(connection, sql::FIND_RUN, [id])?.pop();
    let Some((number, origin, uid, machine, seal, ended)) = found else {
        return Err(StoreError::NoSuchRun(id.into()).into());
    };
    Ok(Found {
        number,
        origin: self::origin(origin, uid, machine)?,
        seal,
        ended,
    })
}

/// Whether there is a run of that identifier.
pub(crate) fn exists(connection: &Connection, id: &str) -> Result<bool, Fault> {
    match run(connection, id) {
        Ok(_) => Ok(true),
        Err(Fault::Whole(StoreError::NoSuchRun(_))) => Ok(false),
        Err(fault) => Err(fault),
    }
}

/// What is none is damage, as any value of another type.
fn origin(word: String, uid: Option<u32>, machine: Option<String>) -> rusqlite::Result<Origin> {
    rows::read_origin(&word, uid, machine).map_err(|_| rusqlite::Error::InvalidQuery)
}

/// That no run and no end is gone, as the ledger counts them: who reads many runs would not miss one.
pub(crate) fn complete(connection: &Connection) -> Result<(), Fault> {
    let counts: Vec<(i64, i64)> = query(connection, sql::SELECT_COUNTS, [])?;
    let (rows, entries) = counts[0];
    if rows == entries {
        return Ok(());
    }
    let lost_run = query::<(i64,)>(connection, sql::SELECT_LOST_RUNS, [])?;
    let lost_end = query::<(String,)>(connection, sql::SELECT_LOST_ENDS, [])?;
    Err(Fault::Damaged(match (lost_run.first(), lost_end.first()) {
        (Some((number,)), _) => format!("run number {number} is missing"),
        (_, Some((id,))) => format!("the end of run {id} is missing"),
        _ => format!("its ledger has {entries} entries for {rows} starts and ends of runs"),
    }))
}

fn heads(connection: &Connection) -> Result<Vec<RunHead>, Fault> {
    let snapshot = connection.unchecked_transaction()?;
    complete(&snapshot)?;
    let mut statement = connection.prepare_cached(sql::SELECT_HEADS)?;
    let heads = statement.query_map([], |row| {
        let count = |column: usize| row.get::<_, i64>(column).map(|count| count.max(0) as u64);
        let (launches, skipped) = (count(8)?, count(9)?);
        let (failed, timed_out) = (count(10)?, count(11)?);
        let origin = origin(row.get(12)?, row.get(13)?, row.get(14)?)?;
        Ok(RunHead {
            id: row.get(0)?,
            label: row.get(1)?,
            started: row.get(2)?,
            elapsed_s: row.get(3)?,
            gritstone: row.get(4)?,
            machine_id: row.get(5)?,
            machine: row.get(6)?,
            system: row.get(7)?,
            launches: LaunchCounts {
                measured: launches.saturating_sub(skipped + failed + timed_out),
                skipped,
                failed,
                timed_out,
            },
            kind: match origin {
                Origin::Imported => Kind::Import,
                Origin::Here(_) => rows::kind(row.get_ref(15)?.as_str().unwrap_or_default()),
            },
            benchmarks: count(16)?,
            origin,
        })
    })?;
    Ok(heads.collect::<Result<_, _>>()?)
}
