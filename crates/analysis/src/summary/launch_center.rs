//! The estimate of launches.

use super::estimate;
use super::reading::Reading;
use gritstone_model::Estimate;
use gritstone_stats::{center, undisturbed};

/// The time on an undisturbed machine; the center of the launches of one side of a trial, which are paired with those of the other.
pub(super) fn center_of(ns: &[f64], launches: &[&Reading], confidence: f64) -> Option<Estimate> {
    let weights: Vec<f64> = launches.iter().map(|launch| launch.weight()).collect();
    let trial = launches.iter().any(|launch| launch.is_of_trial);
    let center = match trial {
        true => center::log_center(ns, confidence),
        false => undisturbed::estimate(ns, &weights, confidence),
    };
    center.map(estimate)
}
