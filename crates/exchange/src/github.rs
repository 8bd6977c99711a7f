//! Output for github-action-benchmark (`customSmallerIsBetter`): a JSON array of name, unit, value, range and extra.
//!
//! The action supports one direction per file, so that a rate is exported as the time per operation.

use crate::exportable::{Exported, Figure, Plain, figures, flags, messages};
use gritstone_model::RunView;
use serde_json::{Value, json};

/// Writes a run in this format.
#[must_use]
pub fn github(view: &RunView) -> Exported {
    let (figures, left_out) = figures(view);
    Exported::json(&figures.iter().map(entry).collect(), left_out)
}

fn entry(figure: &Figure<'_>) -> Value {
    let result = figure.result;
    let (plain, times) = figure.plain();
    let time = |x: f64| match plain {
        Plain::PerSecond => 1e9 / (x * times),
        Plain::Ns | Plain::Exact => x * times,
    };
    let thing = figure.thing();
    let unit = match plain {
        Plain::Exact => result.unit.as_str().to_owned(),
        _ if thing.is_empty() => "ns".to_owned(),
        _ => format!("ns/{thing}"),
    };
    let range = result.interval().map(|[low, high]| {
        let half = (time(high) - time(low)).abs() / 2.0;
        format!("± {half}")
    });
    let head = format!(
        "{}\n{} launches {}",
        result.title,
        result.launches(),
        flags(result)
    );
    let lines: Vec<String> = [head].into_iter().chain(messages(result)).collect();
    json!({
        "name": result.id,
        "unit": unit,
        "value": time(figure.estimate),
        "range": range,
        "extra": lines.join("\n"),
    })
}
