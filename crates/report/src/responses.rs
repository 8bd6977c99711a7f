//! Response times of users: a table by kind of transaction, percentiles by the number of users as a drawing, and the supported number of
//! users.

use crate::brief::curves;
use crate::table::Columns;
use crate::{findings, words};
use gritstone_document::number;
use gritstone_document::svg::plot::{Line, Plot, Point};
use gritstone_document::{Document, Style, Tile};
use gritstone_model::{Finding, Measurement, Percentile, Responses, RunView, SeriesPoint};

/// Percentiles that are shown.
const RESPONSE_PERCENTILES: [&str; 3] = ["p50", "p95", "p99"];
/// The same for operations timed one by one.
const OPERATION_PERCENTILES: [&str; 4] = ["p50", "p90", "p99", "p99.9"];
const UNIT: &str = "ms";
/// Longest response that feels immediate, ms: for a supported number of users nearly all responses are faster.
const RESPONSE_LIMIT_MS: f64 = 1000.0;

fn named<'a>(percentiles: &'a [Percentile], name: &str) -> Option<&'a Percentile> {
    percentiles.iter().find(|percentile| percentile.name == name)
}

/// One of these percentiles with its unit.
pub(crate) fn percentile_text(percentiles: &[Percentile], name: &str) -> Option<String> {
    shown_in(UNIT, percentiles, name)
}

fn shown_in(unit: &str, percentiles: &[Percentile], name: &str) -> Option<String> {
    let estimate = named(percentiles, name)?.estimate?;
    Some(number::figure(estimate.value, estimate.interval, unit).with_unit())
}

/// A percentile of a point of a curve: of responses, or of operations, which have the unit of the result.
pub(crate) fn point_percentile(point: &SeriesPoint, name: &str, unit: &str) -> Option<String> {
    percentile_text(&point.responses, name).or_else(|| shown_in(unit, &point.percentiles, name))
}

/// A row for each kind of transaction and number of users; nothing without users.
pub(crate) fn table(document: &mut Document, result: &Measurement) {
    let percentile = |name: &'static str| {
        move |responses: &&Responses| percentile_text(&responses.percentiles, name)
    };
    let [p50, p95, p99] = RESPONSE_PERCENTILES;
    Columns::<&Responses>::key("Users", Style::Number, |responses| {
        number::count(responses.users as usize)
    })
    .and_key("Transactions", Style::Text, |responses| {
        responses.kind.clone().unwrap_or_else(|| "all".to_owned())
    })
    .number("Number", |responses| number::count(responses.events as usize))
    .number(p50, percentile(p50))
    .number(p95, percentile(p95))
    .number(p99, percentile(p99))
    .number("Max", |responses| number::at_most(responses.max, UNIT, 3))
    .table(
        document,
        format!("{}: response times", result.id),
        result.responses().iter().collect::<Vec<_>>(),
    );
}

/// Percentiles by the number of users, from a curve or from a result for several numbers.
pub(crate) fn plot(result: &Measurement) -> Option<Plot> {
    let series = result.series().into_iter().flatten();
    let mut points: Vec<(f64, &[Percentile])> =
        series.map(|point| (point.x, point.responses.as_slice())).collect();
    if points.is_empty() {
        let all = result.responses().iter().filter(|responses| responses.kind.is_none());
        points = all
            .map(|responses| (responses.users as f64, responses.percentiles.as_slice()))
            .collect();
    }
    let (mut plot, ends) = plot_of(points, result, "users", &RESPONSE_PERCENTILES)?;
    plot.y_label = "Response time".to_owned();
    plot.y_unit = UNIT.to_owned();
    if supported_users(result).is_some() {
        let point = |x| Point { x, y: Some(RESPONSE_LIMIT_MS), interval: None };
        plot.lines.push(Line {
            name: "1 s".to_owned(),
            points: ends.map(point).into(),
            ..Line::default()
        });
    }
    Some(plot)
}

/// Percentiles by the places that have any, with the first and the last; `None` at fewer than two.
fn plot_of(
    mut points: Vec<(f64, &[Percentile])>,
    result: &Measurement,
    places: &str,
    names: &[&str],
) -> Option<(Plot, [f64; 2])> {
    points.retain(|(_, percentiles)| !percentiles.is_empty());
    let (first, last) = (points.first()?.0, points.last()?.0);
    let plot = Plot {
        x_label: words::capital(result.curve.as_ref().map_or(places, |curve| &curve.label)),
        log_x: first > 0.0 && last / first >= 8.0,
        log_y: true,
        lines: lines(&points, names),
        ..Plot::default()
    };
    (first < last).then_some((plot, [first, last]))
}

/// A line for each percentile that any point has.
fn lines(points: &[(f64, &[Percentile])], names: &[&str]) -> Vec<Line> {
    let point = |(x, percentiles): &(f64, &[Percentile]), name: &str| {
        curves::point(*x, named(percentiles, name).and_then(|percentile| percentile.estimate))
    };
    let line = |name: &&str| Line {
        name: (*name).to_owned(),
        strong: true,
        points: points.iter().map(|of_place| point(of_place, name)).collect(),
        ..Line::default()
    };
    let mut lines: Vec<Line> = names.iter().map(line).collect();
    lines.retain(|line| line.points.iter().any(|point| point.y.is_some()));
    lines
}

/// Percentiles of operations along a curve, if its points have them.
pub(crate) fn percentiles(result: &Measurement) -> Option<Plot> {
    let series = result.series().into_iter().flatten();
    let points = series.map(|point| (point.x, point.percentiles.as_slice()));
    let (plot, _) = plot_of(points.collect(), result, "x", &OPERATION_PERCENTILES)?;
    Some(Plot {
        y_label: "Time of an operation".to_owned(),
        y_unit: result.unit.as_str().to_owned(),
        ..plot
    })
}

/// The same in words, for every point.
pub(crate) fn in_words(plot: &Plot) -> String {
    let sentences = plot.lines.iter().map(|line| {
        let points = line.points.iter().filter_map(|p| {
            let (x, y) = (number::printed(p.x, 0), number::at_most(p.y?, &plot.y_unit, 3));
            Some(format!("{y} at {x}"))
        });
        format!("{}: {}.", line.name, points.collect::<Vec<_>>().join(", "))
    });
    sentences.collect::<Vec<_>>().join(" ")
}

/// Supported number of users of a result: in the launches with the fewest and the most, and the smallest number that is too large.
fn supported_users(result: &Measurement) -> Option<(u64, u64, Option<u64>)> {
    result.notes.iter().find_map(|note| match note.finding {
        Finding::Carried { least, most, too_many } => Some((least, most, too_many)),
        _ => None,
    })
}

/// Supported users of a run's results, in sentences.
pub(crate) fn headlines(run: &RunView) -> Vec<String> {
    let headlines = run.results.iter().filter_map(|result| {
        let (least, most, too_many) = supported_users(result)?;
        Some(format!("{}: {}", result.title, findings::carried(least, most, too_many)))
    });
    headlines.collect()
}

/// The same as tiles.
pub(crate) fn tiles(run: &RunView) -> Vec<Tile> {
    let tiles = run.results.iter().filter_map(|result| {
        let (least, _, too_many) = supported_users(result)?;
        let p95 = result
            .responses()
            .iter()
            .find(|responses| responses.users == least && responses.kind.is_none());
        let p95 = p95.and_then(|responses| percentile_text(&responses.percentiles, "p95"));
        let p95 = p95.map(|time| format!("95% within {time}"));
        let more = too_many.map(|users| format!("{} are too many", number::count(users as usize)));
        let details: Vec<String> = p95.into_iter().chain(more).collect();
        Some(Tile {
            name: result.title.clone(),
            value: words::things(&number::count(least as usize), "users"),
            detail: details.join("; "),
            tone: None,
        })
    });
    tiles.collect()
}
