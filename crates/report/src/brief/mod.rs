//! The performance brief: what one machine does, or several side by side, beside the machines of the documents, on pages
//! that a person would publish.

mod appendix;
mod areas;
mod bars;
mod copies;
mod curve;
mod family;
mod front;
mod levels;
mod published;
mod spread;

use crate::document::{Block, Document, Text};
use crate::{compare, show, words};
use gritstone_model::{Benchmark, CompareView, Family, Id, Measurement, RatingsView, RunView};

/// What a brief is made of.
#[derive(Clone, Copy, Debug)]
pub struct Brief<'a> {
    /// The runs that it is about; more than one stand side by side.
    pub runs: &'a [RunView],
    /// The machines of the documents, in the order in which they are to be listed.
    pub references: &'a [RunView],
    /// Each run against the same machine or run, in the order of the runs, or nothing: what stands out is told from this.
    pub against: &'a [CompareView],
    /// The runs rated against that machine or run; nothing where no rating is wanted.
    pub ratings: Option<&'a RatingsView>,
    /// Prose of the families.
    pub families: &'a [Family],
    /// The entries behind the results of the runs.
    pub benchmarks: &'a [Benchmark],
}

/// How the only machine of a brief is called in tables and figures that list others.
const THIS: &str = "This machine";

/// Letters of a name beside others; a longer one is cut.
const LONGEST_NAME: usize = 40;

impl<'a> Brief<'a> {
    fn family(&self, name: &str) -> Option<&'a Family> {
        self.families.iter().find(|f| f.name == name)
    }

    fn benchmark(&self, id: &Id) -> Option<&'a Benchmark> {
        self.benchmarks.iter().find(|b| b.id == *id)
    }

    fn several(&self) -> bool {
        self.runs.len() > 1
    }

    /// What a run is called beside others: each has another name.
    fn name(&self, run: usize) -> String {
        if !self.several() {
            return THIS.to_owned();
        }
        let plain = short_name(&self.runs[run]);
        let same = self.runs.iter().filter(|r| short_name(r) == plain).count();
        if same > 1 {
            format!("{plain} ({})", run + 1)
        } else {
            plain
        }
    }

    /// All rows of all runs, each once, in the order in which they are first met.
    fn rows(&self) -> Vec<Across<'a>> {
        let mut rows: Vec<Across> = Vec::new();
        for (at, run) in self.runs.iter().enumerate() {
            for result in &run.results {
                let row = match rows.iter().position(|r| r.id == &result.id) {
                    Some(known) => &mut rows[known],
                    None => {
                        rows.push(Across {
                            id: &result.id,
                            results: vec![None; self.runs.len()],
                        });
                        rows.last_mut().expect("just pushed")
                    }
                };
                row.results[at] = Some(result);
            }
        }
        rows
    }
}

/// One row in every run.
#[derive(Clone, Debug)]
struct Across<'a> {
    id: &'a Id,
    /// In the order of the runs; at least one has it.
    results: Vec<Option<&'a Measurement>>,
}

impl<'a> Across<'a> {
    /// The row of the first run that has it: for what is the same in all.
    fn any(&self) -> &'a Measurement {
        let first = self.results.iter().flatten().next();
        first.expect("a row is in one of the runs")
    }
}

fn own_name(run: &RunView) -> &str {
    run.label.as_deref().unwrap_or_else(|| show::name(run))
}

/// A name that can head a column; the title has it whole.
fn short_name(run: &RunView) -> String {
    let name = own_name(run);
    if name.chars().count() <= LONGEST_NAME {
        return name.to_owned();
    }
    let mut short: String = name.chars().take(LONGEST_NAME - 1).collect();
    short.push('…');
    short
}

/// The brief as a document.
#[must_use]
pub fn brief(input: &Brief) -> Document {
    let names: Vec<&str> = input.runs.iter().map(own_name).collect();
    let mut document = Document::new(format!("Performance brief: {}", words::join(&names)));
    let subtitles: Vec<String> = input.runs.iter().map(show::subtitle).collect();
    document.subtitle = Some(subtitles.join("; "));
    for (at, run) in input.runs.iter().enumerate() {
        let machine = show::machine_sentence(&run.machine);
        document.paragraph(match input.several() {
            true => format!("{}: {machine}", input.name(at)),
            false => machine,
        });
    }
    front::ratings(&mut document, input);
    stands_out(&mut document, input);
    let rows = input.rows();
    let mut families: Vec<&str> = Vec::new();
    for name in rows.iter().map(|row| row.id.family()) {
        if !families.contains(&name) {
            families.push(name);
        }
    }
    for (area, families) in areas::of(&families) {
        document.heading(1, area);
        for name in families {
            let rows: Vec<Across> = rows
                .iter()
                .filter(|r| r.id.family() == name)
                .cloned()
                .collect();
            family::section(&mut document, input, name, &rows);
        }
    }
    document.heading(1, "How it was measured");
    for paragraph in front::method(input.runs) {
        document.paragraph(paragraph);
    }
    appendix::benchmarks(&mut document, input, &rows);
    appendix::system(&mut document, input);
    appendix::quality(&mut document, input);
    document
}

fn stands_out(document: &mut Document, input: &Brief) {
    document.heading(1, "What stands out");
    for (at, run) in input.runs.iter().enumerate() {
        if input.several() {
            document.heading(2, input.name(at));
        }
        let points = front::stands_out(document, run, input.against.get(at));
        document.push(Block::List(points));
        if let Some(sentence) = input.against.get(at).and_then(compare::how_many) {
            document.paragraph(sentence);
        }
    }
}

/// The number of the next figure, for identifiers in its drawing.
fn next_figure(document: &Document) -> String {
    let figures = document.blocks.iter();
    let figures = figures.filter(|b| matches!(b, Block::Figure(_))).count();
    format!("figure-{}", figures + 1)
}

/// Names as a list of words, up to so many; the rest as a count.
fn some_of(names: &[String], most: usize) -> String {
    if names.len() <= most {
        return words::join(names);
    }
    let shown = names[..most].join(", ");
    format!("{shown} and {} more", names.len() - most)
}

/// A cell of a value that may not be there.
fn cell(text: Option<String>) -> Text {
    text.filter(|t| !t.is_empty())
        .map_or_else(Text::missing, Text::new)
}
