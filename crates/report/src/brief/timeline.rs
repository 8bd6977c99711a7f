//! Time per operation on the systems of the documents by year, with this run last: a drawing for each capability.

use super::{Brief, name};
use gritstone_document::Figure;
use gritstone_document::number;
use gritstone_document::svg::plot::{Line, Plot, Point};
use gritstone_document::svg::{self, Canvas};
use gritstone_model::{Benchmark, Flag, Id, Measurement, Quantity, RunView, Timeline, Unit};

/// Fewest systems of a line.
const SYSTEMS: usize = 3;

/// One drawing for each capability with a result in the run; `None` without any.
pub(super) fn figure(input: &Brief) -> Option<Figure> {
    let drawn = input.parts.timelines.iter();
    let drawn = drawn.filter_map(|timeline| drawing(input, timeline));
    let (drawn, texts): (Vec<Canvas>, Vec<String>) = drawn.unzip();
    let caption = "Over the years: printed results by operation, and this run";
    let any = !drawn.is_empty();
    any.then(|| svg::figure(drawn, "years", caption.to_owned(), texts.join(" ")))
}

/// A benchmark on the systems that have it, by year, and in this run.
struct Course<'a> {
    benchmark: &'a Benchmark,
    systems: Vec<Point>,
    measured: Point,
}

impl Course<'_> {
    /// Values in another unit; none for another quantity.
    fn scaled(mut self, unit: &Unit) -> Option<Self> {
        let factor = scale(&self.benchmark.unit, unit)?;
        for point in self.systems.iter_mut().chain([&mut self.measured]) {
            point.y = point.y.map(|y| y * factor);
            point.interval = point.interval.map(|ends| ends.map(|end| end * factor));
        }
        Some(self)
    }

    fn sentence(&self, unit: &Unit) -> String {
        let point_text = |p: &Point| {
            let value = number::at_most(p.y.unwrap_or_default(), unit.as_str(), 3);
            format!("{value} in {:.0}", p.x)
        };
        format!(
            "{}: {}; {} today.",
            self.benchmark.title,
            self.systems.iter().map(point_text).collect::<Vec<_>>().join(", "),
            point_text(&self.measured)
        )
    }
}

fn course<'a>(input: &Brief<'a>, id: &Id) -> Option<Course<'a>> {
    let benchmark = input.benchmark(id)?;
    let measured = point(input.run, year(input.run)?, benchmark)?;
    let systems = input.parts.references.iter();
    let mut systems: Vec<Point> =
        systems.filter_map(|view| point(view, view.machine.year?.into(), benchmark)).collect();
    systems.sort_by(|a, b| a.x.total_cmp(&b.x));
    (systems.len() >= SYSTEMS).then_some(Course { benchmark, systems, measured })
}

/// The drawing of a capability, and the same in words.
fn drawing(input: &Brief, timeline: &Timeline) -> Option<(Canvas, String)> {
    let courses: Vec<Course> =
        timeline.benchmarks.iter().filter_map(|id| course(input, id)).collect();
    let unit = courses.first()?.benchmark.unit.clone();
    let courses = courses.into_iter().filter_map(|course| course.scaled(&unit));
    let courses: Vec<Course> = courses.collect();
    let lines: Vec<String> = courses.iter().map(|course| course.sentence(&unit)).collect();
    let years = || courses.iter().flat_map(|c| c.systems.iter().chain([&c.measured])).map(|p| p.x);
    let first = (years().fold(f64::INFINITY, f64::min) / 10.0).ceil() as i32;
    let last = (years().fold(0.0, f64::max) / 10.0).floor() as i32;
    let line = |name: String, strong, points| Line {
        name,
        strong,
        loose: true,
        points,
        ..Line::default()
    };
    let measured = courses.iter().map(|course| course.measured).collect();
    let systems =
        courses.iter().map(|c| line(c.benchmark.id.to_string(), false, c.systems.clone()));
    let plot = Plot {
        x_label: "Year".to_owned(),
        y_label: timeline.title.clone(),
        y_unit: number::unit_text(unit.as_str()),
        x_names: (first..=last)
            .map(|decade| (f64::from(decade * 10), format!("{}", decade * 10)))
            .collect(),
        log_y: true,
        lines: systems.chain([line(name(input.run), true, measured)]).collect(),
        ..Plot::default()
    };
    Some((plot.draw(), lines.join(" ")))
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

/// The estimate; a printed time of a reference workload is divided by its operations.
pub(crate) fn by_operation(result: &Measurement, benchmark: &Benchmark) -> Option<f64> {
    let printed = || {
        let published = result.published.as_ref()?;
        let operations = published.operations.or(Some(benchmark.published.as_ref()?.operations))?;
        let ns = published.real?.value * 1e9 / operations as f64;
        benchmark.unit.convert(ns, benchmark.amount_per_op)
    };
    let estimate = || Some(result.value()? * scale(&result.unit, &benchmark.unit)?);
    let value = estimate().or_else(printed)?;
    (value.is_finite() && value > 0.0).then_some(value)
}

/// Conversion factor; none between a time and a rate.
pub(crate) fn scale(from: &Unit, to: &Unit) -> Option<f64> {
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
    fn units_are_scaled() {
        let unit = |text: &str| Unit::parse(text).unwrap();
        let scaled = |from, to| scale(&unit(from), &unit(to));
        assert_eq!(scaled("us/call", "ns/call"), Some(1000.0));
        assert_eq!(scaled("KB/s", "MB/s"), Some(0.001));
        assert_eq!(scaled("us/call", "MB/s"), None);
    }
}
