//! The page of a benchmark: its description, and its history over the newest runs or a range of dates.

use crate::http::{Form, Kind, PageRequest, Parameter, Route};
use crate::pages::form_options::choice;
use crate::pages::{PageResult, Pages, not_found};
use gritstone_document::html::{self, Choice, Frame};
use gritstone_model::{HistoryView, Id, SCHEMA_HISTORY};
use gritstone_runs::history::{Extent, over_runs};
use std::collections::BTreeSet;

/// Offered numbers of newest runs.
const NEWEST: [usize; 5] = [20, 50, 100, 300, 1000];

pub(crate) const ROUTE: Route<Pages> = Route {
    parameters: &[
        Parameter {
            name: "benchmark",
            kind: Kind::Path,
            about: "A benchmark: family/name, perhaps @variant",
        },
        Parameter {
            name: "runs",
            kind: Kind::Number { min: 1, max: 1000, otherwise: 100 },
            about: "Newest runs of each system at most",
        },
        Parameter {
            name: "from",
            kind: Kind::Date,
            about: "Of them those since a date or a part of one: 2026-11",
        },
        Parameter {
            name: "to",
            kind: Kind::Date,
            about: "Of them those until a date or a part of one, all of it",
        },
    ],
    ..Route::page(
        "/benchmarks/{*benchmark}",
        "A benchmark over the newest runs of each system",
        SCHEMA_HISTORY,
        benchmark,
    )
};

fn benchmark(pages: &Pages, request: &PageRequest) -> PageResult {
    let params = &request.params;
    let name = params.text("benchmark");
    let runs = params.number("runs") as usize;
    let unknown = || not_found(format!("There is no benchmark {name}."));
    let id = Id::parse(name).map_err(|_| unknown())?;
    let mut all = pages.context.catalogue.benchmarks.iter();
    let known = all.find(|benchmark| benchmark.id == id);
    let mut view = match pages.store()? {
        Some(store) => {
            over_runs(&pages.context, &store, &id, Extent { runs, branch: None, same: &[] })?
        }
        None => None,
    };
    if known.is_none() && view.is_none() {
        return Err(unknown());
    }
    let months = view.as_ref().map_or_else(BTreeSet::new, months);
    if let Some(view) = &mut view {
        cut(view, params.text("from"), params.text("to"));
    }
    let facts = known.map_or_else(Vec::new, gritstone_catalogue::facts);
    let title = match (known, &view) {
        (Some(known), _) => &known.title,
        (None, Some(view)) => &view.title,
        (None, None) => "",
    };
    let page = || {
        let document = gritstone_report::benchmark(&id, title, &facts, view.as_ref());
        let frame =
            Frame { form: (!months.is_empty()).then(|| form(request, months)), ..Frame::default() };
        (document, frame)
    };
    match &view {
        None if request.form == Form::Json => Err(not_found(format!("No stored run has {name}."))),
        view => Ok(pages.respond(request, view, page)?),
    }
}

/// The months in which there are runs, newest last.
fn months(view: &HistoryView) -> BTreeSet<String> {
    let points = view.series.iter().flat_map(|series| &series.points);
    let month = points.filter_map(|point| point.started.get(..7));
    month.map(str::to_owned).collect()
}

/// Removes runs outside a range of dates, whose ends may be prefixes: 2026-11 is the whole month. Changes are those found in all runs.
fn cut(view: &mut HistoryView, from: &str, to: &str) {
    let begins = |started: &str| started >= from;
    let ends =
        |started: &str| to.is_empty() || started.get(..to.len()).is_none_or(|prefix| prefix <= to);
    for series in &mut view.series {
        // oldest first
        let first = series.points.iter().position(|point| begins(&point.started));
        let first = first.unwrap_or(series.points.len());
        series.points.drain(..first);
        series.points.retain(|point| ends(&point.started));
        let shown = first..first + series.points.len();
        series.changes.retain(|change| shown.contains(&change.at));
        for change in &mut series.changes {
            change.at -= first;
            change.between =
                change.between.map(|run| run.clamp(shown.start, shown.end - 1) - first);
        }
        series.marks.retain(|mark| shown.contains(&mark.at));
        for mark in &mut series.marks {
            mark.at -= first;
        }
    }
    view.series.retain(|series| !series.points.is_empty());
}

/// Form for other ranges.
fn form(request: &PageRequest, months: BTreeSet<String>) -> html::Form {
    let params = &request.params;
    let months: Vec<(String, String)> =
        months.into_iter().map(|month| (month.clone(), month)).collect();
    let newest = NEWEST.map(|n| (n.to_string(), format!("newest {n}")));
    html::Form {
        to: format!("/benchmarks/{}", html::encoded(params.text("benchmark"))),
        button: "Show",
        hidden_inputs: vec![],
        choices: vec![
            Choice {
                name: "runs",
                label: "Runs",
                options: newest.into(),
                chosen: params.number("runs").to_string(),
            },
            choice("from", "From", "the first", months.clone(), params.text("from")),
            choice("to", "To", "the last", months, params.text("to")),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn changes_move_with_their_runs() {
        let point = |day: usize| {
            json!({
                "run": day.to_string(), "label": null, "started": format!("2026-11-{day:02}T00:00:00Z"),
                "estimate": 1.0, "interval": null, "value": 1.0, "notes": [],
            })
        };
        let change = json!({
            "run": "7", "started": "2026-11-07T00:00:00Z", "at": 6, "ratio": 0.8, "interval": null,
            "between": [4, 7], "runs": 4,
        });
        let series = json!({
            "machine": "", "name": "", "kernel": "", "compiler": "", "version": 1, "unit": "us",
            "points": (1..11).map(point).collect::<Vec<_>>(), "changes": [change],
        });
        let view = json!({
            "schema": SCHEMA_HISTORY, "id": "byte/pipe", "title": "", "unit": "us", "better": "lower",
            "series": [series],
        });
        for (from, to, position, between) in [
            ("2026-11-03", "", 4, [2, 5]),
            ("2026-11-06", "", 1, [0, 2]),
            ("", "2026-11-07", 6, [4, 6]),
        ] {
            let mut view: HistoryView = serde_json::from_value(view.clone()).unwrap();
            cut(&mut view, from, to);
            let change = &view.series[0].changes[0];
            assert_eq!((change.at, change.between), (position, between), "{from} {to}");
        }
    }
}
