//! Bencher Metric Format: a JSON object of benchmarks, each with measures, each with value and bounds.
//!
//! Measures are Bencher's built-in ones where they fit: `latency` in nanoseconds, `throughput` per second, `file-size` in bytes; its
//! thresholds know which direction is better.

use crate::exportable::{BaseUnit, Exported, valid_results};
use gritstone_model::{Flag, RunView};
use serde_json::{Value, json};

/// Writes a run in this format.
pub fn bencher(view: &RunView) -> Exported {
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
        // the format has no field for a remark
        let ours = !exported.result.is_flagged(Flag::Custom);
        let mark = if ours { "" } else { " (not of Gritstone)" };
        let name = format!("{}{mark}", exported.result.id);
        (name, json!({ measure: value }))
    });
    Exported::json(&Value::Object(all.collect()), left_out)
}
