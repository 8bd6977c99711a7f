//! Output for github-action-benchmark (`customSmallerIsBetter`) of GitHub Actions: a JSON array of name, unit, value, range and extra.
//!
//! The action supports one direction per file, so that a rate is exported as the time per operation, and a share or ratio that is better
//! when higher is left out.

use crate::exportable::{BaseUnit, Exported, ExportedResult, flags, messages, valid_results};
use gritstone_model::{Better, RunData, RunView};
use serde_json::{Value, json};

pub(super) fn write(_: &RunData, view: &RunView) -> Exported {
    let (results, mut left_out) = valid_results(view);
    let (other, results): (Vec<_>, Vec<_>) = results.iter().partition(|exported| {
        exported.base_unit().0 == BaseUnit::Exact && exported.result.better == Better::Higher
    });
    let why = "higher is better, and it is not a rate, which would be exported as a time";
    left_out.extend(other.iter().map(|exported| (exported.result.id.clone(), why.to_owned())));
    Exported::json(&results.into_iter().map(entry).collect(), left_out)
}

fn entry(exported: &ExportedResult<'_>) -> Value {
    let result = exported.result;
    let (unit, times) = exported.base_unit();
    let time = |x: f64| match unit {
        BaseUnit::PerSecond => 1e9 / (x * times),
        BaseUnit::Ns | BaseUnit::Exact => x * times,
    };
    let thing = exported.thing();
    let unit = match unit {
        BaseUnit::Exact => result.unit.as_str().to_owned(),
        _ if thing.is_empty() => "ns".to_owned(),
        _ => format!("ns/{thing}"),
    };
    let range = result.interval().map(|[low, high]| {
        let half = (time(high) - time(low)).abs() / 2.0;
        format!("± {half}")
    });
    let head = format!("{}\n{} launches {}", result.title, result.launches(), flags(result));
    let lines: Vec<String> = [head].into_iter().chain(messages(result)).collect();
    json!({
        "name": result.id,
        "unit": unit,
        "value": time(exported.estimate),
        "range": range,
        "extra": lines.join("\n"),
    })
}
