//! A percentile of operations as a result, for variance between runs and comparisons.

use gritstone_model::{Data, Measured, Measurement, Sampled};

/// Percentiles beyond the median, which is the result itself unless that is the mean of the operations.
pub(crate) const TAILS: [&str; 3] = ["p90", "p99", "p99.9"];

/// `None` if the result lacks it.
pub(crate) fn percentile_of(result: &Measurement, name: &str) -> Option<Measurement> {
    let percentile = result.latencies()?.get(name)?;
    let Data::Measured(measured) = &result.data else {
        return None;
    };
    let sampled = Sampled {
        estimate: percentile.estimate,
        values: percentile.values.clone(),
        cycles: None,
        cycle_values: vec![],
        ..measured.sampled.clone()
    };
    Some(Measurement {
        processor_bound: false,
        data: Data::Measured(Box::new(Measured {
            sampled,
            latencies: None,
            ..(**measured).clone()
        })),
        ..result.clone()
    })
}
