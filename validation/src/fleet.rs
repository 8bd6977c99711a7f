//! Fleets with and without outliers: false alarms and power.

use crate::world::World;
use crate::{head, line, percent};
use gritstone_analysis::fleet::MARGIN;
use gritstone_stats::fleet::{Cell, Fit, Level, Measured, fit};

const BENCHMARKS: usize = 60;
const FAMILIES: usize = 10;
/// Standard deviations of a benchmark: between nodes, and between runs of a node.
const NODES: f64 = 0.005;
const RUNS: f64 = 0.01;
/// Variance of a run, from its launches.
const WITHIN: f64 = 4e-6;
/// Simulated nodes per line, over all its fleets.
const NODES_PER_LINE: usize = 24_000;
const MIN: usize = 10;
const MAX: usize = 1_000;

/// Scatter of a fleet.
#[derive(Clone, Copy)]
struct Scenario {
    nodes: usize,
    /// Standard deviation of the common effect on all benchmarks of a run, and on a family of a run.
    common: f64,
    family: f64,
    /// Probability that a result is slower by an exponential 5%.
    spikes: f64,
}

const PLAIN: Scenario = Scenario { nodes: 400, common: 0.0, family: 0.0, spikes: 0.0 };

/// A slow node: factor and scope.
#[derive(Clone, Copy, PartialEq)]
enum Planted {
    Family(f64),
    Everything(f64),
    Benchmark(f64),
}

const PLANTED: [Planted; 5] = [
    Planted::Family(0.03),
    Planted::Family(0.10),
    Planted::Everything(0.03),
    Planted::Benchmark(0.10),
    Planted::Benchmark(0.20),
];

fn lines() -> [(&'static str, Scenario); 10] {
    [
        ("4 nodes", Scenario { nodes: 4, ..PLAIN }),
        ("6 nodes", Scenario { nodes: 6, ..PLAIN }),
        ("8 nodes", Scenario { nodes: 8, ..PLAIN }),
        ("16 nodes", Scenario { nodes: 16, ..PLAIN }),
        ("40 nodes", Scenario { nodes: 40, ..PLAIN }),
        ("400 nodes", PLAIN),
        ("4,000 nodes", Scenario { nodes: 4_000, ..PLAIN }),
        ("400 nodes; runs share 2%", Scenario { common: 0.02, ..PLAIN }),
        ("400 nodes; families of a run share 0.5%", Scenario { family: 0.005, ..PLAIN }),
        ("400 nodes; one result in fifty slower by 5%", Scenario { spikes: 0.02, ..PLAIN }),
    ]
}

/// False alarms with and without slow nodes, and detection rates.
pub fn nodes() -> String {
    let title = format!(
        "Fleets of {BENCHMARKS} benchmarks in {FAMILIES} families, one `--quick` run a node, {}% between nodes and {}% between runs, margin {}%; nodes called where none is slow, fleets with any such, other nodes called beside slow ones, %; slow nodes found in what is slow on them (one node, or one in forty, of five sorts in turn), %",
        100.0 * NODES,
        100.0 * RUNS,
        100.0 * MARGIN
    );
    let columns = [
        "called",
        "fleets",
        "called beside slow ones",
        "family 3%",
        "family 10%",
        "everything 3%",
        "benchmark 10%",
        "benchmark 20%",
    ];
    let mut text = head(&title, "fleet", columns.into_iter().map(str::to_owned));
    let mut world = World::new(1834);
    for (name, scenario) in lines() {
        let fleets = (NODES_PER_LINE / scenario.nodes).clamp(MIN, MAX);
        let (mut called, mut any) = (0, 0);
        for _ in 0..fleets {
            let found = called_nodes(&fit(&simulate(&mut world, scenario, &[])));
            called += found.iter().filter(|called| **called).count();
            any += usize::from(found.contains(&true));
        }
        let (mut others, mut all) = (0, 0);
        let mut found = [[0, 0]; PLANTED.len()];
        for number in 0..fleets {
            let planted = planted(scenario.nodes, number);
            let fit = fit(&simulate(&mut world, scenario, &planted));
            let slow = |node: &usize| planted.iter().any(|(slow_node, _)| slow_node == node);
            let called = called_nodes(&fit);
            let innocent = (0..scenario.nodes).filter(|node| !slow(node));
            others += innocent.filter(|node| called[*node]).count();
            all += scenario.nodes - planted.len();
            for (node, what) in planted {
                found[what][0] += usize::from(is_found(&fit, node, PLANTED[what]));
                found[what][1] += 1;
            }
        }
        let mut cells =
            vec![exact(called, fleets * scenario.nodes), percent(any, fleets), exact(others, all)];
        cells.extend(found.map(|[hits, total]| percent(hits, total)));
        text += &line(name, cells.into_iter());
    }
    text
}

/// Slow nodes of a fleet with their scope: one node of a small fleet, one in forty of a large one, twenty at most.
fn planted(nodes: usize, number: usize) -> Vec<(usize, usize)> {
    let slow = (nodes / 40).clamp(1, 20);
    (0..slow).map(|node| (node, (node + number) % PLANTED.len())).collect()
}

/// A small share with more digits.
fn exact(hits: usize, total: usize) -> String {
    format!("{:.3}", 100.0 * hits as f64 / total as f64)
}

fn simulate(world: &mut World, scenario: Scenario, planted: &[(usize, usize)]) -> Measured {
    let shared: Vec<(f64, Vec<f64>)> = (0..scenario.nodes)
        .map(|_| {
            let families = (0..FAMILIES).map(|_| scenario.family * world.normal()).collect();
            (scenario.common * world.normal(), families)
        })
        .collect();
    let mut value = |benchmark: usize, node: usize| {
        let family = benchmark % FAMILIES;
        let spike = if scenario.spikes > 0.0 && world.chance(scenario.spikes) {
            0.05 * world.exponential()
        } else {
            0.0
        };
        let slow = match planted.get(node).map(|(_, what)| PLANTED[*what]) {
            Some(Planted::Family(by)) if family == 0 => by,
            Some(Planted::Everything(by)) => by,
            Some(Planted::Benchmark(by)) if benchmark == 0 => by,
            _ => 0.0,
        };
        let slow = (1.0 - slow).ln();
        let noise = NODES * world.normal() + RUNS * world.normal();
        shared[node].0 + shared[node].1[family] + noise - spike + slow
    };
    let mut cells = vec![];
    for benchmark in 0..BENCHMARKS {
        let cell = |node| Some(Cell { value: value(benchmark, node), within: WITHIN, runs: 1 });
        cells.push((0..scenario.nodes).map(cell).collect());
    }
    Measured {
        kinds: vec![0; scenario.nodes],
        cells,
        families: (0..BENCHMARKS).map(|benchmark| benchmark % FAMILIES).collect(),
        between_runs: vec![None; BENCHMARKS],
        margin: MARGIN.ln_1p(),
    }
}

fn differs(level: &Option<Level>, node: usize) -> bool {
    level.as_ref().and_then(|level| level.nodes[node]).is_some_and(|deviation| deviation.differs)
}

fn called_nodes(fit: &Fit) -> Vec<bool> {
    let levels = || fit.families.iter().chain(&fit.benchmarks).chain([&fit.all]);
    let nodes = levels().flatten().map(|level| level.nodes.len()).max().unwrap_or(0);
    let called = |node| levels().any(|level| differs(level, node));
    (0..nodes).map(called).collect()
}

fn is_found(fit: &Fit, node: usize, planted: Planted) -> bool {
    match planted {
        Planted::Family(_) => differs(&fit.families[0], node),
        Planted::Everything(_) => differs(&fit.all, node),
        Planted::Benchmark(_) => differs(&fit.benchmarks[0], node),
    }
}
