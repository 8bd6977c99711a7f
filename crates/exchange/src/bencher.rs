//! Bencher Metric Format: a JSON object of benchmarks, each with measures, each with value and bounds.
//!
//! Measures are Bencher's built-in ones where they fit: `latency` in nanoseconds, `throughput` per second, `file-size` in bytes; its
//! thresholds know which direction is better.

use crate::exportable::{BaseUnit, Exported, figures};
use gritstone_model::{Flag, RunView};
use serde_json::{Value, json};

/// Writes a run in this format.
pub fn bencher(view: &RunView) -> Exported {
    let (figures, left_out) = figures(view);
    let all = figures.iter().map(|figure| {
        let (unit, times) = figure.base_unit();
        let measure = match unit {
            BaseUnit::Ns => "latency",
            BaseUnit::PerSecond => "throughput",
            BaseUnit::Exact if figure.result.unit.as_str() == "bytes" => "file-size",
            BaseUnit::Exact => "ratio",
        };
        let mut value = json!({ "value": figure.estimate * times });
        if let Some([low, high]) = figure.result.interval() {
            value["lower_value"] = json!(low * times);
            value["upper_value"] = json!(high * times);
        }
        // the format has no field for a remark
        let ours = !figure.result.is_flagged(Flag::Custom);
        let mark = if ours { "" } else { " (not of Gritstone)" };
        let name = format!("{}{mark}", figure.result.id);
        (name, json!({ measure: value }))
    });
    Exported::json(&Value::Object(all.collect()), left_out)
}
