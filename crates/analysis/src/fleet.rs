//! Compares the nodes of a fleet: outliers, the benchmarks in which they differ, and their shared facts. The mathematics is in
//! [`gritstone_stats::fleet`].

mod check;
mod check_values;
mod groups;
mod node;
mod onset;
mod shared_facts;

pub use check::verdict;
pub use gritstone_model::FleetVerdict as Verdict;
use gritstone_model::{
    FleetBenchmark, FleetEffect, FleetFamily, FleetKind, FleetNode, FleetOutlier, FleetScope,
    FleetSpread, FleetView, Id, SCHEMA_FLEET,
};
use gritstone_stats::descriptive;
use gritstone_stats::fleet::{
    self as stats, Cell, Deviation, Fit, LEVEL, Level, MIN_NODES, Measured,
};
pub use node::{CheckValue, NodeResult, NodeRun};
pub use onset::{Earlier, since};
use std::collections::{BTreeMap, BTreeSet};

/// Default difference within which a node is like the others: that of an A/B test.
pub const MARGIN: f64 = 0.01;
/// Quantiles over the nodes.
const QUANTILES: [f64; 7] = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0];

/// A node with its runs, oldest first.
pub(crate) struct Node<'a> {
    pub(crate) name: &'a str,
    pub(crate) runs: Vec<&'a NodeRun>,
    kind: usize,
}

/// A benchmark over the nodes.
struct BenchmarkNodes<'a> {
    id: &'a Id,
    /// Valid results of each node with the work that most nodes did.
    results: Vec<Vec<&'a NodeResult>>,
    first: &'a NodeResult,
    /// Kinds with enough of these results.
    compared: BTreeSet<usize>,
    other_work: usize,
    without_result: usize,
}

/// Compares the nodes of these runs; nodes within the margin, a share, are alike.
pub fn report(fleet: &str, runs: &[NodeRun], margin: f64) -> FleetView {
    let (nodes, mut kinds) = nodes(runs);
    for kind in &mut kinds {
        kind.compared = kind.nodes >= MIN_NODES;
    }
    let rows = rows(&nodes);
    let mut families: Vec<&str> = rows.iter().map(|row| row.id.family()).collect();
    families.dedup();
    let measured = Measured { margin: margin.ln_1p(), ..measured(&nodes, &rows, &families) };
    let fit = stats::fit(&measured);
    let mut outliers = outliers(&nodes, &rows, &families, &fit);
    in_order(&mut outliers);
    let started = |run: &NodeRun| run.started.clone();
    FleetView {
        schema: SCHEMA_FLEET.to_owned(),
        fleet: fleet.to_owned(),
        started: runs.iter().map(started).min().unwrap_or_default(),
        last: runs.iter().map(started).max().unwrap_or_default(),
        level: LEVEL,
        margin,
        wrong: check_values::wrong(&nodes),
        common: shared_facts::common(&nodes, &outliers),
        groups: groups::groups(&nodes, &measured, &families, margin),
        drifts: vec![],
        earlier: 0,
        kinds,
        overall: fit.all.as_ref().map(|level| spread(level, None)),
        families: families
            .iter()
            .zip(&fit.families)
            .filter_map(|(family, level)| {
                Some(FleetFamily {
                    family: (*family).to_owned(),
                    benchmarks: rows.iter().filter(|row| row.id.family() == *family).count(),
                    spread: spread(level.as_ref()?, None),
                })
            })
            .collect(),
        benchmarks: rows
            .iter()
            .enumerate()
            .map(|(index, row)| {
                benchmark(row, fit.benchmarks[index].as_ref(), measured.between_runs[index])
            })
            .collect(),
        nodes: (0..nodes.len())
            .map(|index| node_view(index, &nodes, &rows, &families, &fit))
            .collect(),
        outliers,
    }
}

/// The nodes by name, each with its kind.
fn nodes(runs: &[NodeRun]) -> (Vec<Node<'_>>, Vec<FleetKind>) {
    let mut by_name: BTreeMap<&str, Vec<&NodeRun>> = BTreeMap::new();
    for run in runs {
        by_name.entry(&run.node).or_default().push(run);
    }
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let model = |runs: &[&NodeRun]| {
        let model = runs.last().and_then(|run| run.facts.get("cpu.model"));
        model.cloned().unwrap_or_default()
    };
    for runs in by_name.values_mut() {
        runs.sort_by(|a, b| (&a.started, &a.run).cmp(&(&b.started, &b.run)));
        *kinds.entry(model(runs)).or_default() += 1;
    }
    let place = |runs: &[&NodeRun]| kinds.keys().position(|known| *known == model(runs));
    let nodes = by_name.into_iter().map(|(name, runs)| Node {
        name,
        kind: place(&runs).unwrap_or(0),
        runs,
    });
    let nodes = nodes.collect();
    let kind = |(model, nodes): (String, usize)| FleetKind { model, nodes, compared: false };
    (nodes, kinds.into_iter().map(kind).collect())
}

/// The benchmarks with a valid result on any node, each with the work that most nodes did.
fn rows<'a>(nodes: &[Node<'a>]) -> Vec<BenchmarkNodes<'a>> {
    let runs = || nodes.iter().flat_map(|node| &node.runs);
    let ids: BTreeSet<&Id> = runs().flat_map(|run| run.results.keys()).collect();
    let row = |id: &'a Id| {
        let valid = |run: &&'a NodeRun| run.results.get(id).filter(|result| result.speed.is_some());
        let mut work: BTreeMap<(u32, &str), (usize, &NodeResult)> = BTreeMap::new();
        for result in runs().filter_map(valid) {
            work.entry(result.work()).or_insert((0, result)).0 += 1;
        }
        let (most, (_, first)) = work.into_iter().max_by_key(|(_, (times, _))| *times)?;
        let of_node = |node: &Node<'a>| node.runs.iter().filter_map(valid).collect();
        let mut results: Vec<Vec<&NodeResult>> = nodes.iter().map(of_node).collect();
        let other =
            |results: &&Vec<&NodeResult>| results.iter().any(|result| result.work() != most);
        let other_work = results.iter().filter(other).count();
        let without_result = results.iter().filter(|results| results.is_empty()).count();
        for results in &mut results {
            results.retain(|result| result.work() == most);
        }
        let with_result = nodes.iter().zip(&results).filter(|(_, results)| !results.is_empty());
        let mut of_kind: BTreeMap<usize, usize> = BTreeMap::new();
        for (node, _) in with_result {
            *of_kind.entry(node.kind).or_default() += 1;
        }
        of_kind.retain(|_, nodes| *nodes >= MIN_NODES);
        let compared = of_kind.into_keys().collect();
        Some(BenchmarkNodes { id, results, first, compared, other_work, without_result })
    };
    ids.into_iter().filter_map(row).collect()
}

fn measured(nodes: &[Node], rows: &[BenchmarkNodes], families: &[&str]) -> Measured {
    let family =
        |row: &BenchmarkNodes| families.iter().position(|family| *family == row.id.family());
    let cell = |results: &Vec<&NodeResult>| {
        let values: Vec<f64> = results.iter().filter_map(|result| result.speed).collect();
        (!values.is_empty()).then(|| Cell {
            value: descriptive::mean(&values),
            within: results.iter().map(|result| result.within).sum::<f64>()
                / (values.len() * values.len()) as f64,
            runs: values.len(),
        })
    };
    Measured {
        kinds: nodes.iter().map(|node| node.kind).collect(),
        cells: rows.iter().map(|row| row.results.iter().map(cell).collect()).collect(),
        families: rows.iter().map(|row| family(row).unwrap_or(0)).collect(),
        between_runs: rows.iter().map(between_runs).collect(),
        margin: 0.0,
    }
}

/// Variance between the runs of a node, from the median difference of consecutive runs.
fn between_runs(row: &BenchmarkNodes) -> Option<f64> {
    let pairs = row.results.iter().flat_map(|results| results.windows(2));
    let differences = pairs.filter_map(|pair| Some((pair[1].speed? - pair[0].speed?).abs()));
    let differences: Vec<f64> = differences.collect();
    (differences.len() >= MIN_NODES).then(|| {
        let median = descriptive::median_of(&differences);
        // the median of |x| for a normal x with twice the variance
        (median / 0.674_49).powi(2) / 2.0
    })
}

/// Outliers, by level.
fn outliers(
    nodes: &[Node],
    rows: &[BenchmarkNodes],
    families: &[&str],
    fit: &Fit,
) -> Vec<FleetOutlier> {
    let mut found = vec![];
    let mut call =
        |level: &Level, about: &dyn Fn() -> FleetScope, has: &dyn Fn(&BenchmarkNodes) -> bool| {
            for (index, deviation) in level.nodes.iter().enumerate() {
                let Some(deviation) = deviation.filter(|deviation| deviation.differs) else {
                    continue;
                };
                let behind = rows.iter().filter(|row| has(row)).flat_map(|row| &row.results[index]);
                let behind: Vec<&&NodeResult> = behind.collect();
                found.push(FleetOutlier {
                    node: nodes[index].name.to_owned(),
                    about: about(),
                    effect: effect(deviation),
                    since: None,
                    replaced: None,
                    results: behind.len(),
                    interference: behind.iter().filter(|result| result.interference).count(),
                });
            }
        };
    if let Some(level) = &fit.all {
        call(level, &|| FleetScope::All, &|_| true);
    }
    for (family, level) in families.iter().zip(&fit.families) {
        if let Some(level) = level {
            let about = || FleetScope::Family((*family).to_owned());
            call(level, &about, &|row| row.id.family() == *family);
        }
    }
    for (row, level) in rows.iter().zip(&fit.benchmarks) {
        if let Some(level) = level {
            let about = || FleetScope::Benchmark(row.id.clone());
            call(level, &about, &|other| other.id == row.id);
        }
    }
    found
}

/// Sorts by slowness of nodes, and the findings of each by size of the effect.
fn in_order(outliers: &mut [FleetOutlier]) {
    let mut worst: BTreeMap<String, f64> = BTreeMap::new();
    for outlier in outliers.iter() {
        let known = worst.entry(outlier.node.clone()).or_insert(f64::INFINITY);
        *known = known.min(outlier.effect.effect);
    }
    outliers.sort_by(|a, b| {
        let nodes = worst[&a.node].total_cmp(&worst[&b.node]).then(a.node.cmp(&b.node));
        nodes.then(a.effect.effect.total_cmp(&b.effect.effect))
    });
}

fn effect(deviation: Deviation) -> FleetEffect {
    FleetEffect {
        effect: deviation.by.exp_m1(),
        interval: [deviation.by - deviation.half, deviation.by + deviation.half].map(f64::exp_m1),
        p: deviation.p,
        p_adjusted: deviation.p_adjusted,
    }
}

fn spread(level: &Level, between_runs: Option<f64>) -> FleetSpread {
    let known = || level.nodes.iter().flatten();
    FleetSpread {
        nodes: known().count(),
        sd: level.sd,
        between_runs: between_runs.map(f64::sqrt),
        smallest: -(-level.smallest).exp_m1(),
        outliers: known().filter(|deviation| deviation.differs).count(),
    }
}

fn benchmark(
    row: &BenchmarkNodes,
    level: Option<&Level>,
    between_runs: Option<f64>,
) -> FleetBenchmark {
    let estimates =
        row.results.iter().flat_map(|results| results.last()).map(|result| result.estimate);
    let estimates = descriptive::sorted(estimates);
    let disturbed = |results: &&Vec<&NodeResult>| results.iter().any(|result| result.interference);
    FleetBenchmark {
        id: row.id.clone(),
        unit: row.first.unit.clone(),
        better: row.first.better,
        quantiles: QUANTILES.map(|share| descriptive::quantile(&estimates, share)),
        spread: level.map(|level| spread(level, between_runs)),
        interference: row.results.iter().filter(disturbed).count(),
        without_result: row.without_result,
        other_work: row.other_work,
    }
}

fn node_view(
    index: usize,
    nodes: &[Node],
    rows: &[BenchmarkNodes],
    families: &[&str],
    fit: &Fit,
) -> FleetNode {
    let node = &nodes[index];
    let rows = || rows.iter().filter(|row| row.compared.contains(&node.kind));
    let results = || rows().map(|row| &row.results[index]);
    let is_without = |row: &&BenchmarkNodes| {
        let is_tried = node.runs.iter().any(|run| run.results.contains_key(row.id));
        is_tried && row.results[index].is_empty()
    };
    let deviation = |level: &Option<Level>| Some(effect(level.as_ref()?.nodes[index]?));
    let by_family = families.iter().zip(&fit.families);
    let by_family =
        by_family.filter_map(|(family, level)| Some(((*family).to_owned(), deviation(level)?)));
    FleetNode {
        node: node.name.to_owned(),
        runs: node.runs.iter().map(|run| run.run.clone()).collect(),
        kind: node.kind,
        place: node.runs.last().map_or_else(BTreeMap::new, |run| run.place.clone()),
        benchmarks: results().filter(|results| !results.is_empty()).count(),
        interference: results().filter(|all| all.iter().any(|one| one.interference)).count(),
        without_result: rows().filter(is_without).count(),
        overall: deviation(&fit.all),
        families: by_family.collect(),
    }
}
