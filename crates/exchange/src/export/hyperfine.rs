//! Output in the format of `hyperfine --export-json`.

use crate::exportable::{BaseUnit, Exported, marked_id, valid_results};
use crate::timings;
use gritstone_model::{RunData, RunView};
use gritstone_report::Timing;

pub(super) fn write(data: &RunData, view: &RunView) -> Exported {
    let (results, mut left_out) = valid_results(view);
    let mut all = vec![];
    for exported in &results {
        let id = &exported.result.id;
        let timing = Timing::for_benchmark(id, data);
        if exported.base_unit().0 == BaseUnit::Exact || timing.times.is_empty() {
            left_out.push((id.clone(), "It has no times.".to_owned()));
        } else {
            all.push(Timing { command: marked_id(exported.result), ..timing });
        }
    }
    Exported { text: timings::json(&all), left_out }
}
