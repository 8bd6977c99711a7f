//! Curves: one figure and one table for the rows that are the points of a curve, one line a machine.
//!
//! The catalog says which rows are points of which curve. Where a document printed times for these points, the
//! times of the published work are drawn, this machine among the others; otherwise this machine's figures.
//! Variants of a curve (`@...`) are further lines of this machine.

use super::drawn::{ends, lines, point};
use super::{Across, Brief, cell, grouped, marks};
use crate::columns::Col;
use crate::document::{Column, Document, Row, Style, Table, Text};
use crate::svg::plot::{Line, Plot};
use crate::{number, words};
use gritstone_model::{Estimate, Id, Measurement, RunView, Subject};

/// Where along x, and which row.
type Points<'a> = &'a [(f64, Id)];

/// A curve and its variants.
pub(super) struct Curve<'a> {
    /// Rows without the variant, by which variants are found to belong together.
    stem: &'a str,
    label: &'a str,
    /// What stands behind the `@` of the rows; the first has no name where there is one without.
    variants: Vec<(Option<&'a str>, Points<'a>)>,
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
    let variants = rows.iter().filter_map(|row| {
        let of = input.benchmark(row.id)?.curve.as_ref()?;
        let variant = (row.id.variant(), of.points.as_slice());
        Some(((row.id.stem(), of.label.as_str()), variant))
    });
    let curve = |((stem, label), mut variants): (_, Vec<(Option<&'a str>, _)>)| {
        variants.sort_by_key(|(variant, _)| variant.is_some());
        Curve {
            stem,
            label,
            variants,
        }
    };
    grouped(variants).into_iter().map(curve).collect()
}

impl Curve<'_> {
    fn points(&self) -> impl Iterator<Item = &(f64, Id)> {
        self.variants.iter().flat_map(|(_, points)| *points)
    }

    /// Whether a row is one of its points.
    pub(super) fn holds(&self, id: &Id) -> bool {
        self.points().any(|(_, point)| point == id)
    }

    /// Adds its figure and its table.
    pub(super) fn show(&self, document: &mut Document, input: &Brief) {
        let mut xs: Vec<f64> = self.points().map(|(x, _)| *x).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let mut tracks = self.tracks(input, &xs);
        let is = |track: &Track| !track.strong && track.has(|r| value(r, true).is_some());
        let published = tracks.iter().any(is);
        let speaks = |r: &Measurement| value(r, published).is_some() || !r.notes.is_empty();
        tracks.retain(|track| track.has(|r| track.strong || speaks(r)));
        let mut results = tracks.iter().flat_map(|t| t.results.iter().flatten());
        let (y, unit) = match results.next() {
            None => return,
            Some(_) if published => ("Real time of the published work".to_owned(), "s".to_owned()),
            Some(first) => {
                // of `byte/multi/1` to `byte/multi/6`: `byte/multi`
                let rows = self
                    .stem
                    .rsplit_once('/')
                    .map_or(self.stem, |(rows, _)| rows);
                (format!("Figures of {rows}"), first.unit.to_string())
            }
        };
        let caption = format!("{y} against {}", self.label);
        let drawn = tracks.iter().filter_map(|t| t.line(&xs, published));
        let plot = Plot {
            x_label: words::capital(self.label),
            y_label: y,
            y_unit: unit.clone(),
            lines: drawn.collect(),
            ..Plot::default()
        };
        if !plot.lines.is_empty() {
            let caption = format!("{caption}, one line a machine");
            lines(document, plot, caption, |line| ends(line, &unit));
        }
        let mut columns = vec![
            Column::key("Machine", Style::Text),
            Column::key("System", Style::Text),
        ];
        let group = words::capital(self.label);
        let head = |x: &f64| Column::new(number::printed(*x, 0), Style::Number).of(&group);
        columns.extend(xs.iter().map(head));
        let rows = table_rows(document, &tracks, published, &unit);
        document.table(Table {
            caption: caption.into(),
            columns,
            rows,
        });
    }

    fn tracks<'i>(&self, input: &Brief<'i>, xs: &[f64]) -> Vec<Track<'i>> {
        let along = |view: &'i RunView, strong, name, points: Points| {
            let at = |x: &f64| {
                let (_, id) = points.iter().find(|(px, _)| px == x)?;
                view.get(id)
            };
            Track {
                name,
                system: &view.machine.system,
                strong,
                results: xs.iter().map(at).collect(),
            }
        };
        let mut tracks = vec![];
        for (at, run) in input.runs.iter().enumerate() {
            for (variant, points) in &self.variants {
                let name = input.name(at);
                let name = variant.map_or(name.clone(), |v| format!("{name}, {v}"));
                tracks.push(along(run, true, name, points));
            }
        }
        for view in input.references {
            let (name, points) = (view.machine.name.clone(), self.variants[0].1);
            tracks.push(along(view, false, name, points));
        }
        tracks
    }
}

impl Track<'_> {
    fn has(&self, what: impl Fn(&Measurement) -> bool) -> bool {
        self.results.iter().flatten().any(|result| what(result))
    }

    /// Named after machine and system, since one machine stands under several systems.
    fn line(&self, xs: &[f64], published: bool) -> Option<Line> {
        let value = |result: &Measurement| value(result, published);
        let along = xs.iter().zip(&self.results);
        let points = along.map(|(x, result)| point(*x, result.and_then(value)));
        self.has(|result| value(result).is_some()).then(|| Line {
            name: match self.strong || self.system.is_empty() {
                true => self.name.clone(),
                false => format!("{}, {}", self.name, self.system),
            },
            strong: self.strong,
            loose: false,
            points: points.collect(),
        })
    }
}

/// What is drawn for a point: the real time of the published work, or the figure.
fn value(result: &Measurement, published: bool) -> Option<Estimate> {
    match published {
        true => result.published.as_ref()?.real,
        false => result.estimate,
    }
}

fn table_rows(document: &mut Document, tracks: &[Track], published: bool, unit: &str) -> Vec<Row> {
    let results = tracks.iter().flat_map(|t| t.results.iter().flatten());
    let decimals = Col::Real.printed_decimals(results.copied());
    let shown = |result: &Measurement| {
        let Estimate { value, interval } = value(result, published)?;
        Some(match result.is_published() {
            true => format!("{} {unit}", number::printed(value, decimals)),
            false => number::figure(value, interval, unit).with_unit(),
        })
    };
    // of this machine, footnotes on other figures of the row stand in the tables of its own figures
    let own = [Subject::Result, Subject::Estimate, Subject::Real];
    let mut rows = vec![];
    for track in tracks {
        let strong = track.strong;
        let system = words::short_system(track.system);
        let mut cells = vec![Text::new(&track.name), Text::new(system)];
        for result in &track.results {
            let notes = result.iter().flat_map(|r| &r.notes);
            let marks = marks(
                document,
                notes.filter(|n| !strong || own.contains(&n.about)),
            );
            cells.push(cell(result.and_then(shown)).with(marks));
        }
        rows.push(Row { cells, strong });
    }
    rows
}
