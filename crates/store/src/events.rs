//! Events as values of rows, and back: one table for all kinds, each of which uses some of its columns.
//! Which kind uses which stands in the first migration.
//!
//! Must not know: connections, transactions, files.

use crate::StoreError;
use crate::rows::{Fields, Row, Wrong, bits, count, json, optional, text};
use gritstone_model::{Batch, Check, Event, Sample, Usage};
use rusqlite::types::{Value, ValueRef};
use serde::de::DeserializeOwned;
use std::borrow::Cow;

/// The columns of an event, as far as it uses them.
#[derive(Default)]
struct Columns<'a> {
    kind: Cow<'a, str>,
    /// A u64 as the same 64 bits, or a small number with its sign.
    n: Option<i64>,
    wall: Option<u64>,
    pace: Option<u64>,
    wide: Option<u64>,
    usage: Option<Usage>,
    got: Option<u64>,
    expected: Option<u64>,
    name: Option<Cow<'a, str>>,
    value: Option<Cow<'a, str>>,
}

/// One line of a kernel, as a row.
pub(crate) fn event(position: usize, event: &Event) -> Result<Row, StoreError> {
    Ok(columns(event)?.row(position))
}

/// How many columns an event has.
pub(crate) const COLUMNS: usize = 20;

/// The values of an event where they lie: there are hundreds of thousands in a history.
pub(crate) fn values<'a>(
    row: &'a rusqlite::Row<'_>,
) -> Result<[ValueRef<'a>; COLUMNS], rusqlite::Error> {
    let mut values = [ValueRef::Null; COLUMNS];
    for (column, value) in values.iter_mut().enumerate() {
        *value = row.get_ref(column)?;
    }
    Ok(values)
}

/// One line of a kernel, from its row.
pub(crate) fn read_event(values: &[ValueRef<'_>]) -> Result<Event, Wrong> {
    Columns::read(values)?.event()
}

fn columns(event: &Event) -> Result<Columns<'_>, StoreError> {
    let of = |kind: &'static str| Columns {
        kind: kind.into(),
        ..Columns::default()
    };
    let timed = |kind, sample: &Sample| Columns {
        n: Some(sample.n as i64),
        wall: Some(sample.wall),
        pace: Some(sample.pace),
        wide: Some(sample.wide),
        usage: Some(sample.usage),
        ..of(kind)
    };
    Ok(match event {
        Event::Hello { protocol, kernel } => Columns {
            n: Some((*protocol).into()),
            name: Some(kernel.into()),
            ..of("hello")
        },
        Event::Param { key, value } => Columns {
            name: Some(key.into()),
            value: Some(value.into()),
            ..of("param")
        },
        Event::Warm { n, wall } => Columns {
            n: Some(*n as i64),
            wall: Some(*wall),
            ..of("warm")
        },
        Event::Sample(sample) => timed("sample", sample),
        Event::Process(sample) => timed("process", sample),
        Event::Batch(batch) => Columns {
            n: Some(batch.n as i64),
            pace: Some(batch.pace),
            wide: Some(batch.wide),
            usage: Some(batch.usage),
            value: Some(json("the walls of a batch", &batch.walls)?.into()),
            ..of("batch")
        },
        Event::Latency(histogram) => Columns {
            value: Some(json("a histogram", histogram)?.into()),
            ..of("latency")
        },
        Event::Check(check) => Columns {
            n: Some(check.n as i64),
            got: Some(check.got),
            expected: Some(check.expected),
            ..of("check")
        },
        Event::Skip { why } => Columns {
            value: Some(why.into()),
            ..of("skip")
        },
        Event::Fail { errno, call, why } => Columns {
            n: Some((*errno).into()),
            name: Some(call.into()),
            value: Some(why.into()),
            ..of("fail")
        },
        Event::Bye => of("bye"),
    })
}

impl<'a> Columns<'a> {
    fn event(self) -> Result<Event, Wrong> {
        Ok(match &*self.kind {
            "hello" => Event::Hello {
                protocol: self.small()?,
                kernel: self.name()?,
            },
            "param" => Event::Param {
                key: self.name()?,
                value: self.value()?,
            },
            "warm" => Event::Warm {
                n: self.n()?,
                wall: self.need(self.wall, "wall_ns")?,
            },
            "sample" => Event::Sample(self.sample()?),
            "process" => Event::Process(self.sample()?),
            "batch" => Event::Batch(Batch {
                n: self.n()?,
                walls: self.json()?,
                pace: self.need(self.pace, "pace_fs")?,
                wide: self.wide.unwrap_or(0),
                usage: self.need(self.usage, "user_ns")?,
            }),
            "latency" => Event::Latency(self.json()?),
            "check" => Event::Check(Check {
                n: self.n()?,
                got: self.need(self.got, "got")?,
                expected: self.need(self.expected, "expected")?,
            }),
            "skip" => Event::Skip { why: self.value()? },
            "fail" => Event::Fail {
                errno: self.small()?,
                call: self.name()?,
                why: self.value()?,
            },
            "bye" => Event::Bye,
            other => return Err(format!("an event of kind '{other}'")),
        })
    }

    fn sample(&self) -> Result<Sample, Wrong> {
        Ok(Sample {
            n: self.n()?,
            wall: self.need(self.wall, "wall_ns")?,
            pace: self.need(self.pace, "pace_fs")?,
            wide: self.wide.unwrap_or(0),
            usage: self.need(self.usage, "user_ns")?,
        })
    }

    fn need<T>(&self, column: Option<T>, name: &str) -> Result<T, Wrong> {
        column.ok_or_else(|| format!("an event of kind '{}' without {name}", self.kind))
    }

    fn n(&self) -> Result<u64, Wrong> {
        self.need(self.n.map(|n| n as u64), "n")
    }

    fn small<T: TryFrom<i64>>(&self) -> Result<T, Wrong> {
        let n = self.need(self.n, "n")?;
        T::try_from(n).map_err(|_| format!("an event of kind '{}' with n {n}", self.kind))
    }

    fn name(&self) -> Result<String, Wrong> {
        self.need(self.name.as_deref().map(str::to_owned), "name")
    }

    fn value(&self) -> Result<String, Wrong> {
        self.need(self.value.as_deref().map(str::to_owned), "value")
    }

    fn json<T: DeserializeOwned>(&self) -> Result<T, Wrong> {
        serde_json::from_str(&self.value()?)
            .map_err(|e| format!("the value of an event of kind '{}': {e}", self.kind))
    }

    fn row(&self, position: usize) -> Row {
        let usage = |field: fn(&Usage) -> u64| optional(self.usage.as_ref().map(field).map(bits));
        vec![
            count(position),
            text(&self.kind),
            optional(self.n.map(Value::Integer)),
            optional(self.wall.map(bits)),
            optional(self.pace.map(bits)),
            usage(|u| u.user),
            usage(|u| u.system),
            usage(|u| u.cpu),
            usage(|u| u.vcsw),
            usage(|u| u.icsw),
            usage(|u| u.minflt),
            usage(|u| u.majflt),
            usage(|u| u.inblock),
            usage(|u| u.oublock),
            usage(|u| u.migrations),
            optional(self.got.map(bits)),
            optional(self.expected.map(bits)),
            optional(self.name.as_deref().map(text)),
            optional(self.value.as_deref().map(text)),
            optional(self.wide.map(bits)),
        ]
    }

    fn read(values: &[ValueRef<'a>]) -> Result<Self, Wrong> {
        let mut row = Fields::new(values.iter().copied());
        row.pass(1); // the position, in the order of which the rows come
        // in the order of the columns, which is that in which a struct's fields are evaluated here
        Ok(Columns {
            kind: row.text()?.into(),
            n: row.optional_integer()?,
            wall: row.optional_u64()?,
            pace: row.optional_u64()?,
            usage: usage(&mut row)?,
            got: row.optional_u64()?,
            expected: row.optional_u64()?,
            name: row.optional_text()?.map(Cow::from),
            value: row.optional_text()?.map(Cow::from),
            wide: row.optional_u64()?,
        })
    }
}

/// Ten numbers, or none.
fn usage<'a>(row: &mut Fields<impl Iterator<Item = ValueRef<'a>>>) -> Result<Option<Usage>, Wrong> {
    let mut numbers = [None; 10];
    for number in &mut numbers {
        *number = row.optional_u64()?;
    }
    let [
        Some(user),
        Some(system),
        Some(cpu),
        Some(vcsw),
        Some(icsw),
        Some(minflt),
        Some(majflt),
        Some(inblock),
        Some(oublock),
        Some(migrations),
    ] = numbers
    else {
        return Ok(None);
    };
    Ok(Some(Usage {
        user,
        system,
        cpu,
        vcsw,
        icsw,
        minflt,
        majflt,
        inblock,
        oublock,
        migrations,
    }))
}
