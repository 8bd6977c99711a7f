//! Details of one benchmark and its result, folded under its line.

use super::curves::{self, ends, point};
use super::{Brief, histogram};
use crate::columns::Col;
use crate::pairs::Pairs;
use crate::{findings, responses, show, words};
use gritstone_document::number;
use gritstone_document::svg::{
    Canvas, launches,
    plot::{Line, Plot, Point},
};
use gritstone_document::{Block, Document, Text};
use gritstone_model::{
    Benchmark, Claims, Finding, Measurement, Note, Placement, RunView, SeriesPoint, Term, Work,
    in_order,
};

pub(super) fn blocks(input: &Brief, result: &Measurement) -> Vec<Block> {
    let mut document = Document::default();
    let entry = input.benchmark(&result.id);
    if let Some(entry) = entry {
        let operation = ("One operation:", entry.operation.as_str());
        document.paragraph(sentences(&[("", &entry.why), operation]));
    }
    document.blocks.extend(drawings(input, entry, result));
    document.terms(numbers(result));
    let points = result.copies().into_iter().flat_map(|copies| &copies.points);
    let notes = result.notes.iter().chain(points.flat_map(|point| &point.notes));
    let notes: Vec<Note> = in_order(notes.cloned().collect());
    document.list(notes.iter().map(findings::message));
    show::details(&mut document, &[&without_notes(result)]);
    document.terms(entry.map(source).unwrap_or_default());
    document.terms([("Reference systems", references(input, result).join("; "))]);
    document.blocks
}

/// Notes are in a list, not in tables.
fn without_notes(result: &Measurement) -> Measurement {
    let mut result = result.clone();
    result.notes.clear();
    let points = result.copies_mut().into_iter().flat_map(|copies| &mut copies.points);
    points.for_each(|point| point.notes.clear());
    result
}

struct Drawing {
    /// Suffix of the anchor.
    kind: &'static str,
    canvas: Canvas,
    /// Follows the benchmark.
    caption: String,
    alternative: String,
}

/// Drawings of launches, curves and pairs.
fn drawings(input: &Brief, entry: Option<&Benchmark>, result: &Measurement) -> Vec<Block> {
    let percentiles = |kind, what: &str, plot: Plot| Drawing {
        kind,
        canvas: plot.draw(),
        caption: format!("{what} by {}", plot.x_label.to_lowercase()),
        alternative: responses::in_words(&plot),
    };
    let drawings = [
        draw_launches(result),
        draw_curve(input, entry, result),
        responses::plot(result).map(|plot| percentiles("responses", "response time", plot)),
        responses::percentiles(result).map(|plot| percentiles("percentiles", "percentiles", plot)),
        draw_histogram(result),
        draw_copies(result),
    ];
    let anchor = result.id.as_str().replace(['/', '@', '.'], "-");
    let figures = drawings.into_iter().flatten().map(|drawing| {
        let id = format!("{anchor}-{}", drawing.kind);
        let caption = format!("{}: {}", result.id, drawing.caption);
        drawing.canvas.figure(&id, caption, drawing.alternative)
    });
    let pairs = Pairs::new(result).map(|pairs| pairs.figure(&format!("{anchor}-pairs")));
    figures.chain(pairs).map(Block::Figure).collect()
}

fn draw_launches(result: &Measurement) -> Option<Drawing> {
    let (estimate, values, unit) = (result.value()?, result.values(), result.unit.as_str());
    let [first, .., last] = values else { return None };
    let text = |value: f64| number::at_most(value, unit, 4);
    let end = |pick: fn(f64, f64) -> f64| text(values.iter().copied().fold(*first, pick));
    Some(Drawing {
        kind: "launches",
        canvas: launches::draw(values, unit, estimate, result.interval()),
        caption: "launches over time, and their distribution".to_owned(),
        alternative: format!(
            "{}, from {} to {}; first {}, last {}.",
            words::plural(values.len(), "launch"),
            end(f64::min),
            end(f64::max),
            text(*first),
            text(*last)
        ),
    })
}

fn draw_curve(input: &Brief, entry: Option<&Benchmark>, result: &Measurement) -> Option<Drawing> {
    let label = &result.curve.as_ref()?.label;
    let measured = curves::measured(result)?;
    let law = result.notes.iter().flat_map(|note| match &note.finding {
        Finding::Scaling { law: Some(law), .. } => law.curve.as_slice(),
        _ => &[],
    });
    let systems: Vec<&RunView> = input.parts.references.iter().collect();
    let printed = entry.map_or(vec![], |entry| curves::printed(&systems, entry));
    let printed = printed.into_iter().map(|(_, line)| line);
    let lines = printed.chain(lines_with_law(measured, law)).collect();
    let (plot, alternative) = curves::plot(label, result.unit.as_str(), lines);
    let caption = format!("{} by {label}", result.title);
    Some(Drawing { kind: "curve", canvas: plot.draw(), caption, alternative })
}

fn draw_histogram(result: &Measurement) -> Option<Drawing> {
    let plot = histogram::plot(result)?;
    Some(Drawing {
        kind: "histogram",
        canvas: plot.draw(),
        caption: "operations by their time, in buckets of an eighth of a power of two".to_owned(),
        alternative: plot.lines.iter().map(|line| ends(line, "%")).collect(),
    })
}

fn draw_copies(result: &Measurement) -> Option<Drawing> {
    let copies = result.copies().filter(|copies| copies.points.len() > 1)?;
    let measured = copies.points.iter();
    let measured = measured.map(|measured| point(f64::from(measured.copies), measured.total));
    let law = copies.law.iter().flat_map(|law| &law.curve);
    let lines = lines_with_law(measured.collect(), law);
    let (plot, alternative) = curves::plot("copies", result.unit.as_str(), lines);
    let caption = "all copies together".to_owned();
    Some(Drawing { kind: "copies", canvas: plot.draw(), caption, alternative })
}

/// Measured points, joined unless there is a fitted law, and the law.
fn lines_with_law<'a>(
    measured: Vec<Point>,
    law: impl Iterator<Item = &'a SeriesPoint>,
) -> Vec<Line> {
    let law: Vec<Point> =
        law.map(|series_point| point(series_point.x, series_point.estimate)).collect();
    let has_law = !law.is_empty();
    let line = |name: &str, loose, points| Line {
        name: name.to_owned(),
        strong: true,
        loose,
        points,
        ..Line::default()
    };
    let mut lines = vec![line("measured", has_law, measured)];
    lines.extend(has_law.then(|| line("scalability law", false, law)));
    lines
}

/// The numbers of the result, by name.
fn numbers(result: &Measurement) -> Vec<(&'static str, Text)> {
    let cols = [
        ("Estimate", Col::WithUnit),
        ("Confidence interval", Col::Interval),
        ("Half-width", Col::Precision),
        ("Launches", Col::Launches),
        ("Samples", Col::Samples),
        ("Standard deviation", Col::Sd),
        ("Drift", Col::Drift),
        ("Modes", Col::Modes),
        ("Cycles", Col::Cycles),
        ("GHz", Col::Ghz),
        ("Page faults per page", Col::Faults),
        ("Reference workload", Col::Work),
        ("Its real time", Col::Real),
        ("Its 95% interval", Col::RealInterval),
        ("Its user time", Col::User),
        ("Its system time", Col::System),
        ("Its process time", Col::Process),
        ("Start-up share", Col::StartShare),
    ];
    let cells = cols.map(|(name, col)| (name, col.cell(result, &[result])));
    cells.into_iter().filter(|(_, cell)| !cell.is_missing()).collect()
}

/// Source, method and proof of the benchmark.
fn source(entry: &Benchmark) -> Vec<(&'static str, String)> {
    let needs: Vec<&str> = entry.needs.iter().map(|n| n.name.as_str()).collect();
    vec![
        ("Source", entry.source_text()),
        ("Workload", done_by(entry)),
        ("Needs", words::join(&needs)),
        ("Work checks", claims(&entry.claims)),
        ("Not comparable", entry.not_comparable.clone().unwrap_or_default()),
        ("Note", entry.remark.clone().unwrap_or_default()),
    ]
}

/// Printed results of the same benchmark, in its own unit.
fn references(input: &Brief, result: &Measurement) -> Vec<String> {
    let printed = input.parts.references.iter().filter_map(|view| {
        let values = super::history::values(view.get(&result.id)?);
        let (value, unit) = values.first()?;
        Some(format!("{} {}", view.machine.name, number::at_most(*value, unit, 4)))
    });
    printed.collect()
}

/// Sentences of a head and a text; without those that have no text.
fn sentences(parts: &[(&str, &str)]) -> String {
    let parts = parts.iter().map(|(head, text)| (head, text.trim().trim_end_matches('.')));
    let sentences = parts.filter(|(_, text)| !text.is_empty());
    let sentences = sentences.map(|(head, text)| format!("{head} {text}.").trim_start().to_owned());
    sentences.collect::<Vec<_>>().join(" ")
}

/// Program and CPU of the work, or the parts of a derived benchmark.
fn done_by(entry: &Benchmark) -> String {
    let on = match entry.placement {
        Placement::OneCpu => "one CPU",
        Placement::Cross => "two CPUs, one process on each",
        Placement::All => "all CPUs, wherever the scheduler puts it",
    };
    match &entry.work {
        Work::Kernel(kernel) => {
            let params = kernel.params.iter().map(|(k, v)| format!(", {k}={v}"));
            let params: String = params.collect();
            format!("Done by the program {}{params}, on {on}.", kernel.program)
        }
        Work::Command(command) => {
            format!("Done by the command {}, on {on}.", command.argv.join(" "))
        }
        Work::Scenario(command) => {
            let argv = command.argv.join(" ");
            format!("Done by several programs, started by {argv}, on {on}.")
        }
        Work::Derived { .. } if entry.is_peak() => {
            "The highest of the rates of its curve.".to_owned()
        }
        Work::Derived { .. } if entry.is_longest() => {
            "The longest of all operations of its curve.".to_owned()
        }
        Work::Derived { terms, share_of } => {
            let (sum, from) = (sum(terms), "Computed from other benchmarks:");
            match share_of {
                None => format!("{from} {sum}."),
                Some(whole) => format!("{from} the rate of {sum} as a share of that of {whole}."),
            }
        }
        Work::Score { over, baseline, weights, together: _ } => {
            let row = |(index, id)| match weights.get(index) {
                Some(weight) => format!("{} times {id}", number::printed(*weight, 4)),
                None => format!("{id}"),
            };
            let rows: Vec<String> = over.iter().enumerate().map(row).collect();
            let mean = match weights.is_empty() {
                true => "geometric",
                false => "weighted arithmetic",
            };
            let rows = words::join(&rows);
            format!("The {mean} mean of {rows} relative to {baseline}.")
        }
    }
}

/// `byte/fcall-empty - byte/fcall-assign`, `kernel/csw - 2 x kernel/signocsw`.
fn sum(terms: &[Term]) -> String {
    let mut out = String::new();
    for term in terms {
        out += match (out.is_empty(), term.times < 0.0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        if term.times.abs() != 1.0 {
            out += &format!("{} x ", number::printed(term.times.abs(), 0));
        }
        out += term.id.as_str();
    }
    out
}

fn claims(claims: &Claims) -> String {
    let plain = [
        (claims.check, "the check value is right"),
        (claims.linear, "time grows in proportion to the work"),
    ];
    let bounds = [
        (claims.syscalls_per_op, "entries into the kernel", ""),
        (claims.switches_per_op, "voluntary switches", " at least"),
        (claims.faults_per_op, "page faults", " at most"),
        (claims.major_faults_per_op, "major page faults", " at least"),
        (claims.page_outs_per_op, "pages out to swap", " at least"),
        (claims.min_ns_per_op, "nanoseconds", " at least"),
    ];
    let plain = plain.into_iter().filter(|(claimed, _)| *claimed);
    let bounds = bounds.into_iter().filter_map(|(value, what, bound)| {
        let value = number::at_most(value?, "", 4);
        Some(format!("{what} for each operation:{bound} {value}"))
    });
    let parts = plain.map(|(_, text)| text.to_owned()).chain(bounds);
    parts.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::Term;

    #[test]
    fn sums_read_as_sums() {
        let sum = |terms: &[(&str, f64)]| {
            let terms = terms.iter().map(|(id, times)| Term {
                id: gritstone_model::Id::parse(id).unwrap(),
                times: *times,
            });
            super::sum(&terms.collect::<Vec<_>>())
        };
        let three = [("a/b", 1.0), ("a/c", -2.0), ("d", 0.5)];
        assert_eq!(sum(&three), "a/b - 2 x a/c + 0.5 x d");
        assert_eq!(sum(&[("a", -1.0)]), "-a");
    }
}
