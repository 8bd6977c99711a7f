//! Report on two runs: differences of their environments and results.

use super::data_sheet;
use crate::table::{Cell, Columns};
use crate::{absent, columns, compare, findings, scores, verdicts, words};
use gritstone_document::number;
use gritstone_document::svg::{
    self,
    dots::{self, Dot, Panel},
};
use gritstone_document::{Block, Document, Style};
use gritstone_model::{CompareRow, CompareSum, CompareView, RunView, ScoresView, Verdict, flags};

/// Input of the report on two runs.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    pub base: &'a RunView,
    /// The other, B.
    pub other: &'a RunView,
    /// B against A.
    pub compared: &'a CompareView,
    /// Scores of A and B, where they are two systems.
    pub scores: Option<&'a ScoresView>,
}

/// Lines of one drawing.
const LINES: usize = 104;

/// The report as a document.
pub fn pair(input: &Pair) -> Document {
    let view = input.compared;
    let runs = [input.base, input.other];
    let names = data_sheet::names(runs);
    let mut document =
        Document::new(format!("Performance brief: {} against {}", names[1], names[0]));
    document.paragraph(compare::summary(view));
    if let Some(scores) = input.scores {
        document.heading(1, "Scores");
        scores::side_by_side(&mut document, scores);
    }
    if view.sums.len() > 1 {
        document.heading(1, "Families");
        families(&mut document, view);
        compare::families(&mut document, view);
    }
    document.heading(1, "Benchmarks");
    drawn(&mut document, view);
    let margin = number::percent_option(view.margin);
    let [slower, faster] = match input.base.machine.id == input.other.machine.id {
        true => ["Regressions", "Improvements"],
        false => ["Slower", "Faster"],
    };
    let sections = [
        (slower, Group::Verdict(Verdict::Slower)),
        (faster, Group::Verdict(Verdict::Faster)),
        (&format!("Unchanged within {margin}"), Group::Verdict(Verdict::Same)),
        ("Inconclusive", Group::Verdict(Verdict::Inconclusive)),
        ("Published, without intervals", Group::Published),
        ("Not compared", Group::WithoutRatio),
    ];
    let groups = || view.rows.iter().map(|row| Group::new(view, row));
    let is_judged = groups().any(|group| matches!(group, Group::Verdict(_)));
    for (title, group) in sections {
        // an empty section says that no verdict is so
        let is_said = is_judged && matches!(group, Group::Verdict(_));
        if is_said || groups().any(|other| other == group) {
            section(&mut document, input, title, group);
        }
    }
    for ((letter, name), run) in ["A", "B"].into_iter().zip(&names).zip(runs) {
        document.heading(1, format!("{letter}: {name}"));
        document.terms(data_sheet::card(run));
    }
    document.heading(1, "Differences between the environments");
    if view.differ_in.is_empty() {
        document.paragraph("No recorded differences.");
    }
    let caption = "Differences in configuration";
    compare::differences(&mut document, ["A", "B"], caption, &view.differ_in);
    document
}

/// Rows that one section shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Verdict(Verdict),
    Published,
    WithoutRatio,
}

impl Group {
    fn new(view: &CompareView, row: &CompareRow) -> Self {
        match row.verdict.filter(|_| row.ratio.is_some()) {
            _ if compare::published(view, row) => Self::Published,
            Some(verdict) => Self::Verdict(verdict),
            None => Self::WithoutRatio,
        }
    }
}

fn section(document: &mut Document, input: &Pair, title: &str, group: Group) {
    let mut rows: Vec<&CompareRow> = input.compared.rows.iter().collect();
    rows.retain(|row| Group::new(input.compared, row) == group);
    document.heading(1, format!("{title} ({})", number::count(rows.len())));
    if rows.is_empty() {
        document.paragraph("None.");
    }
    // the compared values, or those of a benchmark that is not compared
    let side = |compared: Option<f64>, run: &RunView, row: &CompareRow| {
        let measured = || {
            let result = run.get(&row.id)?;
            result.value().map(|_| columns::figure_with_unit(result))
        };
        verdicts::side(compared, &row.unit).or_else(measured)
    };
    let change = |row: &CompareRow| Some(words::change(row.better, row.ratio?, row.interval));
    let letters = |row: &&CompareRow| {
        row.ratio?;
        let letters: Vec<&str> = flags(&row.notes).into_iter().map(findings::letter).collect();
        Some(letters.join(" "))
    };
    let notes = |row: &&CompareRow| {
        let (what, why) = absent::reason(row);
        let why = why.map_or_else(|| words::capital(what), findings::message);
        Some(why).filter(|_| row.ratio.is_none())
    };
    let has_history = !(input.base.is_side() && input.other.is_side());
    let benchmark = |row: &&CompareRow| match has_history {
        true => Cell::benchmark(&row.id),
        false => Cell::from(row.id.as_str()),
    };
    Columns::<&CompareRow>::key("Benchmark", Style::Code, benchmark)
        .number("A", |row| side(row.base, input.base, row))
        .number("B", |row| side(row.other, input.other, row))
        .number("Change", move |row| change(row).map(|(change, _)| change))
        .number("Interval", move |row| change(row).and_then(|(_, interval)| interval))
        .text("Verdict", |row| match group {
            Group::Published => "",
            _ => verdicts::verdict(row),
        })
        .number("Minimum detectable", |row| row.smallest.map(verdicts::minimum_detectable))
        .text("Flags", letters)
        .text("Why", notes)
        .table(document, title, rows);
}

/// The geometric mean of each family in one drawing, worst first.
fn families(document: &mut Document, view: &CompareView) {
    let dot = |sum: &CompareSum| {
        let mean = sum.mean?;
        Some(Dot {
            name: sum.family.clone()?,
            value: mean,
            interval: sum.interval,
            text: words::times(mean, sum.interval).0,
            ..Dot::default()
        })
    };
    let dots = view.sums.iter().filter_map(dot).collect();
    let caption = "Geometric means of families with their intervals, worst first";
    figure(document, "families", caption, dots);
}

/// All ratios in one drawing, worst first.
fn drawn(document: &mut Document, view: &CompareView) {
    let dot = |row: &CompareRow| {
        let ratio = row.ratio.filter(|r| r.is_finite() && *r > 0.0)?;
        Some(Dot {
            name: row.id.to_string(),
            value: ratio,
            interval: row.interval,
            doubtful: Group::new(view, row) == Group::Verdict(Verdict::Inconclusive),
            text: words::times(ratio, row.interval).0,
            ..Dot::default()
        })
    };
    let mut dots: Vec<Dot> = view.rows.iter().filter_map(dot).collect();
    dots.sort_by(|a, b| a.value.total_cmp(&b.value));
    for (index, dots) in dots.chunks(LINES).enumerate() {
        let caption = match dots.iter().any(|dot| dot.doubtful) {
            true => "Ratios with their intervals, worst first; a ring is inconclusive",
            false => "Ratios with their intervals, worst first",
        };
        figure(document, &format!("changes-{}", index + 1), caption, dots.to_vec());
    }
}

fn figure(document: &mut Document, id: &str, caption: &str, mut dots: Vec<Dot>) {
    if dots.is_empty() {
        return;
    }
    dots.sort_by(|a, b| a.value.total_cmp(&b.value));
    let values = dots.iter().map(|dot| format!("{} {}", dot.name, dot.text));
    let alternative = format!("{}.", values.collect::<Vec<_>>().join(", "));
    let panel = Panel {
        label: "speed of B/A, right of 1 is better".to_owned(),
        mark: Some(1.0),
        dots,
        ..Panel::default()
    };
    let drawn = dots::draw(&[panel]);
    document.push(Block::Figure(svg::figure(drawn, id, caption.to_owned(), alternative)));
}
