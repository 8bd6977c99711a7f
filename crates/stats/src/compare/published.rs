//! A printed figure against a measured or another printed one: by the time that the document tells its readers to look
//! at, else by real time, else by the figure itself where the units agree, else by any time that both have.
//!
//! Must not know: launches, other rows, verdicts.

use super::pair::{Basis, Pair, is_published, ratio, scale};
use gritstone_model::{Better, Footnote, FootnoteKind, PublishedView, Quantity, ResultView};

/// What is compared where neither the time that the document points to nor real time nor the figure itself is there twice.
const TIMES: [&str; 3] = ["user_s", "cpu_s", "system_s"];

/// One side: a figure and, where it was measured, its interval.
#[derive(Clone, Copy)]
struct Side {
    value: f64,
    interval: Option<[f64; 2]>,
}

/// Compares two results of which one at least is printed.
pub(super) fn pair(base: &ResultView, other: &ResultView) -> Pair {
    let figure = pointed_to(base, other);
    let both = |figure| Some((time(base, figure)?, time(other, figure)?));
    if let Some(sides) = both(figure) {
        return conclude(base, other, figure, sides, Better::Lower, Vec::new());
    }
    if let Some(sides) = both("real_s") {
        let why = format!(
            "The document points to {}, which {}; real time is compared.",
            words(figure),
            lacking(base, other, figure)
        );
        let note = Footnote::new(FootnoteKind::Note, why);
        return conclude(base, other, "real_s", sides, Better::Lower, vec![note]);
    }
    if let (Some(b), Some(o), Some(scale)) = (
        estimate(base),
        estimate(other),
        scale(&other.unit, &base.unit),
    ) {
        let o = Side {
            value: o.value * scale,
            interval: o.interval.map(|ends| ends.map(|end| end * scale)),
        };
        return conclude(base, other, "estimate", (b, o), base.better, Vec::new());
    }
    if let Some((other_time, sides)) = TIMES.iter().find_map(|time| Some((*time, both(time)?))) {
        let why = format!(
            "Of the times, only {} stands on both sides.",
            words(other_time)
        );
        let note = Footnote::new(FootnoteKind::Note, why);
        return conclude(base, other, other_time, sides, Better::Lower, vec![note]);
    }
    if let Some(sides) = across(base, other, figure) {
        let why = format!(
            "The printed {} is compared with the measured real time, which has waiting in it: no other time was measured.",
            words(figure)
        );
        let note = Footnote::new(FootnoteKind::NotComparable, why);
        return conclude(base, other, "real_s", sides, Better::Lower, vec![note]);
    }
    Pair::new(base, other).apart("The two sides have no figure of the same kind here.")
}

/// The time that the document points to; the base decides between two documents.
fn pointed_to(base: &ResultView, other: &ResultView) -> &'static str {
    let says = |result: &ResultView| result.published.as_ref().map(|p| p.figure.clone());
    let printed_first = if is_published(base) {
        [says(base), says(other)]
    } else {
        [says(other), says(base)]
    };
    let figure = printed_first
        .into_iter()
        .flatten()
        .find(|figure| !figure.is_empty());
    match figure.as_deref() {
        Some("user_s") => "user_s",
        Some("system_s") => "system_s",
        Some("cpu_s") => "cpu_s",
        _ => "real_s",
    }
}

fn words(figure: &str) -> &'static str {
    match figure {
        "user_s" => "user time",
        "system_s" => "system time",
        "cpu_s" => "processor time",
        _ => "real time",
    }
}

/// Which side lacks a time, and why.
fn lacking(base: &ResultView, other: &ResultView, figure: &str) -> &'static str {
    let lacks = |result: &ResultView| time(result, figure).is_none();
    let measured = |result: &ResultView| !is_published(result);
    if [base, other].into_iter().any(|r| lacks(r) && measured(r)) {
        "could not be measured here (below 100 ticks of the scheduler, or nothing)"
    } else {
        "it does not print for one of them"
    }
}

/// A published time above 0.
fn time(result: &ResultView, figure: &str) -> Option<Side> {
    let published: &PublishedView = result.published.as_ref()?;
    let (value, interval) = match figure {
        "user_s" => (published.user_s, published.user_interval),
        "system_s" => (published.system_s, published.system_interval),
        "cpu_s" => processor(published),
        _ => (published.real_s, published.real_interval),
    };
    side(result, value, interval)
}

/// User and system time in one: as printed, or added up, with bounds that are wider than those of a sum need be.
fn processor(published: &PublishedView) -> (Option<f64>, Option<[f64; 2]>) {
    if published.cpu_s.is_some() {
        return (published.cpu_s, None);
    }
    let sum = published.user_s.zip(published.system_s);
    let intervals = published.user_interval.zip(published.system_interval);
    (
        sum.map(|(user, system)| user + system),
        intervals.map(|(user, system)| [user[0] + system[0], user[1] + system[1]]),
    )
}

fn estimate(result: &ResultView) -> Option<Side> {
    side(result, result.estimate, result.interval)
}

/// A printed figure has no interval of its own and adds nothing to that of the other side.
fn side(result: &ResultView, value: Option<f64>, interval: Option<[f64; 2]>) -> Option<Side> {
    let value = value.filter(|&value| value > 0.0)?;
    let interval = if is_published(result) {
        Some([value; 2])
    } else {
        interval.filter(|[low, _]| *low > 0.0)
    };
    Some(Side { value, interval })
}

/// The measured real time against whatever time was printed.
fn across(base: &ResultView, other: &ResultView, figure: &str) -> Option<(Side, Side)> {
    let of = |result: &ResultView| {
        let figure = if is_published(result) {
            figure
        } else {
            "real_s"
        };
        time(result, figure)
    };
    Some((of(base)?, of(other)?))
}

fn conclude(
    base: &ResultView,
    other: &ResultView,
    compared: &'static str,
    (b, o): (Side, Side),
    better: Better,
    mut footnotes: Vec<Footnote>,
) -> Pair {
    let exact = compared == "estimate" && base.unit.quantity() == Quantity::Exact;
    let both_printed = is_published(base) && is_published(other);
    let interval = match (b.interval, o.interval) {
        (Some([b_low, b_high]), Some([o_low, o_high])) if !both_printed && !exact => {
            let ends = [ratio(b_low, o_high, better), ratio(b_high, o_low, better)];
            Some([ends[0].min(ends[1]), ends[0].max(ends[1])])
        }
        _ => None,
    };
    if both_printed && !exact {
        let why = "Both figures are printed ones without an interval, so a difference cannot be told from chance.";
        footnotes.push(Footnote::new(FootnoteKind::Note, why));
    }
    Pair {
        compared,
        unit: if compared == "estimate" {
            base.unit.to_string()
        } else {
            "s".to_owned()
        },
        base: Some(b.value),
        other: Some(o.value),
        ratio: Some(ratio(b.value, o.value, better)),
        interval,
        p: None,
        basis: if exact { Basis::Exact } else { Basis::Interval },
        between: None,
        footnotes,
    }
}
