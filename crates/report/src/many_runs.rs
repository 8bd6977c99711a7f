//! Several runs against one base: a summary of each, and a line for each benchmark with the change of every run.

use crate::table::{Cell, Columns};
use crate::verdicts::{self, side, tone_of};
use crate::{absent, words};
use gritstone_document::number;
use gritstone_document::{About, Column, Document, Style};
use gritstone_model::{CompareRow, CompareSum, CompareView, Id, RunView};
use std::collections::BTreeMap;

/// A run, and its comparison with the base.
pub type Other<'a> = (&'a RunView, &'a CompareView);

/// A benchmark over all runs.
struct BenchmarkRow<'a> {
    id: &'a Id,
    /// The row of each run, if any.
    rows: Vec<Option<&'a CompareRow>>,
}

impl<'a> BenchmarkRow<'a> {
    fn any(&self) -> Option<&'a CompareRow> {
        self.rows.iter().flatten().next().copied()
    }

    /// The largest change in either direction.
    fn effect(&self) -> f64 {
        let ratios = self.rows.iter().flatten().filter_map(|row| row.ratio);
        ratios.map(|ratio| ratio.ln().abs()).fold(0.0, f64::max)
    }
}

/// Several runs against a base.
pub fn several(base: &RunView, others: &[Other]) -> Document {
    let mut document =
        Document::new(format!("{} against {}", words::plural(others.len(), "run"), name(base)));
    document.heading(1, "Runs");
    runs(&mut document, base, others);
    document.heading(1, "Benchmarks");
    let lines = lines(others);
    if lines.is_empty() {
        document.paragraph("No benchmark is of this kind.");
    }
    benchmarks(&mut document, base, others, lines);
    for (run, view) in others {
        let lines = absent::comparisons(&view.rows);
        if !lines.is_empty() {
            document.heading(2, format!("Not compared: {}", name(run)));
            document.list(lines);
        }
    }
    document
}

fn name(run: &RunView) -> String {
    run.label.clone().unwrap_or_else(|| run.id.clone())
}

/// Names of the runs, with their identifiers where they have the same label.
fn names(others: &[Other]) -> Vec<String> {
    let names: Vec<String> = others.iter().map(|(run, _)| name(run)).collect();
    let several = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    let distinct = names.iter().zip(others).map(|(name, (run, _))| match several(name) {
        true => format!("{name} ({})", words::short_id(&run.id)),
        false => name.clone(),
    });
    distinct.collect()
}

/// A line for each run, with a link to the whole comparison.
fn runs(document: &mut Document, base: &RunView, others: &[Other]) {
    let sum = |view: &CompareView| -> Option<CompareSum> {
        let all = view.sums.iter().find(|sum| sum.family.is_none());
        all.or(view.sums.first()).cloned()
    };
    let all: Vec<(&RunView, Option<CompareSum>)> =
        others.iter().map(|(run, view)| (*run, sum(view))).collect();
    let count = |field: fn(&CompareSum) -> usize| {
        move |(_, sum): &(&RunView, Option<CompareSum>)| {
            sum.as_ref().and_then(|sum| number::counted(field(sum)))
        }
    };
    type RunSum<'a> = (&'a RunView, Option<CompareSum>);
    let pair = |(run, _): &RunSum| {
        let pair = [base.id.clone(), run.id.clone()];
        Cell::from(name(run)).about(About::Pair(pair))
    };
    Columns::<RunSum>::key("Run", Style::Text, pair)
        .column(Column::new("Date (UTC)", Style::Code), |(run, _)| words::minute(&run.started))
        .text("System", |(run, _)| run.machine.name.clone())
        .number("Faster", count(|sum| sum.faster))
        .number("Slower", count(|sum| sum.slower))
        .number("Same", count(|sum| sum.same))
        .number("Inconclusive", count(|sum| sum.inconclusive))
        .number("Not compared", count(|sum| sum.without_ratio))
        .text("Geometric mean", |(_, sum)| {
            let sum = sum.as_ref()?;
            Some(words::ratio(sum.mean?, sum.interval, words::Sense::Speed))
        })
        .table(document, format!("All benchmarks of each run relative to {}", name(base)), all);
}

/// Benchmarks of any comparison, the largest change first.
fn lines<'a>(others: &[Other<'a>]) -> Vec<BenchmarkRow<'a>> {
    let mut lines: BTreeMap<&Id, BenchmarkRow> = BTreeMap::new();
    for (index, (_, view)) in others.iter().enumerate() {
        for row in view.rows.iter().filter(|row| row.ratio.is_some()) {
            let line = lines
                .entry(&row.id)
                .or_insert_with(|| BenchmarkRow { id: &row.id, rows: vec![None; others.len()] });
            line.rows[index] = Some(row);
        }
    }
    let mut lines: Vec<BenchmarkRow> = lines.into_values().collect();
    lines.sort_by(|a, b| b.effect().total_cmp(&a.effect()));
    lines
}

fn benchmarks<'a>(
    document: &mut Document,
    base: &RunView,
    others: &[Other<'a>],
    lines: Vec<BenchmarkRow<'a>>,
) {
    let has_history = !(base.is_side() && others.iter().all(|(run, _)| run.is_side()));
    let id = |line: &BenchmarkRow| match has_history {
        true => Cell::benchmark(line.id),
        false => Cell::from(line.id.as_str()),
    };
    let value = |line: &BenchmarkRow| {
        let row = line.any()?;
        side(row.base, &row.unit)
    };
    let mut columns =
        Columns::<BenchmarkRow>::key("Benchmark", Style::Code, id).number("Base", value);
    for (index, name) in names(others).into_iter().enumerate() {
        let change = move |line: &BenchmarkRow| {
            let Some(row) = line.rows[index] else {
                return Cell::from(None);
            };
            let change_text =
                row.ratio.map(|ratio| words::change(row.better, ratio, row.interval).0);
            Cell::from(change_text).toned(row.verdict.map(tone_of))
        };
        let interval = move |line: &BenchmarkRow| {
            let row = line.rows[index]?;
            words::change(row.better, row.ratio?, row.interval).1
        };
        columns = columns
            .under(name)
            .number("Change", change)
            .number("95% interval", interval)
            .text("Verdict", move |line: &BenchmarkRow| {
                line.rows[index].map(|row| verdicts::verdict(row).to_owned())
            });
    }
    columns.table(document, "Change of the value, the largest first", lines);
}
