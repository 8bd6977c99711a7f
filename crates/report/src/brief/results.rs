//! The results by category, one line each.

use super::{Brief, details};
use crate::columns::{self, Col};
use crate::findings;
use gritstone_document::{About, Block, Document, ResultLine, Text};
use gritstone_document::{number, svg::launches};
use gritstone_model::{Id, Measurement, RunView};

/// The areas of hp-1987, in its order, with their families. No other place names families. Other families, such as those of a custom
/// catalog, come last, in an area of their own.
const AREAS: [(&str, &[&str]); 8] = [
    ("Multi-user work and applications", &["multiuser", "app", "db"]),
    ("Processor", &["cpu"]),
    (
        "UNIX system",
        &["byte", "iocall", "kernel", "unix", "aim", "ipc", "event", "thread", "sched"],
    ),
    ("Memory and paging", &["memory", "vm"]),
    ("Real time", &["rt", "daq"]),
    ("File system and disk", &["fs", "file", "disk"]),
    ("Network", &["net", "netrt"]),
    ("Other benchmarks", &[]),
];

/// Index of a family's area, and its index there.
fn place(family: &str) -> (usize, usize) {
    let mut areas = AREAS.iter().enumerate();
    let known = areas.find_map(|(area, (_, families))| {
        let place = families.iter().position(|name| *name == family)?;
        Some((area, place))
    });
    known.unwrap_or((AREAS.len() - 1, 0))
}

/// Results by area and family.
pub(super) fn in_order(results: &[Measurement]) -> Vec<&Measurement> {
    let mut results: Vec<&Measurement> = results.iter().collect();
    results.sort_by_key(|result| place(result.id.family()));
    results
}

pub(super) fn append(document: &mut Document, input: &Brief) {
    let area = |result: &&Measurement| place(result.id.family()).0;
    for results in in_order(&input.run.results).chunk_by(|a, b| area(a) == area(b)) {
        document.heading(1, AREAS[area(&results[0])].0);
        let lines = results.iter().map(|result| line(input, result));
        document.push(Block::Results(lines.collect()));
    }
    if input.run.results.is_empty() {
        document.paragraph("Nothing was measured.");
    }
}

fn line(input: &Brief, result: &Measurement) -> ResultLine {
    let all = [result];
    let shown = |col: Col| match col.cell(result, &all) {
        cell if cell.is_missing() => String::new(),
        cell => cell.text,
    };
    let precision = columns::precision(result);
    let whisker = result.value().zip(result.interval());
    ResultLine {
        id: result.id.to_string(),
        title: shown(Col::Title),
        value: shown(Col::Figure),
        unit: shown(Col::Unit),
        interval: shown(Col::Interval),
        half_width: precision.map_or(String::new(), |p| format!("±{}", number::percent(p))),
        flags: (result.flags_of_estimate().into_iter()).map(findings::flag_style).collect(),
        whisker: whisker.map_or(String::new(), |(value, ends)| launches::whisker(value, ends)),
        sparkline: launches::sparkline(result.values()),
        precision,
        details: details::blocks(input, result),
        link: Some(link(input.run, &result.id)),
    }
}

/// Sides of a trial have no history.
fn link(run: &RunView, id: &Id) -> Text {
    match run.is_side() {
        true => Text::new(format!("Trial of {id}")).about(Some(About::Trial(run.id.clone()))),
        false => {
            let history = Text::new(format!("History of {id}"));
            history.about(Some(About::Benchmark(id.to_string())))
        }
    }
}
