//! Reads runs, and holds what it reads to the seals.
//!
//! Must not know: files, how rows are written.

use crate::error::{Fault, StoreError};
use crate::find::{Having, having};
use crate::rows::{self, Row, Wrong};
use crate::seal::Seal;
use crate::{event_rows, sql, write};
use gritstone_model::{Event, Id, Launch, RunData, RunInfo};
use rusqlite::types::Value;
use rusqlite::{Connection, Params};
use std::collections::BTreeSet;

/// A whole run, as it was at one moment.
pub(crate) fn load(connection: &Connection, id: &str) -> Result<RunData, Fault> {
    // one snapshot for all statements; reading alone, it may as well be rolled back when it is dropped
    let snapshot = connection.unchecked_transaction()?;
    let Some((run, ended)) = write::find_run(&snapshot, id)? else {
        return Err(StoreError::NoSuchRun { id: id.into() }.into());
    };
    let mut data = beginning(&snapshot, id, run, &Wanted::All)?;
    data.launches = launches(&snapshot, &data, run, &|_| {})?;
    let mut count = write::next(&snapshot, sql::NEXT_LAUNCH, [run])?;
    if ended {
        let (elapsed_s, launches) = end(&snapshot, id, run)?;
        data.info.elapsed_s = Some(elapsed_s);
        count = launches;
    }
    if usize::try_from(count) != Ok(data.launches.len()) {
        let found = data.launches.len();
        let what = format!("run {id} has {count} launches, of which {found} are found");
        return Err(Fault::Damaged(what));
    }
    Ok(data)
}

/// A run with nothing of its launches but their samples and latencies.
pub(crate) fn samples(connection: &Connection, id: &str) -> Result<RunData, Fault> {
    let snapshot = connection.unchecked_transaction()?;
    let Some((run, _)) = write::find_run(&snapshot, id)? else {
        return Err(StoreError::NoSuchRun { id: id.into() }.into());
    };
    let mut data = beginning(&snapshot, id, run, &Wanted::All)?;
    data.launches = launches(&snapshot, &data, run, &|launch| {
        let timed = |event: &Event| matches!(event, Event::Sample(_) | Event::Latency(_));
        launch.events.retain(timed);
    })?;
    Ok(data)
}

/// The head of a run, without its launches.
pub(crate) fn head(connection: &Connection, id: &str) -> Result<RunInfo, Fault> {
    let snapshot = connection.unchecked_transaction()?;
    let Some((run, _)) = write::find_run(&snapshot, id)? else {
        return Err(StoreError::NoSuchRun { id: id.into() }.into());
    };
    Ok(beginning(&snapshot, id, run, &Wanted::None)?.info)
}

/// Hands over the newest runs that have a benchmark one by one, oldest first, with nothing but it and the rows that its figure is made
/// of; of the launches of others there is what they say of the cores: what was around them, and their samples.
pub(crate) fn series(
    connection: &Connection,
    benchmark: &Id,
    most: usize,
    take: &mut dyn FnMut(RunData),
) -> Result<(), Fault> {
    let snapshot = connection.unchecked_transaction()?;
    for Having { id, run, .. } in having(&snapshot, benchmark, most, |_| Ok(true))?
        .into_iter()
        .rev()
    {
        let mut data = beginning(&snapshot, &id, run, &Wanted::MadeOf(benchmark))?;
        data.launches = launches(&snapshot, &data, run, &|launch| {
            if !data.benchmarks.iter().any(|entry| entry.id == launch.id) {
                let sample = |event: &Event| matches!(event, Event::Sample(_));
                launch.events.retain(sample);
            }
        })?;
        take(data);
    }
    Ok(())
}

/// The benchmarks of a run that somebody wants.
enum Wanted<'a> {
    All,
    None,
    /// One, and the rows that its figure is made of.
    MadeOf(&'a Id),
}

impl Wanted<'_> {
    /// Their identifiers; `None` is all.
    fn ids(&self, benchmarks: &[Row]) -> Result<Option<BTreeSet<String>>, Wrong> {
        let Self::MadeOf(first) = self else {
            return Ok(matches!(self, Self::None).then(BTreeSet::new));
        };
        let mut ids = BTreeSet::from([first.to_string()]);
        let mut next = vec![first.to_string()];
        while let Some(id) = next.pop() {
            let row = benchmarks.iter().find(|row| is_of(row, 1, &id));
            let entry = row.map(rows::read_benchmark);
            for part in entry
                .transpose()?
                .iter()
                .flat_map(|entry| entry.work.parts())
            {
                if ids.insert(part.to_string()) {
                    next.push(part.to_string());
                }
            }
        }
        Ok(Some(ids))
    }
}

/// Whether a row has this identifier in a column.
fn is_of(row: &Row, column: usize, id: &str) -> bool {
    matches!(row.get(column), Some(Value::Text(text)) if text == id)
}

/// The head of a run as it stands, not held to its seal: whoever goes by it alone looks for runs, and loads those that it finds.
pub(crate) fn unsealed(connection: &Connection, id: &str, run: i64) -> Result<RunInfo, Fault> {
    let head = all(connection, sql::SELECT_RUN, [run])?.pop();
    let (_, head) = head.and_then(split).ok_or_else(|| missing("head", id))?;
    rows::read_run(&head).map_err(|what| unreadable(id, &rows::stored_by(&head), what))
}

/// What a run begins with; of its benchmarks those that are wanted.
fn beginning(
    connection: &Connection,
    id: &str,
    run: i64,
    wanted: &Wanted,
) -> Result<RunData, Fault> {
    let head = all(connection, sql::SELECT_RUN, [run])?.pop();
    let (seal, head) = head.and_then(split).ok_or_else(|| missing("head", id))?;
    let benchmarks = all(connection, sql::SELECT_BENCHMARKS, [run])?;
    let programs = all(connection, sql::SELECT_PROGRAMS, [run])?;
    let skips = all(connection, sql::SELECT_SKIPS, [run])?;
    let rows = benchmarks.iter().chain(&programs).chain(&skips);
    if seal != seal_of([&head].into_iter().chain(rows)) {
        return Err(broken(format!("the head of run {id}")));
    }
    let gritstone = rows::stored_by(&head);
    let read = || -> Result<RunData, Wrong> {
        let ids = wanted.ids(&benchmarks)?;
        let wanted = |row: &&Row, column: usize| match (&ids, row.get(column)) {
            (None, _) => true,
            (Some(ids), Some(Value::Text(id))) => ids.contains(id),
            _ => false,
        };
        Ok(RunData {
            info: rows::read_run(&head)?,
            benchmarks: each(&benchmarks, |row| wanted(row, 1), rows::read_benchmark)?,
            programs: each(&programs, |row| wanted(row, 0), rows::read_program)?,
            skips: each(&skips, |row| wanted(row, 1), rows::read_skip)?,
            launches: Vec::new(),
        })
    };
    read().map_err(|what| unreadable(id, &gritstone, what))
}

/// The length of a run, and how many launches it has.
fn end(connection: &Connection, id: &str, run: i64) -> Result<(f64, i64), Fault> {
    let end = all(connection, sql::SELECT_END, [run])?.pop();
    let (seal, row) = end.and_then(split).ok_or_else(|| missing("end", id))?;
    match row[..] {
        [Value::Real(elapsed_s), Value::Integer(launches)] if seal == seal_of([&row]) => {
            Ok((elapsed_s, launches))
        }
        _ => Err(broken(format!("the end of run {id}"))),
    }
}

/// The launches of a run, each held to its seal, and of each what `keep` leaves of it.
fn launches(
    connection: &Connection,
    data: &RunData,
    run: i64,
    keep: &dyn Fn(&mut Launch),
) -> Result<Vec<Launch>, Fault> {
    let mut statement = connection.prepare_cached(sql::SELECT_LAUNCHES)?;
    let columns = statement.column_count();
    let mut rows = statement.query([run])?;
    let mut launches = Vec::new();
    // one by one: as text they are larger than as events
    while let Some(row) = rows.next()? {
        let number = launches.len();
        let values: Result<Row, _> = (0..columns).map(|column| row.get(column)).collect();
        let id = &data.info.id;
        let values = values.map_err(|_| broken(format!("launch {number} of run {id}")))?;
        let mut launch = launch(connection, data, run, number, values)?;
        keep(&mut launch);
        // there are thousands of launches, and each would keep room for what is gone
        launch.events.shrink_to_fit();
        launches.push(launch);
    }
    Ok(launches)
}

/// A launch from its row, and from the rows of its events where it is of the time when it had them.
fn launch(
    connection: &Connection,
    data: &RunData,
    run: i64,
    number: usize,
    row: Row,
) -> Result<Launch, Fault> {
    let RunInfo { id, gritstone, .. } = &data.info;
    let (seal, row) = split(row).ok_or_else(|| missing("launch", id))?;
    let mut right = Seal::new();
    let in_rows = match row.split_last() {
        Some((Value::Null, before)) => {
            right.row(before);
            Some(event_rows(connection, (run, number), &mut right)?)
        }
        _ => {
            right.row(&row);
            None
        }
    };
    // a gap is a launch that was lost
    if row.first() != Some(&rows::count(number)) || seal != right.value() {
        return Err(broken(format!("launch {number} of run {id}")));
    }
    let read = || -> Result<Launch, Wrong> {
        let launch = rows::read_launch(&row)?;
        Ok(match in_rows {
            Some(events) => Launch {
                events: events?,
                ..launch
            },
            None => launch,
        })
    };
    read().map_err(|what| unreadable(id, gritstone, format!("launch {number}: {what}")))
}

/// The events of a launch that has them in rows, which its seal covers too.
fn event_rows(
    connection: &Connection,
    (run, launch): (i64, usize),
    seal: &mut Seal,
) -> Result<Result<Vec<Event>, Wrong>, Fault> {
    let mut statement = connection.prepare_cached(sql::SELECT_EVENT_ROWS)?;
    let mut rows = statement.query((run, launch as i64))?;
    let mut events = Ok(Vec::new());
    while let Some(row) = rows.next()? {
        let values = event_rows::values(row)?;
        seal.event(values.iter().copied());
        events = events.and_then(|mut events: Vec<Event>| {
            events.push(event_rows::read_event(&values)?);
            Ok(events)
        });
    }
    Ok(events)
}

/// All rows that a statement yields.
fn all(
    connection: &Connection,
    statement: &str,
    of: impl Params,
) -> Result<Vec<Row>, rusqlite::Error> {
    let mut statement = connection.prepare_cached(statement)?;
    let columns = statement.column_count();
    let rows = statement.query_map(of, |row| (0..columns).map(|i| row.get(i)).collect())?;
    rows.collect()
}

/// A stored row as the seal at its beginning, and the rest.
fn split(mut row: Row) -> Option<(Value, Row)> {
    let rest = row.split_off(1);
    row.pop().map(|seal| (seal, rest))
}

fn seal_of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Value {
    let mut seal = Seal::new();
    rows.into_iter().for_each(|row| seal.row(row));
    seal.value()
}

/// What the wanted ones of these rows say.
fn each<T, C: FromIterator<T>>(
    rows: &[Row],
    wanted: impl Fn(&&Row) -> bool,
    read: fn(&Row) -> Result<T, Wrong>,
) -> Result<C, Wrong> {
    rows.iter().filter(wanted).map(read).collect()
}

fn missing(what: &str, id: &str) -> Fault {
    Fault::Damaged(format!("the {what} of run {id} is missing"))
}

fn broken(what: String) -> Fault {
    Fault::Damaged(format!("{what} is not as it was written"))
}

fn unreadable(id: &str, gritstone: &str, what: Wrong) -> Fault {
    Fault::Whole(StoreError::Unreadable {
        run: id.to_owned(),
        gritstone: gritstone.to_owned(),
        what,
    })
}
