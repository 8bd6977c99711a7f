//! What changed, as events: on the first page, on a page for each, in the feed and in `gritstone changes`.

use crate::table::{Cell, Columns};
use crate::words::{self, Sense};
use gritstone_document::number;
use gritstone_document::{About, Column, Document, Style, Text, Tone};
use gritstone_model::{Change, ChangeEvent};

/// Benchmarks that a command names: those that changed most.
const NAMED: usize = 6;

/// The events of a list, of so many in all.
#[must_use]
pub fn changes(events: &[ChangeEvent], all: usize) -> Document {
    let mut document = Document::new("Changes");
    document.subtitle = Some(words::plural(all, "event"));
    match events {
        [] => document.paragraph("No change was found."),
        events => listed(&mut document, events),
    }
    if all > events.len() {
        let [shown, all] = [events.len(), all].map(number::count);
        document.paragraph(format!("The newest {shown} of {all} events."));
    }
    document
}

/// Events, those first of which nobody knows, and a line for each of their changes.
pub(crate) fn listed(document: &mut Document, events: &[ChangeEvent]) {
    let (known, new): (Vec<&ChangeEvent>, Vec<&ChangeEvent>) =
        events.iter().partition(|of| of.acknowledged.is_some());
    let line = |of: &&ChangeEvent| {
        let known = event_known(of).into_iter();
        let said: Vec<String> = std::iter::once(event(of)).chain(known).collect();
        Text::new(said.join(". ")).about(Some(About::Event(of.id.clone())))
    };
    if !new.is_empty() {
        document.paragraph("Changes, tentative until `gritstone ab` confirms them:");
        document.list(new.iter().map(line));
    }
    if !known.is_empty() {
        document.paragraph("Acknowledged:");
        document.list(known.iter().map(line));
    }
    lines(document, events.iter().flat_map(|of| &of.changes));
}

/// The page of an event.
#[must_use]
pub fn change(of: &ChangeEvent) -> Document {
    let mut document = Document::new(format!("Change {}", of.id));
    document.subtitle = Some(event(of));
    document.heading(1, "What is known");
    let pair = of.before.as_ref().map(|before| {
        let runs = [words::short_id(before), words::short_id(&of.run)];
        let text = format!("{} and {}, side by side", runs[0], runs[1]);
        Text::new(text).about(Some(About::Pair([before.clone(), of.run.clone()])))
    });
    let acknowledged = of.acknowledged.as_ref().map_or_else(
        || {
            format!(
                "by nobody: `gritstone changes acknowledge {} --note TEXT`",
                of.id
            )
            .into()
        },
        |_| Text::new(acknowledged(of).unwrap_or_default()),
    );
    let empty = || Text::new("");
    document.terms([
        ("runs before and since", pair.unwrap_or_else(empty)),
        (
            "system",
            Text::new(of.name.as_str()).about(Some(About::System(of.machine.clone()))),
        ),
        ("acknowledged", acknowledged),
    ]);
    facts(&mut document, of);
    document.heading(1, "To confirm it");
    confirming(&mut document, of);
    document.heading(1, "Benchmarks");
    lines(&mut document, &of.changes);
    document
}

fn facts(document: &mut Document, of: &ChangeEvent) {
    Columns::<&gritstone_model::Difference>::key("Fact", Style::Text, |d| words::fact(&d.what))
        .text("Before", |d| d.base.as_str())
        .text("Since", |d| d.other.as_str())
        .table(document, "Facts of the system that differ", &of.differ_in);
}

fn confirming(document: &mut Document, of: &ChangeEvent) {
    let mut changes: Vec<&Change> = of.changes.iter().collect();
    let size = |change: &Change| change.change.ratio.ln().abs();
    changes.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let ids = changes
        .iter()
        .take(NAMED)
        .map(|of| of.benchmark.to_string());
    let ids = ids.collect::<Vec<_>>().join(" ");
    document.paragraph(format!(
        "Where commands switch {} between both states, an interleaved A/B test decides:",
        of.name
    ));
    document.list([format!(
        "`gritstone ab {ids} --a 'BEFORE' --b 'SINCE' --undo 'UNDO'`"
    )]);
    document.paragraph("Otherwise measure a run in each state, and compare them:");
    document.list([format!("`gritstone run {ids} --label LABEL`")]);
}

/// The acknowledgment of an event as a sentence, without its full stop.
#[must_use]
pub fn event_known(of: &ChangeEvent) -> Option<String> {
    acknowledged(of).map(|said| format!("Acknowledged {said}"))
}

fn acknowledged(of: &ChangeEvent) -> Option<String> {
    let known = of.acknowledged.as_ref()?;
    let at = words::date(&known.at);
    Some(format!("by {}, {at}: {}", known.who, known.note))
}

/// A line for each change: the change leads to the run before and the run since, side by side.
fn lines<'a>(document: &mut Document, changes: impl IntoIterator<Item = &'a Change>) {
    let pair = |of: &Change| Some(About::Pair([of.before.clone()?, of.change.run.clone()]));
    let benchmark = |of: &&Change| {
        let id = of.benchmark.to_string();
        Cell::from(id.as_str()).about(About::Benchmark(id))
    };
    let change = |of: &&Change| {
        let (said, _) = words::change(of.change.ratio, of.change.interval);
        let tone = match of.change.ratio < 1.0 {
            true => Tone::Bad,
            false => Tone::Good,
        };
        Cell::from(said).toned(Some(tone)).about(pair(of))
    };
    let run = |of: &&Change| {
        let run = &of.change.run;
        Cell::from(words::short_id(run)).about(About::Run(run.clone()))
    };
    Columns::<&Change>::key("Benchmark", Style::Code, benchmark)
        .number("Change", change)
        .number("95% interval", |of| {
            words::change(of.change.ratio, of.change.interval).1
        })
        .text("Speed", |of| {
            let [better, worse] = Sense::Speed.words();
            if of.change.ratio < 1.0 { worse } else { better }
        })
        .column(Column::new("Since run", Style::Code), run)
        .column(Column::new("Date (UTC)", Style::Code), |of| {
            words::minute(&of.change.started)
        })
        .text("Kernel", |of| of.kernel.as_str())
        .text("System", |of| {
            Cell::from(of.name.as_str()).about(About::System(of.machine.clone()))
        })
        .table(document, "Changes of level, newest first", changes);
}

/// How many events are new.
#[must_use]
pub fn new_events(count: usize) -> String {
    words::plural(count, "new change")
}

/// An event in a sentence: `12 benchmarks 1.03 to 1.09× slower on x since run y of 1 May 2026, 12:00 UTC; differs in cpu microcode`.
#[must_use]
pub fn event(of: &ChangeEvent) -> String {
    let what = match of.changes.as_slice() {
        [one] => format!("{} ({})", one.benchmark, one.title),
        many => words::plural(many.len(), "benchmark"),
    };
    let ratios = of.changes.iter().map(|of| of.change.ratio);
    let ratios = ratios.map(|ratio| if of.worse { 1.0 / ratio } else { ratio });
    let low = ratios.clone().fold(f64::INFINITY, f64::min);
    let high = ratios.fold(f64::NEG_INFINITY, f64::max);
    let [low, high] = [low, high].map(|ratio| number::fixed(ratio, 2));
    let range = match low == high {
        true => low,
        false => format!("{low} to {high}"),
    };
    let [better, worse] = Sense::Speed.words();
    let how = if of.worse { worse } else { better };
    let differs = match of.differ_in.as_slice() {
        [] => String::new(),
        facts => format!("; differs in {}", words::facts(facts)),
    };
    let commits = of.commits.as_ref().map_or_else(String::new, |commits| {
        let [good, bad] = [&commits.good, &commits.bad].map(|id| id.get(..10).unwrap_or(id));
        let link = commits
            .link
            .as_ref()
            .map_or_else(String::new, |link| format!(" ({link})"));
        format!("; commits {good}..{bad}{link}")
    });
    let (run, since) = (words::short_id(&of.run), words::date(&of.started));
    let between = between(of).map_or_else(String::new, |between| format!(" ({between})"));
    format!(
        "{what} {range}× {how} on {} since run {run}{between} of {since}{differs}{commits}",
        of.name
    )
}

/// The runs that may have begun it, where there are several.
fn between(of: &ChangeEvent) -> Option<String> {
    let [first, .., last] = of.may_begin.as_slice() else {
        return None;
    };
    let [first, last] = [first, last].map(|run| words::short_id(run));
    let runs = words::plural(of.may_begin.len(), "run");
    Some(format!("or another of the {runs} from {first} to {last}"))
}

/// What an event is made of, a line for each benchmark.
#[must_use]
pub fn event_lines(of: &ChangeEvent) -> Vec<String> {
    let line = |of: &Change| {
        let ratio = words::ratio(of.change.ratio, of.change.interval, Sense::Speed);
        format!("{} ({}): {ratio}", of.benchmark, of.title)
    };
    of.changes.iter().map(line).collect()
}
