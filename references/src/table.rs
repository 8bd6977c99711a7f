//! One table: its marks, and the rules of its cells.

use crate::error::Source;
use crate::shape::{CellEntry, Doubt, Figure, Reckoned};
use crate::{Cell, Distribution, Document, Error, Seconds, Value};
use gritstone_model::{Author, Better, Finding, Flag, Id, Note, Quantity, Subject};
use std::collections::{BTreeMap, BTreeSet};
use toml::Spanned;

/// A table during parsing.
pub(crate) struct Table<'a> {
    pub source: &'a Source<'a>,
    pub document: &'a Document,
    pub place: &'a str,
    pub footnotes: &'a BTreeMap<Spanned<String>, String>,
    pub kinds: &'a BTreeMap<Spanned<String>, Flag>,
    pub titles: &'a BTreeMap<Spanned<String>, String>,
    /// Marks in use.
    pub used: BTreeSet<String>,
}

impl Table<'_> {
    /// A key that is the identifier of a benchmark.
    pub fn id(&self, key: &Spanned<String>) -> Result<Id, Error> {
        let id = Id::parse(key.get_ref());
        id.map_err(|error| self.source.error(key.span().start, error.to_string()))
    }

    /// The notes of marks.
    pub fn remarks(&mut self, marks: &[Spanned<String>]) -> Result<Vec<Note>, Error> {
        let mut remarks = Vec::new();
        for mark in marks {
            let text = mark.get_ref();
            self.used.insert(text.clone());
            let why = self.explained(mark)?;
            let why = format!("{}, {} [{text}]: {why}", self.document.name, self.place);
            remarks.push(remark(self.kinds.get(mark).copied(), why));
        }
        Ok(remarks)
    }

    fn explained(&self, mark: &Spanned<String>) -> Result<&str, Error> {
        let why = self.footnotes.get(mark);
        let text = mark.get_ref();
        self.source.must(why.is_some(), mark, || {
            format!("the mark '{text}' is not explained under [footnotes]")
        })?;
        Ok(why.map_or("", String::as_str))
    }

    /// Rejects a flag of an unexplained mark, an unused note, a title without a cell, and empty texts.
    pub fn refuse_unused(&self, has_cell: impl Fn(&str) -> bool) -> Result<(), Error> {
        for mark in self.kinds.keys() {
            self.explained(mark)?;
        }
        for (key, title) in self.titles {
            let (id, has_text) = (key.get_ref(), !title.trim().is_empty());
            self.source.must(has_text, key, || "the title says nothing")?;
            self.source.must(has_cell(id), key, || format!("no row has a cell for {id}"))?;
        }
        for (mark, why) in self.footnotes {
            let (text, has_text) = (mark.get_ref(), !why.trim().is_empty());
            self.source.must(has_text, mark, || "the footnote says nothing")?;
            self.source.must(self.used.contains(text), mark, || {
                format!("no row and no cell has the mark '{text}'")
            })?;
        }
        Ok(())
    }

    /// The note of a doubt.
    pub fn doubt(&self, key: &Spanned<String>, why: String, about: Subject) -> Result<Note, Error> {
        let has_text = !why.trim().is_empty();
        self.source.must(has_text, key, || "a doubt must have a reason")?;
        let doubt = Finding::Stated { by: Author::Reader, flag: Some(Flag::Doubtful), text: why };
        Ok(Note::new(doubt).about(about))
    }

    /// A checked cell; the notes of its row come first.
    pub fn cell(
        &mut self,
        machine: &str,
        key: &Spanned<String>,
        entry: CellEntry,
        of_row: &[Note],
    ) -> Result<Cell, Error> {
        let benchmark = self.id(key)?;
        let seconds = self.seconds(key, &entry)?;
        let distribution = self.distribution(key, &entry)?;
        let value = match distribution {
            Some(_) => None,
            None => self.value(key, &entry)?,
        };
        let faults = self.faults_per_page(key, entry.faults_per_page)?;
        let printed = value.is_some() || distribution.is_some() || faults.is_some();
        let empty = seconds.is_empty() && !printed;
        let mut notes = of_row.to_vec();
        notes.extend(self.remarks(&entry.marks)?);
        let (faults_per_page, from) = faults.unzip();
        notes.extend(from);
        if let Some(from) = entry.reckoned {
            notes.push(self.reckoned(key, from)?);
        }
        let why = entry.missing.as_deref().unwrap_or_default().trim();
        self.source.must(
            !empty || !why.is_empty(),
            key,
            || "the cell has no figure: say why, missing = \"...\"",
        )?;
        self.source.must(
            empty || entry.missing.is_none(),
            key,
            || "the cell is said to be missing, and has a figure",
        )?;
        if let Some(why) = &entry.missing {
            let why = format!("{}, {}: {why}", self.document.name, self.place);
            notes.push(remark(None, why));
        }
        let mut cell = Cell {
            machine: machine.to_owned(),
            benchmark,
            document: self.document.name.clone(),
            title: self.titles.get(key).cloned(),
            place: self.place.to_owned(),
            seconds,
            value,
            distribution,
            faults_per_page,
            notes,
        };
        let doubts = self.doubts(key, entry.doubt, &cell)?;
        cell.notes.extend(doubts);
        Ok(cell)
    }

    fn wrong(&self, key: &Spanned<String>, what: impl Into<String>) -> Error {
        self.source.error(key.span().start, what)
    }

    fn seconds(&self, key: &Spanned<String>, entry: &CellEntry) -> Result<Seconds, Error> {
        let seconds = Seconds {
            real: entry.real_s,
            user: entry.user_s,
            system: entry.system_s,
            cpu: entry.cpu_s,
        };
        for s in seconds.all().into_iter().flatten() {
            self.source
                .must(s.is_finite() && s >= 0.0, key, || format!("{s} is not a time in seconds"))?;
        }
        Ok(seconds)
    }

    fn positive(&self, key: &Spanned<String>, x: f64) -> Result<(), Error> {
        let good = x.is_finite() && x > 0.0;
        self.source.must(good, key, || format!("{x} is not a figure"))
    }

    /// Calculated, never printed: a note gives the basis.
    fn faults_per_page(
        &self,
        key: &Spanned<String>,
        reckoned: Option<Reckoned>,
    ) -> Result<Option<(f64, Note)>, Error> {
        let Some(Reckoned { value, from }) = reckoned else {
            return Ok(None);
        };
        self.positive(key, value)?;
        let note = self.reckoned(key, from)?.about(Subject::FaultsPerPage);
        Ok(Some((value, note)))
    }

    fn reckoned(&self, key: &Spanned<String>, from: String) -> Result<Note, Error> {
        let has_text = !from.trim().is_empty();
        self.source.must(has_text, key, || "say from what the figure was reckoned")?;
        Ok(Note::new(Finding::Reckoned { from }))
    }

    fn value(&self, key: &Spanned<String>, entry: &CellEntry) -> Result<Option<Value>, Error> {
        let (value, unit) = match (entry.value, entry.unit.clone()) {
            (Some(value), Some(unit)) => (value, unit),
            (None, None) if entry.better.is_none() => return Ok(None),
            _ => {
                return Err(self.wrong(key, "value needs unit, and unit and better need value"));
            }
        };
        self.positive(key, value)?;
        let better = match (entry.better, unit.quantity()) {
            (Some(better), _) => better,
            (None, Quantity::Time { .. }) => Better::Lower,
            (None, Quantity::Rate { .. } | Quantity::Share) => Better::Higher,
            (None, Quantity::Exact) => {
                let what = format!("of '{unit}', say which way is good: better = \"lower\"");
                return Err(self.wrong(key, what));
            }
        };
        Ok(Some(Value { value, unit, better }))
    }

    fn distribution(
        &self,
        key: &Spanned<String>,
        entry: &CellEntry,
    ) -> Result<Option<Distribution>, Error> {
        let printed = [entry.min, entry.median, entry.mean, entry.max];
        if printed == [None; 4] {
            return Ok(None);
        }
        let unit = entry.unit.clone().filter(|_| entry.value.is_none() && entry.better.is_none());
        let ([Some(min), Some(median), mean, Some(max)], Some(unit)) = (printed, unit) else {
            let what = "a distribution has min, median, max and unit, perhaps mean, and neither value nor better";
            return Err(self.wrong(key, what));
        };
        let times = matches!(unit.quantity(), Quantity::Time { .. });
        self.source
            .must(times, key, || format!("a distribution is one of times, not of '{unit}'"))?;
        for x in printed.into_iter().flatten() {
            self.positive(key, x)?;
        }
        Ok(Some(Distribution { min, median, mean, max, unit }))
    }

    fn doubts(
        &self,
        key: &Spanned<String>,
        doubt: Option<Doubt>,
        cell: &Cell,
    ) -> Result<Vec<Note>, Error> {
        let figures = match doubt {
            None => return Ok(vec![]),
            Some(Doubt::Whole(why)) => return Ok(vec![self.doubt(key, why, Subject::Result)?]),
            Some(Doubt::Figures(figures)) => figures,
        };
        let (seconds, printed) = (&cell.seconds, cell.distribution.as_ref());
        let doubts = figures.into_iter().map(|(figure, why)| {
            let (about, there) = match figure {
                Figure::RealS => (Subject::Real, seconds.real.is_some()),
                Figure::UserS => (Subject::User, seconds.user.is_some()),
                Figure::SystemS => (Subject::System, seconds.system.is_some()),
                Figure::CpuS => (Subject::Cpu, seconds.cpu.is_some()),
                // value and median are the result itself
                Figure::Value => (Subject::Result, cell.value.is_some()),
                Figure::Min => (Subject::Min, printed.is_some()),
                Figure::Median => (Subject::Result, printed.is_some()),
                Figure::Mean => (Subject::Mean, printed.is_some_and(|d| d.mean.is_some())),
                Figure::Max => (Subject::Max, printed.is_some()),
            };
            let name = match about {
                Subject::Result => "value",
                about => about.as_str(),
            };
            self.source
                .must(there, key, || format!("{name} is doubted, and the cell has no {name}"))?;
            self.doubt(key, why, about)
        });
        doubts.collect()
    }
}

/// A remark of the document.
fn remark(flag: Option<Flag>, text: String) -> Note {
    Note::new(Finding::Stated { by: Author::Document, flag, text })
}
