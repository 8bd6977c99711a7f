//! Expands an entry into its benchmarks: itself, its variants, and itself under load.

use crate::error::{Error, Text};
use crate::read::{self, At, File, Parsed, Reference, among, deserialize, list};
use gritstone_model::{Benchmark, CommandWork, Curve, Id, KernelWork, Kind, Term, Work};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Keys that a variant may override.
const VARIANT: &str = "name title operation why amount_per_op placement params argv claims published processor_bound paced curve not_comparable";

/// The keys of an entry of this kind: those of a [`Benchmark`], and those of its work.
fn keys(kind: Kind) -> (String, &'static str) {
    let all = "id kind title version operation why sources unit better amount_per_op published processor_bound curve remark not_comparable variant";
    let launched =
        format!("{all} placement in_dir kernel_threads mean paced scheduler claims needs");
    match kind {
        Kind::Kernel => (launched, "program params uses load"),
        Kind::Command | Kind::Scenario => (
            launched,
            "argv files uses prepare check input output stdout leaves removes verify figure",
        ),
        Kind::Derived => (all.to_owned(), "terms share_of"),
        Kind::Score => (all.to_owned(), "over baseline weights together"),
    }
}

/// Default values of an entry; its work is parsed separately.
const DEFAULTS: &str = "
amount_per_op = 1
better = 'lower'
claims = {}
files = false
kernel_threads = false
needs = []
placement = 'one-cpu'
processor_bound = false
work = { kind = 'kernel', program = '' }";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Derived {
    #[serde(default)]
    terms: Vec<Term>,
    share_of: Option<Id>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScoreEntry {
    over: Vec<At<String>>,
    baseline: String,
    #[serde(default)]
    weights: Vec<f64>,
    #[serde(default)]
    together: bool,
}

/// An entry or a variant as a tree.
pub(crate) struct Entry<'a> {
    pub file: &'a File<'a>,
    span: Range<usize>,
    table: DeTable<'a>,
}

/// Reads one file.
pub(crate) fn read<'a>(name: &'a str, text: &'a str) -> Result<File<'a>, Error> {
    let (mut file, entries) = read::head(name, text)?;
    for entry in entries {
        let parsed = benchmarks(&file, entry)?;
        file.benchmarks.extend(parsed);
    }
    file.check_all_used()?;
    Ok(file)
}

/// The benchmarks of an entry.
fn benchmarks<'a>(file: &'a File<'a>, tree: At<DeValue<'a>>) -> Result<Vec<Parsed>, Error> {
    let mut entry = Entry::new(file, tree)?;
    let variants = entry.table.remove("variant");
    let load = entry.table.get("load").cloned();
    let mut all = vec![entry.parse()?];
    // a variant has its own curve and load, or none
    entry.table.remove("curve");
    entry.table.remove("load");
    let base = all[0].benchmark.clone();
    for tree in variants.map_or(Ok(vec![]), |variants| list(file.text, variants))? {
        all.push(entry.variant(Entry::new(file, tree)?, &base)?);
    }
    let levels: Option<Vec<At<usize>>> = optional(file.text, load)?;
    for level in levels.into_iter().flatten() {
        all.push(under_load(file, &base, &level)?);
    }
    Ok(all)
}

impl<'a> Entry<'a> {
    fn new(file: &'a File<'a>, tree: At<DeValue<'a>>) -> Result<Self, Error> {
        let span = tree.span();
        match tree.into_inner() {
            DeValue::Table(table) => Ok(Self { file, span, table }),
            _ => Err(file.text.error(&span, "this is a table: write its keys in { ... }")),
        }
    }

    /// Position of a key such as `curve.points.1.0`; that of the entry if it is missing.
    pub fn at(&self, path: &str) -> Range<usize> {
        let mut parts = path.split('.');
        let mut found = parts.next().and_then(|key| self.table.get(key));
        for part in parts {
            let value = found.map(Spanned::get_ref);
            let next = value.and_then(|value| match part.parse::<usize>() {
                Ok(index) => value.get(index),
                Err(_) => value.get(part),
            });
            found = next.or(found);
        }
        found.map_or(self.span.clone(), Spanned::span)
    }

    /// An error at that position unless `holds`.
    pub fn must(&self, holds: bool, path: &str, what: impl ToString) -> Result<(), Error> {
        self.file.text.must(holds, &self.at(path), || what.to_string())
    }

    /// Deserializes a table at the position of the entry.
    fn deserialize<T: DeserializeOwned>(&self, table: DeTable<'a>) -> Result<T, Error> {
        deserialize(self.file.text, Spanned::new(self.span.clone(), DeValue::Table(table)))
    }

    fn parse(&self) -> Result<Parsed, Error> {
        let text = self.file.text;
        let kind: Option<Kind> = optional(text, self.table.get("kind").cloned())?;
        let kind = kind.ok_or_else(|| text.error(&self.span, "missing field `kind`"))?;
        let (mut table, work) = self.split(kind)?;
        let better = optional(text, table.remove("better"))?;
        let needs: Option<Vec<At<String>>> = optional(text, table.remove("needs"))?;
        let needs = needs.unwrap_or_default();
        if let Some((key, in_dir)) = table.remove_entry("in_dir") {
            table.insert(Spanned::new(key.span(), "files".into()), in_dir);
        }
        let defaults = DeTable::parse(DEFAULTS).map_err(|fault| text.serde(&fault, 0..0))?;
        for (key, value) in defaults.into_inner() {
            table.entry(key).or_insert(value);
        }
        let mut benchmark: Benchmark = self.deserialize(table)?;
        let mut over = vec![];
        benchmark.work = self.work(kind, &benchmark.id, work, &mut over)?;
        self.take_points(&mut benchmark)?;
        benchmark.better = self.check(&benchmark, better, &needs, &over)?;
        for name in needs {
            benchmark.needs.push(self.file.need(name.get_ref(), &name.span())?);
        }
        Ok(Parsed {
            references: self.references(&benchmark.work, benchmark.curve.as_ref()),
            benchmark,
            span: self.at("id"),
            over,
        })
    }

    /// Splits keys into those of the benchmark and those of its work; an unknown one is an error.
    fn split(&self, kind: Kind) -> Result<(DeTable<'a>, DeTable<'a>), Error> {
        let (common, work_keys) = keys(kind);
        let (mut whole, mut work) = (DeTable::new(), DeTable::new());
        for (key, value) in self.table.clone() {
            let name = key.get_ref();
            self.file.text.must(
                among(&common, name) || among(work_keys, name),
                &key.span(),
                || {
                    let kind = format!("{kind:?}").to_lowercase();
                    let keys = format!("{common} {work_keys}").replace(' ', ", ");
                    format!("an entry of kind {kind} has no key `{name}`: it may have {keys}")
                },
            )?;
            let part = if among(work_keys, name) { &mut work } else { &mut whole };
            part.insert(key, value);
        }
        Ok((whole, work))
    }

    /// The work, and the parts of a score, which are resolved when all files are read.
    fn work(
        &self,
        kind: Kind,
        id: &Id,
        mut table: DeTable<'a>,
        over: &mut Vec<At<String>>,
    ) -> Result<Work, Error> {
        let files = table.remove("files");
        table.remove("load");
        let command = |table| {
            let mut work: CommandWork = self.deserialize(table)?;
            let files: Option<Vec<At<String>>> =
                files.map(|files| deserialize(self.file.text, files)).transpose()?;
            for name in files.into_iter().flatten() {
                let contents = self.file.head.files.get(&name);
                self.file.text.must(contents.is_some(), &name.span(), || {
                    let name = name.get_ref();
                    format!("no file '{name}': add its text to the table [files]")
                })?;
                work.files.extend(contents.map(|text| (name.into_inner(), text.clone())));
            }
            Ok(work)
        };
        Ok(match kind {
            Kind::Kernel => {
                if !table.contains_key("program") {
                    set(&mut table, "program", &self.at("id"), own_program(id));
                }
                Work::Kernel(self.deserialize::<KernelWork>(table)?)
            }
            Kind::Command => Work::Command(command(table)?),
            Kind::Scenario => Work::Scenario(command(table)?),
            Kind::Derived => {
                let Derived { terms, share_of } = self.deserialize(table)?;
                Work::Derived { terms, share_of }
            }
            Kind::Score => {
                let score: ScoreEntry = self.deserialize(table)?;
                *over = score.over;
                Work::Score {
                    over: vec![],
                    baseline: score.baseline,
                    weights: score.weights,
                    together: score.together,
                }
            }
        })
    }

    /// A result for the highest rate or the longest operation of a curve is derived from its points.
    fn take_points(&self, benchmark: &mut Benchmark) -> Result<(), Error> {
        if !benchmark.is_peak() && !benchmark.is_longest() {
            return Ok(());
        }
        let Work::Derived { terms, share_of } = &mut benchmark.work else {
            return Ok(());
        };
        let what = "the curve consists of its points: leave out `terms` and `share_of`";
        self.must(terms.is_empty() && share_of.is_none(), "terms", what)?;
        let points = benchmark.curve.iter().flat_map(|curve| &curve.points);
        terms.extend(points.map(|(_, id)| Term { id: id.clone(), times: 1.0 }));
        Ok(())
    }

    /// References to other benchmarks.
    fn references(&self, work: &Work, curve: Option<&Curve>) -> Vec<Reference> {
        let mut all = vec![];
        let mut add = |id: &Id, path: String, curve| {
            let (id, span) = (id.clone(), self.at(&path));
            all.push(Reference { id, span, curve });
        };
        if let Work::Derived { terms, share_of } = work {
            for (i, term) in terms.iter().enumerate() {
                add(&term.id, format!("terms.{i}.id"), false);
            }
            if let Some(id) = share_of {
                add(id, "share_of".to_owned(), false);
            }
        }
        for (i, (_, id)) in curve.iter().flat_map(|curve| &curve.points).enumerate() {
            add(id, format!("curve.points.{i}.1"), true);
        }
        all
    }

    /// The benchmark of a variant: the entry's tree with the variant's keys. Bounds are not inherited, since another placement or more data
    /// has other bounds.
    fn variant(&self, variant: Self, base: &Benchmark) -> Result<Parsed, Error> {
        for key in ["name", "title"] {
            let there = variant.table.contains_key(key);
            variant.must(there, "", format_args!("missing field `{key}`"))?;
        }
        let (text, span) = (self.file.text, variant.at("name"));
        let name = variant.table.get("name").and_then(|name| name.get_ref().as_str());
        let name = name.unwrap_or_default().to_owned();
        let id = Id::parse(&format!("{}@{name}", base.id));
        let id = id.map_err(|why| text.error(&span, why.to_string()))?;
        let mut table = self.table.clone();
        table.remove("processor_bound");
        for (key, value) in variant.table {
            text.must(among(VARIANT, key.get_ref()), &key.span(), || {
                let keys = VARIANT.replace(' ', ", ");
                format!("a variant cannot say `{}`: it may say {keys}", key.get_ref())
            })?;
            match (table.get_mut("params").map(Spanned::as_mut), value.get_ref()) {
                (Some(DeValue::Table(all)), DeValue::Table(params))
                    if key.get_ref() == "params" =>
                {
                    all.extend(params.clone());
                }
                _ => drop(table.insert(key, value)),
            }
        }
        table.remove("name");
        set(&mut table, "id", &span, id.as_str().to_owned());
        let (file, whole) = (self.file, variant.span);
        let parsed = Self { file, span: whole, table }.parse()?;
        let other =
            parsed.benchmark.work != base.work || parsed.benchmark.placement != base.placement;
        text.must(other, &span, || {
            let id = &base.id;
            format!(
                "variant '{name}' is the same as {id}: give it another placement, other params or another argv"
            )
        })?;
        Ok(parsed)
    }
}

fn optional<T: DeserializeOwned>(
    text: Text<'_>,
    value: Option<At<DeValue<'_>>>,
) -> Result<Option<T>, Error> {
    value.map(|value| deserialize(text, value)).transpose()
}

fn set(table: &mut DeTable<'_>, key: &'static str, span: &Range<usize>, value: String) {
    let value = DeValue::String(value.into());
    table.insert(Spanned::new(span.clone(), key.into()), Spanned::new(span.clone(), value));
}

/// The variant `@level-N`: the same work beside the load of that level and of all lower ones.
fn under_load(file: &File<'_>, base: &Benchmark, level: &At<usize>) -> Result<Parsed, Error> {
    let (n, span, load) = (*level.get_ref(), level.span(), &file.head.load);
    file.text.must((1..=load.len()).contains(&n), &span, || {
        let levels = load.len();
        format!(
            "there is no load level {n}: this file has {levels}, each a [[load]]; 0 is the entry"
        )
    })?;
    let id = Id::parse(&format!("{}@level-{n}", base.id));
    let id = id.map_err(|why| file.text.error(&span, why.to_string()))?;
    let what: Vec<&str> = load[..n].iter().map(|level| level.what.as_str()).collect();
    let mut benchmark = Benchmark {
        id,
        title: format!("{}, load level {n}", base.title),
        operation: format!("{} Load: {}.", base.operation, what.join("; ")),
        // the reference workload belongs to the entry
        published: None,
        curve: None,
        ..base.clone()
    };
    for level in &load[..n] {
        if let Work::Kernel(work) = &mut benchmark.work {
            work.uses.push(level.program.get_ref().clone());
        }
        for name in &level.needs {
            let need = file.need(name.get_ref(), &name.span())?;
            if !base.needs.contains(&need) {
                benchmark.needs.push(need);
            }
        }
    }
    let (references, over) = (vec![], vec![]);
    Ok(Parsed { benchmark, span, references, over })
}

/// `family/name` of an identifier; the name of a family with one benchmark is that of the program.
fn own_program(id: &Id) -> String {
    let mut parts = id.stem().split('/');
    let family = parts.next().unwrap_or_default();
    format!("{family}/{}", parts.next().unwrap_or(family))
}
