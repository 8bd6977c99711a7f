//! What export formats share: the valid results, in base units, with the reason for each that is left out.

use gritstone_model::{Flag, Id, Measurement, Note, Quantity, RunView, escape_json};
use gritstone_report::findings;

/// Output in some format, and the benchmarks that it leaves out.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    pub text: String,
    /// Benchmarks that it leaves out, with the reason.
    pub left_out: Vec<(Id, String)>,
}

impl Exported {
    pub(crate) fn whole(text: String) -> Self {
        Self { text, left_out: vec![] }
    }

    pub(crate) fn json(value: &serde_json::Value, left_out: Vec<(Id, String)>) -> Self {
        let text = escape_json(format!("{value:#}\n"));
        Self { text, left_out }
    }
}

/// A valid result.
pub(crate) struct ExportedResult<'a> {
    pub result: &'a Measurement,
    pub estimate: f64,
}

/// The valid results, and the reason for each one that is missing or invalid.
pub(crate) fn valid_results(view: &RunView) -> (Vec<ExportedResult<'_>>, Vec<(Id, String)>) {
    let mut results = vec![];
    let mut left_out = vec![];
    for result in &view.results {
        let mut notes = result.notes_on_result();
        let invalid = notes.find(|note| note.flag() == Some(Flag::Invalid));
        if let (Some(estimate), None) = (result.value(), invalid) {
            results.push(ExportedResult { result, estimate });
            continue;
        }
        let why = invalid.or(result.notes.first()).map(findings::message);
        let outcome = || findings::outcome(result.outcome()).to_owned();
        left_out.push((result.id.clone(), why.unwrap_or_else(outcome)));
    }
    (results, left_out)
}

/// Notes on the whole result, as messages.
pub(crate) fn messages(result: &Measurement) -> Vec<String> {
    result.notes_on_result().map(findings::message).collect()
}

/// Flags of the estimate, each once.
pub(crate) fn flag_words(result: &Measurement) -> Vec<&'static str> {
    let notes: Vec<_> = result.notes_on_result().cloned().collect();
    gritstone_model::flags(&notes).into_iter().map(Flag::as_str).collect()
}

/// Flags of the estimate, joined: `noisy;interference`.
pub(crate) fn flags(result: &Measurement) -> String {
    flag_words(result).join(";")
}

/// The flag that a note raises, if any.
pub(crate) fn flag_or_note(note: &Note) -> &'static str {
    note.flag().map_or("note", Flag::as_str)
}

/// The identifier; of a custom benchmark with a mark, for formats without a field for flags.
pub(crate) fn marked_id(result: &Measurement) -> String {
    let mark = if result.is_flagged(Flag::Custom) { " (not of Gritstone)" } else { "" };
    format!("{}{mark}", result.id)
}

/// A base unit: nanoseconds, operations per second, bytes or a ratio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BaseUnit {
    Ns,
    PerSecond,
    Exact,
}

impl ExportedResult<'_> {
    /// Base unit of the result, and the factor that converts to it.
    pub fn base_unit(&self) -> (BaseUnit, f64) {
        match self.result.unit.quantity() {
            Quantity::Time { ns } => (BaseUnit::Ns, ns),
            Quantity::Rate { plain } => (BaseUnit::PerSecond, plain),
            Quantity::Share | Quantity::Exact => (BaseUnit::Exact, 1.0),
        }
    }

    /// Converts a value to nanoseconds per operation, where an operation is `amount` of what the unit counts; `None` unless it is a
    /// positive time or rate.
    pub fn ns_per_operation(&self, value: f64, amount: f64) -> Option<f64> {
        let (unit, factor) = self.base_unit();
        let ns = match unit {
            BaseUnit::Ns => value * factor * amount,
            BaseUnit::PerSecond => amount / (value * factor) * 1e9,
            BaseUnit::Exact => return None,
        };
        (ns.is_finite() && ns > 0.0).then_some(ns)
    }

    /// What the base unit counts: `call` of `ns/call`, `B` of `MB/s`, `flop` of `GFLOPS`; empty if unknown.
    pub fn thing(&self) -> &str {
        let unit = self.result.unit.as_str();
        match self.result.unit.quantity() {
            Quantity::Time { .. } => unit.split_once('/').map_or("", |(_, thing)| thing),
            Quantity::Rate { .. } => match unit.split_once('/').map_or(unit, |(thing, _)| thing) {
                "KB" | "MB" | "GB" => "B",
                "KWIPS" | "MWIPS" => "instruction",
                "KFLOPS" | "MFLOPS" | "GFLOPS" => "flop",
                "VAX MIPS" => "dhrystone",
                thing => thing,
            },
            Quantity::Share | Quantity::Exact => "",
        }
    }
}
