//! The figures of a run that may be handed to programs that know no notes, and what is held back from them.

use gritstone_model::{Flag, Id, Measurement, Quantity, RunView, escape_json};
use gritstone_report::findings;

/// A text in some format, and what it leaves out.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    pub text: String,
    /// Rows without a figure in it, and why.
    pub left_out: Vec<(Id, String)>,
}

impl Exported {
    pub(crate) fn json(value: &serde_json::Value, left_out: Vec<(Id, String)>) -> Self {
        let text = escape_json(format!("{value:#}\n"));
        Self { text, left_out }
    }
}

/// A figure that may be handed on.
pub(crate) struct Figure<'a> {
    pub result: &'a Measurement,
    pub estimate: f64,
}

/// The figures, and what is left out with the reason: no figure at all, or one that is invalid.
pub(crate) fn figures(view: &RunView) -> (Vec<Figure<'_>>, Vec<(Id, String)>) {
    let mut figures = vec![];
    let mut left_out = vec![];
    for result in &view.results {
        let mut notes = result.notes_on_result();
        let invalid = notes.find(|note| note.flag() == Some(Flag::Invalid));
        if let (Some(estimate), None) = (result.value(), invalid) {
            figures.push(Figure { result, estimate });
            continue;
        }
        let why = invalid.or(result.notes.first()).map(findings::message);
        let outcome = || findings::outcome(result.outcome()).to_owned();
        left_out.push((result.id.clone(), why.unwrap_or_else(outcome)));
    }
    (figures, left_out)
}

/// The notes on the result as a whole, in sentences.
pub(crate) fn messages(result: &Measurement) -> Vec<String> {
    result.notes_on_result().map(findings::message).collect()
}

/// The flags of the estimate, each once: `noisy;interference`.
pub(crate) fn flags(result: &Measurement) -> String {
    let notes: Vec<_> = result.notes_on_result().cloned().collect();
    let words = gritstone_model::flags(&notes).into_iter().map(Flag::as_str);
    words.collect::<Vec<_>>().join(";")
}

/// A figure in the plain unit of its quantity: nanoseconds, things a second, bytes or a ratio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Plain {
    Ns,
    PerSecond,
    Exact,
}

impl Figure<'_> {
    /// What it counts, and by how much its numbers are multiplied to be in the plain unit.
    pub fn plain(&self) -> (Plain, f64) {
        match self.result.unit.quantity() {
            Quantity::Time { ns } => (Plain::Ns, ns),
            Quantity::Rate { plain } => (Plain::PerSecond, plain),
            Quantity::Share | Quantity::Exact => (Plain::Exact, 1.0),
        }
    }

    /// A value of this figure as the nanoseconds that an operation takes that does `amount` of what the unit counts; `None` where
    /// it is no time and no rate, or not above 0.
    pub fn ns_per_operation(&self, value: f64, amount: f64) -> Option<f64> {
        let (plain, factor) = self.plain();
        let ns = match plain {
            Plain::Ns => value * factor * amount,
            Plain::PerSecond => amount / (value * factor) * 1e9,
            Plain::Exact => return None,
        };
        (ns.is_finite() && ns > 0.0).then_some(ns)
    }

    /// What one of the unit is: `call` of `ns/call`, `B` of `MB/s`; empty where the unit does not say.
    pub fn thing(&self) -> &str {
        let unit = self.result.unit.as_str();
        match self.result.unit.quantity() {
            Quantity::Time { .. } => unit.split_once('/').map_or("", |(_, thing)| thing),
            Quantity::Rate { .. } => match unit.trim_end_matches("/s") {
                "KB" | "MB" | "GB" => "B",
                thing => thing,
            },
            Quantity::Share | Quantity::Exact => "",
        }
    }
}
