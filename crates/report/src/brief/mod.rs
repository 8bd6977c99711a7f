//! The report of a run, titled "Performance brief": a data sheet, the results by category with their details, the environment, and the
//! systems of the documents. For two runs: the changes.

mod command;
pub(crate) mod curves;
pub(crate) mod data_sheet;
mod details;
pub(crate) mod environment;
mod histogram;
pub(crate) mod history;
mod pair;
mod results;
pub(crate) mod timeline;
pub(crate) mod transactions;

use gritstone_document::Document;
use gritstone_model::{Benchmark, BriefParts, CompareRow, Id, RunView, short_processor};

pub use pair::{Pair, pair};

/// Input of the report of a run.
#[derive(Clone, Copy, Debug)]
pub struct Brief<'a> {
    pub run: &'a RunView,
    pub parts: &'a BriefParts,
}

impl<'a> Brief<'a> {
    fn benchmark(&self, id: &Id) -> Option<&'a Benchmark> {
        self.parts.benchmarks.iter().find(|b| b.id == *id)
    }

    /// The result against that of the baseline, if they have a meaningful ratio.
    fn ratio(&self, id: &Id) -> Option<&'a CompareRow> {
        let mut rows = self.parts.baseline.rows.iter();
        let row = rows.find(|row| row.id == *id)?;
        let ratio = row.ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0);
        ratio.filter(|_| !row.in_doubt()).map(|_| row)
    }
}

/// Title of a run: its label, or its processor. Host names would identify the user to readers.
pub(crate) fn name(run: &RunView) -> String {
    let model = run.machine.facts.get("cpu.model");
    run.label.clone().unwrap_or_else(|| match run.settings {
        Some(_) => model.map_or_else(|| run.id.clone(), |model| short_processor(model)),
        None => run.machine.name.clone(),
    })
}

/// The first page alone, with a table where it has room.
pub fn data_sheet(input: &Brief) -> Document {
    let mut document = titled(input);
    data_sheet::head(&mut document, input);
    data_sheet::numbers(&mut document, input.run);
    data_sheet::drawn(&mut document, input);
    document
}

fn titled(input: &Brief) -> Document {
    let name = name(input.run);
    // PDFs have no fonts for all scripts
    let name = match name.contains(|c: char| c.is_ascii_alphanumeric()) {
        true => name,
        false => format!("{name} ({})", input.run.id),
    };
    Document::new(format!("Performance brief: {name}"))
}

pub fn brief(input: &Brief) -> Document {
    let mut document = titled(input);
    data_sheet::head(&mut document, input);
    data_sheet::drawn(&mut document, input);
    results::append(&mut document, input);
    environment::notes(&mut document, &input.run.results);
    environment::append(&mut document, input.run);
    history::append(&mut document, input);
    document
}
