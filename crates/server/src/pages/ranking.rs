//! Systems of a store by score.

use crate::http::{PageRequest, Route};
use crate::pages::{PageResult, Pages, lists};
use gritstone_document::html::Frame;
use gritstone_document::svg::dots::{self, Dot, Panel};
use gritstone_document::{About, Block, Document, Style, number, svg};
use gritstone_model::{EnvironmentScore, SCHEMA_SCORES, ScoredSystem, ScoresView};
use gritstone_report::bare_ratio;
use gritstone_report::table::{Cell, Columns};
use gritstone_runs::context::Context;
use gritstone_runs::scores;
use gritstone_runs::uncached::or_warning;
use gritstone_store::{RunHead, Store};

/// Newest complete runs of a system that are tried, since some may be damaged.
const TRIED: usize = 3;

pub(super) const ROUTE: Route<Pages> = Route {
    title: Some("Scores"),
    ..Route::page(
        "/scores",
        "Scores of all systems, each by its newest complete run of a suite, best first",
        SCHEMA_SCORES,
        ranking,
    )
};

fn ranking(pages: &Pages, request: &PageRequest) -> PageResult {
    let view = ranked(&pages.context, pages.store()?.as_deref())?;
    Ok(pages.respond(request, &view, || (document(&view), Frame::default()))?)
}

/// The systems of a store, the best first; those without a score last.
pub(crate) fn ranked(context: &Context, store: Option<&Store>) -> anyhow::Result<ScoresView> {
    let mut machines = vec![];
    for system in lists::systems(store)? {
        let Some(store) = store else { break };
        let of_suite = |run: &RunHead| run.is_whole() && run.suite.is_some();
        for run in lists::newest_where(store, Some(&system.id), TRIED, of_suite)? {
            if let Some(view) = or_warning(&run.id, context.stored(store, &run.id))? {
                machines.push(view);
                break;
            }
        }
    }
    let base = context.view(scores::base(context, machines.iter()))?;
    let mut view = scores::against(context, &machines, &base, &[])?;
    let score = |machine: &ScoredSystem| machine.one_cpu.overall.score.unwrap_or(0.0);
    view.machines.sort_by(|a, b| score(b).total_cmp(&score(a)).then_with(|| a.id.cmp(&b.id)));
    Ok(view)
}

fn document(view: &ScoresView) -> Document {
    let mut document = Document::new("Scores of systems");
    document.subtitle = Some(format!(
        "{} is 1; more is better. {} confidence intervals, of one run each.",
        view.base_name,
        number::percent_option(view.confidence)
    ));
    let machines = view.machines.as_slice();
    if machines.is_empty() {
        document.paragraph("No complete run of a suite is stored, and a score takes one: `gritstone run` measures the suite standard.");
        return document;
    }
    drawn(&mut document, view);
    table(&mut document, machines);
    document
}

fn drawn(document: &mut Document, view: &ScoresView) {
    let dot = |machine: &ScoredSystem| {
        let overall = &machine.one_cpu.overall;
        Some(Dot {
            name: machine.name.clone(),
            value: overall.score?,
            interval: overall.interval,
            text: bare_ratio(overall.score?, None).0,
            ..Dot::default()
        })
    };
    let dots: Vec<Dot> = view.machines.iter().filter_map(dot).collect();
    if dots.is_empty() {
        return;
    }
    let texts: Vec<String> = dots.iter().map(|dot| format!("{} {}", dot.name, dot.text)).collect();
    let panel =
        Panel {
            label: format!("× {}", view.base_name), mark: Some(1.0), dots, ..Panel::default()
        };
    document.push(Block::Figure(svg::figure(
        dots::draw(&[panel]),
        "ranking",
        "Scores with their intervals, the best first".to_owned(),
        format!("{}.", texts.join(", ")),
    )));
}

fn table(document: &mut Document, machines: &[ScoredSystem]) {
    type Placed<'a> = (usize, &'a ScoredSystem);
    let system = |(_, machine): &Placed| {
        Cell::from(machine.name.as_str()).about(About::Run(machine.id.clone()))
    };
    let bare = |score: &EnvironmentScore| Some(bare_ratio(score.score?, None).0);
    let mut columns = Columns::<Placed>::key("System", Style::Text, system)
        .number("Score", move |(_, machine)| bare(&machine.one_cpu.overall))
        .number("Interval", |(_, machine)| {
            let overall = &machine.one_cpu.overall;
            Some(bare_ratio(overall.score?, overall.interval).1)
        });
    let environments = machines.first().map(|machine| &machine.one_cpu.environments);
    for (index, environment) in environments.into_iter().flatten().enumerate() {
        columns = columns.number(environment.environment.as_str(), move |(_, machine)| {
            bare(machine.one_cpu.environments.get(index)?)
        });
    }
    let beside = |better: Option<&ScoredSystem>, machine: &ScoredSystem| {
        let pair = better.map(|better| About::Pair([better.id.clone(), machine.id.clone()]));
        Cell::from(better.map(|better| better.name.clone())).about(pair)
    };
    let first = move |(place, machine): &Placed| beside(machines[..*place].first(), machine);
    // of the second, that is the first
    let next =
        move |(place, machine): &Placed| beside(machines[..*place].iter().skip(1).last(), machine);
    columns
        .number("Benchmarks", |(_, machine)| machine.one_cpu.overall.rows.len())
        .under("Side by side with")
        .text("the first", first)
        .text("the next better", next)
        .table(document, "Scores by environment", machines.iter().enumerate());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{fuzz, sides};

    #[test]
    fn trials_hide_no_scores() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let mut store = Store::open(&path).unwrap();
        let mut run = fuzz::runs()[0].clone();
        run.info.settings.suite = Some("standard".to_owned());
        store.import(&run).unwrap();
        for side in sides(lists::LISTED + 2) {
            store.import(&side).unwrap();
        }
        let view = ranked(&Context::new(Some(path)), Some(&store)).unwrap();
        let ids: Vec<&str> = view.machines.iter().map(|machine| machine.id.as_str()).collect();
        assert_eq!(ids, [&run.info.id]);
    }
}
