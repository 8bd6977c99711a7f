//! CSV (RFC 4180): a header, and a line per result. Numbers have all digits; missing values are empty.

use crate::exportable::{Exported, flag_or_note, flags};
use gritstone_document::{clean, unit_text};
use gritstone_model::{Measurement, RunData, RunView, Subject};
use gritstone_report::findings::message;

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

pub(super) fn write(_: &RunData, view: &RunView) -> Exported {
    let rows = view.results.iter().map(record);
    Exported::whole(separated([COLUMNS.map(str::to_owned)].into_iter().chain(rows)))
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

/// Foreign text, of which spreadsheets compute no formula. Quotes and commas are left to the writer.
pub(crate) fn cell(text: &str) -> String {
    let text = clean(text);
    let computes = text.trim_start().starts_with(['=', '+', '-', '@']);
    match computes && text.parse::<f64>().is_err() {
        true => format!("'{text}"),
        false => text.into_owned(),
    }
}

fn record(result: &Measurement) -> [String; 17] {
    let number = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
    let whys = result.notes.iter().map(|note| {
        let about = match note.about {
            Subject::Result => String::new(),
            about => format!("{}: ", about.as_str()),
        };
        format!("{}: {about}{}", flag_or_note(note), message(note))
    });
    let whys: Vec<String> = whys.collect();
    let better = format!("{:?}", result.better).to_lowercase();
    [
        result.id.to_string(),
        cell(&result.title),
        result.version.to_string(),
        result.outcome().as_str().to_owned(),
        cell(&unit_text(result.unit.as_str())),
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
        cell(&whys.join(" ")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_compute_no_formula() {
        for formula in ["=a", "+A1", "-1+A1", "@SUM(1)", " =1", "\t=1", "\r@a"] {
            assert!(cell(formula).starts_with('\''), "{formula}");
        }
        for text in ["a=b", "-1.5", ""] {
            assert_eq!(cell(text), text);
        }
    }
}
