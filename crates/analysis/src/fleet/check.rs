//! Whether one node is like the others, as an exit code.

use gritstone_model::{FleetScope, FleetVerdict, FleetView};
use gritstone_stats::multiple;

/// Chance of a false alarm of one check.
const ALPHA: f64 = 0.01;

/// Verdict on a node. Of the many tests of the fleet only those of this node count; the error rate holds over all of them.
pub fn verdict(view: &FleetView, node: &str) -> FleetVerdict {
    if view.wrong.iter().any(|wrong| wrong.node == node) {
        return FleetVerdict::Failed;
    }
    let Some(fleet_node) = view.nodes.iter().find(|fleet_node| fleet_node.node == node) else {
        return FleetVerdict::Inconclusive;
    };
    let levels = fleet_node.families.values().chain(&fleet_node.overall);
    let slow = |effect: &f64| *effect < -view.margin;
    let (effects, p): (Vec<f64>, Vec<Option<f64>>) =
        levels.map(|effect| (effect.effect, Some(effect.p))).unzip();
    let certain = multiple::holm(&p).into_iter().flatten().zip(&effects);
    let of_level = certain.filter(|(p, effect)| *p <= ALPHA && slow(effect)).count() > 0;
    let of_benchmark = view.outliers.iter().any(|outlier| {
        let single = matches!(outlier.about, FleetScope::Benchmark(_));
        outlier.node == node
            && single
            && slow(&outlier.effect.effect)
            && outlier.effect.p_adjusted <= ALPHA
    });
    let results = fleet_node.benchmarks;
    // what is missing, or has interference, could hide a slow node
    let is_hidden = 2 * fleet_node.interference > results || fleet_node.without_result > results;
    match of_level || of_benchmark {
        true => FleetVerdict::Failed,
        false if results > 0 && !is_hidden => FleetVerdict::Passed,
        false => FleetVerdict::Inconclusive,
    }
}
