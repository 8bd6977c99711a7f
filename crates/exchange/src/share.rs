//! The summary of a run for an issue or a chat, in Markdown. Its input is anonymous already.

use crate::export::markdown::significant;
use crate::exportable::flags;
use gritstone_document::{Untrusted, unit_text};
use gritstone_model::{Measurement, RunView};
use std::fmt::Write as _;

/// Most rows of the table; the file has all.
const MAX_ROWS: usize = 60;

/// The system, a table of results, and the number of results that are only in the file.
pub fn share_markdown(view: &RunView, file: &str) -> String {
    let safe = |text: &str| Untrusted(text).markdown();
    let machine = &view.machine;
    let mut text = format!("### {}\n\n{}", safe(&machine.name), safe(&machine.system));
    if !machine.configuration.is_empty() {
        let _ = write!(text, "; {}", safe(&machine.configuration));
    }
    let version = view.gritstone.as_deref().unwrap_or("?");
    let _ = writeln!(
        text,
        ". Measured by gritstone {} on {}.",
        safe(version),
        safe(view.started.split('T').next().unwrap_or_default())
    );
    let measured: Vec<&Measurement> =
        view.results.iter().filter(|result| result.value().is_some()).collect();
    if !measured.is_empty() {
        text +=
            "\n| benchmark | what | result | 95% CI | flags |\n| --- | --- | ---: | --- | --- |\n";
    }
    for result in measured.iter().take(MAX_ROWS) {
        let value = result.value().map_or(String::new(), significant);
        let interval = result.interval().map_or(String::new(), |[low, high]| {
            format!("{} – {}", significant(low), significant(high))
        });
        let _ = writeln!(
            text,
            "| {} | {} | {value} {} | {interval} | {} |",
            safe(result.id.as_str()),
            safe(&result.title),
            safe(&unit_text(result.unit.as_str())),
            safe(&flags(result))
        );
    }
    let more = measured.len().saturating_sub(MAX_ROWS);
    let without = view.results.len() - measured.len();
    let counted = [(more, "more"), (without, "without a result")];
    let counted = counted.iter().filter(|(count, _)| *count > 0);
    let counted: Vec<String> = counted.map(|(count, what)| format!("{count} {what}")).collect();
    let beside = match counted.is_empty() {
        true => String::new(),
        false => format!("{}; ", counted.join(", ")),
    };
    let _ = writeln!(text, "\n{beside}everything with its notes is in {}.", safe(file));
    text
}
