//! The keys of a result in JSON, in one object for all kinds of results.

use super::{
    Absence, Absent, Data, Measured, Measurement, OfRuns, Printed, ResultCurve, Sampled, Status,
};
use crate::{
    Better, CopiesView, Counts, Estimate, Id, Kind, Latencies, Note, PartValue, Program,
    PublishedView, Responses, SeriesPoint, Statistics, Unit,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of a benchmark: estimate, interval, notes and their basis.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Measurement")]
pub(super) struct Flat {
    /// Identifier of the benchmark.
    pub(super) id: Id,
    /// Title of the benchmark.
    pub(super) title: String,
    /// Kind of entry.
    pub(super) kind: Kind,
    /// Version of the entry; 0 for a reference.
    pub(super) version: u32,
    /// Unit of `estimate`, `interval`, `statistics` and `values`.
    pub(super) unit: Unit,
    /// Which direction is better.
    pub(super) better: Better,
    /// Whether and how it was measured.
    pub(super) outcome: Status,
    /// The estimate; `None` when there is none.
    #[serde(flatten, with = "crate::estimate::estimate")]
    #[schemars(with = "crate::estimate::estimate::Keys")]
    pub(super) estimate: Option<Estimate>,
    /// Confidence level of the interval.
    pub(super) confidence: Option<f64>,
    /// Core cycles per operation.
    #[serde(flatten, with = "crate::estimate::cycles")]
    #[schemars(with = "crate::estimate::cycles::Keys")]
    pub(super) cycles: Option<Estimate>,
    /// Actual frequency, by the cycle probe.
    pub(super) ghz: Option<f64>,
    /// With contention and the actual frequency: median over launches, in `unit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) as_ran: Option<f64>,
    /// Number of measured launches.
    pub(super) launches: usize,
    /// Number of their samples.
    pub(super) samples: usize,
    /// Flags and notes.
    pub(super) notes: Vec<Note>,
    /// Over launches, or over events for a distribution.
    pub(super) statistics: Option<Statistics>,
    /// Operations timed one by one; null without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) latencies: Option<Latencies>,
    /// Response times by number of users and kind of transaction; empty without users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) responses: Vec<Responses>,
    /// The curve whose last point is this benchmark.
    pub(super) series: Option<Vec<SeriesPoint>>,
    /// Quantity along the x of `series`.
    #[serde(default)]
    pub(super) series_label: Option<String>,
    /// Simultaneous copies; null if only one was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) copies: Option<CopiesView>,
    /// Major page faults per touched page; null unless the work is paging.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) faults_per_page: Option<f64>,
    /// Counts per operation: median over launches.
    #[serde(default, skip_serializing_if = "Counts::is_empty")]
    pub(super) counters: Counts<f64>,
    /// The reference workload: the amount of work of the document.
    pub(super) published: Option<PublishedView>,
    /// The program behind it.
    pub(super) program: Option<Program>,
    /// Medium: page cache, file system, device; null if the title has it.
    #[serde(default)]
    pub(super) measured: Option<String>,
    /// Parts of the estimate: text, data and bss of a program, pairs of CPUs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<PartValue>,
    /// Names that belong to the result (symbols that the shortest program links).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) names: Vec<String>,
    /// Whether core cycles compare better than nanoseconds.
    #[serde(default)]
    pub(super) processor_bound: bool,
    /// Variance between runs of its system, which comparisons use; absent when not requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) of_runs: Option<OfRuns>,
    /// One value per launch, in `unit`, at the reference frequency of the run, in the order of time.
    #[serde(default)]
    pub(super) values: Vec<f64>,
    /// Share of the samples of each launch that were undisturbed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) weights: Vec<f64>,
    /// The same in core cycles per operation; empty without a cycle probe.
    #[serde(default)]
    pub(super) paced_values: Vec<f64>,
}

impl From<Flat> for Measurement {
    fn from(flat: Flat) -> Self {
        let sampled = Sampled {
            estimate: flat.estimate,
            confidence: flat.confidence,
            cycles: flat.cycles,
            ghz: flat.ghz,
            as_ran: flat.as_ran,
            launches: flat.launches,
            samples: flat.samples,
            statistics: flat.statistics,
            responses: flat.responses,
            parts: flat.parts,
            values: flat.values,
            weights: flat.weights,
            cycle_values: flat.paced_values,
        };
        let absent = |absence| {
            Data::Absent(Absent {
                absence,
                samples: sampled.samples,
                parts: sampled.parts.clone(),
                copies: flat.copies.clone(),
            })
        };
        let data = match flat.outcome {
            Status::Skipped => absent(Absence::Skipped),
            Status::Failed => absent(Absence::Failed),
            Status::TimedOut => absent(Absence::TimedOut),
            Status::Published => Data::Printed(Printed {
                estimate: sampled.estimate,
                statistics: sampled.statistics,
                faults_per_page: flat.faults_per_page,
            }),
            Status::Measured if matches!(flat.kind, Kind::Derived | Kind::Score) => {
                Data::Derived(Box::new(sampled))
            }
            Status::Measured => Data::Measured(Box::new(Measured {
                sampled,
                latencies: flat.latencies,
                copies: flat.copies,
                faults_per_page: flat.faults_per_page,
                counters: flat.counters,
                names: flat.names,
            })),
        };
        let curve = flat.series.map(|points| ResultCurve {
            points,
            label: flat.series_label.unwrap_or_else(|| "x".to_owned()),
        });
        Self {
            id: flat.id,
            title: flat.title,
            kind: flat.kind,
            version: flat.version,
            unit: flat.unit,
            better: flat.better,
            notes: flat.notes,
            curve,
            published: flat.published,
            program: flat.program,
            measured: flat.measured,
            processor_bound: flat.processor_bound,
            of_runs: flat.of_runs,
            data,
        }
    }
}

impl From<Measurement> for Flat {
    fn from(result: Measurement) -> Self {
        let outcome = result.outcome();
        let mut measured = Measured::default();
        let sampled = &mut measured.sampled;
        match result.data {
            Data::Measured(data) => measured = *data,
            Data::Derived(data) => *sampled = *data,
            Data::Printed(printed) => {
                (sampled.estimate, sampled.statistics) = (printed.estimate, printed.statistics);
                measured.faults_per_page = printed.faults_per_page;
            }
            Data::Absent(absent) => {
                (sampled.samples, sampled.parts) = (absent.samples, absent.parts);
                measured.copies = absent.copies;
            }
        }
        let sampled = measured.sampled;
        let (series, series_label) = match result.curve {
            Some(curve) => (Some(curve.points), Some(curve.label)),
            None => (None, None),
        };
        Self {
            id: result.id,
            title: result.title,
            kind: result.kind,
            version: result.version,
            unit: result.unit,
            better: result.better,
            outcome,
            estimate: sampled.estimate,
            confidence: sampled.confidence,
            cycles: sampled.cycles,
            ghz: sampled.ghz,
            as_ran: sampled.as_ran,
            launches: sampled.launches,
            samples: sampled.samples,
            notes: result.notes,
            statistics: sampled.statistics,
            latencies: measured.latencies,
            responses: sampled.responses,
            series,
            series_label,
            copies: measured.copies,
            faults_per_page: measured.faults_per_page,
            counters: measured.counters,
            published: result.published,
            program: result.program,
            measured: result.measured,
            parts: sampled.parts,
            names: measured.names,
            processor_bound: result.processor_bound,
            of_runs: result.of_runs,
            values: sampled.values,
            weights: sampled.weights,
            paced_values: sampled.cycle_values,
        }
    }
}
