//! Codec of rows: both directions side by side, values in the order of the statements in `sql`.

use crate::engine::{FromSql, Row, Value};
use crate::run_head::{Kind, SideName};
use crate::{StoreError, events};
use gritstone_model::{
    Benchmark, Commit, FleetMember, Id, Launch, Origin, Outcome, Owner, Program, RunInfo, Skip,
};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Why a row cannot be decoded.
pub(crate) type Wrong = String;

macro_rules! row {
    ($($value:expr),* $(,)?) => { vec![$($crate::engine::Value::from($value)),*] };
}
pub(crate) use row;

/// Head of a run, without its end.
pub(crate) fn run(number: i64, info: &RunInfo, origin: &Origin) -> Result<Row, StoreError> {
    let (origin, uid, machine) = match origin {
        Origin::Here(owner) => ("here", Some(owner.uid), Some(owner.machine.clone())),
        Origin::Imported => ("imported", None, None),
    };
    let info = info.clone();
    Ok(row![
        number,
        info.id,
        origin.to_owned(),
        uid,
        machine,
        info.label,
        info.started,
        info.gritstone,
        info.machine.id.clone(),
        info.machine.name.clone(),
        info.machine.system.clone(),
        json("the settings", &info.settings)?,
        json("the machine", &info.machine)?,
    ])
}

/// Head of a run, without its end and origin. Columns for listings repeat values of `machine`.
pub(crate) fn read_run(row: &Row) -> Result<RunInfo, Wrong> {
    Ok(RunInfo {
        id: text(row, 1)?.to_owned(),
        label: value(row, 5)?,
        started: text(row, 6)?.to_owned(),
        elapsed_s: None,
        gritstone: text(row, 7)?.to_owned(),
        settings: parsed(row, 11, "settings")?,
        machine: parsed(row, 12, "machine")?,
    })
}

/// Origin of a run, from its three columns.
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

/// Kind of a run, from its settings; settings that are not understood count as a plain run, and their reader reports
/// them.
pub(crate) fn kind(settings: &str) -> Kind {
    #[derive(Deserialize)]
    struct Marks {
        trial: Option<IgnoredAny>,
        #[serde(default)]
        noise: bool,
    }
    // most settings have no such word, and need no parsing
    if !settings.contains("\"trial\"") && !settings.contains("\"noise\"") {
        return Kind::Run;
    }
    match serde_json::from_str(settings) {
        Ok(Marks { trial: Some(_), .. }) => Kind::Ab,
        Ok(Marks { noise: true, .. }) => Kind::Noise,
        _ => Kind::Run,
    }
}

/// Side of a trial, from the settings of its run.
pub(crate) fn side(settings: &str) -> Option<SideName> {
    #[derive(Deserialize)]
    struct Marks {
        trial: Option<SideName>,
    }
    // most settings have no such word, and need no parsing
    let settings = Some(settings).filter(|settings| settings.contains("\"trial\""))?;
    serde_json::from_str::<Marks>(settings).ok()?.trial
}

/// Suite of a run, from its settings.
pub(crate) fn suite(settings: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Marks {
        suite: Option<String>,
    }
    // most settings have no such word, and need no parsing
    let settings = Some(settings).filter(|settings| settings.contains("\"suite\""))?;
    serde_json::from_str::<Marks>(settings).ok()?.suite
}

/// Whether a run is of a commit on this branch, from its settings.
pub(crate) fn is_on(settings: &str, branch: &str) -> bool {
    #[derive(Deserialize)]
    struct Marks {
        commit: Option<Commit>,
    }
    let marks = serde_json::from_str::<Marks>(settings).ok();
    marks.and_then(|marks| marks.commit).is_some_and(|commit| commit.is_on(branch))
}

/// Fleet node of a run, from its settings.
pub(crate) fn member(settings: &str) -> Option<FleetMember> {
    #[derive(Deserialize)]
    struct Marks {
        fleet: Option<FleetMember>,
    }
    serde_json::from_str::<Marks>(settings).ok()?.fleet
}

/// The version that stored a run, read even if nothing else is understood.
pub(crate) fn stored_by(head: &Row) -> &str {
    text(head, 7).unwrap_or("of an unknown version")
}

pub(crate) fn benchmark(position: i64, benchmark: &Benchmark) -> Result<Row, StoreError> {
    let entry = json(&format!("benchmark {}", benchmark.id), benchmark)?;
    Ok(row![position, benchmark.id.to_string(), entry])
}

/// The identifier is stored twice.
pub(crate) fn read_benchmark(row: &Row) -> Result<Benchmark, Wrong> {
    parsed(row, 2, "benchmark")
}

pub(crate) fn program(id: &Id, program: &Program) -> Row {
    let Program { hash, compiler, flags } = program.clone();
    row![id.to_string(), hash, compiler, flags]
}

pub(crate) fn read_program(row: &Row) -> Result<(Id, Program), Wrong> {
    let program = Program {
        hash: text(row, 1)?.to_owned(),
        compiler: text(row, 2)?.to_owned(),
        flags: text(row, 3)?.to_owned(),
    };
    Ok((id(row, 0)?, program))
}

/// A reason as stores and bundles write it.
#[derive(PartialEq, Serialize, Deserialize)]
struct StoredReason {
    kind: String,
    why: String,
}

pub(crate) fn skip(position: i64, skip: &Skip) -> Result<Row, StoreError> {
    let reason = StoredReason { kind: "not run".to_owned(), why: skip.reason.clone() };
    let stored = json(&format!("the reason of {}", skip.id), &reason)?;
    Ok(row![position, skip.id.to_string(), stored])
}

pub(crate) fn read_skip(row: &Row) -> Result<Skip, Wrong> {
    let reason: StoredReason = parsed(row, 2, "footnote")?;
    Ok(Skip { id: id(row, 1)?, reason: reason.why })
}

/// CPUs of a launch: `[0,1]`, or `{"copies":4,"cpus":[0,1]}` with several simultaneous copies.
#[derive(PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Placed {
    One(Vec<u32>),
    Copies { copies: NonZeroU32, cpus: Vec<u32> },
}

pub(crate) fn launch(number: i64, launch: &Launch) -> Result<Row, StoreError> {
    let why = match &launch.outcome {
        Outcome::Measured => None,
        other => Some(other.why().to_owned()),
    };
    let cpus = launch.cpus.clone();
    let placed = match NonZeroU32::new(launch.copies) {
        None => {
            let why = format!("a launch of {} has no copies", launch.id);
            return Err(StoreError::Unfit(why));
        }
        Some(NonZeroU32::MIN) => Placed::One(cpus),
        Some(copies) => Placed::Copies { copies, cpus },
    };
    // SQLite's integers are signed: the same 64 bits
    Ok(row![
        number,
        launch.id.to_string(),
        launch.round,
        launch.start as i64,
        json("the CPUs of a launch", &placed)?,
        launch.outcome.name().to_owned(),
        why,
        launch.conditions.wall as i64,
        json("the conditions of a launch", &launch.conditions)?,
        events::text(&launch.events)?,
    ])
}

/// The wall time is stored twice. A launch with impossible times has failed: custom programs report their times themselves.
pub(crate) fn read_launch(row: &Row) -> Result<Launch, Wrong> {
    let start: i64 = value(row, 3)?;
    let (cpus, copies) = match parsed(row, 4, "cpus")? {
        Placed::One(cpus) => (cpus, 1),
        Placed::Copies { copies, cpus } => (cpus, copies.get()),
    };
    let mut launch = Launch {
        id: id(row, 1)?,
        round: value(row, 2)?,
        start: start as u64,
        cpus,
        copies,
        outcome: match (text(row, 5)?, value(row, 6)?) {
            ("measured", None) => Outcome::Measured,
            ("skipped", Some(why)) => Outcome::Skipped(why),
            ("failed", Some(why)) => Outcome::Failed(why),
            ("timed_out", Some(why)) => Outcome::TimedOut(why),
            (other, why) => return Err(format!("outcome '{other}' with reason {why:?}")),
        },
        conditions: parsed(row, 8, "conditions")?,
        events: events::read(text(row, 9)?)?,
    };
    if launch.outcome == Outcome::Measured
        && let Err(why) = launch.check_times()
    {
        launch.outcome = Outcome::Failed(why);
    }
    Ok(launch)
}

/// JSON, checked to be read back identically: it has no infinities, and writes null.
fn json<T: Serialize + DeserializeOwned + PartialEq>(
    what: &str,
    value: &T,
) -> Result<String, StoreError> {
    let unfit = |why: &str| {
        let why = format!("{what} does not come back the same from JSON ({why})");
        StoreError::Unfit(why)
    };
    let text = serde_json::to_string(value).map_err(|e| unfit(&e.to_string()))?;
    match serde_json::from_str::<T>(&text) {
        Ok(back) if back == *value => Ok(text),
        Ok(_) => Err(unfit("another value")),
        Err(error) => Err(unfit(&error.to_string())),
    }
}

fn value<T: FromSql>(row: &Row, index: usize) -> Result<T, Wrong> {
    let value = &row[index];
    T::column_result(value.into()).map_err(|error| format!("{value:?}: {error}"))
}

fn text(row: &Row, index: usize) -> Result<&str, Wrong> {
    match &row[index] {
        Value::Text(text) => Ok(text),
        other => Err(format!("{other:?} where text belongs")),
    }
}

fn id(row: &Row, index: usize) -> Result<Id, Wrong> {
    Id::parse(text(row, index)?).map_err(|e| e.to_string())
}

fn parsed<T: DeserializeOwned>(row: &Row, index: usize, what: &str) -> Result<T, Wrong> {
    serde_json::from_str(text(row, index)?).map_err(|e| format!("{what}: {e}"))
}
