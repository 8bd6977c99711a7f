//! Histograms: which share of the operations took how long, a line for each benchmark and machine.

use super::drawn::{ends, lines, point};
use super::{Across, Brief, grouped};
use crate::document::Document;
use crate::svg::plot::{Line, Plot, Point};
use gritstone_model::{Estimate, Latencies};

/// More lines cannot be told apart; the next are a figure of their own.
const MOST_LINES: usize = 4;

/// A figure for each unit; nothing where no operations were timed one by one.
pub(super) fn show(document: &mut Document, input: &Brief, rows: &[Across]) {
    let results = rows.iter().flat_map(|row| row.results.iter().enumerate());
    let drawn = results.filter_map(|(at, result)| {
        let result = (*result)?;
        let line = Line {
            name: input.behind(at, &result.title),
            strong: true,
            loose: false,
            points: points(result.latencies.as_ref()?),
        };
        Some((result.unit.to_string(), line))
    });
    for (unit, all) in grouped(drawn) {
        for some in all.chunks(MOST_LINES) {
            let plot = Plot {
                x_label: format!("Time, {unit}"),
                y_label: "Share of operations".to_owned(),
                y_unit: "%".to_owned(),
                log_x: true,
                lines: some.to_vec(),
                ..Plot::default()
            };
            let caption = "Operations by their time, in buckets of an eighth of a power of two";
            lines(document, plot, caption.to_owned(), |line| ends(line, "%"));
        }
    }
}

/// The share of each bucket at the middle of its bounds; empty ones are 0.
fn points(latencies: &Latencies) -> Vec<Point> {
    let share = |events: u64| 100.0 * events as f64 / latencies.events.max(1) as f64;
    let at = |x: f64, y: f64| point(x, Some(Estimate::exact(y)));
    let mut points: Vec<Point> = vec![];
    let mut end = None;
    for &(from, below, events) in &latencies.histogram {
        if let Some(end) = end.filter(|end| *end < from) {
            points.extend([at(end, 0.0), at(from, 0.0)]);
        }
        points.push(at((from * below).sqrt(), share(events)));
        end = Some(below);
    }
    points
}
