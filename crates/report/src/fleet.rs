//! The nodes of a fleet and their outliers, on one page.

mod groups;
mod progress;

use crate::table::{Cell, Columns};
use crate::{Detail, words};
use gritstone_document::number;
use gritstone_document::svg::heat::{self, Heat};
use gritstone_document::{Block, Column, Document, Style, Text, Tone};
use gritstone_model::{
    FleetBenchmark, FleetCommon, FleetDrift, FleetEffect, FleetFamily, FleetNode, FleetOutlier,
    FleetProof, FleetScope, FleetSince, FleetSpread, FleetVerdict, FleetView, FleetWrong,
};
pub use progress::{fleet_progress, nodes};

/// Most sentences of one kind on the page; JSON has all.
const MAX_LINES: usize = 30;
/// Nodes that are named in a cell.
const MAX_NAMED: usize = 3;
/// Nodes of the heat map.
const MAX_ROWS: usize = 60;

/// Heading of the standard deviation that the tests use.
const SD: &str = "SD of a node";
/// With few nodes it exceeds what the extremes show.
const SD_OF_BENCHMARKS: &str = "SD of a node: standard deviation of the result of one node, as the tests use it: robust, moderated over all benchmarks, and no less than the scatter of launches.";

/// The report of a fleet.
pub fn fleet(view: &FleetView, detail: Detail) -> Document {
    let mut document = Document::new("Fleet report");
    let benchmarks = words::plural(view.benchmarks.len(), "benchmark");
    let nodes = words::plural(view.nodes.len(), "node");
    document.subtitle = Some(format!(
        "{nodes}, {benchmarks}, {}; fleet {}",
        period(&view.started, &view.last),
        view.fleet
    ));
    document.paragraph(verdict(view));
    let wrong = view.wrong.iter().map(|wrong| Text::new(self::wrong(wrong)).toned(Some(Tone::Bad)));
    lines(&mut document, wrong.collect());
    let sentences = fleet_lines(view).into_iter().map(Text::new);
    lines(&mut document, sentences.collect());
    document.list(view.drifts.iter().map(drift));
    let common: Vec<String> = view.common.iter().map(common).collect();
    if !common.is_empty() {
        document.paragraph("What slow nodes have more often than the others:");
        document.list(common);
    }
    not_compared(&mut document, view);
    heat(&mut document, view);
    families(&mut document, &view.families);
    groups::groups(&mut document, &view.groups);
    if detail != Detail::Results || view.families.is_empty() {
        distributions(&mut document, view);
    }
    document
}

/// A sentence for each outlier: "node-0217: memory −18% [−20, −16]; all else like the others".
pub fn fleet_lines(view: &FleetView) -> Vec<String> {
    let of_nodes = view.outliers.chunk_by(|a, b| a.node == b.node);
    of_nodes.map(sentence).collect()
}

fn sentence(outliers: &[FleetOutlier]) -> String {
    let all = outliers.iter().find(|outlier| outlier.about == FleetScope::All);
    let effects = outliers.iter().map(|outlier| {
        let about = about(&outlier.about);
        let (by, interval) = percent(&outlier.effect);
        let further = match all.is_some_and(|all| all != outlier) {
            true => " beyond that",
            false => "",
        };
        let disturbed = match 2 * outlier.interference > outlier.results {
            true => ", measured with interference",
            false => "",
        };
        let since = outlier.since.as_ref().map_or(String::new(), since);
        format!("{about} {by} {interval}{further}{since}{disturbed}")
    });
    // the common deviation of all benchmarks comes first
    let mut ordered: Vec<(bool, String)> =
        outliers.iter().map(|outlier| outlier.about != FleetScope::All).zip(effects).collect();
    ordered.sort_by_key(|(first, _)| *first);
    let effects: Vec<String> = ordered.into_iter().map(|(_, text)| text).collect();
    let rest = match all {
        Some(_) => "",
        None => "; all else like the others",
    };
    let replaced = outliers[0].replaced.as_ref().map_or(String::new(), |last| {
        format!("; until {} another machine had this name", date(last))
    });
    format!("{}: {}{rest}{replaced}", outliers[0].node, words::join(&effects))
}

fn about(scope: &FleetScope) -> &str {
    match scope {
        FleetScope::All => "everything",
        FleetScope::Family(family) => family.as_str(),
        FleetScope::Benchmark(id) => id.as_str(),
    }
}

fn date(text: &str) -> String {
    words::date(text.get(..10).unwrap_or(text))
}

fn since(since: &FleetSince) -> String {
    let first = date(&since.first);
    match since.before.is_some() {
        true => format!(" since {first}"),
        false => format!(" since {first} or before"),
    }
}

/// A change of all nodes.
fn drift(drift: &FleetDrift) -> String {
    let interval = drift.interval.map(|end| 1.0 + end);
    let (by, interval) = words::percent_change(1.0 + drift.effect, Some(interval));
    let interval = interval.unwrap_or_default().replace(" – ", ", ");
    format!(
        "The whole fleet: {} {by} {interval}{}, by {}",
        about(&drift.about),
        since(&drift.since),
        words::plural(drift.nodes, "node")
    )
}

/// The result of a health check of a node, in a line.
pub fn node(view: &FleetView, name: &str, verdict: FleetVerdict) -> String {
    let outliers: Vec<FleetOutlier> =
        view.outliers.iter().filter(|outlier| outlier.node == name).cloned().collect();
    let wrong = view.wrong.iter().find(|wrong| wrong.node == name);
    let found = match (wrong, outliers.is_empty()) {
        (Some(wrong), _) => self::wrong(wrong),
        (None, false) => sentence(&outliers),
        (None, true) => format!("{name}: {}", difference(view, name)),
    };
    let word = match verdict {
        FleetVerdict::Passed => "passed",
        FleetVerdict::Failed => "failed",
        FleetVerdict::Inconclusive => "inconclusive",
    };
    format!("{word}: {found}")
}

/// The family of a node with the largest deviation.
fn difference(view: &FleetView, name: &str) -> String {
    let Some(node) = view.nodes.iter().find(|node| node.node == name) else {
        return "no result".to_owned();
    };
    let levels = node.families.iter().map(|(family, effect)| (family.as_str(), effect));
    let farthest = levels.chain(node.overall.iter().map(|effect| ("everything", effect)));
    let farthest = farthest.min_by(|(_, a), (_, b)| a.p.total_cmp(&b.p));
    let results = words::plural(node.benchmarks, "result");
    let disturbed = match node.interference {
        0 => String::new(),
        some => format!(", {} with interference", number::count(some)),
    };
    let without = match node.without_result {
        0 => String::new(),
        some => format!(", {} invalid, or of another version or program", number::count(some)),
    };
    match farthest {
        Some((about, effect)) => {
            let (by, interval) = percent(effect);
            format!(
                "{results}{disturbed}{without}; farthest from the others: {about} {by} {interval}"
            )
        }
        None if node.benchmarks == 0 && node.without_result > 0 => format!(
            "all {} invalid, or of another version or program than most nodes': `gritstone fleet run` measures the fleet again",
            words::plural(node.without_result, "result")
        ),
        None if node.benchmarks == 0 => {
            "no result that three other nodes with its processor also have".to_owned()
        }
        None => format!("{results}{disturbed}{without}"),
    }
}

/// `−18%` and `[−20, −16]`.
fn percent(effect: &FleetEffect) -> (String, String) {
    let interval = effect.interval.map(|end| 1.0 + end);
    let (by, interval) = words::percent_change(1.0 + effect.effect, Some(interval));
    (by, interval.unwrap_or_default().replace(" – ", ", "))
}

fn wrong(wrong: &FleetWrong) -> String {
    let cpu = wrong.cpu.map_or(String::new(), |cpu| format!(" on CPU {cpu}"));
    let known = match wrong.by {
        FleetProof::Workload => "the workload expects".to_owned(),
        FleetProof::Nodes(nodes) => format!("{} get", words::plural(nodes, "other node")),
    };
    format!(
        "{}: {} gives a wrong check value{cpu}: {:#x} for n = {}, where {known} {:#x} (run {})",
        wrong.node, wrong.id, wrong.got, wrong.n, wrong.right, wrong.run
    )
}

fn common(common: &FleetCommon) -> String {
    let facts =
        common.facts.iter().map(|fact| format!("{} {}", words::fact(&fact.name), fact.value));
    let facts: Vec<String> = facts.collect();
    format!(
        "{}: {} of {} slow nodes, {} of {} others",
        words::join(&facts),
        number::count(common.slow),
        number::count(common.of_slow),
        number::count(common.others),
        number::count(common.of_others)
    )
}

/// Number of outliers.
fn verdict(view: &FleetView) -> String {
    let differ = view.outliers.chunk_by(|a, b| a.node == b.node).count();
    let mut wrong: Vec<&str> = view.wrong.iter().map(|wrong| wrong.node.as_str()).collect();
    wrong.sort_unstable();
    wrong.dedup();
    let compared = view.nodes.iter().filter(|node| node.benchmarks > 0).count();
    let wrong = match wrong.len() {
        0 => String::new(),
        1 => "1 node computes wrong check values. ".to_owned(),
        many => format!("{} nodes compute wrong check values. ", number::count(many)),
    };
    let nodes = words::plural(compared, "node");
    let differ = match differ {
        _ if compared == 0 => {
            "Finding outliers takes 4 nodes with the same processor and a result in common."
                .to_owned()
        }
        0 => format!("None of {nodes} differs from the others."),
        1 => format!("1 of {nodes} is not like the others."),
        many => format!("{} of {nodes} are not like the others.", number::count(many)),
    };
    format!("{wrong}{differ}")
}

/// Days of the first and the last run.
fn period(first: &str, last: &str) -> String {
    let [first, last] = [first, last].map(date);
    match first == last {
        true => first,
        false => format!("{first} to {last}"),
    }
}

fn lines(document: &mut Document, mut all: Vec<Text>) {
    let more = all.len().saturating_sub(MAX_LINES);
    all.truncate(MAX_LINES);
    if more > 0 {
        all.push(format!("and {} more (`--format csv` has all)", number::count(more)).into());
    }
    document.list(all);
}

/// Nodes without enough comparable ones, and results that are missing or of other work.
fn not_compared(document: &mut Document, view: &FleetView) {
    let lone = view.kinds.iter().filter(|kind| !kind.compared && view.kinds.len() > 1);
    let lone = lone.map(|kind| {
        let model = if kind.model.is_empty() { "an unknown processor" } else { &kind.model };
        format!(
            "Not compared: {} with {model}, of which 4 are needed",
            words::plural(kind.nodes, "node")
        )
    });
    let in_kind = |node: &&FleetNode| view.kinds.get(node.kind).is_some_and(|kind| kind.compared);
    let without = view.nodes.iter().filter(in_kind).filter(|node| node.benchmarks == 0);
    let without: Vec<&str> = without.map(|node| node.node.as_str()).collect();
    let without = (!without.is_empty())
        .then(|| format!("Without a compared result: {}", words::join_some(&without, MAX_NAMED)));
    let other: usize = view.benchmarks.iter().map(|benchmark| benchmark.other_work).sum();
    let missing: usize = view.benchmarks.iter().map(|benchmark| benchmark.without_result).sum();
    let disturbed: usize = view.benchmarks.iter().map(|benchmark| benchmark.interference).sum();
    let counted = [
        (other, "of another version or program, not compared"),
        (missing, "missing or invalid"),
        (disturbed, "with interference"),
    ];
    let counted = counted.into_iter().filter(|(n, _)| *n > 0);
    let counted = counted.map(|(n, what)| format!("{} {what}", words::plural(n, "result")));
    document.list(lone.chain(without).chain(counted));
}

/// Nodes that differ by families; without any, those with the largest deviation.
fn heat(document: &mut Document, view: &FleetView) {
    let columns = view.families.iter().map(|family| family.family.clone());
    let columns: Vec<String> =
        view.overall.iter().map(|_| "all".to_owned()).chain(columns).collect();
    if columns.is_empty() {
        return;
    }
    let farthest = |index: &usize| {
        let node = &view.nodes[*index];
        let effects = node.families.values().chain(&node.overall);
        effects.map(|effect| effect.p).fold(1.0, f64::min)
    };
    let mut order: Vec<usize> = (0..view.nodes.len()).collect();
    order.sort_by(|a, b| farthest(a).total_cmp(&farthest(b)));
    let row = |index: &usize| {
        let node = &view.nodes[*index];
        let families = view.families.iter().map(|family| node.families.get(&family.family));
        let effects = view.overall.iter().map(|_| node.overall.as_ref()).chain(families);
        let cell = |effect: Option<&FleetEffect>| {
            effect.map(|effect| heat::Cell {
                value: effect.effect,
                text: percent(effect).0,
                certain: effect.p_adjusted <= view.level && effect.effect.abs() > view.margin,
                sparkline: vec![],
            })
        };
        (node.node.clone(), effects.map(cell).collect())
    };
    let shown = order.len().min(MAX_ROWS);
    let heat = Heat { columns, rows: order.iter().take(MAX_ROWS).map(row).collect() };
    let caption = match shown < order.len() {
        true => format!(
            "Speed relative to the other nodes: the {shown} nodes that are farthest from them"
        ),
        false => "Speed relative to the other nodes".to_owned(),
    };
    let of_row = |(name, cells): &(String, Vec<Option<heat::Cell>>)| {
        let cells = heat.columns.iter().zip(cells);
        let certain = cells.filter_map(|(column, cell)| {
            let cell = cell.as_ref().filter(|cell| cell.certain)?;
            Some(format!("{column} {}", cell.text))
        });
        let certain: Vec<String> = certain.collect();
        (!certain.is_empty()).then(|| format!("{name}: {}", words::join(&certain)))
    };
    let texts: Vec<String> = heat.rows.iter().filter_map(of_row).collect();
    let alternative = match texts.is_empty() {
        true => "No family of a node deviates by more than chance.".to_owned(),
        false => format!("Beyond chance: {}.", texts.join("; ")),
    };
    document.push(Block::Figure(heat.draw().figure("fleet-heat", caption, alternative)));
}

fn families(document: &mut Document, families: &[FleetFamily]) {
    let caption = "Families over nodes: standard deviation, minimum detectable effect on one node";
    Columns::<&FleetFamily>::key("Family", Style::Code, |family| family.family.as_str())
        .number("Benchmarks", |family| number::count(family.benchmarks))
        .number("Nodes", |family| number::count(family.spread.nodes))
        .number(SD, |family| number::percent(family.spread.sd))
        .number("Minimum detectable effect", |family| number::percent(family.spread.smallest))
        .number("Differ", |family| number::count(family.spread.outliers))
        .table(document, caption, families);
}

fn distributions(document: &mut Document, view: &FleetView) {
    // single benchmarks; families and totals are above
    let which = |benchmark: &&FleetBenchmark| {
        let about = |outlier: &&FleetOutlier| matches!(&outlier.about, FleetScope::Benchmark(id) if *id == benchmark.id);
        let outliers = view.outliers.iter().filter(about);
        let named: Vec<String> = outliers
            .map(|outlier| format!("{} {}", outlier.node, percent(&outlier.effect).0))
            .collect();
        Some(words::join_some(&named, MAX_NAMED)).filter(|named| !named.is_empty())
    };
    let value = |quantile: usize| {
        move |benchmark: &&FleetBenchmark| {
            number::figure_like(
                benchmark.quantiles[3],
                benchmark.quantiles[quantile],
                None,
                benchmark.unit.as_str(),
            )
            .estimate
        }
    };
    let spread = |show: fn(&FleetSpread) -> Option<String>| {
        move |benchmark: &&FleetBenchmark| benchmark.spread.as_ref().and_then(show)
    };
    Columns::<&FleetBenchmark>::key("Benchmark", Style::Code, |row| Cell::benchmark(&row.id))
        .number("Least", value(0))
        .number("Median", value(3))
        .number("Most", value(6))
        .text("Unit", |benchmark| {
            number::figure_like(
                benchmark.quantiles[3],
                benchmark.quantiles[3],
                None,
                benchmark.unit.as_str(),
            )
            .unit
        })
        .number(SD, spread(|spread| Some(number::percent(spread.sd))))
        .number("Between runs", spread(|spread| spread.between_runs.map(number::percent)))
        .number(
            "Minimum detectable effect",
            spread(|spread| Some(number::percent(spread.smallest))),
        )
        .number("Differ", spread(|spread| number::counted(spread.outliers)))
        .number("Interference", |benchmark| number::counted(benchmark.interference))
        .column(Column::new("Not like the others", Style::Text).rank(5), which)
        .table(document, "Benchmarks over nodes", &view.benchmarks);
    if view.benchmarks.iter().any(|benchmark| benchmark.spread.is_some()) {
        document.paragraph(SD_OF_BENCHMARKS);
    }
}
