//! The result of a benchmark: measured, derived from others, printed by a document, or absent.

mod data;
mod flat;

use crate::names::names;
use crate::{
    Better, CopiesView, Counts, Estimate, Finding, Flag, Id, Kind, Latencies, Note, PartValue,
    Program, PublishedView, Responses, SeriesPoint, Statistics, Subject, Unit, flags,
};
pub use data::{Absence, Absent, Data, Measured, Printed, Sampled};
use flat::Flat;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The result of a benchmark, with flags and notes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Flat", into = "Flat")]
pub struct Measurement {
    pub id: Id,
    pub title: String,
    pub kind: Kind,
    /// Version of the catalog entry; 0 for a reference.
    pub version: u32,
    pub unit: Unit,
    pub better: Better,
    pub notes: Vec<Note>,
    /// The curve whose last point is this benchmark.
    pub curve: Option<ResultCurve>,
    pub published: Option<PublishedView>,
    pub program: Option<Program>,
    /// Page cache, file system or device; document and place of a printed result. `None` if the title has it.
    pub measured: Option<String>,
    /// Whether core cycles compare better than nanoseconds.
    pub processor_bound: bool,
    /// Absent when not requested.
    pub of_runs: Option<OfRuns>,
    pub data: Data,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultCurve {
    pub label: String,
    pub points: Vec<SeriesPoint>,
}

/// Variance of a result between the earlier runs of its system.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OfRuns {
    pub runs: usize,
    /// Relative half-width of the 95% interval over runs of its system; null before there are five runs.
    pub half_width: Option<f64>,
}

names! {
    /// Whether and how a result was measured.
    #[derive(Default, Hash, JsonSchema)]
    pub enum Status {
        /// From launches here.
        Measured = "measured",
        /// Skipped: nothing was launched, or it cannot run here.
        #[default]
        Skipped = "skipped",
        /// Failed: a launch failed.
        Failed = "failed",
        /// Timed out: a launch was stopped at its deadline.
        TimedOut = "timed_out",
        /// Printed in a document.
        Published = "published",
    }
}

impl Measurement {
    /// Nothing was launched before the run ended.
    pub fn is_unreached(&self) -> bool {
        let unreached = |note: &Note| matches!(note.finding, Finding::NotReached { .. });
        self.notes.iter().any(unreached)
    }

    /// A result with the identifier as its title.
    pub fn new(id: Id, kind: Kind, unit: Unit, better: Better, data: Data) -> Self {
        Self {
            title: id.to_string(),
            id,
            kind,
            version: 0,
            unit,
            better,
            notes: Vec::new(),
            curve: None,
            published: None,
            program: None,
            measured: None,
            processor_bound: false,
            of_runs: None,
            data,
        }
    }

    /// Numbers of a simulated result: data of another kind are replaced by an empty measurement.
    pub fn measured_mut(&mut self) -> &mut Measured {
        if !matches!(self.data, Data::Measured(_)) {
            self.data = Data::Measured(Box::default());
        }
        match &mut self.data {
            Data::Measured(measured) => measured,
            _ => unreachable!("it was replaced"),
        }
    }

    pub fn outcome(&self) -> Status {
        match &self.data {
            Data::Measured(_) | Data::Derived(_) => Status::Measured,
            Data::Printed(_) => Status::Published,
            Data::Absent(absent) => absent.absence.into(),
        }
    }

    pub fn estimate(&self) -> Option<Estimate> {
        match &self.data {
            Data::Printed(printed) => printed.estimate,
            data => data.sampled()?.estimate,
        }
    }

    /// The value of the estimate.
    pub fn value(&self) -> Option<f64> {
        self.estimate().map(|estimate| estimate.value)
    }

    pub fn interval(&self) -> Option<[f64; 2]> {
        self.estimate().and_then(|estimate| estimate.interval)
    }

    pub fn confidence(&self) -> Option<f64> {
        self.data.sampled()?.confidence
    }

    pub fn cycles(&self) -> Option<Estimate> {
        self.data.sampled()?.cycles
    }

    pub fn ghz(&self) -> Option<f64> {
        self.data.sampled()?.ghz
    }

    pub fn launches(&self) -> usize {
        self.data.sampled().map_or(0, |sampled| sampled.launches)
    }

    pub fn samples(&self) -> usize {
        match &self.data {
            Data::Absent(absent) => absent.samples,
            data => data.sampled().map_or(0, |sampled| sampled.samples),
        }
    }

    pub fn statistics(&self) -> Option<&Statistics> {
        match &self.data {
            Data::Printed(printed) => printed.statistics.as_ref(),
            data => data.sampled()?.statistics.as_ref(),
        }
    }

    pub fn latencies(&self) -> Option<&Latencies> {
        self.data.measured()?.latencies.as_ref()
    }

    pub fn responses(&self) -> &[Responses] {
        let sampled = self.data.sampled();
        sampled.map_or(&[], |sampled| &sampled.responses)
    }

    pub fn copies(&self) -> Option<&CopiesView> {
        match &self.data {
            Data::Absent(absent) => absent.copies.as_ref(),
            data => data.measured()?.copies.as_ref(),
        }
    }

    pub fn copies_mut(&mut self) -> Option<&mut CopiesView> {
        match &mut self.data {
            Data::Measured(measured) => measured.copies.as_mut(),
            Data::Absent(absent) => absent.copies.as_mut(),
            Data::Derived(_) | Data::Printed(_) => None,
        }
    }

    pub fn faults_per_page(&self) -> Option<f64> {
        match &self.data {
            Data::Printed(printed) => printed.faults_per_page,
            data => data.measured()?.faults_per_page,
        }
    }

    /// Empty without counters.
    pub fn counters(&self) -> &Counts<f64> {
        static NONE: Counts<f64> = Counts::new();
        let measured = self.data.measured();
        measured.map_or(&NONE, |measured| &measured.counters)
    }

    pub fn parts(&self) -> &[PartValue] {
        match &self.data {
            Data::Absent(absent) => &absent.parts,
            data => data.sampled().map_or(&[], |sampled| &sampled.parts),
        }
    }

    pub fn names(&self) -> &[String] {
        let measured = self.data.measured();
        measured.map_or(&[], |measured| &measured.names)
    }

    /// One value per launch, in the unit of the result, in the order of time.
    pub fn values(&self) -> &[f64] {
        let sampled = self.data.sampled();
        sampled.map_or(&[], |sampled| &sampled.values)
    }

    /// Share of the samples of each launch that were undisturbed; empty unless the result is from launches.
    pub fn weights(&self) -> &[f64] {
        let sampled = self.data.sampled();
        sampled.map_or(&[], |sampled| &sampled.weights)
    }

    /// The same in core cycles per operation; empty without a cycle probe.
    pub fn cycle_values(&self) -> &[f64] {
        let sampled = self.data.sampled();
        sampled.map_or(&[], |sampled| &sampled.cycle_values)
    }

    pub fn series(&self) -> Option<&[SeriesPoint]> {
        self.curve.as_ref().map(|curve| curve.points.as_slice())
    }

    pub fn is_published(&self) -> bool {
        matches!(self.data, Data::Printed(_))
    }

    /// Whether a document prints only the basis of this part of the result.
    pub fn is_reckoned(&self, about: Subject) -> bool {
        let reckoned = |note: &Note| matches!(note.finding, Finding::Reckoned { .. });
        let mut notes = self.notes.iter();
        notes.any(|note| reckoned(note) && note.about.concerns(about))
    }

    /// Whether a flag concerns this part of the result.
    pub fn has_flag(&self, flag: Flag, about: Subject) -> bool {
        let mut notes = self.notes.iter();
        notes.any(|note| note.flag() == Some(flag) && note.about.concerns(about))
    }

    /// Whether a flag concerns the result as a whole.
    pub fn is_flagged(&self, flag: Flag) -> bool {
        self.has_flag(flag, Subject::Result)
    }

    pub fn notes_on_result(&self) -> impl Iterator<Item = &Note> {
        let on_result = |note: &&Note| note.about == Subject::Result;
        self.notes.iter().filter(on_result)
    }

    /// Flags that concern the estimate, each once.
    pub fn flags_of_estimate(&self) -> Vec<Flag> {
        let notes = self.notes.iter();
        let concern = notes.filter(|note| note.about.concerns(Subject::Estimate));
        flags(&concern.cloned().collect::<Vec<_>>())
    }

    /// Flags of all notes, each once.
    pub fn flags(&self) -> Vec<Flag> {
        flags(&self.notes)
    }
}

impl JsonSchema for Measurement {
    fn schema_name() -> Cow<'static, str> {
        Flat::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Flat::json_schema(generator)
    }
}
