//! Compilers against each other: what `gritstone compilers` prints.

use crate::counters::explained;
use crate::document::{Block, Column, Document, Style};
use crate::table::{self, Columns, noted};
use crate::{columns, number};
use gritstone_model::{CompilerView, CompilersView, Measurement};

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
    ratios(&mut document, view, base);
    for (other, comparison) in view.compilers.iter().skip(1).zip(&view.comparisons) {
        let said = explained(&comparison.rows).into_iter();
        document.list(said.map(|said| format!("{}: {said}", other.name)));
    }
    Columns::<&CompilerView>::key("Compiler", Style::Code, |c| c.name.as_str())
        .text("Says that it is", |c| c.version.as_str())
        .number("Programs", |c| c.programs)
        .number("Compile time s", |c| {
            number::significant(c.compile_s, TIME_DIGITS)
        })
        .number("Object size bytes", |c| {
            c.bytes.map(|bytes| number::fixed(bytes as f64, 0))
        })
        .column(Column::new("Run", Style::Code), |c| c.run.as_str())
        .table(
            &mut document,
            "What they made of the programs' own sources",
            &view.compilers,
        );
    for compiler in &view.compilers {
        for (program, why) in &compiler.refused {
            document.paragraph(format!("{} refused {program}: {why}", compiler.name));
        }
    }
    document.push(Block::Footnotes);
    document
}

/// Ratio and interval of each benchmark; what is known against it stands with the ratio.
fn ratios(document: &mut Document, view: &CompilersView, base: &str) {
    let mut columns =
        Columns::<&Measurement>::key("Benchmark", Style::Code, |result| result.id.as_str())
            .number(base, |result| {
                noted(Some(columns::figure_with_unit(result)), &result.notes)
            });
    for (other, comparison) in view.compilers.iter().skip(1).zip(&view.comparisons) {
        let cells = |result: &&Measurement| {
            let mut rows = comparison.rows.iter();
            match rows.find(|row| row.id == result.id) {
                Some(row) => table::bare_ratio(row.ratio, row.interval, &row.notes),
                None => table::bare_ratio(None, None, &[]),
            }
        };
        columns = columns
            .under(&other.name)
            .pair(["Ratio", "Interval"], cells);
    }
    columns.table(document, format!("Ratios to {base}"), &view.base.results);
}
