//! Onset of each node's difference, and changes that all nodes share, from earlier fleet runs.

use super::{NodeRun, measured, nodes, rows};
use gritstone_model::{FleetDrift, FleetOutlier, FleetScope, FleetSince, FleetView, Id};
use gritstone_stats::fleet::MIN_BENCHMARKS;
use gritstone_stats::fleet::{self as stats, Fit, Level};
use gritstone_stats::{descriptive, multiple, quantile};
use std::collections::{BTreeMap, BTreeSet};

/// Probability of a false alarm over all possible changes of a fleet.
const ALPHA: f64 = 0.01;
/// Normal quantile of an interval at 95%.
const INTERVAL: f64 = 1.96;

/// An earlier fleet run: the current outliers, and enough others for medians.
pub struct Earlier {
    /// Its start, RFC 3339.
    pub started: String,
    /// The runs of its nodes.
    pub runs: Vec<NodeRun>,
}

/// Adds the findings of earlier fleet runs, oldest first, to a report. `now` has the runs of the report: those of the same nodes. Runs of a
/// replaced machine with the name of a node are left out.
pub fn since(view: &mut FleetView, now: &[NodeRun], mut earlier: Vec<Earlier>) {
    let replaced = leave_out_others(now, &mut earlier);
    let fits: Vec<(&str, EarlierFit)> = earlier
        .iter()
        .map(|fleet_run| (fleet_run.started.as_str(), EarlierFit::new(&fleet_run.runs)))
        .collect();
    let started = view.started.clone();
    for outlier in &mut view.outliers {
        outlier.since = onset(outlier, &started, &fits);
        outlier.replaced = replaced.get(&outlier.node).cloned();
    }
    view.earlier = earlier.len();
    view.drifts = drifts(view, now, &earlier);
}

/// Keeps the runs of the current machines of the nodes; for replaced ones returns the start of their newest fleet run, by node.
fn leave_out_others(now: &[NodeRun], earlier: &mut [Earlier]) -> BTreeMap<String, String> {
    let mut machines: BTreeMap<&str, &NodeRun> = BTreeMap::new();
    for run in now {
        let newest = machines.entry(&run.node).or_insert(run);
        if run.started > newest.started {
            *newest = run;
        }
    }
    let mut left_out = BTreeMap::new();
    for fleet_run in earlier {
        fleet_run.runs.retain(|run| {
            let same = |now: &&NodeRun| now.machine == run.machine;
            let current = machines.get(run.node.as_str()).is_none_or(same);
            if !current {
                left_out.insert(run.node.clone(), fleet_run.started.clone());
            }
            current
        });
    }
    left_out
}

/// Deviations between the nodes of an earlier fleet run.
struct EarlierFit {
    nodes: Vec<String>,
    families: Vec<String>,
    benchmarks: Vec<Id>,
    fit: Fit,
}

impl EarlierFit {
    fn new(runs: &[NodeRun]) -> Self {
        let (nodes, _) = nodes(runs);
        let rows = rows(&nodes);
        let mut families: Vec<&str> = rows.iter().map(|row| row.id.family()).collect();
        families.dedup();
        Self {
            fit: stats::fit(&measured(&nodes, &rows, &families)),
            nodes: nodes.iter().map(|node| node.name.to_owned()).collect(),
            families: families.iter().map(|name| (*name).to_owned()).collect(),
            benchmarks: rows.iter().map(|row| row.id.clone()).collect(),
        }
    }

    fn level(&self, about: &FleetScope) -> Option<&Level> {
        match about {
            FleetScope::All => self.fit.all.as_ref(),
            FleetScope::Family(family) => {
                let index = self.families.iter().position(|name| name == family)?;
                self.fit.families.get(index)?.as_ref()
            }
            FleetScope::Benchmark(id) => {
                let index = self.benchmarks.iter().position(|benchmark| benchmark == id)?;
                self.fit.benchmarks.get(index)?.as_ref()
            }
        }
    }

    /// Deviation of a node, ln, and the standard deviation of nodes.
    fn deviation(&self, node: &str, about: &FleetScope) -> Option<(f64, f64)> {
        let index = self.nodes.iter().position(|name| name == node)?;
        let level = self.level(about)?;
        Some((level.nodes[index]?.by, level.sd))
    }
}

/// The run since which a node has its present deviation.
fn onset(outlier: &FleetOutlier, now: &str, earlier: &[(&str, EarlierFit)]) -> Option<FleetSince> {
    let deviations = earlier.iter().filter_map(|(started, fit)| {
        Some((*started, fit.deviation(&outlier.node, &outlier.about)?))
    });
    let (mut when, mut series): (Vec<&str>, Vec<(f64, f64)>) = deviations.unzip();
    let last = series.last()?.1;
    when.push(now);
    series.push((outlier.effect.effect.ln_1p(), last));
    Some(dated(&when, stats::onset(&series, Some(0.0))))
}

fn dated(when: &[&str], index: usize) -> FleetSince {
    FleetSince {
        first: when[index].to_owned(),
        before: index.checked_sub(1).map(|before| when[before].to_owned()),
    }
}

/// Changes of the fleet, each node compared with itself.
fn drifts(view: &FleetView, now: &[NodeRun], earlier: &[Earlier]) -> Vec<FleetDrift> {
    let all = now.iter().flat_map(|run| run.results.keys());
    let families: BTreeSet<&str> = all.map(Id::family).collect();
    let scopes = families.into_iter().map(|family| FleetScope::Family(family.to_owned()));
    let scopes: Vec<FleetScope> = [FleetScope::All].into_iter().chain(scopes).collect();
    let found: Vec<Option<(FleetDrift, f64)>> =
        scopes.iter().map(|about| drift(about, &view.started, now, earlier)).collect();
    let p: Vec<Option<f64>> = found.iter().map(|drift| drift.as_ref().map(|(_, p)| *p)).collect();
    let certain = found.into_iter().zip(multiple::holm(&p));
    let certain = certain.filter_map(|(found, p)| {
        let (drift, _) = found.filter(|_| p.is_some_and(|p| p <= ALPHA))?;
        (drift.effect.abs() > view.margin).then_some(drift)
    });
    let mut drifts: Vec<FleetDrift> = certain.collect();
    // a family that changed like all benchmarks is left out
    let all = drifts.iter().find(|drift| drift.about == FleetScope::All).map(|drift| drift.effect);
    drifts.retain(|drift| {
        drift.about == FleetScope::All
            || all.is_none_or(|all| (drift.effect - all).abs() > view.margin)
    });
    drifts
}

/// The change of one family, or of everything, and its p value.
fn drift(
    about: &FleetScope,
    now_started: &str,
    now: &[NodeRun],
    earlier: &[Earlier],
) -> Option<(FleetDrift, f64)> {
    let mut when = vec![];
    let mut series = vec![];
    let mut nodes = 0;
    for fleet_run in earlier {
        let by_node = changes(about, &fleet_run.runs, now);
        if let Some((by, sd)) = stats::shift(&by_node) {
            when.push(fleet_run.started.as_str());
            // the earlier level relative to the present one; without scatter between nodes the error is unknown
            series.push((-by, sd.max(f64::EPSILON)));
            nodes = by_node.len();
        }
    }
    let last = series.last()?.1;
    when.push(now_started);
    series.push((0.0, last));
    let onset = stats::onset(&series, None);
    let mean = |part: &[(f64, f64)]| {
        let weight: f64 = part.iter().map(|(_, sd)| sd.powi(-2)).sum();
        let sum: f64 = part.iter().map(|(x, sd)| x * sd.powi(-2)).sum();
        (sum / weight, weight.recip())
    };
    let (old, new) = series.split_at(onset);
    if old.is_empty() {
        return None;
    }
    let ((before, a), (after, b)) = (mean(old), mean(new));
    let (step, sd) = (after - before, (a + b).sqrt());
    let ends = [step - INTERVAL * sd, step + INTERVAL * sd];
    let drift = FleetDrift {
        about: about.clone(),
        effect: step.exp_m1(),
        interval: ends.map(f64::exp_m1),
        since: dated(&when, onset),
        nodes,
    };
    // the step was chosen among all possible ones
    let p = quantile::normal_tails(step.abs() / sd) * (series.len() - 1) as f64;
    Some((drift, p.min(1.0)))
}

/// Change of each node since then, as the median over benchmarks with the same work.
fn changes(about: &FleetScope, then: &[NodeRun], now: &[NodeRun]) -> Vec<f64> {
    let after: BTreeMap<&str, &NodeRun> = now.iter().map(|run| (run.node.as_str(), run)).collect();
    let (fewest, of_scope): (usize, &dyn Fn(&Id) -> bool) = match about {
        FleetScope::All => (MIN_BENCHMARKS, &|_| true),
        FleetScope::Family(family) => (1, &move |id| id.family() == family),
        FleetScope::Benchmark(one) => (1, &move |id| id == one),
    };
    let change = |run: &NodeRun| {
        let after = after.get(run.node.as_str())?;
        let both = run.results.iter().filter(|(id, _)| of_scope(id));
        let changes = both.filter_map(|(id, old)| {
            let new = after.results.get(id).filter(|new| new.work() == old.work())?;
            Some(new.speed? - old.speed?)
        });
        let changes: Vec<f64> = changes.collect();
        (changes.len() >= fewest).then(|| descriptive::median_of(&changes))
    };
    then.iter().filter_map(change).collect()
}
