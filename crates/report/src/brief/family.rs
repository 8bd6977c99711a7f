//! The section of one family: prose, the documents' tables with these machines in them, curves, figures.

use super::{Across, Brief, bars, copies, curve, levels, next_figure, published, spread};
use crate::columns::{self, Beside, Col, Strays, table};
use crate::document::{Block, Column, Document, Row, Style, Table};
use crate::pairs::Pairs;
use crate::{show, words};
use gritstone_model::{Family, Measurement};

pub(super) fn section(document: &mut Document, input: &Brief, name: &str, rows: &[Across]) {
    let family = input.family(name);
    let title = family.map_or_else(|| words::capital(name), |f| f.title.clone());
    document.heading(2, title);
    if let Some(family) = family.filter(|f| !f.why.is_empty()) {
        document.paragraph(family.why.clone());
    }
    let curves = curve::all(input, rows);
    for table in published::tables(document, input, rows, &curves) {
        document.table(table);
    }
    for curve in &curves {
        curve::show(document, input, curve);
    }
    copies::show(document, input, rows);
    matrices(document, input, rows);
    bars::show(document, input, rows);
    figures(document, input, rows);
    levels::show(document, input, rows);
    let unloaded = rows.iter().filter(|row| !levels::is_loaded(input, row.id));
    spread::show(document, input, &unloaded.cloned().collect::<Vec<_>>());
    let covered = |r: &Measurement| curves.iter().any(|c| c.ends_in(&r.id));
    for (at, _) in input.runs.iter().enumerate() {
        let of = rows.iter().filter_map(|row| row.results[at]);
        let rest: Vec<Measurement> = of
            .map(|r| Measurement {
                series: r.series.clone().filter(|_| !covered(r)),
                ..r.clone()
            })
            .collect();
        let whose = input.several().then(|| input.name(at));
        show::details(document, &rest.iter().collect::<Vec<_>>(), whose.as_deref());
    }
    if let Some(family) = family {
        guidelines(document, family);
    }
}

/// What rows say of each pair of CPUs, a figure a machine.
fn matrices(document: &mut Document, input: &Brief, rows: &[Across]) {
    for row in rows {
        for (at, result) in row.results.iter().enumerate() {
            let Some(pairs) = result.and_then(Pairs::of) else {
                continue;
            };
            let whose = match input.several() {
                true => format!("{}, ", input.name(at)),
                false => String::new(),
            };
            let id = next_figure(document);
            document.push(Block::Figure(pairs.figure(id, &whose)));
        }
    }
}

/// Figures for one operation, and the published work with all its times: of one machine with all that was
/// measured, of several side by side.
fn figures(document: &mut Document, input: &Brief, rows: &[Across]) {
    let published: Vec<Across> = rows
        .iter()
        .filter(|row| row.any().published.is_some())
        .cloned()
        .collect();
    if input.several() {
        let cols = [Col::WithUnit, Col::PlusMinus];
        let made = side_by_side(document, input, "For one operation", rows, &cols);
        document.table(made);
        let cols = [Col::Real, Col::Process];
        let caption = "Doing the published work";
        let made = side_by_side(document, input, caption, &published, &cols);
        document.table(made);
        return;
    }
    let of = |rows: &[Across]| -> Vec<Measurement> {
        let results = rows.iter().flat_map(|row| row.results.iter().flatten());
        results.map(|r| (*r).clone()).collect()
    };
    let (all, published) = (of(rows), of(&published));
    let cols = [
        Col::Id,
        Col::Title,
        Col::Figure,
        Col::Unit,
        Col::Interval,
        Col::Launches,
        Col::Cycles,
        Col::Ghz,
    ];
    let made = table(
        document,
        "This machine, for one operation",
        &all.iter().collect::<Vec<_>>(),
        &cols,
        Strays::PublishedElsewhere,
    );
    document.table(made);
    let cols = [
        Col::Id,
        Col::Work,
        Col::Real,
        Col::RealInterval,
        Col::User,
        Col::System,
        Col::Process,
        Col::StartShare,
    ];
    let made = table(
        document,
        "This machine, doing the published work",
        &published.iter().collect::<Vec<_>>(),
        &cols,
        Strays::AtTheName,
    );
    document.table(made);
}

/// A row a benchmark, and these columns once for each machine.
pub(super) fn side_by_side(
    document: &mut Document,
    input: &Brief,
    caption: &str,
    rows: &[Across],
    cols: &[Col],
) -> Table {
    let names: Vec<String> = (0..input.runs.len()).map(|at| input.name(at)).collect();
    let rows: Vec<&[Option<&Measurement>]> = rows.iter().map(|r| r.results.as_slice()).collect();
    columns::beside(
        document,
        &Beside {
            caption,
            names: &names,
            rows: &rows,
            cols,
        },
    )
}

/// What the documents asked of whoever measures, and how it is kept.
fn guidelines(document: &mut Document, family: &Family) {
    let row =
        |(rule, how): &(String, String)| Row::new(vec![rule.clone().into(), how.clone().into()]);
    document.table(Table {
        caption: "Guidelines, and how they are kept".into(),
        columns: vec![
            Column::key("Guideline", Style::Text),
            Column::new("Here", Style::Text),
        ],
        rows: family.guidelines.iter().map(row).collect(),
    });
}
