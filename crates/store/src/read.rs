//! Reads runs, and holds what it reads to the seals.
//!
//! Must not know: files, how rows are written.

use crate::error::{Fault, StoreError};
use crate::find::{Having, having};
use crate::rows::{self, Row, Wrong};
use crate::seal::Seal;
use crate::{events, sql, write};
use gritstone_model::{Benchmark, Event, Id, Launch, RunData, RunInfo, Sample, Usage};
use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator;
use rusqlite::types::Value;
use rusqlite::{Connection, Params, Rows};
use std::collections::BTreeSet;

/// A whole run, as it was at one moment.
pub(crate) fn load(connection: &Connection, id: &str) -> Result<RunData, Fault> {
    // one snapshot for all statements; reading alone, it may as well be rolled back when it is dropped
    let snapshot = connection.unchecked_transaction()?;
    let Some((run, ended)) = write::find_run(&snapshot, id)? else {
        return Err(StoreError::NoSuchRun { id: id.into() }.into());
    };
    let mut data = beginning(&snapshot, id, run, &Wanted::All)?;
    data.launches = launches(&snapshot, &data, run)?;
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

/// A run with nothing of its launches but their samples and latencies. The seal of a launch covers all its events, so that only the
/// beginning of the run is held to its seal here.
pub(crate) fn samples(connection: &Connection, id: &str) -> Result<RunData, Fault> {
    let snapshot = connection.unchecked_transaction()?;
    let Some((run, _)) = write::find_run(&snapshot, id)? else {
        return Err(StoreError::NoSuchRun { id: id.into() }.into());
    };
    let mut data = beginning(&snapshot, id, run, &Wanted::All)?;
    let heads = all(&snapshot, sql::SELECT_LAUNCHES, [run])?;
    let heads = heads.into_iter().map(|row| launch_head(&data, row));
    data.launches = heads.collect::<Result<_, Fault>>()?;
    // there are hundreds of thousands in twenty runs: straight from the columns
    let mut statement = snapshot.prepare_cached(sql::SELECT_SAMPLES)?;
    let mut samples = statement.query([run])?;
    while let Some(row) = samples.next()? {
        let (launch, event) = timed(row).ok_or_else(|| broken(format!("a sample of run {id}")))?;
        // launches have no gap in their numbers
        let launch = data.launches.get_mut(launch);
        let launch = launch.ok_or_else(|| missing("launch of a sample", id))?;
        launch.events.push(event);
    }
    drop(samples);
    drop(statement);
    Ok(data)
}

/// A launch without its events, not held to its seal.
fn launch_head(data: &RunData, row: Row) -> Result<Launch, Fault> {
    let RunInfo { id, gritstone, .. } = &data.info;
    let (_, head) = split(row).ok_or_else(|| missing("launch", id))?;
    rows::read_launch(&head).map_err(|what| unreadable(id, gritstone, what))
}

/// The number of a launch, and a sample or the latencies of it.
fn timed(row: &rusqlite::Row<'_>) -> Option<(usize, Event)> {
    let number = |column| Some(row.get::<_, i64>(column).ok()? as u64);
    let launch = number(0)? as usize;
    if row.get_ref(15).ok()?.as_str().ok()? == "latency" {
        let histogram = serde_json::from_str(row.get_ref(16).ok()?.as_str().ok()?);
        return Some((launch, Event::Latency(histogram.ok()?)));
    }
    let sample = Sample {
        n: number(1)?,
        wall: number(2)?,
        pace: number(3)?,
        wide: number(14)?,
        usage: Usage {
            user: number(4)?,
            system: number(5)?,
            cpu: number(6)?,
            vcsw: number(7)?,
            icsw: number(8)?,
            minflt: number(9)?,
            majflt: number(10)?,
            inblock: number(11)?,
            oublock: number(12)?,
            migrations: number(13)?,
        },
    };
    Some((launch, Event::Sample(sample)))
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
/// of; of the launches of others there is what they say of the cores. Every row that is read is held to its seal, but for these.
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
        for (number, row) in (0_i64..).zip(all(&snapshot, sql::SELECT_LAUNCHES, [run])?) {
            in_its_place(&row, number, &id)?;
            let wanted = |entry: &Benchmark| is_of(&row, 2, entry.id.as_str());
            let whole = data.benchmarks.iter().any(wanted);
            let statement = match whole {
                true => sql::SELECT_EVENTS_OF,
                false => sql::SELECT_PACERS_OF,
            };
            let mut statement = snapshot.prepare_cached(statement)?;
            let mut events = statement.query((run, number))?;
            data.launches.push(if whole {
                events.advance()?;
                launch(&data, row, &mut events)?
            } else {
                paced(&data, row, &mut events)?
            });
        }
        take(data);
    }
    Ok(())
}

/// A launch of which no more is known than what was around it, and what the pacers said beside its samples.
fn paced(data: &RunData, row: Row, pacers: &mut Rows<'_>) -> Result<Launch, Fault> {
    let id = &data.info.id;
    let mut launch = launch_head(data, row)?;
    while let Some(row) = pacers.next()? {
        let number = |column| Ok::<_, rusqlite::Error>(row.get::<_, i64>(column)? as u64);
        let read = || -> Result<Sample, rusqlite::Error> {
            Ok(Sample {
                n: number(0)?,
                pace: number(1)?,
                wide: number(2)?,
                ..Sample::default()
            })
        };
        let sample = read().map_err(|_| broken(format!("a sample of run {id}")))?;
        launch.events.push(Event::Sample(sample));
    }
    Ok(launch)
}

/// That a row of `sql::SELECT_LAUNCHES` has this number, behind the seal: a gap is a launch that was lost.
fn in_its_place(row: &Row, number: i64, id: &str) -> Result<(), Fault> {
    match row.get(1) == Some(&Value::Integer(number)) {
        true => Ok(()),
        false => Err(broken(format!("launch {number} of run {id}"))),
    }
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

fn launches(connection: &Connection, data: &RunData, run: i64) -> Result<Vec<Launch>, Fault> {
    let id = &data.info.id;
    let rows = all(connection, sql::SELECT_LAUNCHES, [run])?;
    let mut launches = Vec::with_capacity(rows.len());
    // one walk through all events: there are thousands of launches
    let mut statement = connection.prepare_cached(sql::SELECT_EVENTS)?;
    let mut events = statement.query([run])?;
    events.advance()?;
    for (number, row) in (0_i64..).zip(rows) {
        in_its_place(&row, number, id)?;
        launches.push(launch(data, row, &mut events)?);
    }
    Ok(launches)
}

/// A launch from its row, with its events: those from where `rows` stand, to the first of another launch.
fn launch(data: &RunData, row: Row, rows: &mut Rows<'_>) -> Result<Launch, Fault> {
    let id = &data.info.id;
    let (seal, head) = split(row).ok_or_else(|| missing("launch", id))?;
    let Some(&Value::Integer(number)) = head.first() else {
        return Err(missing("number of a launch", id));
    };
    let mut right = Seal::new();
    right.row(&head);
    let mut events: Result<Vec<Event>, Wrong> = Ok(Vec::new());
    while let Some(row) = rows.get() {
        if row.get::<_, i64>(events::COLUMNS)? != number {
            break;
        }
        let values = events::values(row)?;
        right.event(values.iter().copied());
        events = events.and_then(|mut events| {
            events.push(events::read_event(&values)?);
            Ok(events)
        });
        rows.advance()?;
    }
    if seal != right.value() {
        return Err(broken(format!("launch {number} of run {id}")));
    }
    let read = || -> Result<Launch, Wrong> {
        let mut events = events?;
        // there are thousands of launches, and each would keep room for as many events again
        events.shrink_to_fit();
        Ok(Launch {
            events,
            ..rows::read_launch(&head)?
        })
    };
    read().map_err(|what| {
        let what = format!("launch {number}: {what}");
        unreadable(id, &data.info.gritstone, what)
    })
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
