//! Compares a printed result with a measured or printed one: by the time that the document points to, else by real
//! time, else by the estimate if units agree, else by any common time.

use super::pair::{ComparedBy, Pair, ratio};
use crate::conversion::scale;
use gritstone_model::{Better, Estimate, Finding, Measurement, PublishedView, Quantity, Subject};

/// Times that are compared last, in this order.
const TIMES: [Subject; 3] = [Subject::User, Subject::Cpu, Subject::System];

/// Compares two results of which at least one is printed.
pub(super) fn pair(base: &Measurement, other: &Measurement) -> Pair {
    let subject = pointed_to(base, other);
    let both = |subject| Some((time(base, subject)?, time(other, subject)?));
    if let Some(sides) = both(subject) {
        return conclude(base, other, subject, sides, None);
    }
    if let Some(sides) = both(Subject::Real) {
        let note = Finding::RealTimeInstead {
            asked: subject,
            unmeasured: unmeasured(base, other, subject),
        };
        return conclude(base, other, Subject::Real, sides, Some(note));
    }
    if let (Some(b), Some(o), Some(scale)) =
        (side(base, base.estimate()), side(other, other.estimate()), scale(&other.unit, &base.unit))
    {
        return conclude(base, other, Subject::Estimate, (b, o.times(scale)), None);
    }
    if let Some((time, sides)) = TIMES.into_iter().find_map(|time| Some((time, both(time)?))) {
        let note = Finding::OnlyTime { time };
        return conclude(base, other, time, sides, Some(note));
    }
    if let Some(sides) = mixed_times(base, other, subject) {
        let note = Finding::AcrossTimes { printed: subject };
        return conclude(base, other, Subject::Real, sides, Some(note));
    }
    Pair::new(base, other).without_ratio_because(Finding::NothingInCommon {})
}

/// The time that the document points to; the base decides between two documents.
fn pointed_to(base: &Measurement, other: &Measurement) -> Subject {
    let subject_of = |result: &Measurement| result.published.as_ref().map(|p| p.figure);
    let printed_first = match base.is_published() {
        true => subject_of(base).or(subject_of(other)),
        false => subject_of(other).or(subject_of(base)),
    };
    match printed_first {
        Some(time @ (Subject::User | Subject::System | Subject::Cpu)) => time,
        _ => Subject::Real,
    }
}

/// Whether a measured side lacks the time; otherwise the printed one does.
fn unmeasured(base: &Measurement, other: &Measurement, subject: Subject) -> bool {
    let lacks = |result: &Measurement| !result.is_published() && time(result, subject).is_none();
    lacks(base) || lacks(other)
}

/// A published time above 0.
fn time(result: &Measurement, subject: Subject) -> Option<Estimate> {
    let published: &PublishedView = result.published.as_ref()?;
    let time = match subject {
        Subject::User => published.user,
        Subject::System => published.system,
        Subject::Cpu => cpu_time(published),
        _ => published.real,
    };
    side(result, time)
}

/// CPU time: as printed, or the sum of user and system time with conservative bounds.
fn cpu_time(published: &PublishedView) -> Option<Estimate> {
    let sum = published.user.zip(published.system).map(|(user, system)| {
        let intervals = user.interval.zip(system.interval);
        Estimate {
            value: user.value + system.value,
            interval: intervals.map(|(user, system)| [user[0] + system[0], user[1] + system[1]]),
        }
    });
    published.cpu_s.map(Estimate::exact).or(sum)
}

/// A printed value without an interval adds no variance.
fn side(result: &Measurement, estimate: Option<Estimate>) -> Option<Estimate> {
    let Estimate { value, interval } = estimate.filter(|estimate| estimate.value > 0.0)?;
    let interval = match result.is_published() {
        true => interval.or(Some([value; 2])),
        false => interval.filter(|[low, _]| *low > 0.0),
    };
    Some(Estimate { value, interval })
}

/// Measured real time against any printed time.
fn mixed_times(
    base: &Measurement,
    other: &Measurement,
    subject: Subject,
) -> Option<(Estimate, Estimate)> {
    let estimate = |result: &Measurement| {
        let subject = match result.is_published() {
            true => subject,
            false => Subject::Real,
        };
        time(result, subject)
    };
    Some((estimate(base)?, estimate(other)?))
}

fn conclude(
    base: &Measurement,
    other: &Measurement,
    compared: Subject,
    (b, o): (Estimate, Estimate),
    note: Option<Finding>,
) -> Pair {
    let (unit, better) = match compared {
        Subject::Estimate => (base.unit.to_string(), base.better),
        _ => ("s".to_owned(), Better::Lower),
    };
    let exact = compared == Subject::Estimate && base.unit.quantity() == Quantity::Exact;
    let both_printed = base.is_published() && other.is_published();
    let interval = match (b.interval, o.interval) {
        (Some([b_low, b_high]), Some([o_low, o_high])) if !both_printed && !exact => {
            let ends = [ratio(b_low, o_high, better), ratio(b_high, o_low, better)];
            Some([ends[0].min(ends[1]), ends[0].max(ends[1])])
        }
        _ => None,
    };
    let both_printed = (both_printed && !exact).then_some(Finding::BothPrinted {});
    Pair {
        compared,
        unit,
        base: Some(b.value),
        other: Some(o.value),
        ratio: Some(ratio(b.value, o.value, better)),
        interval,
        basis: if exact { ComparedBy::Exact } else { ComparedBy::Interval },
        notes: note.into_iter().chain(both_printed).collect(),
        ..Pair::new(base, other)
    }
}
