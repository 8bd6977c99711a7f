//! A Markdown table with the notes below it, for people.

use crate::exportable::{Exported, flag_or_note, flags};
use gritstone_document::{Untrusted, unit_text};
use gritstone_model::{RunData, RunView};
use gritstone_report::findings::message;
use std::fmt::Write as _;

pub(super) fn write(_: &RunData, view: &RunView) -> Exported {
    let mut text = format!(
        "**{}**, {}, {}\n\n| benchmark | what | result | 95% CI | unit | flags |\n| --- | --- | ---: | --- | --- | --- |\n",
        Untrusted(&view.machine.name).markdown(),
        Untrusted(&view.machine.system).markdown(),
        Untrusted(&view.started).markdown()
    );
    let mut below = String::new();
    for result in &view.results {
        let figure = result.value().map_or(String::new(), significant);
        let interval = match result.interval() {
            Some([low, high]) => format!("{} to {}", significant(low), significant(high)),
            None => String::new(),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {figure} | {interval} | {} | {} |",
            Untrusted(result.id.as_str()).markdown(),
            Untrusted(&result.title).markdown(),
            Untrusted(&unit_text(result.unit.as_str())).markdown(),
            Untrusted(&flags(result)).markdown()
        );
        for note in &result.notes {
            let _ = writeln!(
                below,
                "- {}: {}: {}",
                Untrusted(result.id.as_str()).markdown(),
                flag_or_note(note),
                Untrusted(&message(note)).markdown()
            );
        }
    }
    if !below.is_empty() {
        text.push('\n');
    }
    Exported::whole(text + &below)
}

/// Four significant digits, which suffice for an interval of a percent.
pub(crate) fn significant(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let before = x.abs().log10().floor() as i32;
    let after = usize::try_from(3 - before).unwrap_or(0);
    format!("{x:.after$}")
}
