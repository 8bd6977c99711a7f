//! Made-up tables at several widths.

use super::*;
use crate::document::Column;
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

fn text(table: &Table, width: usize) -> String {
    let document = Document::default();
    let mut text = String::new();
    lines(&document, table, width, |line, _| {
        text.push_str(line.trim_end());
        text.push('\n');
    });
    text
}

fn example() -> Table {
    let group = |head: &str, group: &str| Column::new(head, Style::Number).of(group);
    Table {
        caption: Text::default(),
        columns: vec![
            Column::key("Machine", Style::Text),
            group("real", "Pipe"),
            group("user", "Pipe"),
            group("real", "System call"),
            group("user", "System call"),
        ],
        rows: vec![
            Row::new(
                ["VAX-11/780", "3.2", "0.1", "4.8", "1.4"]
                    .map(Text::new)
                    .into(),
            ),
            Row::new(
                ["IBM PC XT", "16.6", "0.1", "39.8", "2.9"]
                    .map(Text::new)
                    .into(),
            ),
        ],
    }
}

#[test]
fn groups_stand_above_their_columns() {
    insta::assert_snapshot!(text(&example(), 80));
}

#[test]
fn a_table_that_is_too_wide_is_cut_between_groups() {
    insta::assert_snapshot!(text(&example(), 24));
}

#[test]
fn words_wrap_inside_their_column() {
    let mut table = example();
    table
        .columns
        .push(Column::new("Configuration", Style::Text));
    for row in &mut table.rows {
        row.cells
            .push("4-megabyte RAM, two 256-megabyte disk drives".into());
    }
    insta::assert_snapshot!(text(&table, 64));
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
        let table = Table {
            caption: Text::default(),
            columns: (0..4).map(|i| Column { key: i == 0, ..Column::new(format!("head {i}"), style) }).collect(),
            rows: cells.iter().map(|r| Row::new(r.iter().map(Text::new).collect())).collect(),
        };
        let out = text(&table, width);
        for line in out.lines() {
            prop_assert!(line.width() <= width, "{line:?} is wider than {width}");
        }
        let letters = |s: &str| s.chars().filter(|c| c.is_alphabetic()).count();
        let there: usize = cells.iter().flatten().map(|c| letters(c)).sum();
        prop_assert!(letters(&out) >= there);
    }
}
