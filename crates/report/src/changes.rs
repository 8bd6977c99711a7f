//! Change events: on the first page, on a page for each, in the feed and in `gritstone changes`.

use crate::compare;
use crate::table::{Cell, Columns};
use crate::words::{self, Sense};
use gritstone_document::number;
use gritstone_document::{About, Block, Column, Document, Style, Text, Tile, Tone, listed};
use gritstone_model::{Change, ChangeEvent, ChangeState, CommitRange, Triage, TriageEntry};

/// Benchmarks in a command: those with the largest changes.
const MAX_BENCHMARKS_IN_COMMAND: usize = 6;
/// Differences that are listed with their values.
const MAX_DIFFERENCES: usize = 6;

/// The number of events, and the newest `max` of them: new ones first, closed ones last. `compared`: whether any series has two runs.
pub fn changes(events: &[ChangeEvent], max: usize, compared: bool) -> Document {
    let mut document = Document::new("Changes");
    document.subtitle = Some(words::plural(events.len(), "event"));
    if events.is_empty() {
        document.paragraph(no_changes_text(compared));
        return document;
    }
    document.push(Block::Tiles(state_tiles(events)));
    document.paragraph("Changes are tentative until `gritstone ab` confirms them.");
    let shown = &events[..events.len().min(max)];
    for state in ChangeState::ALL {
        let of_state = shown.iter().filter(|event| event.triage.state == state);
        let of_state: Vec<&ChangeEvent> = of_state.collect();
        if !of_state.is_empty() {
            document.heading(1, words::capital(state.as_str()));
            let suspects: Vec<String> =
                of_state.iter().filter_map(|event| suspects(event)).collect();
            table(&mut document, &format!("Changes, {}", state.as_str()), of_state);
            if !suspects.is_empty() {
                document.list(suspects);
            }
        }
    }
    document.heading(1, "Benchmarks");
    lines(&mut document, shown.iter().flat_map(|event| &event.changes));
    if shown.len() < events.len() {
        let [shown, all] = [shown.len(), events.len()].map(number::count);
        document.paragraph(format!("The newest {shown} of {all} events."));
    }
    document
}

/// Where an event may have begun, if that is uncertain, and what differs over these runs: `run 1f2e: kernel release 6.1 → 6.2`.
fn suspects(event: &ChangeEvent) -> Option<String> {
    let differences = match event.differ_in.as_slice() {
        few if few.len() <= MAX_DIFFERENCES => few.iter().map(words::difference).collect(),
        many => vec![format!("differs in {}", words::facts(many))],
    };
    let parts: Vec<String> = between(event).into_iter().chain(differences).collect();
    let run = words::short_id(&event.run);
    (!parts.is_empty()).then(|| format!("run {run}: {}", parts.join("; ")))
}

/// A store without events.
pub(crate) fn no_changes_text(compared: bool) -> &'static str {
    match compared {
        true => "No change was found.",
        false => {
            "Nothing could be compared: no benchmark has two runs of one system without interference. Sides of trials do not count."
        }
    }
}

/// Number of events in each state.
pub(crate) fn state_tiles(events: &[ChangeEvent]) -> Vec<Tile> {
    let tile = |state: ChangeState| {
        let of_state = events.iter().filter(|event| event.triage.state == state);
        let (worse, better): (Vec<_>, Vec<_>) = of_state.partition(|event| event.worse);
        let [slower, faster] = [worse.len(), better.len()];
        let count = slower + faster;
        (count > 0 || state == ChangeState::New).then(|| Tile {
            name: words::capital(state.as_str()),
            value: number::count(count),
            detail: format!("{slower} slower, {faster} faster"),
            tone: (slower > 0 && state == ChangeState::New).then_some(Tone::Bad),
        })
    };
    ChangeState::ALL.into_iter().filter_map(tile).collect()
}

/// A line for each event: benchmarks, size, system, first run, commits, and assignee.
pub(crate) fn table<'a>(
    document: &mut Document,
    caption: &str,
    events: impl IntoIterator<Item = &'a ChangeEvent>,
) {
    let what =
        |event: &&ChangeEvent| Cell::from(benchmarks(event)).about(About::Event(event.id.clone()));
    let size = |event: &&ChangeEvent| {
        let tone = if event.worse { Tone::Bad } else { Tone::Good };
        let pair = event.before.clone().map(|before| [before, event.run.clone()]);
        Cell::from(size(event)).toned(Some(tone)).about(pair.map(About::Pair))
    };
    Columns::<&ChangeEvent>::key("Change", Style::Text, what)
        .text("Speed", size)
        .text("System", |event| Cell::system(&event.name, &event.machine))
        .column(Column::new("Since (UTC)", Style::Code).rank(1), |event| {
            words::minute(&event.started)
        })
        .column(Column::new("Run", Style::Code), |event| Cell::run(&event.run))
        .column(Column::new("Commits", Style::Code), |event| {
            let commits = event.commits.as_ref();
            let link = commits.and_then(|commits| commits.link.clone());
            Cell::from(commits.map(short_commits)).about(link.map(About::Web))
        })
        .text("State", |event| event.triage.state.as_str())
        .text("Who", |event| assignee_or_author(&event.triage))
        .column(Column::new("Note", Style::Text).rank(2), |event| {
            event.triage.log.last().map(|entry| entry.note.clone())
        })
        .table(document, caption, events);
}

/// Assignee, else the author of the newest entry.
fn assignee_or_author(triage: &Triage) -> Option<String> {
    let author = triage.log.last().map(|entry| entry.who.clone());
    triage.assignee.clone().or(author)
}

/// The first benchmark of an event, and the number of others.
fn benchmarks(event: &ChangeEvent) -> String {
    let ids: Vec<&str> = event.changes.iter().map(|change| change.benchmark.as_str()).collect();
    listed(&ids, 1)
}

fn short_commits(commits: &CommitRange) -> String {
    let [good, bad] = [&commits.good, &commits.bad].map(|id| id.get(..10).unwrap_or(id));
    format!("{good}..{bad}")
}

/// The page of an event.
pub fn change(event: &ChangeEvent) -> Document {
    let mut document = Document::new(format!("Change {}", event.id));
    document.subtitle = Some(sentence(event, &|_| None));
    document.heading(1, "What is known");
    let pair = event.before.as_ref().map(|before| {
        let runs = [words::short_id(before), words::short_id(&event.run)];
        let text = format!("{} and {}, side by side", runs[0], runs[1]);
        Text::new(text).about(Some(About::Pair([before.clone(), event.run.clone()])))
    });
    let commits = event.commits.as_ref().map(|commits| {
        Text::new(short_commits(commits)).about(commits.link.clone().map(About::Web))
    });
    let empty = || Text::new("");
    document.terms([
        ("state", Text::new(event.triage.state.as_str())),
        ("assigned to", Text::new(event.triage.assignee.clone().unwrap_or_default())),
        ("runs before and since", pair.unwrap_or_else(empty)),
        ("commits between", commits.unwrap_or_else(empty)),
        (
            "system",
            Text::new(event.name.as_str()).about(Some(About::System(event.machine.clone()))),
        ),
    ]);
    document.paragraph(format!(
        "Set the state with `gritstone changes assign {} WHO`, or with `acknowledge`, `expect`, `fix` or `reopen` and `--note TEXT`.",
        event.id
    ));
    if !event.triage.joined.is_empty() {
        let joined = event.triage.joined.iter().map(|id| format!("`{id}`"));
        document.paragraph(format!(
            "Added after the newest triage entry: {}.",
            words::join(&joined.collect::<Vec<_>>())
        ));
    }
    log(&mut document, &event.triage);
    let caption = "Facts of the system that differ";
    compare::differences(&mut document, ["Before", "Since"], caption, &event.differ_in);
    document.heading(1, "Benchmarks");
    lines(&mut document, &event.changes);
    document.heading(1, "How to confirm");
    confirmation(&mut document, event);
    document
}

fn log(document: &mut Document, triage: &Triage) {
    let entries = triage.log.iter().rev();
    Columns::<&TriageEntry>::key("When (UTC)", Style::Code, |entry| words::minute(&entry.at))
        .text("Who", |entry| entry.who.as_str())
        .text("State", |entry| entry.state.as_str())
        .text("Assigned to", |entry| entry.assignee.clone())
        .text("Note", |entry| Some(entry.note.clone()))
        .table(document, "Triage log, newest first", entries);
}

fn confirmation(document: &mut Document, event: &ChangeEvent) {
    let mut changes: Vec<&Change> = event.changes.iter().collect();
    let size = |change: &Change| change.change.ratio.ln().abs();
    changes.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let ids =
        changes.iter().take(MAX_BENCHMARKS_IN_COMMAND).map(|change| change.benchmark.to_string());
    let ids = ids.collect::<Vec<_>>().join(" ");
    let rest = changes.len().saturating_sub(MAX_BENCHMARKS_IN_COMMAND);
    let largest = match rest {
        0 => String::new(),
        _ => {
            format!(" ({MAX_BENCHMARKS_IN_COMMAND} with the largest changes of {})", changes.len())
        }
    };
    let imported = |change: &&Change| words::is_imported(&change.benchmark, &event.machine);
    if let Some(change) = changes.iter().copied().find(imported) {
        document.paragraph(format!(
            "Measure again with the program of {} in each state, import the results, and compare the runs:",
            change.benchmark
        ));
        document.list(["`gritstone import FILE --label LABEL`".to_owned()]);
        return;
    }
    document.paragraph(format!(
        "Where commands switch {} between both states, an interleaved A/B test decides{largest}:",
        event.name
    ));
    document.list([format!("`gritstone ab {ids} --a 'BEFORE' --b 'SINCE' --undo 'UNDO'`")]);
    document.paragraph("Otherwise measure a run in each state, and compare them:");
    document.list([format!("`gritstone run {ids} --label LABEL`")]);
}

/// Newest triage entry of an event as a sentence, without its full stop.
pub fn newest_entry(event: &ChangeEvent) -> Option<String> {
    let entry = event.triage.log.last()?;
    let to = entry.assignee.as_ref().map_or_else(String::new, |to| format!(" to {to}"));
    let note = match entry.note.as_str() {
        "" => String::new(),
        note => format!(": {note}"),
    };
    let (state, date) = (words::capital(entry.state.as_str()), words::date(&entry.at));
    Some(format!("{state}{to} by {}, {date}{note}", entry.who))
}

/// A line for each change, with a link that compares the runs before and after it.
fn lines<'a>(document: &mut Document, changes: impl IntoIterator<Item = &'a Change>) {
    let pair =
        |change: &Change| Some(About::Pair([change.before.clone()?, change.change.run.clone()]));
    let change = |change: &&Change| {
        let (text, _) = words::change(change.better, change.change.ratio, change.change.interval);
        let tone = match change.change.ratio < 1.0 {
            true => Tone::Bad,
            false => Tone::Good,
        };
        Cell::from(text).toned(Some(tone)).about(pair(change))
    };
    Columns::<&Change>::key("Benchmark", Style::Code, |change| Cell::benchmark(&change.benchmark))
        .number("Change", change)
        .number("95% interval", |change| {
            words::change(change.better, change.change.ratio, change.change.interval).1
        })
        .number("Before", |change| value(change, change.value_before))
        .number("Since", |change| value(change, change.value_since))
        .text("Speed", |change| {
            let [better, worse] = Sense::Speed.words();
            let how = if change.change.ratio < 1.0 { worse } else { better };
            format!("{how}{}", words::drift(change.change.drift))
        })
        .column(Column::new("First run", Style::Code), |change| Cell::run(&change.change.run))
        .column(Column::new("Date (UTC)", Style::Code), |change| {
            words::minute(&change.change.started)
        })
        .text("Kernel", |change| change.kernel.as_str())
        .text("System", |change| Cell::system(&change.name, &change.machine))
        .table(document, "Changes of level", changes);
}

fn value(change: &Change, value: Option<f64>) -> Option<String> {
    Some(number::figure(value?, None, change.unit.as_str()).with_unit())
}

/// Number of new events in words.
pub fn new_events(count: usize) -> String {
    words::plural(count, "new change")
}

/// An event in a sentence: `12 benchmarks 1.03 to 1.09× slower on x since run y of 1 May 2026, 12:00 UTC; differs in cpu microcode`.
pub fn event(event: &ChangeEvent) -> String {
    sentence(event, &|commits| commits.link.clone())
}

fn sentence(event: &ChangeEvent, link: &dyn Fn(&CommitRange) -> Option<String>) -> String {
    let what = match event.changes.as_slice() {
        [one] => format!("{} ({})", one.benchmark, one.title),
        many => words::plural(many.len(), "benchmark"),
    };
    let differs = match event.differ_in.as_slice() {
        [] => String::new(),
        facts => format!("; differs in {}", words::facts(facts)),
    };
    let commits = event.commits.as_ref().map_or_else(String::new, |commits| {
        let link = link(commits).map_or_else(String::new, |link| format!(" ({link})"));
        format!("; commits {}{link}", short_commits(commits))
    });
    let (run, since) = (words::short_id(&event.run), words::date(&event.started));
    let between = between(event).map_or_else(String::new, |between| format!(" ({between})"));
    format!(
        "{what} {} on {} since run {run}{between} of {since}{differs}{commits}",
        size(event),
        event.name
    )
}

/// `1.03 to 1.09× slower (drift)`: over all benchmarks.
fn size(event: &ChangeEvent) -> String {
    let ratios = event.changes.iter().map(|change| change.change.ratio);
    let ratios = ratios.map(|ratio| if event.worse { 1.0 / ratio } else { ratio });
    let low = ratios.clone().fold(f64::INFINITY, f64::min);
    let high = ratios.fold(f64::NEG_INFINITY, f64::max);
    // not "1.00× slower"
    let decimals = if low < 1.01 { 3 } else { 2 };
    let [low, high] = [low, high].map(|ratio| number::fixed(ratio, decimals));
    let range = match low == high {
        true => low,
        false => format!("{low} to {high}"),
    };
    let [better, worse] = Sense::Speed.words();
    let how = if event.worse { worse } else { better };
    format!("{range}× {how}{}", words::drift(event.is_drift()))
}

/// The runs at which it may have begun, if there are several.
fn between(event: &ChangeEvent) -> Option<String> {
    let [first, .., last] = event.may_begin.as_slice() else {
        return None;
    };
    let [first, last] = [first, last].map(|run| words::short_id(run));
    let runs = words::plural(event.may_begin.len(), "run");
    Some(format!("one of {runs} from {first} to {last} may have begun it"))
}

/// A line for each benchmark of an event.
pub fn event_lines(event: &ChangeEvent) -> Vec<String> {
    let line = |change: &Change| {
        let ratio = words::ratio(change.change.ratio, change.change.interval, Sense::Speed);
        format!("{} ({}): {ratio}", change.benchmark, change.title)
    };
    event.changes.iter().map(line).collect()
}
