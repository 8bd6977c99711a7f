//! Groups of nodes that differ from the others, with the fact that defines each.

use super::{MAX_NAMED, about, percent};
use crate::table::Columns;
use crate::words;
use gritstone_document::number;
use gritstone_document::{Document, Style};
use gritstone_model::{FleetDivision, FleetGroup};

/// On the page; JSON has all.
const MAX_DIVISIONS: usize = 10;

pub(super) fn groups(document: &mut Document, divisions: &[FleetDivision]) {
    let rows: Vec<(&FleetDivision, &FleetGroup)> = divisions
        .iter()
        .take(MAX_DIVISIONS)
        .flat_map(|division| division.groups.iter().map(move |group| (division, group)))
        .collect();
    Columns::<&(&FleetDivision, &FleetGroup)>::key("Group", Style::Text, |(division, group)| {
        name(division, group)
    })
    .number("Nodes", |(_, group)| number::count(group.nodes))
    .text("Differs from the other nodes in", |(_, group)| difference(group))
    .table(document, "Groups of nodes with a fact in common", &rows);
    let more = divisions.len().saturating_sub(MAX_DIVISIONS);
    if more > 0 {
        document.paragraph(format!(
            "and {} that group the nodes differently (`--format json` has all)",
            words::plural(more, "fact")
        ));
    }
}

/// `kernel release 6.18.1 and os version 13`.
fn name(division: &FleetDivision, group: &FleetGroup) -> String {
    let facts = division.facts.iter().zip(&group.values);
    let facts: Vec<String> =
        facts.map(|(fact, value)| format!("{} {value}", words::fact(fact))).collect();
    words::join_some(&facts, MAX_NAMED)
}

fn difference(group: &FleetGroup) -> Option<String> {
    let differs = group.differs.iter().map(|effect| {
        let (by, interval) = percent(&effect.effect);
        format!("{} {by} {interval}", about(&effect.about))
    });
    let differs: Vec<String> = differs.collect();
    (!differs.is_empty()).then(|| words::join(&differs))
}
