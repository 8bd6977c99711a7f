//! One side of a comparison: a run, or the median of several runs of one system.

use crate::conversion::{scale, to_reference};
use crate::run_summary::{RunSummary, RunValue, launch_variance};
use gritstone_model::{Data, Estimate, Id, Measurement, RunView};
use gritstone_stats::{descriptive, quantile};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub struct Side<'a> {
    pub view: Cow<'a, RunView>,
    pub(crate) runs: Vec<RunSummary>,
}

impl<'a> From<&'a RunView> for Side<'a> {
    fn from(run: &'a RunView) -> Self {
        Self { view: Cow::Borrowed(run), runs: vec![RunSummary::new(run)] }
    }
}

/// Runs that cannot be compared as one side.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SideError {
    #[error("no run is named")]
    Empty,
    #[error("{0} is named twice")]
    Twice(String),
    #[error(
        "{0} and {1} are not of one machine, directory and tuning: the runs of a side are repetitions of one another"
    )]
    Apart(String, String),
}

impl Side<'static> {
    /// The median of each result over its runs, without invalid results and those with interference. Circumstances and notes come from
    /// the newest run.
    ///
    /// # Errors
    /// No run, the same run twice, or runs of several systems.
    pub fn new(mut runs: Vec<RunView>) -> Result<Self, SideError> {
        runs.sort_by(|a, b| (&a.started, &a.id).cmp(&(&b.started, &b.id)));
        let newest = runs.last().ok_or(SideError::Empty)?.clone();
        let past: Vec<RunSummary> = runs.iter().map(RunSummary::new).collect();
        for pair in past.windows(2) {
            if pair[0].run == pair[1].run {
                return Err(SideError::Twice(pair[0].run.clone()));
            }
            if pair[0].circumstances != pair[1].circumstances {
                return Err(SideError::Apart(pair[0].run.clone(), pair[1].run.clone()));
            }
        }
        if runs.len() == 1 {
            return Ok(Self { view: Cow::Owned(newest), runs: past });
        }
        let ids: BTreeSet<&Id> =
            runs.iter().flat_map(|run| run.results.iter().map(|r| &r.id)).collect();
        let order = newest.results.iter().map(|result| &result.id);
        let rest = ids.iter().copied().filter(|id| newest.get(id).is_none());
        let results = order.chain(rest).filter_map(|id| median(&runs, id)).collect();
        let labels: Option<BTreeSet<&str>> = runs.iter().map(|run| run.label.as_deref()).collect();
        let joined = |words: Vec<&str>| words.join(",");
        let view = RunView {
            id: joined(runs.iter().map(|run| run.id.as_str()).collect()),
            label: labels.map(|labels| joined(labels.into_iter().collect())),
            results,
            ..newest
        };
        Ok(Self { view: Cow::Owned(view), runs: past })
    }
}

impl Side<'_> {
    /// Number of runs in the median of a result.
    pub(crate) fn count(&self, id: &Id) -> usize {
        let version = self.view.get(id).map(|result| result.version);
        let has = |run: &&RunSummary| run.values.get(id).map(|value| value.version) == version;
        self.runs.iter().filter(has).count().max(1)
    }
}

/// `None` where no run has a result.
fn median(runs: &[RunView], id: &Id) -> Option<Measurement> {
    let all: Vec<(&RunView, &Measurement)> =
        runs.iter().filter_map(|run| Some((run, run.get(id)?))).collect();
    let (_, newest) = *all.last()?;
    let is_comparable = |(_, result): &&(&RunView, &Measurement)| {
        let comparable =
            result.version == newest.version && scale(&result.unit, &newest.unit).is_some();
        comparable && RunValue::new(result).is_some()
    };
    let counted: Vec<&(&RunView, &Measurement)> = all.iter().filter(is_comparable).collect();
    let Some((_, shown)) = counted.last() else {
        return Some(newest.clone());
    };
    let estimates = counted.iter().filter_map(|(run, result)| {
        // the frequency of the view, which is that of the newest run
        let newest = runs.last()?.reference_ghz;
        let frequencies = newest.zip(run.reference_ghz).map(<[f64; 2]>::from);
        let scale =
            scale(&result.unit, &shown.unit)? * to_reference(result, &shown.unit, frequencies);
        Some(((result.value()? * scale).ln(), launch_variance(result.interval())))
    });
    let (logs, variances): (Vec<f64>, Vec<f64>) = estimates.unzip();
    let center = descriptive::median_of(&logs);
    // one without an interval has an unknown variance
    let have_intervals = counted.iter().all(|(_, result)| result.interval().is_some());
    let interval = have_intervals.then(|| {
        let variance = descriptive::mean(&variances) / logs.len() as f64;
        let half = quantile::normal(0.95) * variance.sqrt();
        [(center - half).exp(), (center + half).exp()]
    });
    let estimate = Some(Estimate { value: center.exp(), interval });
    let mut result = (*shown).clone();
    match &mut result.data {
        Data::Measured(measured) => {
            measured.sampled.estimate = estimate;
            // single runs have these, a median has not
            (measured.latencies, measured.copies) = (None, None);
        }
        Data::Derived(sampled) => sampled.estimate = estimate,
        Data::Printed(_) | Data::Absent(_) => {}
    }
    Some(result)
}

/// Number of runs in a median, and its precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianOfRuns {
    pub runs: usize,
    /// Variance of the median over the variance of one run.
    pub share: f64,
}

impl Default for MedianOfRuns {
    fn default() -> Self {
        Self { runs: 1, share: 1.0 }
    }
}

/// Medians of base and other by benchmark; the default is one run.
pub type Medians = BTreeMap<Id, [MedianOfRuns; 2]>;
