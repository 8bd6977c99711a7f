//! Curves of results, and printed results of systems along them.

use super::timeline::by_operation;
use crate::words;
use gritstone_document::number;
use gritstone_document::svg::plot::{Line, Plot, Point};
use gritstone_model::{Benchmark, Estimate, Measurement, RunView, SeriesPoint};

/// Ranges at least this wide get a logarithmic axis.
const LOG_FROM: f64 = 30.0;

/// The curve of a result; none if no point has a value.
pub(crate) fn measured(result: &Measurement) -> Option<Vec<Point>> {
    let points = &result.curve.as_ref()?.points;
    let has_value = |point: &SeriesPoint| point.estimate.is_some();
    let points = points.iter().any(has_value).then_some(points)?;
    Some(points.iter().map(|series_point| point(series_point.x, series_point.estimate)).collect())
}

/// A thin line for each system that printed two points of the curve or more, in the unit of the benchmark.
pub(crate) fn printed<'a>(
    systems: &[&'a RunView],
    benchmark: &Benchmark,
) -> Vec<(&'a RunView, Line)> {
    let points = benchmark.curve.iter().flat_map(|curve| &curve.points);
    let lines = systems.iter().map(|view| {
        let points = points.clone().filter_map(|(x, id)| {
            let y = by_operation(view.get(id)?, benchmark)?;
            Some(Point { x: *x, y: Some(y), interval: None })
        });
        let line =
            Line { name: view.machine.name.clone(), points: points.collect(), ..Line::default() };
        (*view, line)
    });
    lines.filter(|(_, line)| line.points.len() > 1).collect()
}

pub(crate) fn point(x: f64, estimate: Option<Estimate>) -> Point {
    Point {
        x,
        y: estimate.map(|estimate| estimate.value),
        interval: estimate.and_then(|estimate| estimate.interval),
    }
}

/// Lines over the values of x, and the ends of each in words.
pub(crate) fn plot(label: &str, unit: &str, lines: Vec<Line>) -> (Plot, String) {
    let points = || lines.iter().flat_map(|line| &line.points);
    let sentences: Vec<String> = lines.iter().map(|line| ends(line, unit)).collect();
    let plot = Plot {
        x_label: words::capital(label),
        y_unit: unit.to_owned(),
        log_x: wide(points().map(|p| p.x)),
        log_y: wide(points().filter_map(|p| p.y)),
        lines,
        ..Plot::default()
    };
    (plot, sentences.join(" "))
}

/// The first and the last point of a line in words.
pub(crate) fn ends(line: &Line, unit: &str) -> String {
    let describe = |p: &Point| {
        let (x, y) = (number::printed(p.x, 0), number::at_most(p.y?, unit, 4));
        Some(format!("{y} at {x}"))
    };
    let (first, last) = (line.points.first(), line.points.last());
    let ends: Vec<String> = first.into_iter().chain(last).filter_map(describe).collect();
    format!("{}: {}.", line.name, ends.join(" to "))
}

/// Whether the range of positive values is wide.
fn wide(values: impl Iterator<Item = f64>) -> bool {
    let ends = values.fold(None, |ends: Option<(f64, f64)>, x| {
        let (low, high) = ends.unwrap_or((x, x));
        Some((low.min(x), high.max(x)))
    });
    ends.is_some_and(|(low, high)| low > 0.0 && high / low >= LOG_FROM)
}
