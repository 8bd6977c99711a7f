//! Benchmarks as one copy and as several: a table, and a sentence on the fitted law or the reason for its absence; comparison of two runs
//! with copies.

use crate::findings;
use crate::table::{Cell, Columns, noted};
use crate::verdicts::{differs, heads, in_a_word, side};
use crate::words::Detail;
use crate::words::{self, Sense};
use gritstone_document::number;
use gritstone_document::{Column, Document, Style};
use gritstone_model::{
    CompareCopies, CompareFigure, CompareRow, CompareView, CopiesPoint, CopiesView, Measurement,
    Unfitted,
};

/// Results of several copies of these benchmarks, if there are any.
pub(crate) fn copies(document: &mut Document, results: &[&Measurement]) {
    let measured = results.iter();
    let measured = measured.filter_map(|&result| Some((result, result.copies()?)));
    // one copy is the result itself
    let points = measured.clone().flat_map(|(result, copies)| {
        let points = copies.points.iter().filter(|point| point.copies > 1);
        points.map(move |point| (result, point))
    });
    type Point<'a> = (&'a Measurement, &'a CopiesPoint);
    Columns::<Point>::key("Benchmark", Style::Code, |(result, _)| result.id.as_str())
        .and_key("Copies", Style::Number, |(_, point)| point.copies.to_string())
        .number("Together", |(result, point)| {
            noted(total(result, point).map(|shown| shown.with_unit()), &point.notes)
        })
        .number("Efficiency", |(_, point)| point.efficiency.map(|e| number::percent(e.value)))
        .number("±", |(_, point)| Some(number::percent(point.efficiency?.half_width()?)))
        .column(Column::new("95% CI", Style::Number).rank(1), |(result, point)| {
            total(result, point).and_then(|shown| shown.brackets())
        })
        .column(Column::new("Each", Style::Number).rank(2), |(result, point)| {
            let (each, total) = point.per_copy.zip(point.total)?;
            let share = each / total.value;
            let interval = total.interval.map(|ends| ends.map(|end| end * share));
            Some(number::figure(each, interval, result.unit.as_str()).with_unit())
        })
        .column(Column::new("Launches", Style::Number).rank(3), |(_, point)| point.launches)
        .table(document, "Copies at once", points);
    // a law is not expected from few numbers of copies
    let expects_law = |(_, copies): &(&Measurement, &CopiesView)| {
        !matches!(copies.unfitted, Some(Unfitted::Sizes { .. }))
    };
    let lines = measured.filter(expects_law);
    document.list(lines.map(|(result, copies)| format!("{}: {}", result.id, law(copies))));
}

/// Total rate of the copies.
fn total(result: &Measurement, point: &CopiesPoint) -> Option<number::Shown> {
    let total = point.total?;
    Some(number::figure(total.value, total.interval, result.unit.as_str()))
}

/// A table of total rate and efficiency on both sides, of benchmarks that differ or, in detail, of all; nothing if a side has no copies.
pub(crate) fn compared(document: &mut Document, view: &CompareView, detail: Detail) {
    type Copies<'a> = (&'a CompareRow, &'a CompareCopies);
    let rows = view.rows.iter().flat_map(|row| {
        let copies = row.copies.iter();
        copies.map(move |copies| (row, copies))
    });
    let rows = rows.filter(|(_, copies)| {
        let verdicts = [copies.total.verdict, copies.efficiency.verdict];
        detail > Detail::Results || verdicts.into_iter().any(differs)
    });
    let [base, other] = heads(view);
    let percent = |x: Option<f64>| x.map(number::percent);
    Columns::<Copies>::key("Benchmark", Style::Code, |(row, _)| row.id.as_str())
        .and_key("Copies", Style::Number, |(_, copies)| copies.copies.to_string())
        .under("Together")
        .text("ratio", |(_, copies)| noted(ratio(&copies.total, Sense::Speed), &copies.notes))
        .text("verdict", |(_, copies)| in_a_word(copies.total.verdict, Sense::Speed))
        .number(base, |(_, copies)| side(copies.total.base, &copies.unit))
        .number(other, |(_, copies)| side(copies.total.other, &copies.unit))
        .under("Efficiency")
        .text("ratio", |(_, copies)| ratio(&copies.efficiency, Sense::Share))
        .text("verdict", |(_, copies)| in_a_word(copies.efficiency.verdict, Sense::Share))
        .number(base, move |(_, copies)| percent(copies.efficiency.base))
        .number(other, move |(_, copies)| percent(copies.efficiency.other))
        .table(
            document,
            format!("Copies at once: {} relative to {}", view.other_name, view.base_name),
            rows,
        );
}

fn ratio(figure: &CompareFigure, sense: Sense) -> Cell {
    let ratio = figure.ratio;
    ratio.map(|x| words::ratio(x, figure.interval, sense)).into()
}

/// The law of the curve, in words.
fn law(copies: &CopiesView) -> String {
    let Some(law) = &copies.law else {
        let why = copies.unfitted;
        return why.map_or_else(String::new, |why| findings::unfitted(why, "copies"));
    };
    findings::law(law, "copies")
}
