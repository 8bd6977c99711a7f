//! One row of a rating: whether it counts, and by what; itself, or as so many copies.
//!
//! Must not know: other rows, means.

use super::Copies;
use crate::compare::{scale, starred};
use crate::order;
use crate::rating::RatingRow;
use gritstone_model::{Better, CopiesPoint, FootnoteKind, Id, ResultView};

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
    /// The machine, with the base as its reference, in which what copies add on either side is allowed for.
    pub machine: RatingRow,
    /// The base, with itself as its reference: its scatter.
    pub base: RatingRow,
    /// What copies do together over what one does, with its centre as its reference: its scatter; none for one copy.
    pub machine_copies: Option<RatingRow>,
    pub base_copies: Option<RatingRow>,
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
    (machine, base): (Option<&ResultView>, Option<&ResultView>),
    copies: Copies,
    named: bool,
) -> Fate {
    let Some(base) = base.filter(|base| has_figure(base)) else {
        return Fate::NotCovered;
    };
    let Some(of_base) = copies.base.and_then(|n| Together::of(base, n)) else {
        return Fate::NotCovered;
    };
    let Some(machine) = machine.filter(|machine| has_figure(machine)) else {
        return unusable(id, id.as_str(), named, false);
    };
    let Some(of_machine) = Together::of(machine, copies.machine) else {
        let name = format!("{id} as {} copies", copies.machine);
        return unusable(id, &name, named, false);
    };
    let Some(figures) = figures(machine, base) else {
        return Fate::NotCovered;
    };
    if starred(machine, figures.compared)
        || starred(base, figures.compared)
        || of_machine.is_starred()
        || of_base.is_starred()
    {
        return unusable(id, id.as_str(), named, true);
    }
    let notes = machine.footnotes.iter().chain(&base.footnotes);
    let of = |of: &Option<String>| of.as_deref().is_none_or(|of| of == figures.compared);
    let own = notes.filter(|n| of(&n.of)).map(|n| n.kind);
    let doubts = own.chain(of_machine.doubts()).chain(of_base.doubts());
    Fate::Counts(Box::new(Pair {
        machine_printed: printed(machine),
        base_printed: printed(base),
        doubts: doubts.collect(),
        ..counted(id, &figures, &of_machine, &of_base)
    }))
}

/// The rows of both sides, with what copies add on either.
fn counted(id: &Id, figures: &Figures, of_machine: &Together, of_base: &Together) -> Pair {
    let row = |values: &[f64], reference: f64, better: Better| RatingRow {
        name: id.to_string(),
        launches: (0..).zip(values.iter().copied()).collect(),
        reference,
        better,
        weight: 1.0,
        starred: false,
    };
    let gain = of_machine.gain() / of_base.gain();
    let reference = centre(&figures.base);
    let with_copies = match figures.better {
        Better::Higher => reference / gain,
        Better::Lower => reference * gain,
    };
    let copies = |of: &Together| {
        let gain = of.gain();
        (!of.rounds.is_empty()).then(|| row(&of.rounds, gain, Better::Higher))
    };
    Pair {
        id: id.clone(),
        machine: row(&figures.machine, with_copies, figures.better),
        base: row(&figures.base, reference, figures.better),
        machine_copies: copies(of_machine),
        base_copies: copies(of_base),
        machine_printed: false,
        base_printed: false,
        doubts: vec![],
    }
}

/// The centre of values, which is what they are compared by.
fn centre(values: &[f64]) -> f64 {
    match order::logs(values) {
        Some(logs) if logs.len() <= order::MOST => order::pseudo_median(&logs).exp(),
        // not positive, or too many: the mean says so with the name of the row
        _ => values[0],
    }
}

/// So many copies of a row over one copy.
struct Together<'a> {
    /// What they do together over what one does, round by round; empty for one copy.
    rounds: Vec<f64>,
    point: Option<&'a CopiesPoint>,
}

impl<'a> Together<'a> {
    /// `None` where they were not measured.
    fn of(result: &'a ResultView, copies: u32) -> Option<Self> {
        if copies == 1 {
            return Some(Self {
                rounds: vec![],
                point: None,
            });
        }
        let points = &result.copies.as_ref()?.points;
        let point = points.iter().find(|point| point.copies == copies)?;
        let rounds = point.efficiencies.iter().map(|x| x * f64::from(copies));
        let rounds: Vec<f64> = rounds.collect();
        (!rounds.is_empty()).then_some(Self {
            rounds,
            point: Some(point),
        })
    }

    fn gain(&self) -> f64 {
        match self.rounds.as_slice() {
            [] => 1.0,
            rounds => centre(rounds),
        }
    }

    fn doubts(&self) -> impl Iterator<Item = FootnoteKind> {
        let points = self.point.into_iter();
        points.flat_map(|point| point.footnotes.iter().map(|note| note.kind))
    }

    fn is_starred(&self) -> bool {
        self.doubts().any(|kind| kind == FootnoteKind::Trivialised)
    }
}

/// A row that withholds the rating under this name, with no launches or with a star.
fn unusable(id: &Id, name: &str, named: bool, starred: bool) -> Fate {
    if named {
        return Fate::LeftOut(match starred {
            true => "a claim of work failed",
            false => "not measured",
        });
    }
    let row = RatingRow {
        name: name.to_owned(),
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
        machine_copies: None,
        base_copies: None,
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
