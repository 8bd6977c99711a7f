//! Marks of notes: how a table shows them, and how a terminal sums them up.

use crate::number;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// What a text says of what it is about, where color can show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Better, or as it should be.
    Good,
    /// Worse, or wrong.
    Bad,
    /// Undecided, or in doubt.
    Doubt,
    /// Of no interest to most readers.
    Faint,
}

/// A kind of note.
#[derive(Debug)]
pub struct Mark {
    /// Place among the marks.
    pub rank: u8,
    /// Letter in the flags column of a terminal.
    pub letter: &'static str,
    /// Reference mark in HTML and PDF.
    pub sign: &'static str,
    pub tone: Tone,
    pub meaning: &'static str,
    /// Line below the tables of a terminal; none for what warns of nothing.
    pub summary: Option<Summary>,
}

/// Reference mark of notes without a [`Mark`].
pub const PLAIN_SIGN: &str = "¶";

impl PartialEq for Mark {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for Mark {}

impl PartialOrd for Mark {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Mark {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank)
    }
}

impl std::hash::Hash for Mark {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.rank.hash(state);
    }
}

/// How the notes of a mark are summed up.
#[derive(Debug)]
pub struct Summary {
    /// Follows the number of results: `3 results noisy`.
    pub what: &'static str,
    pub shown: Shown,
    /// What to do about it.
    pub remedy: &'static str,
}

/// Which details a summary shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The first sentence.
    First,
    /// Names of rows: the sentences are too long for a line.
    Names,
    /// Names with their details, the largest first; where there are none, the first sentence.
    Largest,
    /// The largest detail of each kind.
    Kinds,
}

/// A measured detail of a note, for its summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Detail {
    pub kind: &'static str,
    pub size: f64,
    /// In few words.
    pub text: String,
}

/// A footnote of a document: the same flag and words are listed once, however many cells carry it.
#[derive(Clone, Debug, PartialEq)]
pub struct Footnote {
    pub mark: Option<&'static Mark>,
    /// A whole sentence.
    pub text: String,
    /// For the summary of its mark.
    pub details: Vec<Detail>,
}

/// A summary, in the parts of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub what: String,
    /// The most important first.
    pub details: Vec<String>,
    pub remedy: &'static str,
}

impl Summary {
    /// Sums up notes, each with the name of its row.
    pub(crate) fn warning(&self, notes: &[(&str, &Footnote)]) -> Warning {
        let names: BTreeSet<&str> = notes.iter().map(|(name, _)| *name).collect();
        let first = || {
            let first = notes.first().map(|(name, note)| match *name {
                "" => note.text.clone(),
                name => format!("{name}: {}", note.text),
            });
            first.into_iter().collect::<Vec<_>>()
        };
        let details = match self.shown {
            Shown::First => first(),
            Shown::Names => {
                let names = names.iter().filter(|name| !name.is_empty());
                names.map(|name| (*name).to_owned()).collect()
            }
            Shown::Largest => largest(notes).unwrap_or_else(first),
            Shown::Kinds => kinds(notes),
        };
        Warning {
            what: format!("{} {}", number::plural(names.len(), "result"), self.what),
            details,
            remedy: self.remedy,
        }
    }
}

fn largest(notes: &[(&str, &Footnote)]) -> Option<Vec<String>> {
    let details = notes
        .iter()
        .flat_map(|(name, note)| note.details.iter().map(|detail| (detail, *name)));
    let mut details: Vec<(&Detail, &str)> = details.collect();
    details.sort_by(|a, b| b.0.size.total_cmp(&a.0.size));
    let mut seen = BTreeSet::new();
    details.retain(|(_, name)| seen.insert(*name));
    let texts = details
        .iter()
        .map(|(detail, name)| format!("{name} {}", detail.text));
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
