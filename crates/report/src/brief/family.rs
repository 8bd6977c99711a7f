//! The section of one family: prose, the documents' tables with this machine in them, curves, figures.
//!
//! Must not know: the names of families and benchmarks.

use super::{Brief, curve, published};
use crate::columns::{Col, Strays, table};
use crate::document::{Column, Document, Row, Style, Table};
use crate::{show, words};
use gritstone_model::{Family, ResultView};

pub(super) fn section(document: &mut Document, input: &Brief, name: &str, results: &[&ResultView]) {
    let family = input.family(name);
    let title = family.map_or_else(|| words::capital(name), |f| f.title.clone());
    document.heading(1, title);
    if let Some(family) = family.filter(|f| !f.why.is_empty()) {
        document.paragraph(family.why.clone());
    }
    let curves = curve::all(input, results);
    for table in published::tables(document, input, results, &curves) {
        document.table(table);
    }
    for curve in &curves {
        curve::show(document, input, curve);
    }
    figures(document, results);
    let covered = |r: &ResultView| curves.iter().any(|c| c.ends_in(&r.id));
    let rest: Vec<ResultView> = results
        .iter()
        .map(|r| ResultView {
            series: r.series.clone().filter(|_| !covered(r)),
            ..(*r).clone()
        })
        .collect();
    show::details(document, &rest.iter().collect::<Vec<_>>());
    if let Some(family) = family {
        guidelines(document, family);
    }
}

/// This machine alone: figures for one operation, and the published work with all its times.
fn figures(document: &mut Document, results: &[&ResultView]) {
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
        results,
        &cols,
        Strays::PublishedElsewhere,
    );
    document.table(made);
    let published: Vec<&ResultView> = results
        .iter()
        .filter(|r| r.published.is_some())
        .copied()
        .collect();
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
        &published,
        &cols,
        Strays::AtTheName,
    );
    document.table(made);
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
