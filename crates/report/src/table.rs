//! A table as a list of columns, each with its head and a function for its cells.

use crate::{findings, words};
use gritstone_document::FlagStyle;
use gritstone_document::footnote::Detail;
use gritstone_document::number;
use gritstone_document::{About, Column, Document, MISSING, Row, Style, Table, Text, Tone};
use gritstone_model::{EnvironmentScore, Flag, Id, Note};
use std::rc::Rc;

/// Content of a cell, and its notes.
#[derive(Clone)]
pub struct Cell {
    text: String,
    tone: Option<Tone>,
    about: Option<About>,
    notes: Vec<(Option<&'static FlagStyle>, String, Vec<Detail>)>,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, tone: None, about: None, notes: vec![] }
    }
}

impl From<Option<String>> for Cell {
    fn from(text: Option<String>) -> Self {
        let text = text.filter(|text| !text.is_empty());
        text.unwrap_or_else(|| MISSING.to_owned()).into()
    }
}

impl From<usize> for Cell {
    fn from(n: usize) -> Self {
        number::count(n).into()
    }
}

impl Cell {
    /// The short identifier of a run, with a link to it.
    pub fn run(id: &str) -> Self {
        Self::from(words::short_id(id)).about(About::Run(id.to_owned()))
    }

    /// A benchmark, with a link to its history.
    pub fn benchmark(id: &Id) -> Self {
        Self::from(id.as_str()).about(About::Benchmark(id.to_string()))
    }

    /// The name of a system, with a link to it.
    pub fn system(name: &str, id: &str) -> Self {
        Self::from(name).about(About::System(id.to_owned()))
    }

    /// Adds notes that belong to the document.
    pub(crate) fn with(mut self, notes: impl IntoIterator<Item = (Option<Flag>, String)>) -> Self {
        let notes = notes.into_iter();
        self.notes.extend(notes.map(|(flag, text)| (flag.map(findings::flag_style), text, vec![])));
        self
    }

    pub fn toned(self, tone: Option<Tone>) -> Self {
        Self { tone, ..self }
    }

    /// Links the cell to a target.
    pub fn about(self, about: impl Into<Option<About>>) -> Self {
        let about = about.into();
        Self { about, ..self }
    }

    fn text(self, document: &mut Document) -> Text {
        let notes = self.notes.into_iter();
        let notes = notes.map(|(flag, text, details)| document.footnote(flag, text, details));
        let text = Text::new(self.text).toned(self.tone).about(self.about);
        text.with(notes)
    }
}

/// A cell with notes on its content.
pub(crate) fn noted<'n>(cell: impl Into<Cell>, notes: impl IntoIterator<Item = &'n Note>) -> Cell {
    let notes = notes.into_iter();
    let mut cell = cell.into();
    cell.notes.extend(notes.map(|note| {
        let flag = note.flag().map(findings::flag_style);
        (flag, findings::message(note), findings::details(&note.finding))
    }));
    cell
}

/// A ratio as a bare number with its notes, and its interval.
pub(crate) fn bare_ratio(
    ratio: Option<f64>,
    interval: Option<[f64; 2]>,
    notes: &[Note],
) -> [Cell; 2] {
    let (ratio, interval) = ratio.map(|x| words::bare_ratio(x, interval)).unzip();
    [noted(ratio, notes), interval.into()]
}

/// A score with its interval, and its notes.
pub(crate) fn score_cells(score: &EnvironmentScore) -> [Cell; 2] {
    match (score.score, &score.withheld) {
        (None, Some(_)) => [noted("not computed", &score.notes), None.into()],
        (value, _) => bare_ratio(value, score.interval, &score.notes),
    }
}

/// An estimate with its unit, and its interval.
pub(crate) fn figure(shown: Option<number::Shown>, notes: &[Note]) -> [Cell; 2] {
    let figure = shown.as_ref().map(number::Shown::with_unit);
    [noted(figure, notes), shown.map(|s| s.interval).into()]
}

type Show<'a, R, T> = Box<dyn Fn(&R) -> T + 'a>;

/// The columns of a table of such rows.
pub struct Columns<'a, R> {
    columns: Vec<(Column, Show<'a, R, Cell>)>,
    group: Option<String>,
    strong: Show<'a, R, bool>,
}

impl<'a, R: 'a> Columns<'a, R> {
    /// Begins with the key column.
    pub fn key<C: Into<Cell>>(
        head: impl Into<String>,
        style: Style,
        cell: impl Fn(&R) -> C + 'a,
    ) -> Self {
        Self::new(Column::key(head, style), cell)
    }

    /// Begins with a column of any kind.
    pub fn new<C: Into<Cell>>(head: Column, cell: impl Fn(&R) -> C + 'a) -> Self {
        let begun = Self { columns: vec![], group: None, strong: Box::new(|_| false) };
        begun.column(head, cell)
    }

    /// Adds another key column.
    pub(crate) fn and_key<C: Into<Cell>>(
        self,
        head: impl Into<String>,
        style: Style,
        cell: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.column(Column::key(head, style), cell)
    }

    /// A column of words.
    pub fn text<C: Into<Cell>>(self, head: impl Into<String>, cell: impl Fn(&R) -> C + 'a) -> Self {
        self.column(Column::new(head, Style::Text), cell)
    }

    /// A column of numbers.
    pub fn number<C: Into<Cell>>(
        self,
        head: impl Into<String>,
        cell: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.column(Column::new(head, Style::Number), cell)
    }

    /// Adds two columns of numbers that are computed together.
    pub(crate) fn pair(
        self,
        [one, two]: [impl Into<String>; 2],
        cells: impl Fn(&R) -> [Cell; 2] + 'a,
    ) -> Self {
        let cells = Rc::new(cells);
        let first = Rc::clone(&cells);
        self.number(one, move |row| first(row)[0].clone())
            .number(two, move |row| cells(row)[1].clone())
    }

    /// Puts the following columns under the heading of a group; under none if empty.
    pub fn under(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into()).filter(|group| !group.is_empty());
        self
    }

    /// Highlights rows.
    pub(crate) fn strong(mut self, strong: impl Fn(&R) -> bool + 'a) -> Self {
        self.strong = Box::new(strong);
        self
    }

    /// A column of any kind.
    pub fn column<C: Into<Cell>>(mut self, head: Column, cell: impl Fn(&R) -> C + 'a) -> Self {
        let group = self.group.clone();
        let cell = move |row: &R| cell(row).into();
        self.columns.push((Column { group, ..head }, Box::new(cell)));
        self
    }

    /// Adds the table of these rows to a document, without empty columns; nothing without rows.
    pub fn table(
        self,
        document: &mut Document,
        caption: impl Into<Text>,
        rows: impl IntoIterator<Item = R>,
    ) {
        let (columns, shows): (Vec<_>, Vec<_>) = self.columns.into_iter().unzip();
        let mut row = |row: R| Row {
            cells: shows.iter().map(|show| show(&row).text(document)).collect(),
            strong: (self.strong)(&row),
        };
        let table = Table {
            caption: caption.into(),
            rows: rows.into_iter().map(&mut row).collect(),
            columns,
        };
        document.table(table.without_empty_columns());
    }
}
