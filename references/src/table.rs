//! One table: its marks, and the rules of its cells.

use crate::error::Source;
use crate::shape::{CellEntry, Doubt, Figure, Reckoned};
use crate::{Cell, Distribution, Document, Error, Seconds, Value};
use gritstone_model::{Author, Better, Finding, Flag, Id, Note, Quantity, Subject};
use std::collections::{BTreeMap, BTreeSet};
use toml::Spanned;

/// A table while it is read.
pub(crate) struct Table<'a> {
    pub source: &'a Source<'a>,
    pub document: &'a Document,
    pub place: &'a str,
    pub footnotes: &'a BTreeMap<Spanned<String>, String>,
    pub kinds: &'a BTreeMap<Spanned<String>, Flag>,
    pub titles: &'a BTreeMap<Spanned<String>, String>,
    /// Marks that were met.
    pub used: BTreeSet<String>,
}

impl Table<'_> {
    /// An error at a key or a value.
    pub fn error(&self, at: &Spanned<String>, what: impl Into<String>) -> Error {
        self.source.error(at.span().start, what)
    }

    /// A key that is the identifier of a benchmark.
    pub fn id(&self, key: &Spanned<String>) -> Result<Id, Error> {
        Id::parse(key.get_ref()).map_err(|error| self.error(key, error.to_string()))
    }

    /// The footnotes behind marks.
    pub fn remarks(&mut self, marks: &[Spanned<String>]) -> Result<Vec<Note>, Error> {
        let mut remarks = Vec::new();
        for mark in marks {
            let text = mark.get_ref();
            let why = self.footnotes.get(mark).ok_or_else(|| {
                let what = format!("the mark '{text}' is not explained under [footnotes]");
                self.error(mark, what)
            })?;
            self.used.insert(text.clone());
            let why = format!("{}, {} [{text}]: {why}", self.document.name, self.place);
            remarks.push(remark(self.kinds.get(mark).copied(), why));
        }
        Ok(remarks)
    }

    /// A kind is that of a mark which is explained.
    pub fn refuse_kinds_without_footnotes(&self) -> Result<(), Error> {
        let stray = |mark: &&Spanned<String>| !self.footnotes.contains_key(*mark);
        self.kinds.keys().find(stray).map_or(Ok(()), |mark| {
            let what = format!(
                "the mark '{}' is not explained under [footnotes]",
                mark.get_ref()
            );
            Err(self.error(mark, what))
        })
    }

    /// A mark that is explained and nowhere met was forgotten in a row.
    pub fn refuse_unused_footnotes(&self) -> Result<(), Error> {
        for (mark, why) in self.footnotes {
            if why.trim().is_empty() {
                return Err(self.error(mark, "the footnote says nothing"));
            }
            if !self.used.contains(mark.get_ref()) {
                let what = format!("no row and no cell has the mark '{}'", mark.get_ref());
                return Err(self.error(mark, what));
            }
        }
        Ok(())
    }

    /// A title says something, and is that of a benchmark which has a cell.
    pub fn refuse_unused_titles(&self, has_cell: impl Fn(&str) -> bool) -> Result<(), Error> {
        for (key, title) in self.titles {
            if title.trim().is_empty() {
                return Err(self.error(key, "the title says nothing"));
            }
            if !has_cell(key.get_ref()) {
                let what = format!("no row has a cell for {}", key.get_ref());
                return Err(self.error(key, what));
            }
        }
        Ok(())
    }

    /// The footnote of a doubt.
    pub fn doubt(&self, at: &Spanned<String>, why: String, about: Subject) -> Result<Note, Error> {
        if why.trim().is_empty() {
            return Err(self.error(at, "a doubt must have a reason"));
        }
        let doubt = Finding::Stated {
            by: Author::Reader,
            flag: Some(Flag::Doubtful),
            text: why,
        };
        Ok(Note::new(doubt).about(about))
    }

    /// A checked cell; the footnotes of its row come first.
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
        let (faults_per_page, reckoned) = faults.unzip();
        notes.extend(reckoned);
        match (empty, entry.missing) {
            (true, Some(why)) if !why.trim().is_empty() => {
                let why = format!("{}, {}: {why}", self.document.name, self.place);
                notes.push(remark(None, why));
            }
            (true, _) => {
                return Err(self.error(key, "the cell has no figure: say why, missing = \"...\""));
            }
            (false, Some(_)) => {
                return Err(self.error(key, "the cell is said to be missing, and has a figure"));
            }
            (false, None) => {}
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

    fn seconds(&self, key: &Spanned<String>, entry: &CellEntry) -> Result<Seconds, Error> {
        let seconds = Seconds {
            real: entry.real_s,
            user: entry.user_s,
            system: entry.system_s,
            cpu: entry.cpu_s,
        };
        for s in [seconds.real, seconds.user, seconds.system, seconds.cpu]
            .into_iter()
            .flatten()
        {
            if !s.is_finite() || s < 0.0 {
                return Err(self.error(key, format!("{s} is not a time in seconds")));
            }
        }
        Ok(seconds)
    }

    /// No document prints them: how they were reckoned goes with them.
    fn faults_per_page(
        &self,
        key: &Spanned<String>,
        reckoned: Option<Reckoned>,
    ) -> Result<Option<(f64, Note)>, Error> {
        let Some(Reckoned { value, from }) = reckoned else {
            return Ok(None);
        };
        if !value.is_finite() || value <= 0.0 || from.trim().is_empty() {
            let what =
                "faults_per_page has a value above 0, and from says from what it was reckoned";
            return Err(self.error(key, what));
        }
        let why = format!(
            "{}, {}: reckoned, not printed. {from}",
            self.document.name, self.place
        );
        Ok(Some((
            value,
            remark(None, why).about(Subject::FaultsPerPage),
        )))
    }

    fn value(&self, key: &Spanned<String>, entry: &CellEntry) -> Result<Option<Value>, Error> {
        let (value, unit) = match (entry.value, entry.unit.clone()) {
            (Some(value), Some(unit)) => (value, unit),
            (None, None) if entry.better.is_none() => return Ok(None),
            _ => return Err(self.error(key, "value needs unit, and unit and better need value")),
        };
        if !value.is_finite() || value <= 0.0 {
            return Err(self.error(key, format!("{value} is not a figure")));
        }
        let better = match (entry.better, unit.quantity()) {
            (Some(better), _) => better,
            (None, Quantity::Time { .. }) => Better::Lower,
            (None, Quantity::Rate { .. } | Quantity::Share) => Better::Higher,
            (None, Quantity::Exact) => {
                let what = format!("of '{unit}', say which way is good: better = \"lower\"");
                return Err(self.error(key, what));
            }
        };
        Ok(Some(Value {
            value,
            unit,
            better,
        }))
    }

    fn distribution(
        &self,
        key: &Spanned<String>,
        entry: &CellEntry,
    ) -> Result<Option<Distribution>, Error> {
        let printed = [entry.min, entry.median, entry.mean, entry.max];
        if printed.iter().all(Option::is_none) {
            return Ok(None);
        }
        let (Some(min), Some(median), Some(max), Some(unit), None, None) = (
            entry.min,
            entry.median,
            entry.max,
            entry.unit.clone(),
            entry.value,
            entry.better,
        ) else {
            let what = "a distribution has min, median, max and unit, perhaps mean, and neither value nor better";
            return Err(self.error(key, what));
        };
        if !matches!(unit.quantity(), Quantity::Time { .. }) {
            return Err(self.error(
                key,
                format!("a distribution is one of times, not of '{unit}'"),
            ));
        }
        if let Some(bad) = printed
            .iter()
            .flatten()
            .find(|x| !x.is_finite() || **x <= 0.0)
        {
            return Err(self.error(key, format!("{bad} is not a figure")));
        }
        Ok(Some(Distribution {
            min,
            median,
            mean: entry.mean,
            max,
            unit,
        }))
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
                // what a value and a median become is the result itself
                Figure::Value => (Subject::Result, cell.value.is_some()),
                Figure::Min => (Subject::Min, printed.is_some()),
                Figure::Median => (Subject::Result, printed.is_some()),
                Figure::Mean => (Subject::Mean, printed.is_some_and(|d| d.mean.is_some())),
                Figure::Max => (Subject::Max, printed.is_some()),
            };
            if there {
                return self.doubt(key, why, about);
            }
            let name = match about {
                Subject::Result => "value",
                about => about.as_str(),
            };
            let what = format!("{name} is doubted, and the cell has no {name}");
            Err(self.error(key, what))
        });
        doubts.collect()
    }
}

/// A remark of the document.
fn remark(flag: Option<Flag>, text: String) -> Note {
    Note::new(Finding::Stated {
        by: Author::Document,
        flag,
        text,
    })
}
