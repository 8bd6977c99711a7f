//! The estimate of launches.

use super::estimate;
use super::reading::Reading;
use gritstone_model::Estimate;
use gritstone_stats::{center, undisturbed};

/// The time on an undisturbed machine; the center if all launches count alike.
pub(super) fn estimate_launches(
    ns: &[f64],
    launches: &[&Reading],
    confidence: f64,
) -> Option<Estimate> {
    let weights: Vec<f64> = launches.iter().map(|launch| launch.weight()).collect();
    let all_count = launches.iter().any(|launch| launch.counts_whole);
    let center = match all_count {
        true => center::log_center(ns, confidence),
        false => undisturbed::estimate(ns, &weights, confidence),
    };
    center.map(estimate)
}
