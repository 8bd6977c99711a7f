//! Facts that slow nodes have more often than others, by Fisher's exact test.

use super::Node;
use gritstone_model::{FleetCommon, FleetFact, FleetOutlier};
use gritstone_stats::multiple;
use statrs::distribution::{DiscreteCDF, Hypergeometric};
use std::collections::{BTreeMap, BTreeSet};

const LEVEL: f64 = 0.05;
const MIN_SLOW_NODES: usize = 2;

/// Facts of exactly the same nodes, with these nodes and those with another value.
struct Group {
    facts: Vec<FleetFact>,
    nodes: BTreeSet<usize>,
    known: BTreeSet<usize>,
}

/// Facts that slow nodes have more often than others, the most significant first.
pub(super) fn common(nodes: &[Node], outliers: &[FleetOutlier]) -> Vec<FleetCommon> {
    let slow = outliers.iter().filter(|outlier| outlier.effect.effect < 0.0);
    let slow: BTreeSet<&str> = slow.map(|outlier| outlier.node.as_str()).collect();
    let is_slow = |node: &usize| slow.contains(nodes[*node].name);
    if slow.len() < MIN_SLOW_NODES || slow.len() == nodes.len() {
        return vec![];
    }
    let groups = groups(nodes);
    let tested: Vec<(FleetCommon, f64)> =
        groups.into_iter().map(|group| test(group, &is_slow)).collect();
    let p: Vec<Option<f64>> = tested.iter().map(|(_, p)| Some(*p)).collect();
    let adjusted = multiple::benjamini_hochberg(&p);
    let tested = tested.into_iter().zip(adjusted.into_iter().flatten());
    let certain = tested.filter(|((common, _), p)| *p <= LEVEL && common.slow >= MIN_SLOW_NODES);
    let mut found: Vec<FleetCommon> =
        certain.map(|((common, _), p_adjusted)| FleetCommon { p_adjusted, ..common }).collect();
    found.sort_by(|a, b| a.p_adjusted.total_cmp(&b.p_adjusted));
    found
}

/// Facts that some nodes have and others lack.
fn groups(nodes: &[Node]) -> Vec<Group> {
    let mut values_of_facts: BTreeMap<&str, BTreeMap<&str, BTreeSet<usize>>> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        let Some(run) = node.runs.last() else {
            continue;
        };
        for (name, value) in run.facts.iter().chain(&run.place) {
            values_of_facts.entry(name).or_default().entry(value).or_default().insert(index);
        }
    }
    let mut groups: BTreeMap<BTreeSet<usize>, Group> = BTreeMap::new();
    for (name, values) in values_of_facts {
        let all: BTreeSet<usize> = values.values().flatten().copied().collect();
        for (value, holders) in values {
            if holders.len() < MIN_SLOW_NODES || holders.len() == all.len() {
                continue;
            }
            let group = groups.entry(holders.clone()).or_insert_with(|| Group {
                facts: vec![],
                nodes: holders,
                known: all.clone(),
            });
            group.facts.push(FleetFact { name: name.to_owned(), value: value.to_owned() });
        }
    }
    groups.into_values().collect()
}

/// Frequency of a fact among slow nodes and others, and the probability of at least that many slow ones by chance.
fn test(group: Group, is_slow: &impl Fn(&usize) -> bool) -> (FleetCommon, f64) {
    let slow = group.nodes.iter().filter(|node| is_slow(node)).count();
    let of_slow = group.known.iter().filter(|node| is_slow(node)).count();
    let (have, known) = (group.nodes.len(), group.known.len());
    let draws = Hypergeometric::new(known as u64, have as u64, of_slow as u64);
    let p = match (slow.checked_sub(1), draws) {
        (Some(fewer), Ok(draws)) => draws.sf(fewer as u64),
        _ => 1.0,
    };
    let found = FleetCommon {
        facts: group.facts,
        slow,
        of_slow,
        others: have - slow,
        of_others: known - of_slow,
        p_adjusted: p,
    };
    (found, p)
}
