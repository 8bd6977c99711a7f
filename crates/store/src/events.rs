//! What a launch said as one text, and back: lines of JSON arrays, of which the schema has the shape.
//!
//! Must not know: connections, transactions, files.

use crate::StoreError;
use crate::rows::Wrong;
use gritstone_model::{Batch, Check, Event, Histogram, Sample, Usage};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

/// An [`Event`] without the names of its fields: there are fifty in a launch, and hundreds of thousands in a history.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line<'a> {
    Hello(u32, Cow<'a, str>),
    Param(Cow<'a, str>, Cow<'a, str>),
    Warm(u64, u64),
    Sample(u64, u64, u64, u64, Used),
    Process(u64, u64, u64, u64, Used),
    Batch(u64, Cow<'a, [u64]>, u64, u64, Used),
    Latency(Cow<'a, Histogram>),
    Check(u64, u64, u64),
    Skip((Cow<'a, str>,)),
    Fail(i32, Cow<'a, str>, Cow<'a, str>),
    Bye(),
}

/// A [`Usage`], in the order of its fields.
type Used = [u64; 10];

/// The lines of a launch as text.
pub(crate) fn text(events: &[Event]) -> Result<String, StoreError> {
    let unfit =
        |why: &dyn std::fmt::Display| StoreError::Unfit(format!("the events of a launch: {why}"));
    let mut text = Vec::with_capacity(64 * events.len());
    serde_json::Serializer::new(&mut text)
        .collect_seq(events.iter().map(Line::of))
        .map_err(|error| unfit(&error))?;
    String::from_utf8(text).map_err(|error| unfit(&error))
}

/// The lines of a launch from their text.
pub(crate) fn read(text: &str) -> Result<Vec<Event>, Wrong> {
    let lines: Vec<Line> = serde_json::from_str(text).map_err(|e| format!("events: {e}"))?;
    Ok(lines.into_iter().map(Line::event).collect())
}

impl<'a> Line<'a> {
    fn of(event: &'a Event) -> Self {
        match event {
            Event::Hello { protocol, kernel } => Self::Hello(*protocol, kernel.into()),
            Event::Param { key, value } => Self::Param(key.into(), value.into()),
            Event::Warm { n, wall } => Self::Warm(*n, *wall),
            Event::Sample(s) => Self::Sample(s.n, s.wall, s.pace, s.wide, used(s.usage)),
            Event::Process(s) => Self::Process(s.n, s.wall, s.pace, s.wide, used(s.usage)),
            Event::Batch(b) => Self::Batch(b.n, (&b.walls).into(), b.pace, b.wide, used(b.usage)),
            Event::Latency(histogram) => Self::Latency(Cow::Borrowed(histogram)),
            Event::Check(c) => Self::Check(c.n, c.got, c.expected),
            Event::Skip { why } => Self::Skip((why.into(),)),
            Event::Fail { errno, call, why } => Self::Fail(*errno, call.into(), why.into()),
            Event::Bye => Self::Bye(),
        }
    }

    fn event(self) -> Event {
        match self {
            Self::Hello(protocol, kernel) => Event::Hello {
                protocol,
                kernel: kernel.into(),
            },
            Self::Param(key, value) => Event::Param {
                key: key.into(),
                value: value.into(),
            },
            Self::Warm(n, wall) => Event::Warm { n, wall },
            Self::Sample(n, wall, pace, wide, used) => {
                Event::Sample(sample(n, wall, pace, wide, used))
            }
            Self::Process(n, wall, pace, wide, used) => {
                Event::Process(sample(n, wall, pace, wide, used))
            }
            Self::Batch(n, walls, pace, wide, used) => Event::Batch(Box::new(Batch {
                n,
                walls: walls.into(),
                pace,
                wide,
                usage: usage(used),
            })),
            Self::Latency(histogram) => Event::Latency(Box::new(histogram.into_owned())),
            Self::Check(n, got, expected) => Event::Check(Check { n, got, expected }),
            Self::Skip((why,)) => Event::Skip { why: why.into() },
            Self::Fail(errno, call, why) => Event::Fail {
                errno,
                call: call.into(),
                why: why.into(),
            },
            Self::Bye() => Event::Bye,
        }
    }
}

fn sample(n: u64, wall: u64, pace: u64, wide: u64, used: Used) -> Box<Sample> {
    Box::new(Sample {
        n,
        wall,
        pace,
        wide,
        usage: usage(used),
    })
}

fn used(usage: Usage) -> Used {
    let Usage {
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
    } = usage;
    [
        user, system, cpu, vcsw, icsw, minflt, majflt, inblock, oublock, migrations,
    ]
}

fn usage(used: Used) -> Usage {
    let [
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
    ] = used;
    Usage {
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
    }
}
