//! A value with its confidence interval, and its two keys in JSON.

/// A value and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    /// `None` for an exact value, or too few values.
    pub interval: Option<[f64; 2]>,
}

impl Estimate {
    pub fn exact(value: f64) -> Self {
        let interval = None;
        Self { value, interval }
    }

    /// Half of the interval relative to the value: the only meaning of half-width. `None` without an interval, or for a value of 0.
    pub fn half_width(&self) -> Option<f64> {
        let [low, high] = self.interval.filter(|_| self.value != 0.0)?;
        Some((high - low) / 2.0 / self.value.abs())
    }

    /// Multiplies both by a positive factor.
    #[must_use]
    pub fn times(self, by: f64) -> Self {
        Self {
            value: self.value * by,
            interval: self.interval.map(|ends| ends.map(|end| end * by)),
        }
    }
}

impl From<Estimate> for f64 {
    fn from(estimate: Estimate) -> Self {
        estimate.value
    }
}

/// For `#[serde(flatten, with = ...)]`: an `Option<Estimate>` as two keys, both null without a value.
macro_rules! as_keys {
    ($($name:ident: $value:literal, $interval:literal;)*) => {$(
        pub(crate) mod $name {
            use super::Estimate;
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            #[derive(Serialize, Deserialize, schemars::JsonSchema)]
            pub(crate) struct Keys {
                #[serde(rename = $value)]
                value: Option<f64>,
                #[serde(rename = $interval)]
                interval: Option<[f64; 2]>,
            }

            pub(crate) fn serialize<S: Serializer>(estimate: &Option<Estimate>, to: S) -> Result<S::Ok, S::Error> {
                let value = estimate.map(|estimate| estimate.value);
                let interval = estimate.and_then(|estimate| estimate.interval);
                Keys { value, interval }.serialize(to)
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Estimate>, D::Error> {
                let Keys { value, interval } = Keys::deserialize(from)?;
                Ok(value.map(|value| Estimate { value, interval }))
            }
        }
    )*};
}

as_keys! {
    estimate: "estimate", "interval";
    cycles: "cycles", "cycles_interval";
    real: "real_s", "real_interval";
    user: "user_s", "user_interval";
    system: "system_s", "system_interval";
    process: "process_s", "process_interval";
    total: "total", "interval";
    efficiency: "efficiency", "efficiency_interval";
}
