//! Exhibits as drawings: the systems of the document and the run.

use super::{Shown, tables};
use crate::brief::curves;
use crate::brief::name;
use crate::words;
use gritstone_document::number;
use gritstone_document::svg::dots::{self, Dot, Panel};
use gritstone_document::svg::plot::{Line, Point};
use gritstone_document::{Figure, svg};
use gritstone_model::{Benchmark, Finding, Flag, Id, RunView, grouped};

/// A dot for each system and benchmark, on one axis per unit.
pub(super) fn bars(shown: &Shown) -> Option<Figure> {
    let dots = shown.benchmarks.iter().filter_map(|benchmark| {
        let numbers = shown.numbers(benchmark)?;
        let values = numbers.printed.iter().copied().chain([numbers.measured]);
        let values = values.zip(numbers.shown()).zip(names(shown));
        let dots = values.filter_map(|((value, text), system)| {
            Some(dot(shown, benchmark, system, value?, text?))
        });
        Some((number::unit_text(&numbers.unit), dots.collect::<Vec<_>>()))
    });
    let panel = |(label, dots): (String, Vec<Vec<Dot>>)| Panel {
        label,
        dots: dots.concat(),
        ..Panel::default()
    };
    dot_figure(shown, grouped(dots).into_iter().map(panel).collect())
}

/// Throughput relative to the reference.
pub(super) fn relative(shown: &Shown) -> Option<Figure> {
    let reference = shown.reference()?;
    let index = shown.systems.iter().position(|view| view.id == reference.id)?;
    let mut dots = vec![];
    for benchmark in &shown.benchmarks {
        let Some(numbers) = shown.numbers(benchmark) else {
            continue;
        };
        let Some(base) = numbers.printed[index] else {
            continue;
        };
        let values = numbers.printed.iter().copied().chain([numbers.measured]);
        dots.extend(values.zip(names(shown)).filter_map(|(value, system)| {
            let ratio = numbers.gain(value?, base)?;
            let text = words::bare_ratio(ratio, None).0 + "×";
            Some(dot(shown, benchmark, system, ratio, text))
        }));
    }
    let label = format!("× {}, more is better", reference.machine.name);
    dot_figure(shown, vec![Panel { label, mark: Some(1.0), dots, ..Panel::default() }])
}

/// A name of a system, and whether it is the run.
type Named = (String, bool);

/// The systems in their order, then the run.
fn names<'a>(shown: &'a Shown) -> impl Iterator<Item = Named> + 'a {
    let systems = shown.systems.iter();
    let systems = systems.map(|view| (tables::short(shown, view).to_owned(), false));
    systems.chain([(name(shown.run), true)])
}

fn dot(
    shown: &Shown,
    benchmark: &Benchmark,
    (system, is_run): Named,
    value: f64,
    text: String,
) -> Dot {
    let in_doubt = |flag: &Flag| [Flag::NotComparable, Flag::Invalid].contains(flag);
    Dot {
        name: format!("{}, {system}", benchmark.title),
        value,
        doubtful: is_run && tables::flags(shown, &benchmark.id).iter().any(in_doubt),
        other: !is_run,
        text,
        ..Dot::default()
    }
}

fn dot_figure(shown: &Shown, panels: Vec<Panel>) -> Option<Figure> {
    let all = panels.iter().flat_map(|panel| &panel.dots);
    let sentences: Vec<String> = all.map(|dot| format!("{} {}", dot.name, dot.text)).collect();
    let caption =
        format!("{}; blue is this run, a ring is invalid or not comparable", shown.caption());
    let any = !sentences.is_empty();
    any.then(|| svg::figure(dots::draw(&panels), &shown.anchor(), caption, sentences.join("; ")))
}

/// The curves of the run, and of each system with a printed one.
pub(super) fn curve(shown: &Shown) -> Option<Figure> {
    let mut lines: Vec<Line> = vec![];
    let several = shown.benchmarks.len() > 1;
    for benchmark in &shown.benchmarks {
        let id = benchmark.id.as_str();
        let last = id.rsplit('/').next().unwrap_or(id);
        let named = |system: &str| match several {
            true => format!("{system}, {last}"),
            false => system.to_owned(),
        };
        let printed = curves::printed(&shown.systems, benchmark);
        lines.extend(
            printed
                .into_iter()
                .map(|(view, line)| Line { name: named(tables::short(shown, view)), ..line }),
        );
        let measured = shown.result(&benchmark.id).and_then(curves::measured);
        lines.extend(measured.map(|points| strong(named(&name(shown.run)), points)));
    }
    let first = shown.benchmarks.first()?;
    let label = &first.curve.as_ref()?.label;
    line_figure(shown, label, first.unit.as_str(), lines)
}

/// CPUs in use along the curves of the run.
pub(super) fn cpus(shown: &Shown) -> Option<Figure> {
    let lines = shown.benchmarks.iter().filter_map(|benchmark| {
        let points = shown.result(&benchmark.id)?.curve.as_ref()?.points.iter();
        let point = points
            .filter_map(|point| Some(Point { x: point.x, y: Some(point.cpus?), interval: None }));
        let points: Vec<Point> = point.collect();
        (!points.is_empty()).then(|| strong(benchmark.id.to_string(), points))
    });
    let label = &shown.benchmarks.first()?.curve.as_ref()?.label;
    line_figure(shown, label, "CPUs", lines.collect())
}

/// CPU time of both ends as a share of one CPU, along the curves of the run.
pub(super) fn shares(shown: &Shown) -> Option<Figure> {
    let mut lines: Vec<Line> = vec![];
    for benchmark in &shown.benchmarks {
        for (end, end_name) in ["near end", "far end"].iter().enumerate() {
            let points = benchmark.curve.iter().flat_map(|curve| &curve.points);
            let points = points.filter_map(|(x, id)| {
                let y = share(shown.run, id, end)?;
                Some(Point { x: *x, y: Some(100.0 * y), interval: None })
            });
            lines.push(strong((*end_name).to_owned(), points.collect()));
        }
    }
    lines.retain(|line| !line.points.is_empty());
    let label = &shown.benchmarks.first()?.curve.as_ref()?.label;
    line_figure(shown, label, "%", lines)
}

fn share(run: &RunView, id: &Id, end: usize) -> Option<f64> {
    run.get(id)?.notes.iter().find_map(|note| match &note.finding {
        Finding::Ends { share, .. } => Some(share[end]),
        _ => None,
    })
}

fn strong(name: String, points: Vec<Point>) -> Line {
    Line { name, strong: true, points, ..Line::default() }
}

fn line_figure(shown: &Shown, label: &str, unit: &str, lines: Vec<Line>) -> Option<Figure> {
    if !lines.iter().any(|line| line.strong && !line.points.is_empty()) {
        return None;
    }
    let (plot, alternative) = curves::plot(label, unit, lines);
    Some(svg::figure(vec![plot.draw()], &shown.anchor(), shown.caption(), alternative))
}
