//! The section of one family: prose, the documents' tables with these machines in them, curves, figures.

use super::{Across, Brief, curve, drawn, histogram, levels, published};
use crate::columns::{self, Beside, Col, Strays, table};
use crate::document::{Document, Style};
use crate::{lists, show, words};
use gritstone_model::Measurement;

pub(super) fn section(document: &mut Document, input: &Brief, name: &str, rows: &[Across]) {
    let family = input.families.iter().find(|f| f.name == name);
    let title = family.map_or_else(|| words::capital(name), |f| f.title.clone());
    document.heading(2, title);
    if let Some(family) = family.filter(|f| !f.why.is_empty()) {
        document.paragraph(family.why.clone());
    }
    let curves = curve::all(input, rows);
    published::tables(document, input, rows, &curves);
    for curve in &curves {
        curve.show(document, input);
    }
    drawn::copies(document, input, rows);
    drawn::matrices(document, input, rows);
    drawn::bars(document, input, rows);
    figures(document, input, rows);
    levels::show(document, input, rows);
    let unloaded = rows.iter().filter(|row| !levels::is_loaded(input, row.id));
    drawn::spread(document, input, &unloaded.collect::<Vec<_>>());
    histogram::show(document, input, rows);
    for at in 0..input.runs.len() {
        // a curve has been shown
        let drawn = |r: &Measurement| input.benchmark(&r.id).is_some_and(|b| b.curve.is_some());
        let rest = rows.iter().filter_map(|row| row.results[at]);
        let rest = rest.map(|r| Measurement {
            series: r.series.clone().filter(|_| !drawn(r)),
            ..r.clone()
        });
        let rest: Vec<Measurement> = rest.collect();
        let whose = input.several().then(|| input.name(at));
        show::details(document, &rest.iter().collect::<Vec<_>>(), whose.as_deref());
    }
    // what the documents asked of whoever measures
    let asked = family.into_iter().flat_map(|family| &family.guidelines);
    lists::append(
        document,
        "Guidelines, and how they are kept",
        [("Guideline", Style::Text), ("Here", Style::Text)],
        asked
            .map(|(rule, how)| [rule.clone(), how.clone()])
            .collect(),
    );
}

/// Figures for one operation, and the published work with all its times: of one machine with all that was
/// measured, of several side by side.
fn figures(document: &mut Document, input: &Brief, rows: &[Across]) {
    let is_published = |row: &&Across| row.any.published.is_some();
    let all: Vec<&Across> = rows.iter().collect();
    let published: Vec<&Across> = rows.iter().filter(is_published).collect();
    let (short, long) = ("For one operation", "Doing the published work");
    if input.several() {
        let names = input.names();
        for (caption, rows, cols) in [
            (short, all, [Col::WithUnit, Col::PlusMinus]),
            (long, published, [Col::Real, Col::Process]),
        ] {
            let rows: Vec<_> = rows.iter().map(|row| row.results.as_slice()).collect();
            let beside = Beside {
                caption,
                names: &names,
                rows: &rows,
                cols: &cols,
            };
            let made = columns::beside(document, &beside);
            document.table(made);
        }
        return;
    }
    let first = [
        Col::Id,
        Col::Title,
        Col::Figure,
        Col::Unit,
        Col::Interval,
        Col::Launches,
        Col::Cycles,
        Col::Ghz,
    ];
    let second = [
        Col::Id,
        Col::Work,
        Col::Real,
        Col::RealInterval,
        Col::User,
        Col::System,
        Col::Process,
        Col::StartShare,
    ];
    for (caption, rows, cols, strays) in [
        (short, all, first, Strays::PublishedElsewhere),
        (long, published, second, Strays::AtTheName),
    ] {
        let caption = format!("This machine, {}", caption.to_lowercase());
        let results: Vec<&Measurement> = rows.iter().map(|row| row.any).collect();
        let made = table(document, caption, &results, &cols, strays);
        document.table(made);
    }
}
