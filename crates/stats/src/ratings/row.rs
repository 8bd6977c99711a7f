//! One row of a rating: whether it counts, and by what.
//!
//! Must not know: other rows, means.

use crate::compare::{scale, starred};
use crate::order;
use crate::rating::RatingRow;
use gritstone_model::{Better, FootnoteKind, Id, ResultView};

/// What becomes of a row.
pub(super) enum Fate {
    /// The base has no figure of it, or none that is comparable.
    NotCovered,
    /// It cannot be used, for this reason, and the user named the rows.
    LeftOut(&'static str),
    /// It is in the rating, or withholds it.
    Counts(Box<Pair>),
}

/// A row with both of its sides.
pub(super) struct Pair {
    pub id: Id,
    /// The machine, with the base as its reference.
    pub machine: RatingRow,
    /// The base, with itself as its reference: its scatter.
    pub base: RatingRow,
    pub machine_printed: bool,
    pub base_printed: bool,
    /// Kinds of the footnotes of what counts.
    pub doubts: Vec<FootnoteKind>,
}

impl Pair {
    /// Whether both sides have a figure whose work was done.
    pub fn is_shared(&self) -> bool {
        !self.machine.launches.is_empty() && !self.machine.starred
    }
}

/// What counts, and one value for each launch, in the unit of the base; a printed figure is one value.
struct Figures {
    compared: &'static str,
    machine: Vec<f64>,
    base: Vec<f64>,
    better: Better,
}

pub(super) fn fate(
    id: &Id,
    machine: Option<&ResultView>,
    base: Option<&ResultView>,
    named: bool,
) -> Fate {
    let Some(base) = base.filter(|base| has_figure(base)) else {
        return Fate::NotCovered;
    };
    let Some(machine) = machine.filter(|machine| has_figure(machine)) else {
        return unusable(id, named, false);
    };
    let Some(figures) = figures(machine, base) else {
        return Fate::NotCovered;
    };
    if starred(machine, figures.compared) || starred(base, figures.compared) {
        return unusable(id, named, true);
    }
    let centre = match order::logs(&figures.base) {
        Some(logs) if logs.len() <= order::MOST => order::pseudo_median(&logs).exp(),
        // not positive, or too many: the mean says so with the name of the row
        _ => figures.base[0],
    };
    let row = |values: &[f64]| RatingRow {
        name: id.to_string(),
        launches: (0..).zip(values.iter().copied()).collect(),
        reference: centre,
        better: figures.better,
        weight: 1.0,
        starred: false,
    };
    let notes = machine.footnotes.iter().chain(&base.footnotes);
    let of = |of: &Option<String>| of.as_deref().is_none_or(|of| of == figures.compared);
    Fate::Counts(Box::new(Pair {
        id: id.clone(),
        machine: row(&figures.machine),
        base: row(&figures.base),
        machine_printed: printed(machine),
        base_printed: printed(base),
        doubts: notes.filter(|n| of(&n.of)).map(|n| n.kind).collect(),
    }))
}

/// A row that withholds the rating, with no launches or with a star.
fn unusable(id: &Id, named: bool, starred: bool) -> Fate {
    if named {
        return Fate::LeftOut(match starred {
            true => "a claim of work failed",
            false => "not measured",
        });
    }
    let row = RatingRow {
        name: id.to_string(),
        launches: starred.then_some((0, 1.0)).into_iter().collect(),
        reference: 1.0,
        better: Better::Lower,
        weight: 1.0,
        starred,
    };
    Fate::Counts(Box::new(Pair {
        id: id.clone(),
        base: row.clone(),
        machine: row,
        machine_printed: false,
        base_printed: false,
        doubts: Vec::new(),
    }))
}

fn printed(result: &ResultView) -> bool {
    result.outcome == "published"
}

fn has_figure(result: &ResultView) -> bool {
    let published = result.published.as_ref();
    let times = published.map(|p| [p.real_s, p.user_s, p.system_s]);
    result.estimate.is_some() || times.is_some_and(|times| times.iter().any(Option::is_some))
}

/// Real time of the published work where a side is printed and both have it, else the figures where their units count the
/// same; `None` where nothing is comparable.
fn figures(machine: &ResultView, base: &ResultView) -> Option<Figures> {
    let any_printed = printed(machine) || printed(base);
    let declared = |compared: &str| {
        let notes = machine.footnotes.iter().chain(&base.footnotes);
        let of = |of: &Option<String>| of.as_deref().is_none_or(|of| of == compared);
        let mut doubts = notes.filter(|n| n.kind == FootnoteKind::NotComparable && of(&n.of));
        doubts.next().is_some()
    };
    if !any_printed && machine.version != base.version {
        return None;
    }
    let real = |result: &ResultView| {
        let published = result.published.as_ref()?;
        values(result, published.real_s, &published.values)
    };
    if let (true, Some(m), Some(b)) = (any_printed, real(machine), real(base)) {
        return (!declared("real_s")).then_some(Figures {
            compared: "real_s",
            machine: m,
            base: b,
            better: Better::Lower,
        });
    }
    let scale = scale(&machine.unit, &base.unit)?;
    let figure = |result: &ResultView| values(result, result.estimate, &result.values);
    let (m, b) = (figure(machine)?, figure(base)?);
    let stands = !(any_printed && declared("estimate"));
    stands.then(|| Figures {
        compared: "estimate",
        machine: m.into_iter().map(|x| x * scale).collect(),
        base: b,
        better: base.better,
    })
}

/// The value of each launch; the figure alone where it is printed, or came without its launches.
fn values(result: &ResultView, figure: Option<f64>, launches: &[f64]) -> Option<Vec<f64>> {
    let figure = figure?;
    match printed(result) || launches.is_empty() {
        true => Some(vec![figure]),
        false => Some(launches.to_vec()),
    }
}
