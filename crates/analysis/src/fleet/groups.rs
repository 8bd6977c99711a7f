//! Groups of nodes with the same value of a fact, each compared with the other nodes.

use super::Node;
use gritstone_model::{FleetDivision, FleetEffect, FleetGroup, FleetGroupEffect, FleetScope};
use gritstone_stats::fleet::MIN_BENCHMARKS;
use gritstone_stats::fleet::{Cell, LEVEL, MIN_NODES, Measured};
use gritstone_stats::{center, descriptive, multiple, ranks};
use std::collections::BTreeMap;

/// More groups of one fact do not describe kinds of nodes.
const MAX_GROUPS: usize = 12;
const MIN_NODES_OF_GROUP: usize = 2;

const CONFIDENCE: f64 = 0.95;

/// Facts that divide the nodes in the same way.
struct Division<'a> {
    facts: Vec<&'a str>,
    /// The group of each node; none if the fact is unknown.
    of_node: Vec<Option<usize>>,
    groups: usize,
    /// Whether its groups are the kinds of nodes.
    is_kind: bool,
}

/// Common value of the benchmarks of a scope by node, minus the median of its kind.
type Values = Vec<Option<f64>>;

/// Divisions of the fleet with a group that differs from the other nodes of its kind, the most significant first. Groups that are the kinds
/// themselves are compared across kinds.
pub(super) fn groups(
    nodes: &[Node],
    measured: &Measured,
    families: &[&str],
    margin: f64,
) -> Vec<FleetDivision> {
    let divisions = divisions(nodes, &measured.kinds);
    let one_kind = vec![0; nodes.len()];
    let scopes = scopes(measured, families);
    let values = |kinds: &[usize]| -> Vec<Values> {
        let value = |cell: &Option<Cell>| cell.map(|cell| cell.value);
        let cells = measured.cells.iter();
        let cells: Vec<Values> =
            cells.map(|row| centered(row.iter().map(value).collect(), kinds)).collect();
        let of_scope = scopes.iter();
        of_scope
            .map(|(_, benchmarks)| {
                centered(medians_by_node(&cells, benchmarks, nodes.len()), kinds)
            })
            .collect()
    };
    let (within, across) = (values(&measured.kinds), values(&one_kind));
    let basis = |division: &Division| match division.is_kind {
        true => (&across, &one_kind),
        false => (&within, &measured.kinds),
    };
    let mut p = vec![];
    for division in &divisions {
        let (values, kinds) = basis(division);
        p.extend(values.iter().flat_map(|values| p_of_groups(division, values, kinds)));
    }
    let adjusted = multiple::benjamini_hochberg(&p);
    let mut tested = p.into_iter().zip(adjusted);
    let mut found: Vec<(f64, FleetDivision)> = vec![];
    for division in &divisions {
        let (values, _) = basis(division);
        let mut differs: Vec<Vec<FleetGroupEffect>> = vec![vec![]; division.groups];
        for ((about, _), values) in scopes.iter().zip(values) {
            for (group, differences) in differs.iter_mut().enumerate() {
                let Some((Some(p), Some(p_adjusted))) = tested.next() else {
                    continue;
                };
                let by = (p_adjusted <= LEVEL).then(|| median(division, group, values));
                differences.extend(by.flatten().map(|(by, interval)| FleetGroupEffect {
                    about: about.clone(),
                    effect: FleetEffect {
                        effect: by.exp_m1(),
                        interval: interval.map(f64::exp_m1),
                        p,
                        p_adjusted,
                    },
                }));
            }
        }
        differs.iter_mut().for_each(|differences| retain_reportable(differences, margin));
        let all = || differs.iter().flatten();
        if all().next().is_some() {
            let least = all().map(|difference| difference.effect.p_adjusted).fold(1.0, f64::min);
            found.push((least, fleet_division(division, differs, nodes)));
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().map(|(_, division)| division).collect()
}

/// Keeps significant effects above the margin; drops families explained by the overall effect.
fn retain_reportable(differences: &mut Vec<FleetGroupEffect>, margin: f64) {
    differences.retain(|difference| {
        let [low, high] = difference.effect.interval;
        difference.effect.effect.abs() > margin && (low > 0.0 || high < 0.0)
    });
    let all = differences.iter().find(|difference| difference.about == FleetScope::All);
    if let Some(all) = all.map(|difference| difference.effect.effect) {
        differences.retain(|difference| {
            difference.about == FleetScope::All || (difference.effect.effect - all).abs() > margin
        });
    }
}

/// The divisions of the fleet by a fact.
fn divisions<'a>(nodes: &'a [Node], kinds: &[usize]) -> Vec<Division<'a>> {
    let mut values: BTreeMap<&str, Vec<Option<&str>>> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        let Some(run) = node.runs.last() else {
            continue;
        };
        for (name, value) in run.facts.iter().chain(&run.place) {
            let of_nodes = values.entry(name).or_insert_with(|| vec![None; nodes.len()]);
            of_nodes[index] = Some(value);
        }
    }
    let kind_of_node = numbered(kinds.iter().copied().map(Some));
    let mut found: BTreeMap<Vec<Option<usize>>, Vec<&str>> = BTreeMap::new();
    for (name, of_nodes) in values {
        found.entry(numbered(of_nodes.into_iter())).or_default().push(name);
    }
    let division = |(of_node, facts): (Vec<Option<usize>>, Vec<&'a str>)| {
        let groups = of_node.iter().flatten().max().map_or(0, |last| last + 1);
        (2..=MAX_GROUPS).contains(&groups).then(|| Division {
            is_kind: of_node == kind_of_node,
            facts,
            of_node,
            groups,
        })
    };
    found.into_iter().filter_map(division).collect()
}

/// Numbers values in the order of first appearance.
fn numbered<T: Ord>(values: impl Iterator<Item = Option<T>>) -> Vec<Option<usize>> {
    let mut known: BTreeMap<T, usize> = BTreeMap::new();
    values
        .map(|value| {
            let next = known.len();
            Some(*known.entry(value?).or_insert(next))
        })
        .collect()
}

/// Scopes of comparison: all benchmarks, and each family.
fn scopes(measured: &Measured, families: &[&str]) -> Vec<(FleetScope, Vec<usize>)> {
    let all: Vec<usize> = (0..measured.cells.len()).collect();
    let family = |(index, name): (usize, &&str)| {
        let benchmarks = all.iter().copied().filter(|b| measured.families[*b] == index);
        (FleetScope::Family((*name).to_owned()), benchmarks.collect())
    };
    let mut scopes: Vec<(FleetScope, Vec<usize>)> =
        families.iter().enumerate().map(family).collect();
    if families.len() > 1 && all.len() >= MIN_BENCHMARKS {
        scopes.insert(0, (FleetScope::All, all));
    }
    scopes
}

/// Values minus their median over the nodes of a kind; none if the kind has too few.
fn centered(values: Values, kinds: &[usize]) -> Values {
    let last = kinds.iter().max().map_or(0, |last| last + 1);
    let mut of_kinds: Vec<Vec<f64>> = vec![vec![]; last];
    for (value, kind) in values.iter().zip(kinds) {
        of_kinds[*kind].extend(value);
    }
    let center =
        |values: &Vec<f64>| (values.len() >= MIN_NODES).then(|| descriptive::median_of(values));
    let centers: Vec<Option<f64>> = of_kinds.iter().map(center).collect();
    let off = |(value, kind): (Option<f64>, &usize)| Some(value? - centers[*kind]?);
    values.into_iter().zip(kinds).map(off).collect()
}

/// The median over benchmarks, on each node that has half of them.
fn medians_by_node(centered: &[Values], benchmarks: &[usize], nodes: usize) -> Values {
    let of_node = |node: usize| {
        let values: Vec<f64> = benchmarks.iter().filter_map(|b| centered[*b][node]).collect();
        (!values.is_empty() && 2 * values.len() >= benchmarks.len())
            .then(|| descriptive::median_of(&values))
    };
    (0..nodes).map(of_node).collect()
}

/// p of each group of a division; none for a group of too few nodes, or without others.
fn p_of_groups(division: &Division, values: &Values, kinds: &[usize]) -> Vec<Option<f64>> {
    let last = kinds.iter().max().map_or(0, |last| last + 1);
    let mut strata: Vec<Vec<(f64, usize)>> = vec![vec![]; last];
    let mut counts = vec![0; division.groups];
    for ((value, group), kind) in values.iter().zip(&division.of_node).zip(kinds) {
        if let (Some(value), Some(group)) = (value, group) {
            strata[*kind].push((*value, *group));
            counts[*group] += 1;
        }
    }
    for stratum in &mut strata {
        stratum.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let all: usize = counts.iter().sum();
    let enough = |size: usize| size >= MIN_NODES_OF_GROUP && all - size >= MIN_NODES_OF_GROUP;
    let p = ranks::p_of_groups(&strata, division.groups);
    let p = p.into_iter().zip(counts);
    p.map(|(p, size)| p.filter(|_| enough(size))).collect()
}

/// The median of a group, and its interval.
fn median(division: &Division, group: usize, values: &Values) -> Option<(f64, [f64; 2])> {
    let values = values.iter().zip(&division.of_node);
    let values: Vec<f64> = values
        .filter(|(_, node_group)| **node_group == Some(group))
        .filter_map(|(value, _)| *value)
        .collect();
    let interval = center::ends_of_median(&values, CONFIDENCE)?;
    Some((descriptive::median_of(&values), interval))
}

fn fleet_division(
    division: &Division,
    differs: Vec<Vec<FleetGroupEffect>>,
    nodes: &[Node],
) -> FleetDivision {
    let group = |(number, differs): (usize, Vec<FleetGroupEffect>)| {
        let members = division.of_node.iter().zip(nodes);
        let members: Vec<&Node> = members
            .filter(|(node_group, _)| **node_group == Some(number))
            .map(|(_, node)| node)
            .collect();
        let value = |fact: &&str| {
            let run = members.first().and_then(|node| node.runs.last());
            let value = run.and_then(|run| run.place.get(*fact).or_else(|| run.facts.get(*fact)));
            value.cloned().unwrap_or_default()
        };
        FleetGroup {
            values: division.facts.iter().map(value).collect(),
            nodes: members.len(),
            differs,
        }
    };
    let mut groups: Vec<FleetGroup> = differs.into_iter().enumerate().map(group).collect();
    groups.sort_by(|a, b| a.values.cmp(&b.values));
    FleetDivision { facts: division.facts.iter().map(ToString::to_string).collect(), groups }
}
