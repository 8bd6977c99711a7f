//! Runs against a base, filtered: two side by side, or several in one table.

use crate::http::{Form, Kind, PageRequest, Parameter, Params, Rejection, Route, Status};
use crate::pages::form_options::{choice, option};
use crate::pages::{PageResult, Pages, lists};
use gritstone_document::Document;
use gritstone_document::html::{self, Frame};
use gritstone_model::{CompareRow, CompareView, RunView, SCHEMA_COMPARE, Verdict};
use gritstone_report::Pair;
use gritstone_runs::scores;
use gritstone_store::RunHead;
use std::collections::BTreeSet;

/// Most runs offered in the form.
const CHOICES: usize = 20;
const VERDICTS: [Verdict; 4] =
    [Verdict::Slower, Verdict::Faster, Verdict::Same, Verdict::Inconclusive];
/// Offered effect sizes, percent.
const EFFECTS: [u32; 5] = [1, 2, 5, 10, 20];

pub(crate) const ROUTE: Route<Pages> = Route {
    parameters: &[
        Parameter {
            name: "base",
            kind: Kind::Needed,
            about: "The base: a run, or a reference system, ref:NAME",
        },
        Parameter { name: "run", kind: Kind::Several(8), about: "The others" },
        Parameter {
            name: "family",
            kind: Kind::Text(100),
            about: "Benchmarks of this family alone",
        },
        Parameter {
            name: "verdict",
            kind: Kind::Word(&["slower", "faster", "same", "inconclusive"]),
            about: "Benchmarks with this verdict alone",
        },
        Parameter {
            name: "effect",
            kind: Kind::Number { min: 0, max: 1000, otherwise: 0 },
            about: "Only benchmarks that differ by at least this percentage",
        },
    ],
    statuses: &[(Status::NotFound, "A run is not there")],
    ..Route::page("/compare", "Runs against another", SCHEMA_COMPARE, compare)
};

fn compare(pages: &Pages, request: &PageRequest) -> PageResult {
    let params = &request.params;
    let base = pages.view(params.text("base"))?;
    let runs = params.texts("run").map(|name| pages.view(name));
    let runs: Vec<RunView> = runs.collect::<Result<_, _>>()?;
    let mut seen = BTreeSet::from([base.id.as_str()]);
    for run in &runs {
        if !seen.insert(&run.id) {
            let why = format!("{} cannot be compared with itself.", run.id);
            return Err(Rejection::new(Status::Wrong, why));
        }
    }
    let compared = |run| {
        let margin = gritstone_runs::context::MARGIN;
        pages.context.compare(&base, run, margin)
    };
    let mut views: Vec<CompareView> = runs.iter().map(compared).collect();
    let rows = views.iter().flat_map(|view| &view.rows);
    let families: BTreeSet<String> = rows.map(|row| row.id.family().to_owned()).collect();
    Filter::from_params(params).apply(&mut views);
    if request.form == Form::Json {
        let nothing = || (Document::default(), Frame::default());
        return Ok(match views.as_slice() {
            [one] => pages.respond(request, one, nothing)?,
            several => pages.respond(request, &several, nothing)?,
        });
    }
    let newest = match pages.store()? {
        Some(store) => {
            let is_other = |run: &RunHead| run.side.is_none() && !seen.contains(run.id.as_str());
            lists::newest_where(&store, None, CHOICES, is_other)?
        }
        None => vec![],
    };
    let sides = [&base].into_iter().chain(&runs);
    let form = form(params, sides, families, newest);
    let document = match (views.as_slice(), runs.as_slice()) {
        ([view], [run]) => {
            let scores = scores::side_by_side(&pages.context, [&base, run])?;
            gritstone_report::pair(&Pair {
                base: &base,
                other: run,
                compared: view,
                scores: scores.as_ref(),
            })
        }
        (views, runs) => {
            let others: Vec<_> = runs.iter().zip(views).collect();
            gritstone_report::several(&base, &others)
        }
    };
    let frame = Frame { form: Some(form), ..Frame::default() };
    Ok(pages.respond(request, &views, || (document, frame))?)
}

/// Filter of benchmarks.
struct Filter<'a> {
    family: &'a str,
    verdict: Option<Verdict>,
    /// Smallest ratio of the better to the worse.
    min: f64,
}

impl<'a> Filter<'a> {
    fn from_params(params: &'a Params) -> Self {
        let mut verdicts = VERDICTS.into_iter();
        Self {
            family: params.text("family"),
            verdict: verdicts.find(|verdict| verdict.as_str() == params.text("verdict")),
            min: 1.0 + f64::from(params.number("effect")) / 100.0,
        }
    }

    /// Leaves the same rows in all views.
    fn apply(&self, views: &mut [CompareView]) {
        let shown = views.iter().flat_map(|view| &view.rows).filter(|row| self.has(row));
        let shown: BTreeSet<_> = shown.map(|row| row.id.clone()).collect();
        for view in views {
            let all = view.rows.len();
            view.rows.retain(|row| shown.contains(&row.id));
            if view.rows.len() < all {
                // they are of all rows
                view.sums.clear();
                view.common = None;
            }
        }
    }

    fn has(&self, row: &CompareRow) -> bool {
        let effect = || row.ratio.is_some_and(|ratio| ratio.max(1.0 / ratio) >= self.min);
        (self.family.is_empty() || row.id.family() == self.family)
            && self.verdict.is_none_or(|wanted| row.verdict == Some(wanted))
            && (self.min <= 1.0 || effect())
    }
}

/// Form for other filters, or one more run.
fn form<'a>(
    params: &Params,
    runs: impl Iterator<Item = &'a RunView>,
    families: BTreeSet<String>,
    others: Vec<RunHead>,
) -> html::Form {
    let families = families.into_iter().map(|name| (name.clone(), name));
    let verdicts = VERDICTS.map(|verdict| (verdict.as_str().into(), verdict.as_str().into()));
    let effects = EFFECTS.map(|n| (n.to_string(), format!("{n}% or more")));
    let effect = params.number("effect");
    let effect = if effect == 0 { String::new() } else { effect.to_string() };
    let names = ["base"].into_iter().chain(std::iter::repeat("run"));
    let fields = names.zip(runs.map(|run| run.id.clone()));
    html::Form {
        to: "/compare".to_owned(),
        button: "Show",
        hidden_inputs: fields.collect(),
        choices: vec![
            choice("family", "Family", "all", families, params.text("family")),
            choice("verdict", "Verdict", "all", verdicts, params.text("verdict")),
            choice("effect", "Effect", "any", effects, &effect),
            choice("run", "Add", "no run", others.into_iter().map(option), ""),
        ],
    }
}
