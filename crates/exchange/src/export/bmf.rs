//! Bencher Metric Format, of bencher.dev: a JSON object of benchmarks, each with measures, each with value and bounds.
//!
//! Measures are Bencher's built-in ones where they fit: `latency` in nanoseconds, `throughput` per second, `file-size` in bytes; its
//! thresholds know which direction is better.

use crate::exportable::{BaseUnit, Exported, marked_id, valid_results};
use gritstone_model::{RunData, RunView};
use serde_json::{Value, json};

pub(super) fn write(_: &RunData, view: &RunView) -> Exported {
    let (results, left_out) = valid_results(view);
    let all = results.iter().map(|exported| {
        let (unit, times) = exported.base_unit();
        let measure = match unit {
            BaseUnit::Ns => "latency",
            BaseUnit::PerSecond => "throughput",
            BaseUnit::Exact if exported.result.unit.as_str() == "bytes" => "file-size",
            BaseUnit::Exact => "ratio",
        };
        let mut value = json!({ "value": exported.estimate * times });
        if let Some([low, high]) = exported.result.interval() {
            value["lower_value"] = json!(low * times);
            value["upper_value"] = json!(high * times);
        }
        (marked_id(exported.result), json!({ measure: value }))
    });
    Exported::json(&Value::Object(all.collect()), left_out)
}
