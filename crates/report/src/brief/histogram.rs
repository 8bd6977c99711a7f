//! The histogram of a result's operations.

use gritstone_document::svg::plot::{Line, Plot, Point};
use gritstone_model::{Latencies, Measurement};

/// `None` unless operations were timed one by one.
pub(super) fn plot(result: &Measurement) -> Option<Plot> {
    let line = Line {
        name: result.id.to_string(),
        strong: true,
        points: points(result.latencies()?),
        ..Line::default()
    };
    Some(Plot {
        x_label: format!("Time, {}", result.unit.as_str()),
        y_label: "Share of operations".to_owned(),
        y_unit: "%".to_owned(),
        log_x: true,
        lines: vec![line],
        ..Plot::default()
    })
}

/// The share of each bucket at the geometric mean of its bounds; gaps between buckets drop to 0. A bucket from 0 has no place on the
/// logarithmic axis.
fn points(latencies: &Latencies) -> Vec<Point> {
    let share = |events: u64| 100.0 * events as f64 / latencies.events.max(1) as f64;
    let point = |x: f64, y: f64| Point { x, y: Some(y), interval: None };
    let mut points: Vec<Point> = vec![];
    let mut previous_end = None;
    for &(from, below, events) in &latencies.histogram {
        if let Some(end) = previous_end.filter(|end| *end < from) {
            points.extend([point(end, 0.0), point(from, 0.0)]);
        }
        points.push(point((from * below).sqrt(), share(events)));
        previous_end = Some(below);
    }
    points
}
