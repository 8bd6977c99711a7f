//! Bars: the rows of a family relative to what the brief is held against, with their intervals, one bar a machine.

use super::{Across, Brief, next_figure};
use crate::document::{Block, Document, Figure};
use crate::svg::bars::{Bar, Bars, Group};
use crate::words;
use gritstone_model::{CompareRow, Id};

/// A bar by itself says no more than its row in a table.
const LEAST: usize = 2;
/// As many rows have room on a page; the next are a figure of their own.
const MOST: usize = 32;

/// Adds the figures of a family; nothing where too few rows have a ratio.
pub(super) fn show(document: &mut Document, input: &Brief, rows: &[Across]) {
    let Some(base) = input.against.first().map(|view| view.base_name.as_str()) else {
        return;
    };
    let groups: Vec<Group> = rows.iter().filter_map(|row| group(input, row)).collect();
    if groups.len() < LEAST {
        return;
    }
    let parts = groups.len().div_ceil(MOST);
    for (part, groups) in groups.chunks(groups.len().div_ceil(parts)).enumerate() {
        let continued = if part > 0 { ", continued" } else { "" };
        let caption = format!(
            "Relative to {base}{continued}: to the right of 1 is better; the thin line is the interval"
        );
        let alternative = words_of(input, groups);
        let names = (0..input.runs.len()).map(|at| input.name(at)).collect();
        let drawing = Bars {
            id: next_figure(document),
            title: caption.clone(),
            description: alternative.clone(),
            x_label: format!("Ratio to {base}"),
            names,
            groups: groups.to_vec(),
        };
        document.push(Block::Figure(Figure {
            svg: drawing.render(),
            caption: caption.into(),
            alternative,
        }));
    }
}

/// A row with a bar for each machine that has a ratio; rows whose work is in doubt have none.
fn group(input: &Brief, row: &Across) -> Option<Group> {
    let bars: Vec<Option<Bar>> = (0..input.runs.len())
        .map(|at| bar(compared(input, at, row.id)?))
        .collect();
    bars.iter().any(Option::is_some).then(|| Group {
        name: row.any().title.clone(),
        bars,
    })
}

fn compared<'a>(input: &Brief<'a>, run: usize, id: &Id) -> Option<&'a CompareRow> {
    let view = input.against.get(run)?;
    view.rows.iter().find(|row| row.id == *id)
}

fn bar(row: &CompareRow) -> Option<Bar> {
    let ratio = row.ratio.filter(|r| r.is_finite() && *r > 0.0)?;
    (!row.in_doubt()).then(|| Bar {
        ratio,
        interval: row.interval,
        text: words::bare_ratio(ratio, row.interval).0,
    })
}

/// "System call: 1,690. Pipe: 512." With several machines each bar is named.
fn words_of(input: &Brief, groups: &[Group]) -> String {
    let said = |group: &Group| {
        let bars = group.bars.iter().enumerate().filter_map(|(at, bar)| {
            let bar = bar.as_ref()?;
            Some(match input.several() {
                true => format!("{} {}", input.name(at), bar.text),
                false => bar.text.clone(),
            })
        });
        format!("{}: {}.", group.name, bars.collect::<Vec<_>>().join(", "))
    };
    groups.iter().map(said).collect::<Vec<_>>().join(" ")
}
