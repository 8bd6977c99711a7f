//! What a store has: the list of `gritstone runs`, and the pages of `gritstone serve` that lead to runs, systems and benchmarks.

use crate::document::{About, Column, Document, Style, Tone};
use crate::number;
use crate::table::{Cell, Columns};
use crate::words::{self, Sense};
use gritstone_model::{
    Change, ChangeEvent, FactChange, FoundBenchmark, ListedRun, ListedSystem, OverviewView,
    Reliability, SearchView, SystemView,
};

/// The runs as a list.
#[must_use]
pub fn runs(runs: &[ListedRun]) -> Document {
    let mut document = Document::default();
    if runs.is_empty() {
        document.paragraph("There is nothing to list.");
    }
    list(&mut document, "", runs);
    document
}

fn list(document: &mut Document, caption: &str, runs: &[ListedRun]) {
    let key = Column {
        key: true,
        ..Column::new("id", Style::Code)
    };
    let id = |run: &&ListedRun| Cell::from(run.id.as_str()).about(About::Run(run.id.clone()));
    let system = |run: &&ListedRun| {
        Cell::from(run.machine.as_str()).about(About::System(run.machine_id.clone()))
    };
    Columns::<&ListedRun>::of(key, id)
        .column(Column::new("date (UTC)", Style::Code), |run| {
            words::minute(&run.started)
        })
        .text("label", |run| run.label.clone())
        .number("benchmarks", |run| run.benchmarks.to_string())
        .text("kind", |run| match run.elapsed_s {
            Some(_) => run.kind.clone(),
            None => format!("{}, interrupted", run.kind),
        })
        .text("machine", system)
        .table(document, caption, runs);
}

/// A store at a glance: what changed, the newest runs, the systems.
#[must_use]
pub fn overview(view: &OverviewView) -> Document {
    let mut document = Document::new("Overview");
    document.subtitle = Some(format!(
        "{} of {}",
        words::plural(view.stored, "run"),
        words::plural(view.systems.len(), "system")
    ));
    if view.stored == 0 {
        document.paragraph("No run is stored yet: `gritstone run --quick` takes a few minutes.");
        return document;
    }
    document.heading(1, "What changed");
    match view.events.as_deref() {
        None => document.paragraph("Changes are being computed: load the page again."),
        Some([]) => document.paragraph("No change was found."),
        Some(events) => {
            document.paragraph("Changes, tentative until `gritstone ab` confirms them:");
            document.list(events.iter().map(event));
            changed(&mut document, events.iter().flat_map(|of| &of.changes));
        }
    }
    document.heading(1, "Newest runs");
    list(&mut document, "Runs", &view.runs);
    document.heading(1, "Systems");
    systems(&mut document, &view.systems);
    document
}

/// A line for each change: the change leads to the run before and the run since, side by side.
fn changed<'a>(document: &mut Document, changes: impl Iterator<Item = &'a Change>) {
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
            let word = if of.change.ratio < 1.0 { worse } else { better };
            match of.change.suspected {
                true => format!("suspected {word}"),
                false => word.to_owned(),
            }
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
    let suspected = match of.changes.iter().all(|of| of.change.suspected) {
        true => "suspected: ",
        false => "",
    };
    let differs = match of.differ_in.as_slice() {
        [] => String::new(),
        facts => format!("; differs in {}", words::facts(facts)),
    };
    let (run, since) = (words::short_id(&of.run), words::date(&of.started));
    format!(
        "{suspected}{what} {range}× {how} on {} since run {run} of {since}{differs}",
        of.name
    )
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

fn systems(document: &mut Document, systems: &[ListedSystem]) {
    let name =
        |of: &&ListedSystem| Cell::from(of.name.as_str()).about(About::System(of.id.clone()));
    let newest = |of: &&ListedSystem| {
        Cell::from(words::short_id(&of.newest)).about(About::Run(of.newest.clone()))
    };
    let reliability = |of: &&ListedSystem| {
        let word = of.reliability.map(|word| word.as_str().to_owned());
        Cell::from(word).toned(of.reliability.map(|word| match word {
            Reliability::High => Tone::Good,
            Reliability::Medium => Tone::Doubt,
            Reliability::Low => Tone::Bad,
        }))
    };
    Columns::<&ListedSystem>::key("System", Style::Text, name)
        .number("Runs", |of| of.runs)
        .column(Column::new("Newest run", Style::Code), newest)
        .column(Column::new("Date (UTC)", Style::Code), |of| {
            words::minute(&of.started)
        })
        .text("Reliability", reliability)
        .text("Operating system", |of| of.system.as_str())
        .table(document, "Systems, that with the newest run first", systems);
}

/// A system: its facts as they are, those that changed, its runs.
#[must_use]
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
    let run =
        |of: &&FactChange| Cell::from(words::short_id(&of.run)).about(About::Run(of.run.clone()));
    Columns::<&FactChange>::key("Fact", Style::Text, |of| words::fact(&of.fact))
        .text("Before", |of| of.before.clone())
        .text("Since", |of| of.after.clone())
        .column(Column::new("First run", Style::Code), run)
        .column(Column::new("Date (UTC)", Style::Code), |of| {
            words::minute(&of.started)
        })
        .table(
            &mut document,
            format!(
                "Changes in the newest {}, newest first",
                words::plural(view.examined, "run")
            ),
            &view.changes,
        );
    document.heading(1, "Runs");
    list(&mut document, "Runs, newest first", &view.runs);
    document.heading(1, "Facts in the newest run");
    let facts = machine.facts.iter();
    let facts = facts.map(|(name, value)| (words::fact(name), value.clone()));
    let whole = [
        ("operating system".to_owned(), machine.system.clone()),
        ("configuration".to_owned(), machine.configuration.clone()),
    ];
    document.terms(whole.into_iter().chain(facts));
    document
}

/// What a search found.
#[must_use]
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
    if !view.benchmarks.is_empty() {
        document.heading(1, format!("Benchmarks ({})", view.benchmarks.len()));
        let id = |of: &&FoundBenchmark| {
            let id = of.id.to_string();
            Cell::from(id.as_str()).about(About::Benchmark(id))
        };
        Columns::<&FoundBenchmark>::key("Benchmark", Style::Code, id)
            .text("What", |of| of.title.as_str())
            .table(&mut document, "Benchmarks", &view.benchmarks);
    }
    document
}

/// A page that says why there is none.
#[must_use]
pub fn refused(title: &str, why: &str) -> Document {
    let mut document = Document::new(title);
    document.paragraph(why);
    document
}
