//! A run or a reference machine as tables: what `gritstone show` and the end of `gritstone run` print.

use crate::columns::{self, Col, Strays};
use crate::copies::copies;
use crate::document::{Block, Document, Style, Text};
use crate::pairs::Pairs;
use crate::table::{self, Columns};
use crate::{findings, number, words};
use gritstone_model::{Machine, Measurement, PartValue, RunView, SeriesPoint, Settings};

/// Names that belong to a result are listed up to here; all of them are in the JSON.
const NAMES_SHOWN: usize = 12;

/// What is shown of a result.
const COLS: [Col; 15] = {
    use Col::*;
    [
        Id, Title, Figure, Unit, PlusMinus, Work, Real, User, System, Cpu, Process, Launches,
        Samples, Cycles, Ghz,
    ]
};

/// A run or a reference machine: its head, and one table a family with everything that was measured, what could
/// not be, and every note.
#[must_use]
pub fn show(view: &RunView) -> Document {
    let name = name(view);
    let mut document = Document::new(match &view.label {
        Some(label) => format!("{label}: {name}"),
        None => name.to_owned(),
    });
    document.subtitle = Some(subtitle(view));
    document.paragraph(machine_sentence(&view.machine));
    document.terms(view.settings.iter().flat_map(settings));
    if view.results.is_empty() {
        document.paragraph("Nothing was measured.");
    }
    // in the order in which the families are first met
    let mut families: Vec<(&str, Vec<&Measurement>)> = Vec::new();
    for result in &view.results {
        let family = result.id.family();
        match families.iter_mut().find(|(name, _)| *name == family) {
            Some((_, of)) => of.push(result),
            None => families.push((family, vec![result])),
        }
    }
    for (family, results) in families {
        document.heading(1, family);
        let caption = words::plural(results.len(), "benchmark");
        let made = columns::table(&mut document, caption, &results, &COLS, Strays::AtTheName);
        document.table(made);
        details(&mut document, &results, None);
    }
    document.push(Block::Footnotes);
    document
}

/// What the main table has no room for: parts and names, percentiles, curves. Where several machines stand on a page,
/// `whose` says of which one they are.
pub(crate) fn details(document: &mut Document, results: &[&Measurement], whose: Option<&str>) {
    let whose = whose.map_or(String::new(), |name| format!("{name}, "));
    let parts = results.iter().filter_map(|r| parts(r));
    document.list(parts.map(|parts| format!("{whose}{parts}")));
    let distributed = |r: &&&Measurement| {
        let statistics = r.statistics.as_ref();
        statistics.is_some_and(|s| r.is_published() || !s.percentiles.is_empty())
    };
    let distributions: Vec<&Measurement> = results.iter().filter(distributed).copied().collect();
    let percentiles = columns::percentiles(&distributions).into_iter();
    let mut cols = vec![Col::Id, Col::Min, Col::Median, Col::Mean, Col::Max];
    cols.extend(percentiles.map(Col::Percentile));
    let caption = words::capital(&format!("{whose}over all events"));
    let made = columns::table(document, caption, &distributions, &cols, Strays::AtTheName);
    document.table(made);
    for result in results {
        series(document, result, &whose);
        if let Some(made) = Pairs::of(result).and_then(|pairs| pairs.table(&whose)) {
            document.table(made);
        }
    }
    copies(document, results);
}

/// The curve in which a benchmark ends, as a table.
fn series(document: &mut Document, result: &Measurement, whose: &str) {
    let Some(points) = &result.series else {
        return;
    };
    let notes: Vec<_> = result.notes.iter().map(|f| document.note(f)).collect();
    let caption = Text::new(format!("{whose}{}: {}", result.id, result.title)).with(notes);
    let label = words::capital(result.series_label.as_deref().unwrap_or("x"));
    let x = |point: &&SeriesPoint| number::printed(point.x, 0);
    Columns::<&SeriesPoint>::key(label, Style::Number, x)
        .pair(["Figure", "Interval"], |point| {
            let unit = result.unit.as_str();
            let shown = point
                .estimate
                .map(|e| number::figure(e.value, e.interval, unit));
            table::figure(shown, &[])
        })
        .table(document, caption, points);
}

fn parts(result: &Measurement) -> Option<String> {
    if let Some(pairs) = Pairs::of(result) {
        // what has room in a table is in one
        return pairs.table("").is_none().then(|| pairs.sentence());
    }
    let part = |part: &PartValue| {
        let value = number::figure(part.value, None, result.unit.as_str()).with_unit();
        format!("{} {value}", findings::part(&part.part))
    };
    let parts: Vec<String> = result.parts.iter().map(part).collect();
    let mut said = vec![parts.join(", ")];
    if !result.names.is_empty() {
        let shown = result.names.len().min(NAMES_SHOWN);
        let more = match result.names.len() - shown {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        said.push(format!("names: {}{more}", result.names[..shown].join(", ")));
    }
    said.retain(|said| !said.is_empty());
    (!said.is_empty()).then(|| format!("{}: {}", result.id, said.join("; ")))
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
    let by = match view.gritstone.as_deref() {
        Some(by) if by.starts_with(|c: char| c.is_ascii_digit()) => format!(", by Gritstone {by}"),
        Some(by) => format!(", by {by}"),
        None => String::new(),
    };
    format!("Run {}, {date}, {took}{by}", view.id)
}

/// Name, system and configuration.
pub(crate) fn machine_sentence(machine: &Machine) -> String {
    let mut said = [&machine.name, &machine.system, &machine.configuration]
        .map(|p| p.trim())
        .to_vec();
    said.retain(|part| !part.is_empty());
    match said.as_slice() {
        [] => "Nothing is known of the machine.".to_owned(),
        said => format!("{}.", said.join("; ").trim_end_matches('.')),
    }
}

/// What was asked for, by name.
pub(crate) fn settings(s: &Settings) -> Vec<(String, Text)> {
    let copies: Vec<String> = s.copies.iter().map(u32::to_string).collect();
    let copies = match copies.join(", ") {
        none if none.is_empty() => none,
        // the same everywhere, and told once
        numbers => {
            format!("{numbers} beside one, of kernels on one CPU; no other row is measured so")
        }
    };
    let measured = match s.selectors.join(" ") {
        none if none.is_empty() => "everything".to_owned(),
        selectors => selectors,
    };
    let quick = if s.quick { ", quick" } else { "" };
    let budget = words::duration(s.budget_s);
    let precision = number::percent_asked(s.precision);
    let terms = [
        ("measured", measured),
        ("budget", format!("{budget}{quick}")),
        ("precision asked for", format!("±{precision}")),
        ("files in", s.dir.clone()),
        ("seed of the order", s.seed.to_string()),
        ("environment of children", words::assigned(&s.environment)),
        ("parameters", words::assigned(&s.params)),
        ("copies at once", copies),
        ("steadied", s.steady.join("; ")),
    ];
    let told = terms.into_iter().filter(|(_, text)| !text.is_empty());
    told.map(|(term, text)| (term.to_owned(), text.into()))
        .collect()
}
