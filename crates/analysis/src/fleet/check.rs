//! Whether one node is like the others, as an exit code.

use gritstone_model::{FleetScope, FleetVerdict, FleetView};
use gritstone_stats::multiple;

/// Chance of a false alarm of one check.
const ALPHA: f64 = 0.01;

/// Verdict on a node. Of the many tests of the fleet only those of this node count; the error rate holds over all of them.
#[must_use]
pub fn verdict(view: &FleetView, node: &str) -> FleetVerdict {
    if view.wrong.iter().any(|of| of.node == node) {
        return FleetVerdict::Failed;
    }
    let Some(own) = view.nodes.iter().find(|of| of.node == node) else {
        return FleetVerdict::Inconclusive;
    };
    let levels = own.families.values().chain(&own.overall);
    let slow = |of: &f64| *of < -view.margin;
    let (effects, p): (Vec<f64>, Vec<Option<f64>>) =
        levels.map(|of| (of.effect, Some(of.p))).unzip();
    let certain = multiple::holm(&p).into_iter().flatten().zip(&effects);
    let of_level = certain
        .filter(|(p, effect)| *p <= ALPHA && slow(effect))
        .count()
        > 0;
    let of_benchmark = view.outliers.iter().any(|of| {
        let single = matches!(of.about, FleetScope::Benchmark(_));
        of.node == node && single && slow(&of.effect.effect) && of.effect.p_adjusted <= ALPHA
    });
    let compared = view.kinds.get(own.kind).is_some_and(|kind| kind.compared);
    match (of_level || of_benchmark, compared && own.benchmarks > 0) {
        (true, _) => FleetVerdict::Failed,
        // interference with most results could hide a slow node, so that it does not count as healthy
        (false, true) if 2 * own.interference <= own.benchmarks => FleetVerdict::Passed,
        _ => FleetVerdict::Inconclusive,
    }
}
