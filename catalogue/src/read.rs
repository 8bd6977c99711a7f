//! From the text of one file to a family and its rows. The text becomes a tree in which every value has its place, serde makes values of
//! it, and what serde cannot know is checked and shown at its place.

use crate::entry;
use crate::error::{Error, Text};
use crate::tree::{At, made, texts};
use gritstone_model::{Benchmark, Family, Id, Need, Selector, Work, is_unprintable};
use serde::{Deserialize, de::IgnoredAny};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

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
    pub over: Over,
}

/// Selectors of rows, and where they stand.
pub(crate) type Over = Vec<(Selector, Range<usize>)>;

impl Row {
    /// The rows that its result is made of.
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

/// A file without its entries, which are read one by one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    family: FamilyHead,
    #[serde(default)]
    pub files: BTreeMap<At<String>, String>,
    #[serde(default)]
    needs: BTreeMap<At<String>, NeedOf>,
    /// What each level of load adds to the one below, from level 1.
    #[serde(default)]
    pub load: Vec<Level>,
    #[serde(rename = "benchmark")]
    _benchmark: Vec<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyHead {
    name: At<String>,
    title: String,
    why: String,
    #[serde(default)]
    guidelines: Vec<Guideline>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Guideline {
    rule: String,
    how: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NeedOf {
    #[serde(default)]
    any: Vec<String>,
    package: String,
}

/// What a level of load adds to the one below.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Level {
    pub what: String,
    pub program: At<String>,
    #[serde(default)]
    pub needs: Vec<At<String>>,
}

/// What the entries of one file share.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub text: Text<'a>,
    pub family: Family,
    pub head: Head,
}

/// Reads one file.
pub(crate) fn read<'a>(name: &'a str, text: &'a str) -> Result<File<'a>, Error> {
    let text = Text { name, text };
    let root = DeTable::parse(text.text).map_err(|fault| text.syntax(&fault))?;
    let mut root = Spanned::new(root.span(), DeValue::Table(root.into_inner()));
    texts(text, "", &mut root)?;
    let entries = match root.get_ref().get("benchmark").map(Spanned::get_ref) {
        Some(DeValue::Array(entries)) => entries.iter().cloned().collect(),
        _ => vec![],
    };
    let head: Head = made(text, root)?;
    let shared = Shared::of(text, head)?;
    let mut rows = vec![];
    for entry in entries {
        rows.extend(entry::rows(&shared, entry)?);
    }
    orphans(text, &shared.head, &rows)?;
    Ok(File {
        text,
        family: shared.family,
        at: shared.head.family.name.span(),
        rows,
    })
}

impl<'a> Shared<'a> {
    fn of(text: Text<'a>, head: Head) -> Result<Self, Error> {
        let family = family(text, &head.family)?;
        let shared = Self { text, family, head };
        let wrong = |at: &At<String>, what: String| text.error(&at.span(), what);
        for name in shared.head.files.keys() {
            file_name(name.get_ref()).map_err(|what| wrong(name, what))?;
        }
        for at in shared.head.needs.keys() {
            let name = at.get_ref();
            if name.is_empty() || !name.chars().all(placeholder_letter) {
                let what = format!(
                    "'{name}' cannot be the name of a need: use letters, digits and . _ + - so that {{{name}}} can stand in a command line"
                );
                return Err(wrong(at, what));
            }
        }
        for Level { program, needs, .. } in &shared.head.load {
            let name = program.get_ref();
            self::program(name).map_err(|what| wrong(program, what))?;
            if !name.starts_with("load/") {
                let what = format!(
                    "'{name}' makes no load: the programs of a load are those of kernels/load/"
                );
                return Err(wrong(program, what));
            }
            for need in needs {
                shared.need(need.get_ref(), &need.span())?;
            }
        }
        Ok(shared)
    }

    /// A need by its name.
    pub fn need(&self, name: &str, at: &Range<usize>) -> Result<Need, Error> {
        let Some(NeedOf { any, package }) = self.head.needs.get(name).cloned() else {
            return Err(self.text.error(at, format!("no need is called '{name}': add it to the file's table [needs], such as {name} = {{ package = \"...\" }}")));
        };
        let name = name.to_owned();
        Ok(Need { name, any, package })
    }
}

fn family(text: Text<'_>, head: &FamilyHead) -> Result<Family, Error> {
    let file = text.name.rsplit('/').next().unwrap_or(text.name);
    let stem = file.strip_suffix(".toml").unwrap_or(file);
    let name = head.name.get_ref();
    if name != stem {
        let what = format!(
            "family '{name}' stands in {file}: write '{stem}', or rename the file to {name}.toml"
        );
        return Err(text.error(&head.name.span(), what));
    }
    let guidelines = head.guidelines.iter();
    Ok(Family {
        name: name.clone(),
        title: head.title.clone(),
        why: head.why.clone(),
        guidelines: guidelines
            .map(|line| (line.rule.clone(), line.how.clone()))
            .collect(),
    })
}

/// That everything which is declared for the entries is used by one.
fn orphans(text: Text<'_>, head: &Head, rows: &[Row]) -> Result<(), Error> {
    let (mut files, mut needs) = (BTreeSet::new(), BTreeSet::new());
    for row in rows {
        if let Work::Command(work) | Work::Scenario(work) = &row.benchmark.work {
            files.extend(work.files.keys());
        }
        needs.extend(row.benchmark.needs.iter().map(|need| &need.name));
    }
    let files = head
        .files
        .keys()
        .filter(|name| !files.contains(name.get_ref()));
    let needs = head
        .needs
        .keys()
        .filter(|name| !needs.contains(name.get_ref()));
    let files = files.map(|name| (name, "uses the file"));
    match files.chain(needs.map(|name| (name, "has the need"))).next() {
        Some((name, does)) => {
            let what = format!(
                "no entry {does} '{}': name it in one, or take it away",
                name.get_ref()
            );
            Err(text.error(&name.span(), what))
        }
        None => Ok(()),
    }
}

/// A name in the directory of a command, never a path out of it.
pub(crate) fn file_name(name: &str) -> Result<(), String> {
    if matches!(name, "" | "." | "..") || name.contains('/') || name.chars().any(is_unprintable) {
        return Err(format!(
            "'{name}' is not a file name: it lies in the directory of the command, so write it without any / and without control characters"
        ));
    }
    Ok(())
}

/// `family/name`, which is also a path under `kernels/`.
pub(crate) fn program(name: &str) -> Result<(), String> {
    if name.split('/').count() == 2 && !name.contains('@') && Id::parse(name).is_ok() {
        return Ok(());
    }
    Err(format!(
        "'{name}' is not a program: write family/name, for kernels/family/name.c"
    ))
}

/// A letter that may stand between the braces of `{name}`.
pub(crate) fn placeholder_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-')
}
