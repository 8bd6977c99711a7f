//! Compares copies on both sides: total rate and efficiency.
//!
//! Times are compared launch by launch. Efficiencies have one value per round. Run effects on several copies are unknown; those on one copy
//! are used.

use super::options::CONFIDENCE;
use super::{MergeNotes, Options};
use crate::conversion::scale;
use gritstone_model::{
    Better, CompareCopies, CompareFigure, CopiesPoint, Estimate, Flag, Measurement, Note,
};
use gritstone_stats::scatter::Scatter;
use gritstone_stats::two_sample::{self, Ratio};
use std::collections::BTreeSet;

/// One for each number of copies of either side, without verdicts.
pub(super) fn copies(
    base: &Measurement,
    other: &Measurement,
    options: &Options,
    merge_notes: &MergeNotes,
) -> Vec<CompareCopies> {
    let (Some(b), Some(o)) = (base.copies(), other.copies()) else {
        return vec![];
    };
    let several = |points: &[CopiesPoint]| -> Vec<CopiesPoint> {
        let several = points.iter().filter(|point| point.copies > 1);
        several.cloned().collect()
    };
    let (b, o) = (several(&b.points), several(&o.points));
    let sizes: BTreeSet<u32> = b.iter().chain(&o).map(|point| point.copies).collect();
    let comparable = base.version == other.version;
    let scale = scale(&other.unit, &base.unit).filter(|_| comparable);
    let effect = options.effect(&base.id);
    let extra = Scatter { ln_sd: effect.beyond_launches(), ..effect }.of_difference();
    let one = |copies: u32| {
        let point = |points: &[CopiesPoint]| {
            let found = points.iter().find(|point| point.copies == copies);
            found.cloned().unwrap_or_default()
        };
        let (b, o) = (point(&b), point(&o));
        let others: Vec<f64> = o.values.iter().map(|x| x * scale.unwrap_or(1.0)).collect();
        let notes = || b.notes.iter().chain(&o.notes);
        let flagged = |flag| notes().any(|note: &Note| note.flag() == Some(flag));
        let fit = scale.is_some() && !flagged(Flag::Invalid);
        let compared = |base: Option<Estimate>, other: Option<Estimate>, found: Option<Ratio>| {
            let found = found.filter(|_| fit);
            CompareFigure {
                base: base.map(|base| base.value),
                other: other.map(|other| other.value),
                ratio: found.map(|found| found.ratio),
                interval: found.and_then(|found| found.interval),
                verdict: options.before_p(found.and_then(|found| found.interval)),
                // interference on one side cannot be distinguished from a change
                p: found.and_then(|found| found.p).filter(|_| !flagged(Flag::Interference)),
                ..CompareFigure::default()
            }
        };
        let total = two_sample::ratio(&b.values, &others, extra, CONFIDENCE);
        let total = total.map(|found| match base.better {
            Better::Higher => found,
            Better::Lower => found.inverse(),
        });
        let efficiency = two_sample::ratio(&b.efficiencies, &o.efficiencies, extra, CONFIDENCE);
        CompareCopies {
            copies,
            unit: base.unit.to_string(),
            total: compared(b.total, o.total.zip(scale).map(|(x, by)| x.times(by)), total),
            efficiency: compared(b.efficiency, o.efficiency, efficiency),
            notes: merge_notes(&b.notes, &o.notes),
        }
    };
    sizes.into_iter().map(one).collect()
}
