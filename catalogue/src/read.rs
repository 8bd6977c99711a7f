//! From the text of one file to a family and its benchmarks: what every kind of entry has in common.
//!
//! Must not know: other files, and where the text comes from.

use crate::entry::curve_references;
use crate::error::{Error, Text};
use crate::load::Level;
use crate::raw::{self, At};
use gritstone_model::{Benchmark, Family, Id, Need, Selector, Work};
use std::collections::BTreeMap;
use std::ops::Range;

/// One file, read.
#[derive(Debug)]
pub(crate) struct File<'a> {
    pub text: Text<'a>,
    pub family: Family,
    /// Where the name of the family stands.
    pub at: Range<usize>,
    pub rows: Vec<Row>,
}

/// One benchmark, and where it stands.
#[derive(Debug)]
pub(crate) struct Row {
    pub benchmark: Benchmark,
    /// Where its identifier stands.
    pub at: Range<usize>,
    /// Where it speaks of other rows.
    pub references: Vec<Reference>,
    /// What a rating is over, until [`crate::over`] has found the rows.
    pub over: Vec<(Selector, Range<usize>)>,
}

impl Row {
    /// The rows that its figure is made of.
    pub fn parts(&self) -> impl Iterator<Item = &Reference> {
        self.references.iter().filter(|reference| !reference.curve)
    }
}

/// A row that another one is made of, or a point of its curve.
#[derive(Debug)]
pub(crate) struct Reference {
    pub id: Id,
    pub at: Range<usize>,
    pub curve: bool,
}

/// What the entries of one file share.
pub(crate) struct Reader<'a> {
    pub text: Text<'a>,
    pub files: BTreeMap<String, String>,
    pub needs: BTreeMap<String, Need>,
    /// What the levels of load add, from level 1.
    pub load: Vec<Level>,
}

/// Reads one file.
pub(crate) fn read<'a>(name: &'a str, text: &'a str) -> Result<File<'a>, Error> {
    let text = Text { name, text };
    let raw: raw::File = toml::from_str(text.text).map_err(|fault| text.syntax(&fault))?;
    let mut reader = Reader {
        text,
        files: BTreeMap::new(),
        needs: BTreeMap::new(),
        load: Vec::new(),
    };
    let family = reader.family(&raw.family)?;
    for (name, contents) in &raw.files {
        let name = reader.file_name(name)?;
        reader.files.insert(name, contents.clone());
    }
    for (name, need) in &raw.needs {
        let need = reader.need(name, need)?;
        reader.needs.insert(need.name.clone(), need);
    }
    for level in &raw.load {
        let level = reader.level(level)?;
        reader.load.push(level);
    }
    let mut rows = Vec::new();
    for entry in &raw.benchmark {
        if entry.id.get_ref().family() != family.name {
            return Err(text.error(
                &entry.id.span(),
                format!(
                    "'{}' is not of family '{}': change its identifier, or move it to the file of its family",
                    entry.id.get_ref(),
                    family.name
                ),
            ));
        }
        rows.extend(reader.rows(entry)?);
    }
    reader.orphans(&raw, &rows)?;
    Ok(File {
        text,
        family,
        at: raw.family.name.span(),
        rows,
    })
}

impl Reader<'_> {
    pub fn error<T>(&self, at: &At<T>, what: impl Into<String>) -> Error {
        self.text.error(&at.span(), what)
    }

    fn family(&self, raw: &raw::Family) -> Result<Family, Error> {
        let path = self.text.name;
        let file = path.rsplit('/').next().unwrap_or(path);
        let stem = file.strip_suffix(".toml").unwrap_or(file);
        let name = raw.name.get_ref();
        if name != stem {
            return Err(self.error(
                &raw.name,
                format!("family '{name}' stands in {file}: write '{stem}', or rename the file to {name}.toml"),
            ));
        }
        let mut guidelines = Vec::new();
        for pair in &raw.guidelines {
            guidelines.push((
                self.prose("rule", &pair.rule)?,
                self.prose("how", &pair.how)?,
            ));
        }
        Ok(Family {
            name: name.clone(),
            title: self.prose("title", &raw.title)?,
            why: self.prose("why", &raw.why)?,
            guidelines,
        })
    }

    fn need(&self, name: &At<String>, raw: &raw::Need) -> Result<Need, Error> {
        let text = name.get_ref();
        if text.is_empty() || !text.chars().all(placeholder_letter) {
            return Err(self.error(
                name,
                format!("'{text}' cannot be the name of a need: use letters, digits and . _ + - so that {{{text}}} can stand in a command line"),
            ));
        }
        let mut any = Vec::new();
        for program in &raw.any {
            any.push(self.prose("any", program)?);
        }
        Ok(Need {
            name: text.clone(),
            any,
            package: self.prose("package", &raw.package)?,
        })
    }

    /// That everything which is declared for the entries is used by one.
    fn orphans(&self, raw: &raw::File, rows: &[Row]) -> Result<(), Error> {
        for name in raw.files.keys() {
            let used = |row: &Row| match &row.benchmark.work {
                Work::Command(work) | Work::Scenario(work) => {
                    work.files.contains_key(name.get_ref())
                }
                _ => false,
            };
            if !rows.iter().any(used) {
                let what = format!(
                    "no entry uses the file '{}': name it in one, or take it away",
                    name.get_ref()
                );
                return Err(self.error(name, what));
            }
        }
        for name in raw.needs.keys() {
            let has = |row: &Row| {
                row.benchmark
                    .needs
                    .iter()
                    .any(|need| need.name == *name.get_ref())
            };
            if !rows.iter().any(has) {
                let what = format!(
                    "no entry has the need '{}': name it in one, or take it away",
                    name.get_ref()
                );
                return Err(self.error(name, what));
            }
        }
        Ok(())
    }

    /// A name in the directory of a command, never a path out of it.
    pub fn file_name(&self, name: &At<String>) -> Result<String, Error> {
        let text = name.get_ref();
        if text.is_empty()
            || text == "."
            || text == ".."
            || text.contains('/')
            || text.chars().any(is_hidden)
        {
            return Err(self.error(
                name,
                format!("'{text}' is not a file name: it lies in the directory of the command, so write it without any / and without control characters"),
            ));
        }
        Ok(text.clone())
    }

    /// Text for people: line breaks count as blanks, and it must say something.
    pub fn prose(&self, key: &str, text: &At<String>) -> Result<String, Error> {
        let words: Vec<&str> = text.get_ref().split_whitespace().collect();
        if words.is_empty() {
            return Err(self.error(text, format!("{key} is empty: say it")));
        }
        let words = words.join(" ");
        match words.chars().find(|&c| is_hidden(c)) {
            Some(c) => Err(self.hidden(key, text, c)),
            None => Ok(words),
        }
    }

    /// A word for a program: line ends and tabs may be meant, other letters that nobody sees are not.
    pub fn word(&self, key: &str, text: &At<String>) -> Result<String, Error> {
        let hidden = |c: &char| is_hidden(*c) && !matches!(c, '\n' | '\t');
        match text.get_ref().chars().find(hidden) {
            Some(c) => Err(self.hidden(key, text, c)),
            None => Ok(text.get_ref().clone()),
        }
    }

    fn hidden(&self, key: &str, text: &At<String>, c: char) -> Error {
        let what = format!(
            "{key} has the letter U+{:04X}, which is for terminals and not for readers: take it away",
            u32::from(c)
        );
        self.error(text, what)
    }

    pub fn optional_prose(
        &self,
        key: &str,
        text: Option<&At<String>>,
    ) -> Result<Option<String>, Error> {
        text.map(|text| self.prose(key, text)).transpose()
    }

    /// An entry and its variants.
    fn rows(&self, raw: &raw::Entry) -> Result<Vec<Row>, Error> {
        self.keys(raw)?;
        let benchmark = self.benchmark(raw)?;
        let mut references = self.work_references(raw);
        references.extend(curve_references(raw.curve.as_ref()));
        let base = Row {
            benchmark,
            at: raw.id.span(),
            references,
            over: self.over(raw),
        };
        let mut rows = vec![base];
        for variant in &raw.variant {
            rows.push(self.variant(raw, &rows[0].benchmark, variant)?);
        }
        for level in raw.load.iter().flat_map(At::get_ref) {
            rows.push(self.under_load(&rows[0].benchmark, level)?);
        }
        Ok(rows)
    }
}

/// A letter that a terminal obeys instead of showing it: control characters, and those that turn the direction of what follows.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// A letter that may stand between the braces of `{name}`.
pub(crate) fn placeholder_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-')
}
