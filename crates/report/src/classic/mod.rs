//! The report of a run in the order of a performance brief of its time: the tables and figures of documents, with the run in them.

mod appendix;
mod figures;
mod numbers;
mod tables;

use crate::brief::{Brief, data_sheet, name, transactions};
use crate::{findings, words};
use gritstone_document::{Block, Document, Table, listed};
use gritstone_model::{
    Benchmark, Chapter, Exhibit, Form, Id, Measurement, RunView, Selector, grouped,
};
use numbers::Numbers;

/// Input of the report.
#[derive(Clone, Copy, Debug)]
pub struct Classic<'a> {
    pub brief: Brief<'a>,
    pub chapters: &'a [Chapter],
    /// All systems of the documents that the chapters name.
    pub printed: &'a [RunView],
}

/// A chapter for each area, then the configurations and the tests.
pub fn classic(input: &Classic) -> Document {
    let run = input.brief.run;
    let mut document = Document::new(format!("Performance brief: {}", name(run)));
    data_sheet::head(&mut document, &input.brief);
    for (index, chapter) in input.chapters.iter().enumerate() {
        document.heading(1, format!("{}. {}", index + 1, chapter.title));
        document.paragraph(chapter.text.trim());
        for exhibit in &chapter.exhibits {
            append(&mut document, input, exhibit);
        }
    }
    appendix::append(&mut document, input);
    document
}

/// An exhibit with its benchmarks and systems.
struct Shown<'a> {
    exhibit: &'a Exhibit,
    run: &'a RunView,
    systems: Vec<&'a RunView>,
    benchmarks: Vec<&'a Benchmark>,
}

impl<'a> Shown<'a> {
    fn new(input: &Classic<'a>, exhibit: &'a Exhibit) -> Self {
        let systems = input.printed.iter();
        let document = Some(exhibit.document.as_str());
        let systems = systems.filter(|view| view.machine.document.as_deref() == document);
        let systems: Vec<&RunView> = systems.collect();
        let mut benchmarks = selected(exhibit, &input.brief.parts.benchmarks);
        if matches!(exhibit.form, Form::Table | Form::Bars) {
            // a family's selector may match more than the exhibit has
            let printed = |id: &Id| systems.iter().any(|view| view.get(id).is_some());
            benchmarks.retain(|benchmark| printed(&benchmark.id));
        }
        Self { exhibit, run: input.brief.run, systems, benchmarks }
    }

    /// The results of the systems and of the run, in one unit; `None` without any.
    fn numbers(&self, benchmark: &Benchmark) -> Option<Numbers> {
        let systems = self.systems.iter();
        let printed: Vec<_> = systems.map(|view| view.get(&benchmark.id)).collect();
        Numbers::new(self.result(&benchmark.id), &printed)
    }

    /// "Table 2.1: SPICE, elapsed seconds".
    fn caption(&self) -> String {
        let Exhibit { place, title, document, .. } = self.exhibit;
        format!("{} of {document}: {title}", words::capital(place))
    }

    /// A unique identifier for a drawing.
    fn anchor(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let Exhibit { place, document, .. } = self.exhibit;
        format!("{document}-{place}").chars().map(plain).collect()
    }

    fn result(&self, id: &Id) -> Option<&'a Measurement> {
        self.run.get(id)
    }

    fn reference(&self) -> Option<&'a RunView> {
        let id = self.exhibit.reference.as_deref()?;
        self.systems.iter().copied().find(|view| view.machine.id == id)
    }
}

/// In the order of the selectors, and for each in that of the catalog.
fn selected<'a>(exhibit: &Exhibit, benchmarks: &'a [Benchmark]) -> Vec<&'a Benchmark> {
    let by = exhibit.benchmarks.iter().map(|text| Selector::new(text));
    by.flat_map(|by| benchmarks.iter().filter(move |benchmark| by.matches(&benchmark.id))).collect()
}

/// The exhibit, its notes, and benchmarks that the run lacks.
fn append(document: &mut Document, input: &Classic, exhibit: &Exhibit) {
    let shown = &Shown::new(input, exhibit);
    let table = |table: Table| (!table.rows.is_empty()).then_some(Block::Table(table));
    let block = match exhibit.form {
        Form::Table => table(tables::by_benchmark(shown)),
        Form::Statistics => table(tables::statistics(shown)),
        Form::Ratios => table(tables::ratios(shown)),
        Form::Elements => table(tables::elements(shown)),
        Form::Words => None,
        Form::Bars => figures::bars(shown).map(Block::Figure),
        Form::Relative => figures::relative(shown).map(Block::Figure),
        Form::Curve => figures::curve(shown).map(Block::Figure),
        Form::Cpus => figures::cpus(shown).map(Block::Figure),
        Form::Shares => figures::shares(shown).map(Block::Figure),
        Form::Transactions => transactions::figure(&input.brief).map(Block::Figure),
    };
    let text = exhibit.text.as_deref().unwrap_or_default().trim();
    match block {
        Some(block) => {
            document.push(block);
            if !text.is_empty() {
                document.paragraph(text);
            }
        }
        None => document.paragraph(format!("{}. {text}", shown.caption()).trim_end().to_owned()),
    }
    // tables have their own notes
    if !matches!(exhibit.form, Form::Words | Form::Bars | Form::Relative) {
        missing(document, shown);
    }
}

/// Reasons for missing numbers of the run.
fn missing(document: &mut Document, shown: &Shown) {
    let reason = |benchmark: &&Benchmark| {
        let result = shown.result(&benchmark.id);
        let why = result.and_then(|result| result.notes.first()).map(findings::message);
        let why = why.unwrap_or_else(|| "Not in this run.".to_owned());
        let is_missing = result.is_none_or(|result| result.value().is_none());
        is_missing.then(|| (why, benchmark.id.clone()))
    };
    let reasons = grouped(shown.benchmarks.iter().filter_map(reason));
    let items = reasons.iter().map(|(why, ids)| {
        let ids: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
        format!("Without a result here: {}. {why}", listed(&ids, MAX_NAMED))
    });
    document.list(items);
}

/// Benchmarks named per reason; more are counted.
const MAX_NAMED: usize = 4;
