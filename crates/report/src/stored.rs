//! Contents of a store: the list of `gritstone runs`, and the pages of `gritstone serve` for runs, systems and benchmarks.

use crate::table::{Cell, Columns};
use crate::{Detail, fleet, words};
use gritstone_document::number;
use gritstone_document::{About, Column, Document, Style};
use gritstone_model::{
    BenchmarksView, FactChange, FleetProgress, FleetView, FoundBenchmark, ListedRun, ListedSystem,
    SearchView, SystemView,
};

/// The runs as a list.
pub fn runs(runs: &[ListedRun]) -> Document {
    let mut document = Document::default();
    if runs.is_empty() {
        document.paragraph("There is nothing to list.");
    }
    list(&mut document, "", runs);
    document
}

pub(crate) fn list(document: &mut Document, caption: &str, runs: &[ListedRun]) {
    let key = Column { key: true, ..Column::new("id", Style::Code) };
    let id = |run: &&ListedRun| Cell::from(run.id.as_str()).about(About::Run(run.id.clone()));
    let kind = |run: &&ListedRun| {
        let text = match (run.elapsed_s, &run.pruned) {
            (Some(_), None) => run.kind.clone(),
            (Some(_), Some(_)) => format!("{}, pruned", run.kind),
            (None, _) => match run.measuring {
                Some(true) => format!("{}, measuring", run.kind),
                Some(false) => format!("{}, interrupted", run.kind),
                None => format!("{}, not ended", run.kind),
            },
        };
        Cell::from(text).about((run.kind == "ab").then(|| About::Trial(run.id.clone())))
    };
    Columns::<&ListedRun>::new(key, id)
        .column(Column::new("date (UTC)", Style::Code), |run| words::minute(&run.started))
        .text("label", |run| run.label.clone())
        .number("benchmarks", |run| run.benchmarks.to_string())
        .text("kind", kind)
        .text("machine", |run| Cell::system(&run.machine, &run.machine_id))
        .table(document, caption, runs);
}

/// Progress of an unfinished run; `end` is when its time is spent, RFC 3339.
pub fn progress(launches: u64, last: Option<&str>, end: Option<&str>) -> String {
    let count = words::plural(usize::try_from(launches).unwrap_or(usize::MAX), "launch");
    let last = last.map_or_else(String::new, |id| format!(", the last of {id}"));
    let end = end.and_then(|end| end.get(11..16));
    let end = end.map_or_else(String::new, |end| format!(" Its time ends at {end} UTC."));
    format!("This run has not ended: {count} so far{last}.{end}")
}

/// All systems compared by their newest results.
pub fn systems_compared(
    view: &FleetView,
    all: &[ListedSystem],
    progress: Option<&FleetProgress>,
) -> Document {
    let mut document = fleet::fleet(view, Detail::Everything);
    document.title = "Fleet".to_owned();
    document.subtitle = Some(format!(
        "Newest results of {}, {}",
        words::plural(view.nodes.len(), "system"),
        words::plural(view.benchmarks.len(), "benchmark")
    ));
    document.heading(1, "Systems");
    systems(&mut document, all);
    let compared = std::mem::take(&mut document.blocks);
    document.paragraph(
        "Each system is one node, by its newest results. `gritstone fleet report` compares the nodes of a fleet run, also those of one system.",
    );
    if let Some(progress) = progress {
        fleet::nodes(&mut document, progress);
    }
    document.blocks.extend(compared);
    document
}

pub(crate) fn systems(document: &mut Document, systems: &[ListedSystem]) {
    let name = |system: &&ListedSystem| Cell::system(&system.name, &system.id);
    let reliability = |system: &&ListedSystem| {
        let word = system.reliability.map(|word| word.as_str().to_owned());
        Cell::from(word).toned(system.reliability.map(words::tone))
    };
    Columns::<&ListedSystem>::key("System", Style::Text, name)
        .number("Runs", |system| system.runs)
        .column(Column::new("Newest run", Style::Code), |system| Cell::run(&system.newest))
        .column(Column::new("Date (UTC)", Style::Code), |system| words::minute(&system.started))
        .text("Reliability", reliability)
        .number("Contention", |system| {
            let slowdown = system.contention.as_ref()?.slowdown;
            Some(number::percent(slowdown))
        })
        .number("Steal", |system| system.contention.as_ref()?.steal.map(number::percent))
        .text("Operating system", |system| system.system.as_str())
        .table(document, "Systems, that with the newest run first", systems);
}

/// A system: its facts, their changes, its runs.
pub fn system(view: &SystemView) -> Document {
    let machine = &view.machine;
    let name = match machine.name.trim() {
        "" => &machine.id,
        name => name,
    };
    let mut document = Document::new(name);
    document.subtitle = Some(format!("System {}", machine.id));
    document.heading(1, "Facts that changed");
    if view.changes.is_empty() {
        document.paragraph("No recorded fact changed from run to run.");
    }
    Columns::<&FactChange>::key("Fact", Style::Text, |change| words::fact(&change.fact))
        .text("Before", |change| change.before.clone())
        .text("Since", |change| change.after.clone())
        .column(Column::new("First run", Style::Code), |change| Cell::run(&change.run))
        .column(Column::new("Date (UTC)", Style::Code), |change| words::minute(&change.started))
        .table(
            &mut document,
            format!("Changes in the newest {}, newest first", words::plural(view.examined, "run")),
            &view.changes,
        );
    document.heading(1, "Runs");
    list(&mut document, "Runs, newest first", &view.runs);
    document.heading(1, "Facts in the newest run");
    let facts = machine.facts.iter();
    let facts = facts.map(|(name, value)| (words::fact(name), value.clone()));
    let terms = [
        ("operating system".to_owned(), machine.system.clone()),
        ("configuration".to_owned(), machine.configuration.clone()),
    ];
    document.terms(terms.into_iter().chain(facts));
    document
}

/// Results of a search.
pub fn search(view: &SearchView) -> Document {
    let mut document = Document::new("Search");
    if !view.query.is_empty() {
        document.subtitle = Some(format!("For “{}”", view.query));
    }
    if view.benchmarks.is_empty() && view.systems.is_empty() && view.runs.is_empty() {
        document.paragraph("Nothing was found.");
    }
    document.paragraph(
        "Words may be of a benchmark, a label, an id, a date (2026-11), a system, a kernel, a compiler or any other recorded fact.",
    );
    let is_named = view.benchmarks.first().is_some_and(|benchmark| benchmark.is_named(&view.query));
    if is_named {
        found_benchmarks(&mut document, &view.benchmarks);
    }
    if !view.runs.is_empty() {
        document.heading(1, format!("Runs ({})", number::count(view.found)));
        let caption = match view.found > view.runs.len() {
            true => format!("The newest {} runs", view.runs.len()),
            false => "Runs, newest first".to_owned(),
        };
        list(&mut document, &caption, &view.runs);
    }
    if !view.systems.is_empty() {
        document.heading(1, format!("Systems ({})", view.systems.len()));
        systems(&mut document, &view.systems);
    }
    if !is_named && !view.benchmarks.is_empty() {
        found_benchmarks(&mut document, &view.benchmarks);
    }
    document
}

fn found_benchmarks(document: &mut Document, found: &[FoundBenchmark]) {
    document.heading(1, format!("Benchmarks ({})", found.len()));
    benchmark_table(document, "Benchmarks", found);
}

fn benchmark_table(document: &mut Document, caption: &str, found: &[FoundBenchmark]) {
    Columns::<&FoundBenchmark>::key("Benchmark", Style::Code, |found| Cell::benchmark(&found.id))
        .text("What", |benchmark| benchmark.title.as_str())
        .table(document, caption, found);
}

/// All benchmarks by family.
pub fn benchmark_list(view: &BenchmarksView) -> Document {
    let mut document = Document::new("Benchmarks");
    document.subtitle = Some(words::plural(view.benchmarks.len(), "benchmark"));
    for family in view.benchmarks.chunk_by(|a, b| a.id.family() == b.id.family()) {
        let name = family[0].id.family();
        document.heading(1, name);
        benchmark_table(&mut document, &format!("Benchmarks of {name}"), family);
    }
    document
}

/// The newest runs of a store.
pub fn run_list(newest: &[ListedRun], stored: usize) -> Document {
    let mut document = Document::new("Runs");
    document.subtitle = Some(format!("{} of {}", newest.len(), words::plural(stored, "run")));
    list(&mut document, "Runs, newest first", newest);
    document
}

/// An error page.
pub fn refused(title: &str, why: &str) -> Document {
    let mut document = Document::new(title);
    document.paragraph(why);
    document
}
