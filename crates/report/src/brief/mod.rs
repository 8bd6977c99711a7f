//! The performance brief: what one machine does, or several side by side, beside the machines of the documents, on pages
//! that a person would publish.

mod appendix;
mod curve;
mod drawn;
mod family;
mod front;
mod histogram;
mod levels;
mod published;

use crate::clean::shortened;
use crate::document::{Document, NoteId, Text};
use crate::{show, words};
use gritstone_model::{
    Benchmark, CompareView, Family, Id, Measurement, Note, RatingsView, RunView,
};

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

/// Letters of a name beside others; the title has it whole.
const LONGEST_NAME: usize = 40;

/// The areas of hp-1987, in its order, and the families that each is made of. This is the one place that knows of families.
/// One that stands in none of them, such as one of a user's own catalog, comes last, in an area of its own.
const AREAS: [(&str, &[&str]); 8] = [
    (
        "Multi-user work and applications",
        &["multiuser", "app", "db"],
    ),
    ("Processor", &["cpu"]),
    (
        "UNIX system",
        &[
            "byte", "iocall", "kernel", "unix", "aim", "ipc", "event", "thread", "sched",
        ],
    ),
    ("Memory and paging", &["memory", "vm"]),
    ("Real time", &["rt", "daq"]),
    ("File system and disk", &["fs", "file", "disk"]),
    ("Network", &["net", "netrt"]),
    ("Other benchmarks", &[]),
];

impl<'a> Brief<'a> {
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
        let short = |run| shortened(own_name(run), LONGEST_NAME);
        let plain = short(&self.runs[run]);
        match self.runs.iter().filter(|r| short(r) == plain).count() {
            1 => plain,
            _ => format!("{plain} ({})", run + 1),
        }
    }

    fn names(&self) -> Vec<String> {
        (0..self.runs.len()).map(|run| self.name(run)).collect()
    }

    /// What is said of a run, with its name before it where there are several.
    fn of(&self, run: usize, between: &str, said: &str) -> String {
        match self.several() {
            true => format!("{}{between}{said}", self.name(run)),
            false => said.to_owned(),
        }
    }

    /// The same with its name behind it.
    fn behind(&self, run: usize, said: &str) -> String {
        match self.several() {
            true => format!("{said}, {}", self.name(run)),
            false => said.to_owned(),
        }
    }

    /// All rows of all runs, each once, in the order in which they are first met.
    fn rows(&self) -> Vec<Across<'a>> {
        let runs = self.runs.iter().enumerate();
        let results = runs.flat_map(|(at, run)| run.results.iter().map(move |r| (&r.id, (at, r))));
        let across = |(id, found): (&'a Id, Vec<(usize, &'a Measurement)>)| {
            let mut results = vec![None; self.runs.len()];
            for (at, result) in &found {
                results[*at] = Some(*result);
            }
            let any = found[0].1;
            Across { id, any, results }
        };
        grouped(results).into_iter().map(across).collect()
    }
}

/// One row in every run.
#[derive(Clone, Debug)]
struct Across<'a> {
    id: &'a Id,
    /// The row of the first run that has it: for what is the same in all.
    any: &'a Measurement,
    /// In the order of the runs.
    results: Vec<Option<&'a Measurement>>,
}

fn own_name(run: &RunView) -> &str {
    run.label.as_deref().unwrap_or_else(|| show::name(run))
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
        document.paragraph(input.of(at, ": ", &machine));
    }
    front::ratings(&mut document, input);
    front::stands_out(&mut document, input);
    let rows = input.rows();
    let mut families = grouped(rows.iter().map(|row| (row.id.family(), row.clone())));
    families.sort_by_key(|(name, _)| place(name));
    for area in families.chunk_by(|(a, _), (b, _)| place(a).0 == place(b).0) {
        document.heading(1, AREAS[place(area[0].0).0].0);
        for (name, rows) in area {
            family::section(&mut document, input, name, rows);
        }
    }
    front::method(&mut document, input.runs);
    appendix::benchmarks(&mut document, input, &rows);
    appendix::system(&mut document, input);
    appendix::quality(&mut document, input);
    document
}

/// The area of a family, and its place there.
fn place(family: &str) -> (usize, usize) {
    let mut areas = AREAS.iter().enumerate();
    let known = areas.find_map(|(area, (_, families))| {
        let place = families.iter().position(|name| *name == family)?;
        Some((area, place))
    });
    known.unwrap_or((AREAS.len() - 1, 0))
}

/// Values by their keys, in the order in which these are first met.
fn grouped<K: PartialEq, V>(values: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = vec![];
    for (key, value) in values {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
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

/// The marks of notes.
fn marks<'n>(document: &mut Document, notes: impl IntoIterator<Item = &'n Note>) -> Vec<NoteId> {
    notes.into_iter().map(|note| document.note(note)).collect()
}
