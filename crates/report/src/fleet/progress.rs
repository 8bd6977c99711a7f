//! Progress of a fleet run.

use crate::table::{Cell, Columns};
use crate::words;
use gritstone_document::number;
use gritstone_document::{Document, Style};
use gritstone_model::{FleetNodeProgress, FleetNodeState, FleetProgress};

/// In the table; those without a run come first.
const MAX_NODES: usize = 200;

/// In a sentence: "Fleet november: 3 of 8 nodes done, 2 measuring, 1 failed."
pub fn fleet_progress(progress: &FleetProgress) -> String {
    let count = |state| progress.nodes.iter().filter(|node| node.state == state).count();
    let mut parts = vec![format!(
        "{} of {} done",
        number::count(count(FleetNodeState::Done)),
        words::plural(progress.of, "node")
    )];
    for state in [FleetNodeState::Measuring, FleetNodeState::Failed] {
        let nodes = count(state);
        if nodes > 0 {
            parts.push(format!("{} {}", number::count(nodes), word(state, progress.ended)));
        }
    }
    let ended = match progress.ended {
        true => "; not being measured (`gritstone fleet resume` continues it)",
        false => "",
    };
    format!("Fleet {}: {}{ended}.", progress.fleet, parts.join(", "))
}

/// The nodes; those without a run come first.
pub fn nodes(document: &mut Document, progress: &FleetProgress) {
    // during a run the line above has it
    if progress.ended {
        document.paragraph(fleet_progress(progress));
    }
    let mut nodes: Vec<&FleetNodeProgress> = progress.nodes.iter().collect();
    nodes.sort_by_key(|node| node.state);
    let shown = nodes.iter().copied().take(MAX_NODES);
    let run = |node: &&FleetNodeProgress| {
        let run = node.run.as_deref();
        run.map_or_else(|| Cell::from(None), Cell::run)
    };
    Columns::<&FleetNodeProgress>::key("Node", Style::Code, |node| node.node.as_str())
        .text("State", |node| word(node.state, progress.ended))
        .text("Run", run)
        .text("Why", |node| node.why.clone())
        .table(document, "Nodes of the fleet run", shown);
    let more = nodes.len().saturating_sub(MAX_NODES);
    if more > 0 {
        document.paragraph(format!("and {}", words::plural(more, "further node")));
    }
}

fn word(state: FleetNodeState, ended: bool) -> &'static str {
    match state {
        FleetNodeState::Failed => "failed",
        FleetNodeState::Measuring => "measuring",
        FleetNodeState::Missing if ended => "missing",
        FleetNodeState::Missing => "pending",
        FleetNodeState::Done => "done",
    }
}
