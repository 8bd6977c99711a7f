//! Parses one file into a family and its benchmarks. The text becomes a tree of values with positions, serde deserializes them, and further
//! checks report errors at their position.

use crate::error::{Error, Text};
use gritstone_model::{Action, Benchmark, Family, Id, Need, Work, is_place_name, is_unprintable};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// A value with its position.
pub(crate) type At<T> = Spanned<T>;

/// Texts for people: line breaks count as spaces, and empty text is an error.
const PROSE: &str = "any document how label not_comparable operation package place remark rule stdout title what why work";

/// A parsed file.
#[derive(Debug)]
pub(crate) struct File<'a> {
    pub text: Text<'a>,
    /// The name of its family.
    pub name: String,
    /// Description of the family; `None` in another file of its entries, `FAMILY.PART.toml`.
    pub family: Option<Family>,
    /// Position of the family's name.
    pub span: Range<usize>,
    pub head: Head,
    pub benchmarks: Vec<Parsed>,
}

/// One benchmark with its position.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub benchmark: Benchmark,
    /// Position of its identifier.
    pub span: Range<usize>,
    /// The benchmarks that it is derived from, and the points of its curve.
    pub references: Vec<Reference>,
    /// Selectors of a score's parts, until all files are read.
    pub over: Vec<At<String>>,
}

/// A benchmark that another is derived from, or a point of its curve.
#[derive(Debug)]
pub(crate) struct Reference {
    pub id: Id,
    pub span: Range<usize>,
    pub curve: bool,
}

/// A file without its entries, which are parsed one by one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    family: Option<FamilyHead>,
    #[serde(default)]
    pub files: BTreeMap<At<String>, String>,
    #[serde(default)]
    needs: BTreeMap<At<String>, NeedOf>,
    #[serde(default)]
    pub privilege: Vec<At<PrivilegeOf>>,
    /// Programs that each level of load adds to the one below, from level 1.
    #[serde(default)]
    pub load: Vec<Level>,
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

#[derive(Clone, Debug, Deserialize)]
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
    version: Option<String>,
}

/// Privileged actions of programs, with one of these values of a parameter or always.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PrivilegeOf {
    pub action: Action,
    pub programs: Vec<String>,
    #[serde(default)]
    pub when: BTreeMap<String, Vec<String>>,
}

/// Programs that a level of load adds to the one below.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Level {
    pub what: String,
    pub program: At<String>,
    #[serde(default)]
    pub needs: Vec<At<String>>,
}

/// Reads the head of a file, and returns its entries unread.
pub(crate) fn head<'a>(
    name: &'a str,
    text: &'a str,
) -> Result<(File<'a>, Vec<At<DeValue<'a>>>), Error> {
    let text = Text { name, text };
    let root = DeTable::parse(text.text).map_err(|fault| text.serde(&fault, 0..0))?;
    let mut root = Spanned::new(root.span(), DeValue::Table(root.into_inner()));
    texts(text, "", &mut root)?;
    let entries = match root.as_mut() {
        DeValue::Table(root) => root.remove("benchmark"),
        _ => None,
    };
    let head: Head = deserialize(text, root)?;
    let file = File {
        text,
        name: stem(text.name).0.to_owned(),
        family: head.family.as_ref().map(family),
        span: head.family.as_ref().map_or(0..0, |head| head.name.span()),
        head,
        benchmarks: vec![],
    };
    file.check_head()?;
    let entries = entries.ok_or_else(|| text.error(&(0..0), "there is no [[benchmark]]"))?;
    let entries = list(text, entries)?;
    Ok((file, entries))
}

/// Family and part of a file name: `app` and none of `catalogue/app.toml`, `today` of `catalogue/app.today.toml`.
fn stem(path: &str) -> (&str, Option<&str>) {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.strip_suffix(".toml").unwrap_or(file);
    match stem.split_once('.') {
        Some((family, part)) => (family, Some(part)),
        None => (stem, None),
    }
}

/// Sorts files so that the one that describes a family comes first.
pub(crate) fn in_order<T>(files: &mut [(&str, T)]) {
    files.sort_by(|(a, _), (b, _)| stem(a).cmp(&stem(b)));
}

fn family(head: &FamilyHead) -> Family {
    let guidelines = head.guidelines.iter().cloned();
    Family {
        name: head.name.get_ref().clone(),
        title: head.title.clone(),
        why: head.why.clone(),
        guidelines: guidelines.map(|line| (line.rule, line.how)).collect(),
    }
}

impl File<'_> {
    fn check_head(&self) -> Result<(), Error> {
        let text = self.text;
        let (stem, part) = stem(text.name);
        text.must(self.family.is_some() == part.is_none(), &self.span, || match part {
            None => format!("there is no [family]: say what family '{stem}' is"),
            Some(_) => format!("[family] is in {stem}.toml: remove it here"),
        })?;
        if let Some(Family { name, .. }) = &self.family {
            text.must(name == stem, &self.span, || {
                format!(
                    "family '{name}' is in {stem}.toml: rename the family to '{stem}', or the file"
                )
            })?;
        }
        for name in self.head.files.keys() {
            text.file_name(&name.span(), name.get_ref())?;
        }
        for need in self.head.needs.keys() {
            let name = need.get_ref();
            let good = is_place_name(name) && !name.contains('/');
            text.must(good, &need.span(), || {
                format!("'{name}' cannot name a need: use letters, digits and . _ + -")
            })?;
        }
        for Level { program, needs, .. } in &self.head.load {
            let name = program.get_ref();
            text.program(&program.span(), name)?;
            text.must(name.starts_with("load/"), &program.span(), || {
                format!("'{name}' is not a load: loads are programs of kernels/load/")
            })?;
            for need in needs {
                self.need(need.get_ref(), &need.span())?;
            }
        }
        Ok(())
    }

    /// A need by its name.
    pub fn need(&self, name: &str, span: &Range<usize>) -> Result<Need, Error> {
        let found = self.head.needs.get(name).cloned();
        let NeedOf { any, package, version } = found.ok_or_else(|| {
            let what = format!("no need '{name}': add it to the table [needs]");
            self.text.error(span, what)
        })?;
        let name = name.to_owned();
        Ok(Need { name, any, package, version })
    }

    /// Checks that every declaration for the entries is used.
    pub fn check_all_used(&self) -> Result<(), Error> {
        let (mut files, mut needs) = (BTreeSet::new(), BTreeSet::new());
        for parsed in &self.benchmarks {
            if let Work::Command(work) | Work::Scenario(work) = &parsed.benchmark.work {
                files.extend(work.files.keys());
            }
            needs.extend(parsed.benchmark.needs.iter().map(|need| &need.name));
        }
        let files = self
            .head
            .files
            .keys()
            .map(|name| (name, files.contains(name.get_ref()), "uses the file"));
        let needs = self
            .head
            .needs
            .keys()
            .map(|name| (name, needs.contains(name.get_ref()), "has the need"));
        for (name, used, does) in files.chain(needs) {
            self.text.must(used, &name.span(), || {
                format!("no entry {does} '{}': name it in one, or remove it", name.get_ref())
            })?;
        }
        Ok(())
    }
}

/// Deserializes a value.
pub(crate) fn deserialize<T: DeserializeOwned>(
    text: Text<'_>,
    value: At<DeValue<'_>>,
) -> Result<T, Error> {
    let whole = value.span();
    T::deserialize(ValueDeserializer::from(value)).map_err(|fault| text.serde(&fault, whole))
}

/// The items of a list.
pub(crate) fn list<'a>(
    text: Text<'_>,
    value: At<DeValue<'a>>,
) -> Result<Vec<At<DeValue<'a>>>, Error> {
    let span = value.span();
    match value.into_inner() {
        DeValue::Array(items) => Ok(items.into_iter().collect()),
        _ => Err(text.error(
            &span,
            "this is a list: write [[...]] before its keys, or [...] around its items",
        )),
    }
}

/// Whether `key` is among the keys.
pub(crate) fn among(keys: &str, key: &str) -> bool {
    keys.split(' ').any(|one| one == key)
}

/// Joins the lines of prose; rejects empty texts and invisible characters.
fn texts(file: Text<'_>, key: &str, value: &mut At<DeValue<'_>>) -> Result<(), Error> {
    let span = value.span();
    let printable = |key: &str, text: &str, span: &Range<usize>, lines: bool| {
        let meant = |c: char| lines && matches!(c, '\n' | '\t');
        let bad = text.chars().find(|&c| is_unprintable(c) && !meant(c));
        file.must(bad.is_none(), span, || {
            let number = bad.map_or(0, u32::from);
            format!("{key} has U+{number:04X}, which is for terminals and not for readers")
        })
    };
    match value.as_mut() {
        DeValue::String(text) => {
            if among(PROSE, key) {
                *text = text.split_whitespace().collect::<Vec<_>>().join(" ").into();
                file.must(!text.is_empty(), &span, || format!("{key} is empty: say it"))?;
            }
            // a parameter is an argument of a program, and has no lines
            printable(key, text, &span, key != "params")
        }
        DeValue::Array(items) => items.iter_mut().try_for_each(|item| texts(file, key, item)),
        // contents of files are not checked
        DeValue::Table(_) if key == "files" => Ok(()),
        DeValue::Table(table) => table.iter_mut().try_for_each(|(name, value)| {
            printable("this key", name.get_ref(), &name.span(), false)?;
            // params may have any key
            let name = if key == "params" { key } else { name.get_ref() };
            texts(file, name, value)
        }),
        _ => Ok(()),
    }
}
