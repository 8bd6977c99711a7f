//! The document tree: headings, prose, tables, figures and footnotes, without layout.

mod line;

use crate::footnote::{Detail, FlagStyle, Footnote, Tone};
use crate::number::MISSING;
pub use line::{ResultLine, Tile};
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    pub title: String,
    /// Subject and date, one line.
    pub subtitle: Option<String>,
    pub blocks: Vec<Block>,
    /// Hides the advice of warnings, for runs that cannot be repeated.
    pub without_advice: bool,
    notes: Vec<Footnote>,
    known: HashMap<(Option<&'static FlagStyle>, String), NoteId>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Level, text: 1 is a section, 3 the lowest.
    Heading(u8, String),
    Paragraph(Text),
    List(Vec<Text>),
    /// Term, description.
    Terms(Vec<(String, Text)>),
    Table(Table),
    Figure(Figure),
    /// Key values side by side.
    Tiles(Vec<Tile>),
    /// One line per result, with details folded below.
    Results(Vec<ResultLine>),
    /// Position of the list of footnotes; nothing without footnotes.
    Footnotes,
}

impl Block {
    /// Tiles as terms and results as a table, for media that cannot fold; details are left out.
    pub(crate) fn plain(&self) -> Option<Self> {
        match self {
            Self::Tiles(tiles) => Some(Self::Terms(tiles.iter().map(Tile::term).collect())),
            Self::Results(lines) => Some(Self::Table(ResultLine::table(lines))),
            _ => None,
        }
    }
}

/// Target of a link, for media with links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// Identifier of a stored run.
    Run(String),
    /// Identifier.
    Benchmark(String),
    /// A run that is a side of the trial.
    Trial(String),
    /// Identifier of a system.
    System(String),
    /// Base and other run of a comparison.
    Pair([String; 2]),
    /// Identifier of a change event.
    Event(String),
    /// Comparison of all systems.
    Fleet,
    /// All change events.
    Changes,
    /// An https address elsewhere.
    Web(String),
}

/// Words or a number with footnotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    pub text: String,
    /// For media with color.
    pub tone: Option<Tone>,
    pub about: Option<About>,
    /// Footnotes of the same document.
    pub notes: Vec<NoteId>,
}

impl Text {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), tone: None, about: None, notes: Vec::new() }
    }

    #[must_use]
    pub fn toned(self, tone: Option<Tone>) -> Self {
        Self { tone, ..self }
    }

    #[must_use]
    pub fn about(self, about: Option<About>) -> Self {
        Self { about, ..self }
    }

    /// A cell without a value.
    pub fn missing() -> Self {
        Self::new(MISSING)
    }

    /// Adds footnotes, each once.
    #[must_use]
    pub fn with(mut self, notes: impl IntoIterator<Item = NoteId>) -> Self {
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self
    }

    /// Whether it has neither value nor footnote.
    pub fn is_missing(&self) -> bool {
        self.notes.is_empty() && (self.text == MISSING || self.text.is_empty())
    }
}

impl<T: Into<String>> From<T> for Text {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

/// Kind of a column's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Flush left; may be wrapped.
    Text,
    /// Flush right; never broken.
    Number,
    /// Identifiers and code: flush left, monospaced where possible.
    Code,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub head: String,
    /// Name shared with adjacent columns, which stay together.
    pub group: Option<String>,
    pub style: Style,
    /// Identifies the row; repeated in each panel of a split table.
    pub key: bool,
    /// On a terminal, columns with the highest rank are dropped first.
    pub rank: u8,
    /// Shown only together with the column before it.
    pub paired: bool,
    /// Words are shortened to this many characters before the column is dropped.
    pub min_width: usize,
}

/// Default for words that stay meaningful, and for keys.
const MIN_WORD_WIDTH: usize = 12;
const MIN_KEY: usize = 20;

impl Column {
    pub fn new(head: impl Into<String>, style: Style) -> Self {
        Self {
            head: head.into(),
            group: None,
            style,
            key: false,
            rank: 0,
            paired: false,
            min_width: MIN_WORD_WIDTH,
        }
    }

    /// Drops the column before those of lower rank.
    #[must_use]
    pub fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// Drops the column before its words become shorter.
    #[must_use]
    pub fn min_width(self, min_width: usize) -> Self {
        Self { min_width, ..self }
    }

    /// Shows or drops this column together with the one before it.
    #[must_use]
    pub fn paired(self) -> Self {
        Self { paired: true, ..self }
    }

    /// A column that identifies the row.
    pub fn key(head: impl Into<String>, style: Style) -> Self {
        Self { key: true, min_width: MIN_KEY, ..Self::new(head, style) }
    }

    /// Puts the column in a group.
    #[must_use]
    pub fn in_group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }
}

impl<T: Into<String>> From<(T, Style)> for Column {
    fn from((head, style): (T, Style)) -> Self {
        Self::new(head, style)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// One per column.
    pub cells: Vec<Text>,
    /// Highlighted, such as this machine among others.
    pub strong: bool,
}

impl Row {
    pub fn new(cells: Vec<Text>) -> Self {
        Self { cells, strong: false }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    pub caption: Text,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
}

impl Table {
    /// Removes columns without values, except keys.
    #[must_use]
    pub fn without_empty_columns(mut self) -> Self {
        for index in (0..self.columns.len()).rev() {
            let says =
                self.columns[index].key || self.rows.iter().any(|r| !r.cells[index].is_missing());
            if !says {
                self.columns.remove(index);
                for row in &mut self.rows {
                    row.cells.remove(index);
                }
            }
        }
        self
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// One or several `<svg>` elements side by side, from [`crate::svg`].
    pub svgs: Vec<String>,
    pub caption: Text,
    /// Text alternative, numbers included.
    pub alternative: String,
    /// For pages that draw it by a script.
    pub chart: Option<Chart>,
}

/// Values over runs: data for a chart script, and the link target of each point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chart {
    /// JSON, as `html/charts.js` reads it.
    pub json: String,
    /// One for each point.
    pub about: Vec<About>,
}

/// Index of a footnote, valid in the document that returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoteId(usize);

impl Document {
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    pub fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// Level 1 is a section.
    pub fn heading(&mut self, level: u8, text: impl Into<String>) {
        self.push(Block::Heading(level, text.into()));
    }

    pub fn paragraph(&mut self, text: impl Into<Text>) {
        self.push(Block::Paragraph(text.into()));
    }

    /// Adds a list, unless it is empty.
    pub fn list(&mut self, items: impl IntoIterator<Item = impl Into<Text>>) {
        let items: Vec<Text> = items.into_iter().map(Into::into).collect();
        if !items.is_empty() {
            self.push(Block::List(items));
        }
    }

    /// Adds terms that have a description.
    pub fn terms(&mut self, terms: impl IntoIterator<Item = (impl Into<String>, impl Into<Text>)>) {
        let terms = terms.into_iter().map(|(term, text)| (term.into(), text.into()));
        let described: Vec<(String, Text)> =
            terms.filter(|(_, text)| !text.text.is_empty()).collect();
        if !described.is_empty() {
            self.push(Block::Terms(described));
        }
    }

    /// Adds a table, unless it has no rows.
    pub fn table(&mut self, table: Table) {
        if !table.rows.is_empty() {
            self.push(Block::Table(table));
        }
    }

    /// Names of the rows of each note.
    pub(crate) fn rows_of_notes(&self) -> BTreeMap<NoteId, Vec<&str>> {
        let mut rows: BTreeMap<NoteId, Vec<&str>> = BTreeMap::new();
        for block in &self.blocks {
            let Block::Table(table) = block else { continue };
            let key = table.columns.iter().position(|column| column.key);
            for row in &table.rows {
                let name = key.map_or("", |key| row.cells[key].text.as_str());
                for id in row.cells.iter().flat_map(|cell| &cell.notes) {
                    let names = rows.entry(*id).or_default();
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
            }
        }
        rows
    }

    /// Adds a footnote, or returns the existing one with the same flag and text.
    pub fn footnote(
        &mut self,
        flag: Option<&'static FlagStyle>,
        text: String,
        details: Vec<Detail>,
    ) -> NoteId {
        let next = NoteId(self.notes.len());
        let id = *self.known.entry((flag, text.clone())).or_insert(next);
        if id == next {
            self.notes.push(Footnote { flag, text, details });
        }
        id
    }

    /// # Panics
    /// When it belongs to another document.
    pub(crate) fn footnote_of(&self, id: NoteId) -> &Footnote {
        &self.notes[id.0]
    }

    /// Footnotes sorted by flag, then in order of addition; those without a flag last.
    pub fn notes(&self) -> Vec<(NoteId, &Footnote)> {
        let mut all: Vec<_> = (0..).map(NoteId).zip(&self.notes).collect();
        all.sort_by_key(|(id, _)| self.order(*id));
        all
    }

    fn order(&self, id: NoteId) -> (bool, Option<&FlagStyle>, NoteId) {
        let flag = self.notes[id.0].flag;
        (flag.is_none(), flag, id)
    }
}
