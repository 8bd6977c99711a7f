//! Codec of the events of a launch: lines of JSON arrays, documented in the schema.

use crate::StoreError;
use gritstone_model::{Event, EventByName, Sample, Usage};
use serde::{Deserialize, Serialize, Serializer};

/// serde reads arrays into structs by field order
#[derive(Deserialize)]
struct Line(#[serde(with = "EventByName")] Event);

/// An [`Event`] without field names: a launch has fifty events, a history hundreds of thousands.
struct Short<'a>(&'a Event);

impl Serialize for Short<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Event::Hello { protocol, kernel } => to.collect_map([("hello", (protocol, kernel))]),
            Event::Param(param) => to.collect_map([("param", (param.key(), param.value()))]),
            Event::Warm { n, wall } => to.collect_map([("warm", (n, wall))]),
            Event::Sample(s) => to.collect_map([("sample", sample(s))]),
            Event::Process(s) => to.collect_map([("process", sample(s))]),
            Event::Batch(b) => to.collect_map([(
                "batch",
                (b.n, &b.walls, b.cycle_probe, b.smt_probe, used(&b.usage)),
            )]),
            Event::Latency(histogram) => to.collect_map([("latency", histogram)]),
            Event::Counters { n, counts } => to.collect_map([("counters", (n, counts))]),
            Event::Check(c) => to.collect_map([("check", (c.n, c.got, c.expected))]),
            Event::Skip { why } => to.collect_map([("skip", (why,))]),
            Event::Fail { errno, call, why } => to.collect_map([("fail", (errno, call, why))]),
            Event::Bye => to.collect_map([("bye", [(); 0])]),
        }
    }
}

fn sample(s: &Sample) -> impl Serialize {
    (s.n, s.wall, s.cycle_probe, s.smt_probe, used(&s.usage))
}

/// Counters in the order of the fields.
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

pub(crate) fn text(events: &[Event]) -> Result<String, StoreError> {
    let lines: Vec<Short> = events.iter().map(Short).collect();
    let text = serde_json::to_string(&lines);
    text.map_err(|error| StoreError::Unfit(format!("the events of a launch: {error}")))
}

pub(crate) fn read(text: &str) -> Result<Vec<Event>, String> {
    let lines: Vec<Line> = serde_json::from_str(text).map_err(|e| format!("events: {e}"))?;
    Ok(lines.into_iter().map(|line| line.0).collect())
}
