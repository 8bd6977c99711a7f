//! The plain types as values of rows, and back. Both directions of a table stand side by side; the order of the
//! values is that of the statements in `sql`.

use crate::{StoreError, events};
use gritstone_model::{Benchmark, Id, Launch, Origin, Outcome, Owner, Program, RunInfo, Skip};
use rusqlite::types::Value;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// The values of one row.
pub(crate) type Row = Vec<Value>;
/// What is not understood in a row.
pub(crate) type Wrong = String;

/// The head of a run, without its end.
pub(crate) fn run(number: i64, info: &RunInfo, origin: &Origin) -> Result<Row, StoreError> {
    let [origin, uid, machine] = self::origin(origin);
    Ok(vec![
        Value::Integer(number),
        text(&info.id),
        origin,
        uid,
        machine,
        optional(info.label.as_deref().map(text)),
        text(&info.started),
        text(&info.gritstone),
        text(&info.machine.id),
        text(&info.machine.name),
        text(&info.machine.system),
        Value::Text(json("the settings", &info.settings)?),
        Value::Text(json("the machine", &info.machine)?),
    ])
}

/// The head of a run, without its end.
pub(crate) fn read_run(row: &Row) -> Result<RunInfo, Wrong> {
    let mut row = Fields::of(row);
    row.pass(1);
    let id = row.text()?.to_owned();
    row.pass(3); // the origin, which is no part of what a run measured
    let mut info = RunInfo {
        id,
        label: row.optional_text()?.map(str::to_owned),
        started: row.text()?.to_owned(),
        gritstone: row.text()?.to_owned(),
        ..RunInfo::default()
    };
    row.pass(3); // what the listing reads: it is in `machine` again
    info.settings = row.json("settings")?;
    info.machine = row.json("machine")?;
    Ok(info)
}

fn origin(origin: &Origin) -> [Value; 3] {
    match origin {
        Origin::Here(owner) => [
            text("here"),
            Value::Integer(owner.uid.into()),
            text(&owner.machine),
        ],
        Origin::Imported => [text("imported"), Value::Null, Value::Null],
    }
}

/// Where a run comes from, of the three columns that say so.
pub(crate) fn read_origin(
    origin: &str,
    uid: Option<u32>,
    machine: Option<String>,
) -> Result<Origin, Wrong> {
    match (origin, uid, machine) {
        ("here", Some(uid), Some(machine)) => Ok(Origin::Here(Owner { uid, machine })),
        ("imported", None, None) => Ok(Origin::Imported),
        (other, ..) => Err(format!("origin '{other}'")),
    }
}

/// Whether the settings of a run are those of a side of a trial; settings that are not understood are not, and whoever reads them
/// says so.
pub(crate) fn of_a_trial(settings: &str) -> bool {
    #[derive(Deserialize)]
    struct Side {
        trial: Option<IgnoredAny>,
    }
    serde_json::from_str(settings).is_ok_and(|side: Side| side.trial.is_some())
}

/// The version that stored a run, of the row of its head: it must be known even when nothing else is understood.
pub(crate) fn stored_by(head: &Row) -> String {
    match head.get(7) {
        Some(Value::Text(version)) => version.clone(),
        _ => "of an unknown version".to_owned(),
    }
}

/// An entry of the catalog.
pub(crate) fn benchmark(position: usize, benchmark: &Benchmark) -> Result<Row, StoreError> {
    let entry = json(&format!("benchmark {}", benchmark.id), benchmark)?;
    Ok(vec![
        count(position),
        text(benchmark.id.as_str()),
        Value::Text(entry),
    ])
}

/// An entry of the catalog.
pub(crate) fn read_benchmark(row: &Row) -> Result<Benchmark, Wrong> {
    let mut row = Fields::of(row);
    row.pass(2); // the position, in the order of which the rows come, and the identifier, which is in the entry again
    row.json("benchmark")
}

/// The program behind a benchmark.
pub(crate) fn program(id: &Id, program: &Program) -> Row {
    vec![
        text(id.as_str()),
        text(&program.hash),
        text(&program.compiler),
        text(&program.flags),
    ]
}

/// The program behind a benchmark.
pub(crate) fn read_program(row: &Row) -> Result<(Id, Program), Wrong> {
    let mut row = Fields::of(row);
    let id = row.id()?;
    let program = Program {
        hash: row.text()?.to_owned(),
        compiler: row.text()?.to_owned(),
        flags: row.text()?.to_owned(),
    };
    Ok((id, program))
}

/// What could not run.
pub(crate) fn skip(position: usize, skip: &Skip) -> Result<Row, StoreError> {
    let reason = StoredReason {
        kind: "not run".to_owned(),
        why: skip.reason.clone(),
    };
    let stored = json(&format!("the reason of {}", skip.id), &reason)?;
    Ok(vec![
        count(position),
        text(skip.id.as_str()),
        Value::Text(stored),
    ])
}

/// What could not run.
pub(crate) fn read_skip(row: &Row) -> Result<Skip, Wrong> {
    let mut row = Fields::of(row);
    row.pass(1); // the position, in the order of which the rows come
    let id = row.id()?;
    let reason: StoredReason = row.json("footnote")?;
    Ok(Skip {
        id,
        reason: reason.why,
    })
}

/// A reason as stores and bundles have it.
#[derive(PartialEq, Serialize, Deserialize)]
struct StoredReason {
    kind: String,
    why: String,
}

/// Where a launch was: `[0,1]`, or `{"copies":4,"cpus":[0,1]}` where there were several copies at once.
#[derive(PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Placed {
    One(Vec<u32>),
    Copies { copies: NonZeroU32, cpus: Vec<u32> },
}

impl Placed {
    fn of(launch: &Launch) -> Result<Self, StoreError> {
        let cpus = launch.cpus.clone();
        match NonZeroU32::new(launch.copies) {
            None => {
                let why = format!("a launch of {} has no copies", launch.id);
                Err(StoreError::Unfit(why))
            }
            Some(NonZeroU32::MIN) => Ok(Self::One(cpus)),
            Some(copies) => Ok(Self::Copies { copies, cpus }),
        }
    }
}

/// A launch, with its events.
pub(crate) fn launch(number: i64, launch: &Launch) -> Result<Row, StoreError> {
    let why = match &launch.outcome {
        Outcome::Measured => Value::Null,
        other => text(other.why()),
    };
    Ok(vec![
        Value::Integer(number),
        text(launch.id.as_str()),
        Value::Integer(launch.round.into()),
        bits(launch.start),
        Value::Text(json("the CPUs of a launch", &Placed::of(launch)?)?),
        text(launch.outcome.name()),
        why,
        bits(launch.conditions.wall),
        Value::Text(json("the conditions of a launch", &launch.conditions)?),
        Value::Text(events::text(&launch.events)?),
    ])
}

/// A launch, with its events.
pub(crate) fn read_launch(row: &Row) -> Result<Launch, Wrong> {
    let mut row = Fields::of(row);
    row.pass(1); // the number, in the order of which the rows come
    let (id, round, start) = (row.id()?, row.u32()?, row.u64()?);
    let (cpus, copies) = match row.json("cpus")? {
        Placed::One(cpus) => (cpus, 1),
        Placed::Copies { copies, cpus } => (cpus, copies.get()),
    };
    let outcome = match (row.text()?, row.optional_text()?) {
        ("measured", None) => Outcome::Measured,
        ("skipped", Some(why)) => Outcome::Skipped(why.to_owned()),
        ("failed", Some(why)) => Outcome::Failed(why.to_owned()),
        ("timed_out", Some(why)) => Outcome::TimedOut(why.to_owned()),
        (other, why) => return Err(format!("outcome '{other}' with reason {why:?}")),
    };
    row.pass(1); // the length, which is among the conditions too
    let conditions = row.json("conditions")?;
    let events = events::read(row.text()?)?;
    Ok(Launch {
        id,
        round,
        start,
        cpus,
        copies,
        outcome,
        events,
        conditions,
    })
}

/// Text.
pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// The same 64 bits: SQLite's integers have a sign.
pub(crate) fn bits(number: u64) -> Value {
    Value::Integer(number as i64)
}

/// A position.
pub(crate) fn count(number: usize) -> Value {
    Value::Integer(number as i64)
}

/// NULL for nothing.
pub(crate) fn optional(value: Option<Value>) -> Value {
    value.unwrap_or(Value::Null)
}

/// JSON that is known to come back the same: it has no word for a number that is infinite or none, and writes null.
pub(crate) fn json<T>(what: &str, value: &T) -> Result<String, StoreError>
where
    T: Serialize + DeserializeOwned + PartialEq,
{
    let unfit = |why: &str| {
        let why = format!("{what} does not come back the same from JSON ({why})");
        StoreError::Unfit(why)
    };
    let text = serde_json::to_string(value).map_err(|e| unfit(&e.to_string()))?;
    let back: T = serde_json::from_str(&text).map_err(|e| unfit(&e.to_string()))?;
    if back == *value {
        Ok(text)
    } else {
        Err(unfit("another value"))
    }
}

/// The values of a row, taken in order.
struct Fields<'a>(std::slice::Iter<'a, Value>);

impl<'a> Fields<'a> {
    fn of(row: &'a Row) -> Self {
        Self(row.iter())
    }

    /// Leaves values out.
    fn pass(&mut self, values: usize) {
        self.0.by_ref().take(values).for_each(drop);
    }

    fn integer(&mut self) -> Result<i64, Wrong> {
        match self.0.next() {
            Some(Value::Integer(number)) => Ok(*number),
            other => Err(format!("{other:?} where a number belongs")),
        }
    }

    fn u64(&mut self) -> Result<u64, Wrong> {
        self.integer().map(|number| number as u64)
    }

    fn u32(&mut self) -> Result<u32, Wrong> {
        let number = self.integer()?;
        u32::try_from(number).map_err(|_| format!("{number} where a small number belongs"))
    }

    fn text(&mut self) -> Result<&'a str, Wrong> {
        self.optional_text()?
            .ok_or_else(|| "nothing where text belongs".to_owned())
    }

    fn optional_text(&mut self) -> Result<Option<&'a str>, Wrong> {
        match self.0.next() {
            Some(Value::Null) => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            other => Err(format!("{other:?} where text belongs")),
        }
    }

    fn id(&mut self) -> Result<Id, Wrong> {
        Id::parse(self.text()?).map_err(|e| e.to_string())
    }

    fn json<T: DeserializeOwned>(&mut self, what: &str) -> Result<T, Wrong> {
        serde_json::from_str(self.text()?).map_err(|e| format!("{what}: {e}"))
    }
}
