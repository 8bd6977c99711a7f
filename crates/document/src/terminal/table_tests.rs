//! Tables at several widths.

use super::*;
use crate::tree::{Column, Row, Style, Table};
use proptest::prelude::*;

fn text(columns: Vec<Column>, rows: Vec<Vec<Text>>, width: usize) -> String {
    let table =
        Table { columns, rows: rows.into_iter().map(Row::new).collect(), ..Table::default() };
    let mut document = Document::default();
    document.push(Block::Table(table));
    render(&document, Look::plain(width))
}

/// Two machines, two groups of columns, and optionally a column of words.
fn example(words: bool, width: usize) -> String {
    let mut columns = vec![Column::key("Machine", Style::Text)];
    for group in ["Pipe", "System call"] {
        columns
            .extend(["real", "user"].map(|head| Column::new(head, Style::Number).in_group(group)));
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
fn dropped_columns_are_named() {
    insta::assert_snapshot!(example(false, 24));
}

#[test]
fn words_shrink_before_columns_drop() {
    insta::assert_snapshot!(example(true, 64));
}

#[test]
fn long_identifiers_make_room() {
    let columns = || {
        vec![
            Column::key("Benchmark", Style::Code),
            Column::new("Result", Style::Number),
            Column::new("Unit", Style::Text),
            Column::new("95% CI", Style::Number).rank(1),
            Column::new("What", Style::Text).rank(2),
        ]
    };
    let id = "google/BM_VectorPushBack<std::vector<std::string>>/threads:8/real_time";
    let rows = || {
        let long = [id, "812", "ns/iteration", "806 to 818", "Push back of a vector of strings"];
        let short = ["kernel/syscall", "181.4", "ns/call", "181 to 182", "System call"];
        [long, short].map(|row| row.map(Text::new).to_vec()).to_vec()
    };
    let rendered = |width| text(columns(), rows(), width);
    insta::assert_snapshot!([100, 70, 50, 32].map(rendered).join("\n"));
}

#[test]
fn paired_columns_drop_together() {
    let shown = (20..80).map(|width| {
        let columns = vec![
            Column::key("benchmark", Style::Code),
            Column::new("before", Style::Number).rank(1),
            Column::new("after", Style::Number).rank(1).paired(),
            Column::new("change", Style::Number),
        ];
        let row = ["kernel/syscall", "181.4 ns/call", "9 ns/call", "-95%"];
        let out = text(columns, vec![row.map(Text::new).into()], width);
        let head = out.lines().find(|l| l.starts_with("benchmark")).unwrap();
        assert_eq!(head.contains("before"), head.contains("after"), "{out}");
        head.contains("before")
    });
    let shown: Vec<bool> = shown.collect();
    assert!(shown.contains(&true) && shown.contains(&false));
}

proptest! {
    #[test]
    fn rows_are_lines(
        width in 20usize..120,
        cells in prop::collection::vec(prop::collection::vec("[a-z東é]{1,12}( [a-z]{1,9}){0,3}", 4), 1..5),
        numbers in any::<bool>(),
    ) {
        let style = if numbers { Style::Number } else { Style::Text };
        let column = |i| match i {
            0 => Column::key("head 0", Style::Code),
            i => Column::new(format!("head {i}"), style),
        };
        let rows = cells.iter().map(|row| row.iter().map(Text::new).collect());
        let out = text((0..4).map(column).collect(), rows.collect(), width);
        let lines: Vec<&str> = out.lines().take_while(|line| !line.starts_with('(')).collect();
        // after the heads
        let rows = &lines[lines.len() - cells.len()..];
        for (line, row) in rows.iter().zip(&cells) {
            let start: String = row[0].chars().take(4).collect();
            prop_assert!(line.starts_with(start.trim_end()), "{line:?}");
            prop_assert!(width_of(line) <= width, "{line:?} is wider than {width}");
        }
    }
}
