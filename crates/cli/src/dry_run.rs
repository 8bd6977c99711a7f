//! `run --dry-run`: what a run would measure, skip, and do to the machine.
//!
//! Must not know: how any of it is done.

use crate::args::Format;
use crate::failure::Exit;
use crate::output;
use crate::privileges::{self, Listed};
use crate::run::Job;
use anyhow::Result;
use gritstone_model::Skip;
use gritstone_report::Document;
use gritstone_report::document::Style;
use gritstone_report::lists;
use serde::Serialize;

/// The form of `--dry-run --format json`.
const SCHEMA_DRY_RUN: &str = "gritstone/dry-run/1";

/// What a run would do, as `--dry-run` shows it.
#[derive(Serialize)]
struct DryRun {
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
            actions: privileges::actions(plan, own, self.steady, self.permits),
        };
        output::write(format, &dry, || dry.document())?;
        Ok(Exit::Done)
    }
}

impl DryRun {
    fn document(&self) -> Document {
        let mut document = Document::new("What this run would measure and do");
        let rows = [("benchmark", Style::Code)];
        let ids = self.benchmarks.iter().map(|id| [id.clone()]);
        lists::append(&mut document, "Measured", rows, ids.collect());
        let skips = self.skipped.iter();
        lists::append(
            &mut document,
            "Skipped",
            [("benchmark", Style::Code), ("why", Style::Text)],
            skips
                .map(|skip| [skip.id.to_string(), skip.reason.clone()])
                .collect(),
        );
        let number = |listed: &Listed| match listed.benchmarks.as_slice() {
            [one] => one.clone(),
            many => format!("{} benchmarks", many.len()),
        };
        let whats = self.actions.iter().map(|listed| {
            let [what, why, undone] = [listed.what, listed.why, listed.undone];
            [
                what.to_owned(),
                number(listed),
                why.to_owned(),
                undone.to_owned(),
            ]
        });
        lists::append(
            &mut document,
            "Done to the machine, as far as it is permitted",
            [
                ("what", Style::Text),
                ("for", Style::Text),
                ("how, and why", Style::Text),
                ("undone", Style::Text),
            ],
            whats.collect(),
        );
        document
    }
}
