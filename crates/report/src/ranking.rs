//! Systems by their scores: the page of `gritstone serve` and of a gallery.

use crate::table::{Cell, Columns};
use crate::words;
use gritstone_document::svg::{
    self,
    dots::{self, Dot, Panel},
};
use gritstone_document::{About, Block, Document, Style, number};
use gritstone_model::{RatedMachine, Rating, RatingsView};

/// The systems of a store, each by a run, the best first; those without a score last.
#[must_use]
pub fn ranking(view: &RatingsView) -> Document {
    let mut document = Document::new("Scores of systems");
    document.subtitle = Some(format!(
        "{} is 1; more is better. {} confidence intervals, of one run each.",
        view.base_name,
        number::percent_option(view.confidence)
    ));
    let mut machines: Vec<&RatedMachine> = view.machines.iter().collect();
    machines.sort_by(|a, b| {
        let score = |of: &RatedMachine| of.one_cpu.overall.rating.unwrap_or(0.0);
        score(b).total_cmp(&score(a)).then_with(|| a.id.cmp(&b.id))
    });
    if machines.is_empty() {
        document.paragraph("No run is stored.");
        return document;
    }
    drawn(&mut document, view, &machines);
    table(&mut document, &machines);
    document
}

fn drawn(document: &mut Document, view: &RatingsView, machines: &[&RatedMachine]) {
    let dot = |of: &&RatedMachine| {
        let overall = &of.one_cpu.overall;
        Some(Dot {
            name: of.name.clone(),
            value: overall.rating?,
            interval: overall.interval,
            text: words::bare_ratio(overall.rating?, None).0,
            ..Dot::default()
        })
    };
    let dots: Vec<Dot> = machines.iter().filter_map(dot).collect();
    if dots.is_empty() {
        return;
    }
    let texts: Vec<String> = dots
        .iter()
        .map(|dot| format!("{} {}", dot.name, dot.text))
        .collect();
    let panel = Panel {
        label: format!("× {}", view.base_name),
        mark: Some(1.0),
        dots,
        ..Panel::default()
    };
    document.push(Block::Figure(svg::figure(
        dots::draw(&[panel]),
        "ranking",
        "Scores with their intervals, the best first".to_owned(),
        format!("{}.", texts.join(", ")),
    )));
}

fn table(document: &mut Document, machines: &[&RatedMachine]) {
    let system =
        |of: &&&RatedMachine| Cell::from(of.name.as_str()).about(About::Run(of.id.clone()));
    let bare = |rating: &Rating| Some(words::bare_ratio(rating.rating?, None).0);
    let mut columns = Columns::<&&RatedMachine>::key("System", Style::Text, system)
        .number("Score", move |of| bare(&of.one_cpu.overall))
        .number("Interval", |of| {
            let overall = &of.one_cpu.overall;
            Some(words::bare_ratio(overall.rating?, overall.interval).1)
        });
    let environments = machines.first().map(|of| &of.one_cpu.environments);
    for (at, environment) in environments.into_iter().flatten().enumerate() {
        columns = columns.number(environment.environment.as_str(), move |of| {
            bare(of.one_cpu.environments.get(at)?)
        });
    }
    columns
        .number("Benchmarks", |of| of.one_cpu.overall.rows.len())
        .table(document, "Scores by environment", machines);
}
