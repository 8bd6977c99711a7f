//! Fleets divided into groups by facts, with no or one slow group: false alarms and power.

use crate::world::World;
use crate::{head, line, percent};
use gritstone_analysis::fleet::{MARGIN, NodeResult, NodeRun, report};
use gritstone_model::{Better, FleetScope, FleetView, Id, Unit};
use std::collections::BTreeMap;

const BENCHMARKS: usize = 60;
const FAMILIES: usize = 10;
/// Standard deviations of a benchmark: between nodes, and between runs of a node.
const NODES: f64 = 0.005;
const RUNS: f64 = 0.01;
const FLEETS: usize = 200;
/// Number of groups by each fact.
const FACTS: [usize; 8] = [2, 2, 3, 4, 4, 6, 8, 10];
/// The fact whose first group is slow.
const SLOW: usize = 3;

/// Shares of fleets with reported groups.
#[derive(Default)]
struct Called {
    fleets: usize,
    any: usize,
    others: usize,
    found: usize,
}

/// False alarms without slow groups, with and without a margin, and detection rates of a slow group.
pub fn groups() -> String {
    let title = format!(
        "Fleets of {BENCHMARKS} benchmarks in {FAMILIES} families, {}% between nodes and {}% between runs, which {} facts divide into 2 to 10 groups each; fleets with a group that is called where none differs, without a margin and with {}%, and with another one called beside a group of a quarter of the nodes that is slow by 3% in a family, %; that group found, %",
        100.0 * NODES,
        100.0 * RUNS,
        FACTS.len(),
        100.0 * MARGIN
    );
    let columns = [
        "called, no margin",
        "called",
        "others beside a slow one",
        "1.5% found",
        "2% found",
        "3% found",
    ];
    let mut text = head(&title, "fleet", columns.into_iter().map(str::to_owned));
    let mut world = World::new(1910);
    for nodes in [16, 40, 400] {
        let none = tried(&mut world, nodes, 0.0, 0.0);
        let with_margin = tried(&mut world, nodes, 0.0, MARGIN);
        let beside = tried(&mut world, nodes, 0.03, MARGIN);
        let mut cells = vec![
            percent(none.any, none.fleets),
            percent(with_margin.any, with_margin.fleets),
            percent(beside.others, beside.fleets),
        ];
        for slow in [0.015, 0.02, 0.03] {
            let found = tried(&mut world, nodes, slow, MARGIN);
            cells.push(percent(found.found, found.fleets));
        }
        text += &line(&format!("{nodes} nodes"), cells.into_iter());
    }
    text
}

fn tried(world: &mut World, nodes: usize, slow: f64, margin: f64) -> Called {
    let mut called = Called::default();
    for _ in 0..FLEETS {
        let (view, right) = simulate(world, nodes, slow, margin);
        let groups = view.groups.iter().flat_map(|table| {
            let of_fact = table.groups.iter().map(move |group| (&table.facts, group));
            of_fact.filter(|(_, group)| !group.differs.is_empty())
        });
        let is_slow =
            |facts: &[String], value: &str| slow > 0.0 && facts.contains(&right) && value == "0";
        let (found, others): (Vec<_>, Vec<_>) =
            groups.partition(|(facts, group)| is_slow(facts, &group.values[0]));
        let family = FleetScope::Family(family(0));
        let in_family = |group: &gritstone_model::FleetGroup| {
            group
                .differs
                .iter()
                .any(|difference| difference.about == family && difference.effect.effect < 0.0)
        };
        called.fleets += 1;
        called.any += usize::from(!view.groups.is_empty());
        called.others += usize::from(!others.is_empty());
        called.found += usize::from(found.iter().any(|(_, group)| in_family(group)));
    }
    called
}

fn family(number: usize) -> String {
    format!("family-{number}")
}

/// A random order of nodes: the position of each.
fn order(world: &mut World, nodes: usize) -> Vec<usize> {
    let mut drawn: Vec<(f64, usize)> = (0..nodes).map(|node| (world.normal(), node)).collect();
    drawn.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut places = vec![0; nodes];
    for (place, (_, node)) in drawn.into_iter().enumerate() {
        places[node] = place;
    }
    places
}

/// A fleet, and the fact whose first group is slow in the first family.
fn simulate(world: &mut World, nodes: usize, slow: f64, margin: f64) -> (FleetView, String) {
    let name = |fact: usize| format!("fact-{fact}");
    let ids: Vec<Id> = (0..BENCHMARKS)
        .map(|index| {
            let text = format!("{}/{index}", family(index % FAMILIES));
            Id::parse(&text).expect("it is an id")
        })
        .collect();
    let places: Vec<Vec<usize>> = FACTS.iter().map(|_| order(world, nodes)).collect();
    let unit = Unit::parse("ns").expect("it is a unit");
    let runs: Vec<NodeRun> = (0..nodes)
        .map(|node| {
            let group = |fact: usize| places[fact][node] * FACTS[fact] / nodes;
            let off = match group(SLOW) {
                0 => (1.0 - slow).ln(),
                _ => 0.0,
            };
            let results = ids.iter().enumerate().map(|(index, id)| {
                let noise = NODES * world.normal() + RUNS * world.normal();
                let speed = noise + if index % FAMILIES == 0 { off } else { 0.0 };
                let result = NodeResult {
                    version: 1,
                    program: String::new(),
                    unit: unit.clone(),
                    better: Better::Lower,
                    estimate: (-speed).exp(),
                    speed: Some(speed),
                    within: 4e-6,
                    interference: false,
                    checks: vec![],
                };
                (id.clone(), result)
            });
            NodeRun {
                node: format!("node-{node:03}"),
                results: results.collect(),
                facts: (0..FACTS.len())
                    .map(|fact| (name(fact), group(fact).to_string()))
                    .collect::<BTreeMap<_, _>>(),
                ..NodeRun::default()
            }
        })
        .collect();
    (report("made up", &runs, margin), name(SLOW))
}
