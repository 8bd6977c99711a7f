//! Curves: one figure and one table for the rows that are the points of a curve, one line a machine.
//!
//! The catalog says which rows are points of which curve. Where a document printed times for these points, the
//! times of the published work are drawn, this machine among the others; otherwise this machine's figures.
//! Variants of a curve (`@...`) are further lines of this machine.

use super::{Across, Brief, cell, next_figure};
use crate::columns;
use crate::document::{Block, Column, Document, Figure, Row, Style, Table, Text};
use crate::svg::{Line, Plot, Point};
use crate::{number, words};
use gritstone_model::{Estimate, Id, Measurement, Note, RunView, Subject};

/// A range this wide is only legible on a logarithmic axis.
pub(super) const LOG_FROM: f64 = 30.0;

/// What stands behind the `@` of a row.
type Variant<'a> = Option<&'a str>;
/// Where along x, and which row.
type Points<'a> = &'a [(f64, Id)];

/// A curve and its variants.
pub(super) struct Curve<'a> {
    /// Rows without the variant, by which variants are found to belong together.
    stem: &'a str,
    label: &'a str,
    /// The first has no name where there is one without.
    variants: Vec<(Variant<'a>, Points<'a>)>,
    ends: Vec<&'a Id>,
}

impl Curve<'_> {
    /// Whether a row is one of its points.
    pub(super) fn holds(&self, id: &Id) -> bool {
        self.variants
            .iter()
            .any(|(_, points)| points.iter().any(|(_, point)| point == id))
    }

    /// Whether a row carries the curve.
    pub(super) fn ends_in(&self, id: &Id) -> bool {
        self.ends.contains(&id)
    }

    /// What the rows have in common: `byte/multi` of `byte/multi/1` to `byte/multi/6`.
    fn rows(&self) -> &str {
        self.stem
            .rsplit_once('/')
            .map_or(self.stem, |(rows, _)| rows)
    }

    fn xs(&self) -> Vec<f64> {
        let mut xs: Vec<f64> = self
            .variants
            .iter()
            .flat_map(|(_, points)| points.iter().map(|(x, _)| *x))
            .collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        xs
    }
}

/// A machine, or a variant of this one, along the curve.
struct Track<'a> {
    name: String,
    system: &'a str,
    strong: bool,
    /// One a place along x.
    results: Vec<Option<&'a Measurement>>,
}

/// The curves of a family, in the order of their rows.
pub(super) fn all<'a>(input: &Brief<'a>, rows: &[Across<'a>]) -> Vec<Curve<'a>> {
    let mut curves: Vec<Curve> = Vec::new();
    for row in rows {
        let Some(benchmark) = input.benchmark(row.id) else {
            continue;
        };
        let Some(curve) = &benchmark.curve else {
            continue;
        };
        let stem = row.id.stem();
        let variant = (row.id.variant(), curve.points.as_slice());
        match curves
            .iter_mut()
            .find(|c| c.stem == stem && c.label == curve.label)
        {
            Some(same) => {
                same.variants.push(variant);
                same.ends.push(row.id);
            }
            None => curves.push(Curve {
                stem,
                label: &curve.label,
                variants: vec![variant],
                ends: vec![row.id],
            }),
        }
    }
    for curve in &mut curves {
        curve.variants.sort_by_key(|(variant, _)| variant.is_some());
    }
    curves
}

/// What is drawn for a point.
#[derive(Clone, Copy, PartialEq)]
enum What {
    RealTime,
    Figure,
}

impl What {
    fn value(self, result: &Measurement) -> Option<Estimate> {
        match self {
            Self::RealTime => result.published.as_ref()?.real,
            Self::Figure => result.estimate,
        }
    }
}

/// Adds the figure and the table of a curve.
pub(super) fn show(document: &mut Document, input: &Brief, curve: &Curve) {
    let xs = curve.xs();
    let tracks = tracks(input, curve, &xs);
    let printed = |t: &Track| {
        !t.strong
            && t.results
                .iter()
                .flatten()
                .any(|r| What::RealTime.value(r).is_some())
    };
    let what = if tracks.iter().any(printed) {
        What::RealTime
    } else {
        What::Figure
    };
    let tracks: Vec<Track> = tracks
        .into_iter()
        .filter(|t| speaks(t, what) || t.strong && t.results.iter().any(Option::is_some))
        .collect();
    let unit = match what {
        What::RealTime => "s".to_owned(),
        What::Figure => unit(&tracks),
    };
    let y = match what {
        What::RealTime => "Real time of the published work".to_owned(),
        What::Figure => format!("Figures of {}", curve.rows()),
    };
    let caption = format!("{y} against {}", curve.label);
    if let Some(figure) = figure(document, curve, &tracks, &xs, what, (&y, &unit)) {
        document.push(Block::Figure(figure));
    }
    let table = table(document, curve, &tracks, &xs, what, &unit);
    document.table(Table {
        caption: caption.into(),
        ..table
    });
}

fn tracks<'a>(input: &Brief<'a>, curve: &Curve, xs: &[f64]) -> Vec<Track<'a>> {
    let along = |view: &'a RunView, points: Points| -> Vec<Option<&'a Measurement>> {
        let at = |x: &f64| {
            let (_, id) = points.iter().find(|(px, _)| px == x)?;
            view.results.iter().find(|r| r.id == *id)
        };
        xs.iter().map(at).collect()
    };
    let own = input.runs.iter().enumerate().flat_map(|(at, run)| {
        let name = input.name(at);
        let of = move |(variant, points): &(Variant, Points<'_>)| Track {
            name: variant.map_or(name.clone(), |v| format!("{name}, {v}")),
            system: &run.machine.system,
            strong: true,
            results: along(run, points),
        };
        curve.variants.iter().map(of)
    });
    let others = input.references.iter().map(|view| Track {
        name: view.machine.name.clone(),
        system: &view.machine.system,
        strong: false,
        results: along(view, curve.variants[0].1),
    });
    own.chain(others).collect()
}

/// Whether a machine has a value or a footnote anywhere along the curve.
fn speaks(track: &Track, what: What) -> bool {
    track
        .results
        .iter()
        .flatten()
        .any(|r| what.value(r).is_some() || !r.notes.is_empty())
}

fn unit(tracks: &[Track]) -> String {
    let first = tracks
        .iter()
        .flat_map(|t| t.results.iter().flatten())
        .next();
    first.map_or(String::new(), |r| r.unit.to_string())
}

fn figure(
    document: &Document,
    curve: &Curve,
    tracks: &[Track],
    xs: &[f64],
    what: What,
    (y, unit): (&str, &str),
) -> Option<Figure> {
    let lines: Vec<Line> = tracks
        .iter()
        .map(|t| line(t, xs, what))
        .filter(|l| !l.points.is_empty())
        .collect();
    let ys = lines.iter().flat_map(|l| &l.points).filter_map(|p| p.y);
    let (low, high) = ys.fold((f64::MAX, f64::MIN), |(low, high), y| {
        (low.min(y), high.max(y))
    });
    if low > high {
        return None;
    }
    let log_y = low > 0.0 && high / low >= LOG_FROM;
    let scale = if log_y { " (logarithmic scale)" } else { "" };
    let caption = format!("{y} against {}, one line a machine{scale}", curve.label);
    let said: Vec<String> = lines.iter().map(|l| sentence(l, unit)).collect();
    let alternative = said.join(" ");
    let plot = Plot {
        id: next_figure(document),
        title: caption.clone(),
        description: alternative.clone(),
        x_label: words::capital(curve.label),
        y_label: y.to_owned(),
        y_unit: unit.to_owned(),
        x_names: vec![],
        log_x: xs.first().is_some_and(|x| *x > 0.0)
            && xs.len() > 2
            && xs[xs.len() - 1] / xs[0] >= LOG_FROM,
        log_y,
        lines,
    };
    Some(Figure {
        svg: plot.render(),
        caption: caption.into(),
        alternative,
    })
}

fn line(track: &Track, xs: &[f64], what: What) -> Line {
    let point = |(x, result): (&f64, &Option<&Measurement>)| {
        let value = result.and_then(|r| what.value(r));
        Point {
            x: *x,
            y: value.map(|v| v.value),
            interval: value.and_then(|v| v.interval),
        }
    };
    let mut points: Vec<Point> = xs.iter().zip(&track.results).map(point).collect();
    if points.iter().all(|p| p.y.is_none()) {
        points.clear();
    }
    Line {
        name: full_name(track),
        strong: track.strong,
        loose: false,
        points,
    }
}

/// Machine and system, since one machine stands under several systems.
fn full_name(track: &Track) -> String {
    if track.strong || track.system.is_empty() {
        track.name.clone()
    } else {
        format!("{}, {}", track.name, track.system)
    }
}

/// "VAX-11/780: from 4.3 s at 1 to 13.8 s at 6." The table has what lies between.
pub(super) fn sentence(line: &Line, unit: &str) -> String {
    let said = |p: &Point| {
        let (x, y) = (number::printed(p.x, 0), number::at_most(p.y?, unit, 4));
        Some(format!("{y} at {x}"))
    };
    let first = line.points.iter().find_map(said).unwrap_or_default();
    match line.points.iter().rev().find_map(said) {
        Some(last) if last != first => format!("{}: from {first} to {last}.", line.name),
        _ => format!("{}: {first}.", line.name),
    }
}

fn table(
    document: &mut Document,
    curve: &Curve,
    tracks: &[Track],
    xs: &[f64],
    what: What,
    unit: &str,
) -> Table {
    let mut columns = vec![
        Column::key("Machine", Style::Text),
        Column::key("System", Style::Text),
    ];
    let group = words::capital(curve.label);
    columns.extend(
        xs.iter()
            .map(|x| Column::new(number::printed(*x, 0), Style::Number).of(&group)),
    );
    let all = tracks
        .iter()
        .flat_map(|t| t.results.iter().flatten().copied());
    let decimals = columns::Col::Real.printed_decimals(all);
    let rows = tracks
        .iter()
        .map(|track| {
            let system = words::short_system(track.system);
            let mut cells = vec![Text::new(&track.name), Text::new(system)];
            for result in &track.results {
                let text = result.and_then(|r| Some(value_text(what.value(r)?, r, unit, decimals)));
                let notes: Vec<_> = result
                    .iter()
                    .flat_map(|r| &r.notes)
                    .filter(|f| belongs(f, track.strong))
                    .map(|f| document.note(f))
                    .collect();
                cells.push(cell(text).with(notes));
            }
            Row {
                cells,
                strong: track.strong,
            }
        })
        .collect();
    Table {
        caption: Text::default(),
        columns,
        rows,
    }
}

fn value_text(
    Estimate { value, interval }: Estimate,
    result: &Measurement,
    unit: &str,
    decimals: usize,
) -> String {
    if result.is_published() {
        return format!("{} {unit}", number::printed(value, decimals));
    }
    number::figure(value, interval, unit).with_unit()
}

/// Of this machine, footnotes on other figures of the row stand in the tables of its own figures.
fn belongs(note: &Note, this: bool) -> bool {
    !this
        || matches!(
            note.about,
            Subject::Result | Subject::Estimate | Subject::Real
        )
}
