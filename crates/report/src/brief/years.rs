//! What an operation took on the systems of the documents, over their years, with this run last: a drawing for each capability.

use super::{Brief, name};
use crate::document::Figure;
use crate::number;
use crate::svg::plot::{Line, Plot, Point};
use crate::svg::{self, Canvas};
use gritstone_model::{Benchmark, Flag, Id, Measurement, Quantity, RunView, Unit};

/// What is drawn: the first benchmark of each line that the run and enough systems have.
const CAPABILITIES: [&[&str]; 6] = [
    &["kernel/syscall", "byte/syscall", "aim/getpid"],
    &["ipc/pipe/latency", "kernel/pipeback/4", "byte/pipe"],
    &["sched/switch/2", "kernel/csw"],
    &["kernel/forks/0", "kernel/forks/0@dynamic"],
    &["cpu/dhrystone-1.1/reg", "cpu/dhrystone-1.1/noreg"],
    &[
        "memory/bandwidth/copy",
        "aim/ram-copy/long",
        "aim/ram-read/long",
    ],
];
/// Fewer systems make no line of history.
const SYSTEMS: usize = 3;

/// One drawing for each capability of which the run has a result, if there is any.
pub(super) fn figure(input: &Brief) -> Option<Figure> {
    let first = |ids: &&[&str]| ids.iter().find_map(|id| one(input, id));
    let (drawn, told): (Vec<Canvas>, Vec<String>) = CAPABILITIES.iter().filter_map(first).unzip();
    let caption = "Over the years: what the documents printed, by operation, and this run";
    let any = !drawn.is_empty();
    any.then(|| svg::figure(drawn, "years", caption.to_owned(), told.join(" ")))
}

/// The drawing of a benchmark, and the same in words.
fn one(input: &Brief, id: &str) -> Option<(Canvas, String)> {
    let id = Id::parse(id).ok()?;
    let benchmark = input.benchmark(&id)?;
    let own = point(input.run, year(input.run)?, benchmark)?;
    let systems = input.references.iter();
    let mut points: Vec<Point> = systems
        .filter_map(|view| point(view, view.machine.year?.into(), benchmark))
        .collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    if points.len() < SYSTEMS {
        return None;
    }
    let told = |p: &Point| {
        let value = number::at_most(p.y.unwrap_or_default(), benchmark.unit.as_str(), 3);
        format!("{value} in {:.0}", p.x)
    };
    let alternative = format!(
        "{}: {}; {} today.",
        benchmark.title,
        points.iter().map(told).collect::<Vec<_>>().join(", "),
        told(&own)
    );
    let first = (points[0].x / 10.0).ceil() as i32;
    let last = (own.x / 10.0).floor() as i32;
    let line = |name: &str, strong, points| Line {
        name: name.to_owned(),
        strong,
        loose: true,
        points,
    };
    let plot = Plot {
        x_label: "Year".to_owned(),
        y_label: format!("{} ({id})", benchmark.title),
        y_unit: number::unit_text(benchmark.unit.as_str()),
        x_names: (first..=last)
            .map(|decade| (f64::from(decade * 10), format!("{}", decade * 10)))
            .collect(),
        log_y: true,
        lines: vec![
            line("systems of the documents", false, points),
            line(&name(input.run), true, vec![own]),
        ],
        ..Plot::default()
    };
    Some((plot.draw(), alternative))
}

/// The year in which a run was made.
fn year(run: &RunView) -> Option<f64> {
    run.started.get(..4)?.parse().ok()
}

fn point(view: &RunView, year: f64, benchmark: &Benchmark) -> Option<Point> {
    let result = view.get(&benchmark.id)?;
    let barred = [Flag::Invalid, Flag::NotComparable];
    if barred.iter().any(|flag| result.flags().contains(flag)) {
        return None;
    }
    Some(Point {
        x: year,
        y: Some(by_operation(result, benchmark)?),
        interval: result.interval().filter(|_| !result.is_published()),
    })
}

/// The estimate; of a time that was printed for a reference workload its part of one operation.
fn by_operation(result: &Measurement, benchmark: &Benchmark) -> Option<f64> {
    let printed = || {
        let published = result.published.as_ref()?;
        let operations = published
            .operations
            .or(Some(benchmark.published.as_ref()?.operations))?;
        let ns = published.real?.value * 1e9 / operations as f64;
        benchmark.unit.figure(ns, benchmark.amount_per_op)
    };
    let estimate = || Some(result.value()? * scale(&result.unit, &benchmark.unit)?);
    let value = estimate().or_else(printed)?;
    (value.is_finite() && value > 0.0).then_some(value)
}

/// How many of the second unit one of the first is; none where one is a time and the other a rate.
fn scale(from: &Unit, to: &Unit) -> Option<f64> {
    match (from.quantity(), to.quantity()) {
        (Quantity::Time { ns: from }, Quantity::Time { ns: to })
        | (Quantity::Rate { plain: from }, Quantity::Rate { plain: to }) => Some(from / to),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_a_kind_are_scaled() {
        let unit = |text: &str| Unit::parse(text).unwrap();
        let scaled = |from, to| scale(&unit(from), &unit(to));
        assert_eq!(scaled("us/call", "ns/call"), Some(1000.0));
        assert_eq!(scaled("KB/s", "MB/s"), Some(0.001));
        assert_eq!(scaled("us/call", "MB/s"), None);
    }
}
