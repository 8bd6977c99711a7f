//! A document: headings, prose, tables, figures and footnotes, with nothing said about how they look.

mod line;

use crate::mark::{Detail, Footnote, Mark, Tone};
use crate::number::MISSING;
pub use line::{ResultLine, Tile};
use std::collections::HashMap;

/// What a reader is handed, before anyone has decided how it looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// What it is.
    pub title: String,
    /// Of what and when, in a line.
    pub subtitle: Option<String>,
    /// The content, in order.
    pub blocks: Vec<Block>,
    notes: Vec<Footnote>,
    known: HashMap<(Option<&'static Mark>, String), NoteId>,
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
    /// Drawings.
    Figure(Figure),
    /// What a reader is to see first, side by side.
    Tiles(Vec<Tile>),
    /// Results, one line each, with what else is known of each folded under it.
    Results(Vec<ResultLine>),
    /// The place where the footnotes of the whole document are listed; nothing where there are none.
    Footnotes,
}

impl Block {
    /// Tiles as terms and results as a table, where a medium has no other form for them; what is folded is left out.
    pub(crate) fn plain(&self) -> Option<Self> {
        match self {
            Self::Tiles(tiles) => Some(Self::Terms(tiles.iter().map(Tile::term).collect())),
            Self::Results(lines) => Some(Self::Table(ResultLine::table(lines))),
            _ => None,
        }
    }
}

/// What a text is about, for a medium that leads to more of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// A stored run, by its identifier.
    Run(String),
    /// A benchmark.
    Benchmark(String),
    /// A system, by its identifier.
    System(String),
    /// The second of two stored runs against the first.
    Pair([String; 2]),
    /// Changes that belong together, by the identifier of the event.
    Event(String),
    /// All systems against each other.
    Fleet,
}

/// Words or a number, and the marks of the footnotes that belong to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// The words.
    pub text: String,
    /// What they say, for a medium with color.
    pub tone: Option<Tone>,
    /// What they are about.
    pub about: Option<About>,
    /// Footnotes of the document that it stands in.
    pub marks: Vec<NoteId>,
}

impl Text {
    /// Words without a mark.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            tone: None,
            about: None,
            marks: Vec::new(),
        }
    }

    /// The same in a tone.
    #[must_use]
    pub fn toned(self, tone: Option<Tone>) -> Self {
        Self { tone, ..self }
    }

    /// The same about something.
    #[must_use]
    pub fn about(self, about: Option<About>) -> Self {
        Self { about, ..self }
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
    /// What it shares with its neighbors; columns of one group stand together.
    pub group: Option<String>,
    /// What it holds.
    pub style: Style,
    /// Names the row: it is repeated where a table has to be cut into panels.
    pub key: bool,
    /// Where lines cannot be broken and have no room for all, columns of the highest rank go first.
    pub rank: u8,
    /// Says nothing without the column before it: both are shown, or neither.
    pub paired: bool,
    /// Words are shortened to this many letters before the column is given up.
    pub least: usize,
}

/// What words say something in, as a rule, and those that name the row.
const LEAST_WORDS: usize = 12;
const LEAST_KEY: usize = 20;

impl Column {
    /// A column of its own.
    pub fn new(head: impl Into<String>, style: Style) -> Self {
        Self {
            head: head.into(),
            group: None,
            style,
            key: false,
            rank: 0,
            paired: false,
            least: LEAST_WORDS,
        }
    }

    /// Gives it up before columns of a lower rank.
    #[must_use]
    pub fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// Gives it up where its words would be shortened to less.
    #[must_use]
    pub fn least(self, least: usize) -> Self {
        Self { least, ..self }
    }

    /// Shows it only beside the column before it, and that only beside it.
    #[must_use]
    pub fn paired(self) -> Self {
        Self {
            paired: true,
            ..self
        }
    }

    /// A column that names the row.
    pub fn key(head: impl Into<String>, style: Style) -> Self {
        Self {
            key: true,
            least: LEAST_KEY,
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

impl<T: Into<String>> From<(T, Style)> for Column {
    fn from((head, style): (T, Style)) -> Self {
        Self::new(head, style)
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
        for at in (0..self.columns.len()).rev() {
            let says = self.columns[at].key || self.rows.iter().any(|r| !r.cells[at].is_missing());
            if !says {
                self.columns.remove(at);
                for row in &mut self.rows {
                    row.cells.remove(at);
                }
            }
        }
        self
    }
}

/// Drawings with their words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// One drawing, or several that belong side by side: whole `<svg>` elements, made by [`crate::svg`].
    pub svgs: Vec<String>,
    /// What it shows.
    pub caption: Text,
    /// The same for those who cannot see it, numbers included.
    pub alternative: String,
}

/// A footnote of one document; only [`Document::note`] of that document makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoteId(usize);

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

    /// Adds points that stand by themselves, if there are any.
    pub fn list(&mut self, items: impl IntoIterator<Item = impl Into<Text>>) {
        let items: Vec<Text> = items.into_iter().map(Into::into).collect();
        if !items.is_empty() {
            self.push(Block::List(items));
        }
    }

    /// Adds terms with what belongs to them, without those to which nothing does.
    pub fn terms(&mut self, terms: impl IntoIterator<Item = (impl Into<String>, impl Into<Text>)>) {
        let terms = terms
            .into_iter()
            .map(|(term, text)| (term.into(), text.into()));
        let told: Vec<(String, Text)> = terms.filter(|(_, text)| !text.text.is_empty()).collect();
        if !told.is_empty() {
            self.push(Block::Terms(told));
        }
    }

    /// Adds a table, unless it has no rows.
    pub fn table(&mut self, table: Table) {
        if !table.rows.is_empty() {
            self.push(Block::Table(table));
        }
    }

    /// Adds a footnote, or finds the one with the same mark and text.
    pub fn footnote(
        &mut self,
        mark: Option<&'static Mark>,
        text: String,
        details: Vec<Detail>,
    ) -> NoteId {
        let next = NoteId(self.notes.len());
        let id = *self.known.entry((mark, text.clone())).or_insert(next);
        if id == next {
            self.notes.push(Footnote {
                mark,
                text,
                details,
            });
        }
        id
    }

    /// A footnote of this document.
    ///
    /// # Panics
    /// When it belongs to another document.
    pub(crate) fn footnote_of(&self, id: NoteId) -> &Footnote {
        &self.notes[id.0]
    }

    /// The footnotes, flag by flag, and within a flag as they were met; those without one last.
    #[must_use]
    pub fn notes(&self) -> Vec<(NoteId, &Footnote)> {
        let mut all: Vec<_> = (0..).map(NoteId).zip(&self.notes).collect();
        all.sort_by_key(|(id, _)| self.order(*id));
        all
    }

    fn order(&self, id: NoteId) -> (bool, Option<&Mark>, NoteId) {
        let mark = self.notes[id.0].mark;
        (mark.is_none(), mark, id)
    }
}
