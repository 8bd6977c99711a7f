//! What copies do together against their number: the measured points and, where it could be fitted, the scalability law
//! through them with its interval, one figure a row.
//!
//! The table of all rows stands with the details of the family. Of many rows those are drawn whose copies are least efficient:
//! of the others a figure would show a straight line.

use super::curve::{LOG_FROM, sentence};
use super::{Across, Brief, next_figure};
use crate::document::{Block, Document, Figure};
use crate::number;
use crate::svg::{Line, Plot, Point};
use gritstone_model::{CopiesView, Estimate, Measurement, SeriesPoint};

/// Rows of a family that are drawn.
const DRAWN: usize = 6;

/// Adds the figures of a family.
pub(super) fn show(document: &mut Document, input: &Brief, rows: &[Across]) {
    let mut curves: Vec<(f64, &Across)> = rows
        .iter()
        .filter_map(|row| Some((least_efficiency(row)?, row)))
        .collect();
    let all = curves.len();
    curves.sort_by(|a, b| a.0.total_cmp(&b.0));
    curves.truncate(DRAWN);
    if all > DRAWN {
        document.paragraph(format!(
            "Of {} rows that were measured as copies, the {DRAWN} are drawn whose copies are least efficient.",
            number::count(all)
        ));
    }
    for (_, row) in curves {
        let lines: Vec<Line> = (0..input.runs.len())
            .filter_map(|at| Some((input.name(at), row.results[at]?.copies.as_ref()?)))
            .flat_map(|(name, copies)| lines(&name, copies))
            .collect();
        let figure = figure(document, row.any(), lines);
        document.push(Block::Figure(figure));
    }
}

/// Of the most copies of any run that have an efficiency; nothing where there is no curve to draw.
fn least_efficiency(row: &Across) -> Option<f64> {
    let results = row.results.iter().flatten();
    let last = |result: &&Measurement| {
        let points = result.copies.iter().flat_map(|copies| &copies.points);
        let several = points.filter(|point| point.copies > 1 && point.total.is_some());
        several
            .filter_map(|point| Some(point.efficiency?.value))
            .next_back()
    };
    results.filter_map(last).min_by(f64::total_cmp)
}

/// The points that were measured, and the law through them.
fn lines(name: &str, copies: &CopiesView) -> Vec<Line> {
    let point = |x: f64, of: Option<Estimate>| Point {
        x,
        y: of.map(|of| of.value),
        interval: of.and_then(|of| of.interval),
    };
    let measured = copies.points.iter();
    let measured = measured.map(|of| point(f64::from(of.copies), of.total));
    let law = copies.law.iter().flat_map(|law| &law.curve);
    let law: Vec<Point> = law
        .map(|of: &SeriesPoint| point(of.x, of.estimate))
        .collect();
    let mut lines = vec![Line {
        name: name.to_owned(),
        strong: true,
        loose: !law.is_empty(),
        points: measured.collect(),
    }];
    if !law.is_empty() {
        lines.push(Line {
            name: format!("{name}, by the law"),
            strong: false,
            loose: false,
            points: law,
        });
    }
    lines
}

fn figure(document: &Document, result: &Measurement, lines: Vec<Line>) -> Figure {
    let unit = result.unit.to_string();
    let wide = |values: &mut dyn Iterator<Item = f64>| {
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        low > 0.0 && high / low >= LOG_FROM
    };
    let points = || lines.iter().flat_map(|line| &line.points);
    let log_x = wide(&mut points().map(|point| point.x));
    let log_y = wide(&mut points().filter_map(|point| point.y));
    let law = lines.iter().any(|line| line.loose);
    let caption = format!(
        "{} ({}): all copies together against their number{}{}",
        result.title,
        result.id,
        if law {
            ", with the scalability law and its interval"
        } else {
            ""
        },
        if log_y { " (logarithmic scale)" } else { "" },
    );
    let said: Vec<String> = lines.iter().map(|line| sentence(line, &unit)).collect();
    let alternative = said.join(" ");
    let plot = Plot {
        id: next_figure(document),
        title: caption.clone(),
        description: alternative.clone(),
        x_label: "Copies".to_owned(),
        y_label: "Together".to_owned(),
        y_unit: unit,
        x_names: vec![],
        log_x,
        log_y,
        lines,
    };
    Figure {
        svg: plot.render(),
        caption: caption.into(),
        alternative,
    }
}
