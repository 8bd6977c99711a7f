//! Options of forms.

use gritstone_document::html::Choice;
use gritstone_store::RunHead;

/// A selection of labeled values, or of none, which has a label too.
pub(super) fn choice(
    name: &'static str,
    label: &'static str,
    nothing: &str,
    values: impl IntoIterator<Item = (String, String)>,
    chosen: &str,
) -> Choice {
    let nothing = (String::new(), nothing.to_owned());
    Choice {
        name,
        label,
        options: [nothing].into_iter().chain(values).collect(),
        chosen: chosen.to_owned(),
    }
}

/// A run as an option.
pub(super) fn option(run: RunHead) -> (String, String) {
    let label = run.label.map_or_else(String::new, |label| format!(", {label}"));
    (run.id, format!("{}{label}", gritstone_report::minute(&run.started)))
}
