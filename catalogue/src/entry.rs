//! From one entry to its rows: the entry, its variants, and itself under load.

use crate::checks;
use crate::error::Error;
use crate::read::{Over, Reference, Row, Shared};
use crate::tree::{At, Entry, list, made};
use gritstone_model::{
    Benchmark, Better, Claims, CommandWork, Curve, Id, KernelWork, Kind, Placement, PublishedWork,
    Selector, Source, Term, Unit, Work,
};
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const ALL: &str = "id kind title version operation why sources unit better amount_per_op published processor_bound curve remark not_comparable variant";
const LAUNCHED: &str = "placement in_dir claims needs";
/// The keys that not all kinds have.
const KEYS: [(&[Kind], &str); 5] = [
    (&[Kind::Kernel, Kind::Command, Kind::Scenario], LAUNCHED),
    (&[Kind::Kernel], "program params uses load"),
    (
        &[Kind::Command, Kind::Scenario],
        "argv files prepare input output stdout leaves removes verify figure",
    ),
    (&[Kind::Derived], "terms share_of"),
    (&[Kind::Rating], "over baseline weights"),
];
/// What a variant may say otherwise.
const VARIANT: &str =
    "name title operation why placement params claims published curve not_comparable";

/// Whether one of these keys is this.
fn among(keys: &str, key: &str) -> bool {
    keys.split(' ').any(|one| one == key)
}

/// What all kinds have, and what all that are launched have.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Common {
    pub id: Id,
    pub kind: Kind,
    title: String,
    pub version: u32,
    operation: String,
    why: String,
    pub sources: Vec<Source>,
    pub unit: Unit,
    pub better: Option<Better>,
    #[serde(default = "one")]
    pub amount_per_op: f64,
    pub published: Option<PublishedWork>,
    #[serde(default)]
    processor_bound: bool,
    pub curve: Option<Curve>,
    remark: Option<String>,
    not_comparable: Option<String>,
    #[serde(default)]
    placement: Placement,
    #[serde(default)]
    in_dir: bool,
    #[serde(default)]
    pub claims: Claims,
    #[serde(default)]
    pub needs: Vec<String>,
}

fn one() -> f64 {
    1.0
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Derived {
    terms: Vec<Term>,
    share_of: Option<Id>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rating {
    pub over: Vec<String>,
    pub baseline: String,
    #[serde(default)]
    pub weights: Vec<f64>,
}

/// The rows of an entry.
pub(crate) fn rows<'a>(shared: &'a Shared<'a>, tree: At<DeValue<'a>>) -> Result<Vec<Row>, Error> {
    let mut entry = Entry::of(shared, tree)?;
    let variants = entry.table.remove("variant");
    let load = entry.table.get("load").cloned();
    let mut rows = vec![entry.row()?];
    let base = rows[0].benchmark.clone();
    if let Some(variants) = variants {
        for tree in list(shared, variants)? {
            rows.push(entry.variant(Entry::of(shared, tree)?, &base)?);
        }
    }
    if let Some(levels) = load {
        for level in made::<Vec<At<usize>>>(shared.text, levels)? {
            rows.push(under_load(shared, &base, &level)?);
        }
    }
    Ok(rows)
}

impl<'a> Entry<'a> {
    fn row(&self) -> Result<Row, Error> {
        let shared = self.shared;
        let time = self
            .table
            .get("published")
            .and_then(|work| work.get_ref().get("figure"));
        if let Some(name) = time.and_then(|time| time.get_ref().as_str()) {
            checks::published_time(self, name)?;
        }
        let (common, rest) = self.parts()?;
        let entry: Common = made(shared.text, common)?;
        let (work, over) = self.work(&entry, rest)?;
        let better = checks::entry(self, &entry, &work)?;
        let references = self.references(&work, entry.curve.as_ref());
        let needs = entry.needs.iter().enumerate();
        let needs = needs.map(|(i, name)| shared.need(name, &self.at(&format!("needs.{i}"))));
        let benchmark = Benchmark {
            better,
            needs: needs.collect::<Result<_, _>>()?,
            work,
            id: entry.id,
            title: entry.title,
            version: entry.version,
            operation: entry.operation,
            why: entry.why,
            sources: entry.sources,
            unit: entry.unit,
            amount_per_op: entry.amount_per_op,
            published: entry.published,
            placement: entry.placement,
            processor_bound: entry.processor_bound,
            files: entry.in_dir,
            claims: entry.claims,
            curve: entry.curve,
            remark: entry.remark,
            not_comparable: entry.not_comparable,
        };
        let at = self.at("id");
        Ok(Row {
            benchmark,
            at,
            references,
            over,
        })
    }

    /// The keys of all kinds and of what is launched, and those of its kind; another is an error.
    fn parts(&self) -> Result<(At<DeValue<'a>>, DeTable<'a>), Error> {
        let Some(kind) = self.table.get("kind") else {
            return Err(self.fault("", "missing field `kind`"));
        };
        let kind: Kind = made(self.shared.text, kind.clone())?;
        let word = |kind: &Kind| format!("{kind:?}").to_lowercase();
        let (mut common, mut rest) = (DeTable::new(), DeTable::new());
        for (key, value) in self.table.clone() {
            let name = key.get_ref().as_ref();
            match KEYS.iter().find(|(_, keys)| among(keys, name)) {
                None if among(ALL, name) => drop(common.insert(key, value)),
                Some((kinds, LAUNCHED)) if kinds.contains(&kind) => drop(common.insert(key, value)),
                Some((kinds, _)) if kinds.contains(&kind) => drop(rest.insert(key, value)),
                Some((kinds, _)) => {
                    let kinds: Vec<String> = kinds.iter().map(word).collect();
                    let what = format!(
                        "`{name}` is for kind {}, and this entry is of kind {}: take the key away, or change the kind",
                        kinds.join(" or "),
                        word(&kind)
                    );
                    return Err(self.shared.text.error(&value.span(), what));
                }
                None => {
                    let own = KEYS.iter().filter(|(kinds, _)| kinds.contains(&kind));
                    let own: Vec<&str> = [ALL]
                        .into_iter()
                        .chain(own.map(|(_, keys)| *keys))
                        .collect();
                    let what = format!(
                        "unknown key `{name}`: an entry of kind {} may have {}",
                        word(&kind),
                        own.join(" ").replace(' ', ", ")
                    );
                    return Err(self.shared.text.error(&key.span(), what));
                }
            }
        }
        Ok((Spanned::new(self.at.clone(), DeValue::Table(common)), rest))
    }

    /// What is done, and what a rating is over: its rows are found when all files are read.
    fn work(&self, entry: &Common, mut rest: DeTable<'a>) -> Result<(Work, Over), Error> {
        let text = self.shared.text;
        let files = rest.remove("files");
        rest.remove("load");
        if entry.kind == Kind::Kernel && !rest.contains_key("program") {
            let program = DeValue::String(own_program(&entry.id).into());
            let at = || self.at("id");
            rest.insert(
                Spanned::new(at(), "program".into()),
                Spanned::new(at(), program),
            );
        }
        let rest = Spanned::new(self.at.clone(), DeValue::Table(rest));
        let work = match entry.kind {
            Kind::Kernel => Work::Kernel(made::<KernelWork>(text, rest)?),
            Kind::Command => Work::Command(self.command(rest, files)?),
            Kind::Scenario => Work::Scenario(self.command(rest, files)?),
            Kind::Derived => {
                let Derived { terms, share_of } = made(text, rest)?;
                Work::Derived { terms, share_of }
            }
            Kind::Rating => {
                let rating: Rating = made(text, rest)?;
                checks::rating(self, &rating)?;
                let Rating {
                    over,
                    baseline,
                    weights,
                } = rating;
                let selector = |(i, name): (usize, &String)| {
                    (Selector::new(name), self.at(&format!("over.{i}")))
                };
                let over = over.iter().enumerate().map(selector).collect();
                return Ok((
                    Work::Rating {
                        over: vec![],
                        baseline,
                        weights,
                    },
                    over,
                ));
            }
        };
        Ok((work, vec![]))
    }

    /// A command with the texts of its files.
    fn command(
        &self,
        rest: At<DeValue<'a>>,
        files: Option<At<DeValue<'a>>>,
    ) -> Result<CommandWork, Error> {
        let text = self.shared.text;
        let mut work: CommandWork = made(text, rest)?;
        let files: Option<Vec<At<String>>> = files.map(|files| made(text, files)).transpose()?;
        for name in files.into_iter().flatten() {
            let Some(contents) = self.shared.head.files.get(&name) else {
                let what = format!(
                    "no file is called '{}': add its text to the table [files]",
                    name.get_ref()
                );
                return Err(text.error(&name.span(), what));
            };
            work.files.insert(name.into_inner(), contents.clone());
        }
        Ok(work)
    }

    /// Where it speaks of other rows.
    fn references(&self, work: &Work, curve: Option<&Curve>) -> Vec<Reference> {
        let reference = |id: &Id, path: String, curve| {
            let at = self.at(&path);
            Reference {
                id: id.clone(),
                at,
                curve,
            }
        };
        let mut all = vec![];
        if let Work::Derived { terms, share_of } = work {
            let terms = terms.iter().enumerate();
            all.extend(terms.map(|(i, term)| reference(&term.id, format!("terms.{i}.id"), false)));
            all.extend(
                share_of
                    .iter()
                    .map(|id| reference(id, "share_of".to_owned(), false)),
            );
        }
        let points = curve
            .into_iter()
            .flat_map(|curve| curve.points.iter().enumerate());
        all.extend(points.map(|(i, (_, id))| reference(id, format!("curve.points.{i}.1"), true)));
        all
    }

    /// The row of a variant: the entry's tree with what the variant says in its place, but for the curve, which is made of the
    /// entry's rows.
    fn variant(&self, variant: Self, base: &Benchmark) -> Result<Row, Error> {
        for key in ["name", "title"] {
            let there = variant.table.contains_key(key);
            variant.must(there, "", format_args!("missing field `{key}`"))?;
        }
        let (at, name) = (variant.at("name"), variant.table.get("name"));
        let name = name.and_then(|name| name.get_ref().as_str());
        let name = name.unwrap_or_default().to_owned();
        let id = Id::parse(&format!("{}@{name}", base.id))
            .map_err(|why| variant.fault("name", why.to_string()))?;
        let mut table = self.table.clone();
        table.remove("curve");
        table.remove("load");
        for (key, value) in variant.table {
            if !among(VARIANT, key.get_ref()) {
                let what = format!(
                    "a variant cannot say `{}`: it may say {}",
                    key.get_ref(),
                    VARIANT.replace(' ', ", ")
                );
                return Err(self.shared.text.error(&key.span(), what));
            }
            match (
                table.get_mut("params").map(Spanned::as_mut),
                value.get_ref(),
            ) {
                (Some(DeValue::Table(all)), DeValue::Table(own)) if key.get_ref() == "params" => {
                    all.extend(own.clone())
                }
                _ => drop(table.insert(key, value)),
            }
        }
        table.remove("name");
        table.insert(
            Spanned::new(at.clone(), "id".into()),
            Spanned::new(at.clone(), DeValue::String(id.as_str().to_owned().into())),
        );
        let row = Self {
            shared: self.shared,
            at: variant.at,
            table,
        }
        .row()?;
        if row.benchmark.work == base.work && row.benchmark.placement == base.placement {
            let what = format!(
                "variant '{}' does what {} does, at the same place: give it another placement or other params",
                name, base.id
            );
            return Err(self.shared.text.error(&at, what));
        }
        Ok(row)
    }
}

/// The variant `@level-N`: the same work beside the load of that level and of all below.
fn under_load(shared: &Shared<'_>, base: &Benchmark, level: &At<usize>) -> Result<Row, Error> {
    let (n, at, load) = (*level.get_ref(), level.span(), &shared.head.load);
    if !(1..=load.len()).contains(&n) {
        let what = format!(
            "there is no load level {n}: this file has {} of them, each a [[load]]; without load is level 0, the entry itself",
            load.len()
        );
        return Err(shared.text.error(&at, what));
    }
    let id = Id::parse(&format!("{}@level-{n}", base.id))
        .map_err(|why| shared.text.error(&at, why.to_string()))?;
    let what: Vec<&str> = load[..n].iter().map(|level| level.what.as_str()).collect();
    let mut benchmark = Benchmark {
        id,
        title: format!("{}, load level {n}", base.title),
        operation: format!("{} Beside it: {}.", base.operation, what.join("; ")),
        // a batch of the published work belongs to the entry
        published: None,
        curve: None,
        ..base.clone()
    };
    for level in &load[..n] {
        if let Work::Kernel(work) = &mut benchmark.work {
            work.uses.push(level.program.get_ref().clone());
        }
        for name in &level.needs {
            let need = shared.need(name.get_ref(), &name.span())?;
            if !base.needs.contains(&need) {
                benchmark.needs.push(need);
            }
        }
    }
    Ok(Row {
        benchmark,
        at,
        references: vec![],
        over: vec![],
    })
}

/// `family/name` of an identifier; a family that is one row has a program of its own name.
fn own_program(id: &Id) -> String {
    let mut parts = id.stem().split('/');
    let family = parts.next().unwrap_or_default();
    format!("{family}/{}", parts.next().unwrap_or(family))
}
