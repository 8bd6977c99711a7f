//! The size of a program that a command links: exact, without an interval.

use super::reading::Reading;
use super::{Row, blank};
use gritstone_model::{
    Count, Estimate, Finding, Measurement, Metric, Note, Param, Part, PartValue, RunData, in_order,
};

const PARTS: [(Part, Metric); 3] = [
    (Part::Text, Metric::TextSize),
    (Part::Data, Metric::DataSize),
    (Part::Bss, Metric::BssSize),
];

/// The result of a row that takes the size of what it links.
pub(super) fn result(row: &Row, run: &RunData) -> Measurement {
    let mut result = blank(row.benchmark, run);
    let (outcome, failure) = row.outcome(&result, run);
    result.outcome = outcome;
    result.notes.extend(failure);

    let launches: Vec<&Reading> = row.launches.iter().filter(|r| r.measured()).collect();
    let sized: Vec<(&Reading, Vec<PartValue>)> = launches
        .iter()
        .filter_map(|launch| Some((*launch, parts(launch)?)))
        .collect();
    result.values = sized
        .iter()
        .map(|(_, parts)| parts.iter().map(|part| part.value).sum())
        .collect();
    result.launches = sized.len();
    result.samples = sized.len();
    let without = Count::launches(launches.len() - sized.len(), launches.len());
    let found = [
        (without.part > 0).then_some(Finding::Unsized { count: without }),
        unequal(&result.values),
    ];
    result
        .notes
        .extend(found.into_iter().flatten().map(Note::new));
    if let Some((launch, parts)) = sized.into_iter().next() {
        result.estimate = result.values.first().copied().map(Estimate::exact);
        result.parts = parts;
        let params = launch.params.iter();
        let symbols = params.filter_map(|param| match param {
            Param::Symbol(name) => Some(name.clone()),
            _ => None,
        });
        result.names = symbols.collect();
    }
    result.published = row
        .benchmark
        .published
        .as_ref()
        .map(super::published::blank);
    result.notes = in_order(result.notes);
    result
}

fn parts(launch: &Reading) -> Option<Vec<PartValue>> {
    PARTS
        .iter()
        .map(|(part, metric)| {
            let bytes = launch.numbers(*metric).next()?.integer()?;
            Some(PartValue {
                part: part.clone(),
                value: bytes as f64,
            })
        })
        .collect()
}

/// A size is the same every time; where it was not, the first stands and this says so.
fn unequal(sizes: &[f64]) -> Option<Finding> {
    let least = sizes.iter().copied().reduce(f64::min)?;
    let most = sizes.iter().copied().reduce(f64::max)?;
    (least < most).then_some(Finding::SizeVaries { least, most })
}
