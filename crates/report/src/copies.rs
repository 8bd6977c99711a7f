//! Rows as one copy and as several at once: a table, and a sentence on the law that was fitted or why none was; and two runs by
//! what their copies do.

use crate::compare::{heads, in_a_word, side};
use crate::document::{Block, Column, Document, Row, Style, Table, Text};
use crate::words::{self, Sense};
use crate::{findings, number};
use gritstone_model::{
    CompareCopies, CompareFigure, CompareRow, CompareView, CopiesPoint, CopiesView, Measurement,
};

/// What several copies of these rows did, if any did.
pub(crate) fn copies(document: &mut Document, results: &[&Measurement]) {
    let measured: Vec<(&Measurement, &CopiesView)> = results
        .iter()
        .filter_map(|result| Some((*result, result.copies.as_ref()?)))
        .collect();
    if measured.is_empty() {
        return;
    }
    let mut rows = vec![];
    for (result, copies) in &measured {
        for point in &copies.points {
            rows.push(row(document, result, point));
        }
    }
    let number = |head: &str| Column::new(head, Style::Number);
    document.table(
        Table {
            caption: "Copies at once".into(),
            columns: vec![
                Column::key("Benchmark", Style::Code),
                Column::key("Copies", Style::Number),
                number("Together"),
                number("Interval"),
                number("Each"),
                number("Efficiency"),
                number("Its interval"),
                number("Launches"),
            ],
            rows,
        }
        .without_empty_columns(),
    );
    let laws = measured.iter();
    document.push(Block::List(
        laws.map(|(result, copies)| Text::new(format!("{}: {}", result.id, law(copies))))
            .collect(),
    ));
}

fn row(document: &mut Document, result: &Measurement, point: &CopiesPoint) -> Row {
    let unit = result.unit.as_str();
    let notes: Vec<_> = point.notes.iter().map(|f| document.note(f)).collect();
    let total = point
        .total
        .map(|total| number::figure(total.value, total.interval, unit));
    let cell = |text: Option<String>| {
        text.filter(|text| !text.is_empty())
            .map_or_else(Text::missing, Text::new)
    };
    let each = point.per_copy.zip(point.total).map(|(each, total)| {
        let interval = total
            .interval
            .map(|ends| ends.map(|end| end * each / total.value));
        number::figure(each, interval, unit).with_unit()
    });
    let efficiency = point.efficiency.map(|of| number::percent(of.value));
    let ends = point
        .efficiency
        .and_then(|of| of.interval)
        .map(|[low, high]| format!("{} to {}", number::percent(low), number::percent(high)));
    Row::new(vec![
        Text::new(result.id.to_string()),
        point.copies.to_string().into(),
        cell(total.as_ref().map(number::Shown::with_unit)).with(notes),
        cell(total.map(|shown| shown.interval)),
        cell(each),
        cell(efficiency),
        cell(ends),
        number::count(point.launches).into(),
    ])
}

/// A table of what so many copies do together on both sides, and how efficiently; nothing where a side has none.
pub(crate) fn compared(document: &mut Document, view: &CompareView) {
    let [base, other] = heads(view);
    let group = |name: &str| {
        [
            Column::new("ratio", Style::Text).of(name),
            Column::new("verdict", Style::Text).of(name),
            Column::new(&base, Style::Number).of(name),
            Column::new(&other, Style::Number).of(name),
        ]
    };
    let mut columns = vec![
        Column::key("Benchmark", Style::Code),
        Column::key("Copies", Style::Number),
    ];
    columns.extend(group("Together"));
    columns.extend(group("Efficiency"));
    let mut rows = vec![];
    for row in &view.rows {
        for copies in &row.copies {
            rows.push(compared_row(document, row, copies));
        }
    }
    document.table(
        Table {
            caption: format!("Copies at once, seen from {}", view.other_name).into(),
            columns,
            rows,
        }
        .without_empty_columns(),
    );
}

fn compared_row(document: &mut Document, row: &CompareRow, copies: &CompareCopies) -> Row {
    let notes: Vec<_> = copies.notes.iter().map(|f| document.note(f)).collect();
    let cells = |figure: &CompareFigure, sense: Sense, show: &dyn Fn(f64) -> String| {
        let shown = |value: Option<f64>| value.map_or_else(Text::missing, |x| show(x).into());
        let ratio = figure
            .ratio
            .map(|x| words::ratio(x, figure.interval, sense));
        [
            ratio.map_or_else(Text::missing, Text::new),
            in_a_word(figure.verdict, sense).into(),
            shown(figure.base),
            shown(figure.other),
        ]
    };
    let mut total = cells(&copies.total, Sense::Speed, &|x| side(x, &copies.unit));
    total[0] = std::mem::take(&mut total[0]).with(notes);
    let mut all = vec![row.id.to_string().into(), copies.copies.to_string().into()];
    all.extend(total);
    all.extend(cells(&copies.efficiency, Sense::Share, &number::percent));
    Row::new(all)
}

/// What the curve says, in words.
fn law(copies: &CopiesView) -> String {
    let Some(law) = &copies.law else {
        return copies.unfitted.map_or_else(String::new, findings::unfitted);
    };
    let knee = law.knee.map_or(String::new(), |knee| {
        format!(", knee at {} copies", number::significant(knee, 2))
    });
    let peak = match (law.peak, law.peak_interval) {
        (Some(peak), Some([Some(low), Some(high)])) => format!(
            "peak at {} copies ({} to {})",
            number::significant(peak, 2),
            number::significant(low, 2),
            number::significant(high, 2)
        ),
        (Some(peak), _) => format!("peak at {} copies", number::significant(peak, 2)),
        (None, _) => "no peak seen".to_owned(),
    };
    format!(
        "{} of the work waits for others, each pair costs {}: {peak}{knee}",
        number::percent(law.contention),
        number::percent(law.coherence)
    )
}
