//! Overview of a store: changes and assignees, trends of systems, newest runs.

use crate::{changes, lists, words};
use gritstone_document::svg::heat::{Cell, Heat};
use gritstone_document::{About, Block, Document, Text, Tile, Tone, number};
use gritstone_model::{ChangeEvent, FamilyTrend, Id, OverviewView, Recent, SystemTrend};
use std::collections::BTreeSet;

/// Systems in the map: those with the newest runs.
const MAPPED: usize = 40;
/// Changes in a table.
const LISTED: usize = 50;

pub fn overview(view: &OverviewView) -> Document {
    let mut document = Document::new("Overview");
    document.subtitle = Some(format!(
        "{} of {}",
        words::plural(view.stored, "run"),
        words::plural(view.systems.len(), "system")
    ));
    if view.stored == 0 {
        document.paragraph("No run is stored yet: `gritstone run --quick` takes a few minutes.");
        return document;
    }
    document.heading(1, "What changed");
    match view.events.as_deref() {
        None => document.paragraph("Changes are being computed: load the page again."),
        Some([]) => document.paragraph(changes::no_changes_text(is_compared(&view.trends))),
        Some(events) => what_changed(&mut document, events, &view.recent),
    }
    trends(&mut document, &view.trends);
    document.heading(1, "Systems");
    lists::append_systems(&mut document, &view.systems);
    let which = Text::new("Which system is not like the others, benchmark by benchmark");
    document.paragraph(which.about(Some(About::Fleet)));
    if !view.runs.is_empty() {
        document.heading(1, "Newest runs");
        lists::append_runs(&mut document, "Runs", &view.runs);
    }
    document
}

/// Whether a family of a system has two runs.
fn is_compared(trends: &[SystemTrend]) -> bool {
    let mut families = trends.iter().flat_map(|system| &system.families);
    families.any(|trend| trend.speeds.len() > 1)
}

fn what_changed(document: &mut Document, events: &[ChangeEvent], recent: &Recent) {
    let days = recent.days;
    let is_recent = |event: &&ChangeEvent| event.started >= recent.since;
    let slower: Vec<&ChangeEvent> =
        events.iter().filter(is_recent).filter(|event| event.worse).collect();
    let changed = slower.iter().flat_map(|event| &event.changes);
    let benchmarks: BTreeSet<&Id> = changed.map(|event| &event.benchmark).collect();
    let systems: BTreeSet<&str> = slower.iter().map(|event| event.machine.as_str()).collect();
    let week = Tile {
        name: format!("Slower, {days} days before the newest run"),
        value: number::count(benchmarks.len()),
        detail: match slower.is_empty() {
            true => "no benchmark".to_owned(),
            false => format!("on {}", words::plural(systems.len(), "system")),
        },
        tone: slower.iter().any(|event| event.triage.state.is_open()).then_some(Tone::Bad),
    };
    let states = changes::state_tiles(events);
    document.push(Block::Tiles([week].into_iter().chain(states).collect()));
    let caption = format!("Slower in the {days} days before the newest run");
    table(document, &caption, &slower);
    let shown: BTreeSet<&str> = slower.iter().map(|event| event.id.as_str()).collect();
    let others = |event: &&ChangeEvent| {
        !shown.contains(event.id.as_str()) && (is_recent(event) || event.triage.state.is_open())
    };
    let others: Vec<&ChangeEvent> = events.iter().filter(others).collect();
    table(document, "Other open or recent changes", &others);
    document.paragraph(
        Text::new("All changes, with their assignees and triage logs").about(Some(About::Changes)),
    );
}

/// The newest of these events.
fn table(document: &mut Document, caption: &str, events: &[&ChangeEvent]) {
    let shown = &events[..events.len().min(LISTED)];
    let caption = match shown.len() < events.len() {
        true => {
            let [shown, all] = [shown.len(), events.len()].map(number::count);
            format!("{caption}: the newest {shown} of {all}")
        }
        false => caption.to_owned(),
    };
    changes::table(document, &caption, shown.iter().copied());
}

/// A cell for each family of a system. The shorter dimension is the columns.
fn trends(document: &mut Document, trends: &[SystemTrend]) {
    let shown = &trends[..trends.len().min(MAPPED)];
    let families: BTreeSet<&str> = shown
        .iter()
        .flat_map(|system| &system.families)
        .map(|trend| trend.family.as_str())
        .collect();
    let families: Vec<&str> = families.into_iter().collect();
    if families.is_empty() {
        return;
    }
    let systems: Vec<&str> = shown.iter().map(|system| system.name.as_str()).collect();
    let is_wide = systems.len() < families.len();
    let (columns, rows) = if is_wide { (&systems, &families) } else { (&families, &systems) };
    let cell = |down: usize, across: usize| {
        let (system, family) = if is_wide { (across, down) } else { (down, across) };
        let mut trends = shown[system].families.iter();
        trends.find(|trend| trend.family == families[family]).map(map_cell)
    };
    let row = |(down, name): (usize, &&str)| {
        ((*name).to_owned(), (0..columns.len()).map(|across| cell(down, across)).collect())
    };
    let heat = Heat {
        columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        rows: rows.iter().enumerate().map(row).collect(),
    };
    document.heading(1, "Trends");
    let all = match trends.len() > shown.len() {
        true => format!(", the {} systems with the newest runs", shown.len()),
        false => String::new(),
    };
    let caption = format!(
        "Families of benchmarks over the newest runs{all}: speed since the changes, in bold, and of each run as a line"
    );
    let sentences: Vec<String> = shown.iter().map(alternative).collect();
    let figure = heat.draw().figure("trends", caption, sentences.join(" "));
    document.push(Block::Figure(figure));
}

fn map_cell(trend: &FamilyTrend) -> Cell {
    Cell {
        value: trend.ratio - 1.0,
        text: match trend.changed {
            0 => "=".to_owned(),
            _ => words::percent_change(trend.ratio, None).0,
        },
        certain: trend.changed > 0,
        sparkline: trend.speeds.clone(),
    }
}

fn alternative(system: &SystemTrend) -> String {
    let changed = system.families.iter().filter(|trend| trend.changed > 0);
    let families: Vec<String> = changed
        .map(|trend| {
            let by = words::percent_change(trend.ratio, None).0;
            let benchmarks = words::plural(trend.benchmarks, "benchmark");
            format!("{} {by} ({} of {benchmarks})", trend.family, trend.changed)
        })
        .collect();
    match families.is_empty() {
        true => format!("{}: no change.", system.name),
        false => format!("{}: {}.", system.name, families.join(", ")),
    }
}
