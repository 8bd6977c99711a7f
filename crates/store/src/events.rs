//! What a launch said as one text, and back: lines of JSON arrays, of which the schema has the shape.

use crate::StoreError;
use crate::rows::Wrong;
use gritstone_model::{Batch, Check, Event, Histogram, Sample, Usage};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

/// An [`Event`] without the names of its fields: there are fifty in a launch, and hundreds of thousands in a history. The structs within
/// are written as arrays, which serde reads into them by the order of their fields.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line<'a> {
    Hello(u32, Cow<'a, str>),
    Param(Cow<'a, str>, Cow<'a, str>),
    Warm(u64, u64),
    Sample(#[serde(serialize_with = "sample")] Cow<'a, Sample>),
    Process(#[serde(serialize_with = "sample")] Cow<'a, Sample>),
    Batch(#[serde(serialize_with = "batch")] Cow<'a, Batch>),
    Latency(Cow<'a, Histogram>),
    Check(#[serde(serialize_with = "check")] Check),
    Skip((Cow<'a, str>,)),
    Fail(i32, Cow<'a, str>, Cow<'a, str>),
    Bye(),
}

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
            Event::Sample(sample) => Self::Sample(Cow::Borrowed(sample)),
            Event::Process(sample) => Self::Process(Cow::Borrowed(sample)),
            Event::Batch(batch) => Self::Batch(Cow::Borrowed(batch)),
            Event::Latency(histogram) => Self::Latency(Cow::Borrowed(histogram)),
            Event::Check(check) => Self::Check(*check),
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
            Self::Sample(sample) => Event::Sample(Box::new(sample.into_owned())),
            Self::Process(sample) => Event::Process(Box::new(sample.into_owned())),
            Self::Batch(batch) => Event::Batch(Box::new(batch.into_owned())),
            Self::Latency(histogram) => Event::Latency(Box::new(histogram.into_owned())),
            Self::Check(check) => Event::Check(check),
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

fn sample<S: Serializer>(sample: &Sample, to: S) -> Result<S::Ok, S::Error> {
    let s = sample;
    (s.n, s.wall, s.pace, s.wide, used(&s.usage)).serialize(to)
}

fn batch<S: Serializer>(batch: &Batch, to: S) -> Result<S::Ok, S::Error> {
    let b = batch;
    (b.n, &b.walls, b.pace, b.wide, used(&b.usage)).serialize(to)
}

fn check<S: Serializer>(check: &Check, to: S) -> Result<S::Ok, S::Error> {
    (check.n, check.got, check.expected).serialize(to)
}

/// In the order of the fields.
fn used(u: &Usage) -> [u64; 10] {
    [
        u.user,
        u.system,
        u.cpu,
        u.vcsw,
        u.icsw,
        u.minflt,
        u.majflt,
        u.inblock,
        u.oublock,
        u.migrations,
    ]
}
