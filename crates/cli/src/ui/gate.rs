//! Output of gates of CI.

use crate::ui::{output, step_summary};
use anyhow::Result;
use clap::ValueEnum;
use gritstone_document::Document;
use gritstone_exchange::GateOutput;
use serde::Serialize;

/// Output format of a gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum GateFormat {
    /// Tables
    #[default]
    Text,
    /// One JSON value
    Json,
    /// A comment
    Markdown,
    /// Annotations of GitHub Actions, and a summary where GITHUB_STEP_SUMMARY names a file
    Github,
    /// A metrics report of GitLab
    Gitlab,
    /// JUnit XML: a test case of the gate and one per benchmark
    Junit,
}

/// Prints a view in a format; as text, only a document.
pub fn print(
    format: GateFormat,
    view: &impl Serialize,
    gate: &GateOutput,
    document: Option<Document>,
) -> Result<()> {
    match format {
        GateFormat::Text => document.map_or(Ok(()), |document| output::text(&document)),
        GateFormat::Json => output::json(view),
        GateFormat::Markdown => output::plain(&gate.markdown),
        GateFormat::Gitlab => output::plain(&gate.metrics),
        GateFormat::Junit => output::plain(&gate.junit),
        GateFormat::Github => {
            output::workflow_commands(&gate.annotations)?;
            step_summary::append(&gate.markdown)
        }
    }
}
