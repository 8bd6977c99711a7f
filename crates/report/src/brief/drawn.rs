//! The figures of a family: its rows relative to what the brief is held against, its distributions, what its copies do
//! together, and what it takes between pairs of CPUs.

use super::{Across, Brief, grouped};
use crate::document::{Block, Document};
use crate::pairs::Pairs;
use crate::svg::Canvas;
use crate::svg::bars::{Bar, Bars, Group};
use crate::svg::plot::{Line, Plot, Point};
use crate::{number, words};
use gritstone_model::{CompareRow, Estimate, Measurement, Statistics};

/// A range this wide is only legible on a logarithmic axis.
const LOG_FROM: f64 = 30.0;
/// A bar by itself says no more than its row in a table; and as many rows have room on a page.
const BARS: std::ops::RangeInclusive<usize> = 2..=32;
/// Fewer percentiles are no curve.
const LEAST_SHARES: usize = 3;
/// More lines cannot be told apart; the next are a figure of their own.
const MOST_LINES: usize = 6;
/// Rows of a family whose copies are drawn.
const COPIES: usize = 6;

/// Adds a drawing.
fn figure(document: &mut Document, canvas: Canvas, caption: String, alternative: String) {
    let id = next_figure(document);
    document.push(Block::Figure(canvas.figure(&id, caption, alternative)));
}

/// For identifiers in the next drawing.
fn next_figure(document: &Document) -> String {
    let is_figure = |block: &&Block| matches!(block, Block::Figure(_));
    format!(
        "figure-{}",
        document.blocks.iter().filter(is_figure).count() + 1
    )
}

/// Adds a figure of lines, each of which is also said in words.
pub(super) fn lines(
    document: &mut Document,
    mut plot: Plot,
    mut caption: String,
    said: impl Fn(&Line) -> String,
) {
    let points = || plot.lines.iter().flat_map(|line| &line.points);
    let log_x = plot.x_names.is_empty() && wide(points().map(|p| p.x), LOG_FROM);
    let log_y = wide(points().filter_map(|p| p.y), LOG_FROM);
    plot.log_x |= log_x;
    plot.log_y |= log_y;
    if plot.log_y {
        caption.push_str(" (logarithmic scale)");
    }
    let said = |line: &Line| format!("{}: {}.", line.name, said(line));
    let alternative: Vec<String> = plot.lines.iter().map(said).collect();
    figure(document, plot.draw(), caption, alternative.join(" "));
}

/// Whether values above 0 are at least this far from each other.
pub(super) fn wide(values: impl Iterator<Item = f64>, factor: f64) -> bool {
    let ends = values.fold(None, |ends: Option<(f64, f64)>, x| {
        let (low, high) = ends.unwrap_or((x, x));
        Some((low.min(x), high.max(x)))
    });
    ends.is_some_and(|(low, high)| low > 0.0 && high / low >= factor)
}

/// "from 4.3 s at 1 to 13.8 s at 6". The table has what lies between.
pub(super) fn ends(line: &Line, unit: &str) -> String {
    let said = |p: &Point| {
        let (x, y) = (number::printed(p.x, 0), number::at_most(p.y?, unit, 4));
        Some(format!("{y} at {x}"))
    };
    let first = line.points.iter().find_map(said).unwrap_or_default();
    match line.points.iter().rev().find_map(said) {
        Some(last) if last != first => format!("from {first} to {last}"),
        _ => first,
    }
}

/// "half within 52 µs, 99 % within 80 µs": what is said of each point.
pub(super) fn each(line: &Line, said: impl Fn(f64, f64) -> String) -> String {
    let said = |p: &Point| Some(said(p.x, p.y?));
    let all: Vec<String> = line.points.iter().filter_map(said).collect();
    all.join(", ")
}

pub(super) fn point(x: f64, of: Option<Estimate>) -> Point {
    Point {
        x,
        y: of.map(|of| of.value),
        interval: of.and_then(|of| of.interval),
    }
}

/// The rows of a family relative to what the brief is held against, with their intervals, one bar a machine; nothing where
/// too few rows have a ratio. Rows whose work is in doubt have none.
pub(super) fn bars(document: &mut Document, input: &Brief, rows: &[Across]) {
    let Some(base) = input.against.first().map(|view| view.base_name.as_str()) else {
        return;
    };
    let bar = |row: &CompareRow| {
        let ratio = row.ratio.filter(|r| r.is_finite() && *r > 0.0)?;
        (!row.in_doubt()).then(|| Bar {
            ratio,
            interval: row.interval,
            text: words::bare_ratio(ratio, row.interval).0,
        })
    };
    let group = |row: &Across| {
        let compared = |at: usize| {
            let rows = &input.against.get(at)?.rows;
            rows.iter().find(|compared| compared.id == *row.id)
        };
        let bars = (0..input.runs.len()).map(|at| bar(compared(at)?));
        let bars: Vec<Option<Bar>> = bars.collect();
        bars.iter().any(Option::is_some).then(|| Group {
            name: row.any.title.clone(),
            bars,
        })
    };
    let groups: Vec<Group> = rows.iter().filter_map(group).collect();
    if groups.len() < *BARS.start() {
        return;
    }
    let size = groups.len().div_ceil(groups.len().div_ceil(*BARS.end()));
    // "System call: 1,690. Pipe: 512." With several machines each bar is named.
    let said = |group: &Group| {
        let bars = group.bars.iter().enumerate();
        let bars = bars.filter_map(|(at, bar)| Some(input.of(at, " ", &bar.as_ref()?.text)));
        format!("{}: {}.", group.name, bars.collect::<Vec<_>>().join(", "))
    };
    for (part, groups) in groups.chunks(size).enumerate() {
        let continued = if part > 0 { ", continued" } else { "" };
        let caption = format!(
            "Relative to {base}{continued}: to the right of 1 is better; the thin line is the interval"
        );
        let said: Vec<String> = groups.iter().map(said).collect();
        let bars = Bars {
            x_label: format!("Ratio to {base}"),
            names: input.names(),
            groups: groups.to_vec(),
        };
        figure(document, bars.draw(), caption, said.join(" "));
    }
}

/// Distributions: how long the slowest of many events take, one line a row and machine, over the share of events; a figure for
/// each unit, nothing where no row has a distribution.
pub(super) fn spread(document: &mut Document, input: &Brief, rows: &[&Across]) {
    let results = rows.iter().flat_map(|row| row.results.iter().enumerate());
    let drawn = results.filter_map(|(at, result)| {
        let result = (*result)?;
        let line = Line {
            name: input.behind(at, &result.title),
            strong: true,
            loose: false,
            points: shares(result.statistics.as_ref()?)?,
        };
        Some((result.unit.to_string(), line))
    });
    for (unit, all) in grouped(drawn) {
        for some in all.chunks(MOST_LINES) {
            let mut xs: Vec<f64> = some.iter().flat_map(|l| &l.points).map(|p| p.x).collect();
            xs.sort_by(f64::total_cmp);
            xs.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
            let plot = Plot {
                x_label: "Share of events".to_owned(),
                y_label: "Time at most".to_owned(),
                y_unit: unit.clone(),
                x_names: xs.into_iter().map(|x| (x, share_name(x))).collect(),
                lines: some.to_vec(),
                ..Plot::default()
            };
            let caption = "Events that took at most this long, by their share".to_owned();
            lines(document, plot, caption, |line| {
                each(line, |x, y| {
                    format!("{} within {}", share_name(x), number::at_most(y, &unit, 4))
                })
            });
        }
    }
}

/// The percentiles from the median on. Each further nine of the share takes as much room as the one before.
fn shares(statistics: &Statistics) -> Option<Vec<Point>> {
    let mut shares = percentiles_from(50.0, statistics);
    if shares.first()?.0 > 50.0 {
        shares.insert(0, (50.0, statistics.median));
    }
    let point = |(percent, value): (f64, f64)| {
        let place = -(1.0 - percent / 100.0).log10();
        point(place, Some(Estimate::exact(value)))
    };
    (shares.len() >= LEAST_SHARES).then(|| shares.into_iter().map(point).collect())
}

/// The percentiles from this share of the events on and below all of them, in their order; percent.
pub(super) fn percentiles_from(least: f64, statistics: &Statistics) -> Vec<(f64, f64)> {
    let named = statistics.percentiles.iter();
    let mut shares: Vec<(f64, f64)> = named
        .filter_map(|(name, value)| Some((Statistics::percent(name)?, *value)))
        .filter(|(share, _)| (least..100.0).contains(share))
        .collect();
    shares.sort_by(|a, b| a.0.total_cmp(&b.0));
    shares
}

fn share_name(place: f64) -> String {
    let share = 1.0 - 10f64.powf(-place);
    number::at_most(share * 100.0, "%", 7)
}

/// What copies do together against their number: the measured points and, where it could be fitted, the scalability law
/// through them with its interval, one figure a row. The table of all rows stands with the details of the family. Of many rows
/// those are drawn whose copies are least efficient: of the others a figure would show a straight line.
pub(super) fn copies(document: &mut Document, input: &Brief, rows: &[Across]) {
    let efficiency = |row: &&Across| {
        let last = |result: &&Measurement| {
            let points = result.copies.iter().flat_map(|copies| &copies.points);
            let several = points.filter(|point| point.copies > 1 && point.total.is_some());
            let mut known = several.filter_map(|point| Some(point.efficiency?.value));
            known.next_back()
        };
        let results = row.results.iter().flatten();
        results.filter_map(last).min_by(f64::total_cmp)
    };
    let known = rows.iter().filter_map(|row| Some((efficiency(&row)?, row)));
    let mut curves: Vec<(f64, &Across)> = known.collect();
    curves.sort_by(|a, b| a.0.total_cmp(&b.0));
    if curves.len() > COPIES {
        document.paragraph(format!(
            "Of {} rows that were measured as copies, the {COPIES} are drawn whose copies are least efficient.",
            number::count(curves.len())
        ));
        curves.truncate(COPIES);
    }
    for (_, row) in curves {
        let of = row.results.iter().enumerate();
        let all: Vec<Line> = of
            .filter_map(|(at, result)| Some(measured(&input.name(at), (*result)?)))
            .flatten()
            .collect();
        let law = match all.iter().any(|line| line.loose) {
            true => ", with the scalability law and its interval",
            false => "",
        };
        let caption = format!(
            "{} ({}): all copies together against their number{law}",
            row.any.title, row.id
        );
        let unit = row.any.unit.to_string();
        let plot = Plot {
            x_label: "Copies".to_owned(),
            y_label: "Together".to_owned(),
            y_unit: unit.clone(),
            lines: all,
            ..Plot::default()
        };
        lines(document, plot, caption, |line| ends(line, &unit));
    }
}

/// The points that were measured of a row, and the law through them.
fn measured(name: &str, result: &Measurement) -> Vec<Line> {
    let copies = result.copies.iter();
    let points = copies.clone().flat_map(|copies| &copies.points);
    let law = copies.flat_map(|copies| &copies.law);
    let law = law.flat_map(|law| &law.curve);
    let law: Vec<Point> = law.map(|of| point(of.x, of.estimate)).collect();
    let measured = Line {
        name: name.to_owned(),
        strong: true,
        loose: !law.is_empty(),
        points: points
            .map(|of| point(f64::from(of.copies), of.total))
            .collect(),
    };
    let law = Line {
        name: format!("{name}, by the law"),
        points: law,
        ..Line::default()
    };
    let lines = [measured, law].into_iter();
    lines.filter(|line| !line.points.is_empty()).collect()
}

/// What rows say of each pair of CPUs, a figure a machine.
pub(super) fn matrices(document: &mut Document, input: &Brief, rows: &[Across]) {
    for row in rows {
        for (at, result) in row.results.iter().enumerate() {
            if let Some(pairs) = result.and_then(Pairs::of) {
                let id = next_figure(document);
                let whose = input.of(at, ", ", "");
                document.push(Block::Figure(pairs.figure(&id, &whose)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_is_drawn_from_its_median_on_and_its_shares_have_their_names() {
        let names = ["p10", "p99", "p90", "p99.9", "p100", "other"];
        let statistics = Statistics {
            median: 5.0,
            percentiles: names.map(|name| (name.to_owned(), 7.0)).into(),
            ..Statistics::default()
        };
        let points = shares(&statistics).unwrap();
        let names: Vec<String> = points.iter().map(|p| share_name(p.x)).collect();
        assert_eq!(names, ["50 %", "90 %", "99 %", "99.9 %"]);
        assert_eq!([points[0].y, points[1].y], [Some(5.0), Some(7.0)]);
    }
}
