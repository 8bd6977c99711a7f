//! Numbers of a result, by their origin.

use super::Status;
use crate::{CopiesView, Counts, Estimate, Latencies, PartValue, Responses, Statistics};

/// Origin of the numbers of a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    Measured(Box<Measured>),
    /// Results of other benchmarks of the run.
    Derived(Box<Sampled>),
    Printed(Printed),
    Absent(Absent),
}

/// Numbers from launches of a benchmark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    pub sampled: Sampled,
    /// Operations timed one by one.
    pub latencies: Option<Latencies>,
    pub copies: Option<CopiesView>,
    /// Major page faults per touched page.
    pub faults_per_page: Option<f64>,
    /// Counts per operation: median over launches.
    pub counters: Counts<f64>,
    /// Symbols that the shortest program links.
    pub names: Vec<String>,
}

/// Values of launches (rounds, for a derived result) and the estimate from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampled {
    pub estimate: Option<Estimate>,
    /// Confidence level of the interval.
    pub confidence: Option<f64>,
    pub cycles: Option<Estimate>,
    /// Frequency of the core, by the cycle probe.
    pub ghz: Option<f64>,
    /// With contention and the actual frequency: median over launches, in the unit of the result.
    pub as_ran: Option<f64>,
    pub launches: usize,
    pub samples: usize,
    pub statistics: Option<Statistics>,
    pub responses: Vec<Responses>,
    /// Sections of a program, pairs of CPUs, ratios to a baseline.
    pub parts: Vec<PartValue>,
    /// In the unit of the result, in the order of time.
    pub values: Vec<f64>,
    /// Share of the samples of each launch that were undisturbed.
    pub weights: Vec<f64>,
    /// In core cycles per operation; empty without a cycle probe.
    pub cycle_values: Vec<f64>,
}

/// Numbers that a document prints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Printed {
    pub estimate: Option<Estimate>,
    pub statistics: Option<Statistics>,
    pub faults_per_page: Option<f64>,
}

/// No estimate: the notes have the reason.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Absent {
    pub absence: Absence,
    /// Samples of the terms of a sum without a complete round.
    pub samples: usize,
    /// Ratios of a score that is withheld.
    pub parts: Vec<PartValue>,
    /// Several copies may have run even if one failed.
    pub copies: Option<CopiesView>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absence {
    #[default]
    Skipped,
    Failed,
    TimedOut,
}

impl Data {
    pub fn absent(absence: Absence) -> Self {
        Self::Absent(Absent { absence, ..Absent::default() })
    }

    pub(super) fn sampled(&self) -> Option<&Sampled> {
        match self {
            Self::Measured(measured) => Some(&measured.sampled),
            Self::Derived(sampled) => Some(sampled),
            Self::Printed(_) | Self::Absent(_) => None,
        }
    }

    pub(super) fn measured(&self) -> Option<&Measured> {
        match self {
            Self::Measured(measured) => Some(measured),
            _ => None,
        }
    }
}

impl From<Absence> for Status {
    fn from(absence: Absence) -> Self {
        match absence {
            Absence::Skipped => Self::Skipped,
            Absence::Failed => Self::Failed,
            Absence::TimedOut => Self::TimedOut,
        }
    }
}
