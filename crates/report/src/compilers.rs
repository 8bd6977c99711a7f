//! Compilers against each other: what `gritstone compilers` prints.

use crate::document::{Block, Column, Document, Row, Style, Table, Text};
use crate::{columns, number, words};
use gritstone_model::{CompareView, CompilerView, CompilersView, Measurement};

/// Digits of a compile time.
const TIME_DIGITS: i32 = 3;

/// One table of ratios to the first compiler, and one of what each of them made.
#[must_use]
pub fn compilers(view: &CompilersView) -> Document {
    let base = view.compilers.first().map_or("", |c| c.name.as_str());
    let mut document = Document::new("Compilers against each other");
    document.paragraph(format!(
        "Measured in turn, in one session. A ratio above 1 means that the compiler's program is faster than that of {base}."
    ));
    let table = ratios(&mut document, view, base);
    document.table(table);
    document.table(Table {
        caption: "What they made of the programs' own sources".into(),
        columns: vec![
            Column::key("Compiler", Style::Code),
            Column::new("Says that it is", Style::Text),
            Column::new("Programs", Style::Number),
            Column::new("Compile time s", Style::Number),
            Column::new("Object size bytes", Style::Number),
            Column::new("Run", Style::Code),
        ],
        rows: view.compilers.iter().map(made).collect(),
    });
    for compiler in &view.compilers {
        for (program, why) in &compiler.refused {
            document.paragraph(format!("{} refused {program}: {why}", compiler.name));
        }
    }
    document.push(Block::Footnotes);
    document
}

fn ratios(document: &mut Document, view: &CompilersView, base: &str) -> Table {
    let mut heads = vec![
        Column::key("Benchmark", Style::Code),
        Column::new(base, Style::Number),
    ];
    for other in view.compilers.iter().skip(1) {
        heads.push(Column::new("Ratio", Style::Number).of(&other.name));
        heads.push(Column::new("Interval", Style::Number).of(&other.name));
    }
    let rows = view.base.results.iter().map(|result| {
        let marks: Vec<_> = result.notes.iter().map(|f| document.note(f)).collect();
        let mut cells = vec![
            result.id.as_str().into(),
            Text::new(columns::figure_with_unit(result)).with(marks),
        ];
        for comparison in &view.comparisons {
            cells.extend(against(document, comparison, result));
        }
        Row::new(cells)
    });
    Table {
        caption: format!("Ratios to {base}").into(),
        rows: rows.collect(),
        columns: heads,
    }
}

/// Ratio and interval of one row; what is known against it stands with the ratio.
fn against(document: &mut Document, comparison: &CompareView, base: &Measurement) -> [Text; 2] {
    let Some(row) = comparison.rows.iter().find(|row| row.id == base.id) else {
        return [Text::missing(), Text::missing()];
    };
    let marks: Vec<_> = row.notes.iter().map(|f| document.note(f)).collect();
    let (ratio, interval) = match row.ratio {
        Some(ratio) => words::bare_ratio(ratio, row.interval),
        None => (String::new(), String::new()),
    };
    let shown = |text: String| match text.as_str() {
        "" => Text::missing(),
        _ => Text::new(text),
    };
    [shown(ratio).with(marks), shown(interval)]
}

fn made(compiler: &CompilerView) -> Row {
    Row::new(vec![
        compiler.name.as_str().into(),
        compiler.version.as_str().into(),
        number::count(compiler.programs).into(),
        number::significant(compiler.compile_s, TIME_DIGITS).into(),
        match compiler.bytes {
            Some(bytes) => number::fixed(bytes as f64, 0).into(),
            None => Text::missing(),
        },
        compiler.run.as_str().into(),
    ])
}
