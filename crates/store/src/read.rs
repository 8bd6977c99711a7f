//! Reads whole runs; compares hashes and counts launches.

use crate::engine::{Engine, Row, Value, query, snapshot};
use crate::error::{Fault, StoreError};
use crate::ledger::{self, Found, relabel, split};
use crate::row_codec::{self, Wrong, row};
use crate::{Resumable, RunHead, Store, result_tables, row_hash, sql};
use gritstone_model::{Origin, Owner, RunData, RunInfo};
use std::ops::ControlFlow;
use std::path::Path;

impl Store {
    /// A run, bit by bit as it was stored.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; [`StoreError::Damaged`] when any of it was changed; [`StoreError::Unreadable`] when
    /// this version does not understand it; [`StoreError::Pruned`] when its launches were pruned.
    pub fn load(&self, run_id: &str) -> Result<RunData, StoreError> {
        let read = |engine: &dyn Engine| load(engine, run_id);
        self.at(snapshot(self.engine(), read))
    }

    /// The head of a run: machine and settings. Fast, since no launch is read.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn info(&self, run_id: &str) -> Result<RunInfo, StoreError> {
        self.at(snapshot(self.engine(), |engine| {
            let run = Run::begin(engine, run_id)?;
            run.readable(row_codec::read_run(&run.head))
        }))
    }

    /// Runs that this user can resume, newest last: begun by this user on this system, and not ended.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn resumable(&self, owner: &Owner) -> Result<Vec<RunHead>, StoreError> {
        let mut runs = self.runs()?;
        let theirs = Origin::Here(owner.clone());
        runs.retain(|run| run.elapsed_s.is_none() && run.origin == theirs);
        Ok(runs)
    }

    /// A run that this user can resume.
    ///
    /// # Errors
    /// [`StoreError::Imported`], [`StoreError::NotYours`] and [`StoreError::Ended`]; else as [`Store::load`].
    pub fn resume(&self, run_id: &str, owner: &Owner) -> Result<Resumable, StoreError> {
        let found = self.at(ledger::run(self.engine(), run_id))?;
        let id = || run_id.to_owned();
        let not = |reason| Err(StoreError::NotYours(id(), reason));
        match &found.origin {
            Origin::Imported => return Err(StoreError::Imported(id())),
            Origin::Here(by) if by.uid != owner.uid => return not("by this user"),
            Origin::Here(by) if by.machine != owner.machine => return not("on this system"),
            Origin::Here(_) => {}
        }
        // a file that another user can write proves no origin
        if !self.engine().belongs_to(owner.uid) {
            return not("in a store of this user's own");
        }
        let data = self.load(run_id)?;
        match data.info.elapsed_s {
            Some(_) => Err(StoreError::Ended(id())),
            None => Ok(Resumable(data)),
        }
    }

    /// Checks the ledger, and that no run or end is missing. Reads no launch.
    ///
    /// # Errors
    /// [`StoreError::Damaged`], and I/O errors of the store.
    pub fn verify_ledger(&self) -> Result<(), StoreError> {
        self.at(snapshot(self.engine(), |engine| {
            ledger::complete(engine)?;
            verify_ledger(engine)
        }))
    }

    /// Full check: SQLite's own, references between rows, every hash. Returns one line per fault.
    ///
    /// # Errors
    /// When the check cannot be made.
    pub fn verify(&self) -> Result<Vec<String>, StoreError> {
        self.at(verify(self.engine()))
    }
}

fn load(engine: &dyn Engine, id: &str) -> Result<RunData, Fault> {
    let run = Run::begin(engine, id)?;
    if let Some(pruned) = &run.pruned {
        return Err(StoreError::Pruned(id.to_owned(), pruned.time.clone()).into());
    }
    let mut data = run.without_launches()?;
    relabel(engine, run.found.number, &mut data.info)?;
    data.info.elapsed_s = run.rest(&mut |number, row| {
        let launch =
            row_codec::read_launch(&row).map_err(|what| format!("launch {number}: {what}"));
        data.launches.push(run.readable(launch)?);
        Ok(())
    })?;
    Ok(data)
}

/// Whether a pruned run is identical to this one, labels aside.
pub(crate) fn had(engine: &dyn Engine, data: &RunData) -> Result<bool, Fault> {
    let run = Run::begin(engine, &data.info.id)?;
    let mut tip = run.found.seal.clone();
    for (number, launch) in (0..).zip(&data.launches) {
        tip = row_hash::hash("launch", &tip, [&row_codec::launch(number, launch)?]);
    }
    let mut known = run.without_launches()?;
    known.info.elapsed_s = run.rest(&mut |_, _| Ok(()))?;
    known.info.label.clone_from(&data.info.label);
    let head = RunData {
        info: data.info.clone(),
        benchmarks: data.benchmarks.clone(),
        programs: data.programs.clone(),
        skips: data.skips.clone(),
        launches: vec![],
    };
    Ok(run.pruned.is_some_and(|pruned| pruned.tip == tip) && known == head)
}

fn verify(engine: &dyn Engine) -> Result<Vec<String>, Fault> {
    let mut wrong = vec![];
    let mut note = |fault: Fault| match fault {
        Fault::Damaged(what) => wrong.push(what),
        fault => wrong.push(fault.at(Path::new("the store")).to_string()),
    };
    engine.check()?.into_iter().for_each(&mut note);
    for looked in [ledger::complete(engine), verify_ledger(engine)] {
        looked.unwrap_or_else(&mut note);
    }
    let verify_run = |id: &str| -> Result<(), Fault> {
        snapshot(engine, |engine| {
            let run = Run::begin(engine, id)?;
            run.rest(&mut |_, _| Ok(()))?;
            result_tables::pruned_results(engine, id, None).map(drop)
        })
    };
    for (id, _) in query::<(String, Option<String>)>(engine, sql::SELECT_NAMES, vec![])? {
        match verify_run(&id) {
            // removed meanwhile
            Ok(()) | Err(Fault::Whole(StoreError::NoSuchRun(_))) => {}
            Err(fault) => note(fault),
        }
    }
    wrong.dedup();
    Ok(wrong)
}

/// Compares the hashes of the ledger.
fn verify_ledger(engine: &dyn Engine) -> Result<(), Fault> {
    let mut before = String::new();
    for (number, row) in (1..).zip(engine.all(sql::SELECT_LEDGER, vec![])?) {
        let (sealed, row) = split(row)?;
        if row[0] != Value::Integer(number) || sealed != row_hash::hash("entry", &before, [&row]) {
            return Err(broken(format!("entry {number} of the ledger")));
        }
        before = sealed;
    }
    Ok(())
}

/// Checks the hash of the head of a run, with its benchmarks, programs and skips.
pub(crate) fn check_head(engine: &dyn Engine, id: &str) -> Result<(), Fault> {
    Run::begin(engine, id).map(drop)
}

/// The head of a run without checking its hash: for a search, whose results are loaded later.
pub(crate) fn unsealed(engine: &dyn Engine, id: &str, run: i64) -> Result<RunInfo, Fault> {
    let (_, head) = single_row(engine, sql::SELECT_RUN, run, "head", id)?;
    let mut info = row_codec::read_run(&head).map_err(|what| unreadable(id, &head, what))?;
    relabel(engine, run, &mut info)?;
    Ok(info)
}

/// A run whose head passed its hash.
struct Run<'a> {
    engine: &'a dyn Engine,
    id: &'a str,
    found: Found,
    head: Row,
    /// Its benchmarks, programs and skips.
    parts: [Vec<Row>; 3],
    /// Ledger entry, if pruned.
    pruned: Option<ledger::Entry>,
}

impl<'a> Run<'a> {
    fn begin(engine: &'a dyn Engine, id: &'a str) -> Result<Self, Fault> {
        let found = ledger::run(engine, id)?;
        let (sealed, head) = single_row(engine, sql::SELECT_RUN, found.number, "head", id)?;
        let part = |statement| engine.all(statement, row![found.number]);
        let parts =
            [part(sql::SELECT_BENCHMARKS)?, part(sql::SELECT_PROGRAMS)?, part(sql::SELECT_SKIPS)?];
        let right = row_hash::hash("run", "", [&head].into_iter().chain(parts.iter().flatten()));
        let run =
            Self { pruned: ledger::entry(engine, found.number)?, engine, id, found, head, parts };
        if sealed != right || run.in_ledger("begin")? != Some(right) {
            return Err(broken(format!("the head of run {id}")));
        }
        Ok(run)
    }

    fn without_launches(&self) -> Result<RunData, Fault> {
        let [benchmarks, programs, skips] = &self.parts;
        let read = || -> Result<RunData, Wrong> {
            Ok(RunData {
                info: row_codec::read_run(&self.head)?,
                benchmarks: decode(benchmarks, row_codec::read_benchmark)?,
                programs: decode(programs, row_codec::read_program)?,
                skips: decode(skips, row_codec::read_skip)?,
                launches: vec![],
            })
        };
        self.readable(read())
    }

    /// Passes on the launches one by one with their numbers: as rows they take more memory than as events. Returns the
    /// length of the run, if it has ended.
    fn rest(
        &self,
        take: &mut dyn FnMut(i64, Row) -> Result<(), Fault>,
    ) -> Result<Option<f64>, Fault> {
        let Self { id, found, .. } = self;
        let (mut number, mut tip) = (0, found.seal.clone());
        let key = row![found.number];
        self.engine.each(sql::SELECT_LAUNCHES, key, &mut |row| {
            let broken = || broken(format!("launch {number} of run {id}"));
            let (sealed, row) = split(row)?;
            // a gap means a lost launch
            if row[0] != Value::Integer(number) || sealed != row_hash::hash("launch", &tip, [&row])
            {
                return Err(broken());
            }
            take(number, row)?;
            (number, tip) = (number + 1, sealed);
            Ok(ControlFlow::Continue(()))
        })?;
        if let Some(pruned) = &self.pruned {
            if number > 0 {
                return Err(broken(format!("run {id}, whose launches were pruned,")));
            }
            tip.clone_from(&pruned.tip);
        }
        let entry = self.in_ledger("end")?;
        if !found.ended && entry.is_none() {
            return Ok(None);
        }
        let (sealed, row) = single_row(self.engine, sql::SELECT_END, found.number, "end", id)?;
        match row[..] {
            [_, Value::Real(_), Value::Integer(launches)]
                if launches != number && self.pruned.is_none() =>
            {
                Err(Fault::Damaged(format!(
                    "run {id} has {launches} launches, of which {number} are found"
                )))
            }
            [_, Value::Real(elapsed_s), Value::Integer(_)]
                if sealed == row_hash::hash("end", &tip, [&row]) && entry == Some(sealed) =>
            {
                Ok(Some(elapsed_s))
            }
            _ => Err(broken(format!("the end of run {id}"))),
        }
    }

    /// Hash of the beginning or end, from the ledger.
    fn in_ledger(&self, entry: &str) -> Result<Option<String>, Fault> {
        let key = row![self.found.number, entry.to_owned()];
        let found: Vec<(String,)> = query(self.engine, sql::SELECT_SEALED, key)?;
        Ok(found.into_iter().next().map(|(sealed,)| sealed))
    }

    fn readable<T>(&self, read: Result<T, Wrong>) -> Result<T, Fault> {
        read.map_err(|what| unreadable(self.id, &self.head, what))
    }
}

/// The row of a statement, without its hash.
fn single_row(
    engine: &dyn Engine,
    statement: &'static str,
    run: i64,
    what: &str,
    id: &str,
) -> Result<(String, Row), Fault> {
    match engine.all(statement, row![run])?.pop() {
        Some(row) => split(row),
        None => Err(Fault::Damaged(format!("the {what} of run {id} is missing"))),
    }
}

/// Decodes rows.
fn decode<T, C: FromIterator<T>>(
    rows: &[Row],
    read: fn(&Row) -> Result<T, Wrong>,
) -> Result<C, Wrong> {
    rows.iter().map(read).collect()
}

fn broken(what: String) -> Fault {
    Fault::Damaged(format!("{what} is not as it was written"))
}

fn unreadable(id: &str, head: &Row, what: Wrong) -> Fault {
    let gritstone = row_codec::stored_by(head).to_owned();
    StoreError::Unreadable(id.to_owned(), gritstone, what).into()
}
