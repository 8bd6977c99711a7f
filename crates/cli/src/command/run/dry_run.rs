//! `run --dry-run`: what a run would measure, skip, and do to the machine.

use crate::command::run::job::Job;
use crate::ui::display::Format;
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::Result;
use gritstone_document::Document;
use gritstone_document::Style;
use gritstone_exec::privileged::Description;
use gritstone_model::Skip;
use gritstone_report::lists;
use gritstone_session::privileges::{self, Listed};
use schemars::JsonSchema;
use serde::Serialize;

/// The form of `--dry-run --format json`.
pub(crate) const SCHEMA_DRY_RUN: &str = "gritstone/dry-run/1";

/// What a run would do, as `--dry-run` shows it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DryRun {
    schema: &'static str,
    benchmarks: Vec<String>,
    skipped: Vec<Skip>,
    actions: Vec<Listed>,
}

impl Job {
    /// Lists what would be measured and done, and does none of it.
    pub fn list(&self, format: Format) -> Result<Exit> {
        let (plan, own) = (&self.plan, self.own.as_ref());
        let rows = privileges::measured(plan).into_iter();
        let dry = DryRun {
            schema: SCHEMA_DRY_RUN,
            benchmarks: rows.map(|row| row.id.to_string()).collect(),
            skipped: plan.skips.clone(),
            actions: privileges::actions(plan, own, self.bounds),
        };
        output::write(format, &dry, || dry.document())?;
        Ok(Exit::Done)
    }
}

impl DryRun {
    fn document(&self) -> Document {
        let mut document = Document::new("What this run would measure and change");
        let ids = self.benchmarks.iter().map(|id| [id.clone()]);
        let columns = [("benchmark", Style::Code)];
        lists::append(&mut document, "Measured", columns, ids.collect());
        let skips = self.skipped.iter();
        let skips = skips.map(|skip| [skip.id.to_string(), skip.reason.clone()]);
        let columns = [("benchmark", Style::Code), ("why", Style::Text)];
        lists::append(&mut document, "Skipped", columns, skips.collect());
        let whats = self.actions.iter().map(|listed| {
            let Description { what, why, undone } = listed.described;
            let number = match listed.benchmarks.as_slice() {
                [one] => one.clone(),
                many => format!("{} benchmarks", many.len()),
            };
            [what, &number, why, undone].map(str::to_owned)
        });
        let columns = [
            ("what", Style::Text),
            ("for", Style::Text),
            ("how, and why", Style::Text),
            ("undone", Style::Text),
        ];
        let caption = "Changes to the system, where permitted";
        lists::append(&mut document, caption, columns, whats.collect());
        document
    }
}
