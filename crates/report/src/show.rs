//! A run or a reference machine as tables: what `gritstone show` and the end of `gritstone run` print.

use crate::columns::{self, Col, Strays, table};
use crate::copies::copies;
use crate::document::{Block, Column, Document, Row, Style, Table, Text};
use crate::pairs::Pairs;
use crate::{findings, number, words};
use gritstone_model::{Machine, Measurement, PartValue, RunView, Settings};

/// Names that belong to a figure are listed up to here; all of them are in the JSON.
const NAMES_SHOWN: usize = 12;

/// A run or a reference machine: its head, and one table a family with everything that was measured, what could
/// not be, and every footnote.
#[must_use]
pub fn show(view: &RunView) -> Document {
    let mut document = Document::new(title(view));
    document.subtitle = Some(subtitle(view));
    document.paragraph(machine_sentence(&view.machine));
    let settings = settings_terms(view);
    if !settings.is_empty() {
        document.push(Block::Terms(settings));
    }
    if view.results.is_empty() {
        document.paragraph("Nothing was measured.");
    }
    for (family, results) in by_family(&view.results) {
        document.heading(1, family);
        show_family(&mut document, &results);
    }
    document.push(Block::Footnotes);
    document
}

fn show_family(document: &mut Document, results: &[&Measurement]) {
    let cols = [
        Col::Id,
        Col::Title,
        Col::Figure,
        Col::Unit,
        Col::PlusMinus,
        Col::Work,
        Col::Real,
        Col::User,
        Col::System,
        Col::Cpu,
        Col::Process,
        Col::Launches,
        Col::Samples,
        Col::Cycles,
        Col::Ghz,
    ];
    let caption = words::plural(results.len(), "benchmark");
    let made = table(document, caption, results, &cols, Strays::AtTheName);
    document.table(made);
    details(document, results, None);
}

/// What a row of the table has no room for: parts and names, percentiles, curves. Where several machines stand on a page,
/// `whose` says of which one they are.
pub(crate) fn details(document: &mut Document, results: &[&Measurement], whose: Option<&str>) {
    let whose = whose.map_or(String::new(), |name| format!("{name}, "));
    let parts: Vec<Text> = results
        .iter()
        .filter_map(|r| parts(r))
        .map(|parts| Text::new(format!("{whose}{parts}")))
        .collect();
    if !parts.is_empty() {
        document.push(Block::List(parts));
    }
    let distributions: Vec<&Measurement> = results
        .iter()
        .filter(|r| {
            r.statistics
                .as_ref()
                .is_some_and(|s| r.is_published() || !s.percentiles.is_empty())
        })
        .copied()
        .collect();
    if !distributions.is_empty() {
        let mut cols = vec![Col::Id, Col::Min, Col::Median, Col::Mean, Col::Max];
        cols.extend(
            columns::percentiles(&distributions)
                .into_iter()
                .map(Col::Percentile),
        );
        let made = table(
            document,
            words::capital(&format!("{whose}over all events")),
            &distributions,
            &cols,
            Strays::AtTheName,
        );
        document.table(made);
    }
    for result in results {
        if let Some(made) = series(document, result, &whose) {
            document.table(made);
        }
        if let Some(made) = Pairs::of(result).and_then(|pairs| pairs.table(&whose)) {
            document.table(made);
        }
    }
    copies(document, results);
}

/// The curve in which a row ends, as a table.
fn series(document: &mut Document, result: &Measurement, whose: &str) -> Option<Table> {
    let points = result.series.as_ref()?;
    let notes: Vec<_> = result.notes.iter().map(|f| document.note(f)).collect();
    let label = result.series_label.as_deref().unwrap_or("x");
    let rows = points
        .iter()
        .map(|point| {
            let shown = point
                .estimate
                .map(|e| number::figure(e.value, e.interval, result.unit.as_str()));
            let cell = |text: Option<String>| {
                text.filter(|t| !t.is_empty())
                    .map_or_else(Text::missing, Text::new)
            };
            Row::new(vec![
                number::printed(point.x, 0).into(),
                cell(shown.as_ref().map(number::Shown::with_unit)),
                cell(shown.map(|s| s.interval)),
            ])
        })
        .collect();
    Some(
        Table {
            caption: Text::new(format!("{whose}{}: {}", result.id, result.title)).with(notes),
            columns: vec![
                Column::key(words::capital(label), Style::Number),
                Column::new("Figure", Style::Number),
                Column::new("Interval", Style::Number),
            ],
            rows,
        }
        .without_empty_columns(),
    )
}

fn parts(result: &Measurement) -> Option<String> {
    if result.parts.is_empty() && result.names.is_empty() {
        return None;
    }
    if let Some(pairs) = Pairs::of(result) {
        // what has room in a table is in one
        return pairs.table("").is_none().then(|| pairs.sentence());
    }
    let mut said: Vec<String> = Vec::new();
    if !result.parts.is_empty() {
        let unit = result.unit.as_str();
        let part = |part: &PartValue| {
            let value = number::figure(part.value, None, unit).with_unit();
            format!("{} {value}", findings::part(&part.part))
        };
        said.push(result.parts.iter().map(part).collect::<Vec<_>>().join(", "));
    }
    if !result.names.is_empty() {
        let shown: Vec<&str> = result
            .names
            .iter()
            .take(NAMES_SHOWN)
            .map(String::as_str)
            .collect();
        let more = result.names.len() - shown.len();
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        said.push(format!("names: {}{more}", shown.join(", ")));
    }
    Some(format!("{}: {}", result.id, said.join("; ")))
}

/// Results by the first part of their identifiers, in the order in which the families are first met.
pub(crate) fn by_family(results: &[Measurement]) -> Vec<(&str, Vec<&Measurement>)> {
    let mut families: Vec<(&str, Vec<&Measurement>)> = Vec::new();
    for result in results {
        let family = result.id.family();
        match families.iter_mut().find(|(name, _)| *name == family) {
            Some((_, of)) => of.push(result),
            None => families.push((family, vec![result])),
        }
    }
    families
}

fn title(view: &RunView) -> String {
    let name = name(view);
    match &view.label {
        Some(label) => format!("{label}: {name}"),
        None => name.to_owned(),
    }
}

/// What the machine is called; a run on a machine without a name is called by its identifier.
pub(crate) fn name(view: &RunView) -> &str {
    let name = view.machine.name.trim();
    if name.is_empty() { &view.id } else { name }
}

/// Where and when, and how long.
pub(crate) fn subtitle(view: &RunView) -> String {
    let date = words::date(&view.started);
    if let Some(document) = &view.machine.document {
        return format!("{}, published in {document}, {date}", view.id);
    }
    let took = match view.elapsed_s {
        Some(s) => format!("in {}", words::duration(s)),
        None => "cut off before its end".to_owned(),
    };
    let by = view.gritstone.as_ref().map_or(String::new(), |by| {
        match by.starts_with(|c: char| c.is_ascii_digit()) {
            true => format!(", by Gritstone {by}"),
            false => format!(", by {by}"),
        }
    });
    format!("Run {}, {date}, {took}{by}", view.id)
}

/// Name, system and configuration.
pub(crate) fn machine_sentence(machine: &Machine) -> String {
    let parts = [&machine.name, &machine.system, &machine.configuration];
    let said: Vec<&str> = parts
        .iter()
        .map(|p| p.trim())
        .filter(|p| !p.is_empty())
        .collect();
    match said.as_slice() {
        [] => "Nothing is known of the machine.".to_owned(),
        said => format!("{}.", said.join("; ").trim_end_matches('.')),
    }
}

fn settings_terms(view: &RunView) -> Vec<(String, Text)> {
    view.settings.as_ref().map_or(Vec::new(), settings)
}

/// Which rows are measured so is the same everywhere, and told once.
fn copies_asked(copies: &[u32]) -> String {
    if copies.is_empty() {
        return String::new();
    }
    let numbers: Vec<String> = copies.iter().map(u32::to_string).collect();
    format!(
        "{} beside one, of kernels on one CPU; no other row is measured so",
        numbers.join(", ")
    )
}

/// What was asked for, by name.
pub(crate) fn settings(s: &Settings) -> Vec<(String, Text)> {
    let selectors = if s.selectors.is_empty() {
        "everything".to_owned()
    } else {
        s.selectors.join(" ")
    };
    let quick = if s.quick { ", quick" } else { "" };
    let mut terms: Vec<(String, Text)> = vec![
        ("measured".into(), selectors.into()),
        (
            "budget".into(),
            format!("{}{quick}", words::duration(s.budget_s)).into(),
        ),
        (
            "precision asked for".into(),
            format!("±{}", number::percent_asked(s.precision)).into(),
        ),
        ("files in".into(), s.dir.clone().into()),
        ("seed of the order".into(), s.seed.to_string().into()),
        (
            "environment of children".into(),
            words::assigned(&s.environment).into(),
        ),
        ("parameters".into(), words::assigned(&s.params).into()),
        ("copies at once".into(), copies_asked(&s.copies).into()),
        ("steadied".into(), s.steady.join("; ").into()),
    ];
    terms.retain(|(_, text)| !text.text.is_empty());
    terms
}
