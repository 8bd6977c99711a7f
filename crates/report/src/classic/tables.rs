//! Exhibits as tables: the systems of the document beside the run.

use super::Shown;
use super::numbers::{Numbers, value_in};
use crate::brief::name;
use crate::brief::timeline::scale;
use crate::{findings, words};
use gritstone_document::number;
use gritstone_document::{Column, Row, Style, Table, Text};
use gritstone_model::{Benchmark, Flag, Id, Measurement, RunView, Statistics, Subject, Unit};

/// Flags on comparability.
pub(super) const FLAGS: [Flag; 4] =
    [Flag::Invalid, Flag::Noisy, Flag::NotComparable, Flag::Doubtful];

/// A row for each benchmark.
pub(super) fn by_benchmark(shown: &Shown) -> Table {
    let rows: Vec<(&Benchmark, Numbers)> = shown
        .benchmarks
        .iter()
        .filter_map(|benchmark| Some((*benchmark, shown.numbers(benchmark)?)))
        .filter(|(_, numbers)| {
            numbers.measured.is_some() || numbers.printed.iter().any(Option::is_some)
        })
        .collect();
    let has = |index: &usize| rows.iter().any(|(_, numbers)| numbers.printed[*index].is_some());
    let systems: Vec<usize> = (0..shown.systems.len()).filter(has).collect();
    let reference = shown.reference();
    let reference = reference
        .and_then(|reference| shown.systems.iter().position(|view| view.id == reference.id));
    let mut columns = vec![Column::key("Test", Style::Text), Column::new("Unit", Style::Text)];
    columns.extend(systems.iter().map(|index| system(shown, shown.systems[*index])));
    columns.push(Column::new(name(shown.run), Style::Number));
    if let Some(reference) = reference {
        let head = format!("× {}", short(shown, shown.systems[reference]));
        columns.push(Column::new(head, Style::Number));
    }
    columns.push(Column::new("Flags", Style::Code));
    let row = |(benchmark, numbers): &(&Benchmark, Numbers)| {
        let texts = numbers.shown();
        let flags = flags(shown, &benchmark.id);
        let mut cells =
            vec![Text::new(benchmark.title.as_str()), Text::new(number::unit_text(&numbers.unit))];
        let run_index = shown.systems.len();
        let indices = systems.iter().copied().chain([run_index]);
        cells.extend(indices.map(|index| text(texts[index].clone())));
        if let Some(reference) = reference {
            let comparable =
                !flags.contains(&Flag::NotComparable) && !flags.contains(&Flag::Invalid);
            let times = numbers.times(reference).filter(|_| comparable);
            cells.push(text(times.map(|times| words::bare_ratio(times, None).0 + "×")));
        }
        cells.push(letters(&flags));
        Row::new(cells)
    };
    Table { caption: Text::new(shown.caption()), rows: rows.iter().map(row).collect(), columns }
        .without_empty_columns()
}

/// A row for each system that printed statistics, and for the run.
pub(super) fn statistics(shown: &Shown) -> Table {
    let heads = ["Min", "Max", "Median", "Mean"];
    let mut columns = vec![Column::key("System", Style::Text)];
    columns.push(Column::new("Test", Style::Text));
    columns.extend(heads.map(|head| Column::new(head, Style::Number)));
    columns.push(Column::new("Unit", Style::Text));
    columns.push(Column::new("Flags", Style::Code));
    let mut rows = vec![];
    for benchmark in &shown.benchmarks {
        let printed =
            shown.systems.iter().filter_map(|view| Some((*view, view.get(&benchmark.id)?)));
        let printed: Vec<(&RunView, &Measurement)> =
            printed.filter(|(_, result)| result.statistics().is_some()).collect();
        let unit = printed.first().map(|(_, result)| &result.unit);
        for (view, result) in &printed {
            let flags = result.flags().into_iter();
            let flags = flags.filter(|flag| *flag == Flag::Doubtful);
            rows.extend(four(
                &view.machine.name,
                benchmark,
                result,
                &result.unit,
                &flags.collect::<Vec<_>>(),
            ));
        }
        let Some(result) = shown.result(&benchmark.id) else {
            continue;
        };
        let row = four(
            &name(shown.run),
            benchmark,
            result,
            unit.unwrap_or(&result.unit),
            &flags(shown, &benchmark.id),
        );
        rows.extend(row.map(|row| Row { strong: true, ..row }));
    }
    Table { caption: Text::new(shown.caption()), columns, rows }
}

fn four(
    system: &str,
    benchmark: &Benchmark,
    result: &Measurement,
    unit: &Unit,
    flags: &[Flag],
) -> Option<Row> {
    let Statistics { min, median, mean, max, .. } = result.statistics()?;
    let factor = scale(&result.unit, unit)?;
    let digits = |value: f64| match result.is_published() {
        true => number::printed(value, number::printed_decimals(value).min(4)),
        false => number::significant(value * factor, 3),
    };
    let all = [Some(*min), Some(*max), Some(*median), *mean];
    let mut cells = vec![Text::new(system), Text::new(benchmark.title.as_str())];
    cells.extend(all.map(|value| text(value.map(digits))));
    cells.push(Text::new(number::unit_text(unit.as_str())));
    cells.push(letters(flags));
    Some(Row::new(cells))
}

/// Times relative to those of the reference: printed ones, and the run's.
pub(super) fn ratios(shown: &Shown) -> Table {
    let variant = shown.exhibit.printed.as_deref().unwrap_or_default();
    let printed_id = |id: &Id| {
        let plain = id.as_str().split('@').next().unwrap_or_default();
        Id::parse(&format!("{plain}@{variant}")).ok()
    };
    let printed = |view: &RunView, id: &Id| view.get(&printed_id(id)?)?.value();
    let mut systems = shown.systems.clone();
    systems.retain(|view| shown.benchmarks.iter().any(|b| printed(view, &b.id).is_some()));
    let mut columns = vec![Column::key("Test", Style::Text)];
    columns.extend(systems.iter().map(|view| system(shown, view)));
    columns.push(Column::new(name(shown.run), Style::Number));
    columns.push(Column::new("Flags", Style::Code));
    let reference = shown.reference();
    let row = |benchmark: &&Benchmark| {
        let theirs = reference.and_then(|view| view.get(&benchmark.id));
        let measured = shown.result(&benchmark.id).and_then(|result| {
            let theirs = theirs?;
            Some(value_in(result, theirs.unit.as_str())? / theirs.value()?)
        });
        let mut cells = vec![Text::new(benchmark.title.as_str())];
        cells.extend(systems.iter().map(|view| {
            let ratio = printed(view, &benchmark.id);
            text(ratio.map(|ratio| number::printed(ratio, number::printed_decimals(ratio))))
        }));
        cells.push(text(measured.map(|ratio| number::significant(ratio, 2))));
        cells.push(letters(&flags(shown, &benchmark.id)));
        Row::new(cells)
    };
    Table {
        caption: Text::new(shown.caption()),
        rows: shown.benchmarks.iter().map(row).collect(),
        columns,
    }
}

/// A total with one of its parts, and the remainder.
pub(super) fn elements(shown: &Shown) -> Table {
    let heads = ["Response to the interrupt", "Kernel and switch", "Dispatch latency"];
    let mut columns = vec![Column::key("System", Style::Text), Column::new("Test", Style::Text)];
    columns.extend(heads.map(|head| Column::new(format!("{head}, us"), Style::Number)));
    columns.push(Column::new("Flags", Style::Code));
    let us = |view: &RunView, id: &Id| value_in(view.get(id)?, MICROSECONDS);
    let mut rows = vec![];
    for pair in shown.benchmarks.chunks_exact(2) {
        let views = shown.systems.iter().copied().chain([shown.run]);
        for view in views {
            let (Some(part), Some(whole)) = (us(view, &pair[0].id), us(view, &pair[1].id)) else {
                continue;
            };
            let is_run = view.id == shown.run.id;
            let system = if is_run { name(view) } else { view.machine.name.clone() };
            let mut cells = vec![Text::new(system), Text::new(pair[1].title.as_str())];
            let parts = [part, whole - part, whole];
            cells.extend(parts.map(|us| Text::new(number::significant(us, 3))));
            cells.push(letters(&if is_run { flags(shown, &pair[1].id) } else { vec![] }));
            rows.push(Row { cells, strong: is_run });
        }
    }
    Table { caption: Text::new(shown.caption()), columns, rows }
}

const MICROSECONDS: &str = "us";

fn system(shown: &Shown, view: &RunView) -> Column {
    Column::new(short(shown, view), Style::Number)
}

/// "840S" of "HP 9000 Model 840S"; the identifier if the name is ambiguous.
pub(super) fn short<'a>(shown: &Shown, view: &'a RunView) -> &'a str {
    let name = view.machine.name.as_str();
    let first = shown.systems.iter().find(|other| other.machine.name == name);
    match first.is_some_and(|first| first.id == view.id) {
        true => name.rsplit("Model ").next().unwrap_or(name),
        false => &view.machine.id,
    }
}

fn text(shown: Option<String>) -> Text {
    shown.map_or_else(Text::missing, Text::new)
}

/// Flags of the run, and whether a system's number is doubtful.
pub(super) fn flags(shown: &Shown, id: &Id) -> Vec<Flag> {
    let doubted = |view: &&RunView| view.get(id).is_some_and(|result| has(result, Flag::Doubtful));
    let doubted = shown.systems.iter().any(doubted);
    let measured = shown.result(id);
    let mut flags = FLAGS.to_vec();
    flags.retain(|flag| {
        measured.is_some_and(|result| has(result, *flag)) || (*flag == Flag::Doubtful && doubted)
    });
    flags
}

/// Whether a flag concerns the compared quantity.
fn has(result: &Measurement, flag: Flag) -> bool {
    let compared = result.published.as_ref().map(|published| published.figure);
    let mut parts = [Some(Subject::Estimate), compared].into_iter().flatten();
    parts.any(|part| result.has_flag(flag, part))
}

fn letters(flags: &[Flag]) -> Text {
    let letters: Vec<&str> = flags.iter().map(|flag| findings::letter(*flag)).collect();
    text(Some(letters.join(" ")).filter(|letters| !letters.is_empty()))
}
