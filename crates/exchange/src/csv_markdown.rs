//! Results as a table: CSV for spreadsheets and data frames, Markdown for people.

use crate::exportable::flags;
use gritstone_document::{Untrusted, unit_text};
use gritstone_model::{Flag, Measurement, Note, RunView, Subject};
use gritstone_report::findings::message;
use std::fmt::Write as _;

const COLUMNS: [&str; 17] = [
    "benchmark",
    "title",
    "version",
    "outcome",
    "unit",
    "better",
    "estimate",
    "low",
    "high",
    "confidence",
    "cycles_per_operation",
    "ghz",
    "launches",
    "samples",
    "published_real_s",
    "flags",
    "notes",
];

/// One line per result, RFC 4180, with a header. Numbers have all digits; missing values are empty.
pub fn csv(view: &RunView) -> String {
    let rows = view.results.iter().map(record);
    separated([COLUMNS.map(str::to_owned)].into_iter().chain(rows))
}

/// Rows of one length as CSV.
pub(crate) fn separated<R: AsRef<[String]>>(rows: impl Iterator<Item = R>) -> String {
    let mut writer = csv::Writer::from_writer(vec![]);
    for row in rows {
        let written = writer.write_record(row.as_ref());
        written.expect("writing to memory does not fail, and all rows are as long");
    }
    let bytes = writer.into_inner();
    let bytes = bytes.expect("writing to memory does not fail");
    String::from_utf8(bytes).expect("text was written")
}

fn record(result: &Measurement) -> [String; 17] {
    let number = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
    let whys = result.notes.iter().map(|note| {
        let about = match note.about {
            Subject::Result => String::new(),
            about => format!("{}: ", about.as_str()),
        };
        format!("{}: {about}{}", code(note), message(note))
    });
    let whys: Vec<String> = whys.collect();
    let better = format!("{:?}", result.better).to_lowercase();
    [
        result.id.to_string(),
        Untrusted(&result.title).csv(),
        result.version.to_string(),
        result.outcome().as_str().to_owned(),
        Untrusted(&unit_text(result.unit.as_str())).csv(),
        better,
        number(result.value()),
        number(result.interval().map(|[low, _]| low)),
        number(result.interval().map(|[_, high]| high)),
        number(result.confidence()),
        number(result.cycles().map(|cycles| cycles.value)),
        number(result.ghz()),
        result.launches().to_string(),
        result.samples().to_string(),
        number((result.published.as_ref()).and_then(|p| Some(p.real?.value))),
        flags(result),
        Untrusted(&whys.join(" ")).csv(),
    ]
}

/// A Markdown table with the notes below it.
pub fn markdown(view: &RunView) -> String {
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
                code(note),
                Untrusted(&message(note)).markdown()
            );
        }
    }
    if !below.is_empty() {
        text.push('\n');
    }
    text + &below
}

/// The flag that a note raises, if any.
fn code(note: &Note) -> &'static str {
    note.flag().map_or("note", Flag::as_str)
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
