//! Result of a command that links a program: its exact size.

use super::Launched;
use super::draft::Draft;
use super::reading::Reading;
use gritstone_model::{
    Count, Data, Estimate, Finding, Flag, Measured, Measurement, Metric, Note, Param, Part,
    PartValue, RunData, Sampled,
};

const PARTS: [(Part, Metric); 3] =
    [(Part::Text, Metric::TextSize), (Part::Data, Metric::DataSize), (Part::Bss, Metric::BssSize)];

pub(super) fn result(launched: &Launched, run: &RunData) -> Measurement {
    let mut draft = Draft::new(launched.benchmark, run);
    let (absence, failure) = launched.failure(draft.is_flagged(Flag::Skipped), run);
    draft.notes.extend(failure);

    let launches: Vec<&Reading> = launched.measured();
    let sized: Vec<(&Reading, Vec<PartValue>)> =
        launches.iter().filter_map(|launch| Some((*launch, parts(launch)?))).collect();
    let total = |parts: &Vec<PartValue>| parts.iter().map(|part| part.value).sum();
    let values: Vec<f64> = sized.iter().map(|(_, parts)| total(parts)).collect();
    let unsized_launches = Count::launches(launches.len() - sized.len(), launches.len());
    let found = [
        (unsized_launches.part > 0).then_some(Finding::Unsized { count: unsized_launches }),
        size_variation(&values),
    ];
    let found = found.into_iter().flatten().map(Note::new);
    draft.notes.extend(found);
    if let Some(absence) = absence {
        return draft.finish(Data::absent(absence));
    }
    let symbols = |launch: &Reading| -> Vec<String> {
        let params = launch.params.iter();
        let symbols = params.filter_map(|param| match param {
            Param::Symbol(name) => Some(name.clone()),
            _ => None,
        });
        symbols.collect()
    };
    let mut measured = Measured {
        sampled: Sampled {
            estimate: values.first().copied().map(Estimate::exact),
            launches: sized.len(),
            samples: sized.len(),
            values,
            ..Sampled::default()
        },
        names: sized.first().map_or(vec![], |(launch, _)| symbols(launch)),
        ..Measured::default()
    };
    if let Some((_, parts)) = sized.into_iter().next() {
        measured.sampled.parts = parts;
    }
    draft.finish(Data::Measured(Box::new(measured)))
}

fn parts(launch: &Reading) -> Option<Vec<PartValue>> {
    PARTS
        .iter()
        .map(|(part, metric)| {
            let bytes = launch.numbers(*metric).next()?.integer()?;
            Some(PartValue { part: part.clone(), value: bytes as f64 })
        })
        .collect()
}

/// The result is the first size; a finding if launches differ.
fn size_variation(sizes: &[f64]) -> Option<Finding> {
    let least = sizes.iter().copied().reduce(f64::min)?;
    let most = sizes.iter().copied().reduce(f64::max)?;
    (least < most).then_some(Finding::SizeVaries { least, most })
}
