//! The performance brief: what one machine does, beside the machines of the documents, on pages that a person would
//! publish.
//!
//! Must not know: the names of benchmarks and families, renderers, how figures are estimated and compared.

mod appendix;
mod curve;
mod family;
mod front;
mod published;

use crate::document::{Block, Document, Text};
use crate::{show, words};
use gritstone_model::{Benchmark, CompareView, Family, ResultView, RunView};

/// What a brief is made of.
#[derive(Clone, Copy, Debug)]
pub struct Brief<'a> {
    /// The run that it is about.
    pub run: &'a RunView,
    /// The machines of the documents, in the order in which they are to be listed.
    pub references: &'a [RunView],
    /// The run against one of them, or against another run: what stands out is told from this.
    pub against: Option<&'a CompareView>,
    /// Prose of the families.
    pub families: &'a [Family],
    /// The entries behind the results of the run.
    pub benchmarks: &'a [Benchmark],
}

/// How this machine is called in tables and figures that list others.
const THIS: &str = "This machine";

impl<'a> Brief<'a> {
    fn family(&self, name: &str) -> Option<&'a Family> {
        self.families.iter().find(|f| f.name == name)
    }

    fn benchmark(&self, result: &ResultView) -> Option<&'a Benchmark> {
        self.benchmarks.iter().find(|b| b.id == result.id)
    }
}

/// The brief as a document.
#[must_use]
pub fn brief(input: &Brief) -> Document {
    let run = input.run;
    let name = run.label.as_deref().unwrap_or_else(|| show::name(run));
    let mut document = Document::new(format!("Performance brief: {name}"));
    document.subtitle = Some(show::subtitle(run));
    document.paragraph(show::machine_sentence(&run.machine));
    document.heading(1, "What stands out");
    let points = front::stands_out(&mut document, input);
    document.push(Block::List(points));
    for (name, results) in show::by_family(&run.results) {
        family::section(&mut document, input, name, &results);
    }
    document.heading(1, "How it was measured");
    for paragraph in front::method(run) {
        document.paragraph(paragraph);
    }
    appendix::benchmarks(&mut document, input);
    appendix::system(&mut document, input);
    appendix::quality(&mut document, input);
    document
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
