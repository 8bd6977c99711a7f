//! `run --dry-run`: what a run would measure, skip, and do to the machine.

use crate::command::run::job::{self, Job};
use crate::ui::display::Format;
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::Result;
use gritstone_document::Document;
use gritstone_document::Style;
use gritstone_exec::privileged::Description;
use gritstone_model::{Plan, Skip};
use gritstone_report::{lists, plural};
use gritstone_runs::context::Context;
use gritstone_session::privileges::{self, Listed};
use schemars::JsonSchema;
use serde::Serialize;

/// Schema of `--dry-run --format json`.
pub(crate) const SCHEMA_DRY_RUN: &str = "gritstone/dry-run/1";

/// Plan of a run, as `--dry-run` shows it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DryRun {
    schema: &'static str,
    benchmarks: Vec<String>,
    /// Time of the first launches of each benchmark, s.
    expected_s: f64,
    skipped: Vec<Skip>,
    actions: Vec<Listed>,
}

impl Job {
    /// Prints the plan without executing it.
    pub fn list(&self, context: &Context, format: Format) -> Result<Exit> {
        let (plan, custom) = (&self.plan, self.custom.as_ref());
        let expected = self.expected(context)?;
        let limits = job::limits(&self.info.settings)?;
        let dry = DryRun {
            schema: SCHEMA_DRY_RUN,
            benchmarks: job::measured(plan).map(|benchmark| benchmark.id.to_string()).collect(),
            expected_s: expected.as_secs_f64(),
            skipped: plan.skips.clone(),
            actions: privileges::actions(plan, custom, self.bounds),
        };
        let effort = job::effort(&limits, expected);
        output::write(format, &dry, || dry.document(plan, &effort))?;
        Ok(Exit::Done)
    }
}

impl DryRun {
    fn document(&self, plan: &Plan, effort: &str) -> Document {
        let mut document = Document::new("Plan of the run");
        document.subtitle =
            Some(format!("{}; {effort}", plural(self.benchmarks.len(), "benchmark")));
        let ids = job::measured(plan)
            .map(|benchmark| [benchmark.id.to_string(), benchmark.title.clone()]);
        let columns = [("benchmark", Style::Code), ("what", Style::Text)];
        lists::append(&mut document, "Measured", columns, ids.collect());
        let skips = self.skipped.iter();
        let skips = skips.map(|skip| [skip.id.to_string(), skip.reason.clone()]);
        let columns = [("benchmark", Style::Code), ("why", Style::Text)];
        lists::append(&mut document, "Skipped", columns, skips.collect());
        if !self.actions.is_empty() {
            document.heading(2, "Changes to the system, where permitted");
        }
        document.terms(self.actions.iter().map(|listed| {
            let Description { what, why, undone } = listed.described;
            let number = match listed.benchmarks.as_slice() {
                [one] => one.clone(),
                many => format!("{} benchmarks", many.len()),
            };
            (format!("{what}, for {number}"), format!("{why}; {undone}"))
        }));
        document
    }
}
