//! Benchmarks without a result, or without a ratio, by reason.

use crate::{findings, words};
use gritstone_document::number;
use gritstone_model::{CompareRow, Finding, Flag, Measurement, Note, RunView, Status, grouped};
use std::cmp::Reverse;

/// Names of benchmarks in a line.
const NAMES: usize = 3;
/// Reasons of a list.
const LINES: usize = 8;

/// A benchmark, its kind of reason, such as "invalid", and its note.
type Absent<'a> = (&'a str, &'static str, Option<&'a Note>);

/// Benchmarks with the same reason.
struct Group<'a> {
    what: &'static str,
    why: String,
    /// The others have other numbers in it.
    is_example: bool,
    benchmarks: Vec<&'a str>,
}

/// Results without a value: a line for each reason.
pub(crate) fn results(view: &RunView) -> Vec<String> {
    let results = view.results.iter().filter(|result| is_absent(result) && !result.is_unreached());
    lines(results.map(|result| {
        let invalid = || flagged(&result.notes, Flag::Invalid);
        let why = flagged(&result.notes, Flag::Skipped).or_else(invalid);
        (result.id.as_str(), findings::outcome(result.outcome()), why)
    }))
}

/// Whether a result should have a value, and has none.
pub(crate) fn is_absent(result: &Measurement) -> bool {
    result.value().is_none() && result.outcome() != Status::Published
}

/// Benchmarks that are not compared: a line for each reason.
pub(crate) fn comparisons(rows: &[CompareRow]) -> Vec<String> {
    lines(rows.iter().filter(|row| row.ratio.is_none()).map(|row| {
        let (what, why) = reason(row);
        (row.id.as_str(), what, why)
    }))
}

/// The number of benchmarks for each kind of reason: `16 invalid`.
pub(crate) fn count_absent(rows: &[CompareRow]) -> Vec<(usize, &'static str)> {
    let absent = rows.iter().filter(|row| row.ratio.is_none());
    let kinds = grouped(absent.map(|row| (reason(row).0, row)));
    kinds.into_iter().map(|(what, rows)| (rows.len(), what)).collect()
}

/// Why a benchmark has no ratio, in a word and by its note.
pub(crate) fn reason(row: &CompareRow) -> (&'static str, Option<&Note>) {
    let lacking = |note: &&Note| matches!(note.finding, Finding::NoCounterpart { .. });
    if let Some(note) = row.notes.iter().find(lacking) {
        return ("without a counterpart", Some(note));
    }
    let reasons = [
        (Flag::Invalid, "invalid"),
        (Flag::Skipped, "without a result"),
        (Flag::NotComparable, "not comparable"),
    ];
    let mut noted =
        reasons.into_iter().filter_map(|(flag, what)| Some((what, flagged(&row.notes, flag)?)));
    noted.next().map_or(("without a ratio", None), |(what, note)| (what, Some(note)))
}

fn flagged(notes: &[Note], flag: Flag) -> Option<&Note> {
    notes.iter().find(|note| note.flag() == Some(flag))
}

fn lines<'a>(absent: impl Iterator<Item = Absent<'a>>) -> Vec<String> {
    let mut groups: Vec<Group> = vec![];
    for (benchmark, what, why) in absent {
        let why = why.map_or_else(String::new, findings::message);
        let alike = |group: &&mut Group| {
            group.what == what && without_numbers(&group.why) == without_numbers(&why)
        };
        match groups.iter_mut().find(alike) {
            Some(group) => {
                group.is_example |= group.why != why;
                group.benchmarks.push(benchmark);
            }
            None => {
                groups.push(Group { what, why, is_example: false, benchmarks: vec![benchmark] });
            }
        }
    }
    groups.sort_by_key(|group| Reverse(group.benchmarks.len()));
    let rest = groups.len().saturating_sub(LINES);
    let lines = groups.iter().take(LINES).map(Group::line);
    let more = (rest > 0).then(|| format!("and {} more", words::plural(rest, "reason")));
    lines.chain(more).collect()
}

/// The same reason may have other numbers for each benchmark.
fn without_numbers(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit() && !matches!(c, '.' | ',')).collect()
}

impl Group<'_> {
    fn line(&self) -> String {
        let names = words::join_some(&self.benchmarks, NAMES);
        let why = match (self.why.as_str(), self.is_example) {
            ("", _) => String::new(),
            (why, true) => format!("; for example, {why}"),
            (why, false) => format!(": {why}"),
        };
        format!("{} {} ({names}){why}", number::count(self.benchmarks.len()), self.what)
    }
}
