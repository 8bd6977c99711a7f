//! Two measured results of one row: launches against launches, in core cycles where the frequency of the core sets the
//! time and both sides were paced.
//!
//! Must not know: printed figures, other rows, verdicts.

use super::Options;
use super::pair::{Basis, Pair, ratio, scale};
use crate::two;
use gritstone_model::{Better, Footnote, FootnoteKind, Kind, Quantity, ResultView};

/// Compares the estimates, or the cycles, of two measured results.
pub(super) fn pair(base: &ResultView, other: &ResultView, options: &Options) -> Pair {
    let mut pair = Pair::new(base, other);
    if base.version != other.version {
        return pair.apart(format!(
            "The work of this row changed: version {} against version {}.",
            base.version, other.version
        ));
    }
    let Some(scale) = scale(&other.unit, &base.unit) else {
        return pair.apart(format!(
            "The units count different things: {} against {}.",
            base.unit, other.unit
        ));
    };
    let (b, o) = match (base.estimate, other.estimate) {
        (Some(b), Some(o)) => (b, o * scale),
        (None, None) => return pair.apart("Neither side has a figure here."),
        (Some(_), None) => return pair.apart("Only the base has a figure here."),
        (None, Some(_)) => return pair.apart("Only the other side has a figure here."),
    };
    if b <= 0.0 || o <= 0.0 {
        return pair.apart("A figure that is not above 0 has no ratio to another.");
    }
    if base.values.is_empty() || other.values.is_empty() || base.kind == Kind::Rating {
        pair.ratio = Some(ratio(b, o, base.better));
        let why =
            "There are no values of single launches to compare, so the ratio has no interval.";
        pair.footnotes.push(Footnote::new(FootnoteKind::Note, why));
        return pair;
    }
    if base.unit.quantity() == Quantity::Exact {
        pair.ratio = Some(ratio(b, o, base.better));
        pair.basis = Basis::Exact;
        return pair;
    }
    launches(pair, base, other, scale, options)
}

/// Launches against launches.
fn launches(
    mut pair: Pair,
    base: &ResultView,
    other: &ResultView,
    scale: f64,
    options: &Options,
) -> Pair {
    let paced = options.cycles
        && base.processor_bound
        && other.processor_bound
        && !base.paced_values.is_empty()
        && !other.paced_values.is_empty();
    let between = options.between_run(&base.id);
    let (found, better, scatter) = if paced {
        pair.compared = "cycles";
        pair.unit = "cycles".to_owned();
        (pair.base, pair.other) = (base.cycles, other.cycles);
        let found = two::ratio(
            &base.paced_values,
            &other.paced_values,
            between.paced.of_two_runs(),
            options.confidence,
        );
        (found, Better::Lower, between.paced)
    } else {
        let others: Vec<f64> = other.values.iter().map(|x| x * scale).collect();
        let extra = between.raw.of_two_runs();
        let found = two::ratio(&base.values, &others, extra, options.confidence);
        (found, base.better, between.raw)
    };
    let Some(found) = found else {
        return pair.apart("A launch whose value is not above 0 has no ratio to another.");
    };
    let found = match better {
        Better::Higher => found,
        Better::Lower => found.inverse(),
    };
    pair.ratio = Some(found.ratio);
    pair.between = Some(scatter);
    pair.interval = found.interval;
    pair.p = found.p;
    pair
}
