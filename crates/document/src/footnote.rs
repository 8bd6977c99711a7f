//! Footnotes: how a table shows their flags, and how a terminal sums them up.

use crate::number;
use std::collections::BTreeSet;

/// Maximum row names before the text of a note.
pub(crate) const NAMES: usize = 3;

/// Judgment of a text, shown by color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tone {
    Good,
    Bad,
    /// Undecided, or in doubt.
    Doubt,
    /// Unimportant to most readers.
    Faint,
}

/// How a flag is shown, and what it means.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlagStyle {
    /// Sort order: the first field.
    pub rank: u8,
    /// Letter in the flags column of a terminal.
    pub letter: &'static str,
    pub tone: Tone,
    pub meaning: &'static str,
    /// Line below the tables of a terminal; `None` for flags without a warning.
    pub summary: Option<Summary>,
}

/// Wording of the summary of a flag's notes.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Summary {
    /// Follows the number of results: `3 results noisy`.
    pub what: &'static str,
    pub shown: Shown,
    /// Advice.
    pub remedy: &'static str,
}

/// Details that a summary shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shown {
    /// First sentence of the note.
    First,
    /// A line per note, with the names of its rows.
    Reasons,
    /// Names of rows, without the sentences.
    Names,
    /// Row names with details, the largest first; without details the first sentence.
    Largest,
    /// The largest detail of each kind.
    Kinds,
}

/// A measured detail of a note, for its summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Detail {
    pub kind: &'static str,
    pub size: f64,
    pub text: String,
}

/// A footnote of a document, listed once per flag and text.
#[derive(Clone, Debug, PartialEq)]
pub struct Footnote {
    pub flag: Option<&'static FlagStyle>,
    pub text: String,
    pub details: Vec<Detail>,
}

impl Footnote {
    /// The text after the names of its rows.
    pub(crate) fn with_names(&self, names: &[&str]) -> String {
        match names {
            [] | [""] => self.text.clone(),
            names => format!("{}: {}", listed(names, NAMES), self.text),
        }
    }
}

/// At most `max` names, and the number of others: `a, b and 5 more`.
pub fn listed<S: AsRef<str>>(names: &[S], max: usize) -> String {
    let shown = names.len().min(max);
    let first: Vec<&str> = names[..shown].iter().map(AsRef::as_ref).collect();
    let more = match names.len() - shown {
        0 => String::new(),
        more => format!(" and {} more", number::count(more)),
    };
    format!("{}{more}", first.join(", "))
}

impl Summary {
    /// The number of results with notes, and details of the notes, the most important first. Each note has the name of its row.
    pub(crate) fn warning(&self, notes: &[(&str, &Footnote)]) -> (String, Vec<String>) {
        let names: BTreeSet<&str> = notes.iter().map(|(name, _)| *name).collect();
        let first = || {
            let first = notes.first().map(|(name, note)| match *name {
                "" => note.text.clone(),
                name => format!("{name}: {}", note.text),
            });
            first.into_iter().collect::<Vec<_>>()
        };
        let details = match self.shown {
            Shown::First | Shown::Reasons => first(),
            Shown::Names => {
                let names = names.iter().filter(|name| !name.is_empty());
                names.map(|name| (*name).to_owned()).collect()
            }
            Shown::Largest => largest(notes).unwrap_or_else(first),
            Shown::Kinds => kinds(notes),
        };
        (format!("{} {}", number::plural(names.len(), "result"), self.what), details)
    }
}

fn largest(notes: &[(&str, &Footnote)]) -> Option<Vec<String>> {
    let details =
        notes.iter().flat_map(|(name, note)| note.details.iter().map(|detail| (detail, *name)));
    let mut details: Vec<(&Detail, &str)> = details.collect();
    details.sort_by(|a, b| b.0.size.total_cmp(&a.0.size));
    let mut seen = BTreeSet::new();
    details.retain(|(_, name)| seen.insert(*name));
    let texts = details.iter().map(|(detail, name)| format!("{name} {}", detail.text));
    (!details.is_empty()).then(|| texts.collect())
}

fn kinds(notes: &[(&str, &Footnote)]) -> Vec<String> {
    let mut worst: Vec<&Detail> = vec![];
    for detail in notes.iter().flat_map(|(_, note)| &note.details) {
        match worst.iter_mut().find(|known| known.kind == detail.kind) {
            Some(known) if known.size < detail.size => *known = detail,
            Some(_) => {}
            None => worst.push(detail),
        }
    }
    worst.iter().map(|detail| detail.text.clone()).collect()
}
