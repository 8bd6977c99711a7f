//! A result before its numbers: notes of the catalog entry and of the run.

use super::{published, rules};
use gritstone_model::{
    Benchmark, CustomCatalog, Data, Flag, Measurement, Note, PublishedView, RunData, Skip, Subject,
    in_order,
};

pub(super) struct Draft<'a> {
    benchmark: &'a Benchmark,
    run: &'a RunData,
    pub notes: Vec<Note>,
    /// The reference workload without its times, until these are known.
    pub published: Option<PublishedView>,
    /// As [`Measurement::measured`].
    pub measured: Option<String>,
}

impl<'a> Draft<'a> {
    pub fn new(benchmark: &'a Benchmark, run: &'a RunData) -> Self {
        let skips = run.skips.iter().filter(|skip| skip.id == benchmark.id);
        let mut notes: Vec<Note> = skips.map(Skip::note).collect();
        notes.extend(rules::declared(benchmark));
        let catalogs = run.info.settings.catalogue.iter();
        let custom = catalogs.filter(|catalog| catalog.has(&benchmark.id));
        notes.extend(custom.map(CustomCatalog::note));
        Self {
            benchmark,
            run,
            notes,
            published: benchmark.published.as_ref().map(published::untimed),
            measured: None,
        }
    }

    pub fn is_flagged(&self, flag: Flag) -> bool {
        let mut notes = self.notes.iter();
        notes.any(|note| note.flag() == Some(flag) && note.about.concerns(Subject::Result))
    }

    pub fn finish(self, data: Data) -> Measurement {
        let Self { benchmark, run, .. } = self;
        Measurement {
            title: benchmark.title.clone(),
            version: benchmark.version,
            notes: in_order(self.notes),
            published: self.published,
            program: run.programs.get(&benchmark.id).cloned(),
            measured: self.measured,
            processor_bound: benchmark.processor_bound,
            ..Measurement::new(
                benchmark.id.clone(),
                benchmark.work.kind(),
                benchmark.unit.clone(),
                benchmark.better,
                data,
            )
        }
    }
}
