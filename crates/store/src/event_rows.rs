//! Events as rows, which launches from before the seventh migration have: one table for all kinds, each of which uses some of its
//! columns. Which kind uses which stands in the first migration. Nothing is written like this any more.
//!
//! Must not know: connections, transactions, files.

use crate::events;
use crate::rows::{Fields, Wrong};
use gritstone_model::{Batch, Check, Event, Sample, Usage};
use rusqlite::types::ValueRef;
use serde::de::DeserializeOwned;

/// The columns of an event, as far as it uses them.
struct Columns<'a> {
    kind: &'a str,
    /// A u64 as the same 64 bits, or a small number with its sign.
    n: Option<i64>,
    wall: Option<u64>,
    pace: Option<u64>,
    wide: Option<u64>,
    usage: Option<Usage>,
    got: Option<u64>,
    expected: Option<u64>,
    name: Option<&'a str>,
    value: Option<&'a str>,
}

/// How many columns an event has.
const COLUMNS: usize = 20;

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

impl<'a> Columns<'a> {
    fn event(self) -> Result<Event, Wrong> {
        Ok(match self.kind {
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
            "batch" => Event::Batch(Box::new(Batch {
                n: self.n()?,
                walls: self.json()?,
                pace: self.need(self.pace, "pace_fs")?,
                wide: self.wide.unwrap_or(0),
                usage: self.need(self.usage, "user_ns")?,
            })),
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

    fn sample(&self) -> Result<Box<Sample>, Wrong> {
        Ok(Box::new(Sample {
            n: self.n()?,
            wall: self.need(self.wall, "wall_ns")?,
            pace: self.need(self.pace, "pace_fs")?,
            wide: self.wide.unwrap_or(0),
            usage: self.need(self.usage, "user_ns")?,
        }))
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
        self.need(self.name.map(str::to_owned), "name")
    }

    fn value(&self) -> Result<String, Wrong> {
        self.need(self.value.map(str::to_owned), "value")
    }

    fn json<T: DeserializeOwned>(&self) -> Result<T, Wrong> {
        serde_json::from_str(&self.value()?)
            .map_err(|e| format!("the value of an event of kind '{}': {e}", self.kind))
    }

    fn read(values: &[ValueRef<'a>]) -> Result<Self, Wrong> {
        let mut row = Fields::new(values.iter().copied());
        row.pass(1); // the position, in the order of which the rows come
        // in the order of the columns, which is that in which a struct's fields are evaluated here
        Ok(Columns {
            kind: row.text()?,
            n: row.optional_integer()?,
            wall: row.optional_u64()?,
            pace: row.optional_u64()?,
            usage: usage(&mut row)?,
            got: row.optional_u64()?,
            expected: row.optional_u64()?,
            name: row.optional_text()?,
            value: row.optional_text()?,
            wide: row.optional_u64()?,
        })
    }
}

/// Ten numbers, or none.
fn usage<'a>(row: &mut Fields<impl Iterator<Item = ValueRef<'a>>>) -> Result<Option<Usage>, Wrong> {
    let mut numbers = [0; 10];
    let mut none = false;
    for number in &mut numbers {
        match row.optional_u64()? {
            Some(there) => *number = there,
            None => none = true,
        }
    }
    Ok((!none).then(|| events::usage(numbers)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of this kind, with a number of its own in each column that has one.
    fn row(kind: &str) -> [ValueRef<'_>; COLUMNS] {
        let mut row: [ValueRef; COLUMNS] = std::array::from_fn(|at| ValueRef::Integer(at as i64));
        row[1] = ValueRef::Text(kind.as_bytes());
        row[17] = ValueRef::Text(b"name");
        row[18] = ValueRef::Text(b"value");
        row
    }

    #[test]
    fn each_column_is_what_it_was() {
        let usage = Usage {
            user: 5,
            system: 6,
            cpu: 7,
            vcsw: 8,
            icsw: 9,
            minflt: 10,
            majflt: 11,
            inblock: 12,
            oublock: 13,
            migrations: 14,
        };
        let mut sample = Sample {
            n: 2,
            wall: 3,
            pace: 4,
            wide: 19,
            usage,
        };
        assert_eq!(read_event(&row("sample")), Ok(Event::Sample(sample.into())));
        assert_eq!(
            read_event(&row("process")),
            Ok(Event::Process(sample.into()))
        );
        // as it was before there was one
        let mut narrow = row("sample");
        narrow[19] = ValueRef::Null;
        sample.wide = 0;
        assert_eq!(read_event(&narrow), Ok(Event::Sample(sample.into())));
        let check = Event::Check(Check {
            n: 2,
            got: 15,
            expected: 16,
        });
        assert_eq!(read_event(&row("check")), Ok(check));
        let fail = Event::Fail {
            errno: 2,
            call: "name".into(),
            why: "value".into(),
        };
        assert_eq!(read_event(&row("fail")), Ok(fail));
    }

    #[test]
    fn what_is_not_understood_is_said() {
        let told = |row: [ValueRef; COLUMNS]| read_event(&row).unwrap_err();
        assert_eq!(told(row("future")), "an event of kind 'future'");
        let mut large = row("hello");
        large[2] = ValueRef::Integer(1 << 32);
        assert_eq!(told(large), "an event of kind 'hello' with n 4294967296");
        let mut short = row("sample");
        short[3] = ValueRef::Null;
        assert_eq!(told(short), "an event of kind 'sample' without wall_ns");
    }
}
