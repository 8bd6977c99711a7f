//! Distributions: how long the slowest of many events take, one line a row and machine, over the share of events.

use super::{Across, Brief, next_figure};
use crate::document::{Block, Document, Figure};
use crate::number;
use crate::svg::{Line, Plot, Point};
use gritstone_model::{Measurement, Statistics};

/// Fewer points are no curve.
const LEAST: usize = 3;
/// More lines cannot be told apart; the next are a figure of their own.
const MOST: usize = 6;
/// A range this wide is only legible on a logarithmic axis.
const LOG_FROM: f64 = 30.0;

/// Adds the figures of a family, one for each unit; nothing where no row has a distribution.
pub(super) fn show(document: &mut Document, input: &Brief, rows: &[Across]) {
    let mut all: Vec<(String, Line)> = Vec::new();
    for row in rows {
        for (at, result) in row.results.iter().enumerate() {
            let Some((result, points)) = result.and_then(|r| Some((r, points(r)?))) else {
                continue;
            };
            let name = match input.several() {
                true => format!("{}, {}", result.title, input.name(at)),
                false => result.title.clone(),
            };
            let strong = true;
            let line = Line {
                name,
                strong,
                loose: false,
                points,
            };
            all.push((result.unit.to_string(), line));
        }
    }
    let mut units: Vec<String> = Vec::new();
    for (unit, _) in &all {
        if !units.contains(unit) {
            units.push(unit.clone());
        }
    }
    for unit in units {
        let of = all.iter().filter(|(u, _)| *u == unit);
        let lines: Vec<Line> = of.map(|(_, line)| line.clone()).collect();
        for lines in lines.chunks(MOST) {
            let figure = figure(next_figure(document), lines, &unit);
            document.push(Block::Figure(figure));
        }
    }
}

/// The percentiles from the median on.
fn points(result: &Measurement) -> Option<Vec<Point>> {
    let statistics = result.statistics.as_ref()?;
    let mut shares = shares(statistics);
    if shares.is_empty() {
        return None;
    }
    if shares[0].0 > 0.5 {
        shares.insert(0, (0.5, statistics.median));
    }
    let point = |(share, value): (f64, f64)| Point {
        x: place(share),
        y: Some(value),
        interval: None,
    };
    (shares.len() >= LEAST).then(|| shares.into_iter().map(point).collect())
}

fn shares(statistics: &Statistics) -> Vec<(f64, f64)> {
    let mut shares: Vec<(f64, f64)> = statistics
        .percentiles
        .iter()
        .filter_map(|(name, value)| Some((Statistics::percent(name)? / 100.0, *value)))
        .filter(|(share, _)| (0.5..1.0).contains(share))
        .collect();
    shares.sort_by(|a, b| a.0.total_cmp(&b.0));
    shares
}

/// Each further nine of the share takes as much room as the one before.
fn place(share: f64) -> f64 {
    -(1.0 - share).log10()
}

fn figure(id: String, lines: &[Line], unit: &str) -> Figure {
    let ys = || lines.iter().flat_map(|l| &l.points).filter_map(|p| p.y);
    let (low, high) = (ys().fold(f64::MAX, f64::min), ys().fold(f64::MIN, f64::max));
    let log_y = low > 0.0 && high / low >= LOG_FROM;
    let scale = if log_y { " (logarithmic scale)" } else { "" };
    let caption = format!("Events that took at most this long, by their share{scale}");
    let alternative: Vec<String> = lines.iter().map(|l| sentence(l, unit)).collect();
    let alternative = alternative.join(" ");
    let mut places: Vec<f64> = lines.iter().flat_map(|l| &l.points).map(|p| p.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    let plot = Plot {
        id,
        title: caption.clone(),
        description: alternative.clone(),
        x_label: "Share of events".to_owned(),
        y_label: "Time at most".to_owned(),
        y_unit: unit.to_owned(),
        x_names: places.into_iter().map(|x| (x, share_name(x))).collect(),
        log_x: false,
        log_y,
        lines: lines.to_vec(),
    };
    Figure {
        svg: plot.render(),
        caption: caption.into(),
        alternative,
    }
}

fn share_name(place: f64) -> String {
    let share = 1.0 - 10f64.powf(-place);
    number::at_most(share * 100.0, "%", 7)
}

/// "Clock: half within 52 µs, 99 % within 80 µs, 99.9 % within 112 µs."
fn sentence(line: &Line, unit: &str) -> String {
    let said = |p: &Point| {
        let within = number::at_most(p.y?, unit, 4);
        Some(format!("{} within {within}", share_name(p.x)))
    };
    let all: Vec<String> = line.points.iter().filter_map(said).collect();
    format!("{}: {}.", line.name, all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_named_as_they_were_asked_for() {
        let names = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999].map(|s| share_name(place(s)));
        assert_eq!(names, ["50 %", "90 %", "95 %", "99 %", "99.9 %", "99.99 %"]);
    }

    #[test]
    fn a_distribution_begins_at_its_median_and_ends_before_the_longest() {
        let statistics = Statistics {
            median: 5.0,
            percentiles: [("p99", 9.0), ("p90", 7.0), ("p100", 11.0), ("other", 1.0)]
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
            ..Statistics::default()
        };
        assert_eq!(shares(&statistics), [(0.9, 7.0), (0.99, 9.0)]);
    }
}
