//! Fleet reports by node, as CSV and as OpenMetrics.

use crate::export::csv::{cell, separated};
use crate::export::openmetrics::{END, family, label_value};
use gritstone_model::{FleetEffect, FleetNode, FleetProof, FleetScope, FleetView};
use std::collections::BTreeMap;

const COLUMNS: [&str; 13] = [
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
    "since",
];

/// One line per wrong check value, then one per node and level, outlier or not; benchmarks only if they are outliers. A node without a
/// level has a line without an effect.
pub fn csv(view: &FleetView) -> String {
    let head = COLUMNS.map(str::to_owned);
    let wrong = view.wrong.iter().map(|wrong| {
        let by = match wrong.by {
            FleetProof::Workload => "workload".to_owned(),
            FleetProof::Nodes(nodes) => format!("{nodes} nodes"),
        };
        let (node, id) = (&wrong.node, wrong.id.as_str());
        let mut row = ["wrong", node, &by, id, "", "", "", "", ""].map(cell).to_vec();
        row.extend([wrong.n, wrong.got, wrong.right].map(|number| number.to_string()));
        row.push(String::new());
        row
    });
    let called = view.outliers.iter().map(|outlier| {
        let since = outlier.since.as_ref().map_or("", |since| &since.first);
        row("differs", &outlier.node, level(&outlier.about), &outlier.effect, since)
    });
    let others = view.nodes.iter().flat_map(|node| {
        let others = effects(node).filter(|(scope, _)| {
            let mut called = view.outliers.iter().filter(|outlier| outlier.node == node.node);
            !called.any(|outlier| level(&outlier.about) == *scope)
        });
        others.map(|(scope, effect)| row("like the others", &node.node, scope, effect, ""))
    });
    let without = view.nodes.iter().filter(|node| {
        let mut called = view.outliers.iter().map(|outlier| &outlier.node);
        node.overall.is_none() && node.families.is_empty() && !called.any(|name| *name == node.node)
    });
    let without = without.map(|node| {
        let (finding, level) = match node.benchmarks > 0 {
            true => ("like the others", "benchmark"),
            false => ("not compared", ""),
        };
        let mut row = [finding, &node.node, level].map(cell).to_vec();
        row.resize(COLUMNS.len(), String::new());
        row
    });
    separated([head.to_vec()].into_iter().chain(wrong).chain(called).chain(others).chain(without))
}

/// Effects of a node over all its benchmarks and over each family, as [`level`] names them.
fn effects(node: &FleetNode) -> impl Iterator<Item = ((&str, &str), &FleetEffect)> {
    let all = node.overall.iter().map(|effect| (("all", ""), effect));
    let families = node.families.iter();
    all.chain(families.map(|(family, effect)| (("family", family.as_str()), effect)))
}

/// A level, and its subject.
fn level(scope: &FleetScope) -> (&str, &str) {
    match scope {
        FleetScope::All => ("all", ""),
        FleetScope::Family(family) => ("family", family),
        FleetScope::Benchmark(id) => ("benchmark", id.as_str()),
    }
}

fn row(
    finding: &str,
    node: &str,
    (level, about): (&str, &str),
    effect: &FleetEffect,
    since: &str,
) -> Vec<String> {
    let mut row = [finding, node, level, about].map(cell).to_vec();
    let [low, high] = effect.interval;
    row.extend([effect.effect, low, high, effect.p, effect.p_adjusted].map(|x| x.to_string()));
    row.extend(["", "", "", since].map(str::to_owned));
    row
}

/// The same as OpenMetrics text, for a textfile collector or a push gateway: without timestamps, which the scraper adds.
pub fn openmetrics(view: &FleetView) -> String {
    let of_fleet = format!("fleet=\"{}\"", label_value(&view.fleet));
    let labels = |node: &str, (level, about): (&str, &str)| {
        let [node, about] = [node, about].map(label_value);
        format!("{of_fleet},node=\"{node}\",level=\"{level}\",about=\"{about}\"")
    };
    let effects = view.nodes.iter().flat_map(|node| {
        effects(node)
            .map(|(scope, effect)| (labels(&node.node, scope), effect.effect))
            .collect::<Vec<_>>()
    });
    let outliers = view.outliers.iter().flat_map(|outlier| {
        let labels = labels(&outlier.node, level(&outlier.about));
        let [low, high] = outlier.effect.interval;
        let bounds = [("estimate", outlier.effect.effect), ("low", low), ("high", high)];
        bounds.map(|(bound, x)| (format!("{labels},bound=\"{bound}\""), x))
    });
    let mut wrong: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for check_value in &view.wrong {
        *wrong.entry((&check_value.node, check_value.id.as_str())).or_default() += 1.0;
    }
    let wrong = wrong.into_iter().map(|((node, id), times)| {
        let [node, id] = [node, id].map(label_value);
        (format!("{of_fleet},node=\"{node}\",benchmark=\"{id}\""), times)
    });
    let smallest = view.families.iter().map(|family| {
        let name = label_value(&family.family);
        (format!("{of_fleet},family=\"{name}\""), family.spread.smallest)
    });
    let started = view.started.parse::<jiff::Timestamp>().ok();
    let started = started.map(|time| (of_fleet.clone(), time.as_second() as f64));
    let nodes = (of_fleet.clone(), view.nodes.len() as f64);
    [
        points("effect_ratio", "Speed of a node relative to the others, as a share.", effects),
        points(
            "outlier_ratio",
            "Lower and upper bound of the 95% confidence interval of outliers.",
            outliers,
        ),
        points("wrong_check_values", "Check values that cannot be right.", wrong),
        points("detectable_ratio", "Minimum detectable effect on one node.", smallest),
        points("nodes", "Nodes that were measured.", [nodes].into_iter()),
        points("started_seconds", "Start of the first run.", started.into_iter()),
    ]
    .concat()
        + END
}

fn points(name: &str, help: &str, values: impl Iterator<Item = (String, f64)>) -> String {
    let name = format!("gritstone_fleet_{name}");
    let points = values.map(|(labels, x)| format!("{name}{{{labels}}} {x}\n"));
    family(&name, help, points.collect())
}
