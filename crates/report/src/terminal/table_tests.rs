//! Made-up tables at several widths.

use super::*;
use crate::document::{Column, Row};
use proptest::prelude::*;

fn text(columns: Vec<Column>, rows: Vec<Vec<Text>>, width: usize) -> String {
    let table = Table {
        columns,
        rows: rows.into_iter().map(Row::new).collect(),
        ..Table::default()
    };
    let mut text = String::new();
    lines(&Document::default(), &table, width, |line, _| {
        text += line.trim_end();
        text += "\n";
    });
    text
}

/// Two machines with two groups of columns, and one of words.
fn example(words: bool, width: usize) -> String {
    let mut columns = vec![Column::key("Machine", Style::Text)];
    for group in ["Pipe", "System call"] {
        columns.extend(["real", "user"].map(|head| Column::new(head, Style::Number).of(group)));
    }
    let lines = ["VAX-11/780|3.2|0.1|4.8|1.4", "IBM PC XT|16.6|0.1|39.8|2.9"];
    let mut rows = lines.map(|line| line.split('|').map(Text::new).collect::<Vec<_>>());
    if words {
        columns.push(Column::new("Configuration", Style::Text));
        let disks = "4-megabyte RAM, two 256-megabyte disk drives";
        rows.iter_mut().for_each(|row| row.push(disks.into()));
    }
    text(columns, rows.into(), width)
}

#[test]
fn groups_stand_above_their_columns() {
    insta::assert_snapshot!(example(false, 80));
}

#[test]
fn a_table_that_is_too_wide_is_cut_between_groups() {
    insta::assert_snapshot!(example(false, 24));
}

#[test]
fn words_wrap_inside_their_column() {
    insta::assert_snapshot!(example(true, 64));
}

proptest! {
    /// Whatever stands in the cells, no line is wider than asked for, and no word is lost.
    #[test]
    fn nothing_is_too_wide_and_nothing_lost(
        width in 20usize..120,
        cells in prop::collection::vec(prop::collection::vec("[a-z東é]{0,12}( [a-z]{1,9}){0,3}", 4), 0..5),
        numbers in any::<bool>(),
    ) {
        let style = if numbers { Style::Number } else { Style::Text };
        let column = |i| Column { key: i == 0, ..Column::new(format!("head {i}"), style) };
        let rows = cells.iter().map(|row| row.iter().map(Text::new).collect());
        let out = text((0..4).map(column).collect(), rows.collect(), width);
        for line in out.lines() {
            prop_assert!(width_of(line) <= width, "{line:?} is wider than {width}");
        }
        let letters = |s: &str| s.chars().filter(|c| c.is_alphabetic()).count();
        let there: usize = cells.iter().flatten().map(|c| letters(c)).sum();
        prop_assert!(letters(&out) >= there);
    }
}
