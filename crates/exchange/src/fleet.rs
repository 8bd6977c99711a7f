//! What a report of a fleet says of each node, as CSV.

use crate::tables::separated;
use gritstone_model::{FleetEffect, FleetProof, FleetScope, FleetView};

const COLUMNS: [&str; 12] = [
    "finding",
    "node",
    "level",
    "about",
    "effect",
    "low",
    "high",
    "p",
    "p_adjusted",
    "n",
    "got",
    "right",
];

/// One line for each wrong check value, then for each node and level, called or not; single benchmarks only where they are called.
#[must_use]
pub fn csv(view: &FleetView) -> String {
    let head = COLUMNS.map(str::to_owned);
    let wrong = view.wrong.iter().map(|of| {
        let by = match of.by {
            FleetProof::Workload => "workload".to_owned(),
            FleetProof::Nodes(nodes) => format!("{nodes} nodes"),
        };
        let mut row = ["wrong", &of.node, &by, of.id.as_str(), "", "", "", "", ""]
            .map(str::to_owned)
            .to_vec();
        row.extend([of.n, of.got, of.right].map(|number| number.to_string()));
        row
    });
    let called = view.outliers.iter().map(|of| {
        let (level, about) = match &of.about {
            FleetScope::All => ("all", ""),
            FleetScope::Family(family) => ("family", family.as_str()),
            FleetScope::Benchmark(id) => ("benchmark", id.as_str()),
        };
        row("differs", &of.node, level, about, &of.effect)
    });
    let others = view.nodes.iter().flat_map(|node| {
        let all = node.overall.iter().map(|of| ("all", "", of));
        let families = node
            .families
            .iter()
            .map(|(family, of)| ("family", family.as_str(), of));
        all.chain(families)
            .filter(|(level, about, _)| !is_called(view, &node.node, level, about))
            .map(|(level, about, of)| row("like the others", &node.node, level, about, of))
    });
    separated(
        [head.to_vec()]
            .into_iter()
            .chain(wrong)
            .chain(called)
            .chain(others),
    )
}

fn is_called(view: &FleetView, node: &str, level: &str, about: &str) -> bool {
    view.outliers.iter().any(|of| {
        of.node == node
            && match &of.about {
                FleetScope::All => level == "all",
                FleetScope::Family(family) => level == "family" && family == about,
                FleetScope::Benchmark(_) => false,
            }
    })
}

fn row(finding: &str, node: &str, level: &str, about: &str, of: &FleetEffect) -> Vec<String> {
    let mut row = [finding, node, level, about].map(str::to_owned).to_vec();
    let [low, high] = of.interval;
    row.extend([of.effect, low, high, of.p, of.p_adjusted].map(|x| x.to_string()));
    row.extend(["", "", ""].map(str::to_owned));
    row
}
