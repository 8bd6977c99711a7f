//! A document: headings, prose, tables, figures and footnotes, with nothing said about how they look.
//!
//! Must not know: terminals, HTML, PDF, or what the numbers mean.

use gritstone_model::{Footnote, FootnoteKind};
use std::collections::{BTreeMap, HashMap};

/// What a reader is handed, before anyone has decided how it looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// What it is.
    pub title: String,
    /// Of what and when, in a line.
    pub subtitle: Option<String>,
    /// The content, in order.
    pub blocks: Vec<Block>,
    notes: Vec<Note>,
    /// Notes by their words.
    known: HashMap<String, Vec<NoteId>>,
    /// How many notes there are of each kind.
    of_kind: BTreeMap<FootnoteKind, usize>,
}

/// One piece of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A heading; 1 is a section, 3 the smallest there is.
    Heading(u8, String),
    /// A paragraph.
    Paragraph(Text),
    /// Points that stand by themselves.
    List(Vec<Text>),
    /// Terms, each with what belongs to it.
    Terms(Vec<(String, Text)>),
    /// A table.
    Table(Table),
    /// A drawing.
    Figure(Figure),
    /// The place where the footnotes of the whole document are listed; nothing where there are none.
    Footnotes,
}

/// Words or a number, and the marks of the footnotes that belong to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// The words.
    pub text: String,
    /// Footnotes of the document that it stands in.
    pub marks: Vec<NoteId>,
}

/// What stands in a cell that has nothing to say.
pub const MISSING: &str = "–";

impl Text {
    /// Words without a mark.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            marks: Vec::new(),
        }
    }

    /// A cell that has nothing to say.
    #[must_use]
    pub fn missing() -> Self {
        Self::new(MISSING)
    }

    /// Adds marks, each once.
    #[must_use]
    pub fn with(mut self, marks: impl IntoIterator<Item = NoteId>) -> Self {
        for mark in marks {
            if !self.marks.contains(&mark) {
                self.marks.push(mark);
            }
        }
        self
    }

    /// Whether it says nothing and carries no mark.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.marks.is_empty() && (self.text == MISSING || self.text.is_empty())
    }
}

impl<T: Into<String>> From<T> for Text {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

/// What a column holds, which says how it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Words, flush left; they may be wrapped.
    Text,
    /// Numbers, flush right; they are never broken.
    Number,
    /// Names for a computer, flush left, in a typewriter face where there is one.
    Code,
}

/// The head of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub head: String,
    /// What it shares with its neighbours; columns of one group stand together.
    pub group: Option<String>,
    /// What it holds.
    pub style: Style,
    /// Names the row: it is repeated where a table has to be cut into panels.
    pub key: bool,
}

impl Column {
    /// A column of its own.
    pub fn new(head: impl Into<String>, style: Style) -> Self {
        Self {
            head: head.into(),
            group: None,
            style,
            key: false,
        }
    }

    /// A column that names the row.
    pub fn key(head: impl Into<String>, style: Style) -> Self {
        Self {
            key: true,
            ..Self::new(head, style)
        }
    }

    /// Puts it under the heading of a group.
    #[must_use]
    pub fn of(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// As many as the table has columns.
    pub cells: Vec<Text>,
    /// The row that the reader looks for first, such as this machine among others.
    pub strong: bool,
}

impl Row {
    /// A row like the others.
    #[must_use]
    pub fn new(cells: Vec<Text>) -> Self {
        Self {
            cells,
            strong: false,
        }
    }
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub caption: Text,
    /// Heads.
    pub columns: Vec<Column>,
    /// Rows; each has one cell a column.
    pub rows: Vec<Row>,
}

impl Table {
    /// Takes away the columns that say nothing in any row, except those that name the row.
    #[must_use]
    pub fn without_empty_columns(mut self) -> Self {
        let keep: Vec<bool> = (0..self.columns.len())
            .map(|i| self.columns[i].key || self.rows.iter().any(|r| !r.cells[i].is_missing()))
            .collect();
        let mut kept = keep.iter();
        self.columns.retain(|_| kept.next().copied() == Some(true));
        for row in &mut self.rows {
            let mut kept = keep.iter();
            row.cells.retain(|_| kept.next().copied() == Some(true));
        }
        self
    }
}

/// A drawing with its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The drawing, a whole `<svg>` element, made by [`crate::svg`].
    pub svg: String,
    /// What it shows.
    pub caption: Text,
    /// The same for those who cannot see it, numbers included.
    pub alternative: String,
}

/// A footnote of a document: the same kind and words are listed once, however many figures carry it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Which kind.
    pub kind: FootnoteKind,
    /// A whole sentence.
    pub why: String,
    /// Which one of its kind, from 1.
    number: usize,
}

/// A footnote of one document; only [`Document::note`] of that document makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoteId(usize);

impl NoteId {
    /// Position in the document's own list, from 0: an anchor for a link.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

impl Document {
    /// An empty document.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// Adds a block.
    pub fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// Adds a heading; 1 is a section.
    pub fn heading(&mut self, level: u8, text: impl Into<String>) {
        self.push(Block::Heading(level, text.into()));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, text: impl Into<Text>) {
        self.push(Block::Paragraph(text.into()));
    }

    /// Adds a table, unless it has no rows.
    pub fn table(&mut self, table: Table) {
        if !table.rows.is_empty() {
            self.push(Block::Table(table));
        }
    }

    /// Collects a footnote, and says by which mark to refer to it.
    pub fn note(&mut self, footnote: &Footnote) -> NoteId {
        let kind = footnote.kind;
        let mut known = self.known.get(&footnote.why).into_iter().flatten();
        if let Some(id) = known.find(|id| self.notes[id.0].kind == kind) {
            return *id;
        }
        let of_kind = self.of_kind.entry(kind).or_default();
        *of_kind += 1;
        self.notes.push(Note {
            kind,
            why: footnote.why.clone(),
            number: *of_kind,
        });
        let id = NoteId(self.notes.len() - 1);
        self.known.entry(footnote.why.clone()).or_default().push(id);
        id
    }

    /// The footnotes, kind by kind in the order of their marks, and within a kind as they were met.
    #[must_use]
    pub fn notes(&self) -> Vec<(NoteId, &Note)> {
        let mut all: Vec<_> = self.notes.iter().enumerate().collect();
        all.sort_by_key(|(i, note)| (note.kind, *i));
        all.into_iter().map(|(i, note)| (NoteId(i), note)).collect()
    }

    /// The mark of a footnote: that of its kind, and a number where the document has several of the kind.
    ///
    /// # Panics
    /// When the footnote belongs to another document.
    #[must_use]
    pub fn mark(&self, id: NoteId) -> String {
        let Note { kind, number, .. } = &self.notes[id.0];
        match self.of_kind[kind] {
            1 => kind.mark().to_owned(),
            _ => format!("{}{number}", kind.mark()),
        }
    }

    /// The marks of a text, in the order of their kinds; between two of one kind stands a comma.
    #[must_use]
    pub fn marks(&self, text: &Text) -> Vec<(NoteId, String)> {
        let mut ids = text.marks.clone();
        ids.sort_by_key(|id| (self.notes[id.0].kind, *id));
        ids.into_iter().map(|id| (id, self.mark(id))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::FootnoteKind::{Disturbed, NotRun, Trivialised};

    #[test]
    fn the_same_footnote_is_listed_once_and_several_of_a_kind_are_numbered() {
        let mut document = Document::new("t");
        let a = document.note(&Footnote::new(NotRun, "no compiler"));
        let b = document.note(&Footnote::new(Disturbed, "steal"));
        let c = document.note(&Footnote::new(NotRun, "no tty"));
        let again = document.note(&Footnote::new(NotRun, "no compiler").of("real_s"));
        assert_eq!(a, again);
        let marks: Vec<_> = [a, b, c].iter().map(|&id| document.mark(id)).collect();
        assert_eq!(marks, ["§1", "‡", "§2"]);
        let listed: Vec<_> = document
            .notes()
            .iter()
            .map(|(_, n)| n.why.clone())
            .collect();
        assert_eq!(listed, ["steal", "no compiler", "no tty"]);
    }

    #[test]
    fn marks_of_a_text_come_in_the_order_of_their_kinds_each_once() {
        let mut document = Document::new("t");
        let late = document.note(&Footnote::new(NotRun, "n"));
        let early = document.note(&Footnote::new(Trivialised, "t"));
        let text = Text::new("1").with([late, early, late]);
        let marks: Vec<_> = document.marks(&text).into_iter().map(|(_, m)| m).collect();
        assert_eq!(marks, ["*", "§"]);
    }

    #[test]
    fn columns_that_say_nothing_go_unless_they_name_the_row_or_carry_a_mark() {
        let mut document = Document::new("t");
        let note = document.note(&Footnote::new(NotRun, "n"));
        let table = Table {
            caption: Text::default(),
            columns: ["key", "empty", "marked"]
                .map(|head| Column {
                    key: head == "key",
                    ..Column::new(head, Style::Text)
                })
                .into(),
            rows: vec![Row::new(vec![
                Text::missing(),
                Text::missing(),
                Text::missing().with([note]),
            ])],
        };
        let heads: Vec<_> = table
            .without_empty_columns()
            .columns
            .into_iter()
            .map(|c| c.head)
            .collect();
        assert_eq!(heads, ["key", "marked"]);
    }
}
