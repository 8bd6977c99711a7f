//! Parses events without an intermediate JSON tree, which would take forty times the memory of the text.

use crate::{Batch, Check, Counts, Event, Histogram, Param, Sample};
use serde::Deserialize;
use serde::de::value::{EnumAccessDeserializer, MapAccessDeserializer, StringDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, VariantAccess, Visitor,
};
use std::fmt;

/// An [`Event`] as `{"name": fields}`.
#[derive(Deserialize)]
#[serde(remote = "Event", rename_all = "lowercase")]
pub enum EventByName {
    Hello { protocol: u32, kernel: String },
    Param(Param),
    Warm { n: u64, wall: u64 },
    Sample(Box<Sample>),
    Process(Box<Sample>),
    Batch(Box<Batch>),
    Latency(Box<Histogram>),
    Counters { n: u64, counts: Counts<u64> },
    Check(Check),
    Skip { why: String },
    Fail { errno: i32, call: String, why: String },
    Bye {},
}

impl<'de> Deserialize<'de> for Event {
    /// Reads `{"event": name, ...}`, the name first.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Named)
    }
}

struct Named;

impl<'de> Visitor<'de> for Named {
    type Value = Event;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Event, A::Error> {
        match fields.next_entry::<String, String>()? {
            Some((key, name)) if key == "event" => {
                EventByName::deserialize(EnumAccessDeserializer::new(Tagged { name, fields }))
            }
            _ => Err(A::Error::custom("an event begins with its name, \"event\"")),
        }
    }
}

struct Tagged<A> {
    name: String,
    fields: A,
}

impl<'de, A: MapAccess<'de>> EnumAccess<'de> for Tagged<A> {
    type Error = A::Error;
    type Variant = Fields<A>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Fields<A>), A::Error> {
        let name = seed.deserialize(StringDeserializer::new(self.name))?;
        Ok((name, Fields(self.fields)))
    }
}

struct Fields<A>(A);

impl<'de, A: MapAccess<'de>> VariantAccess<'de> for Fields<A> {
    type Error = A::Error;

    fn unit_variant(mut self) -> Result<(), A::Error> {
        while self.0.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, A::Error> {
        seed.deserialize(MapAccessDeserializer::new(self.0))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, A::Error> {
        MapAccessDeserializer::new(self.0).deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_as_written() {
        for event in [
            Event::Hello { protocol: 1, kernel: "byte/loop".to_owned() },
            Event::Param(Param::new("copy", "2")),
            Event::Warm { n: 1, wall: 2 },
            Event::Sample(Box::default()),
            Event::Process(Box::default()),
            Event::Batch(Box::default()),
            Event::Latency(Box::default()),
            Event::Check(Check::default()),
            Event::Bye,
        ] {
            let text = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event, "{text}");
        }
        let unknown = r#"{"event":"bye","later":[{}]}"#;
        assert_eq!(serde_json::from_str::<Event>(unknown).unwrap(), Event::Bye);
        for wrong in [r#"{"n":1,"event":"warm","wall":2}"#, "{}", r#"{"event":"x"}"#, "[]"] {
            assert!(serde_json::from_str::<Event>(wrong).is_err(), "{wrong}");
        }
    }
}
